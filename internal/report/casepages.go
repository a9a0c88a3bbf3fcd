package report

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"

	"assay/audit"
	"assay/audit/score"
)

// A caseLine is one case in the list of cases.
type caseLine struct {
	Case  *audit.Case
	Page  string
	Cells []shareCell
	All   shareCell
}

// Standing is for the filter: whether all, some or none of the variants are right.
func (c caseLine) Standing() string {
	switch {
	case c.All.Answered == 0:
		return "no answer"
	case c.All.Right == c.All.Answered:
		return "all right"
	case c.All.Right == 0:
		return "all wrong"
	}
	return "mixed"
}

type casesPage struct {
	Variants []variantLine
	Cases    []caseLine
	Apps     []string
	Others   []pageLink
	Total    int
	Index    []indexPage // of all pages, where there are several
}

// casePage is in a folder of its application: "a-b/c" and "a/b-c" are two cases.
func casePage(c *audit.Case) string {
	return "cases/" + strings.TrimSuffix(pageName(cmp.Or(c.App, "no application")), ".html") + "/" + pageName(c.ID()[len(c.App)+1:])
}

// cases gives every case that anybody answered, by ID.
func cases(ls []variantLine) []caseLine {
	lines := map[string]*caseLine{}
	for i, l := range ls {
		for id, c := range l.Cases {
			k := lines[id]
			if k == nil {
				k = &caseLine{Case: c.Case, Page: casePage(c.Case), Cells: make([]shareCell, len(ls))}
				lines[id] = k
			}
			k.Cells[i].add(c.Trials)
			k.All.add(c.Trials)
		}
	}
	var out []caseLine
	for _, id := range sortedKeys(lines) {
		out = append(out, *lines[id])
	}
	return out
}

// writeCases writes the list of cases, paged, and a page for each.
func (s *site) writeCases(ls []variantLine) error {
	all := cases(ls)
	apps := map[string]bool{}
	for _, c := range all {
		apps[c.Case.App] = true
	}
	size := min(rowsMost, max(50, cellsMost/max(1, len(ls))))
	name := func(i int) string {
		if i == 0 {
			return "cases.html"
		}
		return fmt.Sprintf("cases-%d.html", i+1)
	}
	var pages []pageLink
	var index []indexPage
	for at := 0; at < len(all); at += size {
		part := all[at:min(at+size, len(all))]
		p := indexPage{Page: name(len(pages))}
		for _, c := range part {
			p.Rows = append(p.Rows, c.Case.ID()+" "+c.Standing())
		}
		index = append(index, p)
		pages = append(pages, pageLink{fmt.Sprintf("%s to %s", part[0].Case.ID(), part[len(part)-1].Case.ID()), p.Page, false})
	}
	for n := range pages {
		p := casesPage{Variants: ls, Cases: all[n*size : min((n+1)*size, len(all))], Apps: slices.Sorted(maps.Keys(apps)), Total: len(all)}
		if len(pages) > 1 {
			p.Others, p.Index = here(pages, n), bounded(index)
		}
		if err := s.render(name(n), "cases.html", "Cases", "Cases", p); err != nil {
			return err
		}
	}
	requirements := map[string]*audit.Spec{}
	for _, a := range s.in.Apps {
		requirements[a.App] = a.Spec
	}
	for i, c := range all {
		p := s.onePage(ls, c, requirements[c.Case.App])
		if i > 0 {
			p.Before = &all[i-1]
		}
		if i+1 < len(all) {
			p.After = &all[i+1]
		}
		if err := s.render(c.Page, "case.html", "Cases", c.Case.ID(), p); err != nil {
			return err
		}
	}
	return nil
}

// A onePage shows one case with every variant's answers.
type onePage struct {
	caseLine
	Code          template.HTML
	Violated      []audit.Requirement
	Answers       []answerCard
	Before, After *caseLine
}

// An answerCard shows what one variant said of the case.
type answerCard struct {
	Variant string
	Cell    shareCell
	Newest  []Telling // the newest answer, and older ones with another verdict or reason
	Older   []Telling // that say the same
	Twins   []TwinVerdict
}

// add files one answer. Answers come newest first.
func (a *answerCard) add(t Telling) {
	same := func(o Telling) bool {
		return o.Outcome == t.Outcome && o.Actual == t.Actual && o.Right == t.Right && slices.Equal(o.Violates, t.Violates)
	}
	if slices.ContainsFunc(a.Newest, same) {
		a.Older = append(a.Older, t)
	} else {
		a.Newest = append(a.Newest, t)
	}
}

// Sure is the stated confidence as a share.
func (t Telling) Sure() string { return score.Of(t.Confidence).String() }

func (s *site) onePage(ls []variantLine, c caseLine, spec *audit.Spec) *onePage {
	p := &onePage{caseLine: c, Code: highlight(c.Case)}
	if spec != nil {
		for _, r := range spec.Requirements {
			if slices.Contains(c.Case.Violates, r.Number) {
				p.Violated = append(p.Violated, r)
			}
		}
	}
	room := MaxPage / 3 // for what models wrote: escaping can triple it
	for i, l := range ls {
		r := l.Cases[c.Case.ID()]
		if r == nil {
			continue
		}
		a := answerCard{Variant: l.Short, Cell: c.Cells[i], Twins: r.Twins[:min(20, len(r.Twins))]}
		for _, t := range r.Told {
			if room -= 6 * (len(t.Explanation) + len(t.Detail) + 200); room > 0 {
				a.add(t)
			}
		}
		p.Answers = append(p.Answers, a)
	}
	return p
}

var formatter = html.New(html.WithClasses(true), html.WithLineNumbers(true), html.TabWidth(4))

// highlight gives the code with line numbers; plain where its language is not
// known. The formatter escapes it.
func highlight(c *audit.Case) template.HTML {
	if c.Code == "" {
		return ""
	}
	lexer := lexers.Get(c.Language)
	if lexer == nil || c.Language == "" {
		lexer = lexers.Fallback
	}
	var b bytes.Buffer
	it, err := chroma.Coalesce(lexer).Tokenise(nil, c.Code)
	if err == nil {
		err = formatter.Format(&b, styles.Fallback, it)
	}
	if err != nil {
		return template.HTML("<pre>" + template.HTMLEscapeString(c.Code) + "</pre>")
	}
	return template.HTML(b.String())
}
