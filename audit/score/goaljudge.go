package score

import (
	"fmt"
	"math"
	"strings"

	"assay/audit"
	"assay/internal/stat"
)

// A goalFigure is a goal with the figure that it is about.
type goalFigure struct {
	metric, about string
	goal          float64
	of            Span
}

// figures returns what goals are set for.
func (g *ProjectGoals) figures(f *figures) []goalFigure {
	exact := func(v Value) Span { return Span{v, v} }
	all := []goalFigure{
		{MetricRecall, "", g.Recall, exact(f.recall)},
		{MetricPrecision, "", g.Precision, f.precision},
		{MetricF1, "", g.F1, f.f1},
		{MetricCoverage, "", float64(g.Coverage), exact(f.covered)},
		{MetricExpected, "", float64(g.Expected), exact(f.credit)},
	}
	for _, dim := range audit.Dimensions() {
		all = append(all, goalFigure{MetricMinimum, string(dim), float64(g.Minimums[dim]),
			exact(f.byDim[dim])})
	}
	return all
}

// met reports whether the figure meets its goal for certain.
func (t *goalFigure) met() bool { return t.of.Low.Defined && t.of.Low.V >= t.goal-tiny }

// missed reports whether the figure misses its goal for certain.
func (t *goalFigure) missed() bool { return !t.of.High.Defined || t.of.High.V < t.goal-tiny }

// stochastic reports whether chance may explain what changed since the baseline.
func (d *sides) stochastic() bool { return !d.deterministic && len(d.baseline) > 0 }

// goalReasons judges the means over trials against the project's goals. Recall beside a
// baseline is not among them, since it is decided over all projects. p is the probability for
// goals that are met.
func (d *sides) goalReasons(p float64, rules Rules) []Reason {
	var reasons []Reason
	base := d.goals.figures(d.fBase)
	for i, t := range d.goals.figures(d.fNow) {
		if t.goal > 0 && !(t.metric == MetricRecall && d.stochastic()) {
			reasons = append(reasons, d.goalReason(i, t, base[i].of, p, rules))
		}
	}
	return reasons
}

// goalReason judges the i-th figure. One that depends on reviews has met its goal when its
// lower bound reaches it, and missed it when its upper bound is below.
func (d *sides) goalReason(i int, t goalFigure, base Span, p float64, rules Rules) Reason {
	now := t.of.Low
	if !t.met() {
		now = t.of.High
	}
	if !t.met() && !t.missed() {
		return d.reviewReason(t, base)
	}
	g := goalReason(t.metric, t.about, t.goal, now, base, len(d.baseline) > 0)
	if g.Verdict != audit.Fail {
		return g
	}
	switch {
	case len(d.baseline) == 0 && d.goals.Shipped:
		g.Verdict = audit.Warn
		g.Text += fmt.Sprintf(
			"; the goal is a default: state your own in fixtures/goals.md (| %s | >= ... |). No further trial decides it", strings.ToUpper(t.metric[:1])+t.metric[1:])
	case d.stochastic():
		d.byTrials(&g, i, p, rules)
	}
	return g
}

// byTrials makes a missed goal that the baseline met a WARN, unless all of at least three
// trials miss what all of three met, and chance does not explain that.
func (d *sides) byTrials(g *Reason, i int, p float64, rules Rules) {
	count := func(rs []*Result, is func(*goalFigure) bool) (n int) {
		for _, r := range rs {
			if is(&d.goals.figures(figuresOf([]*Result{r}, d.goals.asserted()))[i]) {
				n++
			}
		}
		return n
	}
	missed, met := count(d.now, (*goalFigure).missed), count(d.baseline, (*goalFigure).met)
	switch {
	case missed == len(d.now) && met == len(d.baseline) && min(missed, met) >= 3 && p <= 0.01:
		return
	case missed < len(d.now) || met < len(d.baseline):
		g.Text += fmt.Sprintf(
			" in %d of %d trials, the baseline in %d of %d. No further trial decides it",
			len(d.now)-missed, len(d.now), met, len(d.baseline))
	case min(missed, met) < 3:
		g.Advice = &Advice{Trials: max(0, 3-missed), Baseline: max(0, 3-met),
			Project: d.name, May: true}
		d.price(g.Advice, rules)
		g.Text += ". " + g.Advice.String()
	default:
		g.Text += fmt.Sprintf("; chance may explain it (p %.2g %%). No further trial decides it",
			100*p)
	}
	g.Verdict = audit.Warn
}

// metP returns the p of the exchange of runs for the number of goals that each trial
// meets, recall's apart, over all projects; 1 where there is nothing to exchange. Of one
// project, whose p at three trials a side is 5 % at least, it returns a fifth.
func metP(all []*sides) float64 {
	var samples []stat.Sample
	for _, d := range all {
		s := stat.Sample{Weight: 1}
		for _, side := range []struct {
			of   []*Result
			to   *[]float64
			most int
		}{{d.now, &s.Now, stat.MaxNow}, {d.baseline, &s.Baseline, stat.MaxBaseline}} {
			for _, r := range side.of[:min(len(side.of), side.most)] {
				n := 0.0
				for _, t := range d.goals.figures(figuresOf([]*Result{r}, d.goals.asserted())) {
					if t.goal > 0 && t.metric != MetricRecall && t.met() {
						n++
					}
				}
				*side.to = append(*side.to, n)
			}
		}
		samples = append(samples, s)
	}
	x, err := stat.ExchangeRuns(samples)
	switch {
	case err != nil:
		return 1
	case len(samples) == 1:
		return x.P / 5
	}
	return x.P
}

// goal adds the goal for recall to the reason r, over the projects that state one. A missed
// goal that the baseline met is FAIL if neither three standard errors nor chance (p at most 5
// %) explain it; below four projects three trials are needed.
func (g *gate) goal(r *Reason, tested []stat.ProjectTrials) {
	var goal, now, was, weight float64
	var stated []stat.ProjectTrials
	for i, d := range g.keyed {
		if d.goals.Recall > 0 && i < len(tested) {
			p := tested[i]
			n := float64(p.Entries)
			w := math.Sqrt(n)
			mean := func(x []float64) float64 {
				return average(x,
					func(v float64) float64 { return v })
			}
			goal, weight = goal+w*d.goals.Recall, weight+w
			now, was = now+w*mean(p.Now)/n, was+w*mean(p.Baseline)/n
			stated = append(stated, p)
		}
	}
	if weight == 0 {
		return
	}
	goal, now, was = goal/weight, now/weight, was/weight
	r.Want = Of(goal)
	if now >= goal-tiny {
		return
	}
	if was < goal-tiny {
		if r.Verdict == audit.Pass {
			r.Code, r.Verdict = CodeGoal, audit.Warn
		}
		r.Text += fmt.Sprintf(
			"; below the goal of %v, as in the baseline. No further trial decides that", r.Want)
		return
	}
	x := g.recall
	if now+3*stat.SENow(stated) < goal && x.P <= 0.05 && (len(g.keyed) >= 4 || x.Stage >= 3) {
		if r.Verdict != audit.Fail {
			r.Code, r.Verdict, r.Advice = CodeGoal, audit.Fail, nil
			r.Text = fmt.Sprintf(
				"recall %v, was %v: below the goal of %v by more than 3 standard errors, and chance explains the drop in %.2g %% of cases only", r.Now, r.Baseline, r.Want, 100*x.P) + g.whose()
		}
		return
	}
	text := fmt.Sprintf("; the goal of %v is missed, and the baseline met it", r.Want)
	if r.Verdict == audit.Pass {
		r.Code, r.Verdict, r.Advice = CodeGoal, audit.Warn, g.nextStage(x.Stage)
		if r.Advice != nil {
			r.Advice.May = true
		}
		text += ", which chance explains. " + r.Advice.String()
	}
	r.Text += text
}

// goalReason judges one figure. With a baseline that missed the goal too it is a WARN.
func goalReason(metric, about string, goal float64, now Value, base Span, hasBase bool) Reason {
	g := Reason{Code: CodeGoal, Verdict: audit.Pass, Metric: metric, About: about, Now: now,
		Want: Of(goal), Baseline: base.Low}
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
		g.Text = fmt.Sprintf("%s is undefined: the goal of %s is not shown to be met",
			what, show(g.Want))
	}
	switch {
	case !hasBase:
		g.Text += "; there is no baseline"
	case base.Low.Defined && base.Low.V >= goal-tiny:
		g.Text += "; the baseline met it with " + show(base.Low)
	case base.High.Defined && base.High.V >= goal-tiny:
		g.Text += fmt.Sprintf("; at the baseline it lay between %s and %s", show(base.Low),
			show(base.High))
	default:
		g.Verdict = audit.Warn
		g.Text += fmt.Sprintf(": below goal, as in the baseline (%s). No further trial decides it",
			show(base.High))
	}
	return g
}

// reviewReason asks for the reviews that would show whether a goal is met.
func (d *sides) reviewReason(t goalFigure, base Span) Reason {
	now := t.of
	need := d.review(t.metric, t.goal)
	ask := fmt.Sprintf("review %d more of the findings that are not in the key", need.More)
	if need.More == 0 {
		ask = "no further review decides it, the rest is ruled arguable"
	}
	if m := &d.now[0].Metrics; t.metric == MetricPrecision && len(d.now) == 1 &&
		m.Precision95 != m.Precision {
		ask += fmt.Sprintf(
			"; by those reviewed in the drawn order %v (95 %%), which decides nothing",
			m.Precision95)
	}
	return Reason{Code: CodeReview, Verdict: audit.Warn, Metric: t.metric, Now: now.Low,
		Want: Of(t.goal), Baseline: base.Low,
		More: need.More, Findings: need.Findings,
		Text: fmt.Sprintf("%s lies between %v and %v, the goal is %v: %s", t.metric, now.Low,
			now.High, Of(t.goal), ask)}
}

// review returns the reviews of a trial that would decide the goal; if trials decide it
// differently, all open ones. A goal for F1 implies one for precision: with recall r, F1
// reaches g if precision reaches gr/(2r-g).
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

// Show returns a figure as text: shares in percent, counts as numbers, and "undefined".
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
