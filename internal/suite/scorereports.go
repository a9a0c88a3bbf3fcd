package suite

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/record"
	"assay/internal/report"
)

// ScoreReports scores audit reports that exist, without running anything: several files are
// several trials of one auditor. Without a project the files are records of live runs, whose
// kept reports are read and judged again. Its fields are the flags of assay score.
type ScoreReports struct {
	Root     string   `help:"Folder with fixtures/ (and tests/)." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	Project  string   `help:"Project that was audited: a name of fixtures/projects, or a planted one with its seed, like marina@7."`
	Auditor  string   `help:"Who wrote the reports: its section's rule map and goals apply. Default: the tool that the report names."`
	Format   string   `help:"Of the reports." enum:"auto,sarif,json,text" default:"auto"`
	Baseline string   `help:"Record (.json) to compare with." type:"existingfile"`
	Record   string   `help:"Write a test record under this auditor's name." placeholder:"NAME"`
	Strict   bool     `help:"What is inconclusive fails."`
	Reports  []string `arg:"" help:"Audit reports: text, SARIF, JSON, Semgrep's or codex-security's JSON; without --project: records." type:"existingfile"`
}

// Run prints the rows of the summary and all reasons to w. It returns an error for a report
// that cannot be read, and for a verdict that is FAIL or INVALID.
func (c ScoreReports) Run(w io.Writer) error {
	if c.Project == "" {
		err := Rescore{Root: c.Root, Strict: c.Strict, Records: c.Reports}.Run(w)
		if err != nil && len(c.Reports) > 0 {
			return fmt.Errorf("%w (files without --project are taken for records; for reports say --project NAME)", err)
		}
		return err
	}
	e, err := checkout(c.Root, Config{Strict: c.Strict})
	if err != nil {
		return err
	}
	shared, err := e.judging()
	if err != nil {
		return err
	}
	drawn, p, err := Project(e.root.holdings(), c.Project)
	if err != nil {
		return err
	}
	h := shared.evaluation(target{project: p, drawn: drawn}, candidate{name: cmp.Or(c.Record, c.Auditor)})
	h.begun = true
	for i, file := range c.Reports {
		if err := c.add(h, i, file, w); err != nil {
			return err
		}
	}
	if h.goals, err = shared.goalsFor(p, h.candidate.name); err != nil {
		return err
	}
	if err := c.baseline(h); err != nil {
		return err
	}
	suite, err := judgeTogether([]*evaluation{h})
	if err != nil {
		return err
	}
	j := suite.Projects[0]
	s := &summary{}
	s.add(h.line(j))
	s.show(w, view{width: screenWidth, lines: screenLines, all: true})
	fmt.Fprintln(w)
	for _, m := range score.AuditMetrics() {
		fmt.Fprintf(w, "%-28s %s\n", m.Name, m.Show(h.means()))
	}
	for _, line := range record.Together(h.now.Counting()) {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
	for _, g := range j.Reasons {
		fmt.Fprintf(w, "%s: %s\n", g.Verdict, audit.OneLine(g.Text, 0))
	}
	if err := c.write(h, j, w); err != nil {
		return err
	}
	if j.Verdict == audit.Fail || j.Verdict == audit.Invalid {
		return fmt.Errorf("%s on %s: %s", h.candidate.name, p.Name, j.Verdict)
	}
	return nil
}

// add scores one report as a trial.
func (c ScoreReports) add(h *evaluation, i int, file string, w io.Writer) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	rep, invalid := auditor.ReadReport(file, b, c.Format, h.entries[c.Auditor].Rules)
	if invalid != "" {
		return errors.New(invalid)
	}
	for _, p := range rep.Problems {
		fmt.Fprintf(w, "%s: %s\n", p.Pos, audit.OneLine(p.What, 0))
	}
	h.candidate.name = cmp.Or(h.candidate.name, rep.Tool, "report")
	h.now.Auditor = h.candidate.name
	result, err := h.scored(&rep, "")
	if err != nil {
		return err
	}
	h.now.Trials = append(h.now.Trials, record.Trial{Result: result, Claimed: rep.Coverage, Runs: 1})
	run := audit.AuditRun{Raw: b, Report: rep, Whole: true}
	h.runs = append(h.runs, record.NewTranscript(i, 0, "", &run, func(b []byte) []byte { return b }))
	return nil
}

// baseline reads the record to compare with, and scores it again where other rules or
// another key made it.
func (c ScoreReports) baseline(h *evaluation) error {
	if c.Baseline == "" {
		return nil
	}
	dir, name := filepath.Split(filepath.Clean(c.Baseline))
	b, err := record.Read(audit.PlainFiles(os.DirFS(cmp.Or(dir, "."))), name)
	switch {
	case err != nil:
		return err
	case b.Project != h.project.Name:
		return fmt.Errorf("%s: a record on %s: expected one on %s", c.Baseline, b.Project, h.project.Name)
	case b.Commit != h.project.Commit:
		return fmt.Errorf("%s: made at commit %.12s: expected %.12s, to which %s is pinned", c.Baseline, b.Commit, h.project.Commit, h.project.Name)
	}
	if b.Key != h.project.KeyHash || b.Score != score.Version {
		if b, err = report.Rescore(b, h.project, h.dims, h.goals); err != nil {
			return err
		}
	}
	h.baseline = b
	return nil
}

// write writes the record that is asked for, and the reports beside it.
func (c ScoreReports) write(h *evaluation, j score.Judgement, w io.Writer) error {
	if c.Record == "" {
		return nil
	}
	r := &h.now
	r.Date, r.Score, r.Judgement, r.Goals = time.Now().UTC(), score.Version, j, h.goals
	r.Change, r.Trigger, r.Version = "reports that existed were scored", "manual", "unknown"
	if h.baseline != nil {
		r.Since(h.baseline)
	}
	name, err := r.Write(filepath.Join(c.Root, "records"))
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "record: %s\n", name)
	return record.WriteTranscripts(name, h.runs)
}
