package main

import (
	"fmt"

	"assay/internal/suite"
)

type planCmd struct {
	Auditor     string `help:"Auditor whose baseline says how its trials vary and what they cost." placeholder:"NAME"`
	Filter      string `help:"Projects: a substring or glob, as -filter of go test." placeholder:"PATTERN"`
	View        string `help:"Only tables of fixes, in this view: pool or change." enum:",pool,change" default:""`
	Concurrency int    `help:"Audits at a time." default:"1"`
	Root        string `default:"." help:"Folder with fixtures/." env:"ASSAY_ROOT" type:"existingdir"`
}

func (c *planCmd) Run() error {
	p, err := suite.Plan(c.Root, c.Auditor, c.Filter, c.View, c.Concurrency)
	if err == nil {
		fmt.Fprint(stdout, p)
	}
	return err
}
