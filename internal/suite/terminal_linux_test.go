package suite

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"assay/internal/run/testdata/mockapi"
)

// A terminal is a pseudo-terminal with a process that has it as its own: what a
// person sees who runs the tests by hand.
type terminal struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	mu     sync.Mutex
	seen   strings.Builder
	read   chan struct{}
}

// ioctl of the pseudo-terminal's master, see ioctl_tty(2).
func ioctl(f *os.File, request uintptr, value *uint32) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var errno syscall.Errno
	if err := c.Control(func(fd uintptr) {
		_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, request,
			uintptr(unsafe.Pointer(value)))
	}); err != nil {
		return err
	}
	if errno != 0 {
		return errno
	}
	return nil
}

// onTerminal starts a command line in dir on a terminal of its own.
func onTerminal(t *testing.T, dir string, env []string, args ...string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminal can be had: ", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	var unlock, number uint32
	require.NoError(t, ioctl(master, syscall.TIOCSPTLCK, &unlock))
	require.NoError(t, ioctl(master, syscall.TIOCGPTN, &number))
	slave, err := os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	x := &terminal{t: t, master: master, cmd: exec.Command(args[0], args[1:]...),
		read: make(chan struct{})}
	x.cmd.Dir, x.cmd.Env = dir, env
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = slave, slave, slave
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, x.cmd.Start())
	require.NoError(t, slave.Close())
	go func() {
		defer close(x.read)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			x.mu.Lock()
			x.seen.Write(buf[:n])
			x.mu.Unlock()
			if err != nil { // EIO when the last process has closed it
				return
			}
		}
	}()
	return x
}

func (x *terminal) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seen.String()
}

// press types a key.
func (x *terminal) press(key string) {
	_, err := io.WriteString(x.master, key)
	require.NoError(x.t, err)
}

// end waits for the process and gives all that it showed.
func (x *terminal) end() (string, error) {
	x.t.Helper()
	gone := time.AfterFunc(2*time.Minute, func() { _ = x.cmd.Process.Kill() })
	defer gone.Stop()
	err := x.cmd.Wait()
	select {
	case <-x.read:
	case <-time.After(30 * time.Second): // a grandchild that holds the terminal open
	}
	return x.text(), err
}

// TestAtATerminal starts the root tests as a person does: progress, and ^C.
func TestAtATerminal(t *testing.T) {
	bin, _ := commands(t)
	t.Run("progress", func(t *testing.T) { progressAtATerminal(t, bin) })
	t.Run("interrupt", func(t *testing.T) { interruptAtATerminal(t, bin) })
	t.Run("swallowed", swallowedByGoTest)
	t.Run("unconfined", func(t *testing.T) { unconfined(t, bin) })
}

// A bout is a run of TestBench in a process of its own against a mock.
type bout struct {
	h    *house
	mock *mockapi.Server
	bin  string
	root string
	env  []string
}

func newBout(t *testing.T, bin string, families int,
	script func(mockapi.Request) mockapi.Reply) *bout {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	b := &bout{h: newHouse(t), mock: mockapi.New(script), bin: bin, root: root}
	t.Cleanup(b.mock.Close)
	b.h.corpus(families)
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "ASSAY_") && !strings.HasPrefix(e, "CI=") &&
			!strings.HasPrefix(e, "GITHUB_") {
			b.env = append(b.env, e)
		}
	}
	b.env = append(b.env, "ASSAY_ROOT="+b.h.dir, "ASSAY_DB="+filepath.Join(b.h.dir, "results.db"),
		"ASSAY_BASE_URL="+b.mock.BaseURL, "ASSAY_API_KEY="+canary)
	return b
}

var benchFlags = []string{"-model", "gpt-4o-mini", "-concurrency", "2"}

// Everything that the line is to tell, where there is a terminal, and none of it where it was
// not asked for.
func progressAtATerminal(t *testing.T, bin string) {
	script := func(r mockapi.Request) mockapi.Reply {
		switch {
		case r.N%7 == 0:
			return mockapi.Reply{Status: 502, Body: "{}"}
		case strings.Contains(r.Prompt, "-- 1 2"):
			return mockapi.Reply{Status: 413, Body: "{}"}
		case strings.Contains(r.Prompt, "-- 1 3"):
			return mockapi.Reply{Content: "hm"}
		}
		return mockapi.Reply{Cost: 0.01, Latency: 30 * time.Millisecond}
	}
	for _, c := range []struct {
		name  string
		env   string
		args  []string
		shown bool
	}{
		{"shown", "X=1", nil, true},
		{"switched off", "ASSAY_PROGRESS=0", nil, false},
		{"in CI", "CI=true", nil, false},
		{"under -json", "X=1", []string{"-test.v=test2json"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBout(t, bin, 8, script)
			x := onTerminal(t, b.root, append(b.env, c.env),
				append(append([]string{b.bin, "-test.run", "Bench"}, c.args...), benchFlags...)...)
			seen, _ := x.end()
			require.Equal(t, c.shown, strings.Contains(seen, "\x1b[K"), "%q", seen)
			require.NotContains(t, seen, canary)
			if !c.shown {
				require.NotContains(t, seen, " of about $")
				return
			}
			lines := regexp.MustCompile(`\r\x1b\[K\x1b\[\?7l([^\x1b]*)`).FindAllStringSubmatch(seen,
				-1)
			require.Equal(t, "reading flags, fixtures and cases", lines[0][1],
				"it speaks before anything is asked")
			var all []string // the last one may tell of what comes after
			for _, line := range lines {
				all = append(all, line[1])
			}
			require.Regexp(t,
				`(?m)^\d+/48  balanced \d+\.\d % \(\d+ to \d+\)  (\d+ (errored|malformed)  )*\d+ retries  \d+\.\d/s  \$0\.\d\d of about \$0\.\d\d  \d+s  \d+s left  again: HTTP 502 Bad Gateway`, strings.Join(all, "\n"), "%q", seen)
			require.Contains(t, seen, "\r\x1b[K", "the line is taken away at the end")
		})
	}
}

// ^C ends a run in good order, however the tests were
// started; the summary and the command to resume are printed, and that command
// asks the rest alone.
func interruptAtATerminal(t *testing.T, bin string) {
	for _, c := range []struct {
		name   string
		start  func(b *bout) []string
		resume string
	}{
		{"a compiled binary",
			func(b *bout) []string {
				return append([]string{b.bin, "-test.run", "Bench"},
					benchFlags...)
			},
			`to carry on: (ASSAY_ROOT=\S+ ASSAY_DB=\S+ ASSAY_BASE_URL=\S+ ASSAY_API_KEY=\S+ \S+/assay\.test -test\.run Bench -concurrency=2 -model=gpt-4o-mini)`},
		{"go test", func(*bout) []string {
			return append([]string{"go", "test", "-run", "Bench"},
				benchFlags...)
		},
			`to carry on: (ASSAY_ROOT=\S+ ASSAY_DB=\S+ ASSAY_BASE_URL=\S+ ASSAY_API_KEY=\S+ go test -run Bench -concurrency=2 -model=gpt-4o-mini)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			reached := make(chan struct{}, 10_000)
			var interrupted atomic.Bool
			b := newBout(t, bin, 20, func(r mockapi.Request) mockapi.Reply {
				reached <- struct{}{}
				// until the key has come through, however busy the machine
				if r.N > 10 && !interrupted.Load() {
					return mockapi.Reply{Cost: 0.001, Latency: 2 * time.Second}
				}
				return mockapi.Reply{Cost: 0.001, Latency: 100 * time.Millisecond}
			})
			x := onTerminal(t, b.root, b.env, c.start(b)...)
			for range 10 {
				select {
				case <-reached:
				case <-time.After(2 * time.Minute):
					t.Fatalf("nothing is asked: %s", x.text())
				}
			}
			x.press("\x03")
			seen, err := x.end()
			require.Error(t, err, "what was not asked proves nothing")
			require.Regexp(t, `BENCH +reviewer`, seen, "the summary")
			require.Regexp(t, `\d+ of 120 trials were not begun`, seen)
			command := regexp.MustCompile(c.resume).FindStringSubmatch(seen)
			require.NotNil(t, command, seen)
			asked := len(b.mock.Requests())
			require.Less(t, asked, 60, "nothing more is sent")
			interrupted.Store(true)

			again := exec.Command("sh", "-c", command[1])
			again.Dir, again.Env = b.root, b.env
			out, _ := again.CombinedOutput() // the mock is a bad reviewer
			require.NotContains(t, string(out), "not asked")
			require.Len(t, b.mock.Requests(), 120, "the rest is asked, and nothing twice")
		})
	}
}

// Where packages are named, go test keeps to itself what a passing one prints: the
// terminal shows the verdict all the same, the second time too, which would come from
// the cache, in the width that it has, and once. Into a file it is not written.
func swallowedByGoTest(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "ASSAY_") && !strings.HasPrefix(e, "CI=") &&
			!strings.HasPrefix(e, "GITHUB_") && !strings.HasPrefix(e, "COLUMNS=") {
			env = append(env, e)
		}
	}
	for range 2 {
		seen, err := onTerminal(t, root, env, "go", "test", ".", "-run", "Smoke", "-short").end()
		require.NoError(t, err, "%s", seen)
		require.Regexp(t, `PASS +patterns +5 of 5 flaws`, seen)
		require.Contains(t, seen, "ok  \tassay")
		require.NotContains(t, seen, "(cached)")
	}
	seen, err := onTerminal(t, root, append(env, "COLUMNS=30"), "go", "test", "-run",
		"Smoke", "-short").end()
	require.NoError(t, err, "%s", seen)
	require.NotContains(t, seen, "checks", "a terminal without room gets fewer columns: %s", seen)
}

// A reviewer that nothing confines is told of.
func unconfined(t *testing.T, bin string) {
	b := newBout(t, bin, 1, nil)
	b.h.reviewer(right)
	cmd := exec.Command(bin, "-test.run", "Bench", "-model", "canned", "-filter", "q00-01")
	cmd.Dir, cmd.Env = b.root, append(b.env, "ASSAY_SANDBOX=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out),
		"canned: it ran unconfined: not confined (switched off by ASSAY_SANDBOX=off)")
}
