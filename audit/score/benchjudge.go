package score

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"assay/audit"
	"assay/internal/stat"
)

// JudgeBench judges a reviewer over the cases against goals and baseline (none:
// empty). Goals are held against the estimates; the drop is one of balanced
// accuracy. Cases that only one side has are left out of the drop and named. A
// run with more trials unanswered or not asked than the goals allow, or with no
// answer at all, is INVALID. Under Strict a single wrong answer fails.
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
	pairs, err := pairCases(now, baseline)
	if err != nil {
		return Judgement{}, err
	}
	deterministic := rules.Deterministic && pairs.agree
	var reasons []Reason
	if rules.Deterministic && !deterministic {
		reasons = append(reasons, Reason{Code: CodeStochastic, Verdict: audit.Warn,
			Text: "the reviewer is called deterministic, and trials of one case differ: judged as stochastic"})
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
		{MetricBalanced, goals.BalancedAccuracy, b.BalancedAccuracy.Value, base.BalancedAccuracy.Value},
		{MetricRecall, goals.Recall, b.Recall.Value, base.Recall.Value},
		{MetricSpecificity, goals.Specificity, b.Specificity.Value, base.Specificity.Value},
	} {
		if m.goal > 0 {
			reasons = append(reasons, goalReason(m.metric, "", m.goal, m.now, Span{m.base, m.base}, len(baseline) > 0))
		}
	}
	if n := b.Outcomes[audit.OutcomeWrong]; rules.Strict && n > 0 {
		reasons = append(reasons, Reason{Code: CodeMiss, Verdict: audit.Fail, Text: fmt.Sprintf("wrong answers: %d, none of which -strict lets pass", n)})
	}
	if len(reasons) == 0 {
		reasons = append(reasons, Reason{Code: CodeGoal, Verdict: audit.Pass, Metric: MetricBalanced, Now: b.BalancedAccuracy.Value,
			Text: fmt.Sprintf("balanced accuracy %v; no goal is set and there is no baseline", b.BalancedAccuracy)})
	}
	j := judgement(reasons)
	if len(baseline) > 0 {
		j.Lost, j.Gained = changes(slices.Concat(pairs.earned[0], pairs.earned[1]))
	}
	return j, nil
}

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
		g.Text = fmt.Sprintf("%v of the trials have no answer (refused %d, malformed %d, errored %d): at most %v may",
			b.Unanswered, b.Outcomes[audit.OutcomeRefused], b.Outcomes[audit.OutcomeMalformed], b.Outcomes[audit.OutcomeErrored], g.Want)
	case unasked.V > most+tiny:
		g.Now, g.Want = unasked, Of(most)
		g.Text = fmt.Sprintf("the run ended before %d of its %d trials were asked (%v): at most %v may be missing",
			b.Outcomes[audit.OutcomeSkipped], b.Planned, unasked, g.Want)
	default:
		return g, false
	}
	return g, true
}

type casePairs struct {
	both     []stat.Item
	clusters []string         // of both: Answer.Cluster
	earned   [2][]EntryChange // of both: good and bad cases that have an answer on either side
	onlyOne  int              // cases that one side lacks
	agree    bool             // the trials of each case agree on each side
}

func pairCases(now, baseline []Answer) (*casePairs, error) {
	rn, errN := newTrialTable(now)
	rb, errB := newTrialTable(baseline)
	if err := errors.Join(errN, errB); err != nil {
		return nil, err
	}
	ns, bs := rn.lineUp(now), rb.lineUp(baseline)
	p := &casePairs{agree: agree(ns) && agree(bs)}
	for _, id := range slices.Sorted(maps.Keys(ns)) {
		n, b := ns[id], bs[id]
		if b == nil {
			continue
		}
		bad := n.c.Label == audit.Bad
		p.both = append(p.both, stat.Item{ID: id, Family: n.family, Group: n.group, Bad: bad, Baseline: b.values, Now: n.values})
		p.clusters = append(p.clusters, n.cluster)
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

func agree(cases map[string]*caseTrials) bool {
	for _, ct := range cases {
		if share := mean(ct.values, Of).V; share > 0 && share < 1 {
			return false
		}
	}
	return true
}

func (p *casePairs) drop(deterministic bool, rules Rules) (Reason, error) {
	f := drop{metric: MetricBalanced}
	f.base, f.now, f.items = p.balanced()
	if !f.base.Defined || !f.now.Defined {
		return f.unsettled(rules, nil, "no good or no bad case has an answer on both sides"), nil
	}
	f.points = 100 * (f.base.V - f.now.V)
	var g Reason
	if deterministic {
		g = f.literal()
	} else {
		part, err := stat.GateBench(p.both, rules.plan())
		switch {
		case errors.Is(err, stat.ErrEmpty):
			return f.unsettled(rules, nil, err.Error()), nil
		case err != nil:
			return Reason{}, fmt.Errorf("the gate: %w", err)
		}
		g = f.gated(&part, rules)
		g.Text += doubts(&part)
	}
	if p.onlyOne > 0 {
		g.Text += fmt.Sprintf(" (%d cases that one side lacks are left out)", p.onlyOne)
	}
	return g, nil
}

// balanced gives both sides' balanced accuracy, and how many cases were lost.
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
