package score

import (
	"fmt"

	"assay/audit"
)

// A Clause is a figure of the methodology's section 2 with its verdict by the letter: a missed
// goal is FAIL; a drop of 1 to 5 points is WARN, a larger one FAIL.
type Clause struct {
	Metric   string
	Now, Was Value // shares; of coverage dimensions
	Verdict  audit.Verdict
	Why      string // of a verdict other than PASS
}

// Letter judges figures by the methodology's letter. was is nil without a baseline. Of precision
// and F1 the lower bound counts.
func Letter(goals ProjectGoals, now, was *Metrics) []Clause {
	clauses := []Clause{{Metric: MetricRecall}, {Metric: MetricPrecision}, {Metric: MetricF1},
		{Metric: MetricCoverage}}
	for i, of := range []struct {
		goal, points float64 // points that 1 of the figure is worth
		figure       func(*Metrics) Value
	}{
		{goals.Recall, 100, func(m *Metrics) Value { return m.Recall }},
		{goals.Precision, 100, func(m *Metrics) Value { return m.Precision.Low }},
		{goals.F1, 100, func(m *Metrics) Value { return m.F1.Low }},
		{float64(goals.Coverage), 10,
			func(m *Metrics) Value { return Of(m.Coverage.V * float64(len(m.Held))) }},
	} {
		c := &clauses[i]
		if now != nil {
			c.Now = of.figure(now)
		}
		if was != nil {
			c.Was = of.figure(was)
		}
		c.judge(of.goal, of.points)
	}
	return clauses
}

func (c *Clause) judge(goal, points float64) {
	show := func(v Value) string { return Show(c.Metric, v) }
	c.Verdict = audit.Pass
	lower := 0.0
	if c.Now.Defined && c.Was.Defined {
		lower = points * (c.Was.V - c.Now.V)
	}
	switch {
	case goal > 0 && (!c.Now.Defined || c.Now.V < goal-tiny):
		c.Verdict, c.Why = audit.Fail, fmt.Sprintf("%s %s misses the goal of %s", c.Metric,
			show(c.Now), show(Of(goal)))
	case lower > failAbove+1e-7:
		c.Verdict, c.Why = audit.Fail, fmt.Sprintf("%s %s, was %s (more than 5 points less)",
			c.Metric, show(c.Now), show(c.Was))
	case lower >= noneBelow-1e-7:
		c.Verdict, c.Why = audit.Warn, fmt.Sprintf("%s %s, was %s", c.Metric,
			show(c.Now), show(c.Was))
	}
}

// Overall returns the worst verdict of the clauses, and why, the worst first.
func Overall(clauses []Clause) (audit.Verdict, []string) {
	var fails, warns []string
	for _, c := range clauses {
		switch c.Verdict {
		case audit.Fail:
			fails = append(fails, c.Why)
		case audit.Warn:
			warns = append(warns, c.Why)
		}
	}
	switch {
	case len(fails) > 0:
		return audit.Fail, append(fails, warns...)
	case len(warns) > 0:
		return audit.Warn, warns
	}
	return audit.Pass, nil
}

// Asserted returns the means over the valid trials of the figures that goals judge: those of
// the methodology's score where the goals say so. It returns nil without a valid trial.
func (g *ProjectGoals) Asserted(trials []AuditTrial) *Metrics {
	var results []*Result
	for i := range trials {
		if t := &trials[i]; t.Invalid == "" && t.Result != nil {
			results = append(results, t.Result)
		}
	}
	return assertedMeans(results, g.asserted())
}

func assertedMeans(results []*Result, literal bool) *Metrics {
	all := make([]*Metrics, len(results))
	for i, r := range results {
		if all[i] = &r.Metrics; literal {
			all[i] = r.Methodology.Metrics()
		}
	}
	return means(all)
}
