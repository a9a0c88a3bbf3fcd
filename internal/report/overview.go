package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// An overview is the first page: what changed first, then who is live, then who is
// better.
type overview struct {
	Changes  []Moved
	Quiet    []string // what is as it was, in a line each
	stay     []string // who is
	Live     []liveLine
	Short    []pointer // who is better, by how much, whether that is settled
	Look     []pointer // what to look at next
	unfound  []pointer // projects with entries that nobody found, the last of Look
	Variants []variantLine
	Forest   *chart
	Results  *Results
	Runs     []Ran
	Notes    []string
}

const (
	changesMost  = 12  // changes that the overview tells
	notesMost    = 20  // notes that it shows
	variantsMost = 100 // reviewers that the pages show
)

func (s *site) write() error {
	o := overview{Notes: slices.Clone(s.in.Notes[:min(notesMost, len(s.in.Notes))]), Results: s.in.Results, Runs: s.in.Runs}
	if n := len(s.in.Notes) - notesMost; n > 0 {
		o.Notes = append(o.Notes, amount(n, "note")+" more: assay report --format text tells all.")
	}
	if err := s.writeRegression(&o); err != nil {
		return err
	}
	if s.in.Results != nil {
		if err := s.writeBench(&o); err != nil {
			return err
		}
	}
	if len(o.stay) > 0 {
		o.Quiet = slices.Insert(o.Quiet, 0, few(o.stay)+": as at the baseline.")
	}
	slices.SortStableFunc(o.Changes, worstFirst)
	if n := len(o.Changes) - changesMost; n > 0 {
		o.Changes = o.Changes[:changesMost]
		o.Quiet = append(o.Quiet, fmt.Sprintf("%d more are less urgent than these: see Regression.", n))
	}
	o.Look = append(o.Look, o.unfound[:min(lookProjects, len(o.unfound))]...)
	return s.render("index.html", "index.html", "index.html", "Overview", o)
}

func said(errs []error) (texts []string) {
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return texts
}

func (s *site) writeBench(o *overview) error {
	ls, err := variantLines(s.in.Results)
	if err != nil {
		return err
	}
	if n := len(ls); n > variantsMost {
		ls = ls[:variantsMost]
		o.Notes = append(o.Notes, fmt.Sprintf("The %d reviewers with the highest balanced accuracy are shown, of %d. assay report --format csv tells all.", variantsMost, n))
	}
	p, err := newBenchPage(s.in.Results, ls)
	if err != nil {
		return err
	}
	o.Variants, o.Forest = ls, p.Top
	all := CasesOf(s.in.Apps)
	for _, l := range ls {
		m, told, err := s.in.reviewed(l.VariantResults, all)
		if err != nil {
			o.Notes = append(o.Notes, err.Error())
		}
		switch {
		case m.stays:
			o.stay = append(o.stay, m.Who)
		case told:
			o.Changes = append(o.Changes, m)
		}
	}
	o.benchShort(p.Pairs)
	if err := s.render("bench.html", "bench.html", "bench.html", "Bench", p, p.Families); err != nil {
		return err
	}
	lines := cases(ls)
	if err := s.writeCases(ls, lines); err != nil {
		return err
	}
	slices.SortStableFunc(lines, harder)
	o.lookAtCases(lines)
	return nil
}

type regressionPage struct {
	Matrix  matrix
	Rows    []row
	Records *grid
	Cut     string
}

// rowsMost is of how many of the newest records of each auditor on each project figures
// are shown.
const rowsMost = 750

func (s *site) writeRegression(o *overview) error {
	if len(s.in.Records) == 0 {
		return nil
	}
	rows, smoke := s.in.latest("Regression"), s.in.latest("Smoke")
	both := slices.Concat(smoke, rows)
	moved, errs := s.in.moved(both)
	o.Notes = append(o.Notes, said(errs)...)
	for _, m := range moved {
		if m.stays {
			o.stay = append(o.stay, m.Who)
		} else {
			o.Changes = append(o.Changes, m)
		}
	}
	o.quiet(both)
	o.Live = s.live(both)
	p := &regressionPage{Matrix: matrixOf(rows), Rows: rows[:min(rowsMost, len(rows))]}
	if len(rows) > len(p.Rows) {
		p.Cut = fmt.Sprintf("Figures of %d newest records are shown, of %d: assay report --format csv tells all.", len(p.Rows), len(rows))
	}
	p.Records = s.records()
	if err := s.render("regression.html", "regression.html", "regression.html", "Regression", p, p.Records); err != nil {
		return err
	}
	byProject := map[string][]row{}
	for _, r := range both {
		byProject[r.Record.Project] = append(byProject[r.Record.Project], r)
	}
	for _, name := range slices.Sorted(maps.Keys(byProject)) {
		p := s.projectPage(name, byProject[name])
		o.lookAtProject(p)
		if err := s.render(byProject[name][0].Project, "project.html", "regression.html", name, p, p.Known, p.Findings, p.Decoys, p.Turns); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) records() *grid {
	g := newGrid("", gridColumn{Name: "date", Link: "link"}, gridColumn{Name: "suite", Pick: true}, gridColumn{Name: "project", Pick: true}, gridColumn{Name: "auditor", Pick: true},
		gridColumn{Name: "verdict", Kind: "badge", Pick: true}, gridColumn{Name: "recall, %", Kind: "num"}, gridColumn{Name: "change", Kind: "text"}, gridColumn{Name: "link", Hidden: true})
	for i := len(s.in.Records) - 1; i >= 0; i-- {
		r := s.in.Records[i]
		w := rowOf(r)
		var recall any
		if w.Recall.Value.Defined {
			recall = math.Round(1000*w.Recall.Value.V) / 10
		}
		g.add(r.Date.UTC().Format("2006-01-02 15:04:05"), clip(r.Suite, 20), clip(r.Project, 60), w.Label(), clip(string(w.Verdict), 40), recall, clip(r.Change, 200), w.Page)
	}
	return g
}

// asides counts the rows that need no telling: recordings that came out as recorded,
// and controls.
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

func (o *overview) quiet(rows []row) {
	recorded, controls := asides(rows)
	if recorded > 0 {
		o.Quiet = append(o.Quiet, amount(recorded, "recording")+" of other tools scored as recorded.")
	}
	if controls > 0 {
		o.Quiet = append(o.Quiet, amount(controls, "record")+" of controls, which read no code.")
	}
}
