package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"assay/audit"
	"assay/internal/seal"
	"assay/internal/suite"
)

type source struct {
	Root   string `help:"Folder with fixtures/." default:"." env:"ASSAY_ROOT" type:"path"`
	Cache  string `help:"Folder for clones; default: the user's cache folder." env:"ASSAY_CACHE"`
	Mirror string `help:"Folder or template of local clones, like /srv/git/{owner}/{name}." env:"ASSAY_MIRROR"`
}

// under returns a name below the root, relative to the working folder if that is shorter.
func under(root string, name ...string) string {
	whole := filepath.Join(append([]string{root}, name...)...)
	if here, err := os.Getwd(); err == nil && root == here {
		return filepath.Join(name...)
	}
	return whole
}

// clone returns the clone of a project at its pin.
func (s source) clone(ctx context.Context, p *audit.Project) (*seal.Clone, error) {
	return suite.Fetch(ctx, p, s.Root, s.Cache, s.Mirror)
}

type fetchCmd struct {
	source
	Project   string `arg:"" help:"Name of a project of fixtures/projects."`
	Out       string `arg:"" optional:"" help:"Empty folder for the sealed export." type:"path"`
	Functions bool   `help:"Write the manifest of the functions in the files that the key names, beside the project's file."`
	Others    bool   `help:"Write the list of the files that the export holds beside the tree manifest's, beside the project's file."`
}

// Run fetches projects and writes what the flags ask for.
func (c *fetchCmd) Run(ctx context.Context) error {
	if c.Functions { // before the key is held against the manifest that it asks to be written anew
		if err := c.manifests(ctx, c.Project, false); err != nil || !c.Others && c.Out == "" {
			return err
		}
	}
	fsys, err := suite.Checkout(c.Root)
	if err != nil {
		return err
	}
	drawn, p, err := suite.Project(fsys, c.Project)
	if err != nil {
		return err
	}
	if drawn != nil {
		return fmt.Errorf(
			"%s is planted, and nothing of it is fetched: expected assay plant NAME --seed N --out DIR", c.Project)
	}
	clone, err := c.clone(ctx, p)
	if err != nil {
		return err
	}
	if c.Others {
		if err := c.writeOthers(ctx, clone); err != nil || c.Out == "" {
			return err
		}
	}
	if c.Out == "" {
		return fmt.Errorf("no folder for the sealed export: expected assay fetch %s OUT", c.Project)
	}
	if err := clone.CheckFunctions(ctx); err != nil {
		return err
	}
	s, err := clone.Export(ctx, c.Out)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout,
		"%s at %s: %d files verified against the manifest, %d exported to %s, %d of them with answers blanked\n",
		p.Title, p.Commit[:12], len(p.Tree), s.Files, s.Dir, s.Blanked)
	for _, m := range s.Missing {
		fmt.Fprintf(stdout,
			"left out: the source's copy lacks %s, which the manifest does not list\n", m)
	}
	return nil
}

// writeOthers lists by what a reported path is known to be there, without the source.
func (c *fetchCmd) writeOthers(ctx context.Context, clone *seal.Clone) error {
	others, err := clone.Others(ctx)
	if err != nil {
		return err
	}
	return c.write(c.Project+".others.txt", []byte(strings.Join(others, "\n")+"\n"),
		len(others), "files")
}
