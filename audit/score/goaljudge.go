package score

import (
	"fmt"

	"assay/audit"
	"assay/internal/stat"
)

// goalReasons holds the figures against the goals.
//
// A missed goal fails without a baseline, and where the figure is below the
// baseline's too; a figure that misses its goal and is not below the baseline
// warns. For a deterministic auditor "below" begins at one point (or anything, of
// counts); for a stochastic one it is what the gate has settled, and as the gate
// settles recall, other figures of a stochastic auditor that miss a goal warn
// where there is a baseline.
func (d *sides) goalReasons(part *stat.Part) []Reason {
	g, now, base := &d.goals, d.fNow, d.fBase
	var reasons []Reason
	share := func(metric string, goal float64, nowV, baseV Value) {
		if goal > 0 {
			reasons = append(reasons, d.goal(metric, "", goal, nowV, baseV, 0.01, part))
		}
	}
	count := func(metric, about string, goal int, nowV, baseV Value) {
		if goal > 0 {
			// Counts go by halves: a quarter is less than any difference.
			reasons = append(reasons, d.goal(metric, about, float64(goal), nowV, baseV, 0.25, part))
		}
	}
	share(MetricRecall, g.Recall, now.recall, base.recall)
	if g.Precision > 0 {
		reasons = append(reasons, d.spanGoal(MetricPrecision, g.Precision, now.precision, base.precision, part))
	}
	if g.F1 > 0 {
		reasons = append(reasons, d.spanGoal(MetricF1, g.F1, now.f1, base.f1, part))
	}
	count(MetricCoverage, "", g.Coverage, now.covered, base.covered)
	count(MetricExpected, "", g.Expected, now.credit, base.credit)
	for _, dim := range audit.Dimensions() {
		count(MetricMinimum, string(dim), g.Minimums[dim], now.byDim[dim], base.byDim[dim])
	}
	return reasons
}

// goal judges one figure. slack is the least difference to the baseline that
// counts as below it.
func (d *sides) goal(metric, about string, goal float64, now, base Value, slack float64, part *stat.Part) Reason {
	g := Reason{Code: CodeGoal, Verdict: audit.Pass, Metric: metric, About: about, Now: now, Want: Of(goal), Baseline: base}
	show := func(v Value) string { return showMetric(metric, v) }
	what := metric
	if about != "" {
		what += " of " + about
	}
	switch {
	case now.Defined && now.V >= goal-tiny:
		g.Text = fmt.Sprintf("%s %s meets the goal of %s", what, show(now), show(g.Want))
		return g
	case !now.Defined:
		g.Verdict = audit.Fail
		g.Text = fmt.Sprintf("%s is undefined: the goal of %s is not shown to be met", what, show(g.Want))
		if len(d.baseline) > 0 && !base.Defined {
			g.Verdict = audit.Warn
			g.Text += "; nor was it at the baseline"
		}
		return g
	}
	g.Text = fmt.Sprintf("%s %s misses the goal of %s", what, show(now), show(g.Want))
	switch {
	case len(d.baseline) == 0:
		g.Verdict = audit.Fail
		g.Text += "; there is no baseline"
	case d.below(metric, now, base, slack, part):
		g.Verdict = audit.Fail
		g.Text += fmt.Sprintf(" and lies below the baseline, %s", show(base))
	default:
		g.Verdict = audit.Warn
		g.Text += fmt.Sprintf("; the baseline is at %s", show(base))
	}
	return g
}

func (d *sides) below(metric string, now, base Value, slack float64, part *stat.Part) bool {
	if !base.Defined {
		return true
	}
	if d.deterministic {
		return base.V-now.V >= slack-tiny
	}
	return metric == MetricRecall && part != nil && part.Decision == stat.Drop
}

// spanGoal judges a figure that hangs on reviews: met when its lower bound
// reaches the goal, missed when its upper bound is below, else open.
func (d *sides) spanGoal(metric string, goal float64, now, base Span, part *stat.Part) Reason {
	switch {
	case !now.Low.Defined || now.Low.V >= goal-tiny:
		return d.goal(metric, "", goal, now.Low, base.Low, 0.01, part)
	case now.High.V < goal-tiny:
		return d.goal(metric, "", goal, now.High, base.High, 0.01, part)
	}
	need := d.review(metric, goal)
	return Reason{Code: CodeReview, Verdict: audit.Warn, Metric: metric, Now: now.Low, Want: Of(goal), Baseline: base.Low,
		More: need.More, Findings: need.Findings,
		Text: fmt.Sprintf("%s lies between %v and %v, the goal is %v: review %d more of the findings that are not in the key",
			metric, now.Low, now.High, Of(goal), need.More)}
}

// review asks for the reviews of the first trial that would settle the goal. A
// goal for F1 is one for precision: with recall r, F1 reaches g where precision
// reaches gr/(2r-g).
func (d *sides) review(metric string, goal float64) ReviewNeed {
	for _, r := range d.now {
		want := goal
		if rec := r.Metrics.Recall.V; metric == MetricF1 && 2*rec > goal {
			want = goal * rec / (2*rec - goal)
		}
		if need := r.Settle(want); need.More > 0 {
			return need
		}
	}
	return ReviewNeed{}
}

func showMetric(metric string, v Value) string {
	switch metric {
	case MetricCoverage, MetricExpected, MetricMinimum:
		if !v.Defined {
			return "undefined"
		}
		return fmt.Sprintf("%.4g", v.V)
	}
	return v.String()
}
