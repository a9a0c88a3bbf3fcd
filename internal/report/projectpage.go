package report

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
)

type projectPage struct {
	Name string
	Key  *audit.Project // nil where the key is not at hand
	// the pinned tree in its public repository; empty where it has no known form
	Pin         string
	Rows        []auditorPart
	Changes     []Moved
	Known       *grid
	Unfound     int // entries that no auditor found
	Findings    *grid
	Decoys      *grid
	Heat        []heatLine
	History     *chart
	Turns       *grid // of all runs whose events tell them
	Transcripts []transcriptPart
	Stale       []string // records that were made with another key
	Notes       []string // what is left out
}

// An auditorPart is one auditor's newest record on the project's page.
type auditorPart struct {
	row
	Figures  []FigureDiff // Now holds the record's
	Together []string     // what several trials found together
	Diff     *RecordDiff  // against the record before; nil without one
	Broken   string       // why the two could not be compared
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

// Corroborated returns the rows whose key has corroborated entries.
func (p *projectPage) Corroborated() []auditorPart {
	return slices.DeleteFunc(slices.Clone(p.Rows),
		func(r auditorPart) bool { return r.Metrics == nil || r.Metrics.Corroborated.Known == 0 })
}

// projectPage returns the page of a project.
func (s *site) projectPage(name string, rows []row) *projectPage {
	p := &projectPage{Name: name, Key: s.in.Projects[name]}
	if p.Key != nil {
		p.Pin = pinned(p.Key)
	}
	if n := len(rows); n > auditorsMost {
		slices.SortStableFunc(rows,
			func(a, b row) int { return cmp.Compare(b.Recall.Value.V, a.Recall.Value.V) })
		rows = rows[:auditorsMost]
		p.Notes = append(p.Notes,
			fmt.Sprintf("%d of %d auditors are shown: those with the highest recall.",
				auditorsMost, n))
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.kind(), b.kind()), cmp.Compare(b.Record.Suite, a.Record.Suite),
			cmp.Compare(a.Record.Auditor, b.Record.Auditor))
	})
	rated, unrated := 0, false
	for i, r := range rows {
		if r.Rates != nil {
			rated += len(r.Rates.Rows())
		}
		if rated > ratesMost {
			r.Rates = nil
			if !unrated {
				p.Notes = append(p.Notes,
					fmt.Sprintf(
						"Figures by CWE are shown of the first %d auditors: assay report --format csv has all.", i))
			}
			unrated = true
		}
		a := auditorPart{row: r, Figures: figures(nil, r.Record),
			Together: record.Together(r.Record.Counting())}
		a.diff(s.in.Records)
		p.Rows = append(p.Rows, a)
		if p.Key != nil && r.Record.Key != "" && r.Record.Key != p.Key.KeyHash {
			p.Stale = append(p.Stale, r.Record.Auditor)
		}
	}
	changes, errs := s.in.moved(rows)
	p.Notes = append(p.Notes, said(errs)...)
	for _, m := range changes {
		m.Page = m.Page[strings.Index(m.Page, "#"):]
		p.Changes = append(p.Changes, m)
	}
	slices.SortStableFunc(p.Changes, worstFirst)
	src := &excerpts{read: s.in.Source, project: name, lines: map[string][]string{},
		room: excerptsMost}
	s.transcripts(p)
	p.known(s, src)
	p.findings(src)
	p.decoys()
	p.heat()
	p.history(s)
	return p
}

// pinned returns the address of the pinned tree, to which a file's path is appended; "" unless
// the repository is on a known forge.
func pinned(p *audit.Project) string {
	u, err := url.Parse(strings.TrimSuffix(p.Repository, ".git"))
	if err != nil || u.Scheme != "https" || p.Commit == "" {
		return ""
	}
	middle := map[string]string{"github.com": "/blob/", "gitlab.com": "/-/blob/",
		"gitee.com": "/blob/", "codeberg.org": "/src/commit/"}[u.Host]
	if middle == "" {
		return ""
	}
	return "https://" + u.Host + u.EscapedPath() + middle + url.PathEscape(p.Commit) + "/"
}

// at returns the address of lines of a file at the pin; "" if there is no such file.
func (p *projectPage) at(file string, lines audit.Range) string {
	if p.Pin == "" || p.Key == nil {
		return ""
	}
	if _, ok := p.Key.Tree[file]; !ok && !p.Key.Others[file] {
		return ""
	}
	to := p.Pin + (&url.URL{Path: file}).EscapedPath()
	if !lines.IsZero() {
		to += fmt.Sprintf("#L%d", lines.Start)
		if lines.End > lines.Start {
			to += fmt.Sprintf("-L%d", lines.End)
		}
	}
	return to
}

// diff compares the record with the one before it.
func (a *auditorPart) diff(all []*record.Record) {
	var before *record.Record
	for _, r := range all {
		if r != a.Record && r.Project == a.Record.Project && r.Auditor == a.Record.Auditor &&
			r.Suite == a.Record.Suite {
			before = r
		}
	}
	if before == nil {
		return
	}
	d, err := DiffRecords(before, a.Record, score.Rules{Deterministic: true})
	var mismatch *score.MismatchError
	switch {
	case errors.As(err, &mismatch) && mismatch.What != "project":
		a.Broken = "the record before was made by other rules or another key: assay compare --rescore sets the two against each other"
	case err != nil:
		a.Broken = err.Error()
	default:
		a.Diff = d
	}
}

// A foundCell is what an auditor's trials made of an entry.
type foundCell struct {
	Word   string // "found", "partial", "missed"; empty without a trial
	Full   int    // trials with a full match
	Trials int
	Since  string // "lost" or "gained" since the baseline
}

// add counts a trial's credit.
func (c *foundCell) add(credit float64) {
	c.Trials++
	switch {
	case credit == 1:
		c.Full++
		c.Word = "found"
	case credit > 0 && c.Word != "found":
		c.Word = "partial"
	case c.Word == "":
		c.Word = "missed"
	}
}

// Text returns "found", "found 2/3", "partial", "missed" or nothing.
func (c foundCell) Text() string {
	if c.Word == "found" && c.Full < c.Trials {
		return fmt.Sprintf("found %d/%d", c.Full, c.Trials)
	}
	return c.Word
}

// share returns "2/3" for two of three trials, and nothing without a trial.
func (c foundCell) share() string {
	if c.Trials == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", c.Full, c.Trials)
}

// known makes the table of vulnerabilities.
func (p *projectPage) known(s *site, src *excerpts) {
	type line struct {
		score.EntryResult
		cells []foundCell
	}
	var ids []string
	lines := map[string]*line{}
	for i, r := range p.Rows {
		for _, res := range r.Record.Counting() {
			for _, k := range res.Known {
				l := lines[k.ID]
				if l == nil {
					l = &line{k, make([]foundCell, len(p.Rows))}
					lines[k.ID], ids = l, append(ids, k.ID)
				}
				l.cells[i].add(k.Credit)
			}
		}
		for word, cs := range map[string][]score.EntryChange{"lost": r.Record.Judgement.Lost,
			"gained": r.Record.Judgement.Gained} {
			for _, c := range cs {
				if l := lines[c.ID]; l != nil {
					l.cells[i].Since = word
				}
			}
		}
	}
	key := entries(p.Key)
	cols := []gridColumn{{Name: "ID"}, {Name: "what", Kind: "text", Note: "CWE", Opens: true,
		Term: "vulnerability"}, {Name: "place", Kind: "code", Link: "link"},
		{Name: "dimension", Pick: true}, {Name: "severity", Pick: true, By: "rank",
			Order: severities}}
	for _, r := range p.Rows {
		c := gridColumn{Name: r.Label(), Kind: "badge", Pick: true, Term: "found",
			Class: s.Class(clip(r.Record.Auditor, shortMost))}
		if r.kind() > 0 {
			c.Kind, c.Pick, c.Term = "share", false, "found-in-trials"
		}
		cols = append(cols, c)
	}
	cols = append(cols, gridColumn{Name: "found", Pick: true, Hidden: true,
		Order: []string{"by nobody", "by some", "by all"}}, gridColumn{Name: "since the baseline",
		Pick: true, Hidden: true},
		gridColumn{Name: "CWE", Hidden: true}, gridColumn{Name: "link", Hidden: true},
		gridColumn{Name: "rank", Kind: "num", Hidden: true},
		gridColumn{Name: "evidence", Kind: "words"}, gridColumn{Name: "source", Kind: "source"})
	g := newGrid("ID", cols...)
	for _, id := range ids {
		l := lines[id]
		k := cmp.Or(key[id], &audit.Vulnerability{File: l.File})
		cells := []any{clip(id, 60), clip(k.Title, 300), clip(placeAt(k.File, k.Lines), 320),
			clip(string(l.Dimension), 40), k.Severity.String()}
		n, real, since := 0, 0, map[string]bool{}
		for i, c := range l.cells {
			if p.Rows[i].kind() > 0 {
				cells = append(cells, c.share())
				if p.Rows[i].kind() == 1 {
					real++
					n += min(1, c.Full)
				}
				continue
			}
			text := c.Text()
			if c.Since != "" {
				text += ", " + c.Since
				since[c.Since] = true
			}
			cells = append(cells, text)
			g.Badges[text] = badge(cmp.Or(c.Since, c.Word))
			real++
			if c.Word == "found" || c.Word == "partial" {
				n++
			}
		}
		found := "by some"
		switch n {
		case 0:
			found = "by nobody"
			p.Unfound++
		case real:
			found = "by all"
		}
		g.add(append(cells, found, strings.Join(slices.Sorted(maps.Keys(since)), "|"),
			audit.JoinCWEs(k.CWEs), p.at(k.File, k.Lines), int(k.Severity), clip(k.Evidence, 1000),
			src.around(k.File, audit.Range{}, k.Lines))...)
	}
	p.Known = g
}

var severities = []string{"CRITICAL", "HIGH", "MEDIUM", "LOW", "INFO"}

// judged says in a word what a finding counts as; score says why.
func judged(f *score.Scored) string {
	review, _, _ := strings.Cut(f.Review, " ")
	switch f.Disposition {
	case score.Matched, score.Partial, score.Duplicate:
		return "true"
	case score.DecoyHit, score.MissingPath, score.PastEnd:
		return "false"
	}
	switch {
	case review == "true" || review == "same":
		return "true"
	case review == "false" || review == "arguable":
		return review
	case score.Reviewable(f.Disposition) && review == "":
		return "open for review"
	}
	return "not counted"
}

const wordsOfFinding = 2000 // bytes of a description

// findings makes the table of findings.
func (p *projectPage) findings(src *excerpts) {
	var order []string
	for _, d := range score.Dispositions() {
		order = append(order, string(d))
	}
	g := newGrid("", gridColumn{Name: "outcome", Kind: "badge", Pick: true, Order: order},
		gridColumn{Name: "finding", Kind: "text", Note: "function", Opens: true},
		gridColumn{Name: "place", Kind: "code", Link: "link"}, gridColumn{Name: "CWE"},
		gridColumn{Name: "severity", Pick: true, Order: severities, By: "rank"},
		gridColumn{Name: "auditor", Pick: true, Note: "trial"}, gridColumn{Name: "why",
			Kind: "text", Note: "review"},
		gridColumn{Name: "counts as", Pick: true, Hidden: true},
		gridColumn{Name: "since the record before", Pick: true, Hidden: true},
		gridColumn{Name: "function", Hidden: true}, gridColumn{Name: "trial",
			Pick: true, Hidden: true}, gridColumn{Name: "review", Hidden: true},
		gridColumn{Name: "link", Hidden: true}, gridColumn{Name: "rank", Kind: "num", Hidden: true},
		gridColumn{Name: "description", Kind: "words"}, gridColumn{Name: "source", Kind: "source"})
	p.Findings = g
	keyed := map[string]audit.Range{}
	if p.Key != nil {
		for _, k := range p.Key.Vulnerabilities {
			keyed[k.ID] = k.Lines
		}
		for _, d := range p.Key.Decoys {
			keyed[d.ID] = d.Lines
		}
	}
	for _, r := range p.Rows {
		fresh := map[string]bool{}
		if r.Diff != nil {
			for i := range r.Diff.New {
				fresh[r.Diff.New[i].Fingerprint()] = true
			}
		}
		for n, t := range r.Record.Counting() {
			trial := ""
			if len(r.Record.Counting()) > 1 {
				trial = fmt.Sprintf("trial %d", n+1)
			}
			for i := range t.Findings {
				f := &t.Findings[i]
				since, review, description := "", "", f.Finding.Description
				if fresh[f.Fingerprint()] {
					since = "new"
				}
				if f.Review != "" {
					review = "reviewed: " + clip(f.Review, 80)
				}
				if description == f.Finding.Title {
					description = ""
				}
				function := f.Finding.Function
				if function == f.Finding.Title {
					function = ""
				}
				g.add(clip(string(f.Disposition), 40),
					clip(cmp.Or(f.Finding.Title, f.Finding.ID, "no title"), 300),
					clip(place(f), 320), clip(audit.JoinCWEs(f.Finding.CWEs), 120),
					clip(f.Finding.Severity.String(), 20),
					r.Label(), clip(cmp.Or(f.Finding.Suppressed, f.Match.String()), 400), judged(f),
					since,
					clip(function, 120), trial, review, p.at(f.Path, f.Finding.Lines),
					int(f.Finding.Severity),
					clipWords(description, wordsOfFinding), src.around(f.Path, f.Finding.Lines,
						keyed[f.Match.Entry]))
			}
		}
	}
}

// decoys makes the table of decoys.
func (p *projectPage) decoys() {
	if p.Key == nil || len(p.Key.Decoys) == 0 {
		return
	}
	cols := []gridColumn{{Name: "ID"}, {Name: "what", Kind: "text", Opens: true, Term: "decoy"},
		{Name: "place", Kind: "code", Link: "link"}}
	for _, r := range p.Rows {
		cols = append(cols, gridColumn{Name: r.Label(), Kind: "badge", Term: "decoy"})
	}
	cols = append(cols, gridColumn{Name: "hit", Pick: true, Hidden: true},
		gridColumn{Name: "link", Hidden: true}, gridColumn{Name: "why it is none", Kind: "words"})
	g := newGrid("ID", cols...)
	g.Badges["hit"], g.Badges["passed by"] = "b bad", "b good"
	for _, d := range p.Key.Decoys {
		cells := []any{clip(d.ID, 60), clip(d.Title, 300), clip(placeAt(d.File, d.Lines), 320)}
		hit := "by nobody"
		for _, r := range p.Rows {
			word := "passed by"
			for _, res := range r.Record.Counting() {
				if slices.ContainsFunc(res.Findings,
					func(f score.Scored) bool {
						return f.Disposition == score.DecoyHit &&
							f.Match.Entry == d.ID
					}) {
					word, hit = "hit", "by somebody"
				}
			}
			cells = append(cells, word)
		}
		g.add(append(cells, hit, p.at(d.File, d.Lines), clip(d.Reason, 1000))...)
	}
	p.Decoys = g
}

// heat makes the table of dimensions.
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
			l.Cells = append(l.Cells,
				heatCell{DimensionCount: c, Short: c.Credit < float64(r.Record.Goals.Minimums[d])})
		}
		p.Heat = append(p.Heat, l)
	}
}

// history makes the chart of recall over time.
func (p *projectPage) history(s *site) {
	var lines []Series
	var goal score.Value
	for _, r := range p.Rows {
		l := Series{Name: clip(r.Record.Auditor, shortMost),
			Points: recalls(s.in.Records, r.Record)}
		if r.Record.Goals.Recall > 0 {
			goal = score.Of(r.Record.Goals.Recall)
		}
		lines = append(lines, l)
	}
	p.History = lineChart("Recall over the records", lines, goal, s.Class)
}

// recalls returns the recall of all records of an auditor on a project.
func recalls(all []*record.Record, of *record.Record) (ps []point) {
	for _, r := range all {
		if r.Project != of.Project || r.Auditor != of.Auditor || r.Suite != of.Suite {
			continue
		}
		if e := recallOver(r); e.Value.Defined {
			ps = append(ps, point{r.Date, e})
		}
	}
	return ps
}

// recallOver returns a record's recall over its valid trials, as its verdict uses it.
func recallOver(r *record.Record) score.Estimate {
	p, err := score.Pool(r.Goals.ByMethodologyScore, record.ScoreTrials(r.Trials))
	if err != nil {
		return score.Estimate{} // a record that somebody changed: its page says what is wrong
	}
	return p.Recall
}

// recallBefore returns the recall of the baseline that the record was judged against.
func recallBefore(r *record.Record) (was score.Value) {
	for _, g := range r.Judgement.Reasons {
		if g.Metric == score.MetricRecall && g.Baseline.Defined && !was.Defined {
			was = g.Baseline
		}
	}
	return was
}
