package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"assay/internal/suite"
)

type workCmd struct {
	placeFlags
	Name        string        `help:"This worker's own among all: another one of the same name is its successor, and takes over at once what it held. Default: a new one each time."`
	Concurrency int           `help:"Trials at once of one provider, in this process; the provider's own limit is that of the run." default:"8" env:"ASSAY_CONCURRENCY"`
	Audits      int           `help:"Auditors at once in this process; 0 takes no audits." default:"1"`
	Drain       bool          `help:"End when every run has ended, for jobs that must come to an end."`
	Grace       time.Duration `help:"How long what is under way may go on after an interrupt." default:"30s"`
}

// Run works on what was enqueued until it is interrupted: then nothing more is
// begun, what is under way comes to its end, and the rest is left to the others.
func (c *workCmd) Run(ctx context.Context) error {
	s, err := suite.NewSpread(".", suite.Config{Root: c.Root, DB: c.DB, Concurrency: c.Concurrency})
	if err != nil {
		return err
	}
	return s.Work(ctx, c.Name, c.Concurrency, c.Audits, c.Drain, c.Grace, func(id string) { fmt.Fprintln(os.Stderr, "assay: worker", id, "is ready") })
}
