package report

import (
	"cmp"
	"fmt"
	"slices"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
)

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
	Cut     string
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

// Corroborated gives the rows whose key has entries that something beside it
// corroborates.
func (p *projectPage) Corroborated() []row {
	return slices.DeleteFunc(slices.Clone(p.Rows), func(r row) bool { return r.Metrics == nil || r.Metrics.Corroborated.Known == 0 })
}

func (s *site) projectPage(name string, rows []row) *projectPage {
	p := &projectPage{Name: name, Key: s.in.Projects[name]}
	p.Rows, p.Cut = strongest(rows)
	rows = p.Rows
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

// strongest gives the rows that a page has columns for: those with the highest
// recall, in the order in which they came.
func strongest(rows []row) ([]row, string) {
	if len(rows) <= auditorsMost {
		return rows, ""
	}
	recall := func(r row) float64 {
		if r.Metrics == nil || !r.Metrics.Recall.Defined {
			return -1
		}
		return r.Metrics.Recall.V
	}
	order := slices.Clone(rows)
	slices.SortStableFunc(order, func(a, b row) int { return cmp.Compare(recall(b), recall(a)) })
	strong := map[*record.Record]bool{}
	for _, r := range order[:auditorsMost] {
		strong[r.Record] = true
	}
	kept := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !strong[r.Record] })
	return kept, fmt.Sprintf("%d of %d auditors are shown: those with the highest recall.", len(kept), len(rows))
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
		for _, res := range r.Record.Counting() {
			for _, k := range res.Known {
				if _, ok := at[k.ID]; !ok {
					at[k.ID] = len(p.Known)
					p.Known = append(p.Known, knownLine{KnownResult: k, Entry: entries[k.ID], Cells: make([]foundCell, len(p.Rows))})
				}
			}
		}
	}
	for i, r := range p.Rows {
		for _, res := range r.Record.Counting() {
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
			for _, res := range r.Record.Counting() {
				if slices.ContainsFunc(res.Findings, func(f score.Scored) bool { return f.Disposition == score.DecoyHit && f.Match.Entry == d.ID }) {
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
			for _, g := range rec.Judgement.Reasons {
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
