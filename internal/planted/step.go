package planted

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// maxOutput is what is kept of a step's output, in bytes: the last ones. An
// exploit's answers are far below it.
const maxOutput = 256 << 10

// A step is a command line that is run by the shell, in a process group of its
// own that is killed whole. Its umask is 022, whoever runs it: which files a draw
// shows to others must not hang on that.
type step struct {
	name    string
	command string
	dir     string
	env     []string
	timeout time.Duration // of run
}

// A running step.
type running struct {
	step   step
	cmd    *exec.Cmd
	stdout tail
	all    tail
	ended  chan struct{} // closed when the leader ended
	state  error         // how it ended; set before ended is closed
	once   sync.Once
}

// run runs the step to its end and gives its standard output. The error says how it
// ended, with the last lines of all output.
func (s step) run(ctx context.Context) (stdout []byte, err error) {
	limit, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	p, err := s.start()
	if err != nil {
		return nil, err
	}
	select {
	case <-p.ended:
		p.kill()
		if p.state != nil && !errors.Is(p.state, exec.ErrWaitDelay) {
			err = p.failed(p.end())
		}
	case <-limit.Done():
		p.kill()
		why := fmt.Sprintf("killed after %s: expected it to end by then", s.timeout)
		if ctx.Err() != nil {
			why = "stopped: " + ctx.Err().Error()
		}
		err = p.failed(why)
	}
	return p.stdout.bytes(), err
}

// start starts the step. Whoever calls it calls kill.
func (s step) start() (*running, error) {
	p := &running{step: s, ended: make(chan struct{})}
	p.cmd = exec.Command("/bin/sh", "-c", "umask 022; "+s.command)
	p.cmd.Dir, p.cmd.Env = s.dir, s.env
	p.cmd.Stdout, p.cmd.Stderr = io.MultiWriter(&p.stdout, &p.all), &p.all
	p.cmd.WaitDelay = time.Second // what the leader left behind holds its output open
	p.cmd.SysProcAttr = attributes()
	started := make(chan error)
	go func() {
		// Where the kernel ends the child with the thread that started it, this
		// goroutine keeps the thread for as long.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.state = p.cmd.Wait()
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("%s: cannot be started in %s: %w", s.name, s.dir, err)
	}
	return p, nil
}

// kill ends every process of the group, what the leader left behind included, and
// waits for the leader.
func (p *running) kill() {
	p.once.Do(func() {
		killGroup(p.cmd.Process)
		<-p.ended
	})
}

// end says how a step that has ended did.
func (p *running) end() string {
	switch {
	case p.state == nil:
		return "exit status 0"
	case p.cmd.ProcessState.ExitCode() == 127:
		return "exit status 127: a program is missing"
	}
	return p.state.Error()
}

// failed is an error with the last lines of the output.
func (p *running) failed(why string) error {
	return fmt.Errorf("%s: %s\n%s", p.step.name, why, lastLines(p.all.bytes(), 40))
}

// story tells of an application whether it still runs, and what it said last.
func (p *running) story() string {
	state := "still runs"
	select {
	case <-p.ended:
		state = "has ended, " + p.end()
	default:
	}
	return "the application " + state + "; its last lines:\n" + lastLines(p.all.bytes(), 15)
}

// lastLines gives the last n lines of an output, indented.
func lastLines(out []byte, n int) string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(out), "\uFFFD"))
	if text == "" {
		return "    (no output)"
	}
	lines := strings.Split(text, "\n")
	return "    " + strings.Join(lines[max(0, len(lines)-n):], "\n    ")
}

// A tail keeps the last bytes that are written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - maxOutput; over > maxOutput {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]byte(nil), t.kept[max(0, len(t.kept)-maxOutput):]...)
}
