package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/auditor"
	"assay/internal/fixes"
	"assay/internal/planted"
	"assay/internal/suite"
)

type lintCmd struct {
	Root   string   `help:"Folder with fixtures/ and tests/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	Strict bool     `help:"Advice fails too, as it does for Assay's own cases."`
	Dirs   []string `arg:"" optional:"" help:"What to check, like tests, tests/my-app, fixtures/projects/my-app.md, fixtures/planted/my-app or fixtures/goals.md; default: everything."`

	out     io.Writer
	fsys    fs.FS
	checked int
}

// Help returns the help text.
func (c *lintCmd) Help() string {
	return "An error keeps a case, a SPEC or a fixture from being used, and the exit status is 1. " +
		"Advice does not: it says which figures are missing, or what would measure better."
}

// Run checks the named files and folders, or everything, and returns all errors.
func (c *lintCmd) Run(out io.Writer) error {
	c.out = out
	root, err := os.OpenRoot(c.Root)
	if err != nil {
		return err
	}
	c.fsys = audit.PlainFiles(root.FS())
	names, err := below(c.Root, c.Dirs)
	if err != nil {
		return err
	}
	if len(names) == 0 || slices.Contains(names, ".") {
		names = slices.DeleteFunc([]string{"tests", "fixtures"},
			func(name string) bool { return !c.there(name) })
		if len(names) == 0 {
			return fmt.Errorf(
				"%s: holds neither tests/ nor fixtures/: expected the folder above them "+
					"in --root or ASSAY_ROOT; assay init writes one", c.Root)
		}
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, c.check(name))
	}
	if err := errors.Join(errs...); err != nil || c.checked > 0 {
		return err
	}
	return fmt.Errorf("%s: nothing to check in %s: expected cases below tests/, or projects and "+
		"tables such as goals.md below fixtures/", c.Root, strings.Join(names, ", "))
}

// there reports whether the root has a file or folder.
func (c *lintCmd) there(name string) bool {
	_, err := fs.Stat(c.fsys, name)
	return !errors.Is(err, fs.ErrNotExist)
}

// check checks a file or folder. Its name decides what it is.
func (c *lintCmd) check(name string) error {
	if name == "fixtures" || name == "fixtures/projects" || name == plantedDir ||
		name == fixes.Dir {
		return c.fixtures(name)
	}
	c.checked++
	read, isTable := tables[name]
	folder := path.Dir(name)
	switch {
	case isTable:
		return read(c.fsys, name)
	case name == "tests":
		return c.corpus()
	case folder == fixes.Dir:
		return c.fixes(name)
	case folder == plantedDir:
		return c.planted(path.Base(name))
	case path.Dir(folder) == "tests" && strings.HasSuffix(name, ".md") && c.there(name):
		return c.app(folder) // a case is checked with its family and SPEC
	case strings.HasSuffix(name, ".md"):
		return c.project(name)
	}
	return c.app(name)
}

// fixtures checks everything below a folder of fixtures. Files may be missing: the suites then
// use those of Assay, or none.
func (c *lintCmd) fixtures(folder string) error {
	_, missing := fs.Stat(c.fsys, folder)
	errs := []error{missing}
	names := slices.Sorted(maps.Keys(tables))
	if c.there("fixtures/projects") {
		projects, err := fixture.Projects(c.fsys, "fixtures/projects")
		errs = append(errs, err)
		for _, name := range projects {
			names = append(names, path.Join("fixtures/projects", name+".md"))
		}
	}
	for _, name := range fixes.Names(c.fsys) {
		names = append(names, page(name))
	}
	drawn, err := suite.PlantedNames(c.fsys)
	errs = append(errs, err)
	for _, name := range drawn {
		names = append(names, path.Join(plantedDir, name))
	}
	for _, name := range names {
		if strings.HasPrefix(name, folder+"/") && c.there(name) {
			errs = append(errs, c.check(name))
		}
	}
	return errors.Join(errs...)
}

// manyAdvice is the number of pieces of advice above which they are summed up: a corpus that was
// written elsewhere has many.
const manyAdvice = 20

// corpus checks all applications.
func (c *lintCmd) corpus() error {
	corpus, err := fixture.ReadCorpus(c.fsys, "tests", false)
	if corpus == nil {
		return err
	}
	if len(corpus.Advice) > manyAdvice && !c.Strict {
		fmt.Fprintln(c.out, corpus.Notes)
	} else {
		err = errors.Join(err, c.advise(corpus.Advice))
	}
	fmt.Fprintf(c.out, "tests: applications %d, cases %d\n", len(corpus.Apps), len(corpus.Cases()))
	return err
}

// advise prints advice, or returns it as an error with --strict.
func (c *lintCmd) advise(advice fixture.Errors) error {
	if c.Strict && len(advice) > 0 {
		return advice
	}
	for _, a := range advice {
		fmt.Fprintf(c.out, "advice: %v\n", a)
	}
	return nil
}

const plantedDir = "fixtures/planted"

// tables maps the tables of fixtures/ to the functions that check them.
var tables = map[string]func(fsys fs.FS, name string) error{
	"fixtures/auditors.md": func(fsys fs.FS, name string) error {
		_,
			err := fixture.ReadAuditors(fsys, name)
		return err
	},
	"fixtures/dimensions.md": func(fsys fs.FS, name string) error {
		_,
			err := fixture.ReadDimensions(fsys, name)
		return err
	},
	"fixtures/goals.md": func(fsys fs.FS, name string) error {
		_,
			err := fixture.ReadGoals(fsys, name)
		return err
	},
	"fixtures/keys.md": func(fsys fs.FS, name string) error {
		_,
			err := fixture.ReadKeys(fsys, name)
		return err
	},
	"fixtures/models.md": func(fsys fs.FS, name string) error {
		models, err := fixture.ReadModels(fsys, name)
		for _, m := range models {
			err = errors.Join(err, auditor.CheckProvider(m))
		}
		return err
	},
	"fixtures/smoke.md": func(fsys fs.FS, name string) error {
		_,
			err := fixture.ReadSmoke(fsys, name, nil)
		return err
	},
	"fixtures/triggers.md": func(fsys fs.FS, name string) error {
		_,
			err := fixture.ReadTriggers(fsys, name)
		return err
	},
}

// below returns folders, which may be absolute, as slash paths relative to the root. It fails
// if one lies outside of it.
func below(root string, dirs []string) ([]string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(dirs))
	for i, dir := range dirs {
		whole := dir
		if !filepath.IsAbs(dir) {
			whole = filepath.Join(root, dir)
		}
		rel, err := filepath.Rel(root, whole)
		if err != nil || !filepath.IsLocal(rel) {
			return nil, fmt.Errorf(
				"%s lies outside of %s: expected a path below it, or --root with the "+
					"folder that holds tests/", dir, root)
		}
		out[i] = filepath.ToSlash(rel)
	}
	return out, nil
}

// app checks an application: its SPEC and its cases.
func (c *lintCmd) app(dir string) error {
	app, advice, err := fixture.LintApp(c.fsys, dir)
	if advised := c.advise(advice); err != nil || advised != nil {
		return errors.Join(err, advised)
	}
	judged := "nothing to complain of"
	if n := len(advice); n > 0 {
		judged = fmt.Sprintf("it can be run; advice: %d", n)
	}
	fmt.Fprintf(c.out, "%s: %d families, %d requirements: %s\n",
		dir, len(app.Families), len(app.Spec.Requirements), judged)
	return nil
}

// planted checks all variants of a planted project, and the key of one draw.
func (c *lintCmd) planted(name string) error {
	target, p, err := suite.Drawn(c.fsys, name)
	switch {
	case err != nil:
		return err
	case target == nil:
		return fmt.Errorf("%s/%s: no planted project: expected a folder with a project.md",
			plantedDir, name)
	}
	dims, err := c.dimensions()
	if err == nil {
		err = fixture.MissingDimensions(p, dims)
	}
	fmt.Fprintf(c.out, "%s, seed %d: %d known vulnerabilities, %d decoys, %d files\n",
		p.Name, planted.DefaultSeed, len(p.Vulnerabilities), len(p.Decoys), len(target.Files))
	return err
}

// fixes checks a table of security fixes and, if the repository lies below the root, whether the
// trees that auditors see name the fixes.
func (c *lintCmd) fixes(file string) error {
	table, advice, err := fixes.Read(c.fsys, file)
	if err != nil {
		return err
	}
	if dir := filepath.Join(c.Root, table.Repository); !strings.Contains(table.Repository, "://") {
		repository, err := fixes.Open(context.Background(), dir)
		if err != nil {
			return fmt.Errorf("%s: %w", table.Pos, err)
		}
		leaks, err := repository.Leaks(context.Background(), table)
		if err != nil {
			return err
		}
		advice = append(advice, leaks...)
	}
	dims, err := c.dimensions()
	if err == nil {
		var p audit.Project
		for _, f := range table.Fixes {
			p.Vulnerabilities = append(p.Vulnerabilities, audit.Vulnerability{ID: f.ID, CWEs: f.CWEs, Pos: f.Pos})
		}
		err = fixture.MissingDimensions(&p, dims)
	}
	fmt.Fprintf(c.out, "%s: %s\n", file, table.Summary())
	return errors.Join(err, c.advise(advice))
}

// dimensions returns the dimensions of CWEs, by the table of the root or that of Assay.
func (c *lintCmd) dimensions() (map[audit.CWE]audit.Dimension, error) {
	fsys, err := suite.Checkout(c.Root)
	if err != nil {
		return nil, err
	}
	return fixture.ReadDimensions(fsys, "fixtures/dimensions.md")
}

// project checks a project: its key and its manifests.
func (c *lintCmd) project(file string) error {
	dims, err := c.dimensions()
	if err != nil {
		return err
	}
	p, advice, err := fixture.LintProject(c.fsys, file)
	errs := []error{err, c.advise(advice)}
	if err == nil {
		errs = append(errs, fixture.MissingDimensions(p, dims))
		fmt.Fprintf(c.out, "%s: %d known vulnerabilities, %d decoys, %d files, key %s\n",
			p.Name, len(p.Vulnerabilities), len(p.Decoys), len(p.Tree), p.KeyHash[:12])
	}
	return errors.Join(errs...)
}
