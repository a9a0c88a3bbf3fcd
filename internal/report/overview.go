package report

import (
	"cmp"
	"fmt"
	"slices"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
)

// An overview is the first page.
type overview struct {
	Short    []headline // who is better, by how much, whether that is settled
	Look     []lookAt   // what to look at next
	unfound  []lookAt   // projects with entries that nobody found, the last of Look
	Verdicts []verdictCount
	Controls int // records of controls, which are in no verdict count
	Matrix   matrix
	Smoke    []row
	Variants []variantLine
	Forest   *chart
	Pairs    []pairLine
	PairNote string
	Hard     []caseLine // answered wrongly most often
	Results  *Results
	Notes    []string
}

type verdictCount struct {
	Verdict audit.Verdict
	N       int
}

// hardMost is how many cases the overview names.
const hardMost = 10

// notesMost is how many notes it shows.
const notesMost = 20

// variantsMost is how many reviewers the pages show.
const variantsMost = 100

// write writes every page.
func (s *site) write() error {
	o := overview{Notes: s.in.Notes[:min(notesMost, len(s.in.Notes))], Results: s.in.Results}
	if err := s.writeRegression(&o); err != nil {
		return err
	}
	if s.in.Results != nil {
		if err := s.writeBench(&o); err != nil {
			return err
		}
	}
	o.lookAtCases()
	o.Look = append(o.Look, o.unfound[:min(lookProjects, len(o.unfound))]...)
	return s.render("index.html", "index.html", "Overview", "Overview", o)
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
	o.Variants, o.Forest, o.Pairs, o.PairNote = ls, p.Top, p.Pairs, p.PairNote
	if err := s.render("bench.html", "bench.html", "Bench", "Bench", p); err != nil {
		return err
	}
	all := cases(ls)
	slices.SortStableFunc(all, func(a, b caseLine) int { return cmp.Compare(least(a.Cells), least(b.Cells)) })
	for _, c := range all {
		if len(o.Hard) < hardMost && c.All.Right < c.All.Answered {
			o.Hard = append(o.Hard, c)
		}
	}
	o.benchShort()
	return s.writeCases(ls)
}

// A regressionPage is every auditor on every project.
type regressionPage struct {
	Matrix matrix
	Rows   []row
	All    []row
	Cut    string
}

// recordsMost is how many records the list names, newest first; recordPages how
// many of them have pages beside the newest of each auditor on each project.
const (
	recordsMost = 1000
	recordPages = 200
)

func (s *site) writeRegression(o *overview) error {
	if len(s.in.Records) == 0 {
		return nil
	}
	rows, smoke := s.latest("Regression"), s.latest("Smoke")
	o.Matrix, o.Smoke = matrixOf(rows), smoke
	o.verdicts(slices.Concat(smoke, rows))
	o.auditShort(rows)
	o.lookAtRecords(slices.Concat(smoke, rows))
	p := &regressionPage{Matrix: o.Matrix, Rows: rows[:min(rowsMost/2, len(rows))]}
	if len(rows) > len(p.Rows) {
		p.Cut = fmt.Sprintf("Figures of %d newest records are shown, of %d: assay report --format csv tells all. ", len(p.Rows), len(rows))
	}
	paged := map[*record.Record]bool{}
	for _, r := range slices.Concat(rows, smoke) {
		paged[r.Record] = true
	}
	for i := len(s.in.Records) - 1; i >= 0 && len(p.All) < recordsMost; i-- {
		r := s.in.Records[i]
		w := s.rowOf(r)
		if len(p.All) < recordPages {
			paged[r] = true
		}
		if !paged[r] {
			w.Page = ""
		}
		p.All = append(p.All, w)
	}
	if n := len(s.in.Records); n > recordsMost {
		p.Cut += fmt.Sprintf("The newest %d of %d records are listed.", recordsMost, n)
	}
	if err := s.render("regression.html", "regression.html", "Regression", "Regression", p); err != nil {
		return err
	}
	byProject := map[string][]row{}
	for _, r := range slices.Concat(smoke, rows) {
		byProject[r.Record.Project] = append(byProject[r.Record.Project], r)
	}
	for _, name := range sortedKeys(byProject) {
		p := s.projectPage(name, byProject[name])
		o.lookAtProject(p)
		if err := s.render(byProject[name][0].Project, "project.html", "Regression", name, p); err != nil {
			return err
		}
	}
	for _, r := range s.in.Records {
		if paged[r] {
			if err := s.writeRecord(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *overview) verdicts(rows []row) {
	n := map[audit.Verdict]int{}
	for _, r := range rows {
		if r.Record.Control != "" {
			o.Controls++
			continue
		}
		n[r.Verdict]++
	}
	for _, v := range verdictOrder {
		if n[v] > 0 {
			o.Verdicts = append(o.Verdicts, verdictCount{v, n[v]})
		}
	}
}

func init() {
	functions["list3"] = func(vs ...string) []string { return vs }
	functions["dispositions"] = func() []score.Disposition { return score.Dispositions() }
	functions["placeOf"] = func(s score.Scored) string { return place(&s) }
}
