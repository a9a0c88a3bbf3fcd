package report

import (
	"fmt"
	"math"
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

type series struct {
	Name   string
	Points []point
}

type point struct {
	At time.Time
	Y  float64
}

const seriesClasses = 6

// lineChart draws shares over time; nil where no series has two points.
func lineChart(title string, lines []series, goal score.Value) *chart {
	var first, last time.Time
	long := false
	for _, l := range lines {
		long = long || len(l.Points) > 1
		for _, p := range l.Points {
			if first.IsZero() || p.At.Before(first) {
				first = p.At
			}
			if p.At.After(last) {
				last = p.At
			}
		}
	}
	if !long {
		return nil
	}
	c := &chart{Title: title, Width: 760, Left: 48, Right: 740, Top: 16, Bottom: 216}
	y := func(v float64) float64 { return c.Bottom - v*(c.Bottom-c.Top) }
	span := math.Max(1, last.Sub(first).Seconds())
	x := func(t time.Time) float64 { return c.Left + 10 + t.Sub(first).Seconds()/span*(c.Right-c.Left-20) }
	for _, v := range []float64{0, 0.25, 0.5, 0.75, 1} {
		c.Ticks = append(c.Ticks, tick{y(v), fmt.Sprintf("%.0f %%", 100*v)})
	}
	c.XTicks = []tick{{c.Left, first.UTC().Format(time.DateOnly)}, {c.Right - 62, last.UTC().Format(time.DateOnly)}}
	at := c.Bottom + 42
	for i, l := range lines {
		class := fmt.Sprintf("s%d", i%seriesClasses)
		var pts []string
		for _, p := range l.Points {
			pts = append(pts, fmt.Sprintf("%.1f,%.1f", x(p.At), y(p.Y)))
			c.Dots = append(c.Dots, dot{X: x(p.At), Y: y(p.Y), Class: class, Text: fmt.Sprintf("%s, %s: %v", l.Name, p.At.UTC().Format("2006-01-02 15:04"), score.Of(p.Y))})
		}
		c.Lines = append(c.Lines, drawn{class, strings.Join(pts, " ")})
		c.Legend = append(c.Legend, legend{c.Left + float64(i%3)*235, at + float64(i/3)*20, class, clip(l.Name, 30)})
	}
	c.Height = at + float64((len(lines)-1)/3)*20 + 14
	if goal.Defined {
		c.Goal, c.HasGoal = y(goal.V), true
	}
	return c
}

// A named estimate.
type measured struct {
	Name string
	E    score.Estimate
}

// barChart draws estimates with their intervals, one a line.
func barChart(title string, ms []measured) *chart {
	c := &chart{Title: title, Width: 760, Left: 230, Right: 730, Top: 10}
	x := func(v float64) float64 { return c.Left + v*(c.Right-c.Left) }
	for i, m := range ms {
		if !m.E.Value.Defined {
			continue
		}
		c.Bars = append(c.Bars, bar{Y: c.Top + 16 + float64(i)*26, X: x(m.E.Value.V), Lo: x(m.E.Low.V), Hi: x(m.E.High.V), Name: clip(m.Name, 30), Text: m.Name + ": " + m.E.String()})
	}
	c.Bottom = c.Top + float64(len(ms))*26 + 8
	for _, v := range []float64{0, 0.25, 0.5, 0.75, 1} {
		c.Ticks = append(c.Ticks, tick{x(v), fmt.Sprintf("%.0f %%", 100*v)})
	}
	c.Height = c.Bottom + 24
	return c
}

// A spent is an estimate with what it cost.
type spent struct {
	measured
	USD float64 // for a thousand answers
}

// costChart draws accuracy against cost on a logarithmic axis; nil where fewer
// than two have a price.
func costChart(title string, ss []spent) *chart {
	lo, hi, n := math.Inf(1), 0.0, 0
	for _, s := range ss {
		if s.USD > 0 && s.E.Value.Defined {
			lo, hi, n = math.Min(lo, s.USD), math.Max(hi, s.USD), n+1
		}
	}
	if n < 2 {
		return nil
	}
	c := &chart{Title: title, Width: 760, Height: 330, Left: 48, Right: 730, Top: 16, Bottom: 276, XTitle: "USD for a thousand answers"}
	first, last := math.Floor(math.Log10(lo)), math.Ceil(math.Log10(hi*1.0001))
	x := func(v float64) float64 {
		return c.Left + 12 + (math.Log10(v)-first)/math.Max(1, last-first)*(c.Right-c.Left-24)
	}
	y := func(v float64) float64 { return c.Bottom - v*(c.Bottom-c.Top) }
	for _, v := range []float64{0, 0.25, 0.5, 0.75, 1} {
		c.Ticks = append(c.Ticks, tick{y(v), fmt.Sprintf("%.0f %%", 100*v)})
	}
	for e := first; e <= last; e++ {
		c.XTicks = append(c.XTicks, tick{x(math.Pow(10, e)), fmt.Sprintf("%g", math.Pow(10, e))})
	}
	for i, s := range ss {
		if s.USD > 0 && s.E.Value.Defined {
			c.Dots = append(c.Dots, dot{X: x(s.USD), Y: y(s.E.Value.V), Lo: y(s.E.Low.V), Hi: y(s.E.High.V), Class: fmt.Sprintf("s%d", i%seriesClasses),
				Text: fmt.Sprintf("%s: %s at %.2f USD", s.Name, s.E, s.USD)})
			c.Legend = append(c.Legend, legend{math.Min(x(s.USD)+8, c.Right-120), y(s.E.Value.V) - 6, "", clip(s.Name, 22)})
		}
	}
	return c
}
