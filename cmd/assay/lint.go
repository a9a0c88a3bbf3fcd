package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/auditor"
	"assay/internal/planted"
	"assay/internal/record"
	"assay/internal/suite"
)

type lintCmd struct {
	Root   string   `help:"Folder with fixtures/ and tests/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	Strict bool     `help:"Advice fails too, as it does for Assay's own cases."`
	Dirs   []string `arg:"" optional:"" help:"What to check, like tests/my-app, fixtures/projects/my-app.md, fixtures/planted/my-app or fixtures/goals.md; default: everything."`

	out io.Writer
}

func (c *lintCmd) Help() string {
	return "Errors keep cases, SPECs and fixtures from being used, and end in exit status 1. Advice does not: it says which figures are missing for it, or what would measure better."
}

func (c *lintCmd) Run(out io.Writer) error {
	c.out = out
	root, err := os.OpenRoot(c.Root)
	if err != nil {
		return err
	}
	fsys := audit.PlainFiles(root.FS())
	if len(c.Dirs) > 0 {
		dirs, err := below(c.Root, c.Dirs)
		if err != nil {
			return err
		}
		return c.named(fsys, dirs)
	}
	_, errTests := fs.Stat(fsys, "tests")
	_, errFixtures := fs.Stat(fsys, "fixtures")
	switch {
	case errTests == nil:
		errTests = c.corpus(fsys)
	case errFixtures != nil:
		return fmt.Errorf("%s: holds neither tests/ nor fixtures/: expected the folder above them in --root or ASSAY_ROOT; assay init writes one", c.Root)
	case errors.Is(errTests, fs.ErrNotExist):
		errTests = nil // projects alone
	}
	return errors.Join(append(c.fixtures(fsys), errTests)...)
}

// manyAdvice is told in full: more is that of a corpus from elsewhere, and is summed up.
const manyAdvice = 20

func (c *lintCmd) corpus(fsys fs.FS) error {
	corpus, err := fixture.ReadCorpus(fsys, "tests", false)
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

// advise prints advice, which is an error where it has to be taken.
func (c *lintCmd) advise(advice fixture.Errors) error {
	if c.Strict && len(advice) > 0 {
		return advice
	}
	for _, a := range advice {
		fmt.Fprintf(c.out, "advice: %v\n", a)
	}
	return nil
}

// A table is a file of fixtures/ that is checked by itself.
type table struct {
	name  string
	check func(fsys fs.FS, name string) error
}

var tables = []table{
	{"fixtures/goals.md", func(fsys fs.FS, name string) error { _, err := fixture.ReadGoals(fsys, name); return err }},
	{"fixtures/triggers.md", func(fsys fs.FS, name string) error {
		rules, err := fixture.ReadTriggers(fsys, name)
		if err == nil {
			_, err = record.Decide(rules, []string{"any"})
		}
		return err
	}},
	{"fixtures/auditors.md", func(fsys fs.FS, name string) error { _, err := fixture.ReadAuditors(fsys, name); return err }},
	{"fixtures/models.md", func(fsys fs.FS, name string) error {
		models, err := fixture.ReadModels(fsys, name)
		for _, m := range models {
			err = errors.Join(err, auditor.CheckProvider(m))
		}
		return err
	}},
}

// fixtures passes over those that are not there: the suites use Assay's, or have nothing to ask.
func (c *lintCmd) fixtures(fsys fs.FS) []error {
	there := func(name string) bool { _, err := fs.Stat(fsys, name); return !errors.Is(err, fs.ErrNotExist) }
	var errs []error
	if there("fixtures/projects") {
		names, err := fixture.Projects(fsys, "fixtures/projects")
		errs = append(errs, err)
		for _, name := range names {
			errs = append(errs, c.project(fsys, path.Join("fixtures/projects", name+".md")))
		}
	}
	names, err := suite.PlantedNames(fsys)
	errs = append(errs, err)
	for _, name := range names {
		errs = append(errs, c.planted(fsys, name))
	}
	for _, t := range tables {
		if there(t.name) {
			errs = append(errs, t.check(fsys, t.name))
		}
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
		rel := filepath.Clean(dir)
		if filepath.IsAbs(dir) {
			if rel, err = filepath.Rel(root, dir); err != nil {
				return nil, err
			}
		}
		if !filepath.IsLocal(rel) {
			return nil, fmt.Errorf("%s lies outside of %s: give the folder with tests/ in it by --root", dir, root)
		}
		out[i] = filepath.ToSlash(rel)
	}
	return out, nil
}

func (c *lintCmd) named(fsys fs.FS, names []string) error {
	var errs []error
	for _, name := range names {
		known := slices.IndexFunc(tables, func(t table) bool { return t.name == name })
		switch {
		case known >= 0:
			errs = append(errs, tables[known].check(fsys, name))
		case path.Dir(name) == "fixtures/planted":
			errs = append(errs, c.planted(fsys, path.Base(name)))
		case strings.HasSuffix(name, ".md"):
			errs = append(errs, c.project(fsys, name))
		default:
			errs = append(errs, c.app(fsys, name))
		}
	}
	return errors.Join(errs...)
}

func (c *lintCmd) app(fsys fs.FS, dir string) error {
	app, advice, err := fixture.LintApp(fsys, dir)
	if advised := c.advise(advice); err != nil || advised != nil {
		return errors.Join(err, advised)
	}
	judged := "nothing to complain of"
	if n := len(advice); n > 0 {
		judged = fmt.Sprintf("it can be run; advice: %d", n)
	}
	fmt.Fprintf(c.out, "%s: %d families, %d requirements: %s\n", dir, len(app.Families), len(app.Spec.Requirements), judged)
	return nil
}

// planted reads all variants of a planted project, and checks the key of one draw.
func (c *lintCmd) planted(fsys fs.FS, name string) error {
	target, p, err := suite.Drawn(fsys, name)
	switch {
	case err != nil:
		return err
	case target == nil:
		return fmt.Errorf("there is no planted project %q below fixtures/planted", name)
	}
	dims, err := c.dimensions()
	if err == nil {
		err = fixture.MissingDimensions(p, dims)
	}
	fmt.Fprintf(c.out, "%s, seed %d: %d known vulnerabilities, %d decoys, %d files\n", p.Name, planted.DefaultSeed, len(p.Known), len(p.Decoys), len(target.Files))
	return err
}

// dimensions may be Assay's own.
func (c *lintCmd) dimensions() (map[audit.CWE]audit.Dimension, error) {
	fsys, err := suite.Checkout(c.Root)
	if err != nil {
		return nil, err
	}
	return fixture.ReadDimensions(fsys, "fixtures/dimensions.md")
}

func (c *lintCmd) project(fsys fs.FS, file string) error {
	dims, err := c.dimensions()
	if err != nil {
		return err
	}
	p, advice, err := fixture.LintProject(fsys, file)
	errs := []error{err, c.advise(advice)}
	if err == nil {
		errs = append(errs, fixture.MissingDimensions(p, dims))
		fmt.Fprintf(c.out, "%s: %d known vulnerabilities, %d decoys, %d files, key %s\n", p.Name, len(p.Known), len(p.Decoys), len(p.Tree), p.KeyHash[:12])
	}
	return errors.Join(errs...)
}
