package report

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/score"
)

// A pointer is a line of the overview with the page where more stands: one sentence
// of its answer, or a thing to look at next.
type pointer struct {
	Badge string
	What  string
	Page  string
	Why   string
	n     int // by which things of a kind are sorted, most first
}

func (o *overview) short(badge, sentence string) {
	o.Short = append(o.Short, pointer{Badge: badge, What: sentence, Page: "bench.html"})
}

// benchShort says which reviewer comes first, against whom that is settled, what
// would settle the rest.
func (o *overview) benchShort(pairs []pairLine) {
	first := &o.Variants[0]
	if !first.Bench.BalancedAccuracy.Value.Defined {
		o.short("WARN", "No reviewer answered good and bad cases: nothing can be said of any.")
		return
	}
	lead := fmt.Sprintf("%s has a balanced accuracy of %s; guessing gives 50 %%.", first.Short, first.Bench.BalancedAccuracy)
	if len(o.Variants) == 1 {
		o.short("", lead)
		return
	}
	o.short("first", fmt.Sprintf("%s comes first: balanced accuracy %s; guessing gives 50 %%.", first.Short, first.Bench.BalancedAccuracy))
	var better, open []string
	for _, p := range pairs {
		if p.A.Short != first.Short || p.Made == nil {
			continue
		}
		d := fmt.Sprintf("%s (%+.1f points)", p.B.Short, p.Made.Diff.Center)
		if p.Standing == score.Better {
			better = append(better, d)
			continue
		}
		if n := need(p.Made.Need); n != "" {
			d = fmt.Sprintf("%s (%+.1f points, %s)", p.B.Short, p.Made.Diff.Center, n)
		}
		open = append(open, d)
	}
	if len(better) > 0 {
		o.short("better", "It is better than "+few(better)+": settled.")
	}
	if len(open) > 0 {
		o.short("not settled", "Whether it is better than "+few(open)+" is not settled.")
	}
}

func few(names []string) string {
	const most = 5
	if n := len(names) - most; n > 1 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ")
}

// How many of each kind of thing the overview names.
const (
	lookProjects  = 4
	lookCases     = 5
	lookReviewers = 4
)

func (o *overview) lookAtProject(p *projectPage) {
	if p.Unfound == 0 || p.Rows[0].Record.Suite != "Regression" {
		return
	}
	o.unfound = append(o.unfound, pointer{"missed", p.Name, p.Rows[0].Project + "#known?found=by+nobody", fmt.Sprintf("%d of %d known vulnerabilities were found by no auditor", p.Unfound, len(p.Known.Rows)), p.Unfound})
	slices.SortStableFunc(o.unfound, func(a, b pointer) int { return cmp.Compare(b.n, a.n) })
}

// lookAtCases names the cases that the best reviewers missed, with what the best of
// these said, and where a reviewer's other misses and lacking answers are.
func (o *overview) lookAtCases(lines []*caseLine) {
	for _, c := range lines[:min(lookCases, len(lines))] {
		if c.All.Right == c.All.Answered {
			break
		}
		var by []string
		said := ""
		for i, cell := range c.Cells {
			if cell.Right == cell.Answered {
				continue
			}
			v := o.Variants[i]
			by = append(by, v.Short)
			for _, t := range v.Cases[c.Case.ID()].Told {
				if t.Outcome == string(audit.OutcomeWrong) && said == "" {
					said = fmt.Sprintf("%s said %s: %s", v.Short, clip(t.Actual, 20), clip(t.Explanation, 200))
				}
			}
		}
		o.Look = append(o.Look, pointer{string(c.Case.Label), c.Case.ID(), c.Page, cmp.Or(said, "missed by "+few(by)), 0})
	}
	for i, v := range o.Variants[:min(lookReviewers, len(o.Variants))] {
		at := "cases.html#cases?of=" + url.QueryEscape(v.Short) + "&how="
		if n := v.Bench.Outcomes[audit.OutcomeWrong]; n > 0 && i == 0 {
			o.Look = append(o.Look, pointer{"missed", amount(n, "wrong answer") + " of " + v.Short, at + "missed", "of the reviewer that comes first", 0})
		}
		var silent []string
		for _, outcome := range []audit.Outcome{audit.OutcomeErrored, audit.OutcomeRefused, audit.OutcomeMalformed} {
			if n := v.Bench.Outcomes[outcome]; n > 0 {
				silent = append(silent, fmt.Sprintf("%d %s", n, outcome))
			}
		}
		if len(silent) > 0 {
			o.Look = append(o.Look, pointer{"no answer", v.Short, at + "none", strings.Join(silent, ", ") + fmt.Sprintf(" of %d trials", v.Bench.Planned), 0})
		}
	}
}
