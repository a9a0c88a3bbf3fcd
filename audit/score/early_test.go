package score_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// ends gives trials of a project of which so many ended early once, and were whole
// when they were tried again.
func ends(t *testing.T, p *audit.Project, trials, early int) []score.Trial {
	var ts []score.Trial
	for i := range trials {
		x := found(t, p, 90, 0)
		if x.Runs = 1; i < early {
			x.Runs, x.EarlyEnds = 2, 1
		}
		ts = append(ts, x)
	}
	return ts
}

// A significant rise of early ends is FAIL, though every trial counts and recall is
// as it was; one that chance explains is WARN; and none is not spoken of.
func TestARiseOfEarlyEndsFails(t *testing.T) {
	p := hundred(100)
	judge := func(base, now []score.Trial, rules score.Rules) score.Suite {
		s, err := score.JudgeSuite([]score.Subject{{Goals: score.Goals{}, Baseline: base, Now: now}}, rules)
		require.NoError(t, err)
		return s
	}
	early := func(s score.Suite) *score.Reason {
		for i := range s.Pool {
			if s.Pool[i].Code == score.CodeEarlyEnds {
				return &s.Pool[i]
			}
		}
		return nil
	}
	s := judge(ends(t, p, 24, 0), ends(t, p, 24, 24), score.Rules{})
	require.Equal(t, audit.Fail, early(s).Verdict, early(s).Text)
	require.Equal(t, audit.Fail, s.Verdict)
	require.Contains(t, early(s).Text, "50 % of runs ended early, at the baseline 0 %: more than chance explains")

	s = judge(ends(t, p, 12, 0), ends(t, p, 12, 12), score.Rules{})
	require.Equal(t, audit.Warn, early(s).Verdict, early(s).Text)
	require.Equal(t, audit.Fail, early(judge(ends(t, p, 12, 0), ends(t, p, 12, 12), score.Rules{Strict: true})).Verdict)

	require.Equal(t, audit.Pass, early(judge(ends(t, p, 3, 1), ends(t, p, 3, 1), score.Rules{})).Verdict)
	require.Nil(t, early(judge(ends(t, p, 3, 3), ends(t, p, 3, 0), score.Rules{})))
	require.Nil(t, early(judge(nil, ends(t, p, 3, 3), score.Rules{})), "without a baseline there is no rise")

	// What ended early twice proves nothing, and counts here all the same.
	now := ends(t, p, 1, 0)
	for range 12 {
		now = append(now, score.Trial{Invalid: "it ended early, twice", Runs: 2, EarlyEnds: 2})
	}
	require.Equal(t, audit.Fail, early(judge(ends(t, p, 12, 0), now, score.Rules{})).Verdict)
}
