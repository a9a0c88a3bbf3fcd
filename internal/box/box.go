// Package box is where the untrusted run: a session of their own that is killed
// whole, an allow-listed environment, a deadline, caps on what they write, and,
// where bubblewrap works, a view of the disk that holds what they need and
// nothing else.
package box

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"assay/audit"
)

// A Box confines a program with bubblewrap: it sees the system's programs and
// libraries, what its entry names, the export read-only, and a home of its own;
// its processes see each other and nobody else, and end when it ends; its network
// is its own, from which a proxy leads to the hosts that its entry names, if any,
// unless its entry asks for an open one. It is an account without rights, also
// where we are root, and can write nothing of the system.
type Box struct {
	sandbox
	mounts []mount
	writes []string // folders and files of this machine that it may write
	opened []string // folders whose entries are mounted one by one
}

type sandbox struct {
	bwrap, prlimit, setpriv string // their paths; prlimit and setpriv are empty where they are missing
	drops                   bool   // we are root, and the program becomes nobody
	sized                   bool   // its home is a file system of limited size
}

const nobody = 65534 // uid and gid

type mount struct {
	path string
	kind string // bwrap's option: --ro-bind, --bind, --tmpfs or, for a file that is hidden, hideFile
}

const hideFile = "hide"

// Bubblewrap says what bubblewrap can do here, or why it can confine no program. Each
// bwrap is tried once, as containers and hardened kernels forbid what it needs.
// ASSAY_SANDBOX=off does without.
func Bubblewrap() (s sandbox, missing string) {
	if os.Getenv("ASSAY_SANDBOX") == "off" {
		return s, "switched off by ASSAY_SANDBOX=off"
	}
	if runtime.GOOS != "linux" {
		return s, "bubblewrap confines on Linux alone"
	}
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return s, "bubblewrap is not installed"
	}
	once, _ := tried.LoadOrStore(bwrap, sync.OnceValues(func() (sandbox, string) { return try(bwrap) }))
	return once.(func() (sandbox, string))()
}

var tried sync.Map // by the path of a bwrap: what became of trying it

// try runs a program that does nothing in boxes of which each asks for less than
// the one before: as nobody, where we are root, else in a user namespace; with a
// home of limited size, else with a folder.
func try(bwrap string) (s sandbox, missing string) {
	prlimit, setpriv := systemProgram("prlimit"), systemProgram("setpriv")
	for _, drops := range []bool{true, false} {
		if drops && (os.Geteuid() != 0 || setpriv == "") {
			continue
		}
		for _, sized := range []bool{true, false} {
			b := &Box{sandbox: sandbox{bwrap, prlimit, setpriv, drops, sized}, mounts: system()}
			home, err := NewHome(nil)
			if err != nil {
				return s, err.Error()
			}
			e, err := Process{Dir: home.Dir, Command: []string{"/bin/sh", "-c", ":"}, Box: b, Home: home, Timeout: tryTimeout, Progress: true}.Run(context.Background())
			_ = home.Close()
			switch {
			case err == nil && e.Code == 0:
				return b.sandbox, ""
			case err == nil:
				missing = fmt.Sprintf("bubblewrap does not work here (exit status %d): %s", e.Code, e.LastWords())
			default:
				missing = fmt.Sprintf("bubblewrap does not work here: %v: %s", err, e.LastWords())
			}
		}
	}
	return s, missing
}

const tryTimeout = time.Minute // of what takes milliseconds on a machine that is not busy

// systemProgram gives the path of a program that every box sees, or "".
func systemProgram(name string) string {
	p, err := exec.LookPath(name)
	if err == nil {
		p, err = filepath.Abs(p)
	}
	if err != nil || !systemPath(p) {
		return ""
	}
	return p
}

// Exposed says what is within a program's reach where nothing confines it.
func Exposed(missing string) string {
	return "not confined (" + missing + "): it could read what this account can read, the answer keys among it, write there, and use the network"
}

// New gives the box for an entry; nil, and why, where there is none. A program
// that reads no source has no export.
func New(e *audit.AuditorEntry, export string) (b *Box, missing string, err error) {
	if b, missing, err = build(e, export); err != nil {
		err = fmt.Errorf("%s: %s: %w", e.Pos, e.Name, err)
	}
	return b, missing, err
}

func build(e *audit.AuditorEntry, export string) (b *Box, missing string, err error) {
	s, missing := Bubblewrap()
	if missing != "" {
		if os.Getenv("ASSAY_SANDBOX") == "require" {
			return nil, missing, fmt.Errorf("ASSAY_SANDBOX=require: %s", missing)
		}
		return nil, missing, nil
	}
	reads, err := folders("Reads", e.Reads)
	if err != nil {
		return nil, "", err
	}
	writes, err := folders("Writes", e.Writes)
	if err != nil {
		return nil, "", err
	}
	b = &Box{sandbox: s, mounts: system(), writes: writes}
	b.see("--ro-bind", programs()...)
	for _, name := range e.Env {
		for _, p := range filepath.SplitList(os.Getenv(name)) { // a variable like GOMODCACHE is of no use without its folder
			if filepath.IsAbs(p) && filepath.Clean(p) != "/" && Exists(p) {
				b.see("--ro-bind", filepath.Clean(p))
			}
		}
	}
	for _, p := range reads {
		if info, err := os.Stat(p); s.drops && err == nil && !info.IsDir() && info.Mode()&0o004 == 0 {
			return nil, "", fmt.Errorf("its Reads names %s, which it could not read: where we are root it runs as uid %d, so others must be allowed to read the file", p, nobody)
		}
	}
	b.see("--ro-bind", reads...)
	for _, p := range writes {
		if info, err := os.Stat(p); s.drops && err == nil && info.Mode()&0o002 == 0 && !ownedByNobody(info) {
			return nil, "", fmt.Errorf("its Writes names %s, which it could not write: where we are root it runs as uid %d, so give it the folder: chown -R %[2]d %[1]s", p, nobody)
		}
	}
	b.see("--bind", writes...)
	if export != "" {
		b.see("--ro-bind", export)
		if s.drops {
			if err := openToAll(export); err != nil {
				return nil, "", err
			}
		}
	}
	if e.Network.Open {
		b.see("--ro-bind", resolver()...)
	}
	if err := errors.Join(b.hide(export), b.enter(export)); err != nil {
		return nil, "", err
	}
	if !slices.Contains(strings.Fields(e.Command), "assay") {
		b.hideOurselves(reads)
	}
	if name := b.unseen(e.Command + "\n" + e.Version); name != "" {
		return nil, "", fmt.Errorf("its command names %s, which it may not see: add the file, or a folder that holds it and no answers, to its Reads", name)
	}
	return b, "", nil
}

// openToAll lets an account without rights read an export: it is a copy, whose
// modes are those of whoever made it.
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

// enter holds that an account without rights can get to the export: where a folder
// around it is shown, the folders between keep their modes.
func (b *Box) enter(export string) error {
	around := filepath.Dir(export)
	info, err := os.Stat(around)
	if export == "" || !b.drops || err != nil || info.Mode()&0o001 != 0 {
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
	return fmt.Errorf("it sees %s, and the export lies in there below %s, which uid %d may not enter: set TMPDIR to a folder elsewhere, or let its Reads and Environment name other folders", nearest.path, around, nobody)
}

// see adds what the program sees. Of a folder that is not for everybody nobody
// can open the folder itself, so its entries are shown one by one.
func (b *Box) see(kind string, paths ...string) {
	for _, p := range paths {
		info, err := os.Stat(p)
		if b.drops && kind == "--ro-bind" && err == nil && info.IsDir() && info.Mode()&0o005 != 0o005 {
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

// unseen gives the first file that a command line reads and that the program may not
// see: it would fail for want of it, in words of its own.
func (b *Box) unseen(command string) string {
	words := strings.Fields(command)
	for i, word := range words {
		word = strings.Trim(word, "\"';()`$")
		written := i > 0 && strings.HasSuffix(words[i-1], ">")
		if filepath.IsAbs(word) && filepath.Clean(word) != "/" && !written && Exists(word) && !b.Sees(word) {
			return word
		}
	}
	return ""
}

func (b *Box) hide(export string) error {
	for _, secret := range secrets() {
		for _, m := range b.mounts {
			switch {
			case m.path == export || m.kind == "--tmpfs" || m.kind == hideFile:
			case m.path == secret, slices.Contains(b.opened, secret):
				return fmt.Errorf("%s holds answer keys or clones with the answers: no auditor may see it; name a folder inside of it under Reads", secret)
			case within(secret, m.path):
				b.mounts = append(b.mounts, mount{secret, "--tmpfs"})
			}
		}
	}
	return nil
}

// hideOurselves keeps from the program the binaries that have the keys embedded: the
// one that runs, and each that PATH knows as assay. Whoever wants one seen names it.
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

// kept is what of /proc a root of the box could write, or anybody could: it is
// there read-only. That is not left to the account alone.
var kept = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/mtrr", "/proc/scsi", "/proc/pressure"}

// arguments gives bwrap's command line before the command. Mounts are made from
// the outside in, so that what lies deeper wins.
func (b *Box) arguments(p Process) []string {
	home, disk := "", p.Limits.Disk
	if p.Home != nil {
		home = p.Home.Dir
	}
	args := []string{"--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"}
	switch {
	case b.drops:
		// What setpriv needs to take the rest away.
		args = append(args, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP")
	case os.Geteuid() == 0:
		args = append(args, "--unshare-user", "--uid", strconv.Itoa(nobody), "--gid", strconv.Itoa(nobody))
	default:
		args = append(args, "--unshare-user-try")
	}
	if !p.Network.Open {
		args = append(args, "--unshare-net")
	}
	var mounts []mount
	for _, p := range scratch {
		mounts = append(mounts, mount{p, scratchFolder})
	}
	mounts = append(mounts, b.mounts...)
	if home != "" && b.sized {
		mounts = append(mounts, mount{home, sizedHome})
	} else if home != "" {
		mounts = append(mounts, mount{home, "--bind"})
	}
	slices.SortStableFunc(mounts, func(x, y mount) int { return strings.Count(x.path, "/") - strings.Count(y.path, "/") })
	args = append(args, "--proc", "/proc")
	for _, p := range kept {
		if Exists(p) {
			args = append(args, "--ro-bind", p, p)
		}
	}
	args = append(args, "--dev", "/dev")
	made := map[string]bool{"/": true}
	for _, m := range mounts {
		if b.drops { // bubblewrap would make the folders around it for root alone
			for _, dir := range above(m.path) {
				if !made[dir] {
					args = append(args, "--perms", "0755", "--dir", dir)
				}
				made[dir] = true
			}
		}
		made[m.path] = true
		switch m.kind {
		case "--tmpfs":
			if b.sized {
				args = append(args, "--size", strconv.Itoa(1<<20))
			}
			args = append(args, m.kind, m.path)
		case sizedHome:
			args = append(args, "--perms", "0700", "--size", strconv.FormatInt(disk, 10), "--tmpfs", m.path)
		case scratchFolder:
			if b.sized {
				args = append(args, "--perms", "1777", "--size", strconv.FormatInt(disk, 10))
			} else if b.drops {
				args = append(args, "--perms", "1777")
			}
			args = append(args, "--tmpfs", m.path)
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
	for _, m := range mounts {
		if m.kind == "--tmpfs" { // an empty folder in the place of one that is hidden
			args = append(args, "--remount-ro", m.path)
		}
	}
	return append(args, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/")
}

// above gives the folders around a path, the outermost first.
func above(p string) []string {
	var dirs []string
	for dir := filepath.Dir(p); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	slices.Reverse(dirs)
	return dirs
}

// Kinds of mounts that bubblewrap has no option for: the home as a file system of
// limited size, and an empty folder that everybody may write.
const (
	sizedHome     = "home"
	scratchFolder = "scratch"
)

var scratch = []string{"/tmp", "/var/tmp", "/dev/shm"} // that every program may write

func (p Process) describe() string {
	var words []string
	switch b := p.Box; {
	case b == nil:
		words = []string{"no sandbox"}
	case b.drops:
		words = []string{"bubblewrap", fmt.Sprintf("as uid %d", nobody)}
	case os.Geteuid() == 0:
		words = []string{"bubblewrap", "as root without rights"}
	default:
		words = []string{"bubblewrap", fmt.Sprintf("as uid %d", os.Geteuid())}
	}
	switch {
	case p.way != nil && p.Box == nil:
		words = append(words, "told of a "+strings.TrimPrefix(p.way.describe(p.Env), "network through a "))
	case p.way != nil:
		words = append(words, p.way.describe(p.Env))
	case p.Box == nil:
	case p.Network.Open:
		words = append(words, "the machine's network")
	default:
		words = append(words, "no network")
	}
	return strings.Join(words, ", ")
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
	return append(append(ms, mount{"/etc", "--ro-bind"}), private()...)
}

// private hides what below /etc is not for everybody: we may be root.
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
			return nil, fmt.Errorf("%s names %s, which is not there: expected an absolute path, ~/path or $NAME/path", field, n)
		case real == "/" || within(real, "/proc"):
			return nil, fmt.Errorf("%s names %s, by which it would see the processes of this machine and what their environments hold: name the folders that it needs", field, n)
		}
		paths = append(paths, filepath.Clean(p))
	}
	return paths, nil
}

var hidden []string

// Hide keeps folders that hold answers from every program that is run later, beside
// those that the environment names. Of a template like that of ASSAY_MIRROR it takes
// the folder before the first brace. It is called before programs run.
func Hide(dirs ...string) {
	for _, dir := range dirs {
		if before, _, _ := strings.Cut(dir, "{"); before != "/" {
			hidden = append(hidden, before)
		}
	}
}

// secrets gives the folders that hold answers: the repository that this runs in,
// the one that it was built from, the one that ASSAY_ROOT names, the clones, and what
// Hide was told.
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
	for _, dir := range append([]string{os.Getenv("ASSAY_ROOT"), os.Getenv("ASSAY_CACHE")}, hidden...) {
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
