package score

import (
	"fmt"
	"math"

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
	precision := d.drop(MetricPrecision, d.fBase.false0.Low, d.fNow.false0.Low, d.fNow.counted.V)
	if d.deterministic {
		return []Reason{recall.literal(), precision.literal()}
	}
	return []Reason{recall.gated(part, len(d.now), rules), precision.shown(rules)}
}

// A fall is a drop with what it weighs.
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

// gated turns what the gate settled into a reason. It asks for the trials that
// the gate's next look needs on this side; what the baseline lacks stands in the
// text.
func (f drop) gated(part *stat.Part, trials int, rules Rules) Reason {
	switch {
	case part == nil:
		return f.unsettled(rules, 0, "the gate did not see this project")
	case part.Decision == stat.Drop:
		return f.reason(audit.Fail, CodeDrop, fmt.Sprintf(
			"%s %v, at the baseline %v: a drop of %.1f points that chance does not explain (p %.2g, needed %.2g)",
			f.metric, f.now, f.base, part.Drop, part.P, part.Alpha))
	case part.Decision == stat.NoDrop, f.points < noneBelow-1e-7:
		return f.reason(audit.Pass, CodeDrop, fmt.Sprintf("%s %v, at the baseline %v: no drop that can be told from chance", f.metric, f.now, f.base))
	case !part.Gates:
		return f.unsettled(rules, 0, fmt.Sprintf("%d entries are too few to settle a drop alone; all projects together can", part.Items))
	case part.More.Baseline > 0:
		return f.unsettled(rules, part.More.Now, fmt.Sprintf("%d more trials, and %d more of the baseline, bring the next look", part.More.Now, part.More.Baseline))
	case part.More.Now > 0:
		return f.unsettled(rules, part.More.Now, fmt.Sprintf("%d more trials bring the next look", part.More.Now))
	}
	return f.unsettled(rules, 0, "the last look has been taken")
}

func (f drop) shown(rules Rules) Reason {
	if !f.base.Defined || !f.now.Defined || f.points <= failAbove+1e-7 {
		return f.reason(audit.Pass, CodeDrop, fmt.Sprintf("%s %v, at the baseline %v", f.metric, f.now, f.base))
	}
	g := f.unsettled(rules, 0, "drops in a stochastic auditor's precision are shown and not settled")
	g.Verdict = audit.Warn
	return g
}

func (f drop) unsettled(rules Rules, more int, why string) Reason {
	v := audit.Warn
	if rules.Strict {
		v = audit.Fail
	}
	g := f.reason(v, CodeUnsettled, fmt.Sprintf("%s %v, at the baseline %v: a drop of %.1f points, not settled: %s",
		f.metric, f.now, f.base, f.points, why))
	g.More = more
	return g
}

// poolReason says what the gate settled over all projects.
func poolReason(part *stat.Part, rules Rules) Reason {
	f := drop{metric: MetricRecall, points: part.Drop}
	g := Reason{Code: CodeDrop, Verdict: audit.Pass, Metric: MetricRecall, About: part.Name}
	switch {
	case part.Decision == stat.Drop:
		g.Verdict = audit.Fail
		g.Text = fmt.Sprintf("recall over all projects dropped by %.1f points, which chance does not explain (p %.2g, needed %.2g)", part.Drop, part.P, part.Alpha)
	case part.Decision == stat.NoDrop || math.IsNaN(part.Drop) || part.Drop < noneBelow:
		g.Text = "recall over all projects: no drop that can be told from chance"
	default:
		u := f.unsettled(rules, part.More.Now, "")
		g.Code, g.Verdict, g.More = u.Code, u.Verdict, u.More
		g.Text = fmt.Sprintf("recall over all projects dropped by %.1f points, not settled", part.Drop)
		if part.More.Now > 0 || part.More.Baseline > 0 {
			g.Text += fmt.Sprintf(": %d more trials, %d more of the baseline", part.More.Now, part.More.Baseline)
		}
	}
	return g
}
