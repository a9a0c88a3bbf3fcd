// Command assay is what go test leaves to do by hand: fetch the benchmark
// projects, record tools on them, lint fixtures, compare and report.
//
//	go run ./cmd/assay --help
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"assay/audit/score"
	"assay/internal/cwe"
)

// cli is the command line.
type cli struct {
	Version kong.VersionFlag `help:"Print the versions of the judge and of its sources."`

	Fetch    fetchCmd    `cmd:"" help:"Clone a project at its pinned commit, verify it, and make the sealed export."`
	Capture  captureCmd  `cmd:"" help:"Run an auditor on a project's sealed export and store the recording."`
	Baseline baselineCmd `cmd:"" help:"Make records the baselines that later runs are compared with."`
	Lint     lintCmd     `cmd:"" help:"Check cases, projects and the other fixtures; every error at once."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c cli
	k := kong.Parse(&c, kong.Name("assay"), kong.Description("Measures code auditors against answer keys."),
		kong.UsageOnError(), kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Vars{"version": "score " + score.Version + ", " + cwe.Source()})
	k.FatalIfErrorf(k.Run())
}
