package report

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/store"
)

type caseLine struct {
	Case  *audit.Case
	Page  string // with the anchor of the case
	Cells []shareCell
	All   shareCell
}

// harder orders cases by how often the best reviewers missed them.
func harder(a, b *caseLine) int {
	for i := range a.Cells {
		missed := func(c shareCell) float64 {
			return float64(c.Answered-c.Right) / float64(max(1,
				c.Answered))
		}
		if by := cmp.Compare(missed(b.Cells[i]), missed(a.Cells[i])); by != 0 {
			return by
		}
	}
	return 0
}

// cases returns a line for each case.
func cases(ls []variantLine) []*caseLine {
	byID := across(ls, (*audit.Case).ID)
	var lines []*caseLine
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		by, cells := slices.Concat(byID[id]...), shareCells(byID[id])
		lines = append(lines, &caseLine{Case: by[0].Case, Cells: cells, All: sumOf(cells)})
	}
	return lines
}

// A caseData is what the page of an application's cases shows one by one.
type caseData struct {
	Spec         string            `json:"spec"`
	Prompts      map[string]string `json:"prompts"` // by name
	Requirements []requirement     `json:"requirements"`
	Variants     []variantData     `json:"variants"`
	Cases        []oneCase         `json:"cases"`
	Codes        map[string]string `json:"codes"` // by the case's ID
	Badges       map[string]string `json:"badges"`
}

type requirement struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
}

type variantData struct {
	Name   string `json:"name"`
	Prompt string `json:"prompt"`
	Class  string `json:"class"` // of its colour
}

type oneCase struct {
	ID          string       `json:"id"`
	Label       audit.Label  `json:"label"`
	Description string       `json:"description"`
	Language    string       `json:"language"`
	Violates    []int        `json:"violates"`
	CWEs        string       `json:"cwes"`
	Good        string       `json:"good"` // the nearest good of a bad case
	Answers     []answerData `json:"answers"`
}

type answerData struct {
	By int `json:"by"` // the variant
	shareCell
	Told []Telling `json:"told"`
}

type casesPage struct {
	Cases  *grid
	Data   *caseData
	Total  int
	Others []pageLink
}

type pageLink struct {
	Text, Page string
	Here       bool
}

// writeCases writes the pages of the cases.
func (s *site) writeCases(ls []variantLine, all []*caseLine) error {
	byApp := map[string][]*caseLine{}
	for _, c := range all {
		byApp[c.Case.App] = append(byApp[c.Case.App], c)
	}
	for _, app := range slices.Sorted(maps.Keys(byApp)) {
		if err := s.writeApp(app, ls, byApp[app]); err != nil {
			return err
		}
	}
	p := s.allCases(ls, all)
	return s.render("cases.html", "cases.html", "cases.html", "Cases", p, p.Cases)
}

func (s *site) allCases(ls []variantLine, all []*caseLine) *casesPage {
	cols := []gridColumn{{Name: "case", Link: "link", Note: "description"},
		{Name: "label", Kind: "badge", Pick: true}}
	for _, l := range ls {
		cols = append(cols, gridColumn{Name: l.Short, Kind: "share", Term: "right-answers",
			Class: s.Class(l.Short)})
	}
	cols = append(cols, gridColumn{Name: "application", Pick: true, Hidden: true},
		gridColumn{Name: "description", Hidden: true}, gridColumn{Name: "link", Hidden: true})
	g := newGrid("case", cols...)
	for _, c := range all {
		cells := []any{clip(c.Case.ID(), 160), string(c.Case.Label)}
		for _, x := range c.Cells {
			cells = append(cells, x.String())
		}
		g.add(append(cells, clip(c.Case.App, 80), clip(c.Case.Description, 140), c.Page)...)
	}
	return &casesPage{Cases: g, Total: len(all)}
}

// writeApp writes the pages of an application's cases.
func (s *site) writeApp(app string, ls []variantLine, cs []*caseLine) error {
	goods := map[string][]*audit.Case{}
	for _, c := range cs {
		if c.Case.Label == audit.Good {
			goods[c.Case.Family()] = append(goods[c.Case.Family()], c.Case)
		}
	}
	spec := &audit.Spec{}
	for _, a := range s.in.Apps {
		if a.App == app && a.Spec != nil {
			spec = a.Spec
		}
	}
	stem := "cases/" + strings.TrimSuffix(pageName(app), ".html")
	name := func(i int) string {
		if i == 0 {
			return stem + ".html"
		}
		// pageName gives no dot: another application may be called shop-2
		return fmt.Sprintf("%s.%d.html", stem, i+1)
	}
	var books []*caseData
	var links []pageLink
	size := 0
	for _, c := range cs {
		one := oneCaseOf(ls, c, goods[c.Case.Family()])
		codes := map[string]string{}
		for _, k := range append(slices.Clone(goods[c.Case.Family()]), c.Case) {
			codes[k.ID()] = clipWords(k.Code, codeMost)
		}
		length := lengthOf(one) + lengthOf(codes)
		if size += length; len(books) == 0 || size > MaxPage*6/10 {
			books, size = append(books, s.book(ls, spec)), length
			links = append(links, pageLink{"from " + clip(one.ID, 80),
				strings.TrimPrefix(name(len(links)), "cases/"), false})
		}
		book := books[len(books)-1]
		book.Cases = append(book.Cases, one)
		maps.Copy(book.Codes, codes)
		c.Page = name(len(books)-1) + "#" + url.PathEscape(one.ID)
	}
	for i, b := range books {
		p := &casesPage{Data: b, Total: len(cs)}
		if len(books) > 1 {
			p.Others = slices.Clone(links)
			p.Others[i].Here = true
		}
		if err := s.render(name(i), "case.html", "cases.html",
			cmp.Or(app, "no application"), p); err != nil {
			return err
		}
	}
	return nil
}

// codeMost is the number of bytes of one code, SPEC or prompt that a page shows.
const codeMost = MaxPage / 20

// book returns what the cases of a page share.
func (s *site) book(ls []variantLine, spec *audit.Spec) *caseData {
	b := &caseData{Spec: clipWords(spec.Prompt, codeMost), Prompts: map[string]string{},
		Requirements: []requirement{}, Codes: map[string]string{}, Badges: map[string]string{}}
	for _, word := range append(audit.Outcomes(), "good", "bad", rightReason, wrongReason) {
		b.Badges[string(word)] = badge(word)
	}
	for _, r := range spec.Requirements {
		b.Requirements = append(b.Requirements, requirement{r.Number, clipWords(r.Text, wordsMost)})
	}
	for _, l := range ls {
		b.Variants = append(b.Variants, variantData{l.Short, clip(l.Prompt, 80), s.Class(l.Short)})
		if text, ok := s.in.Prompts[l.Prompt]; ok {
			b.Prompts[clip(l.Prompt, 80)] = clipWords(text, codeMost)
		}
	}
	return b
}

// oneCaseOf returns the data of one case.
func oneCaseOf(ls []variantLine, c *caseLine, goods []*audit.Case) oneCase {
	k := c.Case
	one := oneCase{ID: k.ID(), Label: k.Label, Description: clipWords(k.Description, wordsMost),
		Language: k.Language, Violates: append([]int{}, k.Violates...),
		CWEs: audit.JoinCWEs(k.CWEs), Answers: []answerData{}}
	if k.Label == audit.Bad {
		one.Good = score.NearestGood(k, goods)
	}
	room := MaxPage / 4 // for what reviewers wrote of one case
	for i, l := range ls {
		r := l.Cases[k.ID()]
		if r == nil {
			continue
		}
		a := answerData{By: i, shareCell: c.Cells[i], Told: []Telling{}}
		for _, t := range r.Told {
			if room -= lengthOf(t); room > 0 {
				a.Told = append(a.Told, t)
			}
		}
		one.Answers = append(one.Answers, a)
	}
	return one
}

const rightReason, wrongReason = "right reason", "wrong reason"

// tellingOf returns the parts of an answer that a page shows.
func tellingOf(e *store.Evaluation) Telling {
	d := Telling{ID: e.ID, Outcome: string(e.Outcome),
		Explanation: clipWords(e.Explanation, wordsMost), Detail: clipWords(e.Detail, wordsMost),
		Actual:   clip(e.Actual, 60),
		Violates: strings.Trim(strings.ReplaceAll(fmt.Sprint(e.Violates), " ", ", "), "[]"),
		CWEs:     clip(audit.JoinCWEs(e.CWEs), 200), Facts: factsOfAnswer(e)}
	if e.Confidence > 0 && e.Confidence <= 1 {
		d.Sure = score.Of(e.Confidence).String()
	}
	switch e.Reason {
	case store.ReasonRight:
		d.Reason = rightReason
	case store.ReasonWrong:
		d.Reason = wrongReason
	}
	return d
}

// factsOfAnswer returns date, model, usage and time of an answer as text.
func factsOfAnswer(e *store.Evaluation) string {
	parts := []string{e.Time.UTC().Format("2006-01-02 15:04")}
	if e.Served != "" {
		parts = append(parts, "served by "+clip(e.Served, 80))
	}
	if e.Usage.TokensIn+e.Usage.TokensOut > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens in, %d out", e.Usage.TokensIn,
			e.Usage.TokensOut))
	}
	switch {
	case e.Usage.USD > 0:
		parts = append(parts, fmt.Sprintf("%.4f USD", e.Usage.USD))
	case !e.Usage.Priced:
		parts = append(parts, "no price")
	}
	if e.Latency > 0 {
		parts = append(parts, fmt.Sprintf("%.1f s", e.Latency.Seconds()))
	}
	if e.Tries > 1 {
		parts = append(parts, fmt.Sprintf("%d tries", e.Tries))
	}
	if e.Finish != "" {
		parts = append(parts, "ended by "+clip(e.Finish, 40))
	}
	return strings.Join(parts, ", ")
}
