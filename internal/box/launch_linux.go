package box

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"assay/audit"
)

const xcpu = syscall.SIGXCPU

// launched is a program that was started. Bubblewrap starts it behind a gate, which opens when
// all mounts are made and its home is filled. Everything else is started by a reaper.
type launched struct {
	cmd *exec.Cmd
	// a variable of its environment, by which processes that left the group are found
	mark    string
	box     *Box // of bubblewrap; nil: the leader is our reaper
	home    *Home
	limits  audit.Limits
	group   *cgroup
	volumes []*os.File // folders, each of a file system of limited size
	writes  []writable // what it may write beside them
	info    *os.File   // from which bubblewrap's report of its child's process ID is read
	ready   *os.File   // from which a line is read when the gate is reached
	open    *os.File   // to which a line is written to open the gate
	way     *proxy
	handed  *os.File // from which the proxy's listener is received; nil without a proxy
	tooMany *os.File // from which a byte is read if a reaper found too many processes
}

// launch starts the program, without a cgroup if the kernel refuses one.
func (p Process) launch(stdout, stderr io.Writer) (*launched, error) {
	// Programs that are started must not inherit the files that this process inherited.
	fds, _ := os.ReadDir("/proc/self/fd")
	for _, f := range fds {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	l, err := p.start(stdout, stderr, newCgroup(p))
	if err != nil && l != nil && l.group != nil {
		l.close()
		l, err = p.start(stdout, stderr, nil)
	}
	if err != nil && l != nil {
		l.close()
		l = nil
	}
	return l, err
}

// start starts the program in a cgroup; nil for none.
func (p Process) start(stdout, stderr io.Writer, group *cgroup) (*launched, error) {
	l := &launched{mark: "ASSAY_RUN=" + rand.Text(), home: p.Home, limits: p.Limits,
		group: group, way: p.way}
	if p.Home != nil && (p.Box == nil || !p.Box.sized) {
		if err := p.Home.open(p.Home.Dir, p.Box.owner()); err != nil {
			return l, err
		}
	}
	var err error
	if p.Box != nil {
		if l.writes, err = openWrites(p.Box.writes); err != nil {
			return l, fmt.Errorf("its Writes: %w", err)
		}
	}
	attr := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	var theirs []*os.File
	if p.Box != nil && p.Box.bwrap != "" {
		l.box = p.Box
		theirs, err = l.boxed(p)
	} else {
		// SIGKILL would end the reaper before it has ended its program.
		attr.Pdeathsig = endAll
		theirs, err = l.reaped(p)
	}
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
	}()
	if err != nil {
		return l, err
	}
	if group != nil {
		attr.UseCgroupFD, attr.CgroupFD = true, int(group.dir.Fd())
	}
	l.cmd.SysProcAttr = attr
	l.cmd.Env = append(p.Env, l.mark)
	if p.Stdin != "" {
		l.cmd.Stdin = strings.NewReader(p.Stdin)
	}
	// A process that was left behind may hold input or output open: Wait ends all the same.
	l.cmd.WaitDelay = p.Grace
	l.cmd.Stdout, l.cmd.Stderr = stdout, stderr
	return l, l.cmd.Start()
}

// owner returns the account that a program's home belongs to; -1 for this process's own.
func (b *Box) owner() int {
	if b != nil && b.drops {
		return nobody
	}
	return -1
}

// gate is a script that waits until it may go on, closes the descriptors 3 to 8, which boxed
// passes to bubblewrap, and executes its arguments. proxyGate first hands out the proxy's listener.
const (
	gate      = `echo >&4; read -r go <&5 || exit 1; exec 3>&- 4>&- 5<&- 6<&- 7<&- 8>&-; exec "$@"`
	proxyGate = makerFile + " " + listenerMaker + " < /dev/null || exit 1; " + gate
)

// reaped makes the command of the reaper. It returns the files that are the reaper's alone.
func (l *launched) reaped(p Process) (theirs []*os.File, err error) {
	var told *os.File
	if l.tooMany, told, err = os.Pipe(); err != nil {
		return nil, err
	}
	theirs = []*os.File{told}
	c, err := p.confinement()
	if err != nil {
		return theirs, err
	}
	limits := l.rlimits(p)
	if c != nil {
		limits = slices.DeleteFunc(limits, func(r rlimit) bool {
			if r.resource == unix.RLIMIT_DATA {
				c.Data = &syscall.Rlimit{Cur: r.value, Max: r.hard}
			}
			return r.resource == unix.RLIMIT_DATA
		})
		spec, err := json.Marshal(c)
		if err != nil {
			return theirs, err
		}
		read, write, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		theirs = append(theirs, read)
		go func() {
			_, _ = write.Write(spec) // an error: the reaper has ended, and says why
			_ = write.Close()
		}()
	}
	l.cmd = reaperCommand(p, limits, theirs)
	l.cmd.Dir = p.Dir
	return theirs, nil
}

// boxed makes the command of bubblewrap. It returns the files that are bubblewrap's alone.
func (l *launched) boxed(p Process) (theirs []*os.File, err error) {
	var readers, writers [4]*os.File
	for i := range readers {
		if readers[i], writers[i], err = os.Pipe(); err != nil {
			return theirs, err
		}
		theirs = append(theirs, readers[i], writers[i])
	}
	l.info, l.ready, l.open = readers[0], readers[1], writers[2]
	theirs = []*os.File{writers[0], writers[1], readers[2], readers[3]}
	filter := forbidden(sockets{})
	_, err = writers[3].Write(filter) // smaller than a pipe
	_ = writers[3].Close()
	if err != nil {
		return theirs, err
	}
	before := gate
	if p.way != nil {
		before = proxyGate
		self, err := os.Open("/proc/self/exe")
		if err != nil {
			return theirs, err
		}
		theirs = append(theirs, self)
		var out *os.File
		if l.handed, out, err = handOver(); err != nil {
			return theirs, err
		}
		theirs = append(theirs, out)
	}
	args := append(p.Box.arguments(p), "--info-fd", "3")
	if len(filter) > 0 {
		args = append(args, "--seccomp", "6")
	}
	args = append(args, "--", "/bin/sh", "-c", before, "sh")
	if p.Box.prlimit != "" {
		args = append(args, p.Box.prlimit)
		for _, r := range l.rlimits(p) {
			args = append(args, fmt.Sprintf("--%s=%d:%d", r.name, r.value, r.hard))
		}
	}
	if p.Box.drops {
		id := strconv.Itoa(nobody)
		args = append(args, p.Box.setpriv, "--reuid", id, "--regid", id, "--clear-groups",
			"--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--no-new-privs")
	}
	args = append(args, "/bin/sh", "-c", `cd -- "$1" && shift && exec "$@"`, "sh", p.Dir)
	l.cmd = exec.Command(p.Box.bwrap, append(args, p.Command...)...)
	l.cmd.Dir = "/"
	l.cmd.ExtraFiles = theirs
	return theirs, nil
}

// begin waits for the gate, fills the home and opens the gate. It does nothing if bubblewrap
// or ctx ends before.
func (l *launched) begin(ctx context.Context) error {
	if l.box == nil {
		return nil
	}
	defer context.AfterFunc(ctx, func() {
		_ = errors.Join(l.info.SetReadDeadline(time.Now()), l.ready.SetReadDeadline(time.Now()))
	})()
	var info struct {
		Child int `json:"child-pid"`
	}
	if err := json.NewDecoder(l.info).Decode(&info); err != nil {
		return nil
	}
	if n, _ := l.ready.Read(make([]byte, 1)); n == 0 {
		return nil
	}
	if l.home != nil && l.box.sized {
		view := filepath.Join("/proc", strconv.Itoa(info.Child), "root")
		if err := l.home.open(view+l.home.Dir, l.box.owner()); err != nil {
			return fmt.Errorf("its home: %w", err)
		}
		for _, dir := range append([]string{l.home.Dir}, scratch...) {
			f, err := os.Open(view + dir)
			if err != nil {
				return fmt.Errorf("its home: %w", err)
			}
			l.volumes = append(l.volumes, f)
		}
	}
	if l.handed != nil {
		listener, err := takeListener(l.handed)
		if err != nil {
			return err
		}
		l.way.serve(listener)
	}
	_, _ = l.open.Write([]byte("\n"))
	return nil
}

// close closes the files of the run and removes its cgroup.
func (l *launched) close() {
	for _, f := range append([]*os.File{l.info, l.ready, l.open, l.handed, l.tooMany},
		l.volumes...) {
		if f != nil {
			_ = f.Close()
		}
	}
	for _, w := range l.writes {
		_ = w.root.Close()
	}
	l.group.remove()
}

// askToEnd sends TERM to all processes of the program. Bubblewrap gets none: it would end at
// once, and with it the processes that need time to end.
func (l *launched) askToEnd() {
	leader := l.cmd.Process.Pid
	if l.box == nil {
		_ = syscall.Kill(-leader, syscall.SIGTERM)
		return
	}
	for _, s := range tree(leader) {
		if s.pid != leader {
			s.signal(syscall.SIGTERM)
		}
	}
}

// kill ends all processes of the program. Those of bubblewrap end with it; a reaper ends those
// that descend from it.
func (l *launched) kill() {
	leader := l.cmd.Process.Pid
	if l.box == nil {
		_ = syscall.Kill(leader, endAll)
		return
	}
	_ = syscall.Kill(-leader, syscall.SIGKILL)
}

// sweep kills the processes that are left when the leader has ended: the rest of the group, and
// those that left the group and have the mark in their environment. It repeats until it finds
// none, as a process may fork meanwhile.
func (l *launched) sweep() {
	l.group.kill()
	_ = syscall.Kill(-l.cmd.Process.Pid, syscall.SIGKILL)
	for range 100 {
		left := markedProcesses(l.mark)
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			if err := syscall.Kill(pid, syscall.SIGKILL); errors.Is(err, syscall.EPERM) {
				return
			}
		}
	}
}

// limitedBy returns what enforces the limits.
func (l *launched) limitedBy() string {
	switch {
	case l.group != nil:
		return "cgroup v2 and rlimits"
	case l.box != nil && l.box.prlimit == "":
		return "watching its processes"
	}
	return "rlimits and watching its processes"
}

// crossed returns the limit that the kernel or the reaper found crossed; "" for none.
func (l *launched) crossed(limits audit.Limits) string {
	memory, processes := l.group.crossed()
	if l.tooMany != nil {
		n, _ := l.tooMany.Read(make([]byte, 1))
		processes = processes || n > 0
	}
	switch {
	case memory:
		return usage{memory: limits.Memory + 1}.crossed(limits)
	case processes:
		return usage{processes: limits.Processes + 1}.crossed(limits)
	}
	return ""
}

// An rlimit is a limit of the kernel for one process.
type rlimit struct {
	name     string // as prlimit calls it
	resource int
	value    uint64
	hard     uint64 // what value can be raised to
}

// leastWall is the least number of processes that an account may start besides those it has.
const leastWall = 1000

// rlimits returns limits of the kernel that lie behind those that are measured, so that a
// program that crosses a limit between two measurements does no harm. Data is counted for one
// process; processes are counted for the account, with other audits that run as it. A file may be
// as large as all that Writes held before.
func (l *launched) rlimits(p Process) []rlimit {
	held := int64(0)
	for _, w := range l.writes {
		held += w.before
	}
	account := os.Geteuid()
	if p.Box != nil && p.Box.drops {
		account = nobody
	}
	most := p.Limits
	rs := []rlimit{
		{name: "nofile", resource: unix.RLIMIT_NOFILE, value: uint64(most.OpenFiles)},
		{name: "cpu", resource: unix.RLIMIT_CPU,
			value: uint64((most.CPU + time.Second - 1) / time.Second)},
		{name: "data", resource: unix.RLIMIT_DATA, value: 2 * uint64(most.Memory)},
		{name: "core", resource: unix.RLIMIT_CORE},
		{name: "nproc", resource: unix.RLIMIT_NPROC,
			value: uint64(max(2*most.Processes, leastWall) + threadsOf(account))},
	}
	if p.Box == nil || !p.Box.sized || len(p.Box.writes) > 0 {
		rs = append(rs, rlimit{name: "fsize", resource: unix.RLIMIT_FSIZE,
			value: uint64(most.Disk+held) + 4096})
	}
	for i := range rs {
		r := &rs[i]
		r.hard = r.value
		// at the first it gets SIGXCPU, by which the limit is recognized
		if r.resource == unix.RLIMIT_CPU {
			r.hard += 5
		}
		var now unix.Rlimit
		if unix.Getrlimit(r.resource, &now) == nil {
			r.hard = min(r.hard, now.Max)
			r.value = min(r.value, r.hard)
		}
	}
	return rs
}

// raise sends a signal to the thread that calls it. It has arrived when raise returns, so a
// program that ends by it does not go on meanwhile.
func raise(s os.Signal) {
	_, _, _ = syscall.Syscall(syscall.SYS_TGKILL, uintptr(os.Getpid()), uintptr(syscall.Gettid()),
		uintptr(s.(syscall.Signal)))
}
