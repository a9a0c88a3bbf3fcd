package auditor

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/box"
)

// fakeAgent builds the fake agent once for all tests of this package.
var fakeAgent = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "assay-fakeagent-")
	built = dir
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "fakeagent")
	out, err := exec.Command("go", "build", "-o", bin,
		"assay/internal/auditor/testdata/fakeagent").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return bin, nil
})

var built string // its folder, once it is built

func TestMain(m *testing.M) {
	if args := os.Getenv("ASSAY_TEST_AUDIT"); args != "" {
		auditAlone(args)
	}
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// A lair is where an untrusted program runs in a test: an export, a folder that it
// may write, and a repository with a key that it may not see.
type lair struct {
	t                     *testing.T
	bin, export, own, key string
}

// secret is what stands in the key, and in the environment of a bystander.
const secret = "canary-" + "5f2c1e"

// newLair returns where programs run: confined by the best that is here, or not.
func newLair(t *testing.T, confined bool) *lair {
	t.Helper()
	bin, err := fakeAgent()
	require.NoError(t, err)
	l := &lair{t: t, bin: bin, export: filepath.Join(openDir(t), "src"), own: openDir(t),
		key: filepath.Join(openDir(t), "repository")}
	require.NoError(t, os.Chmod(filepath.Dir(bin), 0o711))
	require.NoError(t, os.Mkdir(l.export, 0o755))
	// where we are root, it is another account that writes there
	require.NoError(t, os.Chmod(l.own, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(l.export, "A.java"),
		[]byte("class A {}\n"), 0o444))
	require.NoError(t, os.MkdirAll(filepath.Join(l.key, "fixtures", "projects"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(l.key, "go.mod"), []byte("module x\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(l.key, "fixtures", "projects", "x.md"),
		[]byte(secret), 0o644))
	t.Setenv("ASSAY_ROOT", l.key)
	if confined {
		if missing := box.Missing(); missing != "" {
			if os.Getenv("ASSAY_CHECK") != "" {
				t.Fatalf("no confinement to test: %s (ASSAY_CHECK is set: everything should be here)", missing)
			}
			t.Skipf("no confinement to test: %s", missing)
		}
		return l
	}
	t.Setenv("ASSAY_SANDBOX", "off")
	return l
}

// openDir returns a temporary folder that any account can get to.
func openDir(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o711))
	return dir
}

// both runs a test confined by bubblewrap, by Landlock where bubblewrap does not work, and not.
func both(t *testing.T, f func(t *testing.T, l *lair)) {
	t.Run("confined", func(t *testing.T) { f(t, newLair(t, true)) })
	t.Run("by Landlock", func(t *testing.T) {
		broken := openDir(t)
		require.NoError(t, os.WriteFile(filepath.Join(broken, "bwrap"),
			[]byte("#!/bin/sh\necho no user namespaces >&2; exit 1\n"), 0o755))
		t.Setenv("PATH", broken+":"+os.Getenv("PATH"))
		f(t, newLair(t, true))
	})
	t.Run("bare", func(t *testing.T) { f(t, newLair(t, false)) })
}

// kind returns how a test of both runs: "confined", "by_Landlock" or "bare".
func kind(t *testing.T) string { return t.Name()[strings.LastIndex(t.Name(), "/")+1:] }

// agent gives the fake agent with arguments as an auditor.
func (l *lair) agent(args string, edit ...func(*audit.AuditorEntry)) *command {
	e := audit.AuditorEntry{Name: "fake", Kind: "agent", Format: "auto", Timeout: 10 * time.Minute,
		Reads:  []string{filepath.Dir(l.bin)},
		Writes: []string{l.own}, Command: l.bin + " " + args,
		Pos: audit.Pos{File: "auditors.md", Line: 7}}
	for _, f := range edit {
		f(&e)
	}
	return &command{program{entry: e}}
}

func (l *lair) run(c *command) audit.AuditRun {
	l.t.Helper()
	run, err := c.Audit(context.Background(), audit.AuditTask{Dir: l.export})
	require.NoError(l.t, err)
	return run
}

// free waits until nobody holds the lock: its holder is dead.
func (l *lair) free(name string) {
	l.t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	require.NoError(l.t, err, "the child never began")
	defer f.Close()
	require.Eventually(l.t, func() bool {
		return tryLock(f)
	}, 2*time.Minute, 5*time.Millisecond, "%s is still held: its process lives", name)
}

func TestAnAgentsReportIsRead(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		run := l.run(l.agent("-invent 2"))
		require.Empty(t, run.Invalid)
		require.Len(t, run.Report.Findings, 2)
		require.True(t, run.Report.Header && run.Report.Sentinel)
		require.Positive(t, run.Duration)
		require.Equal(t, kind(t) == "bare",
			strings.Contains(run.Exposed, "not confined (switched off by ASSAY_SANDBOX=off)"),
			run.Exposed)
	})
}

// TestAProviderThatDoesNotAnswer: a run that ends at its limit of time without an answer of its
// provider says so, and counts as unanswered.
func TestAProviderThatDoesNotAnswer(t *testing.T) {
	for name, busy := range map[string]bool{"silent": false, "429": true} {
		t.Run(name, func(t *testing.T) {
			release := make(chan struct{})
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
				r *http.Request) {
				if busy {
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				<-release
			}))
			defer provider.Close()
			defer close(release)
			l := newLair(t, true)
			c := l.agent("", func(e *audit.AuditorEntry) {
				e.Network = audit.Network{Provider: provider.URL, BaseURL: "STANDIN_URL",
					Key: "STANDIN_KEY"}
				e.Command = `bash -c 'at=${STANDIN_URL#http://}; exec 3<>/dev/tcp/${at%:*}/${at#*:};` +
					`printf "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n" >&3;` +
					`cat <&3; sleep 600'`
				e.Timeout = 10 * time.Second
			})
			run := l.run(c)
			at := strings.TrimPrefix(provider.URL, "http://")
			want := "no end within 10s: all its processes were killed; " + at +
				" answered none of its 1 requests"
			if busy {
				want += ", the last one with status 429"
			}
			require.Equal(t, want, run.Invalid)
			require.True(t, run.Transient)
		})
	}
}

// TestWhatIsWorthAnotherTry: a failure whose last words are those of its section is
// transient; one that breaks off shows an early end; a report is neither.
func TestWhatIsWorthAnotherTry(t *testing.T) {
	l := newLair(t, false)
	retry := func(e *audit.AuditorEntry) {
		e.Retry = []string{"429", "529",
			"overloaded", "ECONNRESET"}
	}
	run := l.run(l.agent("-fail -1 -say 'API Error: 429 rate_limit_error (retry-after: 7)'", retry))
	require.NotEmpty(t, run.Invalid)
	require.True(t, run.Transient)
	require.Equal(t, 429, run.HTTPStatus)
	require.Equal(t, 7*time.Second, run.RetryAfter)
	run = l.run(l.agent("-fail -1 -say 'read ECONNRESET'", retry))
	require.True(t, run.Transient)
	require.Zero(t, run.HTTPStatus)
	run = l.run(l.agent("-fail -1 -say 'line 14290 of the prompt is unknown'", retry))
	require.NotEmpty(t, run.Invalid)
	require.False(t, run.Transient)
	require.False(t, l.run(l.agent("-fail -1 -say '429'")).Transient, "its section does not say so")

	run = l.run(l.agent("-silent -exit 145; printf 'status: 401\n}\n' >&2; exit 145"))
	require.Contains(t, run.Invalid, "(exit status 145): status: 401",
		"an HTTP status cut to a byte, and no signal")

	run = l.run(l.agent("-invent 3 -truncate", retry))
	require.Contains(t, run.EndedEarly, "truncated")
	require.False(t, run.Transient)
	run = l.run(l.agent("-invent 3 -envelope opencode", retry))
	require.Empty(t, run.Invalid+run.EndedEarly)
}

// TestItsKeysAreMasked in all that it wrote, plain and in other forms; what is no
// credential stays.
func TestItsKeysAreMasked(t *testing.T) {
	l := newLair(t, false)
	t.Setenv("X_API_KEY", "canary-0123456789")
	t.Setenv("X_MODEL", "canary-model")
	env := func(e *audit.AuditorEntry) { e.Env = []string{"X_API_KEY", "X_MODEL"} }
	run := l.run(l.agent(
		"-fail -1 -say \"$X_API_KEY $(printf %s \"$X_API_KEY\" | od -An -tx1 | tr -d ' \n') $X_MODEL\"", env))
	require.Contains(t, run.Invalid, "[key] [key] canary-model")
	require.NotContains(t, string(run.Stderr), "canary-0")
	file := l.agent("; echo \"$X_API_KEY\" > $ASSAY_OUT/r.txt; echo \"$X_API_KEY\"", env,
		func(e *audit.AuditorEntry) { e.Output = "r.txt" })
	require.Equal(t, "[key]\n", string(l.run(file).Raw))
}

// TestWhatARunMayCost is told to the program, where somebody says.
func TestWhatARunMayCost(t *testing.T) {
	l := newLair(t, false)
	c := l.agent("-fail -1 -say \"[$ASSAY_MAX_USD]\"")
	run, err := c.Audit(context.Background(), audit.AuditTask{Dir: l.export, MaxUSD: 2.5})
	require.NoError(t, err)
	require.Contains(t, run.Invalid, "[2.5]")
	require.Contains(t, l.run(c).Invalid, "[]")
}

// TestWhatItLeavesBehindIsKilled: a child in the group, and one that left it.
func TestWhatItLeavesBehindIsKilled(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		run := l.run(l.agent("-fork " + l.own + "/lock"))
		require.Empty(t, run.Invalid, string(run.Stderr))
		l.free(l.own + "/lock.1")
		l.free(l.own + "/lock.2")
	})
}

// whenReady runs the agent, cancels it when it says that it has begun, and gives
// the run.
func (l *lair) whenReady(c *command) audit.AuditRun {
	l.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ready := filepath.Join(l.own, "ready")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(ready); err == nil {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	c.entry.Command += " -ready " + ready
	run, err := c.Audit(ctx, audit.AuditTask{Dir: l.export})
	require.NoError(l.t, err)
	return run
}

func TestTermThenKill(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		polite := l.agent("-hang -fork " + l.own + "/lock")
		polite.grace = 5 * time.Minute // it goes on TERM: the grace is not waited for
		run := l.whenReady(polite)
		require.Equal(t, "stopped: context canceled", run.Invalid)
		require.Contains(t, string(run.Stderr), "told to stop")
		require.Less(t, run.Duration, polite.grace)
		l.free(l.own + "/lock.1")
		l.free(l.own + "/lock.2")

		require.NoError(t, os.Remove(filepath.Join(l.own, "ready")))
		deaf := l.agent("-deaf")
		deaf.grace = 2 * time.Second
		run = l.whenReady(deaf)
		require.Equal(t, "stopped: context canceled", run.Invalid)
		require.Contains(t, string(run.Stderr), "told to stop, and did not")

		late := l.agent("-hang", func(e *audit.AuditorEntry) { e.Timeout = 100 * time.Millisecond })
		late.grace = 300 * time.Millisecond // where it had not yet begun to listen, TERM is lost
		require.Equal(t, "no end within 100ms: all its processes were killed", l.run(late).Invalid)
	})
}

// auditAlone runs an auditor in a process of its own, which knows nothing of
// signals: go test in the hands of somebody who presses ^C.
func auditAlone(args string) {
	parts := strings.Split(args, "|")
	e := audit.AuditorEntry{Name: "fake", Timeout: 10 * time.Minute,
		Reads: []string{filepath.Dir(parts[1])}, Writes: []string{parts[2]}, Command: parts[1] +
			" " + parts[3]}
	if parts[0] == "bare" {
		os.Setenv("ASSAY_SANDBOX", "off")
	}
	run, err := (&command{program{entry: e, grace: time.Second}}).Audit(context.Background(),
		audit.AuditTask{Dir: parts[4]})
	fmt.Println("not interrupted", run.Invalid, err)
	os.Exit(3)
}

// TestAnInterruptTakesTheAgentAlong: whoever is interrupted while an agent works
// ends as if nobody had caught the signal, and no process of the agent lives on.
// KILL cannot be caught: the kernel ends what is confined, and tells the reaper of
// what is not.
func TestAnInterruptTakesTheAgentAlong(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		mode := filepath.Base(t.Name())
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
			ready := filepath.Join(l.own, "ready-"+sig.String())
			lock := filepath.Join(l.own, "lock-"+sig.String())
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "ASSAY_TEST_AUDIT="+
				strings.Join([]string{mode, l.bin, l.own, "-deaf -fork " + lock + " -ready " +
					ready, l.export}, "|"))
			require.NoError(t, cmd.Start())
			require.Eventually(t, func() bool { return box.Exists(ready) }, 2*time.Minute,
				time.Millisecond)
			require.NoError(t, cmd.Process.Signal(sig))
			_ = cmd.Wait()
			require.Equal(t, sig, cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(),
				cmd.ProcessState)
			l.free(lock + ".1")
			l.free(lock + ".2")
		}
	})
}

// TestFiveGigabytes: as a report they stop the program at the cap; beside a report
// in a file they pass, and the tail is kept.
func TestFiveGigabytes(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: gigabytes")
	}
	l := newLair(t, false)
	c := l.agent("-flood 5000000000", func(e *audit.AuditorEntry) { e.Limits.Report = 1 << 20 })
	run := l.run(c)
	require.Equal(t, "it was stopped: its report is larger than 1 MB", run.Invalid)
	require.Len(t, run.Raw, 1<<20)

	n := "64000000"
	if os.Getenv("ASSAY_LONG") != "" {
		n = "5000000000"
	}
	c = l.agent("-flood "+n+" -invent 1 > /dev/stderr; echo the tail; exec "+l.bin+
		" -invent 1 > $ASSAY_OUT/report.md; ",
		func(e *audit.AuditorEntry) { e.Output = "report.md" })
	run = l.run(c)
	require.Empty(t, run.Invalid)
	require.Len(t, run.Report.Findings, 1)
	require.LessOrEqual(t, len(run.Stderr), box.MaxStderr+100)
	require.Regexp(t, `^\[\d+ bytes before this are cut\]\n`, string(run.Stderr[:100]))
	require.Contains(t, string(run.Stderr), "SENTINEL")
}

// TestTheKeyIsOutOfReach: the agent is told where the key is, and gets there bare
// (so it can look) and not confined.
func TestTheKeyIsOutOfReach(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		t.Setenv("OPENROUTER_API_KEY", secret)
		bystander := exec.Command(l.bin, "-hold", filepath.Join(l.own, "bystander"))
		ready, err := bystander.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, bystander.Start())
		t.Cleanup(func() { _ = bystander.Process.Kill(); _ = bystander.Wait() })
		_, err = ready.Read(make([]byte, 1))
		require.NoError(t, err)

		run := l.run(l.agent("-snoop canary-''5f2c1e -where=" + l.key))
		require.Empty(t, run.Invalid, string(run.Stderr))
		said := string(run.Stderr)
		require.Contains(t, said, "LOOKED at ")
		if kind(t) != "bare" {
			require.NotContains(t, said, "FOUND")
			if kind(t) == "confined" {
				require.Regexp(t, `LOOKED at [1-9] processes`, said, "its own processes alone")
			}
			require.Empty(t, run.Exposed)
			return
		}
		require.Contains(t, said, "FOUND "+l.key+"/fixtures/projects/x.md")
		require.Regexp(t, `FOUND /proc/\d+/environ`, said)
		require.Contains(t, run.Exposed, "the answer keys among it")
	})
}

// TestTheKeyIsOutOfReachThroughReads: a folder around the repository does not open
// the repository, and the repository itself cannot be named.
func TestTheKeyIsOutOfReachThroughReads(t *testing.T) {
	l := newLair(t, true)
	around := func(e *audit.AuditorEntry) { e.Reads = append(e.Reads, filepath.Dir(l.key)) }
	run := l.run(l.agent("-snoop canary-''5f2c1e -where="+l.key, around))
	require.NotContains(t, string(run.Stderr), "FOUND")

	_, err := l.agent("",
		func(e *audit.AuditorEntry) {
			e.Reads = append(e.Reads,
				l.key)
		}).Audit(context.Background(), audit.AuditTask{Dir: l.export})
	require.ErrorContains(t, err, "holds answer keys")
	_, err = l.agent("",
		func(e *audit.AuditorEntry) { e.Reads = []string{"/no/such"} }).Audit(context.Background(),
		audit.AuditTask{Dir: l.export})
	require.ErrorContains(t, err, "auditors.md:7: fake: Reads names /no/such, which is not there")
}

func TestItWritesWhereItMay(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		outside := filepath.Join(t.TempDir(), "outside")
		tries := []string{filepath.Join(l.export, "A.java"), filepath.Join(l.export, "new"),
			outside, "/usr/assay-was-here", "$TMPDIR/mine", "$HOME/mine"}
		if kind(t) == "bare" {
			tries = append(tries[:3], tries[4:]...) // nothing would keep it from /usr
		}
		run := l.run(l.agent("-write " + strings.Join(tries, ",")))
		require.Empty(t, run.Invalid)
		said := string(run.Stderr)
		require.Regexp(t, `WROTE \S+/tmp/mine`, said)
		if kind(t) != "bare" {
			for _, kept := range tries[:2] {
				require.Contains(t, said, "KEPT OUT open "+kept+": ")
			}
			require.Contains(t, said, "KEPT OUT open "+outside)
			require.Contains(t, said, "KEPT OUT open /usr/assay-was-here")
			require.Empty(t, run.Exposed)
		} else if strings.Contains(said, "WROTE "+l.export) {
			require.Contains(t, run.Exposed, "it changed the source that it was to read")
		}
		b, err := os.ReadFile(filepath.Join(l.export, "A.java"))
		require.NoError(t, err)
		require.Equal(t, kind(t) != "bare" || !strings.Contains(said, "WROTE "+tries[0]),
			string(b) == "class A {}\n")
	})
}

func TestTheNetworkIsOutOfReach(t *testing.T) {
	l := newLair(t, true)
	look := func(e *audit.AuditorEntry) { e.Command = "cat /proc/net/dev >&2; " + e.Command }
	require.NotRegexp(t, `(?m)^\s*(eth|en|wl|tap|tun|veth)`,
		string(l.run(l.agent("", look)).Stderr))
	asks := func(e *audit.AuditorEntry) { e.Network.Open = true }
	host, err := os.ReadFile("/proc/net/dev")
	require.NoError(t, err)
	require.Equal(t, strings.Count(string(host), "\n"),
		strings.Count(string(l.run(l.agent("", look, asks)).Stderr), "\n"))
}

// TestTheProviderIsNotNamed: who reached no host is told which it asked for.
func TestTheProviderIsNotNamed(t *testing.T) {
	l := newLair(t, true)
	run := l.run(l.agent("-silent", func(e *audit.AuditorEntry) {
		e.Network.Hosts = []string{"api.example.com"}
		e.Command = `bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; printf "CONNECT provider.example:443 HTTP/1.1\r\nHost: provider.example:443\r\n\r\n" >&3; head -n 1 <&3 >&2'`
	}))
	require.Contains(t, run.Invalid,
		"403 Forbidden; it was let through to no host, and asked for provider.example:443: its section names under Hosts whom it needs")
}

// TestNoEscapeLeaves: what it writes to reports stays as it is; what Assay says of
// it is plain.
func TestNoEscapeLeaves(t *testing.T) {
	l := newLair(t, false)
	run := l.run(l.agent("-escape -silent -exit 3",
		func(e *audit.AuditorEntry) { e.Version = `printf '\033[31mv1\033[0m\n'` }))
	require.Equal(t, `\u001b[31mv1\u001b[0m`, run.Version)
	require.NotContains(t, run.Invalid, "\x1b")
	require.NotContains(t, run.Invalid, "\x16")
	require.Contains(t, run.Invalid, "the report is empty")
	require.Contains(t, run.Invalid,
		"(exit status 3): \\u001b[2J\\u001b]0;owned\\u0007\\u0016--- FAIL: TestForged")

	// A tool's own notice that it failed is its own text too.
	sarif := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"invocations":[{"executionSuccessful":false,"exitCodeDescription":"\\u001b[2Jgone"}],"results":[]}]}`
	failed := l.agent("-silent; printf '%s' '" + sarif + "'")
	require.Contains(t, l.run(failed).Invalid, "gone")
	require.NotContains(t, l.run(failed).Invalid, "\x1b")

	run = l.run(l.agent("-escape -invent 2"))
	require.Len(t, run.Report.Findings, 2, run.Invalid)
}

func TestRunsThatProveNothing(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		for name, c := range map[string]struct{ args, want string }{
			"exits 0 with nothing": {"-silent",
				"the report is empty: expected an audit report, which says so where it has no findings (exit status 0)"},
			"breaks off":            {"-invent 3 -truncate", "truncated"},
			"crashes":               {"-invent 3 -crash", "killed by a signal (killed)"},
			"SARIF that breaks off": {"-invent 3 -truncate -format sarif", "truncated"},
			"is not there":          {"; no-such-program", "(exit status 127)"},
			"an envelope cut short": {"-invent 3 -envelope claude-stream -truncate",
				"breaks off before its answer"},
		} {
			if name == "is not there" {
				c.args = "-silent" + c.args
			}
			require.Contains(t, l.run(l.agent(c.args)).Invalid, c.want, name)
		}
		require.Empty(t, l.run(l.agent("")).Invalid,
			"a whole report without findings proves something")
		require.Empty(t, l.run(l.agent("-invent 1 -exit 1")).Invalid,
			"many tools exit with 1 where they find something")
		out := l.agent("", func(e *audit.AuditorEntry) { e.Output = "report.md" })
		require.Contains(t, l.run(out).Invalid,
			"it wrote no report to $ASSAY_OUT/report.md (exit status 0): === SENTINEL")
		link := l.agent("; ln -s ../../../.."+l.key+"/fixtures/projects/x.md $ASSAY_OUT/report.md",
			func(e *audit.AuditorEntry) { e.Output = "report.md" })
		require.Contains(t, l.run(link).Invalid, "$ASSAY_OUT/report.md is a link: expected a file")
	})
}

// TestLimitsOfASection: what crosses one proves nothing, and says which.
func TestLimitsOfASection(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		limited := func(x audit.Limits) func(*audit.AuditorEntry) {
			return func(e *audit.AuditorEntry) { e.Limits = x }
		}
		run := l.run(l.agent("-invent 11", limited(audit.Limits{Findings: 10})))
		require.Contains(t, run.Invalid, "more than 10 findings")
		require.Empty(t, l.run(l.agent("-invent 10", limited(audit.Limits{Findings: 10}))).Invalid)
		run = l.run(l.agent("-invent 100", limited(audit.Limits{Report: 1000})))
		require.Equal(t, "it was stopped: its report is larger than 1000 bytes", run.Invalid)
		run = l.run(l.agent("-invent 100 > $ASSAY_OUT/r", limited(audit.Limits{Report: 1000}),
			func(e *audit.AuditorEntry) { e.Output = "r" }))
		require.Contains(t, run.Invalid, "its report is larger than 1000 bytes")
		run = l.run(l.agent("-invent 1; sleep 1000 & sleep 1000 & sleep 1000 & sleep 1000 & wait",
			limited(audit.Limits{Processes: 3})))
		require.Contains(t, run.Invalid,
			"more than 3 processes and threads (the limit Processes of its section)")
		require.Empty(t, run.Report.Findings)
		require.Contains(t, run.Confined, "limits by ")
	})
}

// TestAnotherFolderForTheReport: the attack on whoever reads a report by its path.
func TestAnotherFolderForTheReport(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		require.NoError(t, os.WriteFile(filepath.Join(l.key, "report.md"), []byte("forged"), 0o644))
		run := l.run(l.agent(`; rm -rf "$ASSAY_OUT"; ln -s ../../../..`+l.key+` "$ASSAY_OUT"`,
			func(e *audit.AuditorEntry) { e.Output = "report.md" }))
		require.Contains(t, run.Invalid, "it put a link in the place of the folder $ASSAY_OUT")
		require.NotContains(t, string(run.Raw), "forged")
	})
}

// TestAToolOutOfSight: a file that Reads must name is told before it starts.
func TestAToolOutOfSight(t *testing.T) {
	l := newLair(t, true)
	_, err := l.agent("", func(e *audit.AuditorEntry) { e.Reads = nil }).Audit(context.Background(),
		audit.AuditTask{Dir: l.export})
	require.ErrorContains(t, err, "auditors.md:7: fake: its command names "+l.bin+
		", which it may not see: add the file")
}

func TestEnvironmentIsAllowed(t *testing.T) {
	t.Setenv("OPENROUTER_API_KEY", secret)
	t.Setenv("AGENT_MODE", "let-through")
	both(t, func(t *testing.T, l *lair) {
		run := l.run(l.agent("; env >&2",
			func(e *audit.AuditorEntry) { e.Env = []string{"AGENT_MODE"} }))
		require.NotContains(t, string(run.Stderr), secret)
		require.Contains(t, string(run.Stderr), "AGENT_MODE=let-through")
		home, err := os.UserHomeDir()
		require.NoError(t, err)
		require.NotContains(t, string(run.Stderr), "HOME="+home+"\n")
	})
}

// TestPeakMemory: all processes together, not ours: a test binary has more than
// the shell that it starts.
func TestPeakMemory(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		c := l.agent("-alloc 200000000 -hang")
		run := l.whenReady(c)
		require.Greater(t, run.PeakMemory, int64(200e6))
		require.Less(t, run.PeakMemory, int64(600e6))
	})
}
