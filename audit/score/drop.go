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
	recall := dropOf(MetricRecall, d.fBase.recall, d.fNow.recall, float64(len(d.now[0].Known)))
	precision := dropOf(MetricPrecision, d.fBase.precision.Low, d.fNow.precision.Low, d.fNow.counted.V)
	if d.deterministic {
		return []Reason{recall.literal(), precision.literal()}
	}
	return []Reason{recall.gated(part, rules), precision.shown()}
}

type drop struct {
	metric    string
	base, now Value
	points    float64 // baseline minus now
	items     float64 // entries or findings
}

func dropOf(metric string, base, now Value, n float64) drop {
	f := drop{metric: metric, base: base, now: now}
	if base.Defined && now.Defined {
		f.points, f.items = 100*(base.V-now.V), (base.V-now.V)*n
	}
	return f
}

// reason tells both figures, and what follows of them.
func (f drop) reason(v audit.Verdict, code Code, format string, args ...any) Reason {
	return Reason{Code: code, Verdict: v, Metric: f.metric, Now: f.now, Baseline: f.base,
		Text: fmt.Sprintf("%s %v, at the baseline %v", f.metric, f.now, f.base) + fmt.Sprintf(format, args...)}
}

func (f drop) none() bool { return f.points < noneBelow-1e-7 }

func (f drop) large() bool { return f.points > failAbove+1e-7 }

func (f drop) several() bool { return f.items > itemsAbove+1e-7 }

func (f drop) literal() Reason {
	switch {
	case !f.base.Defined || !f.now.Defined:
		return f.reason(audit.Pass, CodeDrop, ": no drop can be reckoned")
	case f.none():
		return f.reason(audit.Pass, CodeDrop, ": no drop")
	case f.large() && f.several():
		return f.reason(audit.Fail, CodeDrop, ": a drop of %.1f points", f.points)
	case f.large():
		return f.reason(audit.Warn, CodeDrop, ": a drop of %.1f points, which is no more than one item", f.points)
	}
	return f.reason(audit.Warn, CodeDrop, ": a drop of %.1f points", f.points)
}

func (f drop) gated(part *stat.Part, rules Rules) Reason {
	if part == nil {
		return f.unsettled(rules, nil, "the gate did not see this project")
	}
	switch {
	case part.Decision == stat.Drop:
		return f.reason(audit.Fail, CodeDrop, ": a drop of %.1f points (errors a trial %.1f, and were %.1f) that chance does not explain (p %.2g, needed %.2g)",
			part.Drop, part.Errors[1], part.Errors[0], part.P, part.Alpha)
	case part.Decision != stat.NoDrop && !(f.none() && !part.ErrorsRise()):
		return f.unsettled(rules, part, f.whatSettles(part))
	case f.large() && f.several():
		return f.reason(audit.Warn, CodeUnsettled, ": a drop of %.1f points that %d entries cannot tell from chance", f.points, part.Items)
	case part.Upper < 10:
		return f.reason(audit.Pass, CodeDrop, ": no drop of 10 points")
	}
	return f.reason(audit.Pass, CodeDrop, ": no drop that chance does not explain")
}

func (f drop) whatSettles(part *stat.Part) string {
	switch more := part.More; {
	case !part.Gates:
		return "a second trial lets this project decide alone"
	case part.Beside && f.metric == MetricBalanced: // Bench, which asks by name whoever is compared
		return fmt.Sprintf("a day between them may explain it: ask both sides in one run, %d trials each (-prompt OLD,NEW or -model OLD,NEW), and hold them by assay compare", more.Now)
	case part.Beside:
		return fmt.Sprintf("%d trials of both sides beside each other settle it (-beside)", more.Now)
	case more.Baseline > 0:
		return fmt.Sprintf("%d more trials, and %d more of the baseline, settle it or bring the next look", more.Now, more.Baseline)
	case more.Now > 0:
		return fmt.Sprintf("%d more trials settle it or bring the next look", more.Now)
	}
	return "the last look has been taken"
}

func (f drop) shown() Reason {
	if !f.base.Defined || !f.now.Defined || !f.large() {
		return f.reason(audit.Pass, CodeDrop, "")
	}
	return f.unsettled(Rules{}, nil, "drops in a stochastic auditor's precision are shown and not settled")
}

// part may be nil.
func (f drop) unsettled(rules Rules, part *stat.Part, why string) Reason {
	g := f.reason(rules.open(), CodeUnsettled, ": a drop of %.1f points, not settled: %s", f.points, why)
	if part != nil {
		g.More, g.MoreBaseline, g.Beside = part.More.Now, part.More.Baseline, part.Beside
	}
	return g
}

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
		g.Text = fmt.Sprintf("recall over all projects dropped by %.1f points, not settled: %s", part.Drop, f.whatSettles(part))
	}
	return g
}
