package box

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const heldPrefix = "assay-held-"

// TempDir makes a folder for temporary files, named after what it is for, with an
// absolute path that no link is a part of. It is held until remove removes it: a
// folder that nobody holds is one of a process that was killed, and the next that
// makes one removes it.
func TempDir(what string) (dir string, remove func() error, err error) {
	in, err := filepath.Abs(os.TempDir())
	if err == nil {
		in, err = filepath.EvalSymlinks(in)
	}
	if err != nil {
		return "", nil, fmt.Errorf("the folder for temporary files, which TMPDIR names: %w", err)
	}
	cleared.Do(func() { clearKilled(in, time.Now().Add(-time.Hour)) })
	if dir, err = os.MkdirTemp(in, heldPrefix+what+"-"); err != nil {
		return "", nil, err
	}
	held := hold(dir)
	return dir, func() error {
		defer held.Close()
		return removeAll(dir)
	}, nil
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

var cleared sync.Once

// clearKilled removes the folders in a folder that nobody holds. Those that were
// changed since may not be held yet.
func clearKilled(in string, since time.Time) {
	dirs, _ := filepath.Glob(filepath.Join(in, heldPrefix+"*"))
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || info.ModTime().After(since) {
			continue
		}
		held := hold(dir)
		if held == nil {
			continue
		}
		_ = removeAll(dir)
		_ = held.Close()
	}
}
