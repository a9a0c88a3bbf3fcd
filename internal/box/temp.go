package box

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// TempDir makes a folder for temporary files, named after what it is for, with an
// absolute path that no link is a part of.
func TempDir(what string) (dir string, remove func() error, err error) {
	in, err := filepath.Abs(os.TempDir())
	if err == nil {
		in, err = filepath.EvalSymlinks(in)
	}
	if err != nil {
		return "", nil, fmt.Errorf("the folder for temporary files, which TMPDIR names: %w", err)
	}
	if dir, err = os.MkdirTemp(in, "assay-"+what+"-"); err != nil {
		return "", nil, err
	}
	return dir, func() error { return removeAll(dir) }, nil
}

// removeAll removes a folder and what is in it, where folders may be read-only, as
// those of an export and of Go's module cache are. No link leads it out.
func removeAll(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return os.RemoveAll(dir)
	}
	if root, err := os.OpenRoot(dir); err == nil {
		_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				return root.Chmod(name, 0o700)
			}
			return nil
		})
		_ = root.Close()
	}
	return os.RemoveAll(dir)
}
