// Package box runs untrusted programs. Each gets a session of its own that is killed whole,
// an allow-listed environment, a deadline and limits. Where bubblewrap or Landlock works, it
// reads only the files that it needs and reaches only the hosts that its section names.
package box

import (
	"cmp"
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

// A Box confines a program. It sees the system's programs and libraries, what its entry
// names, the export read-only, and a home of its own. Where we are root, the program runs as
// an account without rights.
//
// Bubblewrap does so with namespaces: the program sees its own processes alone, and its
// network is its own, from which a proxy leads to the hosts that its entry names. Where user
// namespaces are forbidden Landlock does so: [Box.Unconfined] names what is left.
type Box struct {
	sandbox
	mounts []mount
	writes []string // folders and files of this machine that it may write
	opened []string // folders whose entries are mounted one by one
}

// A sandbox is what confines programs on this machine.
type sandbox struct {
	bwrap    string // its path
	prlimit  string // its path; "" if it is missing
	setpriv  string // its path; "" if it is missing
	landlock int    // version of Landlock, where it confines in place of bubblewrap
	drops    bool   // the program becomes nobody, as Assay runs as root
	sized    bool   // its home is a file system of limited size
}

// nobody is the user and the group that programs run as where Assay runs as root.
const nobody = 65534

// A mount is a path of this machine and how the program sees it.
type mount struct {
	path string
	kind string // an option of bubblewrap: --ro-bind, --bind, --tmpfs, --symlink; or a kind below
}

// Kinds of mounts for which bubblewrap has no option.
const (
	hideFile      = "hide"    // a file that the program sees as empty
	sizedHome     = "home"    // the home, as a file system of limited size
	scratchFolder = "scratch" // an empty folder that everybody may write
)

// Missing returns why nothing can confine programs here; "" if bubblewrap or Landlock can.
func Missing() string {
	_, missing := confiner()
	return missing
}

// confiner returns what confines programs here, or why nothing does. Bubblewrap comes first.
// Each is tried once, as containers and hardened kernels forbid what it needs.
func confiner() (s sandbox, missing string) {
	if os.Getenv("ASSAY_SANDBOX") == "off" {
		return s, "switched off by ASSAY_SANDBOX=off"
	}
	if runtime.GOOS != "linux" {
		return s, "bubblewrap and Landlock confine on Linux alone"
	}
	bwrap, _ := exec.LookPath("bwrap")
	if withoutBubblewrap {
		bwrap = ""
	}
	once, _ := tried.LoadOrStore(bwrap, sync.OnceValues(func() (sandbox, string) {
		return try(bwrap, sandboxes(bwrap))
	}))
	return once.(func() (sandbox, string))()
}

var (
	tried             sync.Map // by the path of a bwrap, "" for none: what became of trying it
	withoutBubblewrap bool     // of tests: Landlock confines, whatever else is here
)

// try runs a program that does nothing in one sandbox after the other, each asking for less
// than the one before. It returns the first that works, or why none does.
func try(bwrap string, all []sandbox) (s sandbox, missing string) {
	why := []string{"bubblewrap is not installed"}
	if bwrap != "" {
		why = nil
	}
	for _, s := range all {
		name := "bubblewrap"
		if s.landlock > 0 {
			name = "Landlock"
		}
		b := &Box{sandbox: s, mounts: system()}
		home, err := NewHome(nil)
		if err != nil {
			return s, err.Error()
		}
		p := Process{Dir: home.Dir, Command: []string{"/bin/sh", "-c", ":"}, Box: b, Home: home,
			Timeout: tryTimeout, Progress: true}
		e, err := p.Run(context.Background())
		_ = home.Close()
		if err == nil && e.Code == 0 {
			return s, ""
		}
		if err == nil {
			err = fmt.Errorf("exit status %d", e.Code)
		}
		why = append(why, fmt.Sprintf("%s does not work here (%v): %s", name, err, e.LastWords()))
	}
	if !slices.ContainsFunc(all, func(s sandbox) bool { return s.landlock > 0 }) {
		why = append(why, "the kernel has no Landlock")
	}
	slices.Sort(why)
	return s, strings.Join(slices.Compact(why), "; ")
}

// sandboxes returns what might confine here, the best first: bubblewrap as nobody, where we
// are root, else in a user namespace; with a home of limited size, else with a folder; and
// Landlock.
func sandboxes(bwrap string) (all []sandbox) {
	root := os.Geteuid() == 0
	if bwrap != "" {
		prlimit, setpriv := systemProgram("prlimit"), systemProgram("setpriv")
		for _, drops := range []bool{true, false} {
			for _, sized := range []bool{true, false} {
				if !drops || root && setpriv != "" {
					all = append(all, sandbox{bwrap, prlimit, setpriv, 0, drops, sized})
				}
			}
		}
	}
	if abi := landlockABI(); abi > 0 {
		all = append(all, sandbox{landlock: abi, drops: root})
	}
	return all
}

// tryTimeout bounds a trial of a sandbox, which takes milliseconds on a machine that is idle.
const tryTimeout = time.Minute

// systemProgram returns the path of a program that every box sees; "" if there is none.
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

// The versions of Landlock that can do more than those before.
const (
	abiRefer    = 2 // a file can be moved to another folder
	abiTruncate = 3
	abiTCP      = 4
	abiSignals  = 6
	abiUnix     = 9
)

// exposed returns what a program is not kept from although the sandbox is meant to: what it
// could read, change or reach. It is "" for bubblewrap. missing says why b is nil.
func (b *Box) exposed(missing string, n audit.Network) string {
	if b == nil {
		return "not confined (" + missing +
			"): it could read what this account can read, the answer " +
			"keys among it, write there, and use the network"
	}
	var could []string
	add := func(is bool, what string) {
		if is {
			could = append(could, what)
		}
	}
	if abi := b.landlock; abi > 0 {
		add(abi < abiTruncate && !b.drops, "empty files of this account")
		add(abi < abiTCP && !n.Open && (!n.None() || !filtered), "reach any host by TCP")
		add(!filtered && !n.Open, "reach any host by UDP")
		add(!filtered && abi < abiUnix, "speak to the servers of this machine")
	}
	if len(could) == 0 {
		return ""
	}
	return fmt.Sprintf("confined in part (Landlock, version %d): it could %s", b.landlock,
		strings.Join(could, ", "))
}

// Unconfined returns what Landlock lets every program do that bubblewrap does not; "" for
// bubblewrap. n is the program's network.
func (b *Box) Unconfined(n audit.Network) string {
	if b == nil || b.landlock == 0 {
		return ""
	}
	words := []string{"the names, sizes and times of files", "the list of processes"}
	if !b.drops {
		words = append(words, "the permissions of files of this account")
	}
	if !b.drops && b.landlock < abiSignals {
		words = append(words, "signals to programs of this account")
	}
	if !n.None() && !n.Open {
		words = append(words, "other hosts at the port of the proxy")
	}
	return strings.Join(words, ", ")
}

const unconfinedMark = "; unconfined: "

// UnconfinedIn returns what [Box.Unconfined] added to an Exit's Confined; "" if it added nothing.
func UnconfinedIn(confined string) string {
	_, open, _ := strings.Cut(confined, unconfinedMark)
	open, _, _ = strings.Cut(open, ";")
	return open
}

// By returns what confines a program in the box: "bubblewrap" or "landlock"; "" for nil.
func (b *Box) By() string {
	switch {
	case b == nil:
		return ""
	case b.landlock > 0:
		return "landlock"
	}
	return "bubblewrap"
}

// New returns the box for an entry, nil where nothing confines, and what the program is not
// kept from; "" where the box holds. A program that reads no source has no export.
func New(e *audit.AuditorEntry, export string) (b *Box, exposed string, err error) {
	b, missing, err := build(e, export)
	if err == nil {
		exposed = b.exposed(missing, e.Network)
	}
	if err == nil && exposed != "" && os.Getenv("ASSAY_SANDBOX") == "require" {
		err = fmt.Errorf("ASSAY_SANDBOX=require: %s", cmp.Or(missing, exposed))
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %s: %w", e.Pos, e.Name, err)
	}
	return b, exposed, nil
}

// build returns the box for an entry, or why nothing confines.
func build(e *audit.AuditorEntry, export string) (b *Box, missing string, err error) {
	s, missing := confiner()
	if missing != "" {
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
		// A variable like GOMODCACHE is of no use without its folder.
		for _, p := range filepath.SplitList(os.Getenv(name)) {
			if filepath.IsAbs(p) && filepath.Clean(p) != "/" && Exists(p) {
				b.see("--ro-bind", filepath.Clean(p))
			}
		}
	}
	for _, p := range reads {
		if info, err := os.Stat(p); s.drops && err == nil && !info.IsDir() &&
			info.Mode()&0o004 == 0 {
			return nil, "",
				fmt.Errorf("its Reads names %s, which it could not read: where we are root it "+
					"runs as uid %d, so others must be allowed to read the file", p, nobody)
		}
	}
	b.see("--ro-bind", reads...)
	for _, p := range writes {
		if info, err := os.Stat(p); s.drops && err == nil && info.Mode()&0o002 == 0 &&
			!ownedByNobody(info) {
			return nil, "",
				fmt.Errorf("its Writes names %s, which it could not write: where we are root it "+
					"runs as uid %d, so give it the folder: chown -R %[2]d %[1]s", p, nobody)
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
	if err := errors.Join(b.hide(export), b.reach(export, reads, writes)); err != nil {
		return nil, "", err
	}
	if !slices.Contains(strings.Fields(e.Command), "assay") {
		b.hideOurselves(reads)
	}
	if name := b.unseen(e.Command + "\n" + e.Version); name != "" {
		return nil, "",
			fmt.Errorf("its command names %s, which it may not see: add the file, or a folder "+
				"that holds it and no answers, to its Reads", name)
	}
	return b, "", nil
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

// kept are the parts of /proc that are mounted read-only, so that not even root of the box can
// write them.
var kept = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs",
	"/proc/acpi", "/proc/mtrr", "/proc/scsi", "/proc/pressure"}

// arguments returns the arguments of bubblewrap that stand before the command. Mounts are made
// from the outside in, so that the deeper one wins.
func (b *Box) arguments(p Process) []string {
	home, disk := "", p.Limits.Disk
	if p.Home != nil {
		home = p.Home.Dir
	}
	args := []string{"--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
		"--unshare-cgroup-try", "--cap-drop", "ALL"}
	switch {
	case b.drops:
		// What setpriv needs to take the rest away.
		args = append(args, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add",
			"CAP_SETPCAP")
	case os.Geteuid() == 0:
		id := strconv.Itoa(nobody)
		args = append(args, "--unshare-user", "--uid", id, "--gid", id)
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
	slices.SortStableFunc(mounts, func(x, y mount) int {
		return strings.Count(x.path, "/") - strings.Count(y.path, "/")
	})
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
			args = append(args, "--perms", "0700", "--size", strconv.FormatInt(disk, 10),
				"--tmpfs", m.path)
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

// above returns the folders around a path, the outermost first.
func above(p string) []string {
	var dirs []string
	for dir := filepath.Dir(p); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	slices.Reverse(dirs)
	return dirs
}

// scratch are the folders that every program may write under bubblewrap.
var scratch = []string{"/tmp", "/var/tmp", "/dev/shm"}

// describe returns what confines the program, the account that it runs as, and its network.
func (p Process) describe() string {
	var words []string
	switch b := p.Box; {
	case b == nil:
		words = []string{"no sandbox"}
	case b.landlock > 0:
		account := max(b.owner(), os.Geteuid())
		words = []string{fmt.Sprintf("Landlock (version %d)", b.landlock),
			fmt.Sprintf("as uid %d", account)}
	case b.drops:
		words = []string{"bubblewrap", fmt.Sprintf("as uid %d", nobody)}
	case os.Geteuid() == 0:
		words = []string{"bubblewrap", "as root without rights"}
	default:
		words = []string{"bubblewrap", fmt.Sprintf("as uid %d", os.Geteuid())}
	}
	switch {
	case p.way != nil && (p.Box == nil || p.Box.landlock > 0 && p.Box.landlock < abiTCP):
		said := strings.TrimPrefix(p.way.describe(p.Env), "network through a ")
		words = append(words, "told of a "+said)
	case p.way != nil:
		words = append(words, p.way.describe(p.Env))
	case p.Box == nil:
	case p.Network.Open:
		words = append(words, "the machine's network")
	default:
		words = append(words, "no network")
	}
	said := strings.Join(words, ", ")
	if open := p.Box.Unconfined(p.Network); open != "" {
		said += unconfinedMark + open
	}
	return said
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
