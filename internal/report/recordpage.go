package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
)

// A recordPage shows one record.
type recordPage struct {
	row
	Key      *audit.Project
	Figures  []FigureDiff // Now holds the record's
	Trial    int          // of the findings that are shown, from 1
	Findings []score.Scored
	First    int // number of the first finding that is shown, from 1
	Total    int
	Others   []pageLink // the other pages of the same record
	Index    []indexPage
	Known    []knownDetail
}

type pageLink struct {
	Text, Page string
	Here       bool
}

type knownDetail struct {
	score.KnownResult
	Entry *audit.Known
	By    string // place of the finding that earned it
}

// findingsPage is how many findings a page shows at most; fewer where their words
// alone would take half of MaxPage.
const findingsPage = 300

// pageOf gives how many of the findings one page takes: one at least.
func pageOf(fs []score.Scored) int {
	room := MaxPage / 2
	for i, f := range clipFindings(fs[:min(findingsPage, len(fs))]) {
		room -= 1500 + escaped(f.Finding.Title) + escaped(f.Finding.Description) + escaped(f.Finding.File)
		if room < 0 && i > 0 {
			return i
		}
	}
	return min(findingsPage, len(fs))
}

// escaped is the length of a text in HTML, or somewhat more.
func escaped(s string) int {
	n := len(s)
	for i := range len(s) {
		if strings.IndexByte("<>&\"'+\x00", s[i]) >= 0 {
			n += 5
		}
	}
	return n
}

// writeRecord writes the pages of a record: one for each trial and each so many
// findings.
func (s *site) writeRecord(r *record.Record) error {
	w := s.rowOf(r)
	res := r.Counting()
	base := recordPage{row: w, Key: s.in.Projects[r.Project], Figures: figures(nil, res)}
	type part struct{ trial, from, to int }
	parts := []part{}
	for i, t := range res {
		for from := 0; from == 0 || from < len(t.Findings); {
			to := from + pageOf(t.Findings[from:])
			parts = append(parts, part{i, from, to})
			if from = to; to == len(t.Findings) {
				break
			}
		}
	}
	if len(parts) == 0 {
		return s.render(w.Page, "record.html", "Regression", r.Auditor+" on "+r.Project, base)
	}
	name := func(i int) string {
		if i == 0 {
			return w.Page
		}
		return fmt.Sprintf("%s-p%d.html", strings.TrimSuffix(w.Page, ".html"), i+1)
	}
	var pages []pageLink
	var index []indexPage
	for i, pt := range parts {
		page := strings.TrimPrefix(name(i), "records/")
		pages = append(pages, pageLink{fmt.Sprintf("trial %d, findings %d to %d", pt.trial+1, pt.from+1, pt.to), page, false})
		index = append(index, indexPage{page, findingRows(res[pt.trial].Findings[pt.from:pt.to])})
	}
	for i, pt := range parts {
		p := base
		t := res[pt.trial]
		p.Trial, p.First, p.Total, p.Findings = pt.trial+1, pt.from+1, len(t.Findings), clipFindings(t.Findings[pt.from:pt.to])
		if pt.from == 0 {
			p.Known = details(t, p.Key)
		}
		if len(parts) > 1 {
			p.Others, p.Index = here(pages, i), bounded(index)
		}
		if err := s.render(name(i), "record.html", "Regression", r.Auditor+" on "+r.Project, p); err != nil {
			return err
		}
	}
	return nil
}

// findingRows gives what the search across pages knows of findings.
func findingRows(fs []score.Scored) []string {
	rows := make([]string, len(fs))
	for i := range fs {
		rows[i] = clip(string(fs[i].Disposition)+" "+place(&fs[i])+" "+fs[i].Finding.Title, 140)
	}
	return rows
}

// clipFindings keeps what one auditor wrote from filling a page.
func clipFindings(fs []score.Scored) []score.Scored {
	out := slices.Clone(fs)
	for i := range out {
		out[i].Finding.Title = clip(out[i].Finding.Title, 300)
		out[i].Finding.File = clip(out[i].Finding.File, 300)
		if d := out[i].Finding.Description; len(d) > 2000 {
			out[i].Finding.Description = strings.ToValidUTF8(d[:2000], "") + " … (cut)"
		}
	}
	return out
}

func details(t *score.Result, key *audit.Project) []knownDetail {
	entries := map[string]*audit.Known{}
	if key != nil {
		for i := range key.Known {
			entries[key.Known[i].ID] = &key.Known[i]
		}
	}
	var ds []knownDetail
	for _, k := range t.Known {
		d := knownDetail{KnownResult: k, Entry: entries[k.ID]}
		if k.Finding >= 0 && k.Finding < len(t.Findings) {
			d.By = place(&t.Findings[k.Finding])
		}
		ds = append(ds, d)
	}
	slices.SortStableFunc(ds, func(a, b knownDetail) int { return cmp.Compare(a.Credit, b.Credit) })
	return ds
}

// Word says what became of the entry.
func (k knownDetail) Word() string {
	switch {
	case k.Credit == 1:
		return "found"
	case k.Credit > 0:
		return "half"
	}
	return "missed"
}
