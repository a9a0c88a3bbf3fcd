package score

import (
	"fmt"

	"assay/audit"
)

// A goalFigure is a goal with the figures that are held against it.
type goalFigure struct {
	metric, about string
	goal          float64
	now, base     Span
	points        float64 // that 1 of the figure is worth by the methodology; 0 for what it has no word on
}

// goalFigures gives what goals are set for, and by which the methodology judges.
func (d *sides) goalFigures() []goalFigure {
	g, now, base := &d.goals, d.fNow, d.fBase
	exact := func(v Value) Span { return Span{v, v} }
	all := []goalFigure{
		{MetricRecall, "", g.Recall, exact(now.recall), exact(base.recall), 100},
		{MetricPrecision, "", g.Precision, now.precision, base.precision, 100},
		{MetricF1, "", g.F1, now.f1, base.f1, 100},
		{MetricCoverage, "", float64(g.Coverage), exact(now.covered), exact(base.covered), 10},
		{MetricExpected, "", float64(g.Expected), exact(now.credit), exact(base.credit), 0},
	}
	for _, dim := range audit.Dimensions() {
		all = append(all, goalFigure{MetricMinimum, string(dim), float64(g.Minimums[dim]), exact(now.byDim[dim]), exact(base.byDim[dim]), 0})
	}
	return all
}

// goalReasons holds the figures against the goals.
//
// A missed goal fails. One that the committed baseline missed too warns, "below
// goal, as in the baseline": it never passes, and in nothing else does a baseline
// make a verdict milder.
func (d *sides) goalReasons() []Reason {
	var reasons []Reason
	for _, t := range d.goalFigures() {
		if t.goal > 0 {
			reasons = append(reasons, d.goalReason(t))
		}
	}
	return reasons
}

// goalReason judges one value. Of a baseline that hangs on reviews its low end stands in
// the reason, as in its own record.
func goalReason(metric, about string, goal float64, now Value, base Span, hasBase bool) Reason {
	g := Reason{Code: CodeGoal, Verdict: audit.Pass, Metric: metric, About: about, Now: now, Want: Of(goal), Baseline: base.Low}
	show := func(v Value) string { return Show(metric, v) }
	what := metric
	if about != "" {
		what += " of " + about
	}
	if now.Defined && now.V >= goal-tiny {
		g.Text = fmt.Sprintf("%s %s meets the goal of %s", what, show(now), show(g.Want))
		return g
	}
	g.Verdict = audit.Fail
	g.Text = fmt.Sprintf("%s %s misses the goal of %s", what, show(now), show(g.Want))
	if !now.Defined {
		g.Text = fmt.Sprintf("%s is undefined: the goal of %s is not shown to be met", what, show(g.Want))
	}
	switch {
	case !hasBase:
		g.Text += "; there is no baseline"
	case base.Low.Defined && base.Low.V >= goal-tiny:
		g.Text += "; the baseline met it with " + show(base.Low)
	case base.High.Defined && base.High.V >= goal-tiny:
		g.Text += fmt.Sprintf("; at the baseline it lay between %s and %s", show(base.Low), show(base.High))
	default:
		g.Verdict = audit.Warn
		g.Text += fmt.Sprintf(": below goal, as in the baseline (%s)", show(base.High))
	}
	return g
}

// floors fails what is below half of its goal in recall, with or without what
// chance gives, or in precision's high end: carpets of guesses reach no more.
func (d *sides) floors() []Reason {
	var reasons []Reason
	below := func(what, metric string, now Value, goal float64) bool {
		if goal == 0 || now.Defined && now.V >= goal/2-tiny {
			return false
		}
		reasons = append(reasons, Reason{Code: CodeFloor, Verdict: audit.Fail, Metric: metric, Now: now, Want: Of(goal / 2),
			Text: fmt.Sprintf("%s %v is below half of the goal of %v: no baseline makes up for that", what, now, Of(goal))})
		return true
	}
	if !below("recall", MetricRecall, d.fNow.recall, d.goals.Recall) {
		below("recall corrected for chance", MetricRecall, d.beyondChance(), d.goals.Recall)
	}
	below("precision", MetricPrecision, d.fNow.precision.High, d.goals.Precision)
	return reasons
}

// beyondChance gives recall corrected for chance, (recall - c) / (1 - c) (J. Cohen,
// Educational and Psychological Measurement 20 (1960) 37-46), where c is the 99th
// percentile of chance: a report that covers much of a project finds much of it at
// drawn places too. Where no chance level is known it is recall itself.
func (d *sides) beyondChance() Value {
	r, c := d.fNow.recall, d.fNow.p99
	if !r.Defined || !c.Defined || c.V >= 1 {
		return r
	}
	return Of((r.V - c.V) / (1 - c.V))
}

// methodology gives the verdict by the methodology's own words (its section 2).
func (d *sides) methodology() audit.Verdict {
	verdict := audit.Pass
	worse := func(v audit.Verdict) { verdict = audit.Worst(verdict, v) }
	for _, t := range d.goalFigures() {
		if t.points == 0 {
			continue
		}
		now, base := t.now.Low, t.base.Low
		if t.goal > 0 && (!now.Defined || now.V < t.goal-tiny) {
			worse(audit.Fail)
		}
		if len(d.baseline) > 0 && base.Defined && now.Defined {
			switch points := t.points * (base.V - now.V); {
			case points > failAbove+1e-7:
				worse(audit.Fail)
			case points >= noneBelow-1e-7:
				worse(audit.Warn)
			}
		}
	}
	return verdict
}

// goalReason judges one figure. One that hangs on reviews has met its goal when its lower
// bound reaches it, missed it when its upper bound is below, and is open else.
func (d *sides) goalReason(t goalFigure) Reason {
	metric, goal, now, base := t.metric, t.goal, t.now, t.base
	switch {
	case !now.Low.Defined || now.Low.V >= goal-tiny:
		return goalReason(metric, t.about, goal, now.Low, base, len(d.baseline) > 0)
	case now.High.V < goal-tiny:
		return goalReason(metric, t.about, goal, now.High, base, len(d.baseline) > 0)
	}
	need := d.review(metric, goal)
	ask := fmt.Sprintf("review %d more of the findings that are not in the key", need.More)
	if need.More == 0 {
		ask = "no further review settles it, the rest is ruled arguable"
	}
	if m := &d.now[0].Metrics; metric == MetricPrecision && len(d.now) == 1 && m.Precision95 != m.Precision {
		ask += fmt.Sprintf("; by those reviewed in the drawn order %v (95 %%), which decides nothing", m.Precision95)
	}
	return Reason{Code: CodeReview, Verdict: audit.Warn, Metric: metric, Now: now.Low, Want: Of(goal), Baseline: base.Low,
		More: need.More, Findings: need.Findings,
		Text: fmt.Sprintf("%s lies between %v and %v, the goal is %v: %s", metric, now.Low, now.High, Of(goal), ask)}
}

// review asks for the reviews of a trial that would settle the goal; where each trial
// has settled it for itself, and not alike, for all that are open. A goal for F1 is one
// for precision: with recall r, F1 reaches g where precision reaches gr/(2r-g).
func (d *sides) review(metric string, goal float64) ReviewNeed {
	settle := func(r *Result) ReviewNeed {
		want := goal
		if rec := r.Metrics.Recall.V; metric == MetricF1 && 2*rec > goal {
			want = goal * rec / (2*rec - goal)
		}
		return r.Settle(want)
	}
	for _, ask := range []func(*Result) ReviewNeed{settle, (*Result).unreviewed} {
		for i, r := range d.now {
			if need := ask(r); need.More > 0 {
				if i > 0 {
					need.Findings = nil // a reason's are the first trial's
				}
				return need
			}
		}
	}
	return ReviewNeed{}
}

// Show gives a figure as people read it: shares in percent, counts as numbers, and
// "undefined".
func Show(metric string, v Value) string {
	switch metric {
	case MetricCoverage, MetricExpected, MetricMinimum:
		if !v.Defined {
			return "undefined"
		}
		return fmt.Sprintf("%.4g", v.V)
	}
	return v.String()
}
