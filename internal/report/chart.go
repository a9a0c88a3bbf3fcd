package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"assay/audit/score"
)

// A chart is the geometry of an SVG: dots with their intervals, lines that join dots, axes
// and labels, in the coordinates of its viewBox.
type chart struct {
	Title, XTitle string
	Width, Height float64
	Left, Right   float64 // of the area within the axes
	Top, Bottom   float64
	XTicks        []tick
	YTicks        []tick
	Lines         []drawn
	Dots          []dot
	Labels        []label
	Goal          float64 // y of the goal line
	HasGoal       bool
}

type tick struct {
	At   float64
	Text string
}

type drawn struct{ Class, Points string }

type dot struct {
	X, Y, Lo, Hi float64
	Class, Text  string
	Union        bool // drawn hollow
}

type label struct {
	X, Y        float64
	Class, Text string
	End         bool // Text ends at X
}

// A spot is a figure to be drawn at x, with its interval where it has one.
type spot struct {
	Name, Class string
	X           float64
	E           score.Estimate
	Text        string // of its title
	Union       bool   // of several trials, joined to the spot before it
	Quiet       bool   // labelled only where there is room
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

const letter = 6.3 // width of a letter at 12 px, about

// An axis maps figures to places of a chart.
type axis struct {
	from, to float64
	log      bool
	a, b     float64
}

func (x axis) at(v float64) float64 {
	from, to := x.from, x.to
	if x.log {
		v, from, to = math.Log10(v), math.Log10(from), math.Log10(to)
	}
	return x.a + (v-from)/(to-from)*(x.b-x.a)
}

// fit returns an axis from a to b that shows the values and little else, between the limits
// least and most, and its ticks: multiples of 1, 2 or 5 times a power of ten.
func fit(vs []float64, least, most, a, b float64, text func(float64) string) (axis, []tick) {
	low, high := slices.Min(vs), slices.Max(vs)
	if high-low < 1e-9*max(1, math.Abs(high)) {
		pad := cmp.Or(math.Abs(high)*0.1, 0.01)
		low, high = low-pad, high+pad
	}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/3)))
	for _, m := range []float64{5, 2} {
		if (high-low)/(step*m) >= 3 {
			step *= m
			break
		}
	}
	x := axis{from: max(least, step*math.Floor(low/step+1e-9)),
		to: min(most, step*math.Ceil(high/step-1e-9)), a: a, b: b}
	var ts []tick
	for i := math.Ceil(x.from/step - 1e-9); i*step <= x.to+step/1e6; i++ {
		ts = append(ts, tick{x.at(i * step), text(i * step)})
	}
	return x, ts
}

// fitLog is fit on a logarithmic scale.
func fitLog(vs []float64, a, b float64, text func(float64) string) (axis, []tick) {
	low, high := slices.Min(vs), slices.Max(vs)
	x := axis{from: low / 1.25, to: high * 1.25, log: true, a: a, b: b}
	wide := math.Log10(x.to / x.from)
	var ts []tick
	for e := math.Floor(math.Log10(x.from)); e <= math.Log10(x.to); e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); v >= x.from && v <= x.to && (m == 1 || wide < 2.5) {
				ts = append(ts, tick{x.at(v), text(v)})
			}
		}
	}
	return x, ts
}

func percent(v float64) string { return fmt.Sprintf("%g %%", math.Abs(math.Round(1000*v)/10)) }

func plain(v float64) string { return fmt.Sprintf("%.3g", v) }

// ends returns the figures of an estimate: its value and, where it has them, its bounds.
func ends(e score.Estimate) (vs []float64) {
	for _, v := range []score.Value{e.Value, e.Low, e.High} {
		if v.Defined {
			vs = append(vs, v.V)
		}
	}
	return vs
}

// scatter draws shares over a figure; nil where fewer than two spots can be drawn. The axis
// of figures above 0 that differ much is logarithmic.
func scatter(title, xTitle string, spots []spot, text func(float64) string) *chart {
	spots = slices.DeleteFunc(slices.Clone(spots),
		func(s spot) bool { return !s.E.Value.Defined || !(s.X > 0 && s.X < score.BeyondAll) })
	if len(spots) < 2 {
		return nil
	}
	c := &chart{Title: title, XTitle: xTitle, Width: 760, Height: 400, Left: 52, Right: 740,
		Top: 16, Bottom: 346}
	var xs, ys []float64
	for _, s := range spots {
		xs = append(xs, s.X)
		if s.Quiet { // its interval may leave the chart
			ys = append(ys, s.E.Value.V)
		} else {
			ys = append(ys, ends(s.E)...)
		}
	}
	y, yTicks := fit(ys, 0, 1, c.Bottom, c.Top, percent)
	var x axis
	if slices.Max(xs) > 4*slices.Min(xs) {
		x, c.XTicks = fitLog(xs, c.Left+10, c.Right-10, text)
	} else {
		x, c.XTicks = fit(xs, 0, math.Inf(1), c.Left+10, c.Right-10, text)
	}
	for i := range c.XTicks {
		c.XTicks[i].Text = strings.TrimSuffix(c.XTicks[i].Text, ".00")
	}
	c.YTicks = yTicks
	for i, s := range spots {
		d := dot{X: x.at(s.X), Y: y.at(s.E.Value.V), Class: s.Class, Text: s.Text, Union: s.Union}
		if s.E.Low.Defined && !s.Quiet {
			d.Lo, d.Hi = y.at(s.E.Low.V), y.at(s.E.High.V)
		}
		if s.Union && i > 0 {
			c.Lines = append(c.Lines,
				drawn{s.Class, fmt.Sprintf("%.1f,%.1f %.1f,%.1f", c.Dots[i-1].X,
					c.Dots[i-1].Y, d.X, d.Y)})
		}
		c.Dots = append(c.Dots, d)
	}
	for _, quiet := range []bool{false, true} {
		for i, s := range spots {
			if s.Name != "" && s.Quiet == quiet {
				c.label(c.Dots[i], s.Name, quiet)
			}
		}
	}
	return c
}

// label writes a name beside a dot where it covers neither a label nor a dot. Where there
// is no such place it is left out if that is allowed, and else written all the same.
func (c *chart) label(d dot, name string, optional bool) {
	name = clip(name, 34)
	wide, high := letter*float64(len([]rune(name))), 13.0
	covers := func(l label) bool {
		from := l.X
		if l.End {
			from -= wide
		}
		if from < c.Left || from+wide > c.Right || l.Y < c.Top || l.Y > c.Bottom {
			return true
		}
		for _, o := range c.Labels {
			left, w := o.X, letter*float64(len([]rune(o.Text)))
			if o.End {
				left -= w
			}
			if from < left+w && left < from+wide && math.Abs(o.Y-l.Y) < high {
				return true
			}
		}
		return slices.ContainsFunc(c.Dots, func(o dot) bool {
			return o.X > from-5 && o.X < from+wide+5 && math.Abs(o.Y-l.Y) < high/2+4
		})
	}
	right := label{X: d.X + 9, Y: d.Y, Class: d.Class, Text: name}
	for _, by := range []float64{0, -11, 11, -22, 22} {
		for _, l := range []label{{d.X + 9, d.Y + by, d.Class, name, false},
			{d.X - 9, d.Y + by, d.Class, name, true}} {
			if !covers(l) {
				c.Labels = append(c.Labels, l)
				return
			}
		}
	}
	if !optional {
		c.Labels = append(c.Labels, right)
	}
}

// lineChart draws shares over time with their intervals, each series labelled at its newest
// point; nil where no series has two points. class names the colour of a series.
func lineChart(title string, lines []Series, goal score.Value, class func(string) string) *chart {
	if !slices.ContainsFunc(lines, func(l Series) bool { return len(l.Points) > 1 }) {
		return nil
	}
	var times []time.Time
	var ys []float64
	for _, l := range lines {
		for _, p := range l.Points {
			times, ys = append(times, p.At), append(ys, ends(p.E)...)
		}
	}
	if goal.Defined {
		ys = append(ys, goal.V)
	}
	first, last := slices.MinFunc(times, time.Time.Compare), slices.MaxFunc(times,
		time.Time.Compare)
	c := &chart{Title: title, Width: 760, Height: 260, Left: 52, Right: 740, Top: 16, Bottom: 226}
	y, yTicks := fit(ys, 0, 1, c.Bottom, c.Top, percent)
	seconds := axis{from: 0, to: max(1, last.Sub(first).Seconds()), a: c.Left + 10,
		b: c.Right - 190}
	x := func(t time.Time) float64 { return seconds.at(t.Sub(first).Seconds()) }
	c.YTicks, c.XTicks = yTicks, timeTicks(first, last, x)
	for _, l := range lines {
		var points []string
		for _, p := range l.Points {
			d := dot{X: x(p.At), Y: y.at(p.E.Value.V), Class: class(l.Name),
				Text: fmt.Sprintf("%s, %s: %s", l.Name, p.At.UTC().Format("2006-01-02 15:04"), p.E)}
			if p.E.Low.Defined {
				d.Lo, d.Hi = y.at(p.E.Low.V), y.at(p.E.High.V)
			}
			points = append(points, fmt.Sprintf("%.1f,%.1f", d.X, d.Y))
			c.Dots = append(c.Dots, d)
		}
		c.Lines = append(c.Lines, drawn{class(l.Name), strings.Join(points, " ")})
	}
	n := 0
	for _, l := range lines {
		if n += len(l.Points); len(l.Points) > 0 {
			c.label(c.Dots[n-1], l.Name, false)
		}
	}
	if goal.Defined {
		c.Goal, c.HasGoal = y.at(goal.V), true
	}
	return c
}

// timeTicks returns round times between two, six at most; where hardly any is round, the
// two themselves.
func timeTicks(first, last time.Time, x func(time.Time) float64) (ts []tick) {
	const day = 24 * time.Hour
	for _, step := range []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour,
		day, 2 * day, 7 * day, 14 * day, 30 * day, 91 * day, 365 * day, 3650 * day} {
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
		ts = []tick{{x(first), first.UTC().Format("2006-01-02 15:04")},
			{x(last), last.UTC().Format("2006-01-02 15:04")}}
	}
	return ts
}

// A strip is the axis that the interval pictures of a table share.
type strip struct {
	axis
	Ticks []tick
	Wide  float64
}

// A mark is the interval picture of one row.
type mark struct{ Lo, Hi, X float64 }

const stripWide = 240

// stripOf returns the axis that shows all estimates.
func stripOf(es []score.Estimate) *strip {
	var vs []float64
	for _, e := range es {
		vs = append(vs, ends(e)...)
	}
	if len(vs) == 0 {
		return nil
	}
	s := &strip{Wide: stripWide}
	s.axis, s.Ticks = fit(vs, 0, 1, 16, stripWide-16, percent)
	return s
}

// Mark returns the picture of an estimate; nil where it is undefined.
func (s *strip) Mark(e score.Estimate) *mark {
	if s == nil || !e.Value.Defined {
		return nil
	}
	m := &mark{X: s.at(e.Value.V)}
	m.Lo, m.Hi = m.X, m.X
	if e.Low.Defined {
		m.Lo, m.Hi = s.at(e.Low.V), s.at(e.High.V)
	}
	return m
}

const (
	colours    = 10 // classes of variants: v0 to v9
	noColour   = "vx"
	coloursAre = "v%d"
)

// paint gives each of the names, in their order, a colour of its own as long as there are any.
func paint(names []string) map[string]string {
	classes := map[string]string{}
	for _, n := range names {
		if _, ok := classes[n]; !ok && len(classes) < colours {
			classes[n] = fmt.Sprintf(coloursAre, len(classes))
		}
	}
	return classes
}

// Class returns the colour of a variant: grey if it is recorded, or is beyond the colours.
func (s *site) Class(name string) string { return cmp.Or(s.colours[name], noColour) }
