package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/score"
)

type benchPage struct {
	Variants []variantLine
	Forest   *chart
	Top      *chart // of the first ones alone
	Reasons  *chart
	Cost     *chart
	Trend    *chart // run by run
	Apps     []appLine
	Families *grid
	Rated    []variantLine // whose figures by CWE are shown
	Pairs    []pairLine
	PairNote string
	Results  *Results
}

const notStated = "not stated"

type appLine struct {
	App   string
	Cells []*score.Bench
}

type shareCell struct {
	Right    int `json:"right"`
	Answered int `json:"answered"`
	Silent   int `json:"silent"`
}

// String gives "2/3", with what stayed without an answer: "2/3, 1 silent".
func (c shareCell) String() string {
	var parts []string
	if c.Answered > 0 {
		parts = append(parts, fmt.Sprintf("%d/%d", c.Right, c.Answered))
	}
	if c.Silent > 0 {
		parts = append(parts, fmt.Sprintf("%d silent", c.Silent))
	}
	return strings.Join(parts, ", ")
}

func (c shareCell) Share() score.Value { return score.Ratio(float64(c.Right), float64(c.Answered)) }

// shareCells counts the answers of each variant to its cases.
func shareCells(by [][]*CaseResults) []shareCell {
	cells := make([]shareCell, len(by))
	for i, cs := range by {
		for _, c := range cs {
			n := c.outcomes()
			answered := n[audit.OutcomeCorrect] + n[audit.OutcomeWrong]
			cells[i].add(shareCell{n[audit.OutcomeCorrect], answered, len(c.Trials) - answered})
		}
	}
	return cells
}

func (c *shareCell) add(more shareCell) {
	c.Right += more.Right
	c.Answered += more.Answered
	c.Silent += more.Silent
}

func sumOf(cs []shareCell) (all shareCell) {
	for _, c := range cs {
		all.add(c)
	}
	return all
}

type pairLine struct {
	A, B     *variantLine
	Standing score.Standing
	Text     string
	Made     *score.Comparison // nil where they could not be compared
}

const (
	pairsMost = 5    // reviewers of whom each is compared with each; of more, each with the first
	topMost   = 12   // reviewers that the overview draws
	ratesMost = 1500 // rows of figures by CWE that a page has room for
)

func newBenchPage(r *Results, ls []variantLine) (*benchPage, error) {
	p := &benchPage{Variants: ls, Results: r}
	var all, reasons []measured
	rated := 0
	for _, l := range ls {
		if rated += len(l.Bench.Rates.Rows()); rated <= ratesMost {
			p.Rated = append(p.Rated, l)
		}
		all = append(all, measured{l.Short, l.Bench.BalancedAccuracy})
		if l.Bench.RightReason.Value.Defined {
			reasons = append(reasons, measured{l.Short, l.Bench.RightReason})
		}
	}
	p.Forest = barChart("Balanced accuracy with 95 % intervals", all, "guessing", 0.5)
	p.Top = barChart("Balanced accuracy with 95 % intervals", all[:min(topMost, len(all))], "guessing", 0.5)
	p.Reasons = barChart("Right for the right reason, with 95 % intervals", reasons, "", 0)
	p.Cost = costChart(ls)
	p.Trend = lineChart("Balanced accuracy run by run, with 95 % intervals", r.Trend[:min(topMost, len(r.Trend))], score.Value{})
	if err := p.apps(); err != nil {
		return nil, err
	}
	p.families()
	p.pairs()
	return p, nil
}

// across gives, by what of says of a case, the cases of each variant.
func across(ls []variantLine, of func(*audit.Case) string) map[string][][]*CaseResults {
	all := map[string][][]*CaseResults{}
	for i, l := range ls {
		for _, c := range l.sorted() {
			k := of(c.Case)
			if all[k] == nil {
				all[k] = make([][]*CaseResults, len(ls))
			}
			all[k][i] = append(all[k][i], c)
		}
	}
	return all
}

func (p *benchPage) apps() error {
	byApp := across(p.Variants, func(c *audit.Case) string { return cmp.Or(c.App, notStated) })
	for _, app := range slices.Sorted(maps.Keys(byApp)) {
		line := appLine{App: app, Cells: make([]*score.Bench, len(p.Variants))}
		err := each(len(p.Variants), func(i int) (err error) {
			if len(byApp) == 1 {
				line.Cells[i] = p.Variants[i].Bench
			} else if as := answers(byApp[app][i]); len(as) > 0 {
				line.Cells[i], err = score.BenchOf(as)
			}
			return err
		})
		if err != nil {
			return err
		}
		p.Apps = append(p.Apps, line)
	}
	return nil
}

// families makes the table of families, the hardest first: that is where to look.
func (p *benchPage) families() {
	lines := map[string][]shareCell{}
	for f, cs := range across(p.Variants, (*audit.Case).Family) {
		lines[f] = shareCells(cs)
	}
	names := slices.Sorted(maps.Keys(lines))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(right(lines[a]), right(lines[b])) })
	cols := []gridColumn{{Name: "family", Link: "link"}}
	for _, l := range p.Variants {
		cols = append(cols, gridColumn{Name: l.Short, Kind: "share"})
	}
	p.Families = newGrid("family", append(cols, gridColumn{Name: "link", Hidden: true})...)
	for _, f := range names {
		cells := []any{clip(f, 120)}
		for _, c := range lines[f] {
			cells = append(cells, c.String())
		}
		p.Families.add(append(cells, "cases.html#cases?q="+url.QueryEscape(f+"-"))...)
	}
}

// right gives the share of right answers over all variants; where nobody answered, what
// stands behind all shares.
func right(cs []shareCell) float64 {
	if v := sumOf(cs).Share(); v.Defined {
		return v.V
	}
	return math.Inf(1)
}

func (p *benchPage) pairs() {
	n := len(p.Variants)
	var at [][2]int
	for i := range p.Variants {
		for k := i + 1; k < n && (i == 0 || n <= pairsMost); k++ {
			at = append(at, [2]int{i, k})
		}
	}
	p.Pairs = make([]pairLine, len(at))
	each(len(at), func(i int) error {
		l := pairLine{A: &p.Variants[at[i][0]], B: &p.Variants[at[i][1]], Standing: score.NotSettled}
		d, as, bs := common(l.A.VariantResults, l.B.VariantResults)
		if err := d.compare(as, bs); err != nil {
			l.Text = "not compared: " + err.Error()
		} else {
			made := d.Comparison.Reversed()
			l.Standing, l.Made = made.Standing, &made
			l.Text = standing(l.B.Short, "balanced accuracy", d.Comparison, need(d.Comparison.Need)) + ", " + d.over()
		}
		p.Pairs[i] = l
		return nil
	})
	if n > pairsMost {
		p.PairNote = "Each is compared with the one that comes first. That one was picked for its result: part of its lead is luck. assay compare sets any two against each other."
	}
}
