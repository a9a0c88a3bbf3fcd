package record

import (
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// TestFiguresOfTrials: the template's figures are those that the verdict judges, the
// means over the trials that count.
func TestFiguresOfTrials(t *testing.T) {
	trial := func(recall, low float64, covered ...audit.Dimension) Trial {
		return Trial{Result: &score.Result{Metrics: score.Metrics{Part: score.Part{Recall: score.Of(recall),
			Precision: score.Span{Low: score.Of(low), High: score.Of(1)}, F1: score.Span{Low: score.Of(low), High: score.Of(1)}, Covered: covered, Held: audit.Dimensions(), Coverage: score.Of(float64(len(covered)) / 10)}}}}
	}
	ds := audit.Dimensions()
	broken := trial(0, 0)
	broken.Invalid = "no report"
	r := &Record{Suite: "Regression", Trials: []Trial{broken, trial(1, 0.9, ds[:8]...), trial(0.5, 0.7, ds[:7]...)}}
	text := r.Text()
	for _, want := range []string{"Recall:    75% (", "Precision: 80% (", "F1:        80% (", "Coverage:  7.5/10 (", "the first trial: recall 100.0 %"} {
		require.Contains(t, text, want)
	}
	r.Trials = r.Trials[:2]
	text = r.Text()
	require.Contains(t, text, "Coverage:  8/10 (")
	require.NotContains(t, text, "the first trial")
	r.Trials = r.Trials[:1]
	require.Contains(t, r.Text(), "Recall:    none (baseline: none)", "a trial that proves nothing has no figures")
}
