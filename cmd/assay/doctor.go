package main

import (
	"context"

	"assay/internal/suite"
)

type doctorCmd struct {
	Name string `arg:"" help:"A section of fixtures/auditors.md, or a model as -auditor takes it."`
	Root string `default:"." help:"Folder with fixtures/." env:"ASSAY_ROOT" type:"existingdir"`
}

func (c *doctorCmd) Run(ctx context.Context) error {
	missing, err := suite.Doctor(ctx, c.Root, c.Name, stdout)
	if err == nil && missing > 0 {
		return status(1)
	}
	return err
}
