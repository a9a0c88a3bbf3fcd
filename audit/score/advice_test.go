package score_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// trialWith returns a trial in which an auditor earned so much of a project's 20 entries.
func trialWith(project string, credit float64) score.AuditTrial {
	r := &score.Result{Version: score.Version, Project: project, KeyHash: project,
		Known: make([]score.EntryResult, 20)}
	for i := range r.Known {
		r.Known[i].ID = fmt.Sprint(i)
	}
	r.Metrics.Dimensions = make([]score.DimensionCount, len(audit.Dimensions()))
	r.Metrics.Credit, r.Metrics.Recall = credit, score.Of(credit/20)
	return score.AuditTrial{Result: r, USD: 0.5, Seconds: 60}
}

// Whoever follows the advice ends in PASS or FAIL, and rarely in the wrong one: trials are
// added as it says, then projects where it says that only these help.
func TestFollowingTheAdviceEnds(t *testing.T) {
	draws := 15
	if testing.Short() {
		draws = 4
	}
	for _, c := range []struct {
		projects int
		lost     float64
	}{{1, 0}, {4, 0}, {13, 0}, {1, 0.1}, {4, 0.1}, {13, 0.1}, {1, 0.2}, {4, 0.2}, {13, 0.2}, {1,
		0.4}, {4, 0.4}, {13, 0.4}} {
		r := rand.New(rand.NewPCG(37, uint64(c.projects)))
		trial := func(name string, recall float64) score.AuditTrial {
			v := recall + math.Sqrt(recall*(1-recall)*(0.5/20+0.02))*r.NormFloat64()
			return trialWith(name, math.Round(40*min(1, max(0, v)))/2)
		}
		ends := map[audit.Verdict]int{}
		for range draws {
			var subjects []score.Subject
			grow := func(s *score.Subject, baseline, now int) {
				for range baseline {
					s.Baseline = append(s.Baseline, trial(s.Name, 0.6))
				}
				for range now {
					s.Now = append(s.Now, trial(s.Name, 0.6-c.lost))
				}
			}
			add := func(n, baseline, now int) {
				for range n {
					subjects = append(subjects, score.Subject{Name: fmt.Sprint("p", len(subjects))})
					grow(&subjects[len(subjects)-1], baseline, now)
				}
			}
			add(c.projects, 3, 1)
			var s score.SuiteJudgement
			for round := 0; ; round++ {
				var err error
				s, err = score.JudgeSuite(subjects, score.Rules{})
				require.NoError(t, err)
				g := recall(t, s)
				if s.Verdict != audit.Warn {
					require.Nil(t, g.Advice)
					break
				}
				require.Less(t, round, 8, "%+v", g)
				require.NotNil(t, g.Advice, "a WARN says what decides it: %s", g.Text)
				a := g.Advice
				require.Positive(t, a.Trials+a.Baseline+a.Projects)
				for i := range subjects {
					if a.Project == "" || a.Project == subjects[i].Name {
						grow(&subjects[i], a.Baseline, a.Trials)
					}
				}
				add(min(a.Projects, 40), len(subjects[0].Baseline), len(subjects[0].Now))
			}
			ends[s.Verdict]++
		}
		t.Logf("%2d projects, %2.0f points: PASS %d, FAIL %d of %d", c.projects, 100*c.lost,
			ends[audit.Pass], ends[audit.Fail], draws)
		require.Equal(t, draws, ends[audit.Pass]+ends[audit.Fail])
		switch {
		case c.lost == 0:
			require.LessOrEqual(t, ends[audit.Fail], 1)
		case c.lost >= 0.2 && c.projects >= 4 || c.lost >= 0.4:
			require.GreaterOrEqual(t, ends[audit.Fail], draws*4/5)
		}
	}
}
