package score

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/audit"
	"assay/internal/stat"
)

// JudgeBench judges a reviewer over the cases against goals and, unless it is empty, a
// baseline. The estimates are compared with the goals, and balanced accuracy with the
// baseline's, where unanswered trials count as wrong. Cases that only one side has are left out
// of the comparison and named. A run is INVALID if more trials are unanswered or not asked than
// the goals allow, or if there is no answer at all. Under Strict a single wrong answer fails.
func JudgeBench(now, baseline []Answer, goals audit.BenchGoals, rules Rules) (Judgement, error) {
	b, err := BenchOf(now)
	if err != nil {
		return Judgement{}, err
	}
	base, err := BenchOf(baseline)
	if err != nil {
		return Judgement{}, fmt.Errorf("baseline: %w", err)
	}
	if g, ok := b.invalid(goals); ok {
		return judgement([]Reason{g}), nil
	}
	pairs, err := pairCases(now, baseline, (*trialTable).lineUpWrong)
	if err != nil {
		return Judgement{}, err
	}
	deterministic := rules.Deterministic && pairs.agree
	var reasons []Reason
	if rules.Deterministic && !deterministic {
		reasons = append(reasons, Reason{Code: CodeStochastic, Verdict: audit.Warn,
			Text: "the reviewer is called deterministic, but trials of one case differ; it is judged as stochastic"})
	}
	if len(baseline) > 0 {
		drop, err := pairs.drop(deterministic, rules)
		if err != nil {
			return Judgement{}, err
		}
		reasons = append(reasons, drop)
	}
	for _, m := range []struct {
		metric    string
		goal      float64
		now, base Value
	}{
		{MetricBalanced, goals.BalancedAccuracy, b.BalancedAccuracy.Value,
			base.BalancedAccuracy.Value},
		{MetricRecall, goals.Recall, b.Recall.Value, base.Recall.Value},
		{MetricSpecificity, goals.Specificity, b.Specificity.Value, base.Specificity.Value},
	} {
		if m.goal > 0 {
			reasons = append(reasons, goalReason(m.metric, "", m.goal, m.now, Span{m.base, m.base},
				len(baseline) > 0))
		}
	}
	if n := b.Outcomes[audit.OutcomeWrong]; rules.Strict && n > 0 {
		reasons = append(reasons, Reason{Code: CodeMiss, Verdict: audit.Fail,
			Text: fmt.Sprintf("%d wrong answers; -strict allows none", n)})
	}
	if len(reasons) == 0 {
		reasons = append(reasons, Reason{Code: CodeGoal, Verdict: audit.Pass,
			Metric: MetricBalanced, Now: b.BalancedAccuracy.Value,
			Text: fmt.Sprintf("balanced accuracy %v; no goal is set and there is no baseline",
				b.BalancedAccuracy)})
	}
	j := judgement(reasons)
	if len(baseline) > 0 {
		j.Lost, j.Gained = changes(slices.Concat(pairs.earned[0], pairs.earned[1]))
	}
	return j, nil
}

// invalid returns the reason why the run is INVALID, if it is.
func (b *Bench) invalid(goals audit.BenchGoals) (Reason, bool) {
	g := Reason{Code: CodeUnanswered, Verdict: audit.Invalid, Now: b.Unanswered}
	answered := b.Outcomes[audit.OutcomeCorrect] + b.Outcomes[audit.OutcomeWrong]
	unasked := Ratio(float64(b.Outcomes[audit.OutcomeSkipped]), float64(b.Planned))
	most := 1.0
	if goals.Unanswered != nil {
		most = *goals.Unanswered
	}
	switch {
	case b.Planned == 0:
		g.Code, g.Text = CodeInvalid, "no trial was run"
	case answered == 0:
		g.Text = fmt.Sprintf("none of %d trials has an answer", b.Planned)
	case b.Unanswered.V > most+tiny:
		g.Want = Of(most)
		g.Text = fmt.Sprintf(
			"%v of the trials have no answer (refused %d, malformed %d, errored %d): at most %v may",
			b.Unanswered, b.Outcomes[audit.OutcomeRefused], b.Outcomes[audit.OutcomeMalformed],
			b.Outcomes[audit.OutcomeErrored], g.Want)
	case unasked.V > most+tiny:
		g.Now, g.Want = unasked, Of(most)
		g.Text = fmt.Sprintf(
			"the run ended before %d of its %d trials were asked (%v): at most %v may be missing",
			b.Outcomes[audit.OutcomeSkipped], b.Planned, unasked, g.Want)
	default:
		return g, false
	}
	return g, true
}

type casePairs struct {
	both    []stat.Item
	earned  [2][]EntryChange // of both: good and bad cases that have an answer on either side
	onlyOne int              // cases that one side lacks
	agree   bool             // the trials of each case agree on each side
}

// pairCases pairs the cases of two sides, with the values that lineUp returns of each.
func pairCases(now, baseline []Answer,
	lineUp func(*trialTable, []Answer) map[string]*caseTrials) (*casePairs, error) {
	now, baseline = begun(now), begun(baseline)
	rn, errN := newTrialTable(now)
	rb, errB := newTrialTable(baseline)
	if err := errors.Join(errN, errB); err != nil {
		return nil, err
	}
	ns, bs := lineUp(rn, now), lineUp(rb, baseline)
	p := &casePairs{agree: agree(ns) && agree(bs)}
	for _, id := range slices.Sorted(maps.Keys(ns)) {
		n, b := ns[id], bs[id]
		if b == nil {
			continue
		}
		bad := n.c.Label == audit.Bad
		p.both = append(p.both, stat.Item{ID: id, Family: n.family, Bad: bad, Baseline: b.values,
			Now: n.values})
		if was, is := mean(b.values, Of), mean(n.values, Of); was.Defined && is.Defined {
			at := 0
			if bad {
				at = 1
			}
			p.earned[at] = append(p.earned[at], EntryChange{id, was.V, is.V})
		}
	}
	p.onlyOne = len(ns) + len(bs) - 2*len(p.both)
	return p, nil
}

// agree reports whether all trials of each case have the same outcome.
func agree(cases map[string]*caseTrials) bool {
	for _, ct := range cases {
		if share := mean(ct.values, Of).V; share > 0 && share < 1 {
			return false
		}
	}
	return true
}

// drop returns the reason about a drop of balanced accuracy.
func (p *casePairs) drop(deterministic bool, rules Rules) (Reason, error) {
	f := drop{metric: MetricBalanced}
	f.base, f.now, f.items = p.balanced()
	g := Reason{Code: CodeDrop, Verdict: audit.Pass, Metric: f.metric, Now: f.now, Baseline: f.base}
	left := ""
	if p.onlyOne > 0 {
		left = fmt.Sprintf(" (%d cases that one side lacks are left out)", p.onlyOne)
	}
	if !f.base.Defined || !f.now.Defined {
		g.Code, g.Verdict = CodeWide, audit.Warn
		g.Text = "balanced accuracy cannot be compared: no good or no bad case has an answer on both sides. No further trial decides it, more cases do" + left
		return g, nil
	}
	f.points = 100 * (f.base.V - f.now.V)
	if deterministic {
		g = f.judge()
		g.Text += left
		return g, nil
	}
	x, warnings, err := stat.GateBench(p.both)
	switch {
	case errors.Is(err, stat.ErrEmpty):
		g.Code, g.Verdict, g.Text = CodeWide, audit.Warn, "balanced accuracy cannot be compared: "+
			err.Error()+". No further trial decides it"+left
		return g, nil
	case err != nil:
		return Reason{}, fmt.Errorf("the gate: %w", err)
	}
	g.P, g.Excluded = Of(x.P), Of(x.Bound)
	g.Text = fmt.Sprintf("balanced accuracy %v, was %v: ", f.now, f.base)
	switch x.Decision {
	case stat.Drop:
		g.Verdict = audit.Fail
		g.Text += fmt.Sprintf(
			"%.1f points less. Chance does this to %.2g %% of unchanged reviewers (limit %.2g %%)",
			f.points, 100*x.P, 100*x.Alpha)
	case stat.PossibleDrop:
		g.Code, g.Verdict = CodePossible, rules.possible()
		g.Text += fmt.Sprintf("%.1f points less may be chance (p %.2g %%)", f.points, 100*x.P)
	case stat.TooWide:
		g.Code, g.Verdict = CodeWide, audit.Warn
		g.Text += fmt.Sprintf("no sign of a drop, but one of %.0f points is not excluded",
			100*min(1, x.Bound))
	default:
		g.Text += fmt.Sprintf("no sign of a drop; more than %.1f points is excluded at 95 %%",
			100*x.Bound)
	}
	if g.Verdict != audit.Pass && x.Decision != stat.Drop {
		a := x.Advice
		g.Advice = &Advice{Trials: a.Trials, Baseline: a.Baseline, Projects: a.Units, May: !a.Sure,
			unit: "family"}
		g.Text += ". " + g.Advice.String()
	}
	for _, w := range append(warnings, strings.Trim(left, " ()")) {
		if w != "" {
			g.Text += " (" + w + ")"
		}
	}
	return g, nil
}

// balanced returns the balanced accuracy of both sides and the number of lost cases.
func (p *casePairs) balanced() (base, now Value, items float64) {
	was, is := 0.0, 0.0 // the shares of either label, added
	for _, cases := range p.earned {
		n := float64(len(cases))
		if n == 0 {
			return Value{}, Value{}, 0
		}
		b, w := 0.0, 0.0
		for _, c := range cases {
			b, w = b+c.Baseline, w+c.Now
		}
		was, is, items = was+b/n, is+w/n, items+b-w
	}
	return Of(was / 2), Of(is / 2), items
}
