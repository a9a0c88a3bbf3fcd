package score

import (
	"fmt"

	"assay/audit"
)

// goalReasons holds the figures against the goals.
//
// A missed goal fails. One that the committed baseline missed too warns, "below
// goal, as in the baseline": it never passes, and in nothing else does a baseline
// make a verdict milder.
func (d *sides) goalReasons() []Reason {
	g, now, base := &d.goals, d.fNow, d.fBase
	var reasons []Reason
	goal := func(metric, about string, goal float64, now, base Value) {
		if goal > 0 {
			reasons = append(reasons, goalReason(metric, about, goal, now, Span{base, base}, len(d.baseline) > 0))
		}
	}
	goal(MetricRecall, "", g.Recall, now.recall, base.recall)
	if g.Precision > 0 {
		reasons = append(reasons, d.spanGoal(MetricPrecision, g.Precision, now.precision, base.precision))
	}
	if g.F1 > 0 {
		reasons = append(reasons, d.spanGoal(MetricF1, g.F1, now.f1, base.f1))
	}
	goal(MetricCoverage, "", float64(g.Coverage), now.covered, base.covered)
	goal(MetricExpected, "", float64(g.Expected), now.credit, base.credit)
	for _, dim := range audit.Dimensions() {
		goal(MetricMinimum, string(dim), float64(g.Minimums[dim]), now.byDim[dim], base.byDim[dim])
	}
	return reasons
}

// goalReason judges one figure. Of a baseline that hangs on reviews its low end stands in
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
	for _, m := range []struct {
		goal      float64
		now, base Value
		scale     float64 // to points
	}{
		{d.goals.Recall, d.fNow.recall, d.fBase.recall, 100},
		{d.goals.Precision, d.fNow.precision.Low, d.fBase.precision.Low, 100},
		{d.goals.F1, d.fNow.f1.Low, d.fBase.f1.Low, 100},
		{float64(d.goals.Coverage), d.fNow.covered, d.fBase.covered, 10},
	} {
		if m.goal > 0 && (!m.now.Defined || m.now.V < m.goal-tiny) {
			worse(audit.Fail)
		}
		if len(d.baseline) > 0 && m.base.Defined && m.now.Defined {
			switch points := m.scale * (m.base.V - m.now.V); {
			case points > failAbove+1e-7:
				worse(audit.Fail)
			case points >= noneBelow-1e-7:
				worse(audit.Warn)
			}
		}
	}
	return verdict
}

// spanGoal judges a figure that hangs on reviews: met when its lower bound
// reaches the goal, missed when its upper bound is below, else open.
func (d *sides) spanGoal(metric string, goal float64, now, base Span) Reason {
	switch {
	case !now.Low.Defined || now.Low.V >= goal-tiny:
		return goalReason(metric, "", goal, now.Low, base, len(d.baseline) > 0)
	case now.High.V < goal-tiny:
		return goalReason(metric, "", goal, now.High, base, len(d.baseline) > 0)
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
