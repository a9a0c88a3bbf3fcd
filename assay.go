package assay

import (
	"flag"
	"fmt"
	"testing"

	"assay/audit"
	"assay/internal/suite"
	"assay/internal/workflow"
)

// A Suite is what the tests of one package share: the flags, what was configured,
// and the summary that ends the run.
type Suite struct{ suite *suite.Suite }

// An Option configures a Suite.
type Option struct{ set func(*suite.Options) }

// Dir names the folder with fixtures/ and tests/ of one's own, relative to the
// working folder. Settings that it lacks (goals, dimensions, prompts, models) are
// Assay's; projects, cases, recordings and baselines are its own alone, unless
// Shipped is given too. Records, results and reports go there. ASSAY_ROOT wins
// over it.
func Dir(dir string) Option { return Option{func(o *suite.Options) { o.Dir = dir }} }

// Shipped adds Assay's own projects and cases to those of Dir.
func Shipped() Option { return Option{func(o *suite.Options) { o.Both = true }} }

// Auditor makes auditors written in Go available under their names. Where no
// -auditor chooses, Smoke and Regression run them live.
func Auditor(as ...audit.Auditor) Option {
	return Option{func(o *suite.Options) { o.Auditors = append(o.Auditors, as...) }}
}

// Reviewer makes reviewers written in Go available under their names. Where no
// -model chooses, Bench asks them.
func Reviewer(rs ...audit.Reviewer) Option {
	return Option{func(o *suite.Options) { o.Reviewers = append(o.Reviewers, rs...) }}
}

// New defines Assay's flags on flag.CommandLine and gives the suite. Call it once,
// in a variable of the test package: flags must be defined before they are parsed.
func New(options ...Option) *Suite {
	o := suite.Options{Flags: flag.CommandLine, Shipped: shipped}
	for _, option := range options {
		option.set(&o)
	}
	return &Suite{suite.New(o)}
}

// Main runs the tests, prints the summary after them and gives the exit status: 0
// where everything passed, 1 where something failed or proves nothing, 2 for a
// mistake in flags or environment, with which nothing runs.
func (s *Suite) Main(m *testing.M) int { return s.suite.Main(m) }

// Smoke audits one class with five planted flaws: five checks, each a subtest.
func (s *Suite) Smoke(t *testing.T) { s.suite.Smoke(adapter{t}) }

// Regression holds auditors against the answer keys of projects.
func (s *Suite) Regression(t *testing.T) { s.suite.Regression(adapter{t}) }

// Bench asks every chosen reviewer every chosen case, each a subtest.
func (s *Suite) Bench(t *testing.T) { s.suite.Bench(adapter{t}) }

// Verify holds the cases against reality: each is run on the real thing.
func (s *Suite) Verify(t *testing.T) { s.suite.Verify(adapter{t}) }

// An adapter is a *testing.T as the suites want it. What it logs holds no command of a CI
// runner, whoever wrote the text.
type adapter struct{ *testing.T }

// Run runs a subtest.
func (a adapter) Run(name string, f func(suite.T)) bool {
	return a.T.Run(workflow.Text(name), func(t *testing.T) { f(adapter{t}) })
}

func (a adapter) Attr(key, value string) { a.T.Attr(key, workflow.Text(value)) }

func (a adapter) Error(args ...any) {
	a.Helper()
	a.T.Error(workflow.Text(fmt.Sprint(args...)))
}

func (a adapter) Errorf(format string, args ...any) {
	a.Helper()
	a.T.Error(workflow.Text(fmt.Sprintf(format, args...)))
}

func (a adapter) Fatal(args ...any) {
	a.Helper()
	a.T.Fatal(workflow.Text(fmt.Sprint(args...)))
}

func (a adapter) Fatalf(format string, args ...any) {
	a.Helper()
	a.T.Fatal(workflow.Text(fmt.Sprintf(format, args...)))
}

func (a adapter) Logf(format string, args ...any) {
	a.Helper()
	a.T.Log(workflow.Text(fmt.Sprintf(format, args...)))
}

func (a adapter) Skip(args ...any) {
	a.Helper()
	a.T.Skip(workflow.Text(fmt.Sprint(args...)))
}

func (a adapter) Skipf(format string, args ...any) {
	a.Helper()
	a.T.Skip(workflow.Text(fmt.Sprintf(format, args...)))
}
