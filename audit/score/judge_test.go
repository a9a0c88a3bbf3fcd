package score_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// hundred is a key of n SQL injections, 20 lines apart, in files of 100.
func hundred(n int) *audit.Project {
	p := &audit.Project{Name: "hundred", Tree: audit.Tree{}, KeyHash: "k1"}
	for i := range n {
		file := fmt.Sprintf("f%d.java", i/20)
		p.Tree[file] = audit.TreeFile{Path: file, Lines: 1000}
		p.Vulnerabilities = append(p.Vulnerabilities, known(fmt.Sprintf("K%03d", i), file, 20+40*(i%20),
			20+40*(i%20), 89))
	}
	return p
}

// found scores the findings of the first n entries and noise off-key ones.
func found(t testing.TB, p *audit.Project, n, noise int) score.AuditTrial {
	t.Helper()
	fs := score.AsFindings(p)[:n]
	for i := range noise {
		fs = append(fs, finding(fmt.Sprintf("N%d", i), "f0.java", 900, 900, 918))
	}
	return score.AuditTrial{Result: mustScore(t, p, fs...)}
}

func reason(t testing.TB, j score.Judgement, code score.ReasonCode, metric string) score.Reason {
	t.Helper()
	i := slices.IndexFunc(j.Reasons,
		func(g score.Reason) bool { return g.Code == code && g.Metric == metric })
	require.GreaterOrEqual(t, i, 0, "no reason %q about %q in %+v", code, metric, j.Reasons)
	return j.Reasons[i]
}

func TestLiteralRuleOfDeterministicAuditors(t *testing.T) {
	for _, c := range []struct {
		entries, base, now int
		want               audit.Verdict
		why                string
	}{
		{200, 180, 180, audit.Pass, "no drop"},
		{200, 180, 190, audit.Pass, "better"},
		{200, 180, 179, audit.Pass, "half a point is none"},
		{200, 180, 178, audit.Warn, "one point warns"},
		{200, 180, 170, audit.Warn, "five points warn"},
		{200, 180, 169, audit.Fail, "more than five points and eleven entries"},
		{10, 9, 8, audit.Warn, "ten points, but one entry"},
		{10, 9, 7, audit.Fail, "twenty points and two entries"},
	} {
		t.Run(c.why, func(t *testing.T) {
			p := hundred(c.entries)
			j, err := score.Judge(score.Subject{
				Now:      []score.AuditTrial{found(t, p, c.now, 0)},
				Baseline: []score.AuditTrial{found(t, p, c.base, 0)},
			}, score.Rules{Deterministic: true})
			require.NoError(t, err)
			require.Equal(t, c.want, j.Verdict, "%+v", j.Reasons)
			g := reason(t, j, score.CodeDrop, score.MetricRecall)
			require.Equal(t, c.want, g.Verdict)
			require.Len(t, j.Lost, max(0, c.base-c.now))
			require.Len(t, j.Gained, max(0, c.now-c.base))
		})
	}
}

func TestDropInPrecisionOfDeterministicAuditors(t *testing.T) {
	p := hundred(20)
	j, err := score.Judge(score.Subject{
		Now: []score.AuditTrial{found(t, p, 18, 3)}, Baseline: []score.AuditTrial{found(t, p, 18, 0)},
	}, score.Rules{Deterministic: true})
	require.NoError(t, err)
	require.Equal(t, audit.Fail, j.Verdict)
	require.Equal(t, audit.Pass, reason(t, j, score.CodeDrop, score.MetricRecall).Verdict)
	require.Equal(t, audit.Fail, reason(t, j, score.CodeDrop, score.MetricPrecision).Verdict)
}

func TestGoals(t *testing.T) {
	p := hundred(20)
	at := func(n int) []score.AuditTrial { return []score.AuditTrial{found(t, p, n, 0)} }
	goals := score.ProjectGoals{Recall: 0.7}
	for _, c := range []struct {
		now, base []score.AuditTrial
		want      audit.Verdict
		why       string
	}{
		{at(14), nil, audit.Pass, "met"},
		{at(13), nil, audit.Fail, "missed without a baseline"},
		{at(13), at(13), audit.Warn, "missed, not below the baseline"},
		{at(13), at(12), audit.Warn, "missed, above the baseline"},
		{at(13), at(14), audit.Fail, "missed and below the baseline"},
		{at(14), at(14), audit.Pass, "met and no drop"},
	} {
		t.Run(c.why, func(t *testing.T) {
			j, err := score.Judge(score.Subject{Goals: goals, Now: c.now, Baseline: c.base},
				score.Rules{Deterministic: true})
			require.NoError(t, err)
			require.Equal(t, c.want, reason(t, j, score.CodeGoal, score.MetricRecall).Verdict)
			require.Equal(t, c.want, j.Verdict)
		})
	}
}

func TestEveryGoalCanBeMissed(t *testing.T) {
	p := hundred(20)
	for metric, goals := range map[string]score.ProjectGoals{
		score.MetricRecall:   {Recall: 0.9},
		score.MetricF1:       {F1: 0.9},
		score.MetricCoverage: {Coverage: 2},
		score.MetricExpected: {Expected: 11},
		score.MetricMinimum:  {Minimums: map[audit.Dimension]int{audit.Injection: 11}},
	} {
		t.Run(metric, func(t *testing.T) {
			j, err := score.Judge(score.Subject{Goals: goals,
				Now: []score.AuditTrial{found(t, p, 10, 0)}}, score.Rules{})
			require.NoError(t, err)
			require.Equal(t, audit.Fail, j.Verdict)
			require.Len(t, j.Reasons, 1)
			require.Equal(t, audit.Fail, reason(t, j, score.CodeGoal, metric).Verdict)
		})
	}
	t.Run("precision of no findings", func(t *testing.T) {
		j, err := score.Judge(score.Subject{Goals: score.ProjectGoals{Precision: 0.5},
			Now: []score.AuditTrial{found(t, p, 0, 0)}}, score.Rules{})
		require.NoError(t, err)
		require.Equal(t, audit.Fail, j.Verdict,
			"no findings is a result, not INVALID, and undefined is not met")
	})
}

// ruled gives a review of a finding as it stands.
func ruled(f *audit.Finding, r audit.Ruling) audit.FindingReview {
	v := audit.FindingReview{CWEs: f.CWEs, File: f.File, Lines: f.Lines, Ruling: r, By: "a reader",
		Date: "2026-11-22"}
	if f.Function != "" {
		v.Functions = []string{f.Function}
	}
	return v
}

func TestPrecisionGoalHangsOnReviews(t *testing.T) {
	p := hundred(60)
	score1 := func(reviews []audit.FindingReview) *score.Result {
		fs := score.AsFindings(p)[:50]
		for i := range 50 {
			fs = append(fs, finding("N", "f0.java", 1+20*i, 1+20*i, 918))
		}
		q := *p
		q.Reviews = reviews
		return mustScore(t, &q, fs...)
	}
	judge := func(r *score.Result) score.Judgement {
		j, err := score.Judge(score.Subject{Goals: score.ProjectGoals{Precision: 0.85},
			Now: []score.AuditTrial{{Result: r}}}, score.Rules{})
		require.NoError(t, err)
		return j
	}
	r := score1(nil)
	require.Equal(t, score.Span{Low: score.Of(0.5), High: score.Of(1)}, r.Metrics.Precision)
	g := reason(t, judge(r), score.CodeReview, score.MetricPrecision)
	require.Equal(t, audit.Warn, g.Verdict)
	require.Equal(t, g.More, len(g.Findings))
	require.Equal(t, r.Sample()[:g.More], g.Findings, "the sample is the front of the drawn order")
	require.Less(t, g.More, 50)

	// Follow the advice. All true: met before everything is reviewed; all false: missed.
	for _, truth := range []audit.Ruling{audit.RuledTrue, audit.RuledFalse} {
		var reviews []audit.FindingReview
		for {
			r := score1(reviews)
			need := r.Settle(0.85)
			if need.More == 0 {
				break
			}
			for _, i := range need.Findings {
				reviews = append(reviews, ruled(&r.Findings[i].Finding, truth))
			}
		}
		require.Less(t, len(reviews), 50, "not all need be reviewed")
		j := judge(score1(reviews))
		require.Equal(t, score.CodeGoal, j.Reasons[0].Code)
		require.Equal(t, map[audit.Ruling]audit.Verdict{audit.RuledTrue: audit.Pass,
			audit.RuledFalse: audit.Fail}[truth], j.Verdict)
	}

	// Reviews that somebody picked narrow the bounds and are not generalised from;
	// those in the drawn order are, and decide nothing.
	pick := func(order []int) (score.Metrics, string) {
		var picked []audit.FindingReview
		for _, i := range order {
			picked = append(picked, ruled(&r.Findings[i].Finding, audit.RuledTrue))
		}
		r := score1(picked)
		return r.Metrics, judge(r).Reasons[0].Text
	}
	order := r.Sample()
	m, says := pick(order[20:30])
	require.Equal(t, score.Span{Low: score.Of(0.6), High: score.Of(1)}, m.Precision)
	require.Equal(t, m.Precision, m.Precision95)
	require.NotContains(t, says, "drawn order")
	m, says = pick(order[:10])
	require.Equal(t, score.Span{Low: score.Of(0.6), High: score.Of(1)}, m.Precision)
	require.Greater(t, m.Precision95.Low.V, 0.8)
	require.Contains(t, says, "; by those reviewed in the drawn order "+m.Precision95.String()+
		" (95 %), which decides nothing")
}

// Of two trials one meets the goal for certain and one misses it, and what both come to
// hangs on the reviews of the second.
func TestPrecisionGoalOfTrialsHangsOnReviews(t *testing.T) {
	p := hundred(60)
	trial := func(n, noise int) score.AuditTrial {
		fs := score.AsFindings(p)[:n]
		for i := range noise {
			fs = append(fs, finding("N", "f0.java", 1+20*i, 1+20*i, 918))
		}
		return score.AuditTrial{Result: mustScore(t, p, fs...)}
	}
	j, err := score.Judge(score.Subject{Goals: score.ProjectGoals{Precision: 0.85},
		Now: []score.AuditTrial{trial(60, 0), trial(30, 50)}}, score.Rules{})
	require.NoError(t, err)
	g := reason(t, j, score.CodeReview, score.MetricPrecision)
	require.Contains(t, g.Text,
		"precision lies between 68.8 % and 87.5 %, the goal is 85.0 %: review 50 more")
	require.Empty(t, g.Findings, "they are the first trial's")
}

func TestInvalidStaysOut(t *testing.T) {
	p := hundred(20)
	q := hundred(20)
	q.Name, q.KeyHash = "other", "k2"
	timedOut := score.AuditTrial{Invalid: "timed out after 30 s"}
	judge := func(rules score.Rules, now ...[]score.AuditTrial) score.SuiteJudgement {
		var subjects []score.Subject
		for i, trials := range now {
			subjects = append(subjects, score.Subject{Name: fmt.Sprint("p", i),
				Goals: score.ProjectGoals{Recall: 0.7}, Now: trials})
		}
		s, err := score.JudgeSuite(subjects, rules)
		require.NoError(t, err)
		return s
	}
	some := judge(score.Rules{}, []score.AuditTrial{found(t, p, 20, 0), timedOut})
	require.Equal(t, audit.Warn, some.Verdict)
	require.Contains(t, some.Projects[0].Reasons[0].Text, "1 of 2 trials do not count: timed out")
	require.Equal(t, audit.Fail, judge(score.Rules{Strict: true},
		[]score.AuditTrial{found(t, p, 20, 0), timedOut}).Verdict)

	none := judge(score.Rules{}, []score.AuditTrial{timedOut})
	require.Equal(t, audit.Invalid, none.Verdict)
	require.Equal(t, audit.Invalid, judge(score.Rules{}, nil).Verdict, "no trial was run")
	one := judge(score.Rules{}, []score.AuditTrial{found(t, p, 20, 0)}, []score.AuditTrial{timedOut})
	require.Equal(t, audit.Warn, one.Verdict, "a project is left out, and named")
	require.Contains(t, one.Projects[1].Reasons[0].Text, "the project is left out")

	require.Equal(t, audit.Fail, judge(score.Rules{}, []score.AuditTrial{found(t, p, 0, 0)}).Verdict,
		"a run that found nothing counts")
}

func TestChanceNeverPasses(t *testing.T) {
	p := hundred(20)
	// One line in two of the files' only language is near an entry: chance is high.
	var fs []audit.Finding
	for i := range 10 {
		fs = append(fs, finding("F", "f0.java", 20+40*i, 20+40*i, 89),
			finding("G", "f0.java", 990, 990, 89))
	}
	r, err := score.Score(score.Input{Project: p, Findings: fs, Dimensions: dims})
	require.NoError(t, err)
	require.Greater(t, r.Metrics.Chance.P99.V, r.Metrics.Chance.Mean.V)
	judge := func(recall float64, base ...score.AuditTrial) audit.Verdict {
		x := *r
		x.Metrics.Recall = score.Of(recall)
		j, err := score.Judge(score.Subject{Now: []score.AuditTrial{{Result: &x}}, Baseline: base},
			score.Rules{})
		require.NoError(t, err)
		return j.Verdict
	}
	require.Equal(t, audit.Fail, judge(r.Metrics.Chance.P99.V-0.05))
	require.Equal(t, audit.Fail, judge(r.Metrics.Chance.Mean.V, score.AuditTrial{Result: r}),
		"a baseline does not excuse chance")
	require.NotEqual(t, audit.Fail, judge(r.Metrics.Chance.P99.V-0.05, score.AuditTrial{Result: r}),
		"but beside one a run may be poor")
}

func TestComparisonAcrossRulesAndKeysRefuses(t *testing.T) {
	p := hundred(20)
	for what, change := range map[string]func(*score.Result){
		"score version": func(r *score.Result) { r.Version = "0" },
		"key":           func(r *score.Result) { r.KeyHash = "k0" },
		"taxonomy":      func(r *score.Result) { r.Taxonomy = "4.14" },
		"project":       func(r *score.Result) { r.Project = "other" },
	} {
		old := found(t, p, 14, 0)
		change(old.Result)
		_, err := score.Judge(score.Subject{Now: []score.AuditTrial{found(t, p, 14, 0)},
			Baseline: []score.AuditTrial{old}}, score.Rules{})
		var m *score.MismatchError
		require.True(t, errors.As(err, &m), "%s: %v", what, err)
		require.Equal(t, what, m.What)
		require.ErrorContains(t, err, "rescore")
	}
}

func TestLetterCanBeAsserted(t *testing.T) {
	p := hundred(20)
	var fs []audit.Finding
	for _, k := range p.Vulnerabilities {
		fs = append(fs, finding("F", k.File, 0, 0, 89))
	}
	r := mustScore(t, p, fs...)
	require.Equal(t, score.Of(0.5), r.Metrics.Recall)
	require.Equal(t, score.Of(1), r.Methodology.Recall)
	for literal, want := range map[bool]audit.Verdict{true: audit.Pass, false: audit.Fail} {
		j, err := score.Judge(score.Subject{Goals: score.ProjectGoals{Recall: 0.7, ByMethodologyScore: literal},
			Now: []score.AuditTrial{{Result: r}}}, score.Rules{})
		require.NoError(t, err)
		require.Equal(t, want, j.Verdict)
	}
	g, err := score.GoalsFor(&audit.Project{Expected: 7, RecallGoal: 0.6, Coverage: 5},
		audit.Goals{Recall: 0.7, Coverage: 8, Score: "literal"})
	require.NoError(t, err)
	require.Equal(t, score.ProjectGoals{Recall: 0.6, Coverage: 5, Expected: 7, ByMethodologyScore: true}, g)
	_, err = score.GoalsFor(&audit.Project{}, audit.Goals{Score: "mine"})
	require.Error(t, err)
}

// What the baseline's precision was stands in a missed goal's reason as it stands in its
// own record: its low end, and that it had not shown to meet the goal where it had not.
func TestMissedPrecisionTellsTheBaselineAsItWas(t *testing.T) {
	p := hundred(60)
	trial := func(n, noise int) []score.AuditTrial {
		fs := score.AsFindings(p)[:n]
		for i := range noise {
			fs = append(fs, finding("N", "f0.java", 1+20*i, 1+20*i, 918))
		}
		return []score.AuditTrial{{Result: mustScore(t, p, fs...)}}
	}
	missed := func(now, baseline []score.AuditTrial) score.Reason {
		j, err := score.Judge(score.Subject{Goals: score.ProjectGoals{Precision: 0.7}, Now: now,
			Baseline: baseline}, score.Rules{Deterministic: true})
		require.NoError(t, err)
		return reason(t, j, score.CodeGoal, score.MetricPrecision)
	}
	for _, now := range []struct {
		trial []score.AuditTrial
		says  string
	}{
		{trial(20, 100), "precision 33.3 % misses the goal of 70.0 %"},
		{trial(0, 0), "precision is undefined: the goal of 70.0 % is not shown to be met"},
	} {
		for _, was := range []struct {
			trial   []score.AuditTrial
			verdict audit.Verdict
			low     float64
			says    string
		}{
			{trial(60, 20), audit.Fail, 0.75, "; the baseline met it with 75.0 %"},
			{trial(60, 40), audit.Fail, 0.6, "; at the baseline it lay between 60.0 % and 100.0 %"},
			{trial(10, 40), audit.Warn, 0.2,
				": below goal, as in the baseline (40.0 %). No further trial decides it"},
		} {
			g := missed(now.trial, was.trial)
			require.Equal(t, now.says+was.says, g.Text)
			require.Equal(t, was.verdict, g.Verdict)
			require.Equal(t, score.Of(was.low), g.Baseline)
		}
	}
}

func TestIncompleteRunsAreInvalid(t *testing.T) {
	p := hundred(20)
	j, err := score.Judge(score.Subject{Now: []score.AuditTrial{found(t, p, 20, 0),
		{Invalid: "not begun: the budget is used up", Skipped: true}}}, score.Rules{})
	require.NoError(t, err)
	require.Equal(t, audit.Invalid, j.Verdict)
	j, err = score.Judge(score.Subject{Now: []score.AuditTrial{found(t, p, 20, 0)},
		Beside: []score.AuditTrial{{Invalid: "truncated"}}}, score.Rules{})
	require.NoError(t, err)
	require.Equal(t, audit.Invalid, j.Verdict)
	require.Contains(t, j.Reasons[0].Text, "no trial of the other side counts: truncated")
}
