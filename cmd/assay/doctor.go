package main

import (
	"context"
	"errors"

	"assay/internal/suite"
)

type doctorCmd struct {
	Name   string `arg:"" optional:"" help:"A section of fixtures/auditors.md, or a model as -auditor takes it."`
	All    bool   `help:"A table of all sections: which of them would run here. None is run."`
	Filter string `help:"Projects that go test will run it on: a substring or glob, as -filter." placeholder:"PATTERN"`
	Root   string `default:"." help:"Folder with fixtures/." env:"ASSAY_ROOT" type:"existingdir"`
}

// Run prints what an auditor would miss here. It exits with 1 if something is missing.
func (c *doctorCmd) Run(ctx context.Context) error {
	switch {
	case c.All && c.Name == "":
		return suite.DoctorAll(ctx, c.Root, stdout)
	case c.All || c.Name == "":
		return errors.New("expected the name of an auditor, or --all for a table of all of them")
	}
	missing, err := suite.Doctor(ctx, c.Root, c.Name, c.Filter, stdout)
	if err == nil && missing > 0 {
		return status(1)
	}
	return err
}
