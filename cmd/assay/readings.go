package main

import (
	"fmt"

	"assay/internal/suite"
)

// readingsCmd has a reviewer that no API serves read requests, one by one.
type readingsCmd struct {
	Ask askCmd `cmd:"" help:"Write the requests of a sample of cases and modules, a file each, as a model would get them."`
}

type askCmd struct {
	Dir  string `arg:"" help:"Folder for <tier>/<number>.request.txt and, not to be shown to a reader, index.tsv." type:"path"`
	Root string `help:"Folder with tests/ and fixtures/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
}

// Run writes the requests.
func (c *askCmd) Run() error {
	n, err := suite.Readings{Root: c.Root, Dir: c.Dir}.Ask()
	if err != nil {
		return err
	}
	fmt.Printf("%d requests in %s\n", n, c.Dir)
	return nil
}
