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

// A root is where fixtures/ and tests/ are: the user's folder, if there is one, with
// the settings that it lacks taken from those that are shipped with Assay.
type root struct {
	shipped fs.FS
	user    fs.FS // nil without a user's root
	both    bool  // whether shipped projects and cases count beside the user's
	planted bool  // whether the shipped planted projects count, since -filter names them
	Dir     string
}

// openRoot opens the folder user, "" for none, as an os.Root: no fixture can name a file
// outside of it.
func openRoot(shipped fs.FS, user, out string, both bool) (*root, error) {
	r := &root{shipped: audit.PlainFiles(shipped), both: both, Dir: cmp.Or(user, out)}
	if user == "" {
		return r, nil
	}
	o, err := os.OpenRoot(user)
	if err != nil {
		return nil, fmt.Errorf("%w: expected a folder with fixtures/ or tests/", err)
	}
	r.user = audit.PlainFiles(o.FS())
	return r, nil
}

// Checkout opens a folder with fixtures/ and tests/ for a command. Settings that it
// lacks are those that Assay was built with.
func Checkout(dir string) (fs.FS, error) {
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: expected a folder with fixtures/ or tests/", err)
	}
	return Overlay{audit.PlainFiles(r.FS()), defaults{fixtures.FS}}, nil
}

// checkout returns the environment of a command. Settings that the folder cfg.Root lacks come
// from the folder dir.
func checkout(dir string, cfg Settings) (*env, error) {
	fsys, err := Checkout(dir)
	if err != nil {
		return nil, err
	}
	root, err := openRoot(fsys, cfg.Root, dir, false)
	if err != nil {
		return nil, err
	}
	return newEnv(cfg, root), nil
}

// defaults shows package fixtures below the name of its folder.
type defaults struct{ fs.FS }

// Open opens a file of package fixtures.
func (d defaults) Open(name string) (fs.File, error) {
	below, ok := strings.CutPrefix(name, "fixtures/")
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return d.FS.Open(below)
}

// lacking returns the names of the settings that the user's root does not have.
func (r *root) lacking() (names []string) {
	if r.user == nil {
		return nil
	}
	for _, name := range []string{"goals.md", "dimensions.md", "smoke.md",
		"auditors.md", "models.md"} {
		if !exists(r.user, "fixtures/"+name) {
			names = append(names, name)
		}
	}
	return names
}

// strict reports whether the corpus is the shipped one, which must be whole.
func (r *root) strict() bool { return r.user == nil }

// exists reports whether a file exists.
func exists(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}

// setting returns the file system that holds a table or a prompt: the user's if it has
// the file, else the shipped one.
func (r *root) setting(name string) fs.FS {
	if r.user != nil && exists(r.user, name) {
		return r.user
	}
	return r.shipped
}

// fixtures returns what holds cases, projects, recordings and baselines: the user's root
// alone, unless the shipped ones count too.
func (r *root) fixtures() fs.FS {
	own := r.user
	switch {
	case own == nil:
		own = r.shipped
	case r.both:
		own = Overlay{own, r.shipped}
	}
	if r.planted && !exists(own, plantedDir) {
		return WithPlanted(own)
	}
	return own
}

// WithPlanted returns the file system with the shipped planted projects, for what it lacks.
func WithPlanted(fsys fs.FS) fs.FS { return Overlay{fsys, defaults{fixtures.Planted}} }

// namesPlanted reports whether a filter names shipped planted projects or their areas: by
// "areas" or "planted", or as "club.members", "{club.*,marina.stays}" or "club@7".
func namesPlanted(filter string) bool {
	if filter == allAreas || filter == allPlanted || filter == plantedAll {
		return true
	}
	names, err := fs.ReadDir(fixtures.Planted, "planted")
	return err == nil && slices.ContainsFunc(names, func(d fs.DirEntry) bool {
		return strings.Contains(filter, d.Name()+".") || strings.Contains(filter, d.Name()+"@")
	})
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
	slices.SortFunc(entries,
		func(x, y fs.DirEntry) int { return strings.Compare(x.Name(), y.Name()) })
	return entries, nil
}
