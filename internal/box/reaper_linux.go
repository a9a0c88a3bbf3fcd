package box

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
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

func init() {
	if len(os.Args) > 3 && os.Args[0] == reaperName {
		os.Exit(reap(os.Args[1], os.Args[2], os.Args[3:]))
	}
}

func reaperCommand(p Process) *exec.Cmd {
	var limits []string
	for _, r := range p.rlimits(0) {
		limits = append(limits, fmt.Sprintf("%d=%d:%d", r.resource, r.value, r.hard))
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = append([]string{reaperName, strconv.Itoa(os.Getpid()), strings.Join(limits, ",")}, p.Command...)
	return cmd
}

// reap runs the command, adopts all that descends from it, and when it ends, or
// we are told to, ends them too. It gives the exit status as a shell does.
func reap(parent, limits string, command []string) int {
	runtime.LockOSThread() // the program is to die with this thread
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
	var data *unix.Rlimit // the program's alone: we must live to end it
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
			return fail(fmt.Errorf("limit %s: %w", l, err))
		}
	}
	child, err := syscall.ForkExec(program, command, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}})
	if err != nil {
		return fail(err)
	}
	if data != nil {
		_ = unix.Prlimit(child, unix.RLIMIT_DATA, data, nil) // an error: it has ended
	}
	_ = syscall.Close(0) // what is written to it is the program's alone
	ended := make(chan int, 1)
	go func() { ended <- waitFor(child) }()
	for {
		select {
		case s := <-told:
			if s == endAll {
				endDescendants()
				return 128 + int(syscall.SIGKILL)
			}
		case code := <-ended:
			endDescendants()
			return code
		}
	}
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

// endDescendants stops all that descends from this process, so that nobody can
// start another, and kills them. Who has become another account cannot be killed,
// and is not waited for without end.
func endDescendants() {
	for end := time.Now().Add(10 * time.Second); !childless() && time.Now().Before(end); time.Sleep(time.Millisecond) {
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
		for _, s := range stopped {
			s.signal(syscall.SIGKILL)
		}
	}
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
