package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"

	"assay/internal/suite"
)

type planCmd struct {
	Auditor     string  `help:"Auditor whose baseline says how its trials vary and what they cost." placeholder:"NAME"`
	Filter      string  `help:"Projects: a substring or glob, as -filter of go test." placeholder:"PATTERN"`
	View        string  `help:"Only tables of fixes, in this view: pool or change." enum:",pool,change" default:""`
	Concurrency int     `help:"Audits at a time." default:"1"`
	Left        float64 `help:"Print what is left of this limit after everything that the results hold, and nothing else." placeholder:"USD"`
	Root        string  `default:"." help:"Folder with fixtures/." env:"ASSAY_ROOT" type:"existingdir"`
	DB          string  `help:"With --left: the results; default: results.db below the root." env:"ASSAY_DB"`
}

// Run prints the plan.
func (c *planCmd) Run(ctx context.Context) error {
	if c.Left > 0 {
		left, err := suite.Left(ctx, cmp.Or(c.DB, under(c.Root, "results.db")), c.Left)
		if err == nil {
			fmt.Fprintln(stdout, strconv.FormatFloat(math.Floor(left*1e4)/1e4, 'f', -1, 64))
		}
		return err
	}
	p, err := suite.Plan(c.Root, c.Auditor, c.Filter, c.View, c.Concurrency)
	if err == nil {
		fmt.Fprint(stdout, p)
	}
	return err
}
