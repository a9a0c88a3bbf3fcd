package main

import (
	"context"
	"os"

	"assay/internal/suite"
)

type mergeCmd struct {
	Root   string   `help:"Folder with tests/ and fixtures/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	Out    string   `help:"The file that holds all of them afterwards; it must not be there yet." short:"o" required:"" type:"path"`
	Strict bool     `help:"What is not settled fails, and so does every miss."`
	Files  []string `arg:"" help:"The results.db of every shard." type:"existingfile"`
}

// Run joins the results of the shards of one run, and judges it as the suite
// would have judged it in one process. It fails where the verdict is FAIL or
// INVALID, and where a shard is missing.
func (c *mergeCmd) Run(ctx context.Context) error {
	return suite.Merge{Root: c.Root, Out: c.Out, Strict: c.Strict, Files: c.Files}.Run(ctx, os.Stdout)
}
