package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/score"
)

// An overview is the first page, or that of one run: who is best, whether that is real, what
// it costs, where it fails, and what changed since the baseline.
type overview struct {
	Title    string
	Runs     []Ran       // that are shown: how far they came
	Choice   []runChoice // of a run; nil where there is none
	Smoke    []pointer
	Rankings []*ranking
	Changes  []Moved // of your auditors and reviewers since the baseline, the worst first
	Left     int     // of these, left out
	Failures []pointer
	Notes    []string
}

// A runChoice is a run that can be chosen.
type runChoice struct {
	Text, Page string
	Here       bool
}

const (
	changesMost  = 6   // changes that the overview shows
	notesMost    = 20  // notes that it shows
	variantsMost = 100 // reviewers that the pages show
	runsMost     = 12  // runs with a page of their own
)

// write writes all pages.
func (s *site) write() error {
	o := &overview{Title: "Overview",
		Notes: slices.Clone(s.in.Notes[:min(notesMost, len(s.in.Notes))]), Runs: s.in.Runs}
	if n := len(s.in.Notes) - notesMost; n > 0 {
		o.Notes = append(o.Notes, amount(n, "note")+" more: assay report --format text shows all.")
	}
	rows := s.in.latest("Regression")
	published := s.in.published(rows)
	ls, err := s.reviewers(o)
	if err != nil {
		return err
	}
	s.paint(rows, ls)
	var cost costPage
	if len(s.in.Records)+len(published) > 0 {
		if err := s.writeAuditors(o, &cost, rows, published); err != nil {
			return err
		}
	}
	if s.in.Results != nil {
		if err := s.writeReviewers(o, &cost, ls); err != nil {
			return err
		}
	}
	slices.SortStableFunc(o.Changes, worstFirst)
	if o.Left = len(o.Changes) - changesMost; o.Left > 0 {
		o.Changes = o.Changes[:changesMost]
	}
	if err := s.render("cost.html", "cost.html", "cost.html", "Cost", &cost); err != nil {
		return err
	}
	if err := s.render("glossary.html", "glossary.html", "glossary.html",
		"Glossary", glossary); err != nil {
		return err
	}
	if err := s.writeRuns(o); err != nil {
		return err
	}
	return s.render("index.html", "index.html", "index.html", o.Title, o)
}

// paint gives each variant that is yours its colour.
func (s *site) paint(rows []row, ls []variantLine) {
	var names []string
	for _, r := range rows {
		if r.kind() == 0 {
			names = append(names, clip(r.Record.Auditor, shortMost))
		}
	}
	slices.Sort(names)
	for _, l := range ls {
		names = append(names, l.Short)
	}
	s.colours = paint(names)
	for _, l := range ls {
		s.colours[l.String()] = s.colours[l.Short]
	}
}

func (s *site) reviewers(o *overview) ([]variantLine, error) {
	if s.in.Results == nil {
		return nil, nil
	}
	ls, err := variantLines(s.in.Results)
	if n := len(ls); n > variantsMost {
		ls = ls[:variantsMost]
		o.Notes = append(o.Notes,
			fmt.Sprintf(
				"The %d reviewers with the highest balanced accuracy are shown, of %d. assay report --format csv has all.", variantsMost, n))
	}
	return ls, err
}

// writeReviewers writes the pages of reviewers and cases.
func (s *site) writeReviewers(o *overview, cost *costPage, ls []variantLine) error {
	k := rankReviewers(ls)
	all := CasesOf(s.in.Apps)
	for _, x := range k.Rows {
		m, judged, err := s.in.reviewed(x.variant.VariantResults, all)
		if err != nil {
			o.Notes = append(o.Notes, err.Error())
		}
		if judged {
			x.Verdict, x.Change = m.Verdict, m.Says
			if !m.stays {
				o.Changes = append(o.Changes, m)
			}
		} else {
			x.Change = noBaseline
		}
	}
	lines := cases(ls)
	if err := s.writeCases(ls, lines); err != nil {
		return err
	}
	hardest := slices.Clone(lines)
	slices.SortStableFunc(hardest, harder)
	k.answerReviewer(hardest, ls)
	cost.add(s, s.dress(k))
	o.Rankings = append(o.Rankings, k.short("reviewers.html"))
	for _, c := range hardest[:min(failuresMost, len(hardest))] {
		if p := c.missed(ls); p != nil {
			o.Failures = append(o.Failures, *p)
		}
	}
	p, err := s.reviewersPage(k, ls)
	if err != nil {
		return err
	}
	return s.render("reviewers.html", "reviewers.html", "reviewers.html", "Reviewers",
		p, p.Families)
}

// failuresMost is how many cases, and how many projects, the overview names.
const failuresMost = 6

// missed names the case and what the best reviewer that missed it said; nil where every
// answer is right.
func (c *caseLine) missed(variants []variantLine) *pointer {
	if c.All.Right == c.All.Answered {
		return nil
	}
	p := &pointer{Badge: string(c.Case.Label), What: c.Case.ID(), Page: c.Page}
	for i, x := range c.Cells {
		if x.Right == x.Answered {
			continue
		}
		v := variants[i]
		p.Why = cmp.Or(p.Why, "missed by "+v.Short)
		for _, t := range v.Cases[c.Case.ID()].Told {
			if t.Outcome == string(audit.OutcomeWrong) {
				p.Why = fmt.Sprintf("%s said %s: %s", v.Short, clip(t.Actual, 20),
					clip(t.Explanation, 160))
				return p
			}
		}
	}
	return p
}

// published returns the newest published record of each auditor and project of which there
// is none among rows.
func (in *SiteInput) published(rows []row) (out []row) {
	have := map[[2]string]bool{}
	for _, r := range rows {
		have[[2]string{r.Record.Auditor, r.Record.Project}] = true
	}
	for _, r := range in.Published {
		if !have[[2]string{r.Auditor, r.Project}] {
			out = append(out, rowOf(r))
		}
	}
	return out
}

// writeAuditors writes the pages of auditors and projects.
func (s *site) writeAuditors(o *overview, cost *costPage, rows, published []row) error {
	for _, r := range s.in.latest("Smoke") {
		if r.kind() == 0 {
			o.Smoke = append(o.Smoke, pointer{Badge: string(r.Verdict),
				What: r.Label() + " on the smoke test", Page: r.Page, Why: r.Look})
		}
	}
	both := slices.Concat(s.in.latest("Smoke"), rows)
	moved, errs := s.in.moved(both)
	o.Notes = append(o.Notes, said(errs)...)
	for _, m := range moved {
		if !m.stays && len(m.Lost)+m.Gained > 0 {
			o.Changes = append(o.Changes, m)
		}
	}
	all := slices.Concat(rows, published)
	others := map[string]bool{}
	for _, r := range published {
		others[r.Record.Auditor] = true
	}
	yours, errs := rankAuditors(all)
	o.Notes = append(o.Notes, said(errs)...)
	recorded := yours
	if yours != nil && yours.best() != nil {
		if recorded = nil; !slices.ContainsFunc(yours.Rows,
			func(x *ranked) bool { return others[x.audited.Name] }) {
			recorded, _ = rankAuditors(published)
		}
		cost.add(s, s.dress(yours))
		o.Rankings = append(o.Rankings, yours.short("auditors.html#compared"))
	}
	p := s.auditorsPage(yours, rows, all)
	if recorded != nil {
		recorded.Kind = "Recorded auditors"
		cost.add(s, s.dress(recorded))
		p.Compared = append(p.Compared, compared{recorded, s.pictures(recorded)})
		o.Rankings = append(o.Rankings, recorded.short("auditors.html#compared"))
	}
	if err := s.render("auditors.html", "auditors.html", "auditors.html", "Auditors", p,
		p.Vulnerabilities, p.Records); err != nil {
		return err
	}
	return s.writeProjects(o, slices.Concat(both, published))
}

// said returns the texts of errors.
func said(errs []error) (texts []string) {
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return texts
}

func (s *site) writeProjects(o *overview, rows []row) error {
	byProject := map[string][]row{}
	for _, r := range rows {
		byProject[r.Record.Project] = append(byProject[r.Record.Project], r)
	}
	var unfound []pointer
	n := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(byProject)) {
		p := s.projectPage(name, byProject[name])
		page := byProject[name][0].Project
		yours := slices.ContainsFunc(p.Rows,
			func(r auditorPart) bool { return r.kind() == 0 && r.Record.Suite == "Regression" })
		if p.Unfound > 0 && yours {
			n[page] = p.Unfound
			unfound = append(unfound, pointer{"missed", "", name, page + "#known?found=by+nobody",
				fmt.Sprintf("%d of %d vulnerabilities were found by no auditor", p.Unfound,
					len(p.Known.Rows))})
		}
		if err := s.render(page, "project.html", "auditors.html", name, p, p.Known, p.Findings,
			p.Decoys, p.Turns); err != nil {
			return err
		}
	}
	slices.SortStableFunc(unfound, func(a, b pointer) int {
		return cmp.Compare(n[strings.SplitN(b.Page, "#", 2)[0]],
			n[strings.SplitN(a.Page, "#", 2)[0]])
	})
	o.Failures = append(o.Failures, unfound[:min(failuresMost, len(unfound))]...)
	return nil
}

// An auditorsPage compares auditors.
type auditorsPage struct {
	Compared        []compared
	Vulnerabilities *grid
	Matrix          matrix
	Rows            []row
	Records         *grid
	Cut             string
}

// A compared is a ranking with its charts.
type compared struct {
	*ranking
	Charts []*chart
}

// Ranking is the ranking itself.
func (c compared) Ranking() *ranking { return c.ranking }

// rowsMost is of how many of the newest records of each auditor on each project figures are
// shown.
const rowsMost = 750

func (s *site) auditorsPage(k *ranking, rows, all []row) *auditorsPage {
	p := &auditorsPage{Matrix: matrixOf(all), Rows: rows[:min(rowsMost, len(rows))]}
	if len(rows) > len(p.Rows) {
		p.Cut = fmt.Sprintf(
			"Figures of %d newest records are shown, of %d: assay report --format csv has all.",
			len(p.Rows), len(rows))
	}
	if k != nil && k.best() != nil {
		p.Compared = append(p.Compared, compared{k, s.pictures(k)})
	}
	p.Vulnerabilities = s.vulnerabilities(all)
	p.Records = s.records()
	return p
}

// pictures returns the charts of recall over cost and over findings of the rankings.
func (s *site) pictures(k *ranking) []*chart {
	var overCost, overFindings []spot
	for _, x := range k.Rows {
		if x.audited == nil {
			continue
		}
		overCost = append(overCost, s.spots(x, x.USD(), k.Metric, score.Dollars)...)
		overFindings = append(overFindings, s.spots(x, x.audited.Findings, k.Metric, plain)...)
	}
	return slices.DeleteFunc([]*chart{
		scatter("Recall over cost, "+k.Of, "dollars an audit, and of all trials for their union",
			overCost, score.Dollars),
		scatter("Recall over findings, "+k.Of,
			"findings of an audit, and of all trials for their union", overFindings, plain),
	}, func(c *chart) bool { return c == nil })
}

// vulnerabilities is the table of all entries by auditor: in how many trials each was found.
func (s *site) vulnerabilities(rows []row) *grid {
	type place struct{ project, id string }
	type line struct {
		dimension string
		cells     map[string]foundCell
	}
	counts := map[string]int{}
	kind := map[string]int{}
	lines := map[place]*line{}
	var order []place
	for _, r := range rows {
		name := clip(r.Record.Auditor, shortMost)
		for _, res := range r.Record.Counting() {
			for _, v := range res.Known {
				at := place{r.Record.Project, v.ID}
				l := lines[at]
				if l == nil {
					l = &line{string(v.Dimension), map[string]foundCell{}}
					lines[at], order = l, append(order, at)
				}
				c := l.cells[name]
				c.add(v.Credit)
				l.cells[name] = c
				counts[name] += int(2 * v.Credit)
			}
		}
		kind[name] = r.kind()
	}
	names := slices.SortedFunc(maps.Keys(kind), func(a, b string) int {
		return cmp.Or(cmp.Compare(kind[a], kind[b]), cmp.Compare(counts[b], counts[a]),
			cmp.Compare(a, b))
	})
	names = names[:min(len(names), auditorsMost)]
	cols := []gridColumn{{Name: "vulnerability", Link: "link", Note: "what"},
		{Name: "project", Pick: true}, {Name: "dimension", Pick: true}, {Name: "severity",
			Pick: true, By: "rank", Order: severities}}
	for _, n := range names {
		cols = append(cols, gridColumn{Name: n, Kind: "share", Pick: kind[n] == 0,
			Order: foundWords, Term: "found-in-trials", Class: s.Class(n)})
	}
	g := newGrid("", append(cols, gridColumn{Name: "found", Pick: true, Hidden: true,
		Order: []string{"by nobody", "by some", "by all"}},
		gridColumn{Name: "what", Hidden: true}, gridColumn{Name: "link", Hidden: true},
		gridColumn{Name: "rank", Kind: "num", Hidden: true})...)
	keys := map[string]map[string]*audit.Vulnerability{}
	for _, at := range order {
		if keys[at.project] == nil {
			keys[at.project] = entries(s.in.Projects[at.project])
		}
		k := cmp.Or(keys[at.project][at.id], &audit.Vulnerability{})
		l := lines[at]
		cells := []any{clip(at.id, 60), clip(at.project, 60), clip(l.dimension, 40),
			k.Severity.String()}
		found, asked := 0, 0
		for _, n := range names {
			c := l.cells[n]
			cells = append(cells, c.share())
			if kind[n] < 2 && c.Trials > 0 {
				asked++
				found += min(1, c.Full)
			}
		}
		by := "by some"
		switch found {
		case 0:
			by = "by nobody"
		case asked:
			by = "by all"
		}
		g.add(append(cells, by, clip(k.Title, 140), "projects/"+pageName(at.project)+"#"+
			url.PathEscape(at.id), int(k.Severity))...)
	}
	return g
}

// foundWords are the choices of a column that says in how many trials an entry was found.
var foundWords = []string{"missed", "found in some", "found in all"}

// records returns the grid of all records.
func (s *site) records() *grid {
	if len(s.in.Records) == 0 {
		return nil
	}
	g := newGrid("", gridColumn{Name: "date", Link: "link"}, gridColumn{Name: "suite", Pick: true},
		gridColumn{Name: "project", Pick: true}, gridColumn{Name: "auditor", Pick: true},
		gridColumn{Name: "verdict", Kind: "badge", Pick: true}, gridColumn{Name: "recall, %",
			Kind: "num", Term: "recall"}, gridColumn{Name: "change", Kind: "text",
			Term: "what-changed"}, gridColumn{Name: "link", Hidden: true})
	for i := len(s.in.Records) - 1; i >= 0; i-- {
		r := s.in.Records[i]
		w := rowOf(r)
		var recall any
		if w.Recall.Value.Defined {
			recall = math.Round(1000*w.Recall.Value.V) / 10
		}
		g.add(r.Date.UTC().Format("2006-01-02 15:04:05"), clip(r.Suite, 20), clip(r.Project, 60),
			w.Label(), clip(string(w.Verdict), 40), recall, clip(r.Change, 200), w.Page)
	}
	return g
}

// asides counts the rows that need no mention: recordings that came out as recorded, and
// controls.
func asides(rows []row) (recorded, controls int) {
	for _, r := range rows {
		switch {
		case !r.aside(), r.Record.SideOf != "":
		case r.Record.Control != "":
			controls++
		default:
			recorded++
		}
	}
	return recorded, controls
}

// writeRuns writes a page for each of the newest runs and offers them on the overview.
func (s *site) writeRuns(o *overview) error {
	type run struct {
		at   time.Time
		name string
		page *overview
	}
	var runs []run
	ids, records := byRun(s.in.Records)
	for _, id := range ids[:min(runsMost, len(ids))] {
		in := SiteInput{Records: records[id]}
		k, errs := rankAuditors(in.latest("Regression"))
		if k == nil || k.best() == nil {
			continue
		}
		at := records[id][0].Date.UTC()
		runs = append(runs, run{at, "Regression of " + at.Format("2006-01-02 15:04"),
			&overview{Rankings: []*ranking{s.dress(k)}, Notes: said(errs)}})
	}
	if s.in.Results != nil {
		for i := range s.in.Results.Past {
			p := &s.in.Results.Past[i]
			runs = append(runs,
				run{p.Started, "Bench of " + p.Started.UTC().Format("2006-01-02 15:04"),
					&overview{Rankings: []*ranking{s.dress(p.ranking)}}})
		}
	}
	if len(runs) < 2 {
		return nil
	}
	slices.SortStableFunc(runs, func(a, b run) int { return b.at.Compare(a.at) })
	runs = runs[:min(runsMost, len(runs))]
	choice := []runChoice{{Text: "the newest of each", Page: "index.html"}}
	for i, r := range runs {
		choice = append(choice, runChoice{Text: r.name, Page: fmt.Sprintf("runs/%s-%d.html",
			r.at.UTC().Format("20060102T150405"), i+1)})
	}
	o.Choice = slices.Clone(choice)
	o.Choice[0].Here = true
	for i, r := range runs {
		r.page.Title, r.page.Choice = r.name, slices.Clone(choice)
		r.page.Choice[i+1].Here = true
		if err := s.render(choice[i+1].Page, "index.html", "index.html",
			r.name, r.page); err != nil {
			return err
		}
	}
	return nil
}
