// Command assay does what is not a test: it writes folders and keys, fetches projects,
// checks fixtures, accepts baselines, compares runs and writes reports.
//
//	go run ./cmd/assay --help
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"assay/audit/score"
	"assay/internal/box"
	"assay/internal/cwe"
	"assay/internal/suite"
	"assay/internal/workflow"
)

type cli struct {
	Version kong.VersionFlag `help:"Print the versions of the scorer and of the CWE taxonomy."`

	Init     initCmd            `cmd:"" help:"Write a folder of your own: cases, goals, an auditor, a workflow."`
	New      newCmd             `cmd:"" help:"Add a case, an application, a project or an auditor to a folder of your own."`
	Import   importCmd          `cmd:"" help:"Add entries to a project's key from SARIF or CSV."`
	Fetch    fetchCmd           `cmd:"" help:"Clone a project at its pinned commit and write the sealed export."`
	Capture  captureCmd         `cmd:"" help:"Run an auditor on a project's sealed export and store its report as a recording."`
	Plan     planCmd            `cmd:"" help:"Print what a suite costs and which drops it finds, before anything runs."`
	Baseline baselineCmd        `cmd:"" help:"Accept records as the baseline that later runs are compared with."`
	Trigger  triggerCmd         `cmd:"" help:"Print which suite a change needs: full, smoke or none."`
	Compare  compareCmd         `cmd:"" help:"Compare two records, two auditors, two reviewers, or two results."`
	Score    suite.ScoreReports `cmd:"" help:"Score audit reports that exist, or score the reports of records again. Runs nothing."`
	Report   reportCmd          `cmd:"" help:"Write records and results as pages, text, CSV, JSON, benchfmt or SARIF."`
	Summary  summaryCmd         `cmd:"" help:"Write what a run changed for a pull request: comment, annotations or SARIF."`
	Triage   triageCmd          `cmd:"" help:"Judge findings that are not in the key, one keystroke each."`
	Enqueue  enqueueCmd         `cmd:"" help:"Plan a run of Bench and leave it to workers. Needs PostgreSQL."`
	Work     workCmd            `cmd:"" help:"Run what was enqueued, as one of several workers."`
	Lint     lintCmd            `cmd:"" help:"Check cases, projects and the other fixtures, and print every error."`
	Fixes    fixesCmd           `cmd:"" help:"Make a benchmark of your own security fixes."`
	Plant    plantCmd           `cmd:"" help:"Write a draw of a planted project: its source, and its key beside it."`
	Doctor   doctorCmd          `cmd:"" help:"Run an auditor for some seconds, and report what it misses here and what go test would refuse."`
}

// stdout and stderr escape text that a CI runner would take for a workflow command.
var stdout, stderr = &workflow.Writer{To: os.Stdout}, &workflow.Writer{To: os.Stderr}

// main runs the command.
func main() {
	// The first interrupt cancels the context, so that what an agent wrote is kept.
	ctx, stop := signal.NotifyContext(box.WithoutInterrupts(context.Background()), os.Interrupt,
		syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)     // the second interrupt ends the process
	loadEnv(".")                     // before kong reads the environment
	for _, v := range os.Environ() { // an empty variable counts as unset, as in go test
		if name, value, _ := strings.Cut(v, "="); value == "" && strings.HasPrefix(name, "ASSAY_") {
			os.Unsetenv(name)
		}
	}
	k := parse(ctx)
	here, _ := os.Getwd()
	for _, f := range k.Flags() { // the .env of --root sets defaults too
		if f.Name == "root" && f.Target.String() != here && loadEnv(f.Target.String()) {
			k = parse(ctx)
		}
	}
	err := k.Run()
	var s status
	if errors.As(err, &s) {
		os.Exit(s.ExitCode())
	}
	k.FatalIfErrorf(err)
}

// parse parses the command line.
func parse(ctx context.Context) *kong.Context {
	parser := kong.Must(&cli{}, kong.Name("assay"),
		kong.Description("Measures code auditors against answer keys."),
		kong.ShortUsageOnError(), kong.BindTo(ctx, (*context.Context)(nil)),
		kong.BindTo(stdout, (*io.Writer)(nil)), kong.Writers(stdout, stderr),
		kong.Vars{"version": versions()})
	if len(os.Args) > 1 {
		parser.FatalIfErrorf(suite.Removed("assay " + os.Args[1]))
	}
	k, err := parser.Parse(dashes(os.Args[1:]))
	parser.FatalIfErrorf(err)
	return k
}

// loadEnv reads the file .env in dir and reports whether it set a variable. It prints why a
// file cannot be read and goes on, since dir may be the folder of a foreign project.
func loadEnv(dir string) bool {
	set, err := suite.LoadEnv(dir)
	if err != nil {
		fmt.Fprintln(stderr, "assay:", err)
	}
	return len(set) > 0
}

// versions returns the scorer's versions, newest first, and the source of the CWE taxonomy.
// The first line is what the row Version of a section records.
func versions() string {
	var b strings.Builder
	for _, h := range slices.Backward(score.History()) {
		fmt.Fprintf(&b, "score %s, %s: %s\n", h.Version, h.Date, h.What)
	}
	return b.String() + cwe.Source()
}

var longFlag = regexp.MustCompile(`^-[a-z][a-z-]+(=|$)`)

// dashes returns args with a second dash before long flags, which may be written with one as
// those of go test are.
func dashes(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		if a == "--" {
			break
		}
		if longFlag.MatchString(a) {
			out[i] = "-" + a
		}
	}
	return out
}
