package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"assay/internal/record"
)

type baselineCmd struct {
	Root    string   `help:"Folder with fixtures/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	Lower   string   `help:"Why a baseline may move down." placeholder:"REASON"`
	Records []string `arg:"" help:"Records of records/ (.json) that become the baselines of their auditors on their projects." type:"existingfile"`
}

// Run makes each record the baseline of its auditor on its project. A baseline
// never moves down by itself.
func (c *baselineCmd) Run() error {
	var errs []error
	for _, name := range c.Records {
		r, err := record.Read(os.DirFS(filepath.Dir(name)), filepath.Base(name))
		if err == nil && r.Suite != "Regression" {
			err = fmt.Errorf("%s: a record of %s: expected one of Regression", name, r.Suite)
		}
		if err == nil {
			err = record.WriteBaseline(filepath.Join(c.Root, "fixtures", "baselines"), r, c.Lower)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Printf("%s on %s: baseline of %d trials\n", r.Auditor, r.Project, len(r.Trials))
	}
	return errors.Join(errs...)
}
