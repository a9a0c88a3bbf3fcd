package proof_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/proof"
)

type column struct {
	table, name, typ string
	null             bool
}

// values gives what a column may hold that data.sql seldom does.
func (c column) values(ctx context.Context, t *testing.T, conn *pgx.Conn) []string {
	var vs []string
	if c.null {
		vs = append(vs, "NULL")
	}
	const now = "'" + proof.Now + "'"
	switch {
	case c.typ == "integer", c.typ == "bigint", strings.HasPrefix(c.typ, "numeric"):
		vs = append(vs, "0", "-1", "2147483647")
	case c.typ == "boolean":
		vs = append(vs, "true", "false")
	case c.typ == "date":
		vs = append(vs, "'2025-06-15'", "'2025-06-16'", "'2025-06-17'", "'infinity'", "'-infinity'")
	case c.typ == "timestamp with time zone":
		vs = append(vs, now, now+"::timestamptz - interval '1 us'", now+"::timestamptz + interval '1 us'", "'infinity'", "'-infinity'")
	case c.typ == "tstzrange":
		vs = append(vs, "'empty'", "'(,)'", "tstzrange("+now+",NULL)", "tstzrange(NULL,"+now+")", "tstzrange("+now+","+now+",'[]')")
	case c.typ == "daterange":
		vs = append(vs, "'empty'", "'(,)'", "'[2025-06-16,)'", "'(,2025-06-16)'", "'[2025-06-16,2025-06-16]'")
	default:
		rows, err := conn.Query(ctx, fmt.Sprintf("SELECT DISTINCT quote_literal(%s) FROM %s LIMIT 12", c.name, c.table))
		require.NoError(t, err)
		seen, err := pgx.CollectRows(rows, pgx.RowTo[*string])
		require.NoError(t, err)
		if len(seen) < 10 {
			for _, s := range seen {
				if s != nil {
					vs = append(vs, *s)
				}
			}
		}
		vs = append(vs, "''")
	}
	return vs
}

func TestColumns(t *testing.T) {
	if os.Getenv("ASSAY_PROOF") != "all" {
		t.Skip("")
	}
	ctx := context.Background()
	for _, app := range corpora(t) {
		if app.Schema == "" {
			continue
		}
		t.Run(app.App, func(t *testing.T) {
			if os.Getenv("ASSAY_ORACLES") == "" {
				app.Oracles = nil
			}
			p := open(t, app).(*proof.Postgres)
			conn := proof.Conn(p)
			rows, err := conn.Query(ctx, `SELECT c.relname, a.attname, format_type(a.atttypid, NULL), NOT a.attnotnull
				FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
				WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'id'
				ORDER BY 1, a.attnum`)
			require.NoError(t, err)
			cols, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (c column, err error) {
				err = r.Scan(&c.table, &c.name, &c.typ, &c.null)
				return
			})
			require.NoError(t, err)
			for _, c := range cols {
				if s := os.Getenv("ASSAY_COLUMN"); s != "" && !strings.Contains(c.table+"."+c.name, s) {
					continue
				}
				var fams []*audit.Family
				word := regexp.MustCompile(`\b` + c.table + `\b`)
				cword := regexp.MustCompile(`\b` + c.name + `\b`)
				for i := range app.Families {
					if !strings.Contains(app.Families[i].Query, os.Getenv("ASSAY_QUERY")) {
						continue
					}
					for _, k := range app.Families[i].Cases {
						if k.Label == audit.Good && word.MatchString(k.Code) && cword.MatchString(k.Code) {
							fams = append(fams, &app.Families[i])
							break
						}
					}
				}
				if len(fams) == 0 {
					continue
				}
				for _, v := range c.values(ctx, t, conn) {
					for half := range 2 {
						columnCase(ctx, t, p, conn, app, fams, c, v, half)
					}
				}
			}
		})
	}
}

func columnCase(ctx context.Context, t *testing.T, p *proof.Postgres, conn *pgx.Conn, app *audit.App, fams []*audit.Family, c column, v string, half int) {
	exec := func(sql string) error {
		_, err := conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
		return err
	}
	id := "id"
	if c.table == "portfolio_tree" || c.table == "platform_settings" || c.table == "vault" || c.table == "deployment" {
		return
	}
	require.NoError(t, exec(fmt.Sprintf("DROP TABLE IF EXISTS before.kept; CREATE TABLE before.kept AS SELECT %s AS at, %s AS v FROM %s", id, c.name, c.table)))
	tilt := ""
	for _, s := range []string{"public", "before"} {
		tilt += fmt.Sprintf("UPDATE %s.%s SET %s = %s WHERE abs(hashtext(%s::text)) %% 2 = %d;", s, c.table, c.name, v, id, half)
	}
	if err := exec("BEGIN;" + tilt + "COMMIT"); err != nil {
		_ = exec("ROLLBACK")
		return // a value that the column does not take
	}
	name := fmt.Sprintf("%s.%s = %s, half %d", c.table, c.name, v, half)
	for _, fam := range fams {
		var model [][]proof.Effect
		for _, k := range fam.Cases {
			if k.Label != audit.Good {
				continue
			}
			var sets []audit.ParamSet
			for _, s := range fam.Sets {
				if s.Race == nil {
					sets = append(sets, s)
				}
			}
			es, err := p.Run(ctx, fam, k.Code, sets)
			require.NoError(t, err, k.Pos)
			for i := range es {
				if vs := es[i][0].Violated; len(vs) > 0 {
					t.Errorf("VIOL %s: %s: %s set line %d: %v", k.ID(), name, sets[i].Set, sets[i].Pos.Line, vs)
					break
				}
			}
			if model == nil {
				model = es
				continue
			}
			for i := range es {
				a, b := model[i][0], es[i][0]
				if a.Result != b.Result || (a.Err == "") != (b.Err == "") {
					t.Errorf("DIFF %s: %s: line %d: %s / %s\n%s", k.ID(), name, sets[i].Pos.Line, a.Err, b.Err, proof.Difference(a.Result, b.Result))
					break
				}
			}
		}
	}
	for _, s := range []string{"public", "before"} {
		require.NoError(t, exec(fmt.Sprintf("UPDATE %s.%s x SET %s = k.v FROM before.kept k WHERE k.at = x.%s AND x.%s IS DISTINCT FROM k.v", s, c.table, c.name, id, c.name)))
	}
}
