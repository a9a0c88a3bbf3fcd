package box

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Without bubblewrap a program can leave processes behind that have left its session and
// changed their environment. Only a child subreaper, which adopts them, finds them all. This
// process has other children, so the subreaper is a process between it and the program: the same
// binary under another name.

const reaperName = "assay-reaper"

// endAll is the signal at which a reaper ends all that descends from it. The kernel sends it
// when the process that started the reaper ends.
const endAll = syscall.SIGUSR1

// tooMany is the descriptor to which a reaper writes a byte when it ends the program for the
// number of its processes. The reaper counts them itself, and often: root has no limit of the
// kernel's, and thousands of processes leave the others little time.
const tooMany = 3

// specification is the descriptor of what the launcher is to do, where there is one.
const specification = 4

const countEvery = 50 * time.Millisecond

func init() {
	if len(os.Args) > 4 && os.Args[0] == reaperName {
		os.Exit(reap(os.Args[1], os.Args[2], os.Args[3] == "2", os.Args[4:]))
	}
}

// reaperCommand returns the command of a reaper. Its files are tooMany and, if the program is
// confined, the launcher's specification.
func reaperCommand(p Process, rlimits []rlimit, files []*os.File) *exec.Cmd {
	limits := []string{strconv.Itoa(p.Limits.Processes)}
	for _, r := range rlimits {
		limits = append(limits, fmt.Sprintf("%d=%d:%d", r.resource, r.value, r.hard))
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = append([]string{reaperName, strconv.Itoa(os.Getpid()), strings.Join(limits, ","),
		strconv.Itoa(len(files))}, p.Command...)
	cmd.ExtraFiles = files
	return cmd
}

// reap runs the command and adopts all that descends from it. When the command ends, has too
// many processes, or endAll arrives, it ends them all. It returns the exit status as a shell does.
func reap(parent, limits string, confined bool, command []string) int {
	runtime.LockOSThread() // the program is to die with this thread
	unix.CloseOnExec(tooMany)
	if confined {
		unix.CloseOnExec(specification)
	}
	told := make(chan os.Signal, 16)
	signal.Notify(told, endAll, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	fail := func(err error) int { fmt.Fprintln(os.Stderr, "assay:", err); return 126 }
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fail(fmt.Errorf("PR_SET_CHILD_SUBREAPER: %w", err))
	}
	if strconv.Itoa(os.Getppid()) != parent { // it ended before the kernel could signal that
		return 126
	}
	program, err := exec.LookPath(command[0])
	if err != nil {
		return fail(err)
	}
	most, limits, _ := strings.Cut(limits, ",")
	processes, err1 := strconv.Atoi(most)
	data, err2 := setLimits(limits)
	if err := errors.Join(err1, err2); err != nil {
		return fail(err)
	}
	before := threadsHere()
	// The kernel divides time between sessions, so what the program starts takes none of the
	// reaper's.
	files := []uintptr{0, 1, 2}
	if confined {
		command = append([]string{launcherName, program}, command...)
		program, files = "/proc/self/exe", append(files, specification)
	}
	child, err := syscall.ForkExec(program, command, &syscall.ProcAttr{Env: os.Environ(),
		Files: files,
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}})
	if err != nil {
		return fail(err)
	}
	if data != nil { // not of a launcher, which limits itself
		_ = unix.Prlimit(child, unix.RLIMIT_DATA, data, nil) // an error: it has ended
	}
	goAhead()
	_ = syscall.Close(0) // standard input is the program's
	ended := make(chan int, 1)
	go func() { ended <- waitFor(child) }()
	for tick := time.NewTicker(countEvery); ; {
		select {
		case s := <-told:
			if s == endAll {
				endDescendants(child)
				return 128 + int(syscall.SIGKILL)
			}
			_ = syscall.Kill(-child, s.(syscall.Signal))
		case <-tick.C:
			if threadsHere()-before > processes && threadsBelow() > processes {
				_, _ = syscall.Write(tooMany, []byte{1})
				endDescendants(child)
				return 128 + int(syscall.SIGKILL)
			}
		case code := <-ended:
			endDescendants(child)
			return code
		}
	}
}

// setLimits sets the limits of this process, which the program inherits. It returns the limit of
// data, which is for the program alone: the reaper must not run out of memory.
func setLimits(limits string) (data *unix.Rlimit, err error) {
	for _, l := range strings.Split(limits, ",") {
		var resource int
		var r syscall.Rlimit
		_, err := fmt.Sscanf(l, "%d=%d:%d", &resource, &r.Cur, &r.Max)
		switch {
		case err != nil:
		case resource == unix.RLIMIT_DATA:
			data = &unix.Rlimit{Cur: r.Cur, Max: r.Max}
		default:
			err = syscall.Setrlimit(resource, &r)
		}
		if err != nil {
			return nil, fmt.Errorf("limit %s: %w", l, err)
		}
	}
	return data, nil
}

// goAhead gives the threads of this process real-time priority. The kernel allows that to root
// alone, whose number of processes it does not limit.
func goAhead() {
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, t := range tasks {
		if tid, err := strconv.Atoi(t.Name()); err == nil {
			_ = ahead(tid)
		}
	}
}

func ahead(thread int) error {
	attr := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 1}
	return unix.SchedSetAttr(thread, attr, 0)
}

// threadsHere returns the number of processes and threads of the whole machine, with one read.
func threadsHere() (n int) {
	b, _ := os.ReadFile("/proc/loadavg")
	if fields := strings.Fields(string(b)); len(fields) > 3 {
		_, all, _ := strings.Cut(fields[3], "/")
		n, _ = strconv.Atoi(all)
	}
	return n
}

// threadsBelow returns the number of processes and threads that descend from this process.
func threadsBelow() (n int) {
	for _, s := range tree(os.Getpid()) {
		if s.pid != os.Getpid() {
			n += s.threads
		}
	}
	return n
}

// waitFor waits for children until this one ends, and returns its exit status.
func waitFor(child int) int {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 126
		case pid == child && status.Exited():
			return status.ExitStatus()
		case pid == child:
			return 128 + int(status.Signal())
		}
	}
}

// endDescendants kills the program's group, which holds all processes of most programs. Then it
// stops all others that descend from this process, so that they start no more, and kills them.
// One that has become another account cannot be killed, so it gives up after endWithin.
func endDescendants(child int) {
	goAhead()
	// Without a process of the group its number may be another's by now.
	if slices.ContainsFunc(tree(os.Getpid()), func(s stat) bool { return s.group == child }) {
		_ = syscall.Kill(-child, syscall.SIGKILL)
	}
	least, end := math.MaxInt, time.Now().Add(endWithin)
	for !childless() && time.Now().Before(end) {
		began := time.Now()
		stopped := stopAll()
		for _, s := range stopped {
			s.signal(syscall.SIGKILL)
		}
		if len(stopped) < least {
			least, end = len(stopped), time.Now().Add(endWithin)
		}
		// they need time to die, and have it behind us
		time.Sleep(max(time.Millisecond, 2*time.Since(began)))
	}
}

// endWithin bounds the time in which the number of descendants must become less.
const endWithin = 10 * time.Second

// stopAll stops all that descends from this process, and returns them by process ID.
func stopAll() map[int]stat {
	stopped := map[int]stat{}
	for more := true; more; {
		more = false
		for _, s := range tree(os.Getpid()) {
			if s.pid != os.Getpid() && !s.dead && stopped[s.pid].started != s.started {
				stopped[s.pid], more = s, true
				s.signal(syscall.SIGSTOP)
			}
		}
	}
	return stopped
}

// childless waits for the children that have ended and reports whether none is left.
func childless() bool {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.ECHILD) {
			return true
		}
		if pid <= 0 && !errors.Is(err, syscall.EINTR) {
			return false
		}
	}
}
