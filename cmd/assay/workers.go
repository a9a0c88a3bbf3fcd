package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"assay/internal/suite"
)

// planFlags are the flags that choose what is planned, as those of go test -run Bench do.
type planFlags struct {
	Model       []string `help:"Reviewers: patterns, a name of models.md or auditors.md, or provider:model." env:"ASSAY_MODEL"`
	Prompt      []string `help:"Prompts of fixtures/prompts." env:"ASSAY_PROMPT"`
	Filter      string   `help:"Only cases that hold this text, or match this glob." env:"ASSAY_FILTER"`
	Trials      int      `help:"How often each case is asked." default:"1" env:"ASSAY_TRIALS"`
	Budget      string   `help:"USD that the run may cost; 0 for the estimate alone, none for no limit." default:"5" env:"ASSAY_BUDGET"`
	Concurrency int      `help:"Requests at once to a provider, of all workers together." default:"8" env:"ASSAY_CONCURRENCY"`
	Reuse       bool     `help:"Take answered trials of earlier runs instead of asking again." env:"ASSAY_REUSE"`
}

type enqueueCmd struct {
	planFlags
	placeFlags
	Stop string `help:"Stop this run instead: no trial of it starts any more." placeholder:"RUN"`
}

// placeFlags are the flags that say where fixtures and results are.
type placeFlags struct {
	Root string `help:"Another folder with tests/ and fixtures/; what it lacks comes from this repository." env:"ASSAY_ROOT" type:"existingdir"`
	DB   string `help:"The PostgreSQL that the workers share: a postgres:// URL." env:"ASSAY_DB"`
}

// Run enqueues and does not wait. go test -run Bench with the same flags waits and reports.
func (c *enqueueCmd) Run(ctx context.Context) error {
	budget, err := suite.ParseBudget(c.Budget)
	if err := errors.Join(err, atLeast(1, "trials", c.Trials),
		atLeast(1, "concurrency", c.Concurrency)); err != nil {
		return err
	}
	s, err := suite.NewWorkers(".", suite.Settings{Models: c.Model, Prompts: c.Prompt,
		Filter: c.Filter,
		Trials: c.Trials, Budget: budget, Concurrency: c.Concurrency, Reuse: c.Reuse,
		Root: c.Root, DB: c.DB})
	if err != nil {
		return err
	}
	if c.Stop != "" {
		return s.Stop(ctx, c.Stop)
	}
	_, err = s.Enqueue(ctx, os.Stdout)
	return err
}

type workCmd struct {
	placeFlags
	Name        string        `help:"Name of this worker; a later one with the same name takes over its trials at once. Default: a new name."`
	Concurrency int           `help:"Trials at once of one provider, in this process; the provider's own limit is that of the run." default:"8" env:"ASSAY_CONCURRENCY"`
	Audits      int           `help:"Auditors at once in this process; 0 takes no audits." default:"1"`
	Drain       bool          `help:"End when every run has ended, for jobs that must come to an end."`
	Grace       time.Duration `help:"How long running trials may go on after an interrupt." default:"30s"`
}

// Run carries out trials until ctx ends or, with --drain, until no run is left.
func (c *workCmd) Run(ctx context.Context) error {
	err := errors.Join(atLeast(1, "concurrency", c.Concurrency), atLeast(0, "audits", c.Audits),
		atLeast(0, "grace", c.Grace))
	if err != nil {
		return err
	}
	s, err := suite.NewWorkers(".", suite.Settings{Root: c.Root, DB: c.DB,
		Concurrency: c.Concurrency})
	if err != nil {
		return err
	}
	ready := func(id string) { fmt.Fprintln(os.Stderr, "assay: worker", id, "is ready") }
	return s.Work(ctx, c.Name, c.Concurrency, c.Audits, c.Drain, c.Grace, ready)
}

// atLeast fails if the number of a flag is below least.
func atLeast[N int | time.Duration](least N, flag string, n N) error {
	if n < least {
		return fmt.Errorf("--%s is %v: expected at least %v", flag, n, least)
	}
	return nil
}
