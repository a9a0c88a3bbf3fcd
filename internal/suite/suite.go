// Package suite wires all of Assay, once, for go test and for the command: what
// Smoke, Regression, Bench and Verify do, the flags, the closing summary.
//
// The suites are written against the interface [T] and not against *testing.T,
// so that a fake can prove that they fail.
package suite

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/auditor"
	"assay/internal/patterns"
	"assay/internal/workflow"
)

// A Suite is what the tests of one package share: the configuration and the
// summary.
type Suite struct {
	opts  Options
	flags *flag.FlagSet

	environment func() (*env, error) // reads flags, environment and .env once

	began      int // suites that began
	lacking    int // of them, those for which one's own folder has nothing
	summary    summary
	progress   *progress
	auditWait  time.Duration // before an audit is tried again
	auditGrace time.Duration // for audits in flight when the run is stopped
}

// Options are what a package that runs the suites says in code.
type Options struct {
	Flags     *flag.FlagSet
	Own       fs.FS            // what is shipped: fixtures/, tests/ and smoke-test-fixture/
	Dir       string           // folder with fixtures/ and tests/ of one's own; ASSAY_ROOT wins over it
	Shipped   bool             // count the shipped projects and cases beside those of Dir
	Out       string           // where records and results go without a Dir; "" is the working folder
	Auditors  []audit.Auditor  // written in Go; asked under their names
	Reviewers []audit.Reviewer // likewise
}

// An env is what every suite starts from.
type env struct {
	cfg    Config
	root   *root
	given  given
	file   map[string]bool // the variables that .env set
	change func() string   // what was changed: -change, or the subject of git's last commit
}

type given struct {
	auditors  []audit.Auditor
	reviewers []audit.Reviewer
}

// auditor gives the auditor of this name, nil where none was handed over.
func (g given) auditor(name string) audit.Auditor {
	for _, a := range g.auditors {
		if a.Name() == name {
			return a
		}
	}
	return nil
}

func (g given) reviewer(name string) bool {
	return slices.ContainsFunc(g.reviewers, func(r audit.Reviewer) bool { return r.Name() == name })
}

// New defines the flags on o.Flags and gives the suite.
func New(o Options) *Suite {
	o.Out = cmp.Or(o.Out, ".")
	define(o.Flags)
	s := &Suite{opts: o, flags: o.Flags, auditWait: auditWait, auditGrace: auditGrace}
	s.environment = sync.OnceValues(s.read)
	return s
}

// Main runs the tests and prints the summary after them, and gives the exit
// status. A mistake in flags or environment is 2 and runs nothing.
func (s *Suite) Main(m interface{ Run() int }) int {
	if !s.flags.Parsed() {
		if err := s.flags.Parse(os.Args[1:]); err != nil {
			return 2
		}
	}
	e, err := s.environment()
	if err == nil {
		err = writableTemp()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "assay:", workflow.Text(err.Error()))
		return 2
	}
	s.progress = newProgress(s.flags)
	code := m.Run()
	s.progress.end()
	s.tell(code)
	if who := s.askedNothing(&e.cfg); code == 0 && len(who) > 0 {
		fmt.Fprintf(os.Stderr, "assay: %s: asked nothing, as %s lacks what is told above\n", strings.Join(who, ", "), e.root.Dir)
		return 1
	}
	return code
}

// writableTemp tries the folder for temporary files: package testing ends a test that
// finds none in the middle of its own end.
func writableTemp() error {
	dir, err := os.MkdirTemp("", "assay")
	if err != nil {
		return fmt.Errorf("no folder for temporary files: %w: expected that TMPDIR names one where there is room to write", err)
	}
	return os.Remove(dir)
}

// askedNothing gives whom nobody asked anything: a pass would tell of them what nobody saw.
func (s *Suite) askedNothing(c *Config) []string {
	if s.began != s.lacking || s.began == 0 {
		return nil
	}
	if !slices.Equal(c.Models, []string{patterns.Name}) {
		return slices.Concat(c.Auditors, c.Models)
	}
	return c.Auditors
}

// underJSON reports whether our output is read as events, where a summary would be noise.
func underJSON(flags *flag.FlagSet) bool { return testFlag(flags, "v") == "test2json" }

func (s *Suite) read() (*env, error) {
	file, err := LoadEnv(s.opts.Out, s.opts.Dir, os.Getenv("ASSAY_ROOT"))
	if err != nil {
		return nil, err
	}
	cfg, err := configure(s.flags, os.Getenv)
	if err = errors.Join(err, checkVariables(os.Environ())); err != nil {
		return nil, err
	}
	root, err := openRoot(s.opts.Own, cmp.Or(cfg.Root, s.opts.Dir), s.opts.Out, s.opts.Shipped)
	if err != nil {
		return nil, err
	}
	if lacking := root.lacking(); len(lacking) > 0 {
		s.summary.note("%s has no %s: Assay's own stand in", root.Dir, strings.Join(lacking, ", "))
	}
	change := sync.OnceValue(func() string { return lastCommit(root.Dir) })
	if cfg.Change != "" {
		change = func() string { return cfg.Change }
	}
	return &env{cfg, root, given{s.opts.Auditors, s.opts.Reviewers}, file, change}, nil
}

func (s *Suite) begin(t T) *env {
	t.Helper()
	e, err := s.environment()
	if err != nil {
		t.Fatal(err)
	}
	s.summary.last = step{"all of it, as pages", e.assay("report")}
	s.progress.say("%s", strings.TrimPrefix(t.Name(), "Test"))
	s.began++
	if s.progress != nil && s.short() && s.swallowed() {
		err = s.uncached(e) // from the cache nobody would see the verdict
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// need tells in the summary, too, what is skipped: nobody reads what a skipped test says.
func (s *Suite) need(t T, e *env, names ...string) {
	t.Helper()
	if e.root.other == nil || slices.ContainsFunc(names, func(name string) bool { return exists(e.root.holdings(), name) }) {
		return
	}
	what := fmt.Sprintf("%s: %s has no %s: nothing is asked", strings.TrimPrefix(t.Name(), "Test"), e.root.Dir, strings.Join(names, " or "))
	if strings.Contains(testFlag(s.flags, "run"), "/") { // whoever names one asks for it
		t.Fatalf("%s: %s, and -run names a subtest", audit.Invalid, what)
	}
	s.lacking++
	s.summary.note("%s", what)
	t.Skipf("%s", what)
}

var errNothing = errors.New("nothing was selected: -run, -skip and -filter left nothing to ask, and a run of nothing proves nothing")

// some has a suite of which no subtest was selected fail, whatever else it found.
func some(t T, selected bool) {
	t.Helper()
	if !selected && !t.Failed() {
		t.Errorf("%s: %v", audit.Invalid, errNothing)
	}
}

// uncached keeps go test from serving this run's result from its cache, whose rules do not see
// what is live or outside of the module: it takes a file whose time lies in the future for one
// that is still changing. Where go test keeps no log of files, it caches nothing.
func (s *Suite) uncached(e *env) error {
	if testFlag(s.flags, "testlogfile") == "" {
		return nil
	}
	name := filepath.Join("artifacts", "uncached")
	if filepath.IsLocal(e.root.Dir) { // else it may lie outside of the module, where go test does not look
		name = filepath.Join(e.root.Dir, name)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	farFuture := time.Now().AddDate(1, 0, 0)
	return errors.Join(os.WriteFile(name, nil, 0o644), os.Chtimes(name, farFuture, farFuture))
}

func (e *env) dimensions() (map[audit.CWE]audit.Dimension, error) {
	return fixture.ReadDimensions(e.root.setting("fixtures/dimensions.md"), "fixtures/dimensions.md")
}

func (e *env) goals() (audit.Goals, error) {
	g, err := fixture.ReadGoals(e.root.setting("fixtures/goals.md"), "fixtures/goals.md")
	if err == nil {
		err = e.checkNames(g)
	}
	return g, err
}

// checkNames refuses goals for nobody: a name that is written wrong would switch them off.
// Names of models that are in no table are let through.
func (e *env) checkNames(g audit.Goals) error {
	dir, err := e.directory()
	if err != nil {
		return err
	}
	stated := map[string]audit.Pos{}
	for name, own := range g.For {
		stated[name] = own.Pos
	}
	for name, own := range g.BenchFor {
		stated[name] = own.Pos
	}
	for _, name := range slices.Sorted(maps.Keys(stated)) {
		known := e.given.auditor(name) != nil || e.given.reviewer(name) || auditor.Control(name) != nil || strings.ContainsAny(name, ":/") ||
			slices.ContainsFunc(dir.Auditors, func(a audit.AuditorEntry) bool { return a.Name == name }) ||
			slices.ContainsFunc(dir.Models, func(m audit.Model) bool { return m.Name == name })
		if !known {
			return fmt.Errorf("%s: goals for %q, and nobody has that name: expected a section of fixtures/auditors.md, a model of fixtures/models.md or provider:model", stated[name], name)
		}
	}
	return nil
}

// sections reads auditors.md, with a section of patterns whatever the file holds.
func (e *env) sections() ([]audit.AuditorEntry, error) {
	as, err := fixture.ReadAuditors(e.root.setting("fixtures/auditors.md"), "fixtures/auditors.md")
	if !slices.ContainsFunc(as, func(a audit.AuditorEntry) bool { return a.Name == patterns.Name }) {
		as = append(as, audit.AuditorEntry{Name: patterns.Name, Kind: patterns.Name, Format: "sarif", Timeout: 30 * time.Minute})
	}
	return as, err
}

func (e *env) auditors() (map[string]audit.AuditorEntry, error) {
	as, err := e.sections()
	m := map[string]audit.AuditorEntry{}
	for _, a := range as {
		m[a.Name] = a
	}
	return m, err
}

// testFlag gives the value of a flag of go test's own; "" where it is not defined.
func testFlag(flags *flag.FlagSet, name string) string {
	if f := flags.Lookup("test." + name); f != nil {
		return f.Value.String()
	}
	return ""
}

func (s *Suite) verbose() bool { return testFlag(s.flags, "v") == "true" }

func (s *Suite) short() bool { return testFlag(s.flags, "short") == "true" }

// A T is what the suites need of *testing.T. It is an interface so that a fake
// can prove that the suites fail, and so that nothing here is linked to package
// testing.
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
