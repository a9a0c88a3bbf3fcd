package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
)

type row struct {
	Record  *record.Record
	Page    string // its place on the project's page, from the report's root
	Project string // its page
	Verdict audit.Verdict
	Recall  score.Estimate // over all trials that count
	Metrics *score.Metrics // Record.Figures
	Rates   *score.Rates   // of the first of them
	Trials  int            // that count
	Ended   string         // "1 of 3 runs ended early"; empty where none did
	Look    string
}

// kind orders rows: live ones first, then replays, controls last.
func (r row) kind() int {
	switch {
	case r.Record.Control != "":
		return 2
	case r.Record.Replay:
		return 1
	}
	return 0
}

// Label returns the auditor's name, marked if it is a replay or a control.
func (r row) Label() string {
	return clip(r.Record.Auditor, shortMost) + [...]string{"",
		" (recorded)", " (control)"}[r.kind()]
}

// rowOf returns the row of a record.
func rowOf(r *record.Record) row {
	w := row{Record: r, Verdict: r.Judgement.Verdict, Project: "projects/" + pageName(r.Project)}
	w.Page = w.Project + "#" + w.Anchor()
	if v := r.Counting(); len(v) > 0 {
		w.Metrics, w.Rates, w.Trials = r.Figures(), &v[0].Rates, len(v)
	}
	w.Recall = recallOver(r)
	if runs, early := r.Ended(); early > 0 {
		w.Ended = fmt.Sprintf("%d of %d runs ended early", early, runs)
	}
	if r.Judgement.Verdict != audit.Pass && len(r.Judgement.Reasons) > 0 {
		w.Look = r.Judgement.Reasons[0].Text
	}
	return w
}

// Anchor names the auditor's part of its project's page.
func (r row) Anchor() string {
	return "by-" + strings.TrimSuffix(pageName(r.Record.Auditor),
		".html")
}

// latest returns the newest record of each project and auditor, sorted by project and auditor.
func (in *SiteInput) latest(suite string) []row {
	newest := map[string]row{}
	for _, r := range in.Records {
		if r.Suite == suite {
			newest[r.Project+"\x00"+r.Auditor] = rowOf(r)
		}
	}
	rows := make([]row, 0, len(newest))
	for _, k := range slices.Sorted(maps.Keys(newest)) {
		rows = append(rows, newest[k])
	}
	return rows
}

type matrix struct {
	Auditors []string // as labels; those on most projects first, controls last
	Lines    []matrixLine
	Cut      string
}

type matrixLine struct {
	Project, Page string
	Cells         []*row // nil where the auditor has no record
}

const auditorsMost = 40 // columns of a table

// matrixOf returns the matrix of auditors and projects.
func matrixOf(rows []row) matrix {
	n, first := map[string]int{}, map[string]row{}
	for _, r := range rows {
		name := r.Record.Auditor
		if n[name]++; n[name] == 1 {
			first[name] = r
		}
	}
	last := func(name string) int { return map[bool]int{true: 1}[first[name].Record.Control != ""] }
	names := slices.SortedFunc(maps.Keys(n), func(a, b string) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(n[b], n[a]), cmp.Compare(a, b))
	})
	var m matrix
	if len(names) > auditorsMost {
		m.Cut = fmt.Sprintf("%d of %d auditors are shown: those with records on most projects.",
			auditorsMost, len(names))
		names = names[:auditorsMost]
	}
	for _, name := range names {
		m.Auditors = append(m.Auditors, first[name].Label())
	}
	for i := range rows {
		r := &rows[i]
		if n := len(m.Lines); n == 0 || m.Lines[n-1].Project != r.Record.Project {
			m.Lines = append(m.Lines, matrixLine{r.Record.Project, r.Project,
				make([]*row, len(names))})
		}
		if at := slices.Index(names, r.Record.Auditor); at >= 0 {
			m.Lines[len(m.Lines)-1].Cells[at] = r
		}
	}
	return m
}
