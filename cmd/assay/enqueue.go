package main

import (
	"context"
	"os"

	"assay/internal/suite"
)

// planFlags choose what is planned, as the flags of go test -run Bench do.
type planFlags struct {
	Model       []string `help:"Reviewers: static, a name of models.md or auditors.md, or provider:model." env:"ASSAY_MODEL"`
	Prompt      []string `help:"Prompts of fixtures/prompts." env:"ASSAY_PROMPT"`
	Filter      string   `help:"Only cases that hold this text, or match this glob." env:"ASSAY_FILTER"`
	Trials      int      `help:"How often each case is asked." default:"1" env:"ASSAY_TRIALS"`
	Budget      string   `help:"USD that the run may cost; 0 for the estimate alone, none for no limit." default:"5" env:"ASSAY_BUDGET"`
	Concurrency int      `help:"Requests at once to a provider, of all workers together." default:"8" env:"ASSAY_CONCURRENCY"`
	Force       bool     `help:"Ask again what is answered already." env:"ASSAY_FORCE"`
	Twins       bool     `help:"Ask the machine-made twins of each case too." env:"ASSAY_TWINS"`
}

type enqueueCmd struct {
	planFlags
	placeFlags
	Stop string `help:"Enqueue nothing, and let nothing more of this run be begun: what waits is skipped." placeholder:"RUN"`
}

// placeFlags say where fixtures and results are.
type placeFlags struct {
	Root string `help:"Another folder with tests/ and fixtures/; what it lacks is this repository's." env:"ASSAY_ROOT" type:"existingdir"`
	DB   string `help:"The PostgreSQL that the workers share: a postgres:// URL." env:"ASSAY_DB"`
}

// Run plans a run of Bench and leaves it to workers. go test -run Bench with the
// same flags waits for it, and reports.
func (c *enqueueCmd) Run(ctx context.Context) error {
	budget, err := suite.ParseBudget(c.Budget)
	if err != nil {
		return err
	}
	s, err := suite.NewSpread(".", suite.Config{Models: c.Model, Prompts: c.Prompt, Filter: c.Filter, Trials: c.Trials, Budget: budget,
		Concurrency: c.Concurrency, Force: c.Force, Twins: c.Twins, Root: c.Root, DB: c.DB})
	if err != nil {
		return err
	}
	if c.Stop != "" {
		return s.Stop(ctx, c.Stop)
	}
	_, err = s.Enqueue(ctx, os.Stdout)
	return err
}
