package box

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"assay/audit"
)

// Limits for the output that is kept, in bytes. A program whose standard output is its report
// is stopped when that exceeds the limit. Of other output the last bytes are kept, as errors
// stand there.
const (
	MaxReport = 256 << 20
	MaxStderr = 1 << 20
)

const defaultGrace = 10 * time.Second

// A Process is one run of an untrusted program.
type Process struct {
	Dir      string
	Command  []string
	Env      []string // NAME=value; it gets no other variables
	Stdin    string
	Timeout  time.Duration
	Grace    time.Duration // between TERM and KILL; 0 means defaultGrace
	Box      *Box          // nil: it runs unconfined
	Home     *Home         // nil: it has none
	Limits   audit.Limits
	Network  audit.Network
	Progress bool // standard output is not the report: its last bytes are kept
	Offline  bool // without a Box, too, it has no network where the kernel can keep it off
	Cap      int  // bytes of standard output; 0 means Limits.Report or, for progress, MaxStderr

	way *proxy // nil if it has no network or all of it
}

// An Exit is how a process ended.
type Exit struct {
	Stdout []byte
	Stderr []byte
	// bytes of Stdout beyond the cap; of a report that was stopped for it, at least one
	Cut        int64
	Code       int // exit status; -1 after a signal
	TimedOut   bool
	Crossed    string          // the limit that it crossed, in words; empty when it crossed none
	Confined   string          // what confined it: sandbox, account, network, limits
	Network    []audit.Traffic // what went through the proxy of the run
	Started    time.Time
	Duration   time.Duration
	PeakMemory int64 // bytes, over all of its processes together; 0 when it could not be measured
}

type ownInterrupts struct{}

// WithoutInterrupts returns a context under which an interrupt of this process does not end the
// programs that run. The caller handles interrupts and cancels the context.
func WithoutInterrupts(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownInterrupts{}, true)
}

// Run starts the program in a session of its own, without a terminal, and waits for it. At the
// timeout, when ctx ends, or when this process is interrupted, all of the program's processes get
// TERM and, after the grace, KILL. When it crosses a limit they get KILL at once. Processes that
// it leaves behind are killed too. The error says why the program could not be started.
func (p Process) Run(ctx context.Context) (Exit, error) {
	// The kernel kills the program when the thread that started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p.Limits, p.Grace = Limits(p.Limits), cmp.Or(p.Grace, defaultGrace)
	outer := ctx
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	way, err := newProxy(p.Network, p.Box != nil && p.Box.bwrap != "")
	if err != nil {
		return Exit{}, err
	}
	defer way.close()
	p.way, p.Env = way, way.environment(p.Env)
	stdout, stderr := p.keepers()
	// An interrupt that ended this process alone would leave an agent that goes on to spend: it
	// is held back until the program has ended.
	interrupts := make(chan os.Signal, 1)
	if ctx.Value(ownInterrupts{}) == nil {
		signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	}
	e := Exit{Started: time.Now()}
	l, err := p.launch(stdout, stderr)
	if err != nil {
		signal.Stop(interrupts)
		return Exit{}, fmt.Errorf("%s cannot be started: %w", p.Command[0], err)
	}
	defer l.close()
	g := &group{launched: l, leader: l.cmd.Process.Pid, ended: make(chan error, 1)}
	go func() { g.ended <- l.cmd.Wait() }()
	notBegun := l.begin(ctx)
	if notBegun != nil {
		err = g.stop(0)
	}
	var interrupt os.Signal
	if notBegun == nil {
		interrupt, err = g.wait(ctx, outer, p.Grace, stdout.full, interrupts, &e)
	}
	g.sweep()
	e.Duration = time.Since(e.Started)
	e.Stdout, e.Cut, e.Stderr = stdout.bytes(), stdout.cut, stderr.bytes()
	e.Code = l.cmd.ProcessState.ExitCode()
	e.Network = way.close()
	e.Confined = p.describe() + "; limits by " + l.limitedBy()
	last := g.last(l.cmd.ProcessState)
	e.PeakMemory = last.memory
	if e.Crossed == "" && notBegun == nil {
		e.Crossed = cmp.Or(l.crossed(p.Limits), last.crossed(p.Limits))
		if e.Crossed == "" && e.Signal() == xcpu {
			e.Crossed = usage{cpu: p.Limits.CPU + 1}.crossed(p.Limits)
		}
	}
	signal.Stop(interrupts)
	if interrupt != nil {
		raise(interrupt)
	}
	if notBegun != nil {
		return e, notBegun
	}
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) && !errors.Is(err, exec.ErrWaitDelay) {
		return e, err
	}
	return e, nil
}

// keepers returns what keeps the program's output.
func (p Process) keepers() (stdout, stderr *keeper) {
	stdout = &keeper{max: cmp.Or(p.Cap, int(p.Limits.Report)), full: make(chan struct{})}
	if p.Progress {
		stdout = &keeper{max: cmp.Or(p.Cap, MaxStderr), tail: true}
	}
	return stdout, &keeper{max: MaxStderr, tail: true}
}

// A keeper keeps the first bytes that are written to it or, as a tail, the last ones.
type keeper struct {
	max  int
	tail bool
	full chan struct{} // closed when more was written than is kept; nil for a tail
	kept []byte
	cut  int64 // bytes that were not kept
}

func (k *keeper) Write(b []byte) (int, error) {
	if k.tail {
		k.kept = append(k.kept, b...)
		if over := len(k.kept) - k.max; over > k.max {
			k.drop(over)
		}
		return len(b), nil
	}
	n := min(len(b), k.max-len(k.kept))
	k.kept = append(k.kept, b[:n]...)
	if n < len(b) && k.cut == 0 {
		close(k.full)
	}
	k.cut += int64(len(b) - n)
	return len(b), nil
}

func (k *keeper) drop(n int) {
	k.cut += int64(n)
	k.kept = append(k.kept[:0], k.kept[n:]...)
}

// bytes returns what was kept. A tail that lacks bytes begins with a line that says how many.
func (k *keeper) bytes() []byte {
	if !k.tail {
		return k.kept
	}
	if over := len(k.kept) - k.max; over > 0 {
		k.drop(over)
	}
	if k.cut > 0 {
		return append(fmt.Appendf(nil, "[%d bytes before this are cut]\n", k.cut), k.kept...)
	}
	return k.kept
}

// Environment returns the environment of an untrusted program: PATH, a home and a temporary
// folder of its own, and the variables that are named.
func Environment(names []string, home *Home) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home.Dir, "TMPDIR=" + home.Tmp(),
		"LANG=C.UTF-8"}
	for _, n := range names {
		if v, ok := os.LookupEnv(n); ok {
			env = append(env, n+"="+v)
		}
	}
	return env
}
