// Package suite runs Smoke, Regression, Bench and Verify inside package testing.
//
// The first three are values of one type, definition, and run through the same stages,
// each with a file of its own: collect.go lists what can be measured, plan.go makes
// trials of what -run and -filter chose, run.go carries them out, score.go compares
// findings with keys, judge.go applies goals and baselines, record.go writes test
// records, and print.go makes the rows of the summary.
//
// The suites are written for the interface [T] and not for *testing.T, so that tests can
// show on a fake that they fail.
package suite

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/audit"
	"assay/internal/patterns"
	"assay/internal/workflow"
)

// A Suite is what the tests of one package share: configuration and summary.
type Suite struct {
	opts  Options
	flags *flag.FlagSet

	environment func() (*env, error) // reads flags, environment and .env once

	mu         sync.Mutex
	began      int // suites that began
	lacking    int // of them, those for which the user's root has no fixtures
	summary    summary
	progress   *progress
	live       io.Writer     // for what is printed before the summary; nil: nothing is
	waits      string        // what a run was last said to wait for in it
	auditWait  time.Duration // before the second attempt of an audit
	auditGrace time.Duration // for audits in flight when the run is stopped
}

// Options are what a package that runs the suites states in code.
type Options struct {
	Flags   *flag.FlagSet
	Shipped fs.FS  // fixtures/, tests/ and smoke-test-fixture/ of Assay
	Dir     string // user's root with fixtures/ and tests/; ASSAY_ROOT takes precedence
	Both    bool   // count the shipped projects and cases beside those of Dir
	// folder of records and results without Dir; "" is the working folder
	Out       string
	Auditors  []audit.Auditor  // provided as Go values, under their names
	Reviewers []audit.Reviewer // likewise
}

// A T is what the suites use of *testing.T.
type T interface {
	Helper()
	Name() string
	Run(name string, f func(T)) bool
	Parallel()
	Deadline() (deadline time.Time, ok bool)
	Cleanup(f func())
	TempDir() string
	ArtifactDir() string
	Attr(key, value string)
	Failed() bool
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
	Skip(args ...any)
	Skipf(format string, args ...any)
}

// New defines the flags on o.Flags and returns the suite.
func New(o Options) *Suite {
	o.Out = cmp.Or(o.Out, ".")
	define(o.Flags)
	s := &Suite{opts: o, flags: o.Flags, auditWait: auditWait, auditGrace: auditGrace}
	s.environment = sync.OnceValues(s.read)
	return s
}

// Main runs the tests, prints the summary and returns the exit status. If flags or
// environment are wrong it returns 2 and runs nothing.
func (s *Suite) Main(m interface{ Run() int }) int {
	if !s.flags.Parsed() {
		if err := s.flags.Parse(os.Args[1:]); err != nil {
			return 2
		}
	}
	e, err := s.environment()
	if err == nil {
		// Package testing itself fails at the end of a test without a folder for temporary files.
		var dir string
		if dir, err = os.MkdirTemp("", "assay"); err != nil {
			err = fmt.Errorf("no folder for temporary files: %w: set TMPDIR to a folder with room to write",
				err)
		} else {
			err = os.Remove(dir)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "assay:", workflow.Text(err.Error()))
		return 2
	}
	s.progress = newProgress(s.flags)
	if !underJSON(s.flags) {
		s.live = os.Stdout
	}
	code := m.Run()
	s.progress.end()
	s.printSummary(code)
	if names := s.notRun(&e.cfg); code == 0 && len(names) > 0 {
		fmt.Fprintf(os.Stderr, "assay: %s was not run: %s lacks the fixtures named above\n",
			strings.Join(names, ", "), e.root.Dir)
		return 1
	}
	return code
}

// notRun returns the auditors and reviewers that were named and never run. A PASS for
// them would be meaningless.
func (s *Suite) notRun(c *Settings) []string {
	if s.began != s.lacking || s.began == 0 {
		return nil
	}
	if slices.Equal(c.Models, []string{patterns.Name}) {
		return c.Auditors
	}
	return slices.Concat(c.Auditors, c.Models)
}

// A definition states how Smoke, Regression and Bench differ.
type definition struct {
	name    string
	needs   []string // folders of which a user's root must have one
	long    bool     // -short skips it
	review  bool     // trials are reviews of cases, and not audits of projects
	collect func(e *env, log func(format string, args ...any)) ([]*measurement, error)
	score   func(e *env, m *measurement) error
	check   func(t T, e *env, m *measurement) // reports the result in the leaf's subtest
	judge   func(e *env, variant []*measurement) (judged, error)
}

// Smoke audits one class with five planted flaws: five checks, each a subtest.
func (s *Suite) Smoke(t T) { s.execute(t, &smokeSuite) }

// Regression compares auditors with the answer keys of projects, one subtest each:
// TestRegression/<project>/<auditor>.
func (s *Suite) Regression(t T) { s.execute(t, &regressionSuite) }

// Bench asks reviewers about cases, one subtest each:
// TestBench/<reviewer>/<prompt>/<app>/<query>-<NN>-<good|bad>.
func (s *Suite) Bench(t T) { s.execute(t, &benchSuite) }

// execute runs a suite through all stages. Each leaf registers itself and calls
// t.Parallel, so that back in this function the registered leaves are exactly those that
// -run, -skip and -filter chose. They wait for their trials, which are planned and
// started here; the cleanup judges when all of them have ended.
func (s *Suite) execute(t T, d *definition) {
	t.Helper()
	e := s.begin(t, d)
	r := newRunning(s, e, d)
	t.Cleanup(func() { s.conclude(t, r) })
	all, err := d.collect(e, t.Logf)
	if err == nil && e.cfg.Beside != "" {
		err = e.addBeside(all)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.subtests(t, r, all, 0)
	r.full = len(r.selected) == len(all) && e.cfg.Filter == "" && e.cfg.View == ""
	switch {
	case len(r.selected) == 0 && !t.Failed():
		t.Errorf("%s: nothing was selected: -run, -skip and -filter leave nothing to measure",
			audit.Invalid)
	case t.Failed() && r.asksOthers():
		r.err = errEarlierError
		s.summary.note("%s: nothing was started and nothing spent: correct the errors above first",
			d.name)
	default:
		if r.err = r.start(t); r.err != nil && r.err != errEstimate {
			t.Errorf("%s: %v", audit.Invalid, r.err)
		}
	}
	close(r.started)
}

// begin reads the configuration and skips the suite where it has nothing to do.
func (s *Suite) begin(t T, d *definition) *env {
	t.Helper()
	e, err := s.environment()
	if err != nil {
		t.Fatal(err)
	}
	s.summary.mu.Lock()
	s.summary.last = step{"all of it, as pages", e.assay("report")}
	s.summary.mu.Unlock()
	s.progress.say("%s", d.name)
	s.mu.Lock()
	s.began++
	s.mu.Unlock()
	short := testFlag(s.flags, "short") == "true"
	if s.progress != nil && short && s.swallowed() {
		if err := s.uncached(e); err != nil { // from go test's cache the verdict would not be seen
			t.Fatal(err)
		}
	}
	if d.long && short {
		t.Skipf("-short: %s does not run", d.name)
	}
	s.requireDirs(t, e, d.name, d.needs...)
	return e
}

// requireDirs skips the suite if the user's root has none of the folders, and adds a
// note to the summary because go test hides the messages of skipped tests. It fails if
// -run names a subtest.
func (s *Suite) requireDirs(t T, e *env, suite string, dirs ...string) {
	t.Helper()
	if len(dirs) == 0 || e.root.user == nil ||
		slices.ContainsFunc(dirs, func(dir string) bool { return exists(e.root.fixtures(), dir) }) {
		return
	}
	what := fmt.Sprintf("%s: %s has no %s: nothing to measure", suite, e.root.Dir,
		strings.Join(dirs, " or "))
	if strings.Contains(testFlag(s.flags, "run"), "/") {
		t.Fatalf("%s: %s, and -run names a subtest", audit.Invalid, what)
	}
	s.mu.Lock()
	s.lacking++
	s.mu.Unlock()
	if suite == regressionSuite.name {
		what += "; -filter areas measures on the shipped planted projects"
	}
	s.summary.note("%s", what)
	t.Skipf("%s", what)
}

// subtests runs the measurements as subtests below t, whose path has depth elements.
func (s *Suite) subtests(t T, r *running, ms []*measurement, depth int) {
	for len(ms) > 0 {
		n := 1
		for n < len(ms) && ms[n].path[depth] == ms[0].path[depth] {
			n++
		}
		group := ms[:n]
		ms = ms[n:]
		t.Run(segment(group[0].path[depth]), func(t T) {
			if len(group[0].path) == depth+1 {
				s.leaf(t, r, group[0])
				return
			}
			s.subtests(t, r, group, depth+1)
			t.Parallel()
		})
	}
}

// leaf plans one measurement, waits for its trials, scores and reports them.
func (s *Suite) leaf(t T, r *running, m *measurement) {
	r.selected = append(r.selected, m)
	if m.err != nil {
		t.Fatal(m.err)
	}
	for side := range m.sides() {
		if err := planTrials(r, side); err != nil {
			t.Fatal(err)
		}
	}
	t.Parallel()
	<-r.started
	if r.err != nil && m.asksOthers() {
		t.Skipf("not run: %v", r.err)
	}
	for side := range m.sides() {
		if err := r.wait(t, side); err != nil {
			t.Fatalf("%s: %s: %v", side.target.pos(), side.variant.name, err)
		}
		if err := r.definition.score(r.env, side); err != nil {
			t.Fatalf("%s: %s: %v", side.target.pos(), side.variant.name, err)
		}
		saveArtifacts(t, side)
	}
	m.scored = true
	r.definition.check(t, r.env, m)
}

// segment returns a name that fits one level of a subtest's path.
func segment(name string) string { return strings.ReplaceAll(name, "/", "~") }

// conclude finishes the run, judges each variant, confirms collapses, then records and
// prints.
func (s *Suite) conclude(t T, r *running) {
	if finished := r.finish(t); finished {
		printAccount(t, r)
		variants := byVariant(slices.DeleteFunc(slices.Clone(r.selected),
			func(m *measurement) bool { return !m.scored }))
		judgements, errs := make([]judged, len(variants)), make([]error, len(variants))
		var collapsed []*measurement
		for i, ms := range variants {
			judgements[i], errs[i] = r.definition.judge(r.env, ms)
			collapsed = append(collapsed, judgements[i].collapsed(ms)...)
		}
		confirmed := len(collapsed) > 0 && r.confirm(t, collapsed)
		run := cmp.Or(r.id, time.Now().UTC().Format("20060102T150405"))
		for i, ms := range variants {
			j := &judgements[i]
			if confirmed && len(j.collapsed(ms)) > 0 {
				*j, errs[i] = r.definition.judge(r.env, ms)
			}
			if errs[i] != nil {
				t.Errorf("%s: %v", ms[0].variant.name, errs[i])
				continue
			}
			writeRecords(t, r, run, ms, j)
			j.notes = append(j.notes, confinementNotes(ms)...)
			printJudged(t, r, ms, j)
		}
		if r.definition.name == regressionSuite.name {
			if err := printRecorded(r, variants); err != nil {
				t.Error(err)
			}
		}
	}
	r.close(t)
}

// uncached prevents go test from serving this run's result from its cache, whose rules
// see neither other processes nor files outside of the module: a file that the test
// opened and whose time lies in the future is taken for one that still changes. Where
// go test keeps no log of files it caches nothing.
func (s *Suite) uncached(e *env) error {
	if testFlag(s.flags, "testlogfile") == "" {
		return nil
	}
	name := filepath.Join("artifacts", "uncached")
	// else it may lie outside of the module, where go test does not look
	if filepath.IsLocal(e.root.Dir) {
		name = filepath.Join(e.root.Dir, name)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		return err
	}
	farFuture := time.Now().AddDate(1, 0, 0)
	return os.Chtimes(name, farFuture, farFuture)
}

// testFlag returns the value of a flag of go test; "" where it is not defined.
func testFlag(flags *flag.FlagSet, name string) string {
	if f := flags.Lookup("test." + name); f != nil {
		return f.Value.String()
	}
	return ""
}

// verbose reports whether go test runs with -v.
func (s *Suite) verbose() bool { return testFlag(s.flags, "v") == "true" }

// underJSON reports whether our output is read as events, where a summary would be noise.
func underJSON(flags *flag.FlagSet) bool { return testFlag(flags, "v") == "test2json" }
