package main

import (
	"os"

	"assay/internal/suite"
)

type rescoreCmd struct {
	Root    string   `help:"Folder with tests/ and fixtures/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	Strict  bool     `help:"What is not settled fails."`
	Records []string `arg:"" help:"Records of live runs, with what their auditors wrote beside them." type:"existingfile"`
}

// Run reads the kept reports of records again, without asking anybody. What comes out
// otherwise is told, and written as a new record. It fails where a verdict is FAIL or
// INVALID.
func (c *rescoreCmd) Run() error {
	return suite.Rescore{Root: c.Root, Strict: c.Strict, Records: c.Records}.Run(os.Stdout)
}
