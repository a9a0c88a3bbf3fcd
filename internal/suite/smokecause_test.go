package suite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// TestSmokeTellsWhatFailed: one miss is acceptable, and where something else failed
// that stands first; a row that passed has nothing to look at.
func TestSmokeTellsWhatFailed(t *testing.T) {
	smoke := func(missed int, severity audit.Severity) score.SmokeJudgement {
		result := &score.Result{}
		for i, id := range []string{"SMOKE-1", "SMOKE-2", "SMOKE-3", "SMOKE-4", "SMOKE-5"} {
			known := score.EntryResult{ID: id, Finding: 0, Credit: 1}
			if i >= 5-missed {
				known = score.EntryResult{ID: id, Finding: -1}
			}
			result.Known = append(result.Known, known)
		}
		result.Findings = []score.Scored{{Finding: audit.Finding{Severity: severity}}}
		return score.JudgeSmoke(score.SmokeInput{Result: result, Report: &audit.Report{},
			RatedHigh: []string{"SMOKE-1"}})
	}
	for _, c := range []struct {
		missed   int
		severity audit.Severity
		want     string
	}{
		{0, audit.High, ""},
		{1, audit.High, ""}, // the suite makes it WARN, below
		{0, audit.Low, "SMOKE-1 is rated LOW; HIGH or CRITICAL is due"},
		{1, audit.Low, "SMOKE-1 is rated LOW; HIGH or CRITICAL is due; missed SMOKE-5"},
		{2, audit.Low, "not operational: missed SMOKE-4, SMOKE-5"},
	} {
		j := smoke(c.missed, c.severity)
		require.Equal(t, c.want, smokeCause(&j), "%d missed, rated %v", c.missed, c.severity)
	}
	j := smoke(1, audit.High)
	j.Verdict = audit.Warn
	require.Equal(t, "acceptable: missed SMOKE-5", smokeCause(&j))
}

// TestAPassTellsWhatHasNoAnswer: on the screen too, where figures are of answers alone.
func TestAPassTellsWhatHasNoAnswer(t *testing.T) {
	var s summary
	s.add(line{suite: "Bench", who: "a", verdict: audit.Pass, cause: "unanswered 4.0 %",
		figures: []string{"0.0"}})
	var out strings.Builder
	s.show(&out, view{width: screenWidth, lines: screenLines})
	require.Contains(t, out.String(), "unanswered 4.0 %")
}
