package planted

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/internal/box"
)

// maxOutput is the number of trailing bytes of a step's output that are kept.
const maxOutput = 256 << 10

// A step is a shell command line. It is killed with all of its children. Its umask is 022, so
// that the modes of a draw's files do not depend on the user.
type step struct {
	name    string
	command string
	dir     string
	env     []string
	timeout time.Duration
}

// process returns the step as a process of the box. It is not confined, because it is ours.
func (s step) process() box.Process {
	return box.Process{Dir: s.dir, Command: []string{"/bin/sh", "-c", "umask 022; " + s.command},
		Env: s.env, Timeout: s.timeout,
		Progress: true, Cap: maxOutput}
}

// run runs the step to its end. The error says how it ended and has the last lines of its
// output.
func (s step) run(ctx context.Context) (e box.Exit, err error) {
	e, err = s.process().Run(ctx)
	switch {
	case err != nil:
		err = fmt.Errorf("%s: cannot be run in %s: %w", s.name, s.dir, err)
	case ctx.Err() != nil:
		err = s.failed(&e, "stopped: "+ctx.Err().Error())
	case e.TimedOut:
		err = s.failed(&e, fmt.Sprintf("killed after %s: expected it to end by then", s.timeout))
	case e.Crossed != "" || e.Code != 0:
		err = s.failed(&e, how(&e))
	}
	return e, err
}

// how returns how a process ended.
func how(e *box.Exit) string {
	switch {
	case e.Crossed != "":
		return e.Crossed
	case e.Code == 127:
		return "exit status 127: a program is missing"
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// failed returns an error with the last lines of output.
func (s step) failed(e *box.Exit, why string) error {
	return fmt.Errorf("%s: %s\n%s", s.name, why, lastLines(e, 40))
}

// lastLines returns the last n lines of output, indented.
func lastLines(e *box.Exit, n int) string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(slices.Concat(e.Stdout, e.Stderr)),
		"\uFFFD"))
	if text == "" {
		return "    (no output)"
	}
	lines := strings.Split(text, "\n")
	return "    " + strings.Join(lines[max(0, len(lines)-n):], "\n    ")
}

// An app is a running application.
type app struct {
	step  step
	stop  context.CancelFunc
	ended chan struct{} // closed when it has ended, and exit and err are known
	exit  box.Exit
	err   error
}

// start starts the step. The caller must call end.
func (s step) start(ctx context.Context) *app {
	ctx, stop := context.WithCancel(ctx)
	a := &app{step: s, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(a.ended)
		a.exit, a.err = s.process().Run(ctx)
	}()
	return a
}

// end stops the application and returns its state before that, with its last lines.
func (a *app) end() (story string) {
	state := "still runs"
	select {
	case <-a.ended:
		state = "has ended, " + how(&a.exit)
	default:
	}
	a.stop()
	<-a.ended
	return "the application " + state + "; its last lines:\n" + lastLines(&a.exit, 15)
}
