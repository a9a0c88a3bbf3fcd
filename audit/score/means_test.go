package score_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit/score"
)

// TestFiguresOf: every figure of the table is the mean over trials, an undefined one left out.
func TestFiguresOf(t *testing.T) {
	require.Nil(t, score.FiguresOf(nil))
	p := project(known("K", "a.java", 10, 10, 89), known("L", "b.java", 10, 10, 79),
		known("M", "c.java", 10, 10, 22))
	both := mustScore(t, p, finding("1", "a.java", 10, 10, 89), finding("2", "b.java", 10, 10, 79))
	one := mustScore(t, p, finding("1", "a.java", 10, 10, 89),
		finding("2", "gone.java", 10, 10, 79))
	none := mustScore(t, p)
	alone := score.FiguresOf([]score.AuditTrial{{Result: both}})
	means := score.FiguresOf([]score.AuditTrial{{Result: both}, {Result: one}, {Result: none}})
	for _, m := range score.AuditMetrics() {
		if m.Name == "trials" { // a single result knows nothing of its trial
			break
		}
		require.Equal(t, m.Show(&both.Metrics), m.Show(alone), m.Name)
		sum, n := 0.0, 0.0
		for _, r := range []*score.Result{both, one, none} {
			e := m.Of(&r.Metrics)
			if v := e.Value; v.Defined {
				sum, n = sum+v.V, n+1
			} else if e.Low.Defined {
				sum, n = sum+e.Low.V, n+1
			}
		}
		e := m.Of(means)
		if !e.Value.Defined {
			e.Value = e.Low
		}
		require.Equal(t, n > 0, e.Value.Defined, m.Name)
		require.InDelta(t, sum/max(1, n), e.Value.V, 1e-12, m.Name)
	}
	require.Equal(t, both.Metrics.Known, means.Known)
}
