package audittest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"assay/audit"
	"assay/audit/auditor"
	"assay/audit/findings"
	"assay/audit/fixture"
	"assay/audit/score"
)

// smokeDir is the folder with the planted flaws.
const smokeDir = "smoke-test-fixture"

// Smoke audits the fixture with each chosen auditor, live, and holds the report
// against fixtures/smoke.md: five checks, each a subtest.
func (s *Suite) Smoke(t T) {
	e := s.begin(t)
	dims := e.dimensions(t)
	source, err := fs.Sub(e.root.pick(smokeDir), smokeDir)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := treeOf(source)
	if err != nil {
		t.Fatalf("%s: %v", smokeDir, err)
	}
	key, err := fixture.ReadSmoke(e.root.pick("fixtures/smoke.md"), "fixtures/smoke.md", tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range e.smokeAuditors(t) {
		t.Run(segment(a.Name()), func(t T) {
			sm := &smoke{suite: s, env: e, key: key, auditor: a}
			sm.audit(t, source, dims)
			sm.check(t)
		})
	}
}

// smokeAuditors gives the chosen auditors; nobody chosen is the embedded one.
func (e *env) smokeAuditors(t T) []audit.Auditor {
	t.Helper()
	if len(e.cfg.Auditors) == 0 {
		return []audit.Auditor{auditor.Static(findings.Text)}
	}
	entries := e.auditors(t)
	var as []audit.Auditor
	for _, name := range e.cfg.Auditors {
		entry, ok := entries[name]
		switch {
		case !ok:
			t.Fatalf("fixtures/auditors.md: no section %q: expected one of its auditors", "## "+name)
		case entry.Kind == "static":
			as = append(as, auditor.Static(findings.Text))
		default:
			as = append(as, auditor.FromEntry(entry))
		}
	}
	return as
}

// A smoke is one auditor's smoke test.
type smoke struct {
	suite   *Suite
	env     *env
	key     *fixture.Smoke
	auditor audit.Auditor
	run     audit.AuditRun
	err     error
	result  *score.Result
}

// audit copies the fixture to a folder of its own and runs the auditor there.
func (s *smoke) audit(t T, source fs.FS, dims map[audit.CWE]audit.Dimension) {
	dir := filepath.Join(t.TempDir(), "src")
	if err := os.CopyFS(dir, source); err != nil {
		t.Fatal(err)
	}
	if s.auditor.Name() != "static" {
		if err := s.env.uncached(s.suite.own); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	if at, ok := t.Deadline(); ok {
		ctx, cancel = context.WithDeadline(ctx, at)
	}
	defer cancel()
	s.run, s.err = s.auditor.Audit(ctx, audit.AuditTask{Dir: dir})
	if s.err != nil {
		return
	}
	s.result, s.err = score.Score(score.Input{Project: s.key.Project, Findings: s.run.Report.Findings, Dimensions: dims,
		Roots: []string{dir, s.run.Report.Root}})
}

// check runs the five checks and tells the verdict.
func (s *smoke) check(t T) {
	passed := 0
	for _, c := range []struct {
		name string
		test func() error
	}{
		{"runs", s.runs}, {"structure", s.structure}, {"paths", s.paths}, {"flaws", s.flaws}, {"severity", s.severity},
	} {
		ok := t.Run(c.name, func(t T) {
			if err := c.test(); err != nil {
				t.Error(err)
			}
		})
		if ok {
			passed++
		}
	}
	found, missed := s.found()
	verdict, look := audit.Pass, ""
	switch {
	case s.err != nil || s.run.Invalid != "":
		verdict, look = audit.Invalid, "the run proves nothing"
	case passed < 5:
		verdict, look = audit.Fail, fmt.Sprintf("%d of 5 checks passed", passed)
	case len(missed) > 0:
		verdict, look = audit.Warn, "acceptable: missed "+strings.Join(missed, ", ")
		t.Logf("WARN: %s", look)
	}
	total := len(s.key.Project.Known)
	t.Attr("found", fmt.Sprintf("%d/%d", found, total))
	t.Attr("verdict", string(verdict))
	s.suite.summary.add(line{suite: "Smoke", verdict: verdict, look: look,
		cells: []string{s.auditor.Name(), fmt.Sprintf("%d of %d flaws", found, total), fmt.Sprintf("%d of 5", passed)}})
}

// found gives how many flaws were found and which were missed.
func (s *smoke) found() (n int, missed []string) {
	if s.result == nil {
		return 0, nil
	}
	for i, k := range s.result.Known {
		if k.Credit == 1 {
			n++
			continue
		}
		missed = append(missed, fmt.Sprintf("%s (%s)", k.ID, s.key.Project.Known[i].Title))
	}
	return n, missed
}

// runs: the auditor came to its end and its report can be read.
func (s *smoke) runs() error {
	if s.err != nil {
		return fmt.Errorf("%s could not run: %w", s.auditor.Name(), s.err)
	}
	if s.run.Invalid != "" {
		return fmt.Errorf("%s: %s: %s", audit.Invalid, s.auditor.Name(), clean(s.run.Invalid, 500))
	}
	return nil
}

// structure: a text report has its HEADER and ends in its SENTINEL. Other formats
// say by their syntax whether they are whole.
func (s *smoke) structure() error {
	rep := &s.run.Report
	if s.result == nil {
		return errors.New("there is no report to look at")
	}
	if rep.Format != findings.Text {
		return nil
	}
	switch {
	case !rep.Header:
		return errors.New("the report has no whole HEADER: expected === HEADER START === to === HEADER END === with COVERAGE and STATS")
	case !rep.Sentinel || !bytes.Contains(s.run.Raw, []byte("SENTINEL")):
		return errors.New("the report does not end in its SENTINEL line: it was cut off, or the auditor never finished")
	}
	return nil
}

// paths: every reported path exists.
func (s *smoke) paths() error {
	if s.result == nil {
		return errors.New("there is no report to look at")
	}
	var errs []error
	for _, f := range s.result.Findings {
		if f.Fate == score.MissingPath || f.Fate == score.PastEnd {
			errs = append(errs, fmt.Errorf("finding %s names %s:%s: %s", clean(f.Finding.ID, 40), clean(f.Finding.File, 200), f.Finding.Lines, clean(f.Reason.String(), 200)))
		}
	}
	return errors.Join(errs...)
}

// flaws: at least four of the five are found.
func (s *smoke) flaws() error {
	if s.result == nil {
		return errors.New("there is no report to look at")
	}
	found, missed := s.found()
	if total := len(s.key.Project.Known); found < total-1 {
		return fmt.Errorf("%s: %d of %d flaws found, expected at least %d; missed: %s", s.key.Project.Pos, found, total, total-1, strings.Join(missed, "; "))
	}
	return nil
}

// severity: what must be rated HIGH or CRITICAL is, where it was found.
func (s *smoke) severity() error {
	if s.result == nil {
		return errors.New("there is no report to look at")
	}
	var errs []error
	for i, k := range s.result.Known {
		known := &s.key.Project.Known[i]
		for _, id := range s.key.RatedHigh {
			if id != k.ID || k.Credit < 1 {
				continue
			}
			if got := s.result.Findings[k.Finding].Finding.Severity; got < audit.High {
				errs = append(errs, fmt.Errorf("%s: %s is rated %q: expected HIGH or CRITICAL", known.Pos, known.Title, got))
			}
		}
	}
	return errors.Join(errs...)
}

// treeOf lists a folder as a tree manifest, without hashes.
func treeOf(fsys fs.FS) (audit.Tree, error) {
	tree := audit.Tree{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(fsys, name)
		lines := bytes.Count(b, []byte("\n"))
		if len(b) > 0 && b[len(b)-1] != '\n' {
			lines++
		}
		tree[path.Clean(name)] = audit.TreeFile{Path: name, Lines: lines}
		return err
	})
	if err == nil && len(tree) == 0 {
		err = errors.New("the folder is empty: expected the class with the planted flaws")
	}
	return tree, err
}
