package sqlreview

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Each statement is legal PostgreSQL and must be read whole.
var legal = []string{
	`SELECT 1`,
	`SELECT a, b.c AS d, count(*) FILTER (WHERE x > 1) OVER (PARTITION BY a ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t b WHERE NOT (a = 1 OR b.c IS NOT NULL) AND d NOT IN (SELECT 1)`,
	`WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT * FROM t LIMIT LEAST(:n, 100)`,
	`INSERT INTO a (b, c) VALUES ($1, now()) ON CONFLICT (b) DO UPDATE SET c = excluded.c WHERE a.d IS NULL RETURNING *`,
	`UPDATE t SET a = 1, (b, c) = (SELECT 1, 2) FROM u WHERE u.id = t.id AND t.at >= now() - interval '1 day' RETURNING t.id`,
	`DELETE FROM t USING u WHERE t.a = u.a`,
	`MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND t.x THEN UPDATE SET a = s.a WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, s.a)`,
	`SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b DESC NULLS LAST OFFSET 5 ROWS FETCH FIRST 10 ROWS WITH TIES`,
	`SELECT * FROM a LEFT JOIN LATERAL (SELECT 1 FROM b WHERE b.x = a.x LIMIT 1) q ON true CROSS JOIN generate_series(1, 3) AS g(i) FOR UPDATE OF a SKIP LOCKED`,
	`SELECT data->>'x', data #>> '{a,b}', arr[1], arr[1:2], x::numeric(10,2)[], (r).f, ARRAY[1,2], ARRAY(SELECT 1), CAST(a AS timestamp with time zone) AT TIME ZONE 'UTC', a BETWEEN 1 AND 2 AND b LIKE '%x' ESCAPE '!' FROM t`,
	`SELECT CASE a WHEN 1 THEN 2 ELSE 3 END, CASE WHEN a IS DISTINCT FROM b THEN 1 END, extract(epoch FROM now()), substring(a from 1 for 2), a = ANY($1), (a, b) = (1, 2), a <> ALL (SELECT 2) FROM t GROUP BY GROUPING SETS ((a), ()), ROLLUP (b) HAVING count(DISTINCT c) > 1 WINDOW w AS (ORDER BY a)`,
	`SELECT string_agg(a, ',' ORDER BY b), percentile_cont(0.5) WITHIN GROUP (ORDER BY c), coalesce(a, 'x') || 'y' FROM a NATURAL JOIN b JOIN c USING (id) UNION ALL (SELECT 1, 2, 3 LIMIT 1) ORDER BY 1`,
	`CREATE FUNCTION f(p_id bigint, OUT r int) RETURNS int LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE v_x int := 0; r record;
BEGIN
  SELECT a INTO STRICT v_x FROM t WHERE id = p_id FOR UPDATE;
  IF NOT FOUND OR v_x > 1 THEN RAISE EXCEPTION 'no % here', p_id USING ERRCODE = '42501'; ELSIF v_x = 0 THEN NULL; ELSE v_x := v_x + 1; END IF;
  FOR r IN SELECT * FROM t LOOP PERFORM g(r.id); END LOOP;
  EXECUTE format('SELECT 1 FROM %I WHERE a = $1', 'x') INTO v_x USING p_id;
  RETURN QUERY SELECT 1;
  RETURN v_x;
EXCEPTION WHEN no_data_found THEN RETURN 0;
END $$;`,
	`SELECT 'it''s' AS "Odd Name", E'\'', $q$ a ' b $q$, U&'x', 1.5e-3, -a ^ 2, @ a, !!b, a @> b, a <-> b FROM "T" WHERE a OVERLAPS b`,
	`VALUES (1, 'a'), (2, 'b')`,
	`SELECT 1 -- a comment
/* and /* a nested */ one */ FROM t;
SELECT 2`,
}

func TestLegalStatementsAreReadWhole(t *testing.T) {
	for _, src := range legal {
		_, broken := parse(src)
		var at []string
		for _, b := range broken {
			at = append(at, src[min(b, len(src)):min(b+25, len(src))])
		}
		require.Empty(t, at, src)
	}
}
