package score_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// An auditor that misses goals exactly as its baseline did warns: below goal, as in
// the baseline. Where it then falls it fails.
func TestBelowGoalAsInTheBaseline(t *testing.T) {
	p := target()
	r, err := score.Score(score.Input{Project: p, Findings: score.AsFindings(p)[:3*len(p.Vulnerabilities)/5],
		Dimensions: realDimensions(t), Rounds: -1})
	require.NoError(t, err)
	goals := score.ProjectGoals{Recall: 0.9, Coverage: 10, Expected: 1000,
		Minimums: map[audit.Dimension]int{audit.SSRF: 100}}
	same := []score.AuditTrial{{Result: r}}
	j, err := score.Judge(score.Subject{Goals: goals, Now: same, Baseline: same},
		score.Rules{Deterministic: true})
	require.NoError(t, err)
	for _, g := range j.Reasons {
		require.NotEqual(t, audit.Fail, g.Verdict, g.Text)
	}
	require.Equal(t, audit.Warn, j.Verdict)

	half, err := score.Score(score.Input{Project: p, Findings: score.AsFindings(p)[:len(p.Vulnerabilities)/3],
		Dimensions: realDimensions(t), Rounds: -1})
	require.NoError(t, err)
	j, err = score.Judge(score.Subject{Goals: goals, Now: []score.AuditTrial{{Result: half}},
		Baseline: same}, score.Rules{Deterministic: true})
	require.NoError(t, err)
	require.Equal(t, audit.Fail, j.Verdict)
}

// An auditor that finds nothing never passes, whatever its baseline found.
func TestNothingFoundAsAtTheBaseline(t *testing.T) {
	r, err := score.Score(score.Input{Project: target(), Dimensions: realDimensions(t)})
	require.NoError(t, err)
	goals := score.ProjectGoals{Recall: 0.7, Precision: 0.85, F1: 0.77, Coverage: 8}
	none := []score.AuditTrial{{Result: r}}
	j, err := score.Judge(score.Subject{Goals: goals, Now: none}, score.Rules{Deterministic: true})
	require.NoError(t, err)
	require.Equal(t, audit.Fail, j.Verdict)
	j, err = score.Judge(score.Subject{Goals: goals, Now: none, Baseline: none},
		score.Rules{Deterministic: true})
	require.NoError(t, err)
	require.Equal(t, audit.Warn, j.Verdict)
}
