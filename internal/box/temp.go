package box

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// heldPrefix begins the names of folders that TempDir makes.
const heldPrefix = "assay-held-"

// TempDir makes a folder for temporary files, named after what it is for, with an
// absolute path that no link is a part of. It is held until release: a folder that
// nobody holds is one of a process that was killed, and the next that makes one
// removes it.
func TempDir(what string) (dir string, release func(), err error) {
	in, err := filepath.Abs(os.TempDir())
	if err == nil {
		in, err = filepath.EvalSymlinks(in)
	}
	if err != nil {
		return "", nil, err
	}
	cleared.Do(func() { clearKilled(in, time.Now().Add(-time.Hour)) })
	if dir, err = os.MkdirTemp(in, heldPrefix+what+"-"); err != nil {
		return "", nil, err
	}
	held := hold(dir)
	return dir, func() { _ = held.Close() }, nil
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
		_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() { // an export's are read-only
				return os.Chmod(name, 0o700)
			}
			return nil
		})
		_ = os.RemoveAll(dir)
		_ = held.Close()
	}
}
