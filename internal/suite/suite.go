// Package suite is the adapter between Assay and go test: the suites Smoke,
// Regression, Bench and Verify, the flags, the closing summary.
//
// The suites are written against the interface [T] and not against *testing.T,
// so that a fake can prove that they fail.
package suite

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"assay/audit"
	"assay/audit/fixture"
)

// A Suite is what the root tests share: the configuration and the summary.
type Suite struct {
	flags   *flag.FlagSet
	options *options
	own     string // our repository's folder

	load sync.Once
	env  *env
	err  error

	summary     summary
	subject     sync.Once // of the last commit
	subjectLine string
}

// An env is what every suite starts from.
type env struct {
	cfg  Config
	root *root
}

// New defines the flags on flags and gives the suite of the working folder.
func New(flags *flag.FlagSet) *Suite {
	return &Suite{flags: flags, options: define(flags), own: "."}
}

// Main runs the tests and prints the summary after them, and gives the exit
// status. A mistake in flags or environment is 2 and runs nothing.
func (s *Suite) Main(m interface{ Run() int }) int {
	if !s.flags.Parsed() {
		if err := s.flags.Parse(os.Args[1:]); err != nil {
			return 2
		}
	}
	if _, err := s.environment(); err != nil {
		fmt.Fprintln(os.Stderr, "assay:", err)
		return 2
	}
	if err := announce(os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, "assay:", err)
		return 2
	}
	code := m.Run()
	if !underJSON(s.flags) {
		s.summary.print(os.Stdout)
	}
	return code
}

// underJSON reports whether go test reads our output as events (-json), where a
// summary that no test printed would be noise.
func underJSON(flags *flag.FlagSet) bool {
	v := flags.Lookup("test.v")
	return v != nil && v.Value.String() == "test2json"
}

// environment reads flags, environment and .env once.
func (s *Suite) environment() (*env, error) {
	s.load.Do(func() {
		if s.err = loadEnv(s.own, os.Getenv("ASSAY_ROOT")); s.err != nil {
			return
		}
		cfg, err := s.options.config(s.flags, os.Getenv)
		if err != nil {
			s.err = err
			return
		}
		root, err := openRoot(s.own, cfg.Root)
		if err != nil {
			s.err = err
			return
		}
		s.env = &env{cfg, root}
	})
	return s.env, s.err
}

// begin gives the environment of a suite, or ends the test.
func (s *Suite) begin(t T) *env {
	t.Helper()
	e, err := s.environment()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// uncached keeps go test from serving this run's result from its cache: it opens
// a file inside the module whose time lies in the future, which the go command
// takes for one that is still changing. What is live, or lies outside of the
// module, is not seen by the cache's own rules.
func (e *env) uncached(own string) error {
	dir := filepath.Join(own, "artifacts")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	name := filepath.Join(dir, "uncached")
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Chtimes(name, farFuture, farFuture); err != nil {
		return err
	}
	f, err = os.Open(name)
	if err != nil {
		return err
	}
	return f.Close()
}

// dimensions reads the map from CWE to dimension.
func (e *env) dimensions(t T) map[audit.CWE]audit.Dimension {
	t.Helper()
	m, err := fixture.ReadDimensions(e.root.pick("fixtures/dimensions.md"), "fixtures/dimensions.md")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// goals reads the thresholds.
func (e *env) goals(t T) audit.Goals {
	t.Helper()
	g, err := fixture.ReadGoals(e.root.pick("fixtures/goals.md"), "fixtures/goals.md")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// auditors reads auditors.md by name.
func (e *env) auditors(t T) map[string]audit.AuditorEntry {
	t.Helper()
	as, err := fixture.ReadAuditors(e.root.pick("fixtures/auditors.md"), "fixtures/auditors.md")
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]audit.AuditorEntry{}
	for _, a := range as {
		m[a.Name] = a
	}
	return m
}

// Smoke audits the smoke-test fixture: five planted flaws, five checks.
func Smoke(t *testing.T, s *Suite) { s.Smoke(real{t}) }

// Regression holds every project's auditors against its answer key.
func Regression(t *testing.T, s *Suite) { s.Regression(real{t}) }

// Bench asks every chosen reviewer every chosen case.
func Bench(t *testing.T, s *Suite) { s.Bench(real{t}) }

// Verify holds every case against reality.
func Verify(t *testing.T, s *Suite) { s.Verify(real{t}) }
