package suite

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"assay/audit"
	"assay/fixtures"
)

// A root is where tests/ and fixtures/ are: the folder of one's own, if there is
// one, with the settings that it lacks taken from what is shipped with Assay.
type root struct {
	own     fs.FS // what is shipped
	other   fs.FS // the folder of one's own; nil where there is none
	shipped bool  // whether the shipped projects and cases count beside one's own
	Dir     string
}

// openRoot opens other, "" for none, as an os.Root: no fixture can name a file outside.
func openRoot(own fs.FS, other, out string, shipped bool) (*root, error) {
	r := &root{own: audit.PlainFiles(own), shipped: shipped, Dir: cmp.Or(other, out)}
	if other == "" {
		return r, nil
	}
	o, err := os.OpenRoot(other)
	if err != nil {
		return nil, fmt.Errorf("%w: expected a folder with fixtures/ or tests/", err)
	}
	r.other = audit.PlainFiles(o.FS())
	return r, nil
}

// Checkout opens a folder with fixtures/ and tests/ for a command; settings that
// it lacks are those that Assay was built with.
func Checkout(dir string) (fs.FS, error) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: expected a folder with fixtures/ or tests/", err)
	}
	return Overlay{audit.PlainFiles(r.FS()), defaults{fixtures.FS}}, nil
}

// checkout has dir stand in for what the folder cfg.Root lacks, where there is one.
func checkout(dir string, cfg Config) (*env, error) {
	fsys, err := Checkout(dir)
	if err != nil {
		return nil, err
	}
	root, err := openRoot(fsys, cfg.Root, dir, false)
	return &env{cfg: cfg, root: root}, err
}

// defaults shows package fixtures below the name of its folder.
type defaults struct{ fs.FS }

func (d defaults) Open(name string) (fs.File, error) {
	below, ok := strings.CutPrefix(name, "fixtures/")
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return d.FS.Open(below)
}

func (r *root) lacking() (names []string) {
	if r.other == nil {
		return nil
	}
	for _, name := range []string{"goals.md", "dimensions.md", "smoke.md", "auditors.md", "models.md"} {
		if !exists(r.other, "fixtures/"+name) {
			names = append(names, name)
		}
	}
	return names
}

// strict reports whether the corpus is our own and must be whole.
func (r *root) strict() bool { return r.other == nil }

func exists(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}

// setting gives what holds a table or a prompt: one's own folder, else what is shipped.
func (r *root) setting(name string) fs.FS {
	if r.other != nil && exists(r.other, name) {
		return r.other
	}
	return r.own
}

// holdings gives what holds cases, projects, recordings and baselines: one's own folder alone,
// unless the shipped ones are to count too.
func (r *root) holdings() fs.FS {
	switch {
	case r.other == nil:
		return r.own
	case r.shipped:
		return Overlay{r.other, r.own}
	}
	return r.other
}

// An Overlay is two file systems as one: what the first lacks is taken from the
// second, and folders that both have are joined.
type Overlay struct{ First, Second fs.FS }

// Open opens the first's file of that name, or the second's.
func (o Overlay) Open(name string) (fs.File, error) {
	f, err := o.First.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return o.Second.Open(name)
	}
	return f, err
}

// ReadDir lists both folders, each name once.
func (o Overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(o.First, name)
	more, moreErr := fs.ReadDir(o.Second, name)
	if err != nil && moreErr != nil {
		return nil, err
	}
	for _, e := range more {
		if !slices.ContainsFunc(entries, func(x fs.DirEntry) bool { return x.Name() == e.Name() }) {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(x, y fs.DirEntry) int { return strings.Compare(x.Name(), y.Name()) })
	return entries, nil
}
