package proof_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// Tables whose names SQL must quote are tables like others: what a case changes in them
// is seen.
func TestOraclesSeeTablesWithQuotedNames(t *testing.T) {
	app := &audit.App{App: "quoted", Dir: "tests/quoted",
		Schema: `CREATE TABLE "user" (id int PRIMARY KEY, name text); CREATE TABLE "Line item" (id int);`,
		Data:   `INSERT INTO "user" VALUES (1, 'ann'); INSERT INTO "Line item" VALUES (1);`,
		Oracles: []audit.Oracle{
			{Requirement: 1, Name: "names stay", SQL: `SELECT * FROM changes WHERE tab = 'user'`},
			{Requirement: 2, Name: "items stay", SQL: `SELECT * FROM changes WHERE tab = 'Line item'`},
		}}
	r := open(t, app)
	fam := &audit.Family{Query: "q"}
	values := map[string]any{}
	for code, want := range map[string][]int{
		`UPDATE "user" SET name = 'bob' WHERE id = 1`: {1},
		`DELETE FROM "Line item"`:                     {2},
		`SELECT * FROM "user"`:                        nil,
	} {
		for _, set := range []audit.ParamSet{{Values: values}, {Values: values, Race: map[string]any{}}} {
			effects, err := r.Run(context.Background(), fam, code+"; SELECT 1", []audit.ParamSet{set})
			require.NoError(t, err, code)
			for _, e := range effects[0] {
				require.Empty(t, e.Err)
				var broken []int
				for _, v := range e.Violated {
					broken = append(broken, v.Requirement)
				}
				require.Equal(t, want, broken, "%s: %s", code, e.Variant)
			}
		}
	}
}
