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
	trial := func(recall, low float64, covered ...audit.Dimension) RecordedTrial {
		return RecordedTrial{Result: &score.Result{Metrics: score.Metrics{Part: score.Part{Recall: score.Of(recall),
			Precision: score.Span{Low: score.Of(low), High: score.Of(1)},
			F1:        score.Span{Low: score.Of(low), High: score.Of(1)}, Covered: covered,
			Held: audit.Dimensions(), Coverage: score.Of(float64(len(covered)) / 10)}}}}
	}
	ds := audit.Dimensions()
	broken := trial(0, 0)
	broken.Invalid = "no report"
	r := &Record{Suite: "Regression", Trials: []RecordedTrial{broken, trial(1, 0.9, ds[:8]...),
		trial(0.5, 0.7, ds[:7]...)}}
	text := r.Text()
	for _, want := range []string{"Recall:    75% (", "Precision: 80% (", "F1:        80% (",
		"Coverage:  7.5/10 (", "the first trial: recall 100.0 %"} {
		require.Contains(t, text, want)
	}
	r.Trials = r.Trials[:2]
	text = r.Text()
	require.Contains(t, text, "Coverage:  8/10 (")
	require.NotContains(t, text, "the first trial")
	r.Trials = r.Trials[:1]
	require.Contains(t, r.Text(), "Recall:    none (baseline: none)",
		"a trial that proves nothing has no figures")
}

// TestBracketsAreByTheLetter: a drop of 1 to 5 points is WARN, a larger one FAIL, a missed goal
// FAIL, whatever the gate says; its verdict begins the notes. Nothing but a run without filter is
// a full suite.
func TestBracketsAreByTheLetter(t *testing.T) {
	ds := audit.Dimensions()
	of := func(recall, precision float64, covered int) RecordedTrial {
		f1 := score.F1(score.Of(precision), score.Of(recall))
		return RecordedTrial{Result: &score.Result{Metrics: score.Metrics{Part: score.Part{Recall: score.Of(recall), Precision: score.Span{Low: score.Of(precision), High: score.Of(1)},
			F1: score.Span{Low: f1, High: f1}, Covered: ds[:covered], Held: ds,
			Coverage: score.Of(float64(covered) / 10)}}}}
	}
	r := &Record{Suite: "Regression", Full: true, Auditor: "a", Project: "p",
		Goals: score.ProjectGoals{Precision: 0.85}, Judgement: score.Judgement{Verdict: audit.Warn},
		Trials: []RecordedTrial{of(0.66, 0.80, 9)}}
	r.Since(&Record{Auditor: "a", Trials: []RecordedTrial{of(0.70, 0.80, 10)}})
	text := r.Text()
	for _, want := range []string{"Test: full suite\n", "Recall:    66% (baseline: 70%)  [WARN]",
		"Precision: 80% (baseline: 80%)  [FAIL]", "F1:        72% (baseline: 75%)  [WARN]",
		"Coverage:  9/10 (baseline: 10/10) [FAIL]",
		"\nVerdict: FAIL\nNotes: Gate: WARN; a on p; "} {
		require.Contains(t, text, want)
	}
	r.Goals, r.Full, r.Judgement.Verdict = score.ProjectGoals{}, false, audit.Fail
	r.Trials = []RecordedTrial{of(0.66, 0.80, 10)}
	require.Contains(t, r.Text(), "Test: part of the full suite\n")
	require.Contains(t, r.Text(), "\nVerdict: PASS\nNotes: Gate: FAIL; ",
		"WARN does not block by the letter")
	r.Judgement.Verdict = audit.Invalid
	require.Contains(t, r.Text(), "[FAIL]\nVerdict: FAIL\nNotes: Gate: INVALID; ")
}
