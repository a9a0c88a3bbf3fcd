package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsyscall "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// landlockABI returns the version of Landlock that the kernel has, 0 for none.
func landlockABI() int {
	abi, err := llsyscall.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return abi
}

// A confinement is what the launcher does to itself before it becomes the program.
type confinement struct {
	ABI         int      // of Landlock; 0 confines no files
	Read, Write []string // files and folders
	Port        uint16   // that TCP may connect to, and no other; 0 for none
	Open        bool     // the network is not confined
	Account     int      // user and group to become; less than 0 for none
	// Data is the program's limit of data. It is set last, since the launcher may need more.
	Data *syscall.Rlimit
}

// confinement returns how the launcher confines a program; nil if it does not.
func (p Process) confinement() (*confinement, error) {
	switch {
	case p.Box == nil && p.Offline:
		return &confinement{Account: -1}, nil
	case p.Box == nil || p.Box.landlock == 0:
		return nil, nil
	}
	c := &confinement{ABI: p.Box.landlock, Open: p.Network.Open, Account: p.Box.owner()}
	c.Read, c.Write = p.Box.grants()
	c.Read = append(c.Read, "/proc")
	for _, name := range devices {
		if Exists(name) {
			c.Write = append(c.Write, name)
		}
	}
	if p.Home != nil {
		c.Write = append(c.Write, p.Home.Dir)
	}
	if p.way != nil {
		var err error
		if c.Port, err = p.way.port(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// devices are those that every program may use.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// grants returns the files and folders of the box that may be read, and written. Landlock
// cannot take back a part of what it grants: of a folder in which something is hidden each
// other entry is granted, and its list of entries is not.
func (b *Box) grants() (read, write []string) {
	hidden := map[string]bool{}
	for _, m := range b.mounts {
		real, err := filepath.EvalSymlinks(m.path)
		if err == nil && (m.kind == "--tmpfs" || m.kind == hideFile) {
			hidden[real] = true
		}
	}
	for _, m := range b.mounts {
		real, err := filepath.EvalSymlinks(m.path)
		if err != nil {
			continue
		}
		switch m.kind {
		case "--ro-bind":
			read = appendVisible(read, real, hidden)
		case "--bind":
			write = appendVisible(write, real, hidden)
		}
	}
	return read, write
}

// appendVisible appends a path or, if something below it is hidden, the entries around that.
func appendVisible(to []string, path string, hidden map[string]bool) []string {
	if hidden[path] {
		return to
	}
	below := func(name string) bool { return within(name, path) }
	if !slices.ContainsFunc(slices.Collect(maps.Keys(hidden)), below) {
		return append(to, path)
	}
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 { // what a link leads to may be hidden
			to = appendVisible(to, filepath.Join(path, e.Name()), hidden)
		}
	}
	return to
}

// launcherName is the name under which this binary confines itself and becomes a program.
const launcherName = "assay-launch"

// launcherSpec is the descriptor from which the launcher reads its confinement.
const launcherSpec = 3

func init() {
	if len(os.Args) > 2 && os.Args[0] == launcherName {
		err := launchConfined(os.Args[1], os.Args[2:])
		fmt.Fprintln(os.Stderr, "assay: the program cannot be confined:", err)
		os.Exit(126)
	}
}

// launchConfined confines this process and runs a program in its place. It returns only
// if that fails.
func launchConfined(program string, argv []string) error {
	runtime.LockOSThread() // the thread that is confined becomes the program
	spec := os.NewFile(launcherSpec, "confinement")
	var c confinement
	err := json.NewDecoder(spec).Decode(&c)
	if err := errors.Join(err, spec.Close()); err != nil {
		return err
	}
	if c.ABI > 0 {
		if err := c.restrict(); err != nil {
			return err
		}
	}
	if err := c.dropRights(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if c.Data != nil {
		if err := syscall.Setrlimit(unix.RLIMIT_DATA, c.Data); err != nil {
			return fmt.Errorf("limit of data: %w", err)
		}
	}
	if err := filterCalls(forbidden(c.sockets())); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return fmt.Errorf("%s: %w", program, syscall.Exec(program, argv, os.Environ()))
}

// filterCalls installs a filter of system calls for this thread; an empty one does nothing.
func filterCalls(filter []byte) error {
	if len(filter) == 0 {
		return nil
	}
	program := unix.SockFprog{Len: uint16(len(filter) / unix.SizeofSockFilter),
		Filter: (*unix.SockFilter)(unsafe.Pointer(&filter[0]))}
	at := uintptr(unsafe.Pointer(&program))
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, at, 0, 0)
}

// restrict has Landlock confine this process. Rights that the kernel does not know are left
// out: Box.Exposed names what they would have kept.
func (c *confinement) restrict() error {
	config := landlock.V11
	if c.Open {
		config.HandledAccessNet = 0
	}
	rules := slices.Concat(c.rules(c.Read, false), c.rules(c.Write, true))
	if c.Port != 0 && c.ABI >= abiTCP {
		rules = append(rules, landlock.ConnectTCP(c.Port))
	}
	return config.BestEffort().Restrict(rules...)
}

func (c *confinement) rules(paths []string, write bool) (rules []landlock.Rule) {
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			continue // it was removed meanwhile
		}
		var rule landlock.FSRule
		switch {
		case info.IsDir() && write:
			rule = landlock.RWDirs(p)
			if c.ABI >= abiRefer {
				rule = rule.WithRefer()
			}
		case info.IsDir():
			rule = landlock.RODirs(p)
		case write:
			rule = landlock.RWFiles(p)
		default:
			rule = landlock.ROFiles(p)
		}
		rules = append(rules, rule)
	}
	return rules
}

// dropRights takes all capabilities from this thread, and makes it another account where
// one is named.
func (c *confinement) dropRights() error {
	if c.Account >= 0 {
		for capability := uintptr(0); capability < 64; capability++ {
			// an error: the kernel has fewer
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		}
		// The kernel forgets at a change of account by whose end this process is to end.
		err := errors.Join(unix.Setgroups(nil), unix.Setresgid(c.Account, c.Account, c.Account),
			unix.Setresuid(c.Account, c.Account, c.Account),
			unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0))
		if err != nil {
			return err
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&header, &none[0])
}

// sockets returns the kinds of sockets that the program may make.
func (c *confinement) sockets() sockets {
	return sockets{host: true, open: c.Open, tcp: c.Port != 0, unix: c.ABI >= abiUnix}
}
