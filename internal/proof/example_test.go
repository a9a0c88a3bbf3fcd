package proof_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/proof"
)

// example reads the application that docs/maintainers/worked-example.md shows.
func example(t *testing.T) *audit.App {
	t.Helper()
	app, advice, err := fixture.LintApp(os.DirFS("../../docs/maintainers/worked-example"),
		"tests/notes")
	require.NoError(t, err)
	require.Empty(t, advice)
	return app
}

func check(t *testing.T, r proof.Runner, app *audit.App) string {
	t.Helper()
	problems, err := proof.Check(context.Background(), r, app, &app.Families[0])
	require.NoError(t, err)
	var all []string
	for _, p := range problems {
		all = append(all, p.What)
	}
	return strings.Join(all, "\n")
}

func TestWorkedExample(t *testing.T) {
	app := example(t)
	fam := &app.Families[0]
	r := open(t, app)
	require.Empty(t, check(t, r, app))
	problems, err := proof.CheckMutants(context.Background(), r, fam)
	require.NoError(t, err)
	require.Empty(t, problems)
	for _, kind := range proof.TwinKinds {
		problems, err := proof.Check(context.Background(), r, app, proof.TwinFamily(app, fam, kind))
		require.NoError(t, err)
		require.Empty(t, problems, kind)
	}
}

// TestWhatIsRefuted breaks the worked example in one way each, and asks for the
// one complaint that belongs to it.
func TestWhatIsRefuted(t *testing.T) {
	r := open(t, example(t))
	for name, c := range map[string]struct {
		breakIt func(app *audit.App, fam *audit.Family)
		want    string
	}{
		"a good that is bad": {func(_ *audit.App,
			f *audit.Family) {
			f.Cases[1].Code = f.Cases[4].Code
		},
			"a good violates on the attack set at line 9, rows as in data.sql: requirement 3 (a deleted note)"},
		"a bad that is good": {func(_ *audit.App,
			f *audit.Family) {
			f.Cases[2].Code = f.Cases[0].Code
		},
			"breaks requirement 2 on no attack set"},
		"a bad that breaks something else": {func(_ *audit.App,
			f *audit.Family) {
			f.Cases[2].Violates = []int{3}
		},
			"breaks requirement 3 on no attack set"},
		"a bad that shows on benign sets": {func(_ *audit.App, f *audit.Family) {
			f.Sets[0].Values["size"] = "500"
			f.Sets[0].Values["team_id"] = "1"
		},
			"differs from notes/find-notes-01-good on the benign set"},
		"a bad without # Violates": {func(_ *audit.App,
			f *audit.Family) {
			f.Cases[2].Violates = nil
		},
			"a bad without # Violates"},
		"goods that differ where the client sends NULL": {func(_ *audit.App, f *audit.Family) {
			f.Cases[1].Code = strings.Replace(f.Cases[1].Code, "<= :size::int",
				"<= coalesce(:size::int, 10)", 1)
		},
			"on the benign (but size = null) set"},
		"goods that differ where the client sends the largest integer": {func(_ *audit.App,
			f *audit.Family) {
			f.Cases[1].Code = strings.Replace(f.Cases[1].Code, "<= :size::int",
				"<= :size::int + 1 - 1", 1)
		},
			"on the benign (but size = 2147483647) set"},
		"goods that differ": {func(_ *audit.App, f *audit.Family) {
			f.Cases[1].Code = strings.Replace(f.Cases[1].Code, "<= 10", "<= 9", 1)
		},
			"differs from notes/find-notes-01-good on the attack set"},
		"goods of other types": {func(_ *audit.App, f *audit.Family) {
			f.Cases[1].Code = strings.Replace(f.Cases[1].Code, "p.id,", "p.id::text AS id,", 1)
		}, "differs from notes/find-notes-01-good on the benign set"},
		"a good that depends on the order of the rows": {func(_ *audit.App, f *audit.Family) {
			f.Cases[0].Code = strings.Replace(f.Cases[0].Code, "ORDER BY id", "", 1)
		}, "the good's result depends on the order of the rows"},
		"a good that fails": {func(_ *audit.App,
			f *audit.Family) {
			f.Cases[0].Code = "SELECT 1 / 0"
		}, "division by zero [22012]"},
		"nothing to see": {func(_ *audit.App,
			f *audit.Family) {
			f.Sets[0].Values["from"] = "999999"
		},
			"returns no row on any benign set"},
		"no attack": {func(_ *audit.App, f *audit.Family) { f.Sets = f.Sets[:1] },
			`no parameter set is marked "_set": "attack"`},
		"no proof": {func(_ *audit.App, f *audit.Family) { f.Pos = audit.Pos{}; f.Sets = nil },
			"has no proof: expected find-notes.md"},
		"a requirement without an oracle": {func(a *audit.App,
			_ *audit.Family) {
			a.Oracles = a.Oracles[:2]
		},
			"requirement 3 has no oracle"},
		"an oracle of no requirement": {func(a *audit.App, _ *audit.Family) {
			a.Oracles = append(a.Oracles, audit.Oracle{Requirement: 9, Name: "a rule of nobody's",
				SQL: "SELECT 1 WHERE false"})
		}, `the oracle "a rule of nobody's" is of requirement 9, which the SPEC does not state`},
		"a parameter that is missing": {func(_ *audit.App,
			f *audit.Family) {
			delete(f.Sets[0].Values, "from")
		},
			":from is in the code and not among the parameters"},
		"a pasted text that is missing": {func(_ *audit.App,
			f *audit.Family) {
			f.Cases[0].Code = "SELECT ${what}"
		},
			"${what} is in the code and not among the parameters"},
	} {
		t.Run(name, func(t *testing.T) {
			app := example(t)
			c.breakIt(app, &app.Families[0])
			require.Contains(t, check(t, r, app), c.want)
		})
	}
}

// The result is the last statement's rows; an oracle that asks for what every statement
// returned sees the first one's.
func TestEarlierStatements(t *testing.T) {
	app := example(t)
	good := app.Families[0].Cases[1]
	good.Code = "SELECT id FROM notes WHERE team_id = :team_id AND deleted_at IS NULL;" + good.Code
	r := open(t, app)
	require.Empty(t, check(t, r, app))
	app.Oracles[1].SQL = "SELECT statement, count(*) FROM returned GROUP BY statement HAVING count(*) > 10"
	require.Contains(t, check(t, r, app),
		`requirement 2 (more than ten rows): {"count": 27, "statement": 1}`)
}

func TestOracleMustRun(t *testing.T) {
	app := example(t)
	app.Oracles = append(app.Oracles, audit.Oracle{Requirement: 1, Name: "a typing error",
		SQL: "SELECT nothing FROM result"})
	require.Contains(t, check(t, open(t, app), app),
		`the oracle "a typing error" does not run: column "nothing" does not exist`)
}

func TestSurvivorsMustBeListed(t *testing.T) {
	app := example(t)
	fam := &app.Families[0]
	r := open(t, app)
	fam.Survivors[0].Mutant = "drop something else"
	problems, err := proof.CheckMutants(context.Background(), r, fam)
	require.NoError(t, err)
	require.Len(t, problems, 2)
	require.Contains(t, problems[0].What, `the mutant "drop id >= :from" survives`)
	require.Contains(t, problems[1].What, `there is no mutant "drop something else" of 01`)
}

// Twelve rows hide a LIMIT of ten: the data must have more than twice as many.
func TestLimitNeedsRows(t *testing.T) {
	app := example(t)
	app.Data = strings.Replace(app.Data, "(1, 40)", "(1, 22)", 1)
	problems, err := proof.CheckMutants(context.Background(), open(t, app), &app.Families[0])
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Contains(t, problems[0].What,
		"no set gives more than twice as many rows without the limit")
}

func TestTimeIsFrozen(t *testing.T) {
	app := example(t)
	r := open(t, app)
	fam := app.Families[0]
	fam.Sets = []audit.ParamSet{{Values: map[string]any{}},
		{Values: map[string]any{}, Now: "2030-01-02T23:30:00Z", TimeZone: "Asia/Tokyo"}}
	es, err := r.Run(context.Background(), &fam,
		"SELECT now() = CURRENT_TIMESTAMP AND now() = clock_timestamp() AS same, CURRENT_DATE AS today, now()", fam.Sets)
	require.NoError(t, err)
	require.Contains(t, es[0][0].Result, `"2025-06-16 09:30:00+00" | "t" | "2025-06-16"`)
	require.Contains(t, es[1][0].Result, `"2030-01-03 08:30:00+09" | "t" | "2030-01-03"`)
}

func TestRace(t *testing.T) {
	app := example(t)
	r := open(t, app)
	fam := app.Families[0]
	fam.Verify = "SELECT count(*) FROM notes WHERE team_id = 2"
	app.Oracles = append(app.Oracles,
		audit.Oracle{Requirement: 2, Name: "a team has more than five notes",
			SQL: "SELECT count(*) FROM notes WHERE team_id = 2 HAVING count(*) > 5"})
	fam.Sets = []audit.ParamSet{{Values: map[string]any{"team_id": "2", "title": "a"},
		Race: map[string]any{"title": "b"}}}
	insert := "INSERT INTO notes (team_id, title) SELECT :team_id, :title WHERE (SELECT count(*) FROM notes WHERE team_id = :team_id) < 5 RETURNING title"

	es, err := r.Run(context.Background(), &fam, insert, fam.Sets)
	require.NoError(t, err)
	require.Len(t, es[0], 1)
	require.Len(t, es[0][0].Violated, 1, "both sessions see four notes and insert")

	es, err = r.Run(context.Background(), &fam, "SELECT pg_advisory_xact_lock(:team_id);"+
		insert, fam.Sets)
	require.NoError(t, err)
	require.Len(t, es[0], 2)
	for _, e := range es[0] {
		require.Empty(t, e.Err)
		require.Empty(t, e.Violated, e.Variant)
	}
}

// A rival takes a step of its own while the case is half-way, and goes first as well: what is
// left in the end would
// hide the step that the case then takes.
func TestRival(t *testing.T) {
	app := example(t)
	r := open(t, app)
	fam := app.Families[0]
	app.Oracles = append(app.Oracles,
		audit.Oracle{Requirement: 3, Name: "a deleted note is renamed",
			SQL: "SELECT old FROM changes WHERE old ->> 'deleted_at' IS NOT NULL"})
	set := func(rival string) []audit.ParamSet {
		return []audit.ParamSet{{Values: map[string]any{"team_id": "2"},
			Race: map[string]any{}, Rival: rival}}
	}
	remove := set("UPDATE notes SET deleted_at = now() WHERE id = 2001")
	run := func(code string, sets []audit.ParamSet) ([][]proof.Effect, error) {
		return r.Run(context.Background(), &fam, code, sets)
	}

	es, err := run(
		"WITH live AS (SELECT id FROM notes WHERE team_id = :team_id AND deleted_at IS NULL) UPDATE notes SET title = 'x' FROM live WHERE notes.id = live.id", remove)
	require.NoError(t, err)
	require.Len(t, es[0], 2)
	require.Empty(t, es[0][0].Violated,
		"the case had its lock before the rival came, and the rival's own step is not judged")
	require.Len(t, es[0][1].Violated, 1, "the list was read before the rival committed")

	es, err = run("UPDATE notes SET title = 'x' WHERE team_id = :team_id AND deleted_at IS NULL",
		remove)
	require.NoError(t, err)
	require.Empty(t, es[0][1].Violated,
		"the condition is asked again of the row that was waited for")

	_, err = run("SELECT 1", set("UPDATE notes SET title = 'y' WHERE id = 0"))
	require.ErrorContains(t, err, "changes no row")
	_, err = run("SELECT 1", set("UPDATE notes SET nothing = 1"))
	require.ErrorContains(t, err, "the _rival fails")
}

// Two that hold one lock do what one of the orders does; two that hold two locks exceed a
// limit together, and the ring sees it.
func TestRing(t *testing.T) {
	app := example(t)
	fam := &app.Families[0]
	app.Oracles = append(app.Oracles,
		audit.Oracle{Requirement: 2, Name: "a team has more than five notes",
			SQL: "SELECT count(*) FROM notes WHERE team_id = 2 HAVING count(*) > 5"})
	ctx := context.Background()
	ring, err := proof.NewRing(ctx, open(t, app).(*proof.Postgres))
	require.NoError(t, err)
	writer := func(lock int) proof.Writer {
		code := fmt.Sprintf(`SELECT pg_advisory_xact_lock(%d);
			INSERT INTO notes (team_id, title) SELECT :team_id, 'a' WHERE (SELECT count(*) FROM notes WHERE team_id = :team_id) < 5 RETURNING title`, lock)
		return proof.Writer{Fam: fam, Case: &audit.Case{App: "notes", Query: "add", Code: code},
			Set: audit.ParamSet{Values: map[string]any{"team_id": "2"}}}
	}
	for other, broken := range map[int]bool{1: false, 2: true} {
		serial, raced, err := ring.Meet(ctx, [2]proof.Writer{writer(1), writer(other)})
		require.NoError(t, err)
		breaks := func(ms []proof.Met) bool {
			return slices.ContainsFunc(ms,
				func(m proof.Met) bool { return len(m.Violated[0])+len(m.Violated[1]) > 0 })
		}
		require.False(t, breaks(serial))
		require.Equal(t, broken, breaks(raced), "locks 1 and %d: %v", other, raced)
	}
}

// What a case does is undone, and a case that ends the transaction is caught.
func TestRollback(t *testing.T) {
	app := example(t)
	r := open(t, app)
	fam := app.Families[0]
	fam.Sets = fam.Sets[:1]
	fam.Sets[0].Values["q"] = "1; COMMIT; SELECT 2"
	ctx := context.Background()
	before, err := r.Run(ctx, &fam, "SELECT count(*) FROM notes", fam.Sets)
	require.NoError(t, err)
	_, err = r.Run(ctx, &fam, "DELETE FROM notes", fam.Sets)
	require.NoError(t, err)
	// Statements that govern the transaction are passed over, pasted ones too.
	_, err = r.Run(ctx, &fam, "DELETE FROM notes; SELECT ${q}", fam.Sets)
	require.NoError(t, err)
	after, err := r.Run(ctx, &fam, "SELECT count(*) FROM notes", fam.Sets)
	require.NoError(t, err)
	require.Equal(t, before, after)
}
