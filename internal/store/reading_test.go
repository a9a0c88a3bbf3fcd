package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/store"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// varied gives evaluations that differ in each field that Summaries tells, some of
// them with texts that could be taken for two.
func varied() []store.Evaluation {
	var out []store.Evaluation
	add := func(change func(*store.Evaluation)) {
		e := evaluation("r1", fmt.Sprint("k", len(out)))
		change(&e)
		out = append(out, e)
	}
	add(func(*store.Evaluation) {})
	add(func(*store.Evaluation) {})
	add(func(e *store.Evaluation) { e.Model = "other" })
	add(func(e *store.Evaluation) {
		e.Outcome, e.Actual, e.Reason = audit.OutcomeCorrect, "bad", store.ReasonRight
	})
	add(func(e *store.Evaluation) {
		e.Violates, e.CaseHash, e.Twin, e.Prompt = nil,
			"other", "", "other"
	})
	add(func(e *store.Evaluation) { e.Usage, e.Latency = audit.Usage{}, 0 })
	add(func(e *store.Evaluation) {
		e.Usage.USD, e.Latency, e.Usage.TokensIn = 0.00000123,
			time.Hour, 1<<40
	})
	// One separator more and one less: joined, the two read alike.
	add(func(e *store.Evaluation) { e.App, e.Query = "a\x1fb", "c" })
	add(func(e *store.Evaluation) { e.App, e.Query = "a", "b\x1fc" })
	add(func(e *store.Evaluation) { e.Model, e.Query = "", strings.Repeat("\x1f", 20) })
	add(func(e *store.Evaluation) {
		e.Model, e.App = "m'\"; DROP TABLE evaluations; --\n\t\U0001F480", "nul \x00 \xff"
	})
	return out
}

// brief: the same rows as Evaluations, with what figures are made of.
func brief(t *testing.T, e engine) {
	where, ctx := e.fresh(t), context.Background()
	s := open(t, where)
	require.NoError(t, s.Put(ctx, varied()...))
	elsewhere := evaluation("r2", "k0")
	require.NoError(t, s.Put(ctx, elsewhere))
	whole := all(t, s, store.Query{})
	require.NoError(t, s.Reuse(ctx, "r2", whole[2:4]))
	ro, err := store.OpenReadOnly(ctx, where)
	require.NoError(t, err)
	defer ro.Close()
	for _, q := range []store.Query{{}, {Run: "r1"}, {Run: "r2"}, {Model: "other"},
		{Run: "r2", Model: "other"}, {Run: "none"}} {
		var want, got []store.Evaluation
		for _, e := range all(t, s, q) {
			want = append(want, store.Evaluation{ID: e.ID, TestFile: e.TestFile, Model: e.Model,
				Expected: e.Expected, Actual: e.Actual, Index: e.Index, App: e.App, Query: e.Query,
				Family: e.Family, Prompt: e.Prompt, Twin: e.Twin, Outcome: e.Outcome,
				Status: e.Status, Violates: e.Violates, Reason: e.Reason,
				CaseHash: e.CaseHash, Usage: e.Usage, Latency: e.Latency, Confidence: e.Confidence})
		}
		for e, err := range ro.Summaries(ctx, q) {
			require.NoError(t, err)
			got = append(got, e)
		}
		require.Empty(t, cmp.Diff(want, got), "%+v: -want +got", q)
		require.Equal(t, q.Run != "none", len(got) > 0, "%+v", q)
	}
	for range ro.Summaries(ctx, store.Query{}) {
		break // whoever stops early leaves no rows open: Close would wait
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	for _, err := range ro.Summaries(stopped, store.Query{}) {
		require.ErrorIs(t, err, context.Canceled)
	}
}

// byID: what was asked for and nothing else, more than one statement takes, and
// IDs that are not there are no error.
func byID(t *testing.T, e engine) {
	s, ctx := open(t, e.fresh(t)), context.Background()
	var evs []store.Evaluation
	for i := range 1200 {
		evs = append(evs, evaluation("r1", fmt.Sprint("k", i)))
	}
	require.NoError(t, s.Put(ctx, evs...))
	want := map[int64]store.Evaluation{}
	ids := []int64{1 << 50}
	for i, e := range all(t, s, store.Query{}) {
		if i%2 == 0 {
			want[e.ID] = e
			ids = append(ids, e.ID)
		}
	}
	slices.Reverse(ids)
	got := map[int64]store.Evaluation{}
	for e, err := range s.ByID(ctx, ids) {
		require.NoError(t, err)
		got[e.ID] = e
	}
	require.Len(t, got, 600)
	require.Empty(t, cmp.Diff(want, got), "-want +got")
	for range s.ByID(ctx, nil) {
		t.Fatal("nothing was asked for")
	}
}

// oddTypes is a file that another program wrote into: NULL and text where numbers
// belong, numbers where text belongs, and blobs.
func oddTypes(t *testing.T, e engine) {
	where, ctx := e.fresh(t), context.Background()
	require.NoError(t, open(t, where).Put(ctx, evaluation("r0", "k0")))
	db, err := e.open(where)
	require.NoError(t, err)
	defer db.Close()
	rows := []string{
		"INSERT INTO evaluations (test_file, model_name, expected_result, actual_result) VALUES ('shop/a-03-bad.md', 'm', ' BAD ', 'Good')",
		"INSERT INTO evaluations (test_file, expected_result) VALUES ('shop/a-03-bad.md', 'bad')",
		"INSERT INTO evaluations (id) VALUES (77)",
	}
	if e.name == "sqlite" { // which lets a column hold anything
		rows = append(rows,
			"INSERT INTO evaluations (timestamp, test_file, model_name, expected_result, actual_result, explanation, tokens_in, usd, latency_ms, reason, priced, violates, confidence, tries, outcome) VALUES (1700000000, 7, 8.5, 'bad', x'626164', x'ff00fe', 'many', 'dear', 12.9, 'x', 'yes', 2.5, 'sure', NULL, NULL)",
			"INSERT INTO evaluations (test_file, model_name, expected_result, actual_result, usd, tokens_in) VALUES ('a-03-bad.md', 'm', 'bad', 'bad', 9e999, 1e300)")
	}
	for _, q := range rows {
		_, err := db.Exec(q)
		require.NoError(t, err, q)
	}
	ro, err := store.OpenReadOnly(ctx, where)
	require.NoError(t, err)
	defer ro.Close()
	whole := all(t, ro, store.Query{})
	require.Len(t, whole, 1+len(rows))
	require.Equal(t, []audit.Outcome{audit.OutcomeWrong, audit.OutcomeMalformed,
		audit.OutcomeMalformed}, []audit.Outcome{whole[1].Outcome, whole[2].Outcome,
		whole[3].Outcome})
	if e.name == "sqlite" {
		odd := whole[4]
		require.Equal(t, audit.OutcomeCorrect, odd.Outcome)
		require.Equal(t, 2023, odd.Time.Year())
		require.Equal(t, []any{"7", "8.5", "\uFFFD\uFFFD\uFFFD", int64(0), 0.0,
			12 * time.Millisecond}, []any{odd.TestFile, odd.Model, odd.Explanation,
			odd.Usage.TokensIn, odd.Usage.USD, odd.Latency})
	}
	n := 0
	for b, err := range ro.Summaries(ctx, store.Query{}) {
		require.NoError(t, err)
		require.Equal(t, []any{whole[n].ID, whole[n].TestFile, whole[n].Outcome, whole[n].Usage,
			whole[n].Latency}, []any{b.ID, b.TestFile, b.Outcome, b.Usage, b.Latency})
		n++
	}
	require.Equal(t, len(whole), n)
}

// A table whose IDs are no numbers cannot be read, and says so.
func TestIDsThatAreNoNumbers(t *testing.T) {
	where := t.TempDir() + "/results.db"
	db, err := sql.Open("sqlite", where)
	require.NoError(t, err)
	_, err = db.Exec(
		"CREATE TABLE evaluations (id TEXT, timestamp TEXT, test_file TEXT, model_name TEXT, expected_result TEXT, actual_result TEXT, explanation TEXT); INSERT INTO evaluations VALUES ('4f1c', '', 'a/b-01-good.md', 'm', 'good', 'good', '')")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	s, err := store.OpenReadOnly(context.Background(), where)
	require.NoError(t, err)
	defer s.Close()
	for _, err := range s.Summaries(context.Background(), store.Query{}) {
		require.ErrorContains(t, err, `id "4f1c": expected whole numbers`)
	}
	for _, err := range s.Evaluations(context.Background(), store.Query{}) {
		require.ErrorContains(t, err, `id "4f1c": expected whole numbers`)
	}
}
