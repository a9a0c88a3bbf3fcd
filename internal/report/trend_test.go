package report_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/report"
	"assay/internal/store"
)

// A reviewer that was asked in two runs has a trend with intervals; what was asked
// once, or a run of another suite, has none.
func TestBenchTrend(t *testing.T) {
	ctx := context.Background()
	st, err := store.Open(ctx, filepath.Join(t.TempDir(), "results.db"))
	require.NoError(t, err)
	defer st.Close()
	for i, suite := range []string{"Bench", "Bench", "Smoke"} {
		run := fmt.Sprint("run-", i)
		require.NoError(t,
			st.Begin(ctx, store.Run{ID: run, Suite: suite,
				Started: day.Add(time.Duration(i) * time.Hour), Planned: 60}))
		for c := range 60 {
			e := evaluation(10*c, day)
			e.Run, e.Trial = run, fmt.Sprint(run, c)
			if e.Outcome = audit.OutcomeCorrect; i == 1 && c%3 == 0 {
				e.Outcome = audit.OutcomeWrong
			}
			require.NoError(t, st.Put(ctx, e))
			if e.Model, e.Trial = "once", e.Trial+"once"; i == 1 {
				require.NoError(t, st.Put(ctx, e))
			}
		}
	}
	r, err := report.LoadResults(ctx, st, store.Query{}, report.Key{}, true)
	require.NoError(t, err)
	require.NoError(t, r.NoPast)
	trend := r.Trend()
	require.Len(t, trend, 1)
	require.Equal(t, "model-0@evaluation-prompt", trend[0].Name)
	require.Len(t, trend[0].Points, 2)
	require.Equal(t, 1.0, trend[0].Points[0].E.Value.V, "the older run first")
	require.InDelta(t, 2.0/3, trend[0].Points[1].E.Value.V, 0.1)
	require.Less(t, trend[0].Points[1].E.Low.V, trend[0].Points[1].E.Value.V)
	require.Greater(t, trend[0].Points[1].E.High.V, trend[0].Points[1].E.Value.V)

	dir := t.TempDir()
	_, err = report.WriteSite(dir, report.SiteInput{Results: r, Made: day})
	require.NoError(t, err)
	page, err := os.ReadFile(filepath.Join(dir, "reviewers.html"))
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(page), `id="history"`))
	require.Contains(t, string(page), "Balanced accuracy run by run")
}
