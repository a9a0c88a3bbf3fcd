package suite

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
	"assay/audit/findings"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/record"
)

// smokeDir is the folder with the planted flaws.
const smokeDir = "smoke-test-fixture"

// Smoke audits the fixture with each chosen auditor, live, and holds the report
// against fixtures/smoke.md: five checks, each a subtest.
func (s *Suite) Smoke(t T) {
	e := s.begin(t)
	dims := e.dimensions(t)
	source, err := fs.Sub(e.root.setting(smokeDir), smokeDir)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := treeOf(source)
	if err != nil {
		t.Fatalf("%s: %v", smokeDir, err)
	}
	key, err := fixture.ReadSmoke(e.root.setting("fixtures/smoke.md"), "fixtures/smoke.md", tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range e.smokeAuditors(t) {
		if !e.cfg.Shard.has(path.Join(t.Name(), segment(a.Name()))) {
			continue
		}
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
	switch {
	case len(e.cfg.Auditors) > 0:
	case len(e.given.auditors) > 0:
		return e.given.auditors
	default:
		return []audit.Auditor{auditor.Static(findings.Text)}
	}
	as, err := e.chosenAuditors()
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range as {
		if a.Name() == "static" && e.given.auditor("static") == nil {
			as[i] = auditor.Static(findings.Text)
		}
	}
	return as
}

// A smoke is one auditor's smoke test.
type smoke struct {
	suite     *Suite
	env       *env
	key       *fixture.Smoke
	auditor   audit.Auditor
	run       audit.AuditRun
	judgement score.SmokeJudgement
	result    *score.Result
}

// audit copies the fixture to a folder of its own, runs the auditor there and
// judges what it reports.
func (s *smoke) audit(t T, source fs.FS, dims map[audit.CWE]audit.Dimension) {
	dir := filepath.Join(t.TempDir(), "src")
	if err := os.CopyFS(dir, source); err != nil {
		t.Fatal(err)
	}
	if s.auditor.Name() != "static" {
		if err := s.env.uncached(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	if at, ok := t.Deadline(); ok {
		ctx, cancel = context.WithDeadline(ctx, at.Add(-lastMinute))
	}
	defer cancel()
	var err error
	if s.run, err = s.auditor.Audit(ctx, audit.AuditTask{Dir: dir}); err != nil {
		s.run.Invalid = err.Error()
	}
	if s.run.Invalid == "" {
		s.result, err = score.Score(score.Input{Project: s.key.Project, Findings: s.run.Report.Findings, Dimensions: dims,
			Roots: []string{dir, s.run.Report.Root}})
		if err != nil {
			t.Fatal(err)
		}
	}
	s.judgement = score.JudgeSmoke(score.SmokeInput{Result: s.result, Report: &s.run.Report, RatedHigh: s.key.RatedHigh, Invalid: s.run.Invalid})
}

// smokeChecks are the five checks, each a subtest.
var smokeChecks = []string{"runs", "structure", "paths", "flaws", "severity"}

// checkOf gives the check that a reason belongs to.
func (s *smoke) checkOf(g score.Reason) string {
	rep := &s.run.Report
	switch {
	case g.Code == score.CodeInvalid && rep.Format == findings.Text && !(rep.Header && rep.Sentinel):
		return "structure" // the report breaks off: that it proves nothing is its own reason
	case g.Code == score.CodeInvalid:
		return "runs"
	case g.About == "HEADER" || g.About == "SENTINEL":
		return "structure"
	case g.Code == score.CodeCheck:
		return g.About
	}
	return ""
}

// check tells the five checks as subtests, writes the record and adds the line.
func (s *smoke) check(t T) {
	j := &s.judgement
	passed := 0
	for _, name := range smokeChecks {
		ok := t.Run(name, func(t T) { s.subtest(t, name) })
		if ok && j.Verdict != audit.Invalid {
			passed++
		}
	}
	look := ""
	if len(j.Missed) > 0 {
		look = string(j.Grade) + ": missed " + strings.Join(j.Missed, ", ")
	} else if len(j.Reasons) > 0 {
		look = lookAt(j.Reasons[0])
	}
	if j.Verdict == audit.Pass && j.Grade == score.Acceptable {
		j.Verdict = audit.Warn // a miss is named, never hidden
	}
	verdict := j.Verdict
	t.Attr("found", fmt.Sprintf("%d/%d", j.Found, len(s.key.Project.Known)))
	t.Attr("verdict", string(verdict))
	s.suite.summary.add(line{suite: "Smoke", verdict: verdict, look: look,
		cells: []string{s.auditor.Name(), fmt.Sprintf("%d of %d flaws", j.Found, len(s.key.Project.Known)), fmt.Sprintf("%d of 5", passed)}})
	s.record(t)
}

func (s *smoke) subtest(t T, name string) {
	for _, g := range s.judgement.Reasons {
		if s.checkOf(g) == name && (g.Verdict == audit.Fail || g.Verdict == audit.Invalid) {
			t.Errorf("%s: %s: %s", s.key.Project.Pos, g.Verdict, audit.OneLine(g.Text, 500))
		}
	}
	if name == "flaws" {
		s.sayMissed(t)
	}
	if s.judgement.Verdict == audit.Invalid && !t.Failed() {
		t.Skip("the run proves nothing")
	}
}

// sayMissed names each planted flaw that was not found.
func (s *smoke) sayMissed(t T) {
	for _, id := range s.judgement.Missed {
		for _, k := range s.key.Project.Known {
			if k.ID == id {
				t.Logf("%s: missed %s: %s", k.Pos, id, k.Title)
			}
		}
	}
}

func (s *smoke) record(t T) {
	prompt, err := s.env.promptHash(s.auditor, s.env.auditors(t)[s.auditor.Name()])
	if err != nil {
		t.Error(err)
	}
	s.suite.write(t, s.env, &record.Record{Suite: "Smoke", Project: "smoke", Auditor: s.auditor.Name(), Key: s.key.Project.KeyHash,
		Version: s.run.Version, Command: strings.Join(s.run.Command, " "), Model: s.run.Model, Prompt: prompt, Judgement: s.judgement.Judgement,
		Trials: []record.Trial{trialOf(&s.run, s.result)}})
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
