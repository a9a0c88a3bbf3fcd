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
	Cut      string
	Results  *Results
	Modules  []moduleLine
}

type appLine struct {
	App   string
	Cells []*score.Bench
}

type shareCell struct {
	Right, Answered, Silent int
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

func (c *shareCell) add(ts []*Trial) {
	for _, t := range ts {
		switch t.Outcome {
		case audit.OutcomeCorrect:
			c.Right++
			c.Answered++
		case audit.OutcomeWrong:
			c.Answered++
		default:
			c.Silent++
		}
	}
}

type pairLine struct {
	A, B     *variantLine
	Standing score.Standing
	Text     string
	Made     *score.Comparison // nil where they could not be compared
}

const (
	pairsMost = 5  // reviewers of whom each is compared with each; of more, each with the first
	topMost   = 12 // reviewers that the overview draws
)

func newBenchPage(r *Results, ls []variantLine) (*benchPage, error) {
	p := &benchPage{Variants: ls, Rated: ls, Results: r}
	var all, reasons []measured
	for _, l := range ls {
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
	var err error
	if p.Modules, err = moduleLines(r); err != nil {
		return nil, err
	}
	if err := p.apps(); err != nil {
		return nil, err
	}
	p.families(math.MaxInt)
	p.pairs()
	return p, nil
}

// shorter leaves out figures by CWE, of half of the reviewers at a time, then families.
func (p *benchPage) shorter() bool {
	if len(p.Rated) > 0 {
		p.Rated = p.Rated[:len(p.Rated)/2]
		return true
	}
	n := len(p.Families.Rows)
	p.families(n / 2)
	return n > 0
}

func (p *benchPage) apps() error {
	names := map[string]bool{}
	for _, l := range p.Variants {
		for _, c := range l.Cases {
			names[c.Case.App] = true
		}
	}
	for _, app := range slices.Sorted(maps.Keys(names)) {
		line := appLine{App: app, Cells: make([]*score.Bench, len(p.Variants))}
		err := each(len(p.Variants), func(i int) error {
			if len(names) == 1 {
				line.Cells[i] = p.Variants[i].Bench
				return nil
			}
			as := p.Variants[i].Score(app)
			if len(as) == 0 {
				return nil
			}
			var err error
			line.Cells[i], err = score.BenchOf(as)
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
func (p *benchPage) families(most int) {
	lines := map[string][]shareCell{}
	for i, l := range p.Variants {
		for _, id := range slices.Sorted(maps.Keys(l.Cases)) {
			c := l.Cases[id]
			f := c.Case.Family()
			if lines[f] == nil {
				lines[f] = make([]shareCell, len(p.Variants))
			}
			lines[f][i].add(c.Trials)
		}
	}
	names := slices.Sorted(maps.Keys(lines))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(least(lines[a]), least(lines[b])) })
	cols := []gridColumn{{Name: "family", Link: "link"}}
	for _, l := range p.Variants {
		cols = append(cols, gridColumn{Name: l.Short, Kind: "share"})
	}
	p.Families = newGrid("family", append(cols, gridColumn{Name: "link", Hidden: true})...)
	if len(names) > most {
		p.Cut = fmt.Sprintf("The %d families with the lowest share of right answers are shown, of %d.", most, len(names))
		names = names[:most]
	}
	for _, f := range names {
		cells := []any{clip(f, 120)}
		for _, c := range lines[f] {
			cells = append(cells, c.String())
		}
		p.Families.add(append(cells, "cases.html#cases?q="+url.QueryEscape(f+"-"))...)
	}
}

// least orders families and cases: the share of right answers over all variants.
func least(cs []shareCell) float64 {
	var all shareCell
	for _, c := range cs {
		all.Right += c.Right
		all.Answered += c.Answered
	}
	if v := all.Share(); v.Defined {
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
		d, _, _, err := compareVariants(l.A.VariantResults, l.B.VariantResults)
		if err != nil {
			l.Text = "not compared: " + err.Error()
		} else {
			l.Standing, l.Text, l.Made = d.Comparison.Standing, difference(d.Comparison), &d.Comparison
		}
		p.Pairs[i] = l
		return nil
	})
	if n > pairsMost {
		p.PairNote = "Each is compared with the one that comes first. That one was picked for its result: part of its lead is luck. assay compare sets any two against each other."
	}
}
