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

// A reviewersPage shows all figures of reviewers.
type reviewersPage struct {
	Ranking  *ranking
	Variants []variantLine
	History  *chart // run by run
	Apps     []appLine
	Families *grid
	Rated    []variantLine // whose figures by CWE are shown
	Results  *BenchResults
}

const notStated = "not stated"

type appLine struct {
	App   string
	Cells []*score.Bench
}

type shareCell struct {
	Right      int `json:"right"`
	Answered   int `json:"answered"`
	Unanswered int `json:"unanswered"`
}

// String returns "2/3", with what was left unanswered: "2/3, 1 unanswered".
func (c shareCell) String() string {
	var parts []string
	if c.Answered > 0 {
		parts = append(parts, fmt.Sprintf("%d/%d", c.Right, c.Answered))
	}
	if c.Unanswered > 0 {
		parts = append(parts, fmt.Sprintf("%d unanswered", c.Unanswered))
	}
	return strings.Join(parts, ", ")
}

// Share returns the share of right answers.
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

// add adds other counts.
func (c *shareCell) add(more shareCell) {
	c.Right += more.Right
	c.Answered += more.Answered
	c.Unanswered += more.Unanswered
}

// sumOf returns the sum of the cells.
func sumOf(cs []shareCell) (all shareCell) {
	for _, c := range cs {
		all.add(c)
	}
	return all
}

const (
	topMost   = 12   // reviewers of a run, and of the trend, that are shown
	ratesMost = 1500 // rows of figures by CWE that a page has room for
)

func (s *site) reviewersPage(k *ranking, ls []variantLine) (*reviewersPage, error) {
	p := &reviewersPage{Ranking: k, Variants: ls, Results: s.in.Results}
	rated := 0
	for _, l := range ls {
		if rated += len(l.Bench.Rates.Rows()); rated <= ratesMost {
			p.Rated = append(p.Rated, l)
		}
	}
	trend := s.in.Results.Trend()
	p.History = lineChart("Balanced accuracy run by run, with 95 % intervals",
		trend[:min(topMost, len(trend))], score.Value{}, s.Class)
	p.families(s)
	var err error
	p.Apps, err = appLines(ls)
	return p, err
}

// across groups the cases of each variant by a property.
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

// appLines returns the figures of each variant on each application.
func appLines(ls []variantLine) (lines []appLine, err error) {
	byApp := across(ls, func(c *audit.Case) string { return cmp.Or(c.App, notStated) })
	for _, app := range slices.Sorted(maps.Keys(byApp)) {
		line := appLine{App: app, Cells: make([]*score.Bench, len(ls))}
		err := each(len(ls), func(i int) (err error) {
			if len(byApp) == 1 {
				line.Cells[i] = ls[i].Bench
			} else if as := answers(byApp[app][i]); len(as) > 0 {
				line.Cells[i], err = score.BenchOf(as)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// families makes the table of families, the hardest first: that is where to look.
func (p *reviewersPage) families(s *site) {
	lines := map[string][]shareCell{}
	for f, cs := range across(p.Variants, (*audit.Case).Family) {
		lines[f] = shareCells(cs)
	}
	names := slices.Sorted(maps.Keys(lines))
	slices.SortStableFunc(names,
		func(a, b string) int { return cmp.Compare(right(lines[a]), right(lines[b])) })
	cols := []gridColumn{{Name: "family", Link: "link"}}
	for _, l := range p.Variants {
		cols = append(cols, gridColumn{Name: l.Short, Kind: "share", Term: "right-answers",
			Class: s.Class(l.Short)})
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

// right returns the share of right answers over all variants; +Inf if there are no answers.
func right(cs []shareCell) float64 {
	if v := sumOf(cs).Share(); v.Defined {
		return v.V
	}
	return math.Inf(1)
}
