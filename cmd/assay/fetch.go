package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/seal"
)

// A source says where fixtures are and where clones are kept.
type source struct {
	Root   string `help:"Folder with fixtures/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	Cache  string `help:"Folder for clones; default: the user's cache folder." env:"ASSAY_CACHE"`
	Mirror string `help:"Folder or template of local clones, like /srv/git/{owner}/{name}." env:"ASSAY_MIRROR"`
}

// fixtures gives the fixtures as a file system that nothing leaves.
func (s source) fixtures() (fs.FS, error) {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return nil, err
	}
	return root.FS(), nil
}

func (s source) project(name string) (*audit.Project, error) {
	fsys, err := s.fixtures()
	if err != nil {
		return nil, err
	}
	return fixture.ReadProject(fsys, path.Join("fixtures/projects", name+".md"))
}

// clone fetches the project at its pin.
func (s source) clone(ctx context.Context, p *audit.Project) (*seal.Clone, error) {
	cache := s.Cache
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("%w: set ASSAY_CACHE", err)
		}
		cache = filepath.Join(user, "assay")
	}
	return seal.Fetch(ctx, p, cache, s.Mirror)
}

// export fetches the project and writes its sealed export to dir.
func (s source) export(ctx context.Context, p *audit.Project, dir string) (*seal.Sealed, error) {
	clone, err := s.clone(ctx, p)
	if err != nil {
		return nil, err
	}
	return clone.Export(ctx, dir)
}

type fetchCmd struct {
	source
	Project string `arg:"" help:"Name of a project of fixtures/projects."`
	Out     string `arg:"" help:"Empty folder for the sealed export." type:"path"`
}

// Run fetches and exports.
func (c *fetchCmd) Run(ctx context.Context) error {
	p, err := c.project(c.Project)
	if err != nil {
		return err
	}
	clone, err := c.clone(ctx, p)
	if err != nil {
		return err
	}
	if err := clone.CheckFunctions(ctx); err != nil {
		return err
	}
	s, err := clone.Export(ctx, c.Out)
	if err != nil {
		return err
	}
	fmt.Printf("%s at %s: %d files verified against the manifest, %d exported to %s, %d of them with answers blanked\n",
		p.Title, p.Commit[:12], len(p.Tree), s.Files, s.Dir, s.Blanked)
	for _, m := range s.Missing {
		fmt.Printf("left out: the source's copy lacks %s, which the manifest does not list\n", m)
	}
	return nil
}
