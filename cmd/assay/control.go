package main

import (
	"os"

	"assay/audit"
	"assay/audit/findings"
	"assay/internal/auditor"
)

type controlCmd struct {
	What string `arg:"" enum:"paths,random,memory" help:"paths: CWEs by the words in file paths. random: by the frequency of published CVEs. memory: what is remembered of a public project."`
	Dir  string `arg:"" optional:"" default:"." help:"The sealed export."`
	Seed uint64 `default:"1" help:"Of the random control."`
	N    int    `default:"80" help:"Findings of the random control."`
}

func (c *controlCmd) Run() error {
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var found []audit.Finding
	switch c.What {
	case "paths":
		found, err = auditor.PathControl(root.FS())
	case "memory":
		found, err = auditor.MemoryControl(root.FS())
	default:
		found, err = auditor.RandomControl(root.FS(), c.N, c.Seed)
	}
	if err != nil {
		return err
	}
	return findings.WriteSARIF(os.Stdout, "control-"+c.What, "1", found)
}
