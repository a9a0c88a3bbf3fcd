package proof_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/proof"
)

// A tilt puts a value into a column of every second row.
type tilt struct {
	Table, Column, Type string
	Null, Reference     bool
	value               string // SQL
	half                int
}

func (c tilt) String() string {
	return fmt.Sprintf("%s.%s = %s, half %d", c.Table, c.Column, c.value, c.half)
}

// columns asks that the two goods of every family agree whatever a column may hold:
// NULL, zero, negative and largest numbers, the frozen moment and what lies beside it,
// infinity, ranges without rows or ends, each word of a list of words.
func columns(t *testing.T, p *proof.Postgres, app *audit.App) {
	oracles := app.Oracles
	// goods are compared, and not judged: the data that oracles look ids up in stays
	app.Oracles = nil
	defer func() { app.Oracles = oracles }()
	all := tilts(t, app, proof.Conn(p))
	drawn := hashOfDay(app.App)
	for i, c := range all {
		if wholeProof() || uint64(i) == drawn%uint64(len(all)) {
			c.check(t, p, app)
		}
	}
}

// impossible are columns whose tilt makes a state that no application allows.
var impossible = map[string]string{
	"portfolios.parent_id": "portfolio_tree, which the platform keeps, would say something else",
	"hires.starts_on":      "two hires of a machine would share a day, which no route lets come about",
	"hires.ends_on":        "two hires of a machine would share a day, which no route lets come about",
	"shifts.during":        "two shifts of a person would overlap, which no statement lets come about, unless they are empty",
}

// tilts gives what can be put into the columns that goods name.
func tilts(t *testing.T, app *audit.App, conn *pgx.Conn) (all []tilt) {
	t.Helper()
	ctx := context.Background()
	rows, err := conn.Query(ctx, `SELECT c.relname AS "table", a.attname AS "column", format_type(a.atttypid, NULL) AS type, NOT a.attnotnull AS null,
		  EXISTS (SELECT 1 FROM pg_constraint f WHERE f.contype = 'f' AND f.conrelid = c.oid AND a.attnum = ANY (f.conkey)) AS reference
		FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'id'
		  AND EXISTS (SELECT 1 FROM pg_attribute k WHERE k.attrelid = c.oid AND k.attname = 'id')
		ORDER BY 1, a.attnum`)
	require.NoError(t, err)
	columns, err := pgx.CollectRows(rows, pgx.RowToStructByNameLax[tilt])
	require.NoError(t, err)
	for _, c := range columns {
		if len(c.families(app)) == 0 {
			continue
		}
		for _, c.value = range c.values(t, conn) {
			if impossible[c.Table+"."+c.Column] != "" && c.value != "'empty'" {
				continue
			}
			for c.half = range 2 {
				all = append(all, c)
			}
		}
	}
	require.True(t, len(all) > 0 || os.Getenv("ASSAY_QUERY") != "", "no column of %s", app.App)
	return all
}

// families gives those whose goods name the column, and its table.
func (c tilt) families(app *audit.App) (all []*audit.Family) {
	named := func(word, code string) bool {
		return regexp.MustCompile(
			`\b` + word + `\b`).MatchString(code)
	}
	for i := range app.Families {
		fam := &app.Families[i]
		if strings.Contains(fam.Query, os.Getenv("ASSAY_QUERY")) &&
			slices.ContainsFunc(fam.Cases, func(k *audit.Case) bool {
				return k.Label == audit.Good && named(c.Table, k.Code) && named(c.Column, k.Code)
			}) {
			all = append(all, fam)
		}
	}
	return all
}

func (c tilt) values(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	const now = "timestamptz '" + proof.Now + "'"
	var vs []string
	switch {
	case c.Reference: // who belongs to whom is what the rows say together
	case slices.Contains([]string{"integer", "bigint", "numeric"}, c.Type):
		vs = []string{"0", "-1", "2147483647"}
	case c.Type == "boolean":
		vs = []string{"true", "false"}
	case c.Type == "date":
		vs = []string{"'2025-06-15'", "'2025-06-16'", "'2025-06-17'", "'infinity'", "'-infinity'"}
	case c.Type == "timestamp with time zone":
		vs = []string{now, now + " - interval '1 us'", now + " + interval '1 us'", "'infinity'",
			"'-infinity'"}
	case c.Type == "tstzrange":
		vs = []string{"'empty'", "'(,)'", "tstzrange(" + now + ", NULL)", "tstzrange(NULL, " + now +
			")", "tstzrange(" + now + ", " + now + ", '[]')"}
	case c.Type == "daterange":
		vs = []string{"'empty'", "'(,)'", "'[2025-06-16,)'", "'(,2025-06-16)'",
			"'[2025-06-16,2025-06-16]'"}
	default:
		rows, err := conn.Query(context.Background(),
			fmt.Sprintf(
				`SELECT quote_literal(%[1]s) FROM %[2]s WHERE %[1]s IS NOT NULL GROUP BY %[1]s LIMIT 12`, c.Column, c.Table))
		require.NoError(t, err)
		words, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		if vs = words; len(words) == 12 { // no list of words, but texts
			vs = []string{"''"}
		}
	}
	if c.Null {
		vs = append(vs, "NULL")
	}
	return vs
}

// check runs the goods of the families that read the column while it is tilted. What
// the schema refuses is passed over.
func (c tilt) check(t *testing.T, p *proof.Postgres, app *audit.App) {
	t.Helper()
	ctx, conn := context.Background(), proof.Conn(p)
	exec := func(sql string) error {
		_, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
		return err
	}
	both := func(sql string) string {
		return strings.ReplaceAll(sql, "SCHEMA", "public") + strings.ReplaceAll(sql,
			"SCHEMA", "before")
	}
	require.NoError(t,
		exec(fmt.Sprintf(
			"DROP TABLE IF EXISTS pg_temp.kept; CREATE TEMP TABLE kept AS SELECT id, %s AS v FROM %s", c.Column, c.Table)))
	if err := exec(
		"BEGIN;" + both(fmt.Sprintf(
			"UPDATE SCHEMA.%s SET %s = %s WHERE abs(hashtext(id::text)) %% 2 = %d;", c.Table,
			c.Column, c.value, c.half)) + "COMMIT"); err != nil {
		require.NoError(t, exec("ROLLBACK"))
		return
	}
	for _, fam := range c.families(app) {
		sets := slices.DeleteFunc(slices.Clone(fam.Sets),
			func(s audit.ParamSet) bool { return s.Race != nil })
		var model [][]proof.Effect
		for _, k := range fam.Cases {
			if k.Label != audit.Good {
				continue
			}
			es, err := p.Run(ctx, fam, k.Code, sets)
			require.NoError(t, err, "%s: %s", k.Pos, c)
			if model == nil {
				model = es
			}
			for i := range es {
				if a, b := model[i][0], es[i][0]; a.Result != b.Result ||
					(a.Err == "") != (b.Err == "") {
					t.Errorf("%s: %s: differs from the other good on the set at line %d: %s | %s%s",
						k.Pos, c, sets[i].Pos.Line, a.Err, b.Err,
						proof.Difference(a.Result, b.Result))
					break
				}
			}
		}
	}
	require.NoError(t,
		exec(both(fmt.Sprintf(
			"UPDATE SCHEMA.%s x SET %[2]s = k.v FROM kept k WHERE k.id = x.id AND x.%[2]s IS DISTINCT FROM k.v;", c.Table, c.Column))))
}
