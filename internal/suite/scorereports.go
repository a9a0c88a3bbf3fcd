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
	"assay/internal/run"
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
			return fmt.Errorf(
				"%w (files without --project are taken for records; for reports say --project NAME)", err)
		}
		return err
	}
	e, err := checkout(c.Root, Settings{Strict: c.Strict})
	if err != nil {
		return err
	}
	drawn, p, err := Project(e.root.fixtures(), c.Project)
	if err != nil {
		return err
	}
	m := &measurement{variant: &variant{name: cmp.Or(c.Record, c.Auditor), env: e},
		target: target{project: p, drawn: drawn},
		record: record.Record{Suite: regressionSuite.name, Project: p.Name, Commit: p.Commit,
			Key: p.KeyHash}}
	if m.variant.entry, err = e.entry(c.Auditor); err != nil {
		return err
	}
	if err := c.readTrials(m, w); err != nil {
		return err
	}
	if m.goals, err = e.goalsFor(p, m.variant.name); err != nil {
		return err
	}
	if err := scoreRegression(e, m); err != nil {
		return err
	}
	if err := c.readBaseline(e, m); err != nil {
		return err
	}
	j, err := judgeRegression(e, []*measurement{m})
	if err != nil {
		return err
	}
	one := j.projects[0]
	s := &summary{}
	s.add(projectRow(m, &one))
	s.show(w, view{width: screenWidth, lines: screenLines, all: true})
	fmt.Fprintln(w)
	figures := m.record.Figures()
	for _, x := range score.AuditMetrics() {
		fmt.Fprintf(w, "%-28s %s\n", x.Name, x.Show(figures))
	}
	for _, line := range record.Together(m.record.Counting()) {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
	for _, g := range one.Reasons {
		fmt.Fprintf(w, "%s: %s\n", g.Verdict, audit.OneLine(g.Text, 0))
	}
	if err := c.write(m, one, w); err != nil {
		return err
	}
	if one.Verdict == audit.Fail || one.Verdict == audit.Invalid {
		return fmt.Errorf("%s on %s: %s", m.variant.name, p.Name, one.Verdict)
	}
	return nil
}

// readTrials reads each report as a trial.
func (c ScoreReports) readTrials(m *measurement, w io.Writer) error {
	for _, file := range c.Reports {
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		rep, invalid := auditor.ReadReport(file, b, c.Format, m.variant.entry.Rules)
		if invalid != "" {
			return errors.New(invalid)
		}
		for _, p := range rep.Problems {
			fmt.Fprintf(w, "%s: %s\n", p.Pos, audit.OneLine(p.What, 0))
		}
		m.variant.name = cmp.Or(m.variant.name, rep.Tool, "report")
		m.record.Auditor = m.variant.name
		a := audit.AuditRun{Raw: b, Report: rep, Whole: true}
		m.trials = append(m.trials,
			&trial{audit: &run.AuditTrial{}, result: run.JobResult{Outcome: audit.OutcomeCorrect,
				Value: &run.Audited{Run: a}}})
	}
	return nil
}

// readBaseline reads the record to compare with, and scores it again if it was made with
// another key or version of the score.
func (c ScoreReports) readBaseline(e *env, m *measurement) error {
	if c.Baseline == "" {
		return nil
	}
	p := m.target.project
	dir, name := filepath.Split(filepath.Clean(c.Baseline))
	b, err := record.Read(audit.PlainFiles(os.DirFS(cmp.Or(dir, "."))), name)
	switch {
	case err != nil:
		return err
	case b.Project != p.Name:
		return fmt.Errorf("%s: a record on %s: expected one on %s", c.Baseline, b.Project, p.Name)
	case b.Commit != p.Commit:
		return fmt.Errorf("%s: made at commit %.12s: expected %.12s, to which %s is pinned",
			c.Baseline, b.Commit, p.Commit, p.Name)
	}
	if b.Key != p.KeyHash || b.Score != score.Version {
		dims, err := e.dimensions()
		if err != nil {
			return err
		}
		if b, err = report.Rescore(b, p, dims, m.goals); err != nil {
			return err
		}
	}
	m.baseline = b
	return nil
}

// write writes the requested record and the reports next to it.
func (c ScoreReports) write(m *measurement, j score.Judgement, w io.Writer) error {
	if c.Record == "" {
		return nil
	}
	r := &m.record
	r.Date, r.Score, r.Judgement, r.Goals = time.Now().UTC(), score.Version, j, m.goals
	r.Change, r.Trigger, r.Version = "reports that existed were scored", "manual", "unknown"
	if m.baseline != nil {
		r.Since(m.baseline)
	}
	name, err := r.Write(filepath.Join(c.Root, "records"))
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "record: %s\n", name)
	return record.WriteTranscripts(name, m.transcripts)
}
