package report

import (
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"assay/audit/score"
)

// A chart is shares with their intervals, as a page's script draws them.
type chart struct {
	Title  string   `json:"title"`
	Across string   `json:"across"` // what a point's X is: time or cost; empty: each series is a line
	Series []Series `json:"series"`
	Goal   float64  `json:"goal"` // a share that means something
	Mark   string   `json:"mark"` // what it means; empty: there is none
}

// A Series is a figure of somebody, over time the oldest first.
type Series struct {
	Name   string  `json:"name"`
	Points []point `json:"points"`
}

type point struct {
	X float64 // milliseconds since 1970, or USD
	E score.Estimate
}

func millis(t time.Time) float64 { return float64(t.UnixMilli()) }

func (p point) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"x": p.X, "at": p.E.Value.V, "low": p.E.Low.V, "high": p.E.High.V, "text": p.E.String()})
}

// lineChart shows shares over time; nil where no series has two points.
func lineChart(title string, lines []Series, goal score.Value) *chart {
	if !slices.ContainsFunc(lines, func(l Series) bool { return len(l.Points) > 1 }) {
		return nil
	}
	c := &chart{Title: title, Across: "time"}
	for _, l := range lines {
		c.add(l.Name, l.Points...)
	}
	if goal.Defined {
		c.Goal, c.Mark = goal.V, "goal"
	}
	return c
}

func (c *chart) add(name string, ps ...point) {
	c.Series = append(c.Series, Series{clip(name, shortMost), append([]point{}, ps...)})
}

// barChart shows a figure of reviewers, one a line, and marks a share that means
// something (none: empty). nil where it is defined of nobody.
func barChart(title string, ls []variantLine, of func(*score.Bench) score.Estimate, mark string, at float64) *chart {
	c := &chart{Title: title, Mark: mark, Goal: at}
	for _, l := range ls {
		if e := of(l.Bench); e.Value.Defined {
			c.add(l.Short, point{E: e})
		}
	}
	if len(c.Series) == 0 {
		return nil
	}
	return c
}

// costChart shows accuracy against cost; nil where fewer than two have a price.
func costChart(ls []variantLine) *chart {
	c := &chart{Title: "Balanced accuracy against cost", Across: "cost"}
	for _, l := range ls {
		if l.usd > 0 && l.Bench.BalancedAccuracy.Value.Defined {
			c.add(l.Short, point{l.usd, l.Bench.BalancedAccuracy})
		}
	}
	if len(c.Series) < 2 {
		return nil
	}
	return c
}

// spark draws shares in the order of their records, from 0 to 1, the newest marked.
func spark(ps []point) template.HTML {
	const most, wide, high = 20, 96.0, 22.0
	ps = ps[max(0, len(ps)-most):]
	if len(ps) < 2 {
		return ""
	}
	var at []string
	var x, y float64
	for i, p := range ps {
		x, y = 3+float64(i)/float64(len(ps)-1)*(wide-6), high-3-p.E.Value.V*(high-6)
		at = append(at, fmt.Sprintf("%.1f,%.1f", x, y))
	}
	return template.HTML(fmt.Sprintf(`<svg class="spark" viewBox="0 0 %g %g" role="img" aria-label="%s to %s over %d records"><polyline points="%s"/><circle cx="%.1f" cy="%.1f" r="2.5"/></svg>`,
		wide, high, ps[0].E.Value, ps[len(ps)-1].E.Value, len(ps), strings.Join(at, " "), x, y))
}
