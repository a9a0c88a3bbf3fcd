package box

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// A Home is a folder that a program may write and that is removed afterwards: its home, with
// folders for temporary files and for its report. The report is read through a descriptor from
// before the program started, so a link in the folder's place leads nowhere.
type Home struct {
	Dir   string            // absolute
	files map[string]string // that the program finds there, by path
	links map[string]string // links that it finds there, and where each leads
	root  *os.Root          // of Dir, as the program sees it
	out   *os.Root
	gone  func() error // removes Dir
}

// NewHome makes a home that will hold these files.
func NewHome(files map[string]string) (*Home, error) {
	dir, remove, err := TempDir("home")
	return &Home{Dir: dir, files: files, gone: remove}, err
}

// Link has the program find a link of this name, to a path of this machine.
func (h *Home) Link(name, target string) {
	if h.links == nil {
		h.links = map[string]string{}
	}
	h.links[name] = target
}

// Path returns the path of a file of the home, as the program sees it.
func (h *Home) Path(name string) string { return filepath.Join(h.Dir, name) }

// Out returns the folder for reports.
func (h *Home) Out() string { return h.Path("out") }

// Tmp returns the folder for temporary files.
func (h *Home) Tmp() string { return h.Path("tmp") }

// open writes the files of the home and keeps descriptors of its folders. The program sees the
// home at Dir, this process sees it at. All files belong to the account owner, unless that is
// less than 0.
func (h *Home) open(at string, owner int) (err error) {
	h.release()
	if h.root, err = os.OpenRoot(at); err != nil {
		return err
	}
	own := func(name string) error {
		if owner < 0 {
			return nil
		}
		return h.root.Lchown(name, owner, owner)
	}
	for _, name := range []string{"out", "tmp"} {
		if err := h.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := own(name); err != nil {
			return err
		}
	}
	within := func(name string) error {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if err := errors.Join(h.root.MkdirAll(dir, 0o700), own(dir)); err != nil {
				return err
			}
		}
		return nil
	}
	for name, target := range h.links {
		if err := errors.Join(within(name), h.root.Symlink(target, name)); err != nil {
			return err
		}
	}
	for name, content := range h.files {
		if err := within(name); err != nil {
			return err
		}
		if err := errors.Join(h.root.WriteFile(name, []byte(content), 0o700),
			own(name)); err != nil {
			return err
		}
	}
	if err := own("."); err != nil {
		return err
	}
	h.out, err = h.root.OpenRoot("out")
	return err
}

// size returns the bytes that a file or folder takes. It stops counting once they are more
// than most.
func size(root *os.Root, name string, most int64) int64 {
	sum := int64(0)
	_ = fs.WalkDir(root.FS(), name, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil {
			sum += max(leastFile, allocated(info))
		}
		if sum > most {
			return fs.SkipAll
		}
		return nil
	})
	return sum
}

// release closes the descriptors of the home.
func (h *Home) release() {
	for _, r := range []*os.Root{h.root, h.out} {
		if r != nil {
			_ = r.Close()
		}
	}
	h.root, h.out = nil, nil
}

// Close removes the home.
func (h *Home) Close() error {
	h.release()
	return h.gone()
}

// Wrote reports whether the program left something of this name in its output folder.
func (h *Home) Wrote(name string) bool {
	if h.out == nil {
		return false
	}
	_, err := h.out.Lstat(name)
	return err == nil
}

// Read returns the file that the program wrote to its output folder. It is an error if that is
// no plain file, is larger than limit bytes, or the program replaced the folder.
func (h *Home) Read(name string, limit int64) ([]byte, error) {
	if h.out == nil {
		return nil, errors.New("nothing was run in this home")
	}
	given, err := h.out.Stat(".")
	if err != nil {
		return nil, err
	}
	now, err := h.root.Lstat("out")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("it removed the folder $ASSAY_OUT")
	case err != nil:
		return nil, err
	case !os.SameFile(given, now):
		return nil, fmt.Errorf("it put %s in the place of the folder $ASSAY_OUT",
			kindOf(now.Mode()))
	}
	info, err := h.out.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("it wrote no report to $ASSAY_OUT/%s", name)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("$ASSAY_OUT/%s is %s: expected a file", name, kindOf(info.Mode()))
	}
	// All processes of the program should have ended. If one has not, it may have put a FIFO
	// in the file's place, which must not block this process.
	f, err := h.out.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	opened, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !os.SameFile(info, opened) || !opened.Mode().IsRegular():
		return nil, fmt.Errorf("$ASSAY_OUT/%s changed while it was read", name)
	case opened.Size() > limit:
		if n := allocated(opened); n < opened.Size()/2 {
			return nil, fmt.Errorf("its report is larger than %s: %d bytes, of which it wrote %d",
				Size(limit), opened.Size(), n)
		}
		return nil, fmt.Errorf("its report is larger than %s", Size(limit))
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("its report is larger than %s", Size(limit))
	}
	return b, err
}

var kinds = map[fs.FileMode]string{0: "a file", fs.ModeDir: "a folder", fs.ModeSymlink: "a link",
	fs.ModeNamedPipe: "a FIFO",
	fs.ModeSocket:    "a socket", fs.ModeDevice: "a device",
	fs.ModeDevice | fs.ModeCharDevice: "a device"}

// kindOf returns the name of a kind of file.
func kindOf(m fs.FileMode) string { return cmp.Or(kinds[m.Type()], "something else") }
