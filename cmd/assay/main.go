// Command assay is what go test leaves to do by hand: fetch the benchmark
// projects, record tools on them, lint fixtures, compare and report.
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
	Version kong.VersionFlag `help:"Print the versions of the judge and of its sources."`

	Init     initCmd            `cmd:"" help:"Write the smallest folder of your own that runs."`
	New      newCmd             `cmd:"" help:"Add a case, an application, a project or an auditor to a folder of your own."`
	Import   importCmd          `cmd:"" help:"Add entries to a project's key from SARIF or CSV."`
	Fetch    fetchCmd           `cmd:"" help:"Clone a project at its pinned commit, verify it, and make the sealed export."`
	Capture  captureCmd         `cmd:"" help:"Run an auditor on a project's sealed export and store the recording."`
	Plan     planCmd            `cmd:"" help:"Say what a suite costs and which drops it finds, before anything runs."`
	Baseline baselineCmd        `cmd:"" help:"Make records the baselines that later runs are compared with."`
	Trigger  triggerCmd         `cmd:"" help:"Say which suite a change needs: full, smoke or none."`
	Compare  compareCmd         `cmd:"" help:"Hold a record against an earlier one, an auditor or reviewer against another, or two results."`
	Score    suite.ScoreReports `cmd:"" help:"Score audit reports that exist, or the reports kept beside records again, without running anything."`
	Report   reportCmd          `cmd:"" help:"Show records and results: pages, text, CSV, JSON, Markdown, benchmark format, SARIF."`
	Summary  summaryCmd         `cmd:"" help:"Tell a pull request what a run changed: a comment, annotations, SARIF."`
	Triage   triageCmd          `cmd:"" help:"Rule findings that a key does not hold, a keystroke each."`
	Enqueue  enqueueCmd         `cmd:"" help:"Plan a run of Bench and leave it to workers (needs a PostgreSQL)."`
	Work     workCmd            `cmd:"" help:"Be a worker: carry out what was enqueued, here."`
	Lint     lintCmd            `cmd:"" help:"Check cases, projects and the other fixtures; every error at once."`
	Fixes    fixesCmd           `cmd:"" help:"Make a benchmark of your own security fixes."`
	Plant    plantCmd           `cmd:"" help:"Draw a planted project: its source, and its key beside it."`
	Doctor   doctorCmd          `cmd:"" help:"Say what an auditor would miss here: programs, version, key, skill, network, sandbox."`
}

// stdout and stderr are for people: no text in them is a command of a CI runner.
var stdout, stderr = &workflow.Writer{To: os.Stdout}, &workflow.Writer{To: os.Stderr}

func main() {
	// An interrupt ends the context alone: what an agent wrote so far is kept.
	ctx, stop := signal.NotifyContext(box.WithoutInterrupts(context.Background()), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)     // a second interrupt ends what does not heed the first
	loadEnv(".")                     // before flags look at the environment, as go test does
	for _, v := range os.Environ() { // as for go test, which takes a variable that is empty for none
		if name, value, _ := strings.Cut(v, "="); value == "" && strings.HasPrefix(name, "ASSAY_") {
			os.Unsetenv(name)
		}
	}
	k := parse(ctx)
	here, _ := os.Getwd()
	for _, f := range k.Flags() { // the root's file says what flags default to, too
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

func parse(ctx context.Context) *kong.Context {
	parser := kong.Must(&cli{}, kong.Name("assay"), kong.Description("Measures code auditors against answer keys."),
		kong.ShortUsageOnError(), kong.BindTo(ctx, (*context.Context)(nil)), kong.BindTo(stdout, (*io.Writer)(nil)), kong.Writers(stdout, stderr),
		kong.Vars{"version": versions()})
	if len(os.Args) > 1 {
		parser.FatalIfErrorf(suite.Removed("assay " + os.Args[1]))
	}
	k, err := parser.Parse(dashes(os.Args[1:]))
	parser.FatalIfErrorf(err)
	return k
}

// loadEnv reads the file .env of a folder, and reports whether it set anything. One that
// cannot be read is told and no more: it may be that of a project that is scanned.
func loadEnv(dir string) bool {
	set, err := suite.LoadEnv(dir)
	if err != nil {
		fmt.Fprintln(stderr, "assay:", err)
	}
	return len(set) > 0
}

// versions gives the present one first: a tool's version is the first line that it prints.
func versions() string {
	var b strings.Builder
	for _, h := range slices.Backward(score.History()) {
		fmt.Fprintf(&b, "score %s, %s: %s\n", h.Version, h.Date, h.What)
	}
	return b.String() + cwe.Source()
}

var longFlag = regexp.MustCompile(`^-[a-z][a-z-]+(=|$)`)

// dashes lets long flags be written with one dash, as go test's are.
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
