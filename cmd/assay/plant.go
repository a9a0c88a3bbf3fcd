package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"assay/audit/fixture"
	"assay/internal/planted"
	"assay/internal/suite"
)

type plantCmd struct {
	Name string `arg:"" help:"A folder of fixtures/planted, or planted-all: all of them side by side. NAME@7 is the draw of seed 7."`
	Seed uint64 `help:"Of the draw." default:"1"`
	Out  string `required:"" help:"Folder to write to, which must be absent or empty; its key and the list of its files are written beside it, as <folder>.key.md and <folder>.key.tree.tsv."`
	Root string `default:"." env:"ASSAY_ROOT" help:"Folder with fixtures/."`
}

// Run writes a draw, and its key in the format of fixtures/projects.
func (c *plantCmd) Run() error {
	fsys, err := suite.Checkout(c.Root)
	if err != nil {
		return err
	}
	name, seed, seeded := strings.Cut(c.Name, "@")
	if !seeded {
		seed = fmt.Sprint(c.Seed)
	}
	target, project, err := suite.Drawn(fsys, name+"@"+seed)
	if err != nil {
		return err
	}
	if target == nil {
		return fmt.Errorf(
			"no planted project %q: expected a folder of fixtures/planted, or planted-all", c.Name)
	}
	out := filepath.Clean(c.Out)
	// so that the key of "." is beside it, not in it
	if strings.HasPrefix(filepath.Base(out), ".") {
		if out, err = filepath.Abs(out); err != nil {
			return err
		}
	}
	if err := target.Write(out); err != nil {
		return err
	}
	key := out + ".key.md"
	if err := os.WriteFile(key, planted.KeyMarkdown(project), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(out+".key.tree.tsv", fixture.FormatTree(project.Tree),
		0o600); err != nil {
		return err
	}
	fmt.Printf("%s with seed %s: %d files in %s; %d known vulnerabilities and %d decoys in %s\n",
		name, seed, len(target.Files), c.Out, len(project.Vulnerabilities), len(project.Decoys), key)
	return nil
}
