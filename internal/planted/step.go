package planted

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// maxOutput is what is kept of a step's output: its last bytes.
const maxOutput = 64 << 10

// A step is a command line that is run by the shell, in a process group of its
// own that is killed whole.
type step struct {
	name    string
	command string
	dir     string
	env     []string
	timeout time.Duration
}

// A stepError is a step that did not end well.
type stepError struct {
	step string
	why  string
	tail string
}

func (e *stepError) Error() string {
	if e.tail == "" {
		return e.step + ": " + e.why
	}
	return e.step + ": " + e.why + "\n" + e.tail
}

// run runs the step to its end and gives its standard output. The error holds the
// end of all output.
func (s step) run(ctx context.Context) (stdout []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	p, err := s.start()
	if err != nil {
		return nil, err
	}
	select {
	case <-p.ended:
	case <-ctx.Done():
	}
	p.kill()
	if ctx.Err() != nil && p.state == nil {
		why := fmt.Sprintf("killed after %s: expected it to end by then", s.timeout)
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			why = "stopped: " + ctx.Err().Error()
		}
		return p.stdout.bytes(), p.failed(why)
	}
	if p.state != nil && !errors.Is(p.state, exec.ErrWaitDelay) {
		return p.stdout.bytes(), p.failed(p.state.Error())
	}
	return p.stdout.bytes(), nil
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

// start starts the step. Whoever calls it calls kill.
func (s step) start() (*running, error) {
	p := &running{step: s, ended: make(chan struct{})}
	p.cmd = exec.Command("/bin/sh", "-c", s.command)
	p.cmd.Dir, p.cmd.Env = s.dir, s.env
	p.cmd.Stdout, p.cmd.Stderr = both{&p.stdout, &p.all}, &p.all
	p.cmd.WaitDelay = time.Second
	p.cmd.SysProcAttr = attributes()
	started := make(chan error)
	go func() {
		// Where the kernel ends the child with the thread that started it, this
		// goroutine keeps the thread for as long.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := p.cmd.Start(); err != nil {
			started <- err
			return
		}
		started <- nil
		p.state = p.cmd.Wait()
		close(p.ended)
	}()
	if err := <-started; err != nil {
		return nil, &stepError{s.name, fmt.Sprintf("cannot be started in %s: %v", s.dir, err), ""}
	}
	return p, nil
}

// kill ends every process of the group and waits for the leader. What the leader
// left behind when it ended by itself is killed too.
func (p *running) kill() {
	p.once.Do(func() {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // no such group: all ended
		select {
		case <-p.ended:
		case <-time.After(10 * time.Second): // WaitDelay is a second: only a process in the kernel's hands gets here
		}
	})
}

func (p *running) failed(why string) error {
	if strings.Contains(why, "exit status 127") {
		why += " (a program is missing)"
	}
	return &stepError{p.step.name, why, lastLines(string(p.all.bytes()), 40)}
}

// lastLines gives the last n lines of a text, each with an indent.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) == 1 && lines[0] == "" {
		return "    (no output)"
	}
	return "    " + strings.Join(lines[max(0, len(lines)-n):], "\n    ")
}

type both struct{ a, b *tail }

func (w both) Write(b []byte) (int, error) {
	_, _ = w.a.Write(b)
	return w.b.Write(b)
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

// passed names the variables that a step gets from ours; a name that ends with *
// stands for all that begin so.
var passed = []string{"PATH", "HOME", "USER", "TZ", "GO*", "JAVA_HOME", "MAVEN_OPTS", "npm_config_*", "NPM_CONFIG_*", "PIP_*",
	"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "XDG_CACHE_HOME"}

// network names those that only the setup and the build get besides.
var network = []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"}

// environment gives what is passed on of our environment.
func environment(names []string) []string {
	env := []string{"LANG=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1"}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		for _, n := range names {
			prefix, many := strings.CutSuffix(n, "*")
			if name == n || many && strings.HasPrefix(name, prefix) {
				env = append(env, kv)
				break
			}
		}
	}
	return env
}
