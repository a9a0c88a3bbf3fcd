package box

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

// TempDir makes a folder for temporary files, named after what it is for. Its path is absolute
// and holds no links. remove removes it. The first call of a process also removes the folders
// of processes that were killed.
func TempDir(what string) (dir string, remove func() error, err error) {
	return TempDirIn(os.TempDir(), what)
}

// TempDirIn is like TempDir for a folder other than TMPDIR's.
func TempDirIn(in, what string) (dir string, remove func() error, err error) {
	if in, err = filepath.Abs(in); err == nil {
		in, err = filepath.EvalSymlinks(in)
	}
	if err != nil {
		return "", nil, fmt.Errorf("the folder for temporary files, which TMPDIR names: %w", err)
	}
	once, _ := swept.LoadOrStore(in, &sync.Once{})
	once.(*sync.Once).Do(func() { sweep(in) })
	// The dot says that the folder is locked for as long as its owner lives.
	if dir, err = os.MkdirTemp(in, "assay-"+what+"."); err != nil {
		return "", nil, err
	}
	held, err := os.Open(dir)
	if err == nil {
		if err = lockShared(held); err != nil {
			_ = held.Close()
		}
	}
	if err != nil { // a file system without locks
		_ = os.Remove(dir)
		dir, err = os.MkdirTemp(in, "assay-"+what+"-")
		return dir, func() error { return removeAll(dir) }, err
	}
	return dir, func() error { return errors.Join(removeAll(dir), held.Close()) }, nil
}

var (
	swept     sync.Map // by folder: the Once of this process
	temporary = regexp.MustCompile(`^assay-[a-z]+\.\d+$`)
)

// settled is the least age of a folder that is taken for left behind. A younger one may not be
// locked yet.
const settled = time.Minute

// sweep removes the temporary folders that no process holds.
func sweep(in string) {
	entries, _ := os.ReadDir(in)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.IsDir() || !temporary.MatchString(e.Name()) ||
			time.Since(info.ModTime()) < settled {
			continue
		}
		dir := filepath.Join(in, e.Name())
		if f, err := os.Open(dir); err == nil {
			if lockAlone(f) == nil {
				_ = removeAll(dir)
			}
			_ = f.Close()
		}
	}
}

// removeAll removes a folder and all in it, also read-only folders like those of an export and
// of Go's module cache. It follows no links.
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
