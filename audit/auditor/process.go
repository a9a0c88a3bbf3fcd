package auditor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Caps of what is kept of a program's output, in bytes. Of the report the head
// is kept (a report that is larger is useless cut anyway, and said to be cut);
// of the messages the tail, where the error stands.
const (
	MaxReport = 256 << 20
	MaxStderr = 1 << 20
)

// grace is what a program has between TERM and KILL.
const grace = 10 * time.Second

// A process is one run of an untrusted program.
type process struct {
	Dir     string
	Command []string
	Env     []string // NAME=value, all that it gets
	Stdin   string
	Timeout time.Duration
}

// An exit is how a process ended.
type exit struct {
	Stdout     []byte
	Stderr     []byte
	Cut        int64 // bytes of Stdout beyond the cap
	Code       int   // exit status; -1 after a signal
	TimedOut   bool
	Started    time.Time
	Duration   time.Duration
	PeakMemory int64 // bytes
}

// run starts the program in a process group of its own and waits for it. When
// the time is up, or ctx ends, the whole group gets TERM and, after a grace,
// KILL. The error is that of a program that could not be started.
func (p process) run(ctx context.Context) (exit, error) {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	cmd := exec.Command(p.Command[0], p.Command[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = p.Dir, p.Env, strings.NewReader(p.Stdin)
	stdout, stderr := &head{max: MaxReport}, &tail{max: MaxStderr}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// What a grandchild that left the group holds open must not hold us up.
	cmd.WaitDelay = grace
	started := time.Now()
	if err := cmd.Start(); err != nil {
		return exit{}, fmt.Errorf("%s cannot be started: %w", p.Command[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	e := exit{Started: started}
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		e.TimedOut = errors.Is(ctx.Err(), context.DeadlineExceeded)
		err = stop(cmd.Process.Pid, ended)
	}
	// The leader is gone; those that it left behind go too.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	e.Duration = time.Since(started)
	e.Stdout, e.Cut, e.Stderr = stdout.kept, stdout.cut, stderr.bytes()
	e.Code = cmd.ProcessState.ExitCode()
	if ru, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		e.PeakMemory = ru.Maxrss * 1024
	}
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) && !errors.Is(err, exec.ErrWaitDelay) {
		return e, err
	}
	return e, nil
}

func stop(group int, ended <-chan error) error {
	_ = syscall.Kill(-group, syscall.SIGTERM)
	select {
	case err := <-ended:
		return err
	case <-time.After(grace):
		_ = syscall.Kill(-group, syscall.SIGKILL)
		return <-ended
	}
}

// A head keeps the first bytes that are written to it.
type head struct {
	max  int
	kept []byte
	cut  int64
}

func (h *head) Write(b []byte) (int, error) {
	n := min(len(b), h.max-len(h.kept))
	h.kept = append(h.kept, b[:n]...)
	h.cut += int64(len(b) - n)
	return len(b), nil
}

// A tail keeps the last bytes that are written to it.
type tail struct {
	max  int
	kept []byte
	cut  bool
}

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - t.max; over > t.max {
		t.kept = append(t.kept[:0], t.kept[over:]...)
		t.cut = true
	}
	return len(b), nil
}

func (t *tail) bytes() []byte {
	if over := len(t.kept) - t.max; over > 0 {
		t.kept, t.cut = t.kept[over:], true
	}
	if t.cut {
		return append([]byte("[the beginning is cut]\n"), t.kept...)
	}
	return t.kept
}

// allowed gives the environment that an untrusted program gets: where programs
// are, a home and a temporary folder of its own, and the variables that its entry
// names.
func allowed(names []string, home, tmp string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + tmp, "LANG=C.UTF-8"}
	for _, n := range names {
		if v, ok := os.LookupEnv(n); ok {
			env = append(env, n+"="+v)
		}
	}
	return env
}
