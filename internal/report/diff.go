package report

import (
	"fmt"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
)

// A RecordDiff sets a later record against an earlier one of the same project.
type RecordDiff struct {
	A, B         *record.Record  `json:"-"`
	From, To     string          // the records' names
	Judgement    score.Judgement // of B with A as its baseline
	Figures      []FigureDiff
	Found        []EntryDiff       // earn more than before, most first
	Lost         []EntryDiff       // earn less
	Missed       []EntryDiff       // earn nothing on either side
	Dispositions []DispositionDiff // how the findings ended, in the order of score.Dispositions
	New          []score.Scored    // findings of B that no trial of A made
	Gone         []score.Scored    // findings of A that no trial of B makes
	Notes        []string          // what a reader must know beside the figures
}

// A FigureDiff is one figure with a value for each trial that counts.
type FigureDiff struct {
	Name    string
	Was     []string
	Now     []string
	Literal bool // by the methodology's literal
}

// An EntryDiff is one known vulnerability with what it earned on average.
type EntryDiff struct {
	ID        string
	Dimension audit.Dimension
	Was, Now  score.Value
}

// A DispositionDiff counts findings of one disposition, trial by trial.
type DispositionDiff struct {
	Disposition score.Disposition
	Was, Now    []int
}

// DiffRecords judges record b with record a as its baseline and lists the changes. Records of
// different projects or suites are an error. Records of different score versions, taxonomies or
// keys yield a [*score.MismatchError], which [Rescore] corrects.
func DiffRecords(a, b *record.Record, rules score.Rules) (*RecordDiff, error) {
	switch {
	case a.Suite != b.Suite:
		return nil, fmt.Errorf(
			"%s is a record of %s and %s one of %s: expected two of the same suite", a.Name(),
			a.Suite, b.Name(), b.Suite)
	case a.Project != b.Project:
		return nil, fmt.Errorf(
			"%s is a record of %s and %s one of %s: expected two of the same project", a.Name(),
			a.Project, b.Name(), b.Project)
	}
	was, now := a.Counting(), b.Counting()
	j, err := score.Judge(score.Subject{Goals: b.Goals, Now: record.ScoreTrials(b.Trials),
		Baseline: record.ScoreTrials(a.Trials)}, rules)
	if err != nil {
		return nil, err
	}
	d := &RecordDiff{A: a, B: b, From: a.Name(), To: b.Name(), Judgement: j, Figures: figures(a, b)}
	d.entries(was, now)
	d.findings(was, now)
	d.notes()
	return d, nil
}

// figures returns each figure of two records, trial by trial; was may be nil.
func figures(was, now *record.Record) []FigureDiff {
	trials := func(r *record.Record) (all []score.AuditTrial) {
		if r != nil {
			all = record.ScoreTrials(r.Trials)
		}
		return slices.DeleteFunc(all,
			func(t score.AuditTrial) bool { return t.Invalid != "" || t.Result == nil })
	}
	before, after := trials(was), trials(now)
	show := func(m score.Metric[*score.Metrics], ts []score.AuditTrial,
		of func(score.AuditTrial) *score.Metrics) (cells []string) {
		for _, t := range ts {
			cells = append(cells, m.Show(of(t)))
		}
		return cells
	}
	ours := func(t score.AuditTrial) *score.Metrics { return score.FiguresOf([]score.AuditTrial{t}) }
	literal := func(t score.AuditTrial) *score.Metrics { return t.Result.Methodology.Metrics() }
	var fs []FigureDiff
	for _, m := range score.AuditMetrics() {
		fs = append(fs, FigureDiff{Name: m.Title(), Was: show(m, before, ours),
			Now: show(m, after, ours)})
	}
	for _, m := range score.AuditMetrics() {
		if m.Main || m.Name == "chance level" {
			fs = append(fs, FigureDiff{Name: m.Title(), Literal: true,
				Was: show(m, before, literal), Now: show(m, after, literal)})
		}
	}
	return fs
}

// entries lists the entries whose credit changed.
func (d *RecordDiff) entries(was, now []*score.Result) {
	if len(was) == 0 || len(now) == 0 {
		return
	}
	dims := map[string]audit.Dimension{}
	for _, k := range now[0].Known {
		dims[k.ID] = k.Dimension
	}
	list := func(cs []score.EntryChange) (out []EntryDiff) {
		for _, c := range cs {
			out = append(out, EntryDiff{c.ID, dims[c.ID], score.Of(c.Baseline), score.Of(c.Now)})
		}
		return out
	}
	d.Lost, d.Found = list(d.Judgement.Lost), list(d.Judgement.Gained)
	earned := score.Credits(slices.Concat(was, now), d.B.Goals.ByMethodologyScore)
	for _, k := range now[0].Known {
		if slices.Max(earned[k.ID]) == 0 {
			d.Missed = append(d.Missed, EntryDiff{k.ID, k.Dimension, score.Of(0), score.Of(0)})
		}
	}
}

// findings lists the findings of each disposition that changed.
func (d *RecordDiff) findings(was, now []*score.Result) {
	for _, f := range score.Dispositions() {
		fd := DispositionDiff{Disposition: f}
		for _, r := range was {
			fd.Was = append(fd.Was, r.Dispositions[f])
		}
		for _, r := range now {
			fd.Now = append(fd.Now, r.Dispositions[f])
		}
		d.Dispositions = append(d.Dispositions, fd)
	}
	d.New, d.Gone = without(now, was), without(was, now)
}

// without returns the findings that none of the others has, each once.
func without(some, others []*score.Result) []score.Scored {
	seen := map[string]bool{}
	for _, r := range others {
		for i := range r.Findings {
			seen[r.Findings[i].Fingerprint()] = true
		}
	}
	var out []score.Scored
	for _, r := range some {
		for i := range r.Findings {
			if fp := r.Findings[i].Fingerprint(); !seen[fp] {
				seen[fp] = true
				out = append(out, r.Findings[i])
			}
		}
	}
	return out
}

// notes lists what differs between the records besides their findings.
func (d *RecordDiff) notes() {
	note := func(format string, args ...any) {
		d.Notes = append(d.Notes,
			fmt.Sprintf(format, args...))
	}
	a, b := d.A, d.B
	if a.Auditor != b.Auditor {
		note("two auditors, %s and %s: the verdict reads as if %s replaced %s", a.Auditor,
			b.Auditor, b.Auditor, a.Auditor)
	}
	for _, c := range []struct{ what, was, now string }{
		{"auditor's version", a.Version, b.Version}, {"command", a.Command, b.Command},
		{"model as served", a.Model, b.Model},
		{"prompt", short(a.Prompt), short(b.Prompt)}, {"project's commit", short(a.Commit),
			short(b.Commit)},
	} {
		if c.was != c.now {
			note("the %s changed: %q, now %q", c.what, c.was, c.now)
		}
	}
	for _, r := range []*record.Record{a, b} {
		for i, t := range r.Trials {
			if t.Invalid != "" {
				note("%s, trial %d proves nothing: %s", r.Name(), i+1, t.Invalid)
			}
		}
	}
	if len(a.Counting()) == 0 {
		note("%s has no trial that counts: there is nothing to compare with", a.Name())
	}
}

// short returns the first twelve characters of a hash.
func short(hash string) string { return strings.ToValidUTF8(hash[:min(12, len(hash))], "") }

// Rescore returns the record with its stored findings scored again by today's rules, key and
// reviews. Paths that were resolved then stay resolved, and invalid trials stay as they are. It
// returns an error if the record is of another project or has no stored findings.
func Rescore(r *record.Record, p *audit.Project, dims map[audit.CWE]audit.Dimension,
	goals score.ProjectGoals) (*record.Record, error) {
	if r.Project != p.Name {
		return nil, fmt.Errorf("%s is a record of %s: expected one of %s", r.Name(),
			r.Project, p.Name)
	}
	out := *r
	out.Trials = slices.Clone(r.Trials)
	for i, t := range r.Trials {
		if t.Invalid != "" {
			continue
		}
		if t.Result == nil {
			return nil, fmt.Errorf(
				"%s, trial %d: no stored findings: expected a record as a run writes it",
				r.Name(), i+1)
		}
		fs := make([]audit.Finding, len(t.Result.Findings))
		for k, s := range t.Result.Findings {
			fs[k] = s.Finding
			if s.Path != "" {
				fs[k].File = s.Path
			}
		}
		res, err := score.Score(score.Input{Project: p, Findings: fs, Dimensions: dims})
		if err != nil {
			return nil, fmt.Errorf("%s, trial %d: %w", r.Name(), i+1, err)
		}
		// The report's own words for a path are kept beside what they resolve to.
		for k := range res.Findings {
			res.Findings[k].Finding.File = t.Result.Findings[k].Finding.File
		}
		out.Trials[i].Result = res
	}
	out.Score, out.Key, out.Goals = score.Version, p.KeyHash, goals
	if r.Commit != "" && r.Commit != p.Commit {
		out.Notes = append(slices.Clone(r.Notes),
			fmt.Sprintf("made at commit %s, scored against the key of %s", short(r.Commit),
				short(p.Commit)))
	}
	return &out, nil
}
