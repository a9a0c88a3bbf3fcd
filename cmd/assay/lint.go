package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"assay/audit/fixture"
)

type lintCmd struct {
	Root string   `help:"Folder with fixtures/ and tests/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	Dirs []string `arg:"" optional:"" help:"Applications to check, like tests/my-app; default: everything."`
}

// Run checks the named applications, or everything.
func (c *lintCmd) Run() error {
	root, err := os.OpenRoot(c.Root)
	if err != nil {
		return err
	}
	fsys := root.FS()
	if len(c.Dirs) > 0 {
		dirs, err := below(c.Root, c.Dirs)
		if err != nil {
			return err
		}
		return lintApps(fsys, dirs)
	}
	var errs []error
	corpus, err := fixture.ReadCorpus(fsys, "tests", true)
	errs = append(errs, err)
	if corpus != nil {
		fmt.Print(corpus.Notes)
		fmt.Printf("tests: %d applications, %d cases\n", len(corpus.Apps), len(corpus.Cases()))
	}
	return errors.Join(append(errs, lintFixtures(fsys)...)...)
}

// lintFixtures checks the fixtures that are there. A folder of one's own may lack
// any of them: the suites then use Assay's.
func lintFixtures(fsys fs.FS) []error {
	var errs []error
	for _, check := range []struct {
		name string
		run  func(name string) []error
	}{
		{"fixtures/projects", func(string) []error { return lintProjects(fsys) }},
		{"fixtures/goals.md", func(name string) []error { _, err := fixture.ReadGoals(fsys, name); return []error{err} }},
		{"fixtures/triggers.md", func(name string) []error { _, err := fixture.ReadTriggers(fsys, name); return []error{err} }},
		{"fixtures/auditors.md", func(name string) []error { _, err := fixture.ReadAuditors(fsys, name); return []error{err} }},
		{"fixtures/models.md", func(name string) []error { _, err := fixture.ReadModels(fsys, name); return []error{err} }},
	} {
		if _, err := fs.Stat(fsys, check.name); errors.Is(err, fs.ErrNotExist) {
			fmt.Printf("%s: not there: the suites use Assay's own\n", check.name)
			continue
		}
		errs = append(errs, check.run(check.name)...)
	}
	return errs
}

// below gives folders, which may be absolute, as slash paths from the root.
func below(root string, dirs []string) ([]string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(dirs))
	for i, dir := range dirs {
		if out[i] = filepath.ToSlash(filepath.Clean(dir)); !filepath.IsAbs(dir) {
			continue
		}
		rel, err := filepath.Rel(root, dir)
		if err != nil || !filepath.IsLocal(rel) {
			return nil, fmt.Errorf("%s lies outside of %s: give the folder with tests/ in it by --root", dir, root)
		}
		out[i] = filepath.ToSlash(rel)
	}
	return out, nil
}

func lintApps(fsys fs.FS, dirs []string) error {
	var errs []error
	for _, dir := range dirs {
		app, notes, err := fixture.ReadApp(fsys, dir, true)
		fmt.Print(notes)
		if err == nil {
			fmt.Printf("%s: %d families, %d requirements: nothing to complain of\n", dir, len(app.Families), len(app.Spec.Requirements))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func lintProjects(fsys fs.FS) []error {
	dims, err := fixture.ReadDimensions(fsys, "fixtures/dimensions.md")
	errs := []error{err}
	names, err := fixture.Projects(fsys, "fixtures/projects")
	errs = append(errs, err)
	for _, name := range names {
		p, err := fixture.ReadProject(fsys, path.Join("fixtures/projects", name+".md"))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, fixture.MissingDimensions(p, dims))
		fmt.Printf("%s: %d known vulnerabilities, %d decoys, %d files, key %s\n", name, len(p.Known), len(p.Decoys), len(p.Tree), p.KeyHash[:12])
	}
	return errs
}
