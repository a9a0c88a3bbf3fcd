package assay

import (
	"flag"
	"fmt"
	"testing"

	"assay/audit"
	"assay/internal/suite"
	"assay/internal/workflow"
)

// A Suite holds what the tests of one package share: flags, options, and the summary that is
// printed at the end.
type Suite struct{ suite *suite.Suite }

// An Option configures a Suite.
type Option struct{ set func(*suite.Options) }

// Dir sets the folder with your own fixtures/ and tests/, relative to the working folder. Tables
// that it lacks (goals, dimensions, prompts, models) are those of Assay. Projects, cases,
// recordings and baselines are only its own, unless Shipped is set too. Records, results and
// reports are written there. ASSAY_ROOT takes precedence.
func Dir(dir string) Option { return Option{func(o *suite.Options) { o.Dir = dir }} }

// Shipped adds Assay's own projects and cases to those of Dir.
func Shipped() Option { return Option{func(o *suite.Options) { o.Both = true }} }

// Auditor adds auditors that are written in Go. Smoke and Regression run them live unless
// -auditor chooses others.
func Auditor(as ...audit.Auditor) Option {
	return Option{func(o *suite.Options) { o.Auditors = append(o.Auditors, as...) }}
}

// Reviewer adds reviewers that are written in Go. Bench asks them unless -model chooses others.
// Several goroutines may call one at the same time.
func Reviewer(rs ...audit.Reviewer) Option {
	return Option{func(o *suite.Options) { o.Reviewers = append(o.Reviewers, rs...) }}
}

// New defines Assay's flags on flag.CommandLine and returns the suite. Call it once, in a
// variable of the test package, since flags must be defined before they are parsed.
func New(options ...Option) *Suite {
	o := suite.Options{Flags: flag.CommandLine, Shipped: shipped}
	for _, option := range options {
		option.set(&o)
	}
	return &Suite{suite.New(o)}
}

// Main runs the tests, prints the summary and returns the exit status: 0 if every verdict is PASS
// or WARN, 1 if one is FAIL or INVALID, and 2 for a mistake in flags or variables, with which
// nothing runs.
func (s *Suite) Main(m *testing.M) int { return s.suite.Main(m) }

// Smoke audits one class with five planted flaws: five checks, each a subtest.
func (s *Suite) Smoke(t *testing.T) { s.suite.Smoke(adapter{t}) }

// Regression audits projects and compares the findings with their answer keys.
func (s *Suite) Regression(t *testing.T) { s.suite.Regression(adapter{t}) }

// Bench asks every chosen reviewer about every chosen case, each a subtest.
func (s *Suite) Bench(t *testing.T) { s.suite.Bench(adapter{t}) }

// Verify runs the cases themselves, on PostgreSQL and their languages' runtimes, and fails for each
// whose label is wrong.
func (s *Suite) Verify(t *testing.T) { s.suite.Verify(adapter{t}) }

// An adapter makes a *testing.T a [suite.T]. It escapes what a CI runner would take for a workflow
// command in the texts that it logs.
type adapter struct{ *testing.T }

// Run runs a subtest.
func (a adapter) Run(name string, f func(suite.T)) bool {
	return a.T.Run(workflow.Text(name), func(t *testing.T) { f(adapter{t}) })
}

// Attr emits a test attribute.
func (a adapter) Attr(key, value string) { a.T.Attr(key, workflow.Text(value)) }

// Error logs and fails the test.
func (a adapter) Error(args ...any) {
	a.Helper()
	a.T.Error(workflow.Text(fmt.Sprint(args...)))
}

// Errorf logs and fails the test.
func (a adapter) Errorf(format string, args ...any) {
	a.Helper()
	a.T.Error(workflow.Text(fmt.Sprintf(format, args...)))
}

// Fatal logs, fails and ends the test.
func (a adapter) Fatal(args ...any) {
	a.Helper()
	a.T.Fatal(workflow.Text(fmt.Sprint(args...)))
}

// Fatalf logs, fails and ends the test.
func (a adapter) Fatalf(format string, args ...any) {
	a.Helper()
	a.T.Fatal(workflow.Text(fmt.Sprintf(format, args...)))
}

// Logf logs.
func (a adapter) Logf(format string, args ...any) {
	a.Helper()
	a.T.Log(workflow.Text(fmt.Sprintf(format, args...)))
}

// Skip logs and skips the test.
func (a adapter) Skip(args ...any) {
	a.Helper()
	a.T.Skip(workflow.Text(fmt.Sprint(args...)))
}

// Skipf logs and skips the test.
func (a adapter) Skipf(format string, args ...any) {
	a.Helper()
	a.T.Skip(workflow.Text(fmt.Sprintf(format, args...)))
}
