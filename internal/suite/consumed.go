package suite

import (
	"fmt"
	"strings"
	"time"

	"assay/audit"
	"assay/internal/record"
)

// A consumed is what live trials took: all of them together, then each.
type consumed struct {
	trials []record.Trial
	usage  *audit.Usage // of a reviewer's answers, in place of trials; nil where nobody was paid
}

var consumedHeads = []string{"cost", "tokens", "turns", "time"}

// cells gives them for all trials together; a dash where nobody says.
func (c consumed) cells() []string {
	if len(c.trials) == 0 && c.usage == nil {
		return []string{"", "", "", ""}
	}
	if c.usage != nil {
		return append(cellsOf(*c.usage, 0)[:3], "")
	}
	sum, wall := audit.Usage{Priced: true}, 0.0
	for _, t := range c.trials {
		sum, wall = sum.Add(t.Usage), wall+t.Seconds
	}
	return cellsOf(sum, wall)
}

func cellsOf(u audit.Usage, seconds float64) []string {
	cells := []string{"-", "-", "-", span(time.Duration(seconds * float64(time.Second)))}
	switch {
	case u.Priced:
		cells[0] = fmt.Sprintf("$%.2f", u.USD)
	case u.USD > 0:
		cells[0] = fmt.Sprintf("at least $%.2f", u.USD)
	}
	if n := u.TokensIn + u.TokensOut; n > 0 {
		cells[1] = short(n)
	}
	if u.Turns > 0 {
		cells[2] = fmt.Sprint(u.Turns)
	}
	return cells
}

// span writes a time as exactly as its length wants: 1h19m, 12m3s, 4.2s.
func span(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	case d >= time.Minute:
		return d.Round(time.Second).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// short writes a count with three digits at most: 950, 41K, 1.2M.
func short(n int64) string {
	switch {
	case n >= 9_950_000:
		return fmt.Sprintf("%.0fM", float64(n)/1e6)
	case n >= 995_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.0fK", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

func (c consumed) lines() []string {
	if len(c.trials) == 0 {
		return nil
	}
	head := "1 trial"
	if n := len(c.trials); n > 1 {
		head = fmt.Sprintf("%d trials", n)
	}
	out := []string{head + ": " + sentence(c.cells())}
	for i, t := range c.trials {
		if len(c.trials) > 1 {
			out = append(out, fmt.Sprintf("trial %d: %s", i+1, sentence(cellsOf(t.Usage, t.Seconds))))
		}
	}
	return out
}

func sentence(cells []string) string {
	var parts []string
	for i, unit := range []string{"", " tokens", " turns", ""} {
		if cells[i] != "-" {
			parts = append(parts, cells[i]+unit)
		}
	}
	return strings.Join(parts, ", ")
}
