package report_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/report"
	"assay/internal/store"

	"github.com/stretchr/testify/require"
)

// fill writes rows evaluations of ten models over cases of five applications.
func fill(tb testing.TB, where string, rows int) {
	tb.Helper()
	st, err := store.Open(context.Background(), where)
	require.NoError(tb, err)
	defer st.Close()
	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	require.NoError(tb, st.Begin(context.Background(), store.Run{ID: "r", Started: start, Planned: rows, State: "running"}))
	var batch []store.Evaluation
	for i := range rows {
		batch = append(batch, evaluation(i, start))
		if len(batch) == 1000 || i == rows-1 {
			require.NoError(tb, st.Put(context.Background(), batch...))
			batch = batch[:0]
		}
	}
}

// evaluation is the i-th answer: ten models, 720 cases, then the next trial.
func evaluation(i int, start time.Time) store.Evaluation {
	model, c, trial := i%10, i/10%720, i/7200
	number := c%6 + 1
	label, violates := audit.Bad, []int{1, 2}
	if number <= 2 {
		label, violates = audit.Good, nil
	}
	app, query := fmt.Sprint("app", c/6%5), fmt.Sprint("query-", c/30)
	e := store.Evaluation{Time: start.Add(time.Duration(i) * time.Millisecond), Run: "r", Trial: fmt.Sprint(i), Index: trial,
		Model: fmt.Sprint("model-", model), Prompt: "evaluation-prompt", App: app, Query: query, Family: app + "/" + query,
		TestFile: fmt.Sprintf("tests/%s/%s-%02d-%s.md", app, query, number, label), Expected: label, Actual: string(label),
		Outcome: audit.OutcomeCorrect, Status: audit.Answered, Violates: violates, Reason: store.ReasonRight, CaseHash: "h",
		Explanation: "The statement joins the tenant's rows without a predicate on the tenant, so that rows of others show.",
		Reply:       `{"verdict":"bad","explanation":"...","violates":[1,2]}`,
		Usage:       audit.Usage{TokensIn: 900, TokensOut: 80, USD: 0.0004 * float64(model+1), Priced: true}, Latency: 800 * time.Millisecond}
	switch h := (i * 2654435761) >> 7 % 100; {
	case h < 5+model*3:
		e.Outcome, e.Actual, e.Reason = audit.OutcomeWrong, "good", store.ReasonUnknown
		if label == audit.Good {
			e.Actual = "bad"
		}
	case h == 99:
		e.Outcome, e.Status, e.Actual, e.Explanation = audit.OutcomeRefused, audit.Refused, "refused", ""
	}
	return e
}

// A report of many evaluations: seconds and the largest heap. ASSAY_ROWS says how
// many (100,000), ASSAY_ROWS_DB keeps the file for the next time.
//
//	ASSAY_ROWS=1000000 go test -run '^$' -bench Site -benchtime 1x ./internal/report
func BenchmarkSite(b *testing.B) {
	rows := 100_000
	if n, err := strconv.Atoi(os.Getenv("ASSAY_ROWS")); err == nil {
		rows = n
	}
	where := os.Getenv("ASSAY_ROWS_DB")
	if where == "" {
		where = filepath.Join(b.TempDir(), "results.db")
	}
	if _, err := os.Stat(where); err != nil {
		fill(b, where, rows)
	}
	for b.Loop() {
		st, err := store.OpenReadOnly(context.Background(), where)
		require.NoError(b, err)
		r, err := report.LoadResults(context.Background(), st, store.Query{}, report.Key{}, true)
		require.NoError(b, err)
		require.NoError(b, st.Close())
		require.Equal(b, rows, r.Rows)
		_, err = report.WriteSite(b.TempDir(), report.Input{Results: r, Made: time.Now()})
		require.NoError(b, err)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapSys)/1e6, "MB")
	}
}
