package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/postgres"
	"assay/internal/store"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// An engine makes the place of a new, empty store.
type engine struct {
	name  string
	fresh func(t *testing.T) string
	open  func(where string) (*sql.DB, error) // behind the store's back
}

// server gives the URL of the PostgreSQL that all tests share, until stopServer.
var server = sync.OnceValues(func() (dsn string, err error) {
	if dsn = os.Getenv("ASSAY_PG_URL"); dsn != "" {
		return dsn, nil
	}
	dsn, stop, err := postgres.Start()
	if err == nil {
		stopServer = stop
	}
	return dsn, err
})

var (
	stopServer = func() {}
	databases  atomic.Int64 // made of it
)

// engines gives SQLite, and PostgreSQL where it can be had: at ASSAY_PG_URL, or
// from the server's programs of this machine.
func engines(t *testing.T) []engine {
	lite := engine{"sqlite",
		func(t *testing.T) string { return filepath.Join(t.TempDir(), "results.db") },
		func(where string) (*sql.DB, error) { return sql.Open("sqlite", where) }}
	dsn, err := server()
	if errors.Is(err, postgres.ErrMissing) {
		t.Run("postgres", func(t *testing.T) { t.Skip("PostgreSQL is missing: ", err) })
		return []engine{lite}
	}
	require.NoError(t, err)
	return []engine{lite, {"postgres", func(t *testing.T) string {
		ctx := context.Background()
		conn, err := pgx.Connect(ctx, dsn)
		require.NoError(t, err)
		defer conn.Close(ctx)
		name := fmt.Sprintf("store_test_%d_%d", os.Getpid(), databases.Add(1))
		_, err = conn.Exec(ctx, "CREATE DATABASE "+name)
		require.NoError(t, err)
		u, err := url.Parse(dsn)
		require.NoError(t, err)
		u.Path = "/" + name
		return u.String()
	}, func(where string) (*sql.DB, error) { return sql.Open("pgx", where) }}}
}

func TestConformance(t *testing.T) {
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			for _, c := range []struct {
				name string
				test func(*testing.T, engine)
			}{
				{"round trip", roundTrip}, {"one row for a trial of a run", once},
				{"answered", answered},
				{"reused", reused}, {"runs", runs}, {"continued", continued},
				{"seven columns", sevenColumns}, {"read only", readOnly},
				{"many writers", manyWriters}, {"hostile text", hostileText}, {"closed", closed},
				{"closed while others write", closedWhileWriting},
				{"empty", empty}, {"opened together", openedTogether}, {"brief", brief},
				{"by ID", byID},
				{"odd types", oddTypes}, {"audits", audits}, {"older tables", olderTables},
			} {
				t.Run(c.name, func(t *testing.T) { c.test(t, e) })
			}
		})
	}
}

func open(t *testing.T, where string) store.Store {
	s, err := store.Open(context.Background(), where)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

var day = time.Date(2026, 3, 1, 12, 30, 15, 250_000_000, time.UTC)

// evaluation is a row with no field left empty.
func evaluation(run, trial string) store.Evaluation {
	return store.Evaluation{Time: day, TestFile: "tests/shop/list-orders-03-bad.md", Model: "m",
		Expected: audit.Bad,
		Actual:   "good", Explanation: "line\nbreak", Run: run, Trial: trial, Index: 2, App: "shop",
		Query:  "list-orders",
		Family: "shop/list-orders", Prompt: "evaluation-prompt", Twin: "renamed",
		Outcome: audit.OutcomeWrong,
		Status:  audit.Answered, Violates: []int{2, 5}, CWEs: []audit.CWE{639, 89},
		Reason: store.ReasonWrong, Confidence: 0.75,
		Detail: "detail", Served: "m-2026", Finish: "stop", Tries: 2,
		Usage:   audit.Usage{TokensIn: 1000, TokensOut: 50, USD: 0.0125, Priced: true},
		Latency: 1500 * time.Millisecond, Reply: `{"verdict":"good"}`, CaseHash: "c", SpecHash: "s",
		PromptHash:   "p",
		SettingsHash: "h", Settings: "temperature=0"}
}

func attempts() []audit.Attempt {
	return []audit.Attempt{
		{Started: day, Latency: 20 * time.Millisecond, HTTPStatus: 429, Error: "slow down"},
		{Started: day.Add(time.Second), Latency: 1500 * time.Millisecond, Model: "m-2026",
			FinishReason: "stop", HTTPStatus: 200,
			Usage: audit.Usage{TokensIn: 1000, TokensOut: 50, USD: 0.0125, Priced: true}},
	}
}

func all(t *testing.T, s store.Store, q store.Query) []store.Evaluation {
	var out []store.Evaluation
	for e, err := range s.Evaluations(context.Background(), q) {
		require.NoError(t, err)
		out = append(out, e)
	}
	return out
}

func roundTrip(t *testing.T, e engine) {
	where, ctx := e.fresh(t), context.Background()
	s := open(t, where)
	want := evaluation("r1", "k1")
	want.Attempts = attempts()
	require.NoError(t, s.Put(ctx, want))
	got, err := s.Attempts(ctx, "r1", "k1")
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(want.Attempts, got), "-want +got")

	rows := all(t, s, store.Query{})
	require.Len(t, rows, 1)
	require.Positive(t, rows[0].ID)
	want.ID, want.Attempts = rows[0].ID, nil
	require.Empty(t, cmp.Diff(want, rows[0]), "-want +got")
	require.Empty(t, all(t, s, store.Query{Run: "other"}))
	require.Empty(t, all(t, s, store.Query{Model: "other"}))

	// The first seven columns mean what they meant before there were more.
	db, err := e.open(where)
	require.NoError(t, err)
	defer db.Close()
	found, err := db.Query("SELECT * FROM evaluations LIMIT 0")
	require.NoError(t, err)
	columns, err := found.Columns()
	require.NoError(t, err)
	require.NoError(t, found.Close())
	require.Equal(t, []string{"id", "timestamp", "test_file", "model_name", "expected_result",
		"actual_result", "explanation"}, columns[:7])
	var stamp, file, model, expected, actual, explanation string
	require.NoError(t,
		db.QueryRow(
			"SELECT timestamp, test_file, model_name, expected_result, actual_result, explanation FROM evaluations").
			Scan(&stamp, &file, &model, &expected, &actual, &explanation))
	require.Equal(t, []string{"2026-03-01T12:30:15.250Z", "tests/shop/list-orders-03-bad.md", "m",
		"bad", "good", "line\nbreak"},
		[]string{stamp, file, model, expected, actual, explanation})
}

func once(t *testing.T, e engine) {
	s, ctx := open(t, e.fresh(t)), context.Background()
	first, second := evaluation("r1", "k1"), evaluation("r1", "k1")
	second.Actual, second.Outcome = "bad", audit.OutcomeCorrect
	require.NoError(t, s.Put(ctx, first, second))
	require.NoError(t, s.Put(ctx, second))
	rows := all(t, s, store.Query{})
	require.Len(t, rows, 1)
	require.Equal(t, "good", rows[0].Actual, "the first one stays")
	require.NoError(t, s.Put(ctx, evaluation("r2", "k1")), "another run has its own")
	require.Len(t, all(t, s, store.Query{}), 2)
}

func answered(t *testing.T, e engine) {
	s, ctx := open(t, e.fresh(t)), context.Background()
	old, newer, failed := evaluation("r1", "k1"), evaluation("r2", "k1"), evaluation("r3", "k1")
	newer.Explanation = "newer"
	failed.Status, failed.Outcome, failed.Actual = audit.Errored, audit.OutcomeErrored, "errored"
	for _, ev := range []store.Evaluation{old, newer, failed} {
		require.NoError(t, s.Put(ctx, ev))
	}
	keys := []string{"k1"}
	for i := range 1200 { // more than one statement takes
		keys = append(keys, fmt.Sprint("absent", i))
	}
	got, err := s.Prior(ctx, nil, keys)
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, "newer", got["k1"].Explanation)
	require.Empty(t, got["k1"].Reply)

	refused := evaluation("r3", "k2")
	refused.Status, refused.Outcome, refused.Actual = audit.Refused, audit.OutcomeRefused, "refused"
	require.NoError(t, s.Put(ctx, refused))
	got, err = s.Prior(ctx, nil, []string{"k2"})
	require.NoError(t, err)
	require.Empty(t, got, "a refusal is no answer")
	got, err = s.Prior(ctx, []string{"r3"}, []string{"k1", "k2"})
	require.NoError(t, err)
	require.Len(t, got, 1, "of a run a refusal is final, an error is not")
	require.Equal(t, audit.OutcomeRefused, got["k2"].Outcome)
	spent, err := s.Spent(ctx, []string{"r1", "r2"})
	require.NoError(t, err)
	require.InDelta(t, old.Usage.USD+newer.Usage.USD, spent, 1e-9)
}

func reused(t *testing.T, e engine) {
	s, ctx := open(t, e.fresh(t)), context.Background()
	var earlier []store.Evaluation
	for i := range 10 {
		ev := evaluation("r1", fmt.Sprint("k", i))
		if i%2 == 0 {
			ev.Outcome, ev.Actual, ev.Reason = audit.OutcomeCorrect, "bad", store.ReasonRight
		}
		require.NoError(t, s.Put(ctx, ev))
	}
	for ev := range s.Evaluations(ctx, store.Query{}) {
		earlier = append(earlier, ev)
	}
	other := evaluation("r2", "new")
	other.Model, other.Usage.Priced = "other", false
	require.NoError(t, s.Put(ctx, other))
	require.NoError(t, s.Reuse(ctx, "r2", earlier[:3]))
	require.NoError(t, s.Reuse(ctx, "r2", earlier[:3]), "saying it twice changes nothing")
	require.Len(t, all(t, s, store.Query{Run: "r2"}), 4)
	require.Len(t,
		all(t, s, store.Query{Run: "r2", After: all(t, s, store.Query{Run: "r2"})[2].ID}), 1)
}

func runs(t *testing.T, e engine) {
	s, ctx := open(t, e.fresh(t)), context.Background()
	r := store.Run{ID: "r1", Suite: "Smoke", Started: day, Command: "go test -run Bench",
		ScoreVersion: "1", State: "running", Planned: 12,
		Outcomes: map[audit.Outcome]int{}, Plan: "abc", Parts: map[string]string{"model": "m"},
		Continues: "r0"}
	require.NoError(t, s.Begin(ctx, r))
	require.Error(t, s.Begin(ctx, r), "an ID is used once")
	require.Error(t, s.Begin(ctx, store.Run{}), "and is needed")
	r.Ended, r.State, r.Reused = day.Add(time.Minute), "finished", 2
	r.Usage = audit.Usage{TokensIn: 1, TokensOut: 2, USD: 3, Priced: true}
	for i, o := range audit.Outcomes() {
		r.Outcomes[o] = i
	}
	require.NoError(t, s.Finish(ctx, r))
	got, err := s.Runs(ctx)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff([]store.Run{r}, got), "-want +got")
	require.ErrorContains(t, s.Finish(ctx, store.Run{ID: "r9"}), `run "r9" was never begun`)
}

// continued: a run is read with those that it continues, each variant has its newest run, and
// what errored attempts consumed is known.
func continued(t *testing.T, e engine) {
	s, ctx := open(t, e.fresh(t)), context.Background()
	put := func(run, trial, model string, outcome audit.Outcome) {
		ev := evaluation(run, trial)
		ev.Model, ev.Outcome = model, outcome
		require.NoError(t, s.Put(ctx, ev))
	}
	for i, r := range []store.Run{{ID: "r0"}, {ID: "r1"}, {ID: "r2", Continues: "r1"},
		{ID: "r3", Continues: "r2"}} {
		r.Started, r.Parts = day.Add(time.Duration(i)*time.Hour), map[string]string{}
		r.SetPlanned("m", "p", 6, 3)
		require.NoError(t, s.Begin(ctx, r))
	}
	put("r0", "k0", "m", audit.OutcomeCorrect)
	put("r1", "k1", "m", audit.OutcomeErrored)
	put("r1", "k2", "m", audit.OutcomeCorrect)
	put("r2", "k1", "m", audit.OutcomeErrored)
	put("r2", "other", "n", audit.OutcomeCorrect)
	require.NoError(t, s.Reuse(ctx, "r3", all(t, s, store.Query{Run: "r1"})[1:]))
	require.NoError(t, s.Reuse(ctx, "r3", all(t, s, store.Query{Run: "r0"})))
	require.Len(t, all(t, s, store.Query{Run: "r3"}), 2)
	require.Len(t, all(t, s, store.Query{Run: "r3", Continued: true}), 5)
	require.Len(t, all(t, s, store.Query{Run: "r2", Continued: true, Model: "m"}), 3)
	require.Empty(t, all(t, s, store.Query{NoRun: true}))
	latest, err := s.Latest(ctx)
	require.NoError(t, err)
	require.ElementsMatch(t,
		[]store.RunVariant{{Run: "r3", Model: "m", Prompt: "evaluation-prompt"},
			{Run: "r2", Model: "n", Prompt: "evaluation-prompt"}}, latest)
	errored, err := s.Errored(ctx, []string{"r2", "r1"})
	require.NoError(t, err)
	one := evaluation("", "")
	require.Equal(t, map[string]store.Consumed{"k1": {Usage: one.Usage.Add(one.Usage),
		Wall: 2 * one.Latency}}, errored)
	runs, err := s.Runs(ctx)
	require.NoError(t, err)
	trials, cases := runs[0].PlannedOf("m", "p")
	require.Equal(t, []int{6, 3}, []int{trials, cases})
}

// sevenColumns is a file that another program wrote.
func sevenColumns(t *testing.T, e engine) {
	where, ctx := e.fresh(t), context.Background()
	db, err := e.open(where)
	require.NoError(t, err)
	id := "INTEGER PRIMARY KEY AUTOINCREMENT"
	if e.name == "postgres" {
		id = "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"
	}
	for _, q := range []string{
		"CREATE TABLE evaluations (id " + id +
			", timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, test_file TEXT NOT NULL, model_name TEXT NOT NULL, expected_result TEXT NOT NULL, actual_result TEXT NOT NULL, explanation TEXT)",
		"INSERT INTO evaluations (timestamp, test_file, model_name, expected_result, actual_result, explanation) VALUES ('2026-01-02 03:04:05', 'tests/shop/list-orders-01-good.md', 'gpt', 'good', 'good', 'fine')",
		"INSERT INTO evaluations (timestamp, test_file, model_name, expected_result, actual_result) VALUES ('2026-01-02 03:04:06', 'list-orders-03-bad.md', 'gpt', 'bad', 'GOOD')",
		"INSERT INTO evaluations (timestamp, test_file, model_name, expected_result, actual_result) VALUES ('2026-01-02 03:04:07', 'list-orders-04-bad.md', 'gpt', 'bad', 'error')",
	} {
		_, err := db.Exec(q)
		require.NoError(t, err, q)
	}
	require.NoError(t, db.Close())
	check := func(s store.Store) {
		rows := all(t, s, store.Query{Model: "gpt"})
		require.Len(t, rows, 3)
		require.Equal(t, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), rows[0].Time)
		require.Equal(t, "shop/list-orders", rows[0].Family)
		require.Equal(t, []audit.Outcome{audit.OutcomeCorrect, audit.OutcomeWrong,
			audit.OutcomeMalformed},
			[]audit.Outcome{rows[0].Outcome, rows[1].Outcome, rows[2].Outcome})
		none, err := s.Prior(ctx, nil, []string{"k1"})
		require.NoError(t, err)
		require.Empty(t, none)
	}
	ro, err := store.OpenReadOnly(ctx, where)
	require.NoError(t, err)
	check(ro)
	require.NoError(t, ro.Close())

	s := open(t, where)
	check(s)
	require.NoError(t, s.Put(ctx, evaluation("r1", "k1")))
	require.Len(t, all(t, s, store.Query{}), 4)
}

func readOnly(t *testing.T, e engine) {
	where, ctx := e.fresh(t), context.Background()
	if e.name == "sqlite" {
		_, err := store.OpenReadOnly(ctx, where)
		require.ErrorIs(t, err, os.ErrNotExist)
		require.NoFileExists(t, where, "looking creates nothing")
	}
	s := open(t, where)
	require.NoError(t, s.Put(ctx, evaluation("r1", "k1")))
	ro, err := store.OpenReadOnly(ctx, where)
	require.NoError(t, err)
	defer ro.Close()
	require.Len(t, all(t, ro, store.Query{}), 1)
	require.ErrorIs(t, ro.Put(ctx, evaluation("r1", "k2")), store.ErrReadOnly)
	require.ErrorIs(t, ro.Begin(ctx, store.Run{ID: "r1"}), store.ErrReadOnly)
	require.ErrorIs(t, ro.Finish(ctx, store.Run{ID: "r1"}), store.ErrReadOnly)
	require.ErrorIs(t, ro.Reuse(ctx, "r1", nil), store.ErrReadOnly)
}

// olderTables: attempts that stood in a table of their own are in their rows
// afterwards, and who only reads is told.
func olderTables(t *testing.T, e engine) {
	where, ctx := e.fresh(t), context.Background()
	db, err := e.open(where)
	require.NoError(t, err)
	defer db.Close()
	files, err := filepath.Glob("migrations/" + e.name + "/*.sql")
	require.NoError(t, err)
	texts := []string{"CREATE TABLE goose_db_version (version_id INTEGER, is_applied BOOLEAN)"}
	for i, file := range files {
		if strings.Contains(file, "narrow") {
			break
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		texts = append(texts, string(text),
			fmt.Sprintf("INSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, true)",
				i+1))
	}
	for _, text := range append(texts,
		"INSERT INTO evaluations (run_id, trial_key, test_file, status) VALUES ('r1', 'k1', 'x', 'answered'), ('r1', 'k2', 'x', 'answered')",
		"INSERT INTO audits VALUES ('r1', 'k3', '', 'p', 'a', 0, 'correct', '', '', '', 1, 0, 1, 1, 1, 1, 1, 1, '')",
		"INSERT INTO attempts VALUES ('r1', 'k1', 1, '2026-03-01T12:30:16.250Z', 1500, 'm-2026', 'stop', 1000, 50, 0.0125, 1, 200, ''),"+
			" ('r1', 'k1', 0, '2026-03-01T12:30:15.250Z', 20, '', '', 0, 0, 0, 0, 429, 'slow down'), ('r1', 'k3', 0, '', 0, '', '', 0, 0, 0, 0, 0, 'x')") {
		_, err := db.Exec(text)
		require.NoError(t, err, text)
	}
	ro, err := store.OpenReadOnly(ctx, where)
	require.NoError(t, err)
	_, err = ro.Attempts(ctx, "r1", "k1")
	require.ErrorContains(t, err, "a run that writes to it brings it up to date")
	require.Len(t, all(t, ro, store.Query{Run: "r1"}), 2)
	require.NoError(t, ro.Close())

	s := open(t, where)
	for trial, want := range map[string][]audit.Attempt{"k1": attempts(), "k2": nil,
		"k3": {{Error: "x"}}} {
		got, err := s.Attempts(ctx, "r1", trial)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(want, got), "%s: -want +got", trial)
	}
}

// manyWriters: two stores on one database, as two processes would have them, where
// it has room for two.
func manyWriters(t *testing.T, e engine) {
	where, ctx := e.fresh(t), context.Background()
	stores := []store.Store{open(t, where), nil}
	if stores[1] = stores[0]; e.name == "postgres" {
		stores[1] = open(t, where)
	}
	const writers, each = 8, 40
	var wg sync.WaitGroup
	errs := make(chan error, writers*each)
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				ev := evaluation("r1", fmt.Sprintf("%d/%d", w/2, i)) // every trial is written twice
				ev.Attempts = attempts()
				errs <- stores[w%2].Put(ctx, ev)
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.Len(t, all(t, stores[0], store.Query{Run: "r1"}), writers/2*each)
}

func hostileText(t *testing.T, e engine) {
	s, ctx := open(t, e.fresh(t)), context.Background()
	ev := evaluation("r1", "k1")
	ev.Explanation, ev.Reply = "nul \x00 and \xff\xfe", "'; DROP TABLE evaluations; --"
	require.NoError(t, s.Put(ctx, ev))
	rows := all(t, s, store.Query{})
	require.Len(t, rows, 1)
	require.Equal(t, "nul \uFFFD and \uFFFD", rows[0].Explanation)
	require.Equal(t, ev.Reply, rows[0].Reply)
}

// closedWhileWriting: what others write while a store is closed is stored, or they are
// told that it is closed; who writes still holds the database.
func closedWhileWriting(t *testing.T, e engine) {
	where, ctx := e.fresh(t), context.Background()
	for round := range 5 {
		s, err := store.Open(ctx, where)
		require.NoError(t, err)
		var stored, begun sync.WaitGroup
		begun.Add(4)
		var kept [4]int
		var last [4]error
		for w := range kept {
			stored.Go(func() {
				for last[w] == nil {
					if last[w] = s.Put(ctx, evaluation(fmt.Sprint("run-", round),
						fmt.Sprint(w, "-", kept[w]))); last[w] == nil {
						kept[w]++
					}
					if kept[w] == 1 && last[w] == nil {
						begun.Done()
					}
				}
			})
		}
		begun.Wait()
		require.NoError(t, s.Close())
		stored.Wait()
		want := 0
		for w := range kept {
			want += kept[w]
			require.ErrorContains(t, last[w], "the store is closed")
		}
		ro := open(t, where)
		found := 0
		for _, err := range ro.Evaluations(ctx, store.Query{Run: fmt.Sprint("run-", round)}) {
			require.NoError(t, err)
			found++
		}
		require.Equal(t, want, found)
		require.NoError(t, ro.Close())
	}
}

func closed(t *testing.T, e engine) {
	s, err := store.Open(context.Background(), e.fresh(t))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.ErrorContains(t, s.Put(context.Background(), evaluation("r1", "k1")), "closed")
	require.NoError(t, s.Close(), "closing twice is no error")
}

func empty(t *testing.T, e engine) {
	s, ctx := open(t, e.fresh(t)), context.Background()
	require.NoError(t, s.Put(ctx))
	require.ErrorContains(t, s.Put(ctx, store.Evaluation{TestFile: "x.md"}),
		"names no run or no trial")
	require.Empty(t, all(t, s, store.Query{}))
	list, err := s.Runs(ctx)
	require.NoError(t, err)
	require.Empty(t, list)
}

// openedTogether: processes that start together migrate once.
func openedTogether(t *testing.T, e engine) {
	where := e.fresh(t)
	var wg sync.WaitGroup
	errs := make(chan error, 6)
	for range cap(errs) {
		wg.Go(func() {
			s, err := store.Open(context.Background(), where)
			if err == nil {
				err = s.Close()
			}
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	opened := 0
	for err := range errs {
		if e.name == "sqlite" && errors.Is(err, store.ErrHeld) {
			continue
		}
		require.NoError(t, err)
		opened++
	}
	require.Positive(t, opened)
}
