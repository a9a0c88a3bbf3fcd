package suite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/findings"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/box"
	"assay/internal/patterns"
	"assay/internal/record"
	"assay/internal/run"
)

const smokeDir = "smoke-test-fixture"

// Smoke audits the fixture with each chosen auditor, live, and holds the report
// against fixtures/smoke.md: five checks, each a subtest.
func (s *Suite) Smoke(t T) {
	e := s.begin(t)
	source, hash, key, err := e.smoke()
	dims, dimsErr := e.dimensions()
	entries, entriesErr := e.auditors()
	if err := errors.Join(err, dimsErr, entriesErr); err != nil {
		t.Fatal(err)
	}
	live := newAudits(s, e, "Smoke", entries)
	t.Cleanup(func() { live.end(t) })
	selected := false
	for _, a := range e.smokeAuditors(t) {
		t.Run(segment(a.Name()), func(t T) {
			selected = true
			sm := &smoke{audits: live, key: key, source: source, hash: hash}
			sm.asking = asking{audits: live, candidate: candidate{name: a.Name(), embedded: a.Name() == patterns.Name, trials: []audit.Auditor{a}}, once: sm.once,
				now: record.Record{Suite: "Smoke", Project: "smoke", Auditor: a.Name(), Key: key.Project.KeyHash}}
			sm.audit(t, dims)
			sm.check(t)
		})
	}
	live.start(t)
	some(t, selected)
}

func (e *env) smoke() (source fs.FS, hash string, key *fixture.Smoke, err error) {
	if source, err = fs.Sub(e.root.setting(smokeDir), smokeDir); err != nil {
		return nil, "", nil, err
	}
	tree, hash, err := listed(source)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: expected the class that Smoke audits: name a folder that holds it with --root, as a checkout of Assay does", err)
	}
	if err != nil {
		return nil, "", nil, fmt.Errorf("%s: %w", smokeDir, err)
	}
	key, err = fixture.ReadSmoke(e.root.setting("fixtures/smoke.md"), "fixtures/smoke.md", tree)
	return source, hash, key, err
}

func (e *env) smokeAuditors(t T) []audit.Auditor {
	t.Helper()
	switch {
	case len(e.cfg.Auditors) > 0:
	case len(e.given.auditors) > 0:
		return e.given.auditors
	default:
		return []audit.Auditor{patterns.Auditor{Format: findings.Text}}
	}
	as, err := e.chosenAuditors()
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range as {
		if a.Name() == patterns.Name && e.given.auditor(patterns.Name) == nil {
			as[i] = patterns.Auditor{Format: findings.Text}
		}
	}
	return as
}

type smoke struct {
	*audits
	asking
	key       *fixture.Smoke
	source    fs.FS
	hash      string // of the source
	audited   *run.Audited
	judgement score.SmokeJudgement
}

func (s *smoke) audit(t T, dims map[audit.CWE]audit.Dimension) {
	err := s.asking.plan("smoke", s.hash+" in "+smokeDir)
	if err != nil {
		t.Fatal(err)
	}
	if s.sent() {
		t.Parallel()
		s.await(t)
	}
	if s.audited, _, err = s.asking.result(t, 0); err != nil {
		t.Fatal(err)
	}
	r, trial := &s.audited.Run, s.took(0, s.audited)
	trial.Result, s.judgement, err = judgeSmoke(s.key, dims, s.audited.Dir, &r.Report, r.Invalid, &s.runs[len(s.runs)-1])
	if err != nil {
		t.Fatal(err)
	}
}

// judgeSmoke judges a run that proves nothing, too: invalid says why.
func judgeSmoke(key *fixture.Smoke, dims map[audit.CWE]audit.Dimension, dir string, r *audit.Report, invalid string, kept *record.Transcript) (result *score.Result, j score.SmokeJudgement, err error) {
	if invalid == "" {
		result, err = score.Score(score.Input{Project: key.Project, Findings: r.Findings, Dimensions: dims,
			Roots: []string{path.Join(dir, smokeDir), dir, path.Join(r.Root, smokeDir), r.Root, smokeDir}})
	}
	j = score.JudgeSmoke(score.SmokeInput{Result: result, Report: r, RatedHigh: key.RatedHigh, Invalid: invalid, ToolErrors: kept.ToolErrors()})
	if j.Verdict == audit.Pass && j.Grade == score.Acceptable {
		j.Verdict = audit.Warn // a miss is named, never hidden
	}
	return result, j, err
}

// once audits a copy: the methodology's command line names ./smoke-test-fixture/.
func (s *smoke) once(ctx context.Context, a audit.Auditor, _ int, usd float64) (audit.AuditRun, string, error) {
	tmp, remove, err := box.TempDir("smoke")
	if err != nil {
		return audit.AuditRun{}, "", err
	}
	defer func() { _ = remove() }()
	dir := filepath.Join(tmp, "src")
	if err := os.CopyFS(filepath.Join(dir, smokeDir), s.source); err != nil {
		return audit.AuditRun{}, "", err
	}
	r, err := a.Audit(ctx, audit.AuditTask{Dir: dir, MaxUSD: cmp.Or(usd, s.entries[a.Name()].Cost)})
	return r, dir, err
}

var smokeChecks = []string{"runs", "structure", "paths", "flaws", "severity"}

func (s *smoke) checkOf(g score.Reason) string {
	rep := &s.audited.Run.Report
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

func (s *smoke) check(t T) {
	j := &s.judgement
	passed := 0
	for _, name := range smokeChecks {
		ok := t.Run(name, func(t T) { s.subtest(t, name) })
		if ok && j.Verdict != audit.Invalid {
			passed++
		}
	}
	verdict := j.Verdict
	t.Attr("found", fmt.Sprintf("%d/%d", j.Found, len(s.key.Project.Known)))
	t.Attr("verdict", string(verdict))
	l := line{suite: "Smoke", who: s.candidate.name, verdict: verdict, cause: smokeCause(j),
		figures: []string{fmt.Sprintf("%d of %d flaws", j.Found, len(s.key.Project.Known)), fmt.Sprintf("%d of 5", passed)}}
	if s.begun && !s.embedded {
		l.used = usedBy(s.now.Trials)
	}
	s.suite.summary.add(l)
	if s.begun { // a run that never was is none
		s.record(t)
	}
}

// smokeCause tells what the verdict hangs on: not on a miss alone, which is acceptable.
func smokeCause(j *score.SmokeJudgement) string {
	missed := "missed " + strings.Join(j.Missed, ", ")
	switch {
	case j.Verdict == audit.Pass:
		return ""
	case len(j.Missed) == 0:
		return lookAt(j.Reasons[0])
	case len(j.Missed) == 1 && j.Grade != score.Acceptable:
		return lookAt(j.Reasons[0]) + "; " + missed
	}
	return string(j.Grade) + ": " + missed
}

func (s *smoke) subtest(t T, name string) {
	for _, g := range s.judgement.Reasons {
		if s.checkOf(g) == name && (g.Verdict == audit.Fail || g.Verdict == audit.Invalid) {
			t.Errorf("%s: %s: %s", s.key.Project.Pos, g.Verdict, audit.OneLine(g.Text, 0))
		}
	}
	for _, k := range s.key.Project.Known {
		if name == "flaws" && slices.Contains(s.judgement.Missed, k.ID) {
			t.Logf("%s: missed %s: %s", k.Pos, k.ID, k.Title)
		}
	}
	if s.judgement.Verdict == audit.Invalid && !t.Failed() {
		t.Skip("the run proves nothing")
	}
}

func (s *smoke) record(t T) {
	var err error
	if s.now.Prompt, err = s.env.promptHash(s.trials[0], s.entries[s.candidate.name]); err != nil {
		t.Error(err)
	}
	s.now.Judgement = s.judgement.Judgement
	s.suite.write(t, s.env, &s.now, s.runs)
}

// listed gives a manifest without hashes, and the hash of all files by name and content.
func listed(fsys fs.FS) (audit.Tree, string, error) {
	tree, sum := audit.Tree{}, sha256.New()
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(fsys, name)
		fmt.Fprintf(sum, "%d %s %d\n%s", len(name), name, len(b), b)
		tree[path.Clean(name)] = audit.TreeFile{Path: name, Lines: audit.CountLines(b)}
		return err
	})
	if err == nil && len(tree) == 0 {
		err = errors.New("the folder is empty: expected the class with the planted flaws")
	}
	return tree, hex.EncodeToString(sum.Sum(nil)), err
}
