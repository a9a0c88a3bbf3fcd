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

// A row is one record as tables show it.
type row struct {
	Record  *record.Record
	Page    string // from the report's root
	Project string // its page
	Verdict audit.Verdict
	Metrics *score.Metrics // of the first trial that counts; nil without one
	Letter  *score.Letter
	Trials  int // that count
	Look    string
}

func (r row) name() string { return r.Record.Project + "\x00" + r.Record.Auditor }

// Label is the auditor's name with what a reader must know beside it.
func (r row) Label() string {
	switch {
	case r.Record.Control != "":
		return r.Record.Auditor + " (control)"
	case r.Record.Replay:
		return r.Record.Auditor + " (replay)"
	}
	return r.Record.Auditor
}

// Sort gives the figure by which tables sort; nothing where it is undefined.
func (r row) Sort(v score.Value) string {
	if !v.Defined {
		return ""
	}
	return fmt.Sprintf("%.6f", v.V)
}

func (s *site) rowOf(r *record.Record) row {
	w := row{Record: r, Verdict: r.Judgement.Verdict, Page: s.recordPage(r), Project: "projects/" + pageName(r.Project)}
	if v := valid(r); len(v) > 0 {
		w.Metrics, w.Letter, w.Trials = &v[0].Metrics, &v[0].Letter, len(v)
	}
	if r.Judgement.Verdict != audit.Pass && len(r.Judgement.Grounds) > 0 {
		w.Look = r.Judgement.Grounds[0].Text
	}
	return w
}

// recordPage names the page of a record. Two of one second and one name, as files
// have them, get numbers.
func (s *site) recordPage(r *record.Record) string {
	if s.names == nil {
		s.names = map[*record.Record]string{}
		seen := map[string]int{}
		for _, r := range s.in.Records {
			name := r.Name()
			if seen[name]++; seen[name] > 1 {
				name = fmt.Sprintf("%s~%d", name, seen[name])
			}
			s.names[r] = "records/" + pageName(name)
		}
	}
	return s.names[r]
}

// latest gives the newest record of each project and auditor, by project, then
// auditor.
func (s *site) latest(suite string) []row {
	newest := map[string]row{}
	for _, r := range s.in.Records {
		if r.Suite == suite {
			w := s.rowOf(r)
			newest[w.name()] = w
		}
	}
	rows := make([]row, 0, len(newest))
	for _, k := range sortedKeys(newest) {
		rows = append(rows, newest[k])
	}
	return rows
}

// A matrix is projects down and auditors across.
type matrix struct {
	Auditors []string
	Lines    []matrixLine
}

type matrixLine struct {
	Project, Page string
	Cells         []*row // nil where the auditor has no record
}

func matrixOf(rows []row) matrix {
	var m matrix
	for _, r := range rows {
		if !slices.Contains(m.Auditors, r.Record.Auditor) {
			m.Auditors = append(m.Auditors, r.Record.Auditor)
		}
	}
	slices.Sort(m.Auditors)
	for i := range rows {
		r := &rows[i]
		if n := len(m.Lines); n == 0 || m.Lines[n-1].Project != r.Record.Project {
			m.Lines = append(m.Lines, matrixLine{r.Record.Project, r.Project, make([]*row, len(m.Auditors))})
		}
		m.Lines[len(m.Lines)-1].Cells[slices.Index(m.Auditors, r.Record.Auditor)] = r
	}
	return m
}

// A projectPage shows one key with what each auditor made of it.
type projectPage struct {
	Name    string
	Key     *audit.Project // nil where the key is not at hand
	Rows    []row
	Known   []knownLine
	Decoys  []decoyLine
	Heat    []heatLine
	History *chart
	Diffs   []*RecordDiff // of each auditor's last two records
	Broken  []string      // why two records could not be compared
	Stale   []string      // records that were made with another key
}

type knownLine struct {
	score.KnownResult
	Entry *audit.Known
	Cells []foundCell
	Found int // auditors that found it, wholly or by half
}

// A foundCell is what one auditor made of an entry.
type foundCell struct {
	Word   string // "found", "half", "missed", or empty where the record has another key
	Full   int    // trials with a full match
	Trials int
}

type decoyLine struct {
	Entry audit.Decoy
	Hits  []int // trials in which the auditor hit it
}

type heatLine struct {
	Dimension audit.Dimension
	Minimum   int
	Cells     []heatCell
}

type heatCell struct {
	score.DimensionCount
	Short bool // below the minimum
	Blank bool // no trial that counts
}

func (s *site) projectPage(name string, rows []row) *projectPage {
	p := &projectPage{Name: name, Key: s.in.Projects[name], Rows: rows}
	p.known()
	p.decoys()
	p.heat()
	p.history(s.in.Records)
	p.diffs(s.in.Records)
	for _, r := range rows {
		if p.Key != nil && r.Record.Key != "" && r.Record.Key != p.Key.KeyHash {
			p.Stale = append(p.Stale, r.Record.Auditor)
		}
	}
	return p
}

func (p *projectPage) known() {
	entries := map[string]*audit.Known{}
	if p.Key != nil {
		for i := range p.Key.Known {
			entries[p.Key.Known[i].ID] = &p.Key.Known[i]
		}
	}
	at := map[string]int{}
	for _, r := range p.Rows {
		for _, res := range valid(r.Record) {
			for _, k := range res.Known {
				if _, ok := at[k.ID]; !ok {
					at[k.ID] = len(p.Known)
					p.Known = append(p.Known, knownLine{KnownResult: k, Entry: entries[k.ID], Cells: make([]foundCell, len(p.Rows))})
				}
			}
		}
	}
	for i, r := range p.Rows {
		for _, res := range valid(r.Record) {
			for _, k := range res.Known {
				p.Known[at[k.ID]].Cells[i].add(k.Credit)
			}
		}
	}
	for i := range p.Known {
		for _, c := range p.Known[i].Cells {
			if c.Word == "found" || c.Word == "half" {
				p.Known[i].Found++
			}
		}
	}
}

func (c *foundCell) add(credit float64) {
	c.Trials++
	switch {
	case credit == 1:
		c.Full++
		c.Word = "found"
	case credit > 0 && c.Word != "found":
		c.Word = "half"
	case c.Word == "":
		c.Word = "missed"
	}
}

// Text gives "found", "found 2/3", "half", "missed".
func (c foundCell) Text() string {
	if c.Word == "found" && c.Full < c.Trials {
		return fmt.Sprintf("found %d/%d", c.Full, c.Trials)
	}
	return c.Word
}

func (p *projectPage) decoys() {
	if p.Key == nil {
		return
	}
	for _, d := range p.Key.Decoys {
		l := decoyLine{Entry: d, Hits: make([]int, len(p.Rows))}
		for i, r := range p.Rows {
			for _, res := range valid(r.Record) {
				if slices.ContainsFunc(res.Findings, func(f score.Scored) bool { return f.Fate == score.DecoyHit && f.Reason.Entry == d.ID }) {
					l.Hits[i]++
				}
			}
		}
		p.Decoys = append(p.Decoys, l)
	}
}

func (p *projectPage) heat() {
	for i, d := range audit.Dimensions() {
		l := heatLine{Dimension: d}
		if p.Key != nil {
			l.Minimum = p.Key.Minimums[d]
		}
		for _, r := range p.Rows {
			if r.Metrics == nil || i >= len(r.Metrics.Dimensions) {
				l.Cells = append(l.Cells, heatCell{Blank: true})
				continue
			}
			c := r.Metrics.Dimensions[i]
			l.Cells = append(l.Cells, heatCell{DimensionCount: c, Short: c.Credit < float64(r.Record.Goals.Minimums[d])})
		}
		p.Heat = append(p.Heat, l)
	}
}

// history draws recall over the project's records, with the goal.
func (p *projectPage) history(all []*record.Record) {
	var lines []series
	var goal score.Value
	for _, r := range p.Rows {
		l := series{Name: r.Record.Auditor}
		for _, rec := range all {
			if rec.Project != p.Name || rec.Auditor != r.Record.Auditor || rec.Suite != r.Record.Suite {
				continue
			}
			for _, g := range rec.Judgement.Grounds {
				if g.Metric == score.MetricRecall && g.Now.Defined {
					l.Points = append(l.Points, point{At: rec.Date, Y: g.Now.V})
					break
				}
			}
		}
		if r.Record.Goals.Recall > 0 {
			goal = score.Of(r.Record.Goals.Recall)
		}
		lines = append(lines, l)
	}
	p.History = lineChart("Recall over the records", lines, goal)
}

func (p *projectPage) diffs(all []*record.Record) {
	for _, r := range p.Rows {
		var own []*record.Record
		for _, rec := range all {
			if rec.Project == p.Name && rec.Auditor == r.Record.Auditor && rec.Suite == r.Record.Suite {
				own = append(own, rec)
			}
		}
		if len(own) < 2 {
			continue
		}
		d, err := DiffRecords(own[len(own)-2], own[len(own)-1], score.Rules{Deterministic: true})
		switch {
		case Mismatch(err):
			p.Broken = append(p.Broken, fmt.Sprintf("%s: the last two records were made by different rules or keys: assay compare --rescore sets them against each other", r.Record.Auditor))
		case err != nil:
			p.Broken = append(p.Broken, fmt.Sprintf("%s: %v", r.Record.Auditor, err))
		case len(d.Lost)+len(d.Found)+len(d.New)+len(d.Gone) > 0:
			p.Diffs = append(p.Diffs, d)
		}
	}
}

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

// findingsPage is how many findings a page shows: the longest that a finding may
// take, times this, stays below MaxPage.
const findingsPage = 300

// writeRecord writes the pages of a record: one for each trial and each so many
// findings.
func (s *site) writeRecord(r *record.Record) error {
	w := s.rowOf(r)
	res := valid(r)
	base := recordPage{row: w, Key: s.in.Projects[r.Project], Figures: figures(nil, res)}
	type part struct{ trial, from, to int }
	parts := []part{}
	for i, t := range res {
		for from := 0; from == 0 || from < len(t.Findings); from += findingsPage {
			parts = append(parts, part{i, from, min(from+findingsPage, len(t.Findings))})
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
	for i, pt := range parts {
		p := base
		t := res[pt.trial]
		p.Trial, p.First, p.Total, p.Findings = pt.trial+1, pt.from+1, len(t.Findings), clipFindings(t.Findings[pt.from:pt.to])
		if pt.from == 0 {
			p.Known = details(t, p.Key)
		}
		if len(parts) > 1 {
			for k, o := range parts {
				p.Others = append(p.Others, pageLink{fmt.Sprintf("trial %d, findings %d to %d", o.trial+1, o.from+1, o.to), strings.TrimPrefix(name(k), "records/"), k == i})
			}
		}
		if err := s.render(name(i), "record.html", "Regression", r.Auditor+" on "+r.Project, p); err != nil {
			return err
		}
	}
	return nil
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
