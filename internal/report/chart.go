package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"assay/audit/score"
)

// A chart is an SVG's geometry: figures turned into places, and their labels.
// Shares run from 0 to 1 on its axes.
type chart struct {
	Title         string
	Width, Height float64
	Ticks         []tick // of the vertical axis, or of the horizontal for bars
	Lines         []drawn
	Dots          []dot
	Bars          []bar
	Goal          float64 // y of the goal line, x for bars; NaN without one
	HasGoal       bool
	Mark          string // what the goal line of bars is
	Legend        []legend
	Left, Right   float64
	Top, Bottom   float64
	XTicks        []tick
	XTitle        string
}

type tick struct {
	At   float64
	Text string
}

type drawn struct {
	Class, Points string
}

type dot struct {
	X, Y   float64
	Class  string
	Text   string // of its title
	Lo, Hi float64
}

type bar struct {
	Y, Lo, Hi, X float64
	Name, Text   string
}

type legend struct {
	X, Y        float64
	Class, Text string
}

// A Series is a figure over time, oldest first.
type Series struct {
	Name   string
	Points []point
}

type point struct {
	At time.Time
	E  score.Estimate
}

const (
	seriesClasses = 6
	labelsMost    = 20  // dots of a chart that are named in it, to the right of its axes; each dot's title names it
	letter        = 6.6 // width of a letter at 12 px, about
)

// scale maps from..to to the places a..b of an axis.
func scale(from, to, a, b float64) func(float64) float64 {
	return func(v float64) float64 { return a + (v-from)/(to-from)*(b-a) }
}

// estimated is a dot for a share, with its interval.
func estimated(x float64, e score.Estimate, y func(float64) float64, text string) dot {
	return dot{X: x, Y: y(e.Value.V), Lo: y(e.Low.V), Hi: y(e.High.V), Text: text}
}

// lineChart draws shares over time with their intervals; nil where no series has two
// points.
func lineChart(title string, lines []Series, goal score.Value) *chart {
	if !slices.ContainsFunc(lines, func(l Series) bool { return len(l.Points) > 1 }) {
		return nil
	}
	var times []time.Time
	for _, l := range lines {
		for _, p := range l.Points {
			times = append(times, p.At)
		}
	}
	first, last := slices.MinFunc(times, time.Time.Compare), slices.MaxFunc(times, time.Time.Compare)
	c := &chart{Title: title, Width: 760, Left: 48, Right: 706, Top: 16, Bottom: 216}
	y := scale(0, 1, c.Bottom, c.Top)
	seconds := scale(0, math.Max(1, last.Sub(first).Seconds()), c.Left+10, c.Right-10)
	x := func(t time.Time) float64 { return seconds(t.Sub(first).Seconds()) }
	c.Ticks = ticks(0, y)
	c.XTicks = timeTicks(first, last, x)
	for i, l := range lines {
		var dots []dot
		for _, p := range l.Points {
			dots = append(dots, estimated(x(p.At), p.E, y, fmt.Sprintf("%s, %s: %s", l.Name, p.At.UTC().Format("2006-01-02 15:04"), p.E)))
		}
		c.series(i, l.Name, dots)
	}
	if goal.Defined {
		c.Goal, c.HasGoal = y(goal.V), true
	}
	return c
}

func class(i int) string { return fmt.Sprintf("s%d", i%seriesClasses) }

// series joins dots in the i-th colour; its name is the i-th below the chart, three a line.
func (c *chart) series(i int, name string, dots []dot) {
	var points []string
	for _, d := range dots {
		d.Class = class(i)
		points = append(points, fmt.Sprintf("%.1f,%.1f", d.X, d.Y))
		c.Dots = append(c.Dots, d)
	}
	c.Lines = append(c.Lines, drawn{class(i), strings.Join(points, " ")})
	y := c.Bottom + 42 + float64(i/3)*20
	c.Legend = append(c.Legend, legend{X: c.Left + float64(i%3)*235, Y: y, Class: class(i), Text: clip(name, 30)})
	c.Height = y + 14
}

// timeTicks gives round times between two, six at most; where hardly any is round,
// the two themselves.
func timeTicks(first, last time.Time, x func(time.Time) float64) (ts []tick) {
	const day = 24 * time.Hour
	for _, step := range []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, day, 2 * day, 7 * day, 14 * day, 30 * day, 91 * day, 365 * day, 3650 * day} {
		if last.Sub(first)/step >= 6 {
			continue
		}
		layout := "15:04"
		if step >= day {
			layout = time.DateOnly
		}
		for t := first.UTC().Truncate(step); !t.After(last); t = t.Add(step) {
			if !t.Before(first) {
				ts = append(ts, tick{x(t), t.Format(layout)})
			}
		}
		break
	}
	if len(ts) < 2 {
		ts = []tick{{x(first), first.UTC().Format("2006-01-02 15:04")}, {x(last), last.UTC().Format("2006-01-02 15:04")}}
	}
	return ts
}

type measured struct {
	Name string
	E    score.Estimate
}

// barChart draws estimates with their intervals, one a line, and a mark at a share
// that means something (none: empty). nil where nothing is defined.
func barChart(title string, ms []measured, mark string, at float64) *chart {
	c := &chart{Title: title, Width: 560, Left: 230, Right: 530, Top: 10, Mark: mark}
	ms = slices.DeleteFunc(slices.Clone(ms), func(m measured) bool { return !m.E.Value.Defined })
	if len(ms) == 0 {
		return nil
	}
	floor := floorOf(ms)
	x := scale(floor, 1, c.Left, c.Right)
	for i, m := range ms {
		c.Bars = append(c.Bars, bar{Y: c.Top + 16 + float64(i)*26, X: x(m.E.Value.V), Lo: x(m.E.Low.V), Hi: x(m.E.High.V), Name: clip(m.Name, 24), Text: m.Name + ": " + m.E.String()})
	}
	c.Bottom = c.Top + float64(len(ms))*26 + 8
	c.Ticks = ticks(floor, x)
	if c.Height = c.Bottom + 24; mark != "" && at >= floor {
		c.Goal, c.HasGoal = x(at), true
		c.Height += 16
	}
	return c
}

// floorOf gives where an axis of shares begins: below every interval, in tenths,
// so that reviewers who are all good are still told apart.
func floorOf(ms []measured) float64 {
	low := 1.0
	for _, m := range ms {
		low = min(low, m.E.Low.V)
	}
	return min(0.9, max(0, math.Floor(low*10-1e-9)/10))
}

// ticks gives those of an axis of shares from floor to 1: five to eight.
func ticks(floor float64, at func(float64) float64) []tick {
	var ts []tick
	step := 20
	switch {
	case floor > 0.85:
		step = 2
	case floor > 0.75:
		step = 5
	case floor > 0.45:
		step = 10
	}
	for v := 100; v >= int(math.Round(100*floor)); v -= step {
		ts = append(ts, tick{at(float64(v) / 100), fmt.Sprintf("%d %%", v)})
	}
	return ts
}

// costChart draws accuracy against cost on a logarithmic axis; nil where fewer
// than two have a price.
func costChart(ls []variantLine) *chart {
	var usd []float64
	var ms []measured
	priced := func(l variantLine) bool { return l.usd > 0 && l.Bench.BalancedAccuracy.Value.Defined }
	for _, l := range ls {
		if priced(l) {
			usd = append(usd, l.usd)
			ms = append(ms, measured{l.Short, l.Bench.BalancedAccuracy})
		}
	}
	if len(ms) < 2 {
		return nil
	}
	c := &chart{Title: "Balanced accuracy against cost", Width: 760, Height: 330, Left: 48, Right: 590, Top: 16, Bottom: 276, XTitle: "USD for a thousand answers"}
	first, last := math.Floor(math.Log10(slices.Min(usd))), math.Ceil(math.Log10(slices.Max(usd)*1.0001))
	floor := floorOf(ms)
	power := scale(first, max(last, first+1), c.Left+12, c.Right-12)
	x := func(v float64) float64 { return power(math.Log10(v)) }
	y := scale(floor, 1, c.Bottom, c.Top)
	c.Ticks = ticks(floor, y)
	for e := first; e <= last; e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); e < last || m == 1 {
				c.XTicks = append(c.XTicks, tick{x(v), fmt.Sprintf("%.2g", v)})
			}
		}
	}
	for i, l := range ls {
		if priced(l) {
			e := l.Bench.BalancedAccuracy
			d := estimated(x(l.usd), e, y, fmt.Sprintf("%s: %s at %.2f USD", l.Short, e, l.usd))
			d.Class = class(i)
			c.Dots = append(c.Dots, d)
			if len(c.Legend) < labelsMost {
				c.label(x(l.usd), y(e.Value.V), clip(l.Short, 26))
			}
		}
	}
	return c
}

// label writes a name to the right of a dot, lower where another name stands already.
func (c *chart) label(x, y float64, name string) {
	const high = 14.0 // of a letter at 12 px, about
	l := legend{X: x + 8, Y: y - 8, Text: name}
	overlaps := func(o legend) bool {
		return l.X < o.X+letter*float64(len(o.Text)) && o.X < l.X+letter*float64(len(name)) && math.Abs(o.Y-l.Y) < high
	}
	for slices.ContainsFunc(c.Legend, overlaps) {
		l.Y += high / 2
	}
	c.Legend = append(c.Legend, l)
	c.Height = max(c.Height, l.Y+10)
}
