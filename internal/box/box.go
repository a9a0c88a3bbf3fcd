// Package box is where the untrusted run: a session of their own that is killed
// whole, an allow-listed environment, a deadline, caps on what they write, and,
// where bubblewrap works, a view of the disk that holds what they need and
// nothing else.
package box

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/audit"
)

// A Box confines a program with bubblewrap: it sees the system's programs and
// libraries, what its entry names, the export read-only, and a home of its own;
// its processes see each other and nobody else, and end when it ends; it has no
// network unless its entry asks for it.
type Box struct {
	bwrap   string
	network bool
	mounts  []mount
}

// A mount is one folder or file that the program sees, or is kept from seeing.
type mount struct {
	path string
	kind string // bwrap's option: --ro-bind, --bind, --tmpfs or, for a file that is hidden, hideFile
}

const hideFile = "hide"

// Bubblewrap says whether bubblewrap can confine a program here: the path of
// bwrap, or why not. Each bwrap is tried once, as containers and hardened kernels
// forbid what it needs. ASSAY_SANDBOX=off does without.
func Bubblewrap() (bwrap, missing string) {
	if os.Getenv("ASSAY_SANDBOX") == "off" {
		return "", "switched off by ASSAY_SANDBOX=off"
	}
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return "", "bubblewrap is not installed"
	}
	try, _ := tried.LoadOrStore(bwrap, sync.OnceValue(func() string { return tryBubblewrap(bwrap) }))
	if missing := try.(func() string)(); missing != "" {
		return "", missing
	}
	return bwrap, ""
}

// tried holds, by the path of a bwrap, what became of its trial.
var tried sync.Map

func tryBubblewrap(bwrap string) (missing string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	b := &Box{bwrap: bwrap, mounts: system()}
	out, err := exec.CommandContext(ctx, bwrap, b.arguments("/", []string{"/bin/sh", "-c", ":"})...).CombinedOutput()
	if err != nil {
		return fmt.Sprintf("bubblewrap does not work here (%v): %s", err, LastLine(out))
	}
	return ""
}

// Exposed says what is within a program's reach where nothing confines it.
func Exposed(missing string) string {
	return "not confined (" + missing + "): it could read what this account can read, the answer keys among it, write there, and use the network"
}

// New gives the box for an entry; nil, and why, where there is none. A program
// that reads no source has no export.
func New(e *audit.AuditorEntry, export, home string) (b *Box, missing string, err error) {
	bwrap, missing := Bubblewrap()
	if missing != "" {
		if os.Getenv("ASSAY_SANDBOX") == "require" {
			return nil, missing, fmt.Errorf("ASSAY_SANDBOX=require: %s", missing)
		}
		return nil, missing, nil
	}
	reads, err := folders(e, "Reads", e.Reads)
	if err != nil {
		return nil, "", err
	}
	writes, err := folders(e, "Writes", e.Writes)
	if err != nil {
		return nil, "", err
	}
	b = &Box{bwrap: bwrap, network: e.Network, mounts: system()}
	b.see("--ro-bind", programs()...)
	for _, name := range e.Env {
		for _, p := range filepath.SplitList(os.Getenv(name)) { // a variable like GOMODCACHE is of no use without its folder
			if filepath.IsAbs(p) && filepath.Clean(p) != "/" && Exists(p) {
				b.see("--ro-bind", filepath.Clean(p))
			}
		}
	}
	b.see("--ro-bind", reads...)
	b.see("--bind", writes...)
	if export != "" {
		b.see("--ro-bind", export)
	}
	if home != "" {
		b.see("--bind", home)
	}
	if e.Network {
		b.see("--ro-bind", resolver()...)
	}
	return b, "", b.hide(export, home)
}

func (b *Box) see(kind string, paths ...string) {
	for _, p := range paths {
		b.mounts = append(b.mounts, mount{p, kind})
	}
}

// With gives the box with a home; nil of none.
func (b *Box) With(home string) *Box {
	if b == nil {
		return nil
	}
	c := *b
	c.mounts = append(slices.Clone(b.mounts), mount{home, "--bind"})
	return &c
}

// Sees reports whether a path is within the program's reach: the deepest mount
// that holds it decides.
func (b *Box) Sees(name string) bool {
	deepest, seen := -1, within(name, "/dev") || within(name, "/proc")
	for _, m := range b.mounts {
		if n := strings.Count(m.path, "/"); within(name, m.path) && n >= deepest {
			deepest, seen = n, m.kind != "--tmpfs" && m.kind != hideFile
		}
	}
	return seen
}

// hide keeps from the program what must not be seen and lies in what it sees.
func (b *Box) hide(export, home string) error {
	for _, secret := range secrets() {
		for _, m := range b.mounts {
			switch {
			case m.path == export || m.path == home || m.kind == "--tmpfs" || m.kind == hideFile:
			case m.path == secret:
				return fmt.Errorf("%s holds answer keys or clones with the answers: no auditor may see it; name a folder inside of it under Reads", secret)
			case within(secret, m.path):
				b.mounts = append(b.mounts, mount{secret, "--tmpfs"})
			}
		}
	}
	return nil
}

// arguments gives bwrap's command line. Mounts are made from the outside in, so
// that what lies deeper wins.
func (b *Box) arguments(dir string, command []string) []string {
	args := []string{"--die-with-parent", "--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
		"--unshare-cgroup-try", "--cap-drop", "ALL"}
	if !b.network {
		args = append(args, "--unshare-net")
	}
	mounts := append([]mount{{"/tmp", "--tmpfs"}, {"/var/tmp", "--tmpfs"}}, b.mounts...)
	slices.SortStableFunc(mounts, func(x, y mount) int { return strings.Count(x.path, "/") - strings.Count(y.path, "/") })
	args = append(args, "--proc", "/proc", "--dev", "/dev")
	for _, m := range mounts {
		switch m.kind {
		case "--tmpfs":
			args = append(args, m.kind, m.path)
		case hideFile:
			args = append(args, "--ro-bind", "/dev/null", m.path)
		case "--symlink":
			target, err := os.Readlink(m.path)
			if err == nil {
				args = append(args, m.kind, target, m.path)
			}
		default:
			args = append(args, m.kind, m.path, m.path)
		}
	}
	args = append(args, "--chdir", dir, "--")
	return append(args, command...)
}

// system gives the folders of programs and libraries, and of /etc what every
// user may read.
func system() []mount {
	var ms []mount
	for _, p := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu"} {
		info, err := os.Lstat(p)
		switch {
		case err != nil:
		case info.Mode()&fs.ModeSymlink != 0:
			ms = append(ms, mount{p, "--symlink"})
		default:
			ms = append(ms, mount{p, "--ro-bind"})
		}
	}
	return append(append(ms, mount{"/etc", "--ro-bind"}), private("/etc")...)
}

// private hides what below dir is not for everybody: we may be root.
var private = func() func(string) []mount {
	var once sync.Once
	var ms []mount
	return func(dir string) []mount {
		once.Do(func() {
			_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
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
		})
		return ms
	}
}()

// programs gives the folders of PATH; of one that is called bin, the folders lib
// and libexec beside it too, where its programs keep their parts. A link that
// leads out of them brings the file that it leads to.
func programs() []string {
	var ps []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		info, err := os.Stat(dir)
		if !filepath.IsAbs(dir) || err != nil || !info.IsDir() || systemPath(dir) || slices.Contains(secrets(), filepath.Clean(dir)) {
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
			if e.Type()&fs.ModeSymlink != 0 && err == nil && !systemPath(to) && !slices.ContainsFunc(ps, func(p string) bool { return within(to, p) }) {
				ps = append(ps, to)
			}
		}
	}
	return ps
}

// Exists reports whether a path leads to something.
func Exists(p string) bool { _, err := os.Stat(p); return err == nil }

func systemPath(p string) bool {
	return slices.ContainsFunc(system(), func(m mount) bool { return m.kind != "--tmpfs" && m.kind != hideFile && within(p, m.path) })
}

// within reports whether p is dir or lies in it.
func within(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && filepath.IsLocal(rel)
}

// resolver gives the file that /etc/resolv.conf leads to, where it is elsewhere.
func resolver() []string {
	if p, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil && !within(p, "/etc") {
		return []string{p}
	}
	return nil
}

// folders resolves what an entry names: an absolute path, one below the user's
// home (~/x), or one that a variable holds ($NAME, $NAME/x). A variable that is
// not set names nothing.
func folders(e *audit.AuditorEntry, field string, names []string) ([]string, error) {
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
		if !filepath.IsAbs(p) || !Exists(p) {
			return nil, fmt.Errorf("%s: %s: %s names %s, which is not there: expected an absolute path, ~/path or $NAME/path", e.Pos, e.Name, field, n)
		}
		paths = append(paths, filepath.Clean(p))
	}
	return paths, nil
}

// secrets gives the folders that hold answers: this repository, the one that
// ASSAY_ROOT names, and the clones.
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
	for _, name := range []string{"ASSAY_ROOT", "ASSAY_CACHE"} {
		add(os.Getenv(name))
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
	return dirs
}

// moduleRoot gives the folder with go.mod that dir lies in, or "".
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
