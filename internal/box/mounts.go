package box

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// openTo returns an error if an account without rights could not read the files of Reads or
// write the folders of Writes.
func openTo(account int, reads, writes []string) error {
	for _, p := range reads {
		if info, err := os.Stat(p); err == nil && !info.IsDir() && info.Mode()&0o004 == 0 {
			return fmt.Errorf("its Reads names %s, which it could not read: where we are root it "+
				"runs as uid %d, so others must be allowed to read the file", p, account)
		}
	}
	for _, p := range writes {
		if info, err := os.Stat(p); err == nil && info.Mode()&0o002 == 0 &&
			!ownedByNobody(info) {
			return fmt.Errorf("its Writes names %s, which it could not write: where we are root it "+
				"runs as uid %d, so give it the folder: chown -R %[2]d %[1]s", p, account)
		}
	}
	return nil
}

// openToAll lets every account read an export. The export is a copy, so its modes may change.
func openToAll(export string) error {
	root, err := os.OpenRoot(export)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := info.Mode().Perm()
		switch {
		case d.IsDir():
			want |= 0o555
		case info.Mode().IsRegular():
			want |= 0o444
		}
		if want != info.Mode().Perm() {
			return root.Chmod(name, want)
		}
		return nil
	})
}

// reach checks that an account without rights can get to what it must read and write: the
// folders around it keep their modes. Of the rest it forgets what that account cannot reach.
func (b *Box) reach(export string, reads, writes []string) error {
	if !b.drops {
		return nil
	}
	if b.landlock == 0 {
		return b.reachExport(export)
	}
	if around := filepath.Dir(export); export != "" &&
		temporary.MatchString(filepath.Base(around)) {
		if err := os.Chmod(around, 0o711); err != nil { // a copy too
			return err
		}
	}
	for _, p := range slices.Concat([]string{export}, reads, writes) {
		inside := p
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			inside = filepath.Join(p, "x")
		}
		if shut := shutAbove(inside); shut != "" {
			return fmt.Errorf(
				"it needs %s, and uid %d may not enter %s: name a folder elsewhere, or let "+
					"others enter it (chmod o+x %[3]s)", p, nobody, shut)
		}
	}
	b.mounts = slices.DeleteFunc(b.mounts, func(m mount) bool { return shutAbove(m.path) != "" })
	return nil
}

// shutAbove returns a folder above a path that only its owner may enter; "" if there is none.
func shutAbove(p string) string {
	for _, dir := range above(p) {
		if info, err := os.Stat(dir); err == nil && info.Mode()&0o001 == 0 {
			return dir
		}
	}
	return ""
}

// reachExport is reach for bubblewrap, which makes the folders around what it shows: only those
// that it shows themselves matter.
func (b *Box) reachExport(export string) error {
	around := filepath.Dir(export)
	info, err := os.Stat(around)
	if export == "" || err != nil || info.Mode()&0o001 != 0 {
		return err
	}
	var nearest mount
	for _, m := range b.mounts {
		if m.path != export && within(export, m.path) && len(m.path) >= len(nearest.path) {
			nearest = m
		}
	}
	if nearest.path == "" || nearest.kind == "--tmpfs" { // bubblewrap makes the folders between
		return nil
	}
	return fmt.Errorf(
		"it sees %s, and the export lies in there below %s, which uid %d may not enter: "+
			"set TMPDIR to a folder elsewhere, or let its Reads and Environment name other folders",
		nearest.path, around, nobody)
}

// see adds paths to what the program sees. An account without rights cannot open a folder
// that only its owner may read, so the entries of such a folder are added one by one.
func (b *Box) see(kind string, paths ...string) {
	for _, p := range paths {
		info, err := os.Stat(p)
		if b.drops && kind == "--ro-bind" && err == nil && info.IsDir() &&
			info.Mode()&0o005 != 0o005 {
			b.opened = append(b.opened, p)
			entries, _ := os.ReadDir(p)
			for _, e := range entries {
				if name := filepath.Join(p, e.Name()); e.Type()&fs.ModeSymlink != 0 {
					b.mounts = append(b.mounts, mount{name, "--symlink"})
				} else {
					b.mounts = append(b.mounts, mount{name, kind})
				}
			}
			continue
		}
		b.mounts = append(b.mounts, mount{p, kind})
	}
}

// Sees reports whether the program can read a path. The deepest mount around it decides.
func (b *Box) Sees(name string) bool {
	deepest, seen := -1, within(name, "/dev") || within(name, "/proc")
	for _, m := range b.mounts {
		if n := strings.Count(m.path, "/"); within(name, m.path) && n >= deepest {
			deepest, seen = n, m.kind != "--tmpfs" && m.kind != hideFile
		}
	}
	return seen
}

// unseen returns the first file of a command line that the program cannot read; "" if it can
// read all. Without this check the program would fail with a message of its own.
func (b *Box) unseen(command string) string {
	words := strings.Fields(command)
	for i, word := range words {
		word = strings.Trim(word, "\"';()`$")
		written := i > 0 && strings.HasSuffix(words[i-1], ">")
		if filepath.IsAbs(word) && filepath.Clean(word) != "/" && !written && Exists(word) &&
			!b.Sees(word) {
			return word
		}
	}
	return ""
}

// hide removes the folders that hold answers from what the program sees, also behind links.
// A mount that is such a folder itself is an error.
func (b *Box) hide(export string) error {
	secrets := secrets()
	for _, m := range b.mounts {
		real, err := filepath.EvalSymlinks(m.path)
		if err != nil || m.path == export || m.kind != "--bind" && m.kind != "--ro-bind" {
			continue
		}
		for _, secret := range secrets {
			rel, err := filepath.Rel(real, secret)
			switch {
			case real == secret, slices.Contains(b.opened, secret):
				return fmt.Errorf(
					"%s holds answer keys or clones with the answers: no auditor may see it; "+
						"name a folder inside of it under Reads", m.path)
			case err == nil && filepath.IsLocal(rel):
				b.mounts = append(b.mounts, mount{filepath.Join(m.path, rel), "--tmpfs"})
			}
		}
	}
	return nil
}

// hideOurselves hides the binaries that have the keys embedded: the one that runs, and each
// that PATH knows as assay. One that the section names under Reads stays visible.
func (b *Box) hideOurselves(named []string) {
	self, _ := os.Executable()
	ours := []string{self}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		ours = append(ours, filepath.Join(dir, "assay"))
	}
	for _, file := range ours {
		real, err := filepath.EvalSymlinks(file)
		if err == nil && filepath.IsAbs(real) && !slices.Contains(named, real) && b.Sees(real) {
			b.mounts = append(b.mounts, mount{real, hideFile})
		}
	}
}

// system returns the folders of programs and libraries, and the parts of /etc that every user
// may read.
func system() []mount {
	var ms []mount
	for _, p := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
		"/opt",
		"/nix", "/gnu"} {
		info, err := os.Lstat(p)
		switch {
		case err != nil:
		case info.Mode()&fs.ModeSymlink != 0:
			ms = append(ms, mount{p, "--symlink"})
		default:
			ms = append(ms, mount{p, "--ro-bind"})
		}
	}
	return append(append(ms, mount{"/etc", "--ro-bind"}), private()...)
}

// private returns what to hide below /etc: all that not every user may read. Assay may run as
// root, which may read it.
var private = sync.OnceValue(func() (ms []mount) {
	_ = filepath.WalkDir("/etc", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what we cannot see, it cannot
		}
		info, err := d.Info()
		switch {
		case err != nil:
		case d.IsDir() && info.Mode()&0o005 != 0o005:
			ms = append(ms, mount{name, "--tmpfs"})
			return fs.SkipDir
		case info.Mode().IsRegular() && info.Mode()&0o004 == 0:
			ms = append(ms, mount{name, hideFile})
		}
		return nil
	})
	return ms
})

// programs returns the folders of PATH, with lib and libexec beside each folder bin, where its
// programs keep their parts. A link that leads out of these adds the file that it leads to.
func programs() []string {
	var ps []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		info, err := os.Stat(dir)
		if !filepath.IsAbs(dir) || err != nil || !info.IsDir() || systemPath(dir) ||
			slices.Contains(secrets(), filepath.Clean(dir)) {
			continue
		}
		ps = append(ps, filepath.Clean(dir))
		if filepath.Base(dir) == "bin" {
			for _, beside := range []string{"lib", "libexec"} {
				if p := filepath.Join(filepath.Dir(dir), beside); Exists(p) {
					ps = append(ps, p)
				}
			}
		}
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			to, err := filepath.EvalSymlinks(filepath.Join(dir, e.Name()))
			known := slices.ContainsFunc(ps, func(p string) bool { return within(to, p) })
			if e.Type()&fs.ModeSymlink != 0 && err == nil && !systemPath(to) && !known {
				ps = append(ps, to)
			}
		}
	}
	return ps
}

// Exists reports whether there is a file or folder at a path.
func Exists(p string) bool { _, err := os.Stat(p); return err == nil }

// systemPath reports whether every box sees a path.
func systemPath(p string) bool {
	return slices.ContainsFunc(system(), func(m mount) bool {
		return m.kind != "--tmpfs" && m.kind != hideFile && within(p, m.path)
	})
}

// within reports whether p is dir or lies below it.
func within(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && filepath.IsLocal(rel)
}

// resolver returns the file that /etc/resolv.conf links to, if that lies outside of /etc.
func resolver() []string {
	if p, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil && !within(p, "/etc") {
		return []string{p}
	}
	return nil
}

// folders returns the paths that a field of an entry names: absolute ones, ones below the
// user's home (~/x), and ones that a variable holds ($NAME, $NAME/x). A variable that is not
// set names nothing.
func folders(field string, names []string) ([]string, error) {
	var paths []string
	for _, n := range names {
		p := n
		if rest, ok := strings.CutPrefix(n, "~/"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return nil, err
			}
			p = filepath.Join(home, rest)
		} else if rest, ok := strings.CutPrefix(n, "$"); ok {
			name, below, _ := strings.Cut(rest, "/")
			value := os.Getenv(name)
			if value == "" {
				continue
			}
			p = filepath.Join(value, below)
		}
		real, err := filepath.EvalSymlinks(p)
		switch {
		case !filepath.IsAbs(p) || err != nil:
			return nil, fmt.Errorf("%s names %s, which is not there: expected an absolute path, "+
				"~/path or $NAME/path", field, n)
		case real == "/" || within(real, "/proc"):
			return nil, fmt.Errorf(
				"%s names %s, by which it would see the processes of this machine and "+
					"what their environments hold: name the folders that it needs", field, n)
		}
		paths = append(paths, filepath.Clean(p))
	}
	return paths, nil
}

// hidden are the folders that Hide was called with.
var hidden []string

// Hide hides folders that hold answers from every program that is run later, besides those
// that the environment names. Of a template like ASSAY_MIRROR's it hides the folder before the
// first brace. It must be called before programs run.
func Hide(dirs ...string) {
	for _, dir := range dirs {
		if before, _, _ := strings.Cut(dir, "{"); before != "/" {
			hidden = append(hidden, before)
		}
	}
}

// secrets returns the folders that hold answers: the repository that this runs in, the one
// that it was built from, the one that ASSAY_ROOT names, the clones, and those of Hide.
func secrets() []string {
	var dirs []string
	add := func(dir string) {
		if dir == "" {
			return
		}
		if abs, err := filepath.Abs(dir); err == nil && Exists(abs) {
			if real, err := filepath.EvalSymlinks(abs); err == nil && real != abs {
				dirs = append(dirs, real)
			}
			dirs = append(dirs, abs)
		}
	}
	add(os.Getenv("ASSAY_ROOT"))
	add(os.Getenv("ASSAY_CACHE"))
	for _, dir := range hidden {
		add(dir)
	}
	before, _, _ := strings.Cut(os.Getenv("ASSAY_MIRROR"), "{")
	if before != "" && before != "/" {
		add(before)
	}
	if cache, err := os.UserCacheDir(); err == nil {
		add(filepath.Join(cache, "assay"))
	}
	if wd, err := os.Getwd(); err == nil {
		add(moduleRoot(wd))
	}
	if _, source, _, ok := runtime.Caller(0); ok && filepath.IsAbs(source) {
		add(moduleRoot(filepath.Dir(source)))
	}
	return dirs
}

// moduleRoot returns the nearest folder with a go.mod at or above dir; "" if there is none.
func moduleRoot(dir string) string {
	for {
		if Exists(filepath.Join(dir, "go.mod")) {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}
