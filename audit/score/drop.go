package score

import (
	"fmt"

	"assay/audit"
	"assay/internal/stat"
)

// The steps of the literal rule, in percentage points and items.
const (
	noneBelow  = 1.0 // a smaller drop is none
	failAbove  = 5.0 // a larger one fails
	itemsAbove = 1.0 // if it is more than this many items
)

// dropReasons holds recall and precision against the baseline.
//
// Of a deterministic auditor the literal rule holds for both. Of a stochastic one
// recall is the gate's; a drop in precision is shown and never settled, as the
// findings of two runs have no identity under which they could be exchanged. What
// is not settled warns, and fails under -strict.
func (d *sides) dropReasons(part *stat.Part, rules Rules) []Reason {
	recall := d.drop(MetricRecall, d.fBase.recall, d.fNow.recall, float64(len(d.now[0].Known)))
	precision := d.drop(MetricPrecision, d.fBase.precision.Low, d.fNow.precision.Low, d.fNow.counted.V)
	if d.deterministic {
		return []Reason{recall.literal(), precision.literal()}
	}
	return []Reason{recall.gated(part, rules), precision.shown(rules)}
}

// A drop is what a figure lost, and what that weighs.
type drop struct {
	metric    string
	base, now Value
	points    float64 // baseline minus now
	items     float64 // entries or findings
}

func (d *sides) drop(metric string, base, now Value, n float64) drop {
	f := drop{metric: metric, base: base, now: now}
	if base.Defined && now.Defined {
		f.points = 100 * (base.V - now.V)
		f.items = (base.V - now.V) * n
	}
	return f
}

func (f drop) reason(v audit.Verdict, code Code, text string) Reason {
	return Reason{Code: code, Verdict: v, Metric: f.metric, Now: f.now, Baseline: f.base, Text: text}
}

func (f drop) literal() Reason {
	text := fmt.Sprintf("%s %v, at the baseline %v: a drop of %.1f points", f.metric, f.now, f.base, f.points)
	switch {
	case !f.base.Defined || !f.now.Defined:
		return f.reason(audit.Pass, CodeDrop, fmt.Sprintf("%s %v, at the baseline %v: no drop can be reckoned", f.metric, f.now, f.base))
	case f.points < noneBelow-1e-7:
		return f.reason(audit.Pass, CodeDrop, fmt.Sprintf("%s %v, at the baseline %v: no drop", f.metric, f.now, f.base))
	case f.points > failAbove+1e-7 && f.items > itemsAbove+1e-7:
		return f.reason(audit.Fail, CodeDrop, text)
	case f.points > failAbove+1e-7:
		return f.reason(audit.Warn, CodeDrop, text+", which is no more than one item")
	}
	return f.reason(audit.Warn, CodeDrop, text)
}

// gated turns what the gate says of one part into a reason.
func (f drop) gated(part *stat.Part, rules Rules) Reason {
	if part == nil {
		return f.unsettled(rules, nil, "the gate did not see this project")
	}
	switch decision := part.Decision; {
	case decision == stat.Drop:
		return f.reason(audit.Fail, CodeDrop, fmt.Sprintf("%s %v, at the baseline %v: a drop of %.1f points (errors a trial %.1f, and were %.1f) that chance does not explain (p %.2g, needed %.2g)",
			f.metric, f.now, f.base, part.Drop, part.Errors[1], part.Errors[0], part.P, part.Alpha))
	case decision == stat.NoDrop, f.points < noneBelow-1e-7 && !errorsRise(part):
		if f.points > failAbove+1e-7 && f.items > itemsAbove+1e-7 {
			return f.reason(audit.Warn, CodeUnsettled, fmt.Sprintf("%s %v, at the baseline %v: a drop of %.1f points that %d entries cannot tell from chance", f.metric, f.now, f.base, f.points, part.Items))
		}
		text := fmt.Sprintf("%s %v, at the baseline %v: no drop that chance does not explain", f.metric, f.now, f.base)
		if part.Upper < 10 {
			text = fmt.Sprintf("%s %v, at the baseline %v: no drop of 10 points", f.metric, f.now, f.base)
		}
		return f.reason(audit.Pass, CodeDrop, text)
	}
	return f.unsettled(rules, part, whatSettles(part))
}

// errorsRise reports whether errors rose by half or more, and by more than one:
// near the ceiling that matters, however few points it is.
func errorsRise(part *stat.Part) bool {
	return part.Errors[1]-part.Errors[0] > itemsAbove+1e-7 && part.Errors[1] >= 1.5*part.Errors[0]-1e-7
}

// whatSettles says which trials would settle a part.
func whatSettles(part *stat.Part) string {
	switch more := part.More; {
	case !part.Gates:
		return "a second trial lets this project decide alone"
	case part.Beside:
		return fmt.Sprintf("%d trials of both sides beside each other settle it (-beside)", more.Now)
	case more.Baseline > 0:
		return fmt.Sprintf("%d more trials, and %d more of the baseline, settle it or bring the next look", more.Now, more.Baseline)
	case more.Now > 0:
		return fmt.Sprintf("%d more trials settle it or bring the next look", more.Now)
	}
	return "the last look has been taken"
}

func (f drop) shown(rules Rules) Reason {
	if !f.base.Defined || !f.now.Defined || f.points <= failAbove+1e-7 {
		return f.reason(audit.Pass, CodeDrop, fmt.Sprintf("%s %v, at the baseline %v", f.metric, f.now, f.base))
	}
	g := f.unsettled(rules, nil, "drops in a stochastic auditor's precision are shown and not settled")
	g.Verdict = audit.Warn
	return g
}

func (f drop) unsettled(rules Rules, part *stat.Part, why string) Reason {
	v := audit.Warn
	if rules.Strict {
		v = audit.Fail
	}
	g := f.reason(v, CodeUnsettled, fmt.Sprintf("%s %v, at the baseline %v: a drop of %.1f points, not settled: %s",
		f.metric, f.now, f.base, f.points, why))
	if part != nil {
		g.More, g.MoreBaseline, g.Beside = part.More.Now, part.More.Baseline, part.Beside
	}
	return g
}

// poolReason says what the gate settled over all projects.
func poolReason(part *stat.Part, rules Rules) Reason {
	f := drop{metric: MetricRecall, points: part.Drop}
	g := f.gated(part, rules)
	g.About = part.Name
	switch {
	case part.Decision == stat.Drop:
		g.Text = fmt.Sprintf("recall over all projects dropped by %.1f points, which chance does not explain (p %.2g, needed %.2g)", part.Drop, part.P, part.Alpha)
	case g.Verdict == audit.Pass:
		g.Text = "recall over all projects: no drop that chance does not explain"
	default:
		g.Text = fmt.Sprintf("recall over all projects dropped by %.1f points, not settled: %s", part.Drop, whatSettles(part))
	}
	return g
}
