package report

import (
	"cmp"
	"encoding/json"
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

// harder orders cases: first those that the best reviewers missed, who come first.
func harder(a, b *caseLine) int {
	for i := range a.Cells {
		missed := func(c shareCell) float64 { return float64(c.Answered-c.Right) / float64(max(1, c.Answered)) }
		if by := cmp.Compare(missed(b.Cells[i]), missed(a.Cells[i])); by != 0 {
			return by
		}
	}
	return 0
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

func cases(ls []variantLine) []*caseLine {
	lines := map[string]*caseLine{}
	for i, l := range ls {
		for id, c := range l.Cases {
			k := lines[id]
			if k == nil {
				k = &caseLine{Case: c.Case, Cells: make([]shareCell, len(ls))}
				lines[id] = k
			}
			k.Cells[i].add(c.Trials)
			k.All.add(c.Trials)
		}
	}
	var out []*caseLine
	for _, id := range slices.Sorted(maps.Keys(lines)) {
		out = append(out, lines[id])
	}
	return out
}

// A caseData is what the page of an application's cases shows one by one; numbers
// stand for Texts.
type caseData struct {
	Texts        texts             `json:"texts"`
	Spec         int               `json:"spec"`
	Prompts      map[string]int    `json:"prompts"` // by name
	Requirements [][2]int          `json:"requirements"`
	Variants     []variantData     `json:"variants"`
	Cases        []oneCase         `json:"cases"`
	Badges       map[string]string `json:"badges"`
}

type variantData struct {
	Name   string `json:"name"`
	Prompt string `json:"prompt"`
}

type oneCase struct {
	ID          string       `json:"id"`
	Label       audit.Label  `json:"label"`
	Description int          `json:"description"`
	Language    string       `json:"language"`
	Code        int          `json:"code"`
	Violates    []int        `json:"violates"`
	CWEs        string       `json:"cwes"`
	Good        string       `json:"good"` // the nearest good of a bad case, with its code
	Near        int          `json:"near"`
	Answers     []answerData `json:"answers"`
}

type answerData struct {
	By       int           `json:"by"` // the variant
	Right    int           `json:"right"`
	Answered int           `json:"answered"`
	Silent   int           `json:"silent"`
	Told     []tellingData `json:"told"`
	Twins    [][2]string   `json:"twins"`
	Changed  string        `json:"changed,omitempty"` // what of the prompt is another today
}

type tellingData struct {
	Outcome     string `json:"outcome"`
	Actual      string `json:"actual"`
	Violates    string `json:"violates,omitempty"`
	CWEs        string `json:"cwes,omitempty"`
	Sure        string `json:"sure,omitempty"`
	Reason      string `json:"reason,omitempty"`
	Explanation int    `json:"explanation,omitempty"`
	Detail      int    `json:"detail,omitempty"`
	Reply       int    `json:"reply,omitempty"`
	Facts       string `json:"facts"`
}

type casesPage struct {
	Cases  *grid
	Data   *caseData
	Total  int
	Others []pageLink
	Notes  []string
	fill   func(most int) // fills Cases
}

// shorter leaves out a quarter of the table of all cases, or cuts an application's texts.
func (p *casesPage) shorter() bool {
	if p.Data != nil {
		most := p.Data.Texts.longest() / 2
		p.Data.Texts.cut(most)
		p.Notes = []string{fmt.Sprintf("Texts of more than %d bytes are cut.", most)}
		return most > 100
	}
	n := len(p.Cases.Rows) * 3 / 4
	p.fill(n)
	p.Notes = []string{fmt.Sprintf("The first %d of %d cases are in this table; each application's page has all of its own.", n, p.Total)}
	return n > 0
}

type pageLink struct {
	Text, Page string
	Here       bool
}

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
	return s.render("cases.html", "cases.html", "Cases", "Cases", allCases(ls, all))
}

func allCases(ls []variantLine, all []*caseLine) *casesPage {
	cols := []gridColumn{{Name: "case", Link: "link", Note: "description"}, {Name: "label", Kind: "badge", Pick: true}}
	for _, l := range ls {
		cols = append(cols, gridColumn{Name: l.Short, Kind: "share"})
	}
	cols = append(cols, gridColumn{Name: "answers", Pick: true, Hidden: true, Order: []string{"all wrong", "mixed", "all right", "no answer"}}, gridColumn{Name: "application", Pick: true, Hidden: true}, gridColumn{Name: "description", Hidden: true}, gridColumn{Name: "link", Hidden: true})
	p := &casesPage{Total: len(all)}
	p.fill = func(n int) {
		p.Cases = newGrid("case", cols...)
		for _, c := range all[:n] {
			cells := []any{clip(c.Case.ID(), 160), string(c.Case.Label)}
			for _, x := range c.Cells {
				cells = append(cells, x.String())
			}
			p.Cases.add(append(cells, c.Standing(), clip(c.Case.App, 80), clip(c.Case.Description, 140), c.Page)...)
		}
	}
	p.fill(len(all))
	return p
}

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
	stem := "cases/" + strings.TrimSuffix(pageName(cmp.Or(app, "no application")), ".html")
	name := func(i int) string {
		if i == 0 {
			return stem + ".html"
		}
		return fmt.Sprintf("%s.%d.html", stem, i+1) // pageName gives no dot: another application may be called shop-2
	}
	var books []*caseData
	var links []pageLink
	size := MaxPage
	for _, c := range cs {
		if len(books) == 0 || size > MaxPage*6/10 {
			books = append(books, s.book(ls, spec))
			size = 0
			links = append(links, pageLink{"from " + clip(c.Case.ID(), 80), strings.TrimPrefix(name(len(links)), "cases/"), false})
		}
		book := books[len(books)-1]
		before := len(book.Texts.all)
		one := book.put(ls, c, goods[c.Case.Family()], func(t Telling, l variantLine) string { return s.changedSince(t, s.in.Prompts[l.Prompt], spec.Prompt) })
		size += escaped(one) + 4
		for _, t := range book.Texts.all[before:] {
			size += escaped(t) + 4
		}
		c.Page = name(len(books)-1) + "#" + url.PathEscape(c.Case.ID())
	}
	for i, b := range books {
		p := &casesPage{Data: b, Total: len(cs)}
		if len(books) > 1 {
			p.Others = slices.Clone(links)
			p.Others[i].Here = true
		}
		if err := s.render(name(i), "case.html", "Cases", cmp.Or(app, "no application"), p); err != nil {
			return err
		}
	}
	return nil
}

// escaped is about the length of what stands in a page's data: quotes, brackets and
// what is not seen grow.
func escaped(v any) int {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("report: a case of strings and numbers: %v", err))
	}
	n := len(b)
	for _, r := range string(b) {
		if audit.Invisible(r) {
			n += 4
		}
	}
	return n
}

func (s *site) book(ls []variantLine, spec *audit.Spec) *caseData {
	b := &caseData{Prompts: map[string]int{}, Badges: map[string]string{}, Requirements: [][2]int{}}
	b.Spec = b.Texts.put(spec.Prompt)
	for _, r := range spec.Requirements {
		b.Requirements = append(b.Requirements, [2]int{r.Number, b.Texts.put(r.Text)})
	}
	for _, l := range ls {
		b.Variants = append(b.Variants, variantData{l.Short, clip(l.Prompt, 80)})
		if text, ok := s.in.Prompts[l.Prompt]; ok {
			b.Prompts[clip(l.Prompt, 80)] = b.Texts.put(text)
		}
	}
	return b
}

func (b *caseData) put(ls []variantLine, c *caseLine, goods []*audit.Case, changed func(Telling, variantLine) string) oneCase {
	k := c.Case
	one := oneCase{ID: k.ID(), Label: k.Label, Description: b.Texts.put(k.Description), Language: k.Language, Code: b.Texts.put(k.Code),
		Violates: slices.Clone(k.Violates), CWEs: audit.JoinCWEs(k.CWEs), Answers: []answerData{}}
	if one.Violates == nil {
		one.Violates = []int{}
	}
	if k.Label == audit.Bad {
		one.Good = score.NearestGood(k, goods)
		for _, g := range goods {
			if g.ID() == one.Good {
				one.Near = b.Texts.put(g.Code)
			}
		}
	}
	b.Badges[string(k.Label)] = badge(k.Label)
	room := MaxPage / 4 // for what reviewers wrote of one case
	for i, l := range ls {
		r := l.Cases[k.ID()]
		if r == nil {
			continue
		}
		a := answerData{By: i, Right: c.Cells[i].Right, Answered: c.Cells[i].Answered, Silent: c.Cells[i].Silent, Told: []tellingData{}, Twins: [][2]string{}}
		for _, t := range r.Told {
			if room -= 2 * (len(t.Explanation) + len(t.Detail) + len(t.Reply) + 200); room > 0 {
				a.Told = append(a.Told, b.telling(t))
				a.Changed = cmp.Or(a.Changed, changed(t, l))
			}
		}
		for _, t := range r.Twins[:min(20, len(r.Twins))] {
			a.Twins = append(a.Twins, [2]string{clip(t.Kind, 40), string(t.Outcome)})
			b.Badges[string(t.Outcome)] = badge(t.Outcome)
		}
		one.Answers = append(one.Answers, a)
	}
	b.Cases = append(b.Cases, one)
	return one
}

// changedSince says what of a question is another today than when it was answered;
// empty where nothing is, or where the answer does not say.
func (s *site) changedSince(t Telling, prompt, spec string) string {
	if s.in.TextHash == nil {
		return ""
	}
	var changed []string
	if t.PromptHash != "" && prompt != "" && t.PromptHash != s.in.TextHash(prompt) {
		changed = append(changed, "the prompt")
	}
	if t.SpecHash != "" && spec != "" && t.SpecHash != s.in.TextHash(spec) {
		changed = append(changed, "the SPEC")
	}
	if len(changed) == 0 {
		return ""
	}
	return strings.Join(changed, " and ") + " changed"
}

func (b *caseData) telling(t Telling) tellingData {
	d := t.tellingData
	d.Explanation, d.Detail = b.Texts.put(t.Explanation), b.Texts.put(t.Detail)
	if t.Reply != t.Explanation {
		d.Reply = b.Texts.put(t.Reply)
	}
	b.Badges[d.Outcome] = badge(d.Outcome)
	b.Badges["right reason"], b.Badges["wrong reason"] = "b good", "b bad"
	return d
}

// tellingOf gives what a page shows of an answer, but for its words.
func tellingOf(e *store.Evaluation) tellingData {
	d := tellingData{Outcome: string(e.Outcome), Actual: clip(e.Actual, 60), Violates: strings.Trim(strings.ReplaceAll(fmt.Sprint(e.Violates), " ", ", "), "[]"),
		CWEs: clip(audit.JoinCWEs(e.CWEs), 200), Facts: factsOfAnswer(e)}
	if e.Confidence > 0 && e.Confidence <= 1 {
		d.Sure = score.Of(e.Confidence).String()
	}
	switch e.Reason {
	case store.ReasonRight:
		d.Reason = "right reason"
	case store.ReasonWrong:
		d.Reason = "wrong reason"
	}
	return d
}

func factsOfAnswer(e *store.Evaluation) string {
	parts := []string{e.Time.UTC().Format("2006-01-02 15:04")}
	if e.Served != "" {
		parts = append(parts, "served by "+clip(e.Served, 80))
	}
	if e.Usage.TokensIn+e.Usage.TokensOut > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens in, %d out", e.Usage.TokensIn, e.Usage.TokensOut))
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
