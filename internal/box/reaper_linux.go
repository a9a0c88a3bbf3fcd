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

// Without a sandbox a program can leave processes behind that have left its
// session and its environment. Only who adopts them finds them all: a child
// subreaper. Were that this process, it would adopt them among children of its
// own that others wait for; so it is a process between us and the program, this
// binary under another name.

const reaperName = "assay-reaper"

// endAll tells a reaper to end all that descends from it. The kernel sends it
// when we die.
const endAll = syscall.SIGUSR1

// tooMany is the descriptor on which a reaper tells that it ended the program for
// the number of its processes. It looks itself, and often: no limit of the kernel's
// binds root, and thousands of processes leave little time to who is not ahead of them.
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
	cmd.Args = append([]string{reaperName, strconv.Itoa(os.Getpid()), strings.Join(limits, ","), strconv.Itoa(len(files))}, p.Command...)
	cmd.ExtraFiles = files
	return cmd
}

// reap runs the command, adopts all that descends from it, and when it ends, has too
// many processes, or we are told to, ends them too. It gives the exit status as a
// shell does.
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
	if strconv.Itoa(os.Getppid()) != parent { // it died before the kernel could tell
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
	// A session of its own: the kernel divides time by sessions, and what the program
	// starts in its own takes none of ours.
	files := []uintptr{0, 1, 2}
	if confined {
		command = append([]string{launcherName, program}, command...)
		program, files = "/proc/self/exe", append(files, specification)
	}
	child, err := syscall.ForkExec(program, command, &syscall.ProcAttr{Env: os.Environ(), Files: files,
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}})
	if err != nil {
		return fail(err)
	}
	if data != nil {
		_ = unix.Prlimit(child, unix.RLIMIT_DATA, data, nil) // an error: it has ended
	}
	goAhead()
	_ = syscall.Close(0) // what is written to it is the program's alone
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

// setLimits sets what is not the program's alone. The limit of data is: we must live
// to end it.
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

// goAhead puts our threads, and those that they start, ahead of all that have no
// real-time priority: one that waits for its turn would hold up the others. The kernel
// grants it to root alone, whom alone its limit of processes does not bind.
func goAhead() {
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, t := range tasks {
		if tid, err := strconv.Atoi(t.Name()); err == nil {
			_ = ahead(tid)
		}
	}
}

func ahead(thread int) error {
	return unix.SchedSetAttr(thread, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 1}, 0)
}

// threadsHere gives how many processes and threads the whole machine has: one read,
// however many they are.
func threadsHere() (n int) {
	b, _ := os.ReadFile("/proc/loadavg")
	if fields := strings.Fields(string(b)); len(fields) > 3 {
		_, all, _ := strings.Cut(fields[3], "/")
		n, _ = strconv.Atoi(all)
	}
	return n
}

// threadsBelow gives how many processes and threads descend from us.
func threadsBelow() (n int) {
	for _, s := range tree(os.Getpid()) {
		if s.pid != os.Getpid() {
			n += s.threads
		}
	}
	return n
}

// waitFor waits for all children until this one ends.
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

// endDescendants kills the program's group at one stroke, which is all of most
// programs. Of what is left it stops all that descends from this process, so that
// nobody can start another, and kills it. Who has become another account cannot be
// killed, and is not waited for without end.
func endDescendants(child int) {
	goAhead()
	if slices.ContainsFunc(tree(os.Getpid()), func(s stat) bool { return s.group == child }) { // else the number may be another's by now
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
		time.Sleep(max(time.Millisecond, 2*time.Since(began))) // they need time to die, and have it behind us
	}
}

// endWithin is how long ending goes on when there are not fewer and fewer.
const endWithin = 10 * time.Second

// stopAll stops all that descends from this process, and gives them.
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

// childless waits for the children that have ended, and reports whether there are no
// others.
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
