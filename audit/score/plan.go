package score

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/internal/stat"
)

// A PlannedProject is a project of a suite that has not run yet.
type PlannedProject struct {
	Name    string
	Entries int          // vulnerabilities of its key
	Trials  []AuditTrial // earlier ones of the auditor; empty: a recall of 55 % is assumed
	USD     float64      // stated cost of a trial, where no trial says it
}

// A SuitePlan is what a suite costs and which drops in recall it finds, before anything runs.
type SuitePlan struct {
	Projects, Entries int
	USD, Minutes      float64 // expected, of a trial of all projects; 0 where unknown
	Designs           []Design
	Buys              []Buy // what one more project, or more trials, would buy; cheapest first

	keyed []stat.ProjectTrials // with a vulnerability in their keys
	phi   float64
}

// A Design is a number of trials of each side with the smallest drop, as a fraction, that
// it finds with 80 % power; undefined where it has too few exchanges to FAIL.
type Design struct {
	Baseline, Now int
	Drop          Value
}

// A Buy is a larger design with what it costs beyond 3 trials of the baseline and 1 new.
type Buy struct {
	What   string
	Drop   Value
	Audits int
	USD    float64 // 0 where unknown
}

// NewPlan plans a suite of an auditor that asks concurrency projects at a time.
func NewPlan(all []PlannedProject, concurrency int) SuitePlan {
	var ps []stat.ProjectTrials
	p := SuitePlan{}
	seconds := 0.0
	for _, x := range all {
		p.USD += cmp.Or(average(x.Trials, func(t AuditTrial) float64 { return t.USD }), x.USD)
		seconds += average(x.Trials, func(t AuditTrial) float64 { return t.Seconds })
		if p.Projects++; x.Entries == 0 {
			continue
		}
		s := stat.ProjectTrials{Name: x.Name, Entries: x.Entries}
		for _, t := range valid(x.Trials) {
			s.Baseline = append(s.Baseline, t.Result.Metrics.Credit)
		}
		if len(s.Baseline) == 0 {
			s.Baseline = []float64{0.55 * float64(x.Entries)}
		}
		p.Entries += x.Entries
		ps = append(ps, s)
	}
	p.Minutes = seconds / 60 / float64(max(1, concurrency))
	if len(ps) == 0 {
		return p
	}
	p.keyed, p.phi = ps, stat.Phi(ps)
	for _, d := range [][2]int{{1, 1}, {3, 1}, {3, 3}, {6, 6}} {
		p.Designs = append(p.Designs, Design{d[0], d[1], p.drop(d[0], d[1])})
	}
	more := p
	more.keyed = append(slices.Clone(ps), ps[len(ps)/2])
	one := p.USD / float64(p.Projects)
	p.Buys = []Buy{
		{"one more project like these (3 v 1)", more.drop(3, 1), 4, 4 * one},
		{"2 more trials (3 v 3)", p.drop(3, 3), 2 * p.Projects, 2 * p.USD},
		{"5 more trials, and 3 of the baseline (6 v 6)", p.drop(6, 6), 8 * p.Projects, 8 * p.USD},
	}
	slices.SortStableFunc(p.Buys, func(a, b Buy) int { return cmp.Compare(a.Audits, b.Audits) })
	return p
}

// drop returns the smallest drop that b baseline and m new trials find with 80 % power.
func (p SuitePlan) drop(b, m int) Value { return Of(stat.D80(p.keyed, p.phi, b, m)) }

// Line returns the line of the plan that matters before a run: what it costs, and which drop
// it finds with so many trials of the baseline (0: there is none) and now, of which an earlier
// run made some. It is empty without a project that could drop.
func (p SuitePlan) Line(baseline, now, made int) string {
	if len(p.keyed) == 0 {
		return ""
	}
	text := fmt.Sprintf("%s, %s, %s each", plural(p.Projects, "project"),
		plural(p.Entries, "vulnerability"), plural(now-made, "trial"))
	once := p
	once.USD, once.Minutes = p.USD*float64(now-made), p.Minutes*float64(now-made)
	if cost := once.cost(); cost != "" {
		text += ": about " + cost
	}
	stage := stat.StageOf(now)
	switch d := p.drop(min(baseline, stat.MaxBaseline), stage); {
	case baseline == 0:
		return text + "; there is no baseline yet, so goals alone decide"
	case d.Defined:
		return text +
			fmt.Sprintf("; finds a drop in recall of %s points with 80 %% power (%d v %d)",
				points(d), baseline, stage)
	}
	return text +
		fmt.Sprintf(
			"; WARNING: %d v %d trials cannot FAIL by a drop, unless a project collapses: run -trials 3, or add projects (assay plan)", baseline, stage)
}

// cost returns "$2.00 and 12 minutes", or what of it is known.
func (p SuitePlan) cost() string {
	var parts []string
	if p.USD > 0 {
		parts = append(parts, Dollars(p.USD))
	}
	if p.Minutes > 0 {
		parts = append(parts, minutes(p.Minutes))
	}
	return strings.Join(parts, " and ")
}

// points returns a share in percentage points, rounded up.
func points(v Value) string { return fmt.Sprintf("%.0f", math.Ceil(100*v.V-tiny)) }

// String returns the plan as text.
func (p SuitePlan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s; a trial of all of them: %s\n", plural(p.Projects, "project"),
		plural(p.Entries, "vulnerability"),
		cmp.Or(p.cost(), "cost and time are not known before its first run"))
	if len(p.Designs) == 0 {
		b.WriteString("no key holds a vulnerability: recall cannot drop\n")
		return b.String()
	}
	b.WriteString("\nbaseline v new   smallest drop in recall that is found with 80 % power\n")
	for _, d := range p.Designs {
		text := "- (too few exchanges to FAIL, unless a project collapses)"
		if d.Drop.Defined {
			text = points(d.Drop) + " points"
		}
		fmt.Fprintf(&b, "%8d v %d     %s\n", d.Baseline, d.Now, text)
	}
	b.WriteString("\nbeyond 3 v 1\n")
	for _, x := range p.Buys {
		text := "cannot FAIL"
		if x.Drop.Defined {
			text = points(x.Drop) + " points"
		}
		text += ", " + plural(x.Audits, "audit")
		if x.USD > 0 {
			text += ", " + Dollars(x.USD)
		}
		fmt.Fprintf(&b, "  %s: %s\n", x.What, text)
	}
	if !p.Designs[1].Drop.Defined {
		b.WriteString(
			"\nWARNING: one new trial of this suite cannot FAIL by a drop: add projects (four are enough), or run three trials\n")
	}
	return b.String()
}
