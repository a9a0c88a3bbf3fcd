package suite

import (
	"cmp"
	"io/fs"
	"os"
)

// A root is where tests/ and fixtures/ are: the folder of ASSAY_ROOT, with what
// it lacks taken from our own repository.
type root struct {
	own   fs.FS // our repository
	other fs.FS // ASSAY_ROOT; nil where it is not set
	Dir   string
}

// openRoot opens the folders as os.Roots: no fixture can name a file outside.
func openRoot(own, other string) (*root, error) {
	r := &root{Dir: cmp.Or(other, own)}
	o, err := os.OpenRoot(own)
	if err != nil {
		return nil, err
	}
	r.own = o.FS()
	if other != "" {
		o, err := os.OpenRoot(other)
		if err != nil {
			return nil, err
		}
		r.other = o.FS()
	}
	return r, nil
}

// strict reports whether the corpus is our own and must be whole.
func (r *root) strict() bool { return r.other == nil }

// exists reports whether a file system holds the name.
func exists(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}

// pick gives the file system that holds the name: ASSAY_ROOT's where it is
// there, else ours.
func (r *root) pick(name string) fs.FS {
	if r.other != nil {
		if exists(r.other, name) {
			return r.other
		}
	}
	return r.own
}
