// Package box runs untrusted programs. Each gets a session of its own that is killed whole,
// an allow-listed environment, a deadline and limits. Where bubblewrap or Landlock works, it
// reads only the files that it needs and reaches only the hosts that its section names.
package box

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
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
	if s.drops {
		if err := openTo(nobody, reads, writes); err != nil {
			return nil, "", err
		}
	}
	b.see("--ro-bind", reads...)
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

// above returns the folders around a path, the outermost first.
func above(p string) []string {
	var dirs []string
	for dir := filepath.Dir(p); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	slices.Reverse(dirs)
	return dirs
}

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
