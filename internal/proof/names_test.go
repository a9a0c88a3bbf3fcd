package proof_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// Tables whose names SQL must quote are tables like others: what a case changes in them
// is seen.
// TestTablesOfTables: a change of a partition is one of its table, and rows of a table
// that inherits are reversed where they are.
func TestTablesOfTables(t *testing.T) {
	app := &audit.App{App: "parts", Dir: "tests/parts",
		Schema: `CREATE TABLE part (id int PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE "part low" PARTITION OF part FOR VALUES FROM (0) TO (10);
			CREATE TABLE base (id int PRIMARY KEY); CREATE TABLE kid (extra text) INHERITS (base);`,
		Data: `INSERT INTO part VALUES (1), (2); INSERT INTO base VALUES (1); INSERT INTO kid VALUES (7, 'x'), (8, 'y');`,
		Oracles: []audit.Oracle{{Requirement: 1, Name: "parts stay",
			SQL: `SELECT * FROM changes WHERE tab = 'part'`}},
	}
	r := open(t, app)
	for _, set := range []audit.ParamSet{{Values: map[string]any{}},
		{Values: map[string]any{}, Race: map[string]any{}}} {
		effects, err := r.Run(t.Context(), &audit.Family{Query: "q"},
			"DELETE FROM part WHERE id = 1; SELECT * FROM kid", []audit.ParamSet{set})
		require.NoError(t, err)
		for _, e := range effects[0] {
			require.Len(t, e.Violated, 1, e.Variant)
			require.Contains(t, e.Result, `"x"`, e.Variant)
		}
	}
}

// TestChangesElsewhereAreTold: what oracles cannot see is no proof.
func TestChangesElsewhereAreTold(t *testing.T) {
	app := &audit.App{App: "elsewhere", Dir: "tests/elsewhere",
		Data:   "INSERT INTO note VALUES (1); INSERT INTO audit.log VALUES (1);",
		Schema: "CREATE TABLE note (id int PRIMARY KEY); CREATE SCHEMA audit; CREATE TABLE audit.log (id int PRIMARY KEY);"}
	r := open(t, app)
	sets := []audit.ParamSet{{Values: map[string]any{}}}
	_, err := r.Run(t.Context(), &audit.Family{Query: "q"}, "SELECT id FROM audit.log", sets)
	require.NoError(t, err)
	_, err = r.Run(t.Context(), &audit.Family{Query: "q"}, "DELETE FROM audit.log", sets)
	require.EqualError(t, err,
		"the code changes audit.log: expected changes in schema public alone, as oracles see no others")
}

func TestOraclesSeeTablesWithQuotedNames(t *testing.T) {
	app := &audit.App{App: "quoted", Dir: "tests/quoted",
		Schema: `CREATE TABLE "user" (id int PRIMARY KEY, name text); CREATE TABLE "Line item" (id int);`,
		Data:   `INSERT INTO "user" VALUES (1, 'ann'); INSERT INTO "Line item" VALUES (1);`,
		Oracles: []audit.Oracle{
			{Requirement: 1, Name: "names stay", SQL: `SELECT * FROM changes WHERE tab = 'user'`},
			{Requirement: 2, Name: "items stay",
				SQL: `SELECT * FROM changes WHERE tab = 'Line item'`},
		}}
	r := open(t, app)
	fam := &audit.Family{Query: "q"}
	values := map[string]any{}
	for code, want := range map[string][]int{
		`UPDATE "user" SET name = 'bob' WHERE id = 1`: {1},
		`DELETE FROM "Line item"`:                     {2},
		`SELECT * FROM "user"`:                        nil,
	} {
		for _, set := range []audit.ParamSet{{Values: values},
			{Values: values, Race: map[string]any{}}} {
			effects, err := r.Run(context.Background(), fam, code+"; SELECT 1",
				[]audit.ParamSet{set})
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
