package score_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// answers gives families of two good and four bad cases; right says whether a
// trial of a case is judged rightly.
func answers(families, trials int, right func(family, number, trial int) bool) []score.Answer {
	var out []score.Answer
	for f := range families {
		for n := 1; n <= 6; n++ {
			c := &audit.Case{App: "app", Query: fmt.Sprintf("q%02d", f), Number: n,
				Label: audit.Good}
			if n > 2 {
				c.Label, c.Violates = audit.Bad, []int{2, 5}
			}
			for trial := range trials {
				a := score.Answer{Case: c, Trial: trial, Outcome: audit.OutcomeWrong}
				if right(f, n, trial) {
					a.Outcome, a.Violates = audit.OutcomeCorrect, []int{5}
				}
				out = append(out, a)
			}
		}
	}
	return out
}

func all(f, n, trial int) bool { return true }

// By hand: 10 families, 20 good and 40 bad cases. All good ones are right, of the
// bad ones numbers 3 to 5: recall 30/40, specificity 20/20, accuracy 50/60.
func TestBenchFigures(t *testing.T) {
	as := answers(10, 1, func(f, n, _ int) bool { return n < 6 })
	as[0].Outcome = audit.OutcomeRefused // a good one
	as[1].Outcome = audit.OutcomeMalformed
	as[6].Outcome = audit.OutcomeSkipped
	as[2].Violates = []int{1} // right for the wrong reason
	b, err := score.BenchOf(as)
	require.NoError(t, err)
	require.Equal(t, 60, b.Planned)
	sum := 0
	for _, n := range b.Outcomes {
		sum += n
	}
	require.Equal(t, b.Planned, sum)
	require.InDelta(t, 30.0/40, b.Recall.Value.V, 1e-12)
	require.InDelta(t, 1, b.Specificity.Value.V, 1e-12)
	require.InDelta(t, 47.0/57, b.Accuracy.Value.V, 1e-12)
	require.InDelta(t, (0.75+1)/2, b.BalancedAccuracy.Value.V, 1e-12)
	// One of two violated requirements is named, and none of them once.
	require.InDelta(t, 29.0/30*2/3, b.RightReason.Value.V, 1e-12)
	require.InDelta(t, 2.0/59, b.Unanswered.V, 1e-12)
	for _, e := range []score.Estimate{b.Recall, b.Specificity, b.Accuracy, b.BalancedAccuracy,
		b.RightReason} {
		require.LessOrEqual(t, e.Low.V, e.Value.V)
		require.GreaterOrEqual(t, e.High.V, e.Value.V)
		require.Less(t, e.Low.V, e.High.V)
	}
	none, err := score.BenchOf(nil)
	require.NoError(t, err)
	require.False(t, none.BalancedAccuracy.Value.Defined)

	_, err = score.BenchOf(append(as, as[0]))
	require.ErrorContains(t, err, "stands twice")
	_, err = score.BenchOf([]score.Answer{{Case: as[0].Case, Outcome: "fine"}})
	require.ErrorContains(t, err, "expected one of")
	_, err = score.BenchOf([]score.Answer{{}})
	require.Error(t, err)
}

// Naming more than what is violated costs, naming all of it earns 1.
func TestRightReasonIsF1(t *testing.T) {
	everything := make([]int, 18)
	for i := range everything {
		everything[i] = i + 1
	}
	for _, c := range []struct {
		named []int
		want  float64
	}{
		{[]int{2, 5}, 1},
		{[]int{5, 2, 5}, 1},
		{[]int{5}, 2.0 / 3},
		{[]int{5, 1}, 0.5},
		{everything, 4.0 / 20},
		{[]int{1, 3}, 0},
		{nil, 0},
	} {
		as := answers(10, 1, all)
		for i := range as {
			as[i].Violates = c.named
		}
		b, err := score.BenchOf(as)
		require.NoError(t, err)
		require.InDelta(t, c.want, b.RightReason.Value.V, 1e-12, "%v of 2 and 5", c.named)
	}
}

// 10 families whose bad cases have CWE-89, one of them CWE-22 too: numbers 3 to 5
// are found, and of the good ones the first is called bad.
func TestBenchRates(t *testing.T) {
	as := answers(10, 1, func(f, n, _ int) bool { return n > 1 && n < 6 })
	for i := range as {
		if c := as[i].Case; c.Label == audit.Bad {
			c.CWEs = []audit.CWE{89}
			if c.Query == "q00" && c.Number == 6 {
				c.CWEs = []audit.CWE{22}
			}
		}
	}
	as[6+3].Outcome = audit.OutcomeRefused // a bad one of q01
	b, err := score.BenchOf(as)
	require.NoError(t, err)
	require.Len(t, b.Rates.CWEs, 2)
	sql := b.Rates.CWEs[1]
	require.Equal(t, score.Rate{CWE: 89, TP: 29, FN: 9, FP: 10, TN: 10, TPR: score.Ratio(29, 38),
		FPR:        score.Of(0.5),
		Difference: score.Of(score.Ratio(29, 38).V - 0.5)}, sql)
	path := b.Rates.CWEs[0]
	require.Equal(t, score.Rate{CWE: 22, FN: 1, FP: 1, TN: 1, TPR: score.Of(0), FPR: score.Of(0.5),
		Difference: score.Of(-0.5)}, path)
	require.InDelta(t, (29.0/38-0.5-0.5)/2, b.Rates.Mean.Difference.V, 1e-12)
	require.InDelta(t, 0.5, b.Rates.Mean.FPR.V, 1e-12)
	require.Equal(t, 10, b.Rates.Mean.FN)
}

func TestJudgeBench(t *testing.T) {
	goals := audit.BenchGoals{BalancedAccuracy: 0.7, Recall: 0.7, Specificity: 0.6,
		Unanswered: new(0.05)}
	good := answers(40, 1, all)
	half := answers(40, 1, func(f, n, _ int) bool { return n < 5 }) // recall 50 %
	silent := answers(40, 1, all)
	for i := range 20 {
		silent[i].Outcome = audit.OutcomeErrored
	}
	early := answers(40, 1, all) // what was asked is all right, and a tenth was not asked
	for i := range 24 {
		early[10*i].Outcome = audit.OutcomeSkipped
	}
	for _, c := range []struct {
		why       string
		now, base []score.Answer
		rules     score.Rules
		want      audit.Verdict
		code      score.ReasonCode
		metric    string
	}{
		{"goals met", good, nil, score.Rules{}, audit.Pass, score.CodeGoal, score.MetricRecall},
		{"recall missed, no baseline", half, nil, score.Rules{}, audit.Fail, score.CodeGoal,
			score.MetricRecall},
		{"recall missed as at the baseline", half, half, score.Rules{}, audit.Warn, score.CodeGoal,
			score.MetricRecall},
		{"deterministic drop", half, good, score.Rules{Deterministic: true}, audit.Fail,
			score.CodeDrop, score.MetricBalanced},
		{"one trial settles a large drop", half, good, score.Rules{}, audit.Fail, score.CodeDrop,
			score.MetricBalanced},
		{"too many without an answer", silent, nil, score.Rules{}, audit.Invalid,
			score.CodeUnanswered, ""},
		{"the run ended early", early, nil, score.Rules{}, audit.Invalid, score.CodeUnanswered, ""},
		{"one wrong answer", answers(40, 1, func(f, n, _ int) bool { return f != 7 || n != 3 }),
			nil, score.Rules{}, audit.Pass, score.CodeGoal, score.MetricRecall},
		{"one wrong answer, strictly",
			answers(40, 1, func(f, n, _ int) bool { return f != 7 || n != 3 }), nil,
			score.Rules{Strict: true}, audit.Fail, score.CodeMiss, ""},
		{"nothing ran", nil, good, score.Rules{}, audit.Invalid, score.CodeInvalid, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			j, err := score.JudgeBench(c.now, c.base, goals, c.rules)
			require.NoError(t, err)
			require.Equal(t, c.want, j.Verdict, "%+v", j.Reasons)
			require.Equal(t, c.want, reason(t, j, c.code, c.metric).Verdict)
		})
	}
	t.Run("a limit of 0 allows none, and no limit any", func(t *testing.T) {
		one := answers(40, 1, all)
		one[0].Outcome = audit.OutcomeMalformed
		for limit, want := range map[*float64]audit.Verdict{new(0.0): audit.Invalid,
			nil: audit.Pass} {
			j, err := score.JudgeBench(one, nil, audit.BenchGoals{Unanswered: limit}, score.Rules{})
			require.NoError(t, err)
			require.Equal(t, want, j.Verdict, "%+v", j.Reasons)
		}
	})
	t.Run("unanswered is wrong, and what was not asked is left out", func(t *testing.T) {
		now := answers(40, 3, all)
		for trial := range 2 {
			now[trial].Outcome = audit.OutcomeSkipped
		}
		now[17].Outcome = audit.OutcomeRefused
		j, err := score.JudgeBench(now, answers(40, 3, all), goals, score.Rules{})
		require.NoError(t, err)
		text := reason(t, j, score.CodeDrop, score.MetricBalanced).Text
		require.Contains(t, text,
			"(1 of 240 cases were not asked in more than half of the trials of a side, and are left out)")
		require.Contains(t, text, "no sign of a drop; more than")
		require.Len(t, j.Lost, 1)
	})
	t.Run("three trials a side settle a large drop", func(t *testing.T) {
		flip := func(k int) func(f, n, trial int) bool {
			return func(f, n, trial int) bool { return (f*7+n*3+trial*5)%20 >= k }
		}
		j, err := score.JudgeBench(answers(40, 3, flip(9)), answers(40, 3, flip(2)), goals,
			score.Rules{})
		require.NoError(t, err)
		require.Equal(t, audit.Fail, reason(t, j, score.CodeDrop, score.MetricBalanced).Verdict)
		require.NotEmpty(t, j.Lost)
	})
	t.Run("a possible drop says what decides it", func(t *testing.T) {
		now := answers(40, 1, func(f, n, _ int) bool { return (f*7+n*3)%40 >= 3 })
		base := answers(40, 1, func(f, n, _ int) bool { return (f*7+n*3)%40 >= 2 })
		j, err := score.JudgeBench(now, base, goals, score.Rules{})
		require.NoError(t, err)
		g := reason(t, j, score.CodePossible, score.MetricBalanced)
		require.Equal(t, audit.Warn, g.Verdict)
		require.Positive(t, g.Advice.Trials)
		require.Contains(t, g.Text, "decide it with 80 % probability")
		j, err = score.JudgeBench(now, base, goals, score.Rules{Strict: true})
		require.NoError(t, err)
		require.Equal(t, audit.Fail, reason(t, j, score.CodePossible, score.MetricBalanced).Verdict)
	})
}

func TestCompareReviewers(t *testing.T) {
	good := answers(40, 1, func(f, n, _ int) bool { return f%10 != 0 || n < 6 })
	poor := answers(40, 1, func(f, n, _ int) bool { return (f+n)%3 != 0 })
	c, err := score.CompareReviewers(good, poor)
	require.NoError(t, err)
	require.Equal(t, score.Better, c.Standing)
	c, err = score.CompareReviewers(poor, good)
	require.NoError(t, err)
	require.Equal(t, score.Worse, c.Standing)
	c, err = score.CompareReviewers(good, good)
	require.NoError(t, err)
	require.Equal(t, score.Inconclusive, c.Standing)
}

func TestSmoke(t *testing.T) {
	p := project(known("S1", "a.java", 10, 12, 89), known("S2", "a.java", 100, 100, 22),
		known("S3", "b.java", 10, 10, 798),
		known("S4", "c.java", 10, 10, 306), known("S5", "d.java", 10, 10, 502))
	whole := &audit.Report{Format: "text", Header: true, Sentinel: true}
	smoke := func(report *audit.Report, fs ...audit.Finding) score.SmokeJudgement {
		return score.JudgeSmoke(score.SmokeInput{Result: mustScore(t, p, fs...), Report: report,
			RatedHigh: []string{"S1", "S5"}})
	}
	five := score.AsFindings(p)

	s := smoke(whole, five...)
	require.Equal(t, audit.Pass, s.Verdict)
	require.Equal(t, score.Operational, s.Grade)

	s = smoke(whole, five[:4]...)
	require.Equal(t, audit.Pass, s.Verdict)
	require.Equal(t, score.Acceptable, s.Grade)
	require.Equal(t, []string{"S5"}, s.Missed)
	require.Equal(t, "S5", s.Reasons[0+indexOf(s, score.CodeMiss)].About, "the miss is named")

	s = smoke(whole, five[:3]...)
	require.Equal(t, audit.Fail, s.Verdict)
	require.Equal(t, score.NotOperational, s.Grade)

	for about, s := range map[string]score.SmokeJudgement{
		"HEADER":   smoke(&audit.Report{Format: "text", Sentinel: true}, five...),
		"SENTINEL": smoke(&audit.Report{Format: "text", Header: true}, five...),
		"paths":    smoke(whole, append(five, finding("F", "nowhere.java", 1, 1, 89))...),
		"severity": smoke(whole,
			append([]audit.Finding{{ID: "low", CWEs: []audit.CWE{89}, Severity: audit.Medium,
				File: "a.java", Lines: audit.Range{Start: 10, End: 12}}}, five[1:]...)...),
	} {
		require.Equal(t, audit.Fail, s.Verdict, about)
		require.Equal(t, about, s.Reasons[0].About)
		require.Equal(t, score.NotOperational, s.Grade)
	}
	require.Equal(t, audit.Pass, smoke(&audit.Report{Format: "sarif"}, five...).Verdict,
		"only text reports have a HEADER")
	require.Equal(t, audit.Invalid,
		score.JudgeSmoke(score.SmokeInput{Invalid: "it crashed"}).Verdict)
	slow := score.SmokeInput{Result: mustScore(t, p, score.AsFindings(p)...),
		Report: &audit.Report{}, Seconds: 301}
	require.Equal(t, audit.Warn, score.JudgeSmoke(slow).Verdict, "more than five minutes")
	slow.Seconds = 299
	require.Equal(t, audit.Pass, score.JudgeSmoke(slow).Verdict)
	require.Equal(t, audit.Invalid, score.JudgeSmoke(score.SmokeInput{}).Verdict)
}

func indexOf(s score.SmokeJudgement, code score.ReasonCode) int {
	for i, g := range s.Reasons {
		if g.Code == code {
			return i
		}
	}
	return -1
}
