package score_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit/score"
)

func TestPlan(t *testing.T) {
	suite := func(n int) (ps []score.PlannedProject) {
		for range n {
			ps = append(ps, score.PlannedProject{Name: "p", Entries: 20, USD: 0.5})
		}
		return ps
	}
	four := score.NewPlan(suite(4), 1)
	require.Equal(t, 2.0, four.USD)
	require.Equal(t,
		"4 projects, 80 vulnerabilities, 1 trial each: about $2.00; finds a drop in recall of 25 points with 80 % power (3 v 1)", four.Line(3, 1, 0))
	require.Equal(t,
		"4 projects, 80 vulnerabilities, 2 trials each: about $4.00; finds a drop in recall of 18 points with 80 % power (3 v 3)", four.Line(3, 3, 1))
	require.Contains(t, four.Line(0, 1, 0), "; there is no baseline yet, so goals alone decide")
	require.Contains(t, four.String(),
		"4 projects, 80 vulnerabilities; a trial of all of them: $2.00\n")
	require.Contains(t, four.String(),
		"       1 v 1     - (too few exchanges to FAIL, unless a project collapses)\n       3 v 1     25 points\n       3 v 3     18 points\n")
	require.Contains(t, four.String(),
		"  one more project like these (3 v 1): 22 points, 4 audits, $2.00\n  2 more trials (3 v 3): 18 points, 8 audits, $4.00\n")

	one := score.NewPlan(suite(1), 1)
	require.Contains(t, one.String(), "WARNING: one new trial of this suite cannot FAIL")
	require.Equal(t,
		"1 project, 20 vulnerabilities, 1 trial each: about $0.50; WARNING: 3 v 1 trials cannot FAIL by a drop, unless a project collapses: run -trials 3, or add projects (assay plan)", one.Line(3, 1, 0))
	require.Contains(t, score.NewPlan([]score.PlannedProject{{Name: "decoys"}}, 1).String(),
		"recall cannot drop")
	require.Contains(t, score.NewPlan(nil, 1).String(), "0 projects")
}
