package score_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// suiteOf returns n projects of 20 entries, of which trials found so many; each cost a
// dollar and took two minutes.
func suiteOf(t testing.TB, n int, now, baseline []int) (subjects []score.Subject) {
	for i := range n {
		p := hundred(20)
		p.Name, p.KeyHash = fmt.Sprint("p", i), fmt.Sprint("k", i)
		side := func(ns []int) (ts []score.AuditTrial) {
			for _, n := range ns {
				trial := found(t, p, n, 0)
				trial.USD, trial.Seconds = 1, 120
				ts = append(ts, trial)
			}
			return ts
		}
		subjects = append(subjects, score.Subject{Now: side(now), Baseline: side(baseline)})
	}
	return subjects
}

// recall returns the reason that compares recall with the baseline.
func recall(t testing.TB, s score.SuiteJudgement) score.Reason {
	t.Helper()
	var all []score.Reason
	of := s.Reasons
	if len(s.Projects) == 1 {
		of = s.Projects[0].Reasons
	}
	for _, g := range of {
		if g.Metric == score.MetricRecall {
			all = append(all, g)
		}
	}
	require.Len(t, all, 1, "one reason a metric: %+v", s)
	return all[0]
}

func TestGateVerdicts(t *testing.T) {
	for _, c := range []struct {
		name          string
		projects      int
		now, baseline []int
		verdict       audit.Verdict
		code          score.ReasonCode
		text          string
		advice        *score.Advice
	}{
		{"unchanged", 4, []int{12}, []int{12, 11, 13}, audit.Pass, score.CodeDrop,
			"recall 60.0 %, was 60.0 %: no sign of a drop; more than 9 points is excluded at 95 %",
			nil},
		{"fell", 4, []int{7}, []int{12, 11, 13}, audit.Fail, score.CodeDrop,
			"recall 35.0 %, was 60.0 %: 25 points less. Chance does this to 0.39 % of unchanged auditors (limit 0.4 %). Your change or the provider's? -beside tells", nil},
		{"may have fallen", 4, []int{8}, []int{12}, audit.Warn, score.CodePossible,
			"recall 40.0 %, was 60.0 %: 20 points less may be chance (p 6.2 %). 2 more trials and 2 of the baseline decide it with 80 % probability: $16.00, 32 minutes",
			&score.Advice{Trials: 2, Baseline: 2, USD: 16, Minutes: 32}},
		{"too few to say", 1, []int{11}, []int{12}, audit.Warn, score.CodeWide,
			"recall 55.0 %, was 60.0 %: no sign of a drop, but one of 29 points is not excluded. 2 more trials and 2 of the baseline may decide it: $4.00, 8 minutes",
			&score.Advice{Trials: 2, Baseline: 2, May: true, USD: 4, Minutes: 8}},
		{"by size", 1, []int{4, 3, 4}, []int{12, 11, 13}, audit.Fail, score.CodeDrop,
			"recall 18.3 %, was 60.0 %: 42 points less, 4.9 standard errors (3 are the limit). Chance does this to less than 1 % of unchanged auditors. Your change or the provider's? -beside tells", nil},
		{"collapsed once", 1, []int{1}, []int{12, 11, 13}, audit.Warn, score.CodePossible,
			"recall 5.0 %, was 60.0 %: p0 fell from 11-13 to 1 of 20. 1 more trial of p0 decides it with 80 % probability: $1.00, 2 minutes",
			&score.Advice{Trials: 1, Project: "p0", USD: 1, Minutes: 2}},
		{"collapsed twice", 1, []int{1, 0}, []int{12, 11, 13}, audit.Fail, score.CodeDrop,
			"recall 2.5 %, was 60.0 %: p0 fell from 11-13 to 0-1 of 20, twice less than a quarter of its worst trial; chance does this to 1 of 600 unchanged auditors. Your change or the provider's? -beside tells", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := score.JudgeSuite(suiteOf(t, c.projects, c.now, c.baseline), score.Rules{})
			require.NoError(t, err)
			require.Equal(t, c.verdict, s.Verdict)
			g := recall(t, s)
			require.Equal(t, c.text, g.Text)
			require.Equal(t, c.code, g.Code)
			require.Equal(t, c.advice, g.Advice)
			require.Equal(t, c.name == "collapsed once", slices.Equal(s.Confirm, []string{"p0"}))

			strict, err := score.JudgeSuite(suiteOf(t, c.projects, c.now, c.baseline),
				score.Rules{Strict: true})
			require.NoError(t, err)
			require.Equal(t, c.verdict == audit.Fail || c.code == score.CodePossible,
				strict.Verdict == audit.Fail,
				"-strict fails on a possible drop alone")
		})
	}
}

func TestGateSaysWhatChanged(t *testing.T) {
	subjects := suiteOf(t, 4, []int{7}, []int{12, 11, 13})
	for i := range subjects {
		subjects[i].Changed = []string{"prompt"}
	}
	s, err := score.JudgeSuite(subjects, score.Rules{})
	require.NoError(t, err)
	require.Contains(t, recall(t, s).Text, "Your change (prompt) or the provider's? -beside tells")
	require.Equal(t, []string{"prompt"}, s.Projects[0].Changed)
}

// The side that ran beside decides. Where it fell as much against the stored baseline, the
// provider changed.
func TestGateBeside(t *testing.T) {
	subjects := suiteOf(t, 7, []int{7, 8, 7}, []int{12, 11, 13})
	beside := suiteOf(t, 7, []int{7, 8, 8}, nil)
	for i := range subjects {
		subjects[i].Beside = beside[i].Now
	}
	s, err := score.JudgeSuite(subjects, score.Rules{})
	require.NoError(t, err)
	require.Equal(t, audit.Warn, s.Verdict)
	require.Contains(t, recall(t, s).Text, "the provider changed")

	for i := range subjects {
		subjects[i].Beside = subjects[i].Baseline
	}
	s, err = score.JudgeSuite(subjects, score.Rules{})
	require.NoError(t, err)
	require.Equal(t, audit.Fail, s.Verdict)
	require.NotContains(t, recall(t, s).Text, "-beside")

	// One trial beside each other decides nothing, and the stored baseline does.
	few := suiteOf(t, 4, []int{7}, []int{12, 11, 13})
	for i := range few {
		few[i].Beside = few[i].Now
	}
	s, err = score.JudgeSuite(few, score.Rules{})
	require.NoError(t, err)
	require.Equal(t, audit.Fail, s.Verdict)
}

func TestRecallGoalBesideABaseline(t *testing.T) {
	for _, c := range []struct {
		name          string
		projects      int
		now, baseline []int
		goal          float64
		verdict       audit.Verdict
		text          string
	}{
		{"met", 4, []int{14}, []int{14, 15, 14}, 0.7, audit.Pass, "no sign of a drop"},
		{"missed as before", 4, []int{13}, []int{13, 13, 13}, 0.7, audit.Warn,
			"below the goal of 70.0 %, as in the baseline"},
		{"missed by chance", 4, []int{13}, []int{15, 13, 14}, 0.7, audit.Warn,
			"the goal of 70.0 % is missed, and the baseline met it, which chance explains"},
		{"missed by more", 7, []int{13, 14, 13}, []int{17, 19, 17}, 0.84, audit.Fail,
			"Chance does this to"},
	} {
		t.Run(c.name, func(t *testing.T) {
			subjects := suiteOf(t, c.projects, c.now, c.baseline)
			for i := range subjects {
				subjects[i].Goals.Recall = c.goal
			}
			s, err := score.JudgeSuite(subjects, score.Rules{})
			require.NoError(t, err)
			g := recall(t, s)
			require.Contains(t, g.Text, c.text)
			require.Equal(t, c.verdict, s.Verdict, "%+v", s)
			require.Equal(t, score.Of(c.goal), g.Want)
		})
	}
}

// Coverage and the like are judged trial by trial, as means and never as a union.
func TestOtherGoalsBesideABaseline(t *testing.T) {
	judge := func(projects int, now, baseline []int) score.Reason {
		subjects := suiteOf(t, projects, now, baseline)
		for i := range subjects {
			subjects[i].Goals.Expected = 12
		}
		s, err := score.JudgeSuite(subjects, score.Rules{})
		require.NoError(t, err)
		return reason(t, s.Projects[0], score.CodeGoal, score.MetricExpected)
	}
	require.Equal(t, audit.Fail, judge(1, []int{11, 11, 11}, []int{12, 13, 12}).Verdict)
	require.Equal(t, audit.Fail, judge(4, []int{11, 11, 11}, []int{12, 13, 12}).Verdict)
	g := judge(4, []int{11}, []int{12, 13, 12})
	require.Equal(t, audit.Warn, g.Verdict)
	require.Equal(t, 2, g.Advice.Trials)
	g = judge(4, []int{11, 10, 12}, []int{12, 13, 12})
	require.Equal(t, audit.Warn, g.Verdict)
	require.Contains(t, g.Text,
		"in 1 of 3 trials, the baseline in 3 of 3. No further trial decides it")
}

func TestShippedGoalsWarn(t *testing.T) {
	p := hundred(20)
	j, err := score.Judge(score.Subject{Goals: score.ProjectGoals{Recall: 0.7, Shipped: true},
		Now: []score.AuditTrial{found(t, p, 10, 0)}}, score.Rules{})
	require.NoError(t, err)
	require.Equal(t, audit.Warn, j.Verdict)
	require.Contains(t, j.Reasons[0].Text,
		"state your own in fixtures/goals.md (| Recall | >= ... |)")
}

// False findings are compared where the key is whole; cost and time warn, and never fail.
func TestFalseFindingsAndCost(t *testing.T) {
	judge := func(whole bool, noise int, usd float64) score.SuiteJudgement {
		subjects := suiteOf(t, 13, []int{12}, []int{12, 11, 13})
		for i := range subjects {
			s := &subjects[i]
			for k := range s.Now {
				s.Now[k] = found(t, sameAs(hundred(20), s.Now[k].Result), 12, noise)
				s.Now[k].USD, s.Now[k].Seconds = usd, 120
				s.Now[k].Result.Whole = whole
			}
			for _, b := range s.Baseline {
				b.Result.Whole = whole
			}
		}
		s, err := score.JudgeSuite(subjects, score.Rules{})
		require.NoError(t, err)
		return s
	}
	require.Equal(t, audit.Pass, judge(true, 0, 1).Verdict)
	require.Equal(t, audit.Fail, judge(true, 3, 1).Verdict)
	require.Equal(t, audit.Pass, judge(false, 3, 1).Verdict)
	s := judge(true, 0, 3)
	require.Equal(t, audit.Warn, s.Verdict)
	require.Contains(t, s.Reasons[0].Text, "cost 3 dollars a trial, was 1: 3.0 times as much")
}

func sameAs(p *audit.Project, as *score.Result) *audit.Project {
	p.Name, p.KeyHash = as.Project, as.KeyHash
	return p
}

// "Gate | methodology" lets the methodology decide: 1 point less is WARN, more than 5 FAIL,
// whatever chance explains.
func TestMethodologyDecides(t *testing.T) {
	for now, want := range map[int]audit.Verdict{160: audit.Pass, 159: audit.Pass, 158: audit.Warn,
		150: audit.Warn, 149: audit.Fail, 165: audit.Pass} {
		p := hundred(200)
		j, err := score.Judge(score.Subject{Goals: score.ProjectGoals{Methodology: true},
			Now: []score.AuditTrial{found(t, p, now, 0)}, Baseline: []score.AuditTrial{found(t, p, 160, 0)}},
			score.Rules{})
		require.NoError(t, err)
		require.Equal(t, want, j.Verdict, "%d: %+v", now, j.Reasons)
		require.Equal(t, score.CodeMethodology, j.Reasons[0].Code)
	}
	p := hundred(20)
	goals, err := score.GoalsFor(p, audit.Goals{Recall: 0.7, Gate: "methodology"})
	require.NoError(t, err)
	j, err := score.Judge(score.Subject{Goals: goals, Now: []score.AuditTrial{found(t, p, 13, 0)}},
		score.Rules{})
	require.NoError(t, err)
	require.Equal(t, audit.Fail, j.Verdict)
	require.Equal(t, "by the methodology's own words: recall 65.0 % misses the goal of 70.0 %",
		j.Reasons[0].Text)
}
