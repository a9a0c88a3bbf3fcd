//go:build unix

package suite

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit/fixture"
	"assay/internal/record"
)

// auditsEnv makes this test binary the process that is interrupted and killed: its
// flags, as JSON.
const auditsEnv = "ASSAY_SUITE_TEST_AUDITS"

// TestAuditsChild is no test: it is the process that others start and kill. It runs
// Regression on the folder that ASSAY_TEST_HOUSE names.
func TestAuditsChild(t *testing.T) {
	text := os.Getenv(auditsEnv)
	if text == "" {
		t.Skip("started by other tests alone")
	}
	var args []string
	require.NoError(t, json.Unmarshal([]byte(text), &args))
	dir := os.Getenv("ASSAY_TEST_HOUSE")
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	s := New(Options{Flags: flags, Shipped: os.DirFS(dir), Out: dir})
	s.auditWait, s.auditGrace = time.Millisecond, 100*time.Millisecond
	require.NoError(t, flags.Parse(args))
	signal.Reset() // as a program has them
	f := play(t, "TestRegression", s.Regression,
		func(f *fake) { f.deadline = time.Now().Add(5 * time.Minute) })
	s.summary.print(os.Stdout, view{all: true, width: screenWidth})
	for _, c := range f.complaints() {
		fmt.Println(c)
	}
	fmt.Println("the child has ended")
	if f.Failed() {
		os.Exit(1)
	}
	os.Exit(0)
}

// A lab is a house with an agent whose books say what was begun and what was paid.
type lab struct {
	*house
	books string
}

// newLab makes one whose agent "agent" has these arguments.
func newLab(t *testing.T, projects int, args string) *lab {
	if testing.Short() {
		t.Skip("-short: no process is started and killed")
	}
	l := &lab{house: newHouse(t)}
	l.repository(20)
	p, err := fixture.ReadProject(os.DirFS(l.dir), "fixtures/projects/demo.md")
	require.NoError(t, err)
	key, err := os.ReadFile(l.path("fixtures/projects/demo.md"))
	require.NoError(t, err)
	tree, err := os.ReadFile(l.path("fixtures/projects/demo.tree.tsv"))
	require.NoError(t, err)
	for i := 1; i < projects; i++ {
		l.write(fmt.Sprintf("fixtures/projects/demo%d.md", i), string(key))
		l.write(fmt.Sprintf("fixtures/projects/demo%d.tree.tsv", i), string(tree))
	}
	l.books = l.path("books")
	t.Setenv("ASSAY_SANDBOX", "off") // the books are outside
	t.Setenv("ASSAY_TEST_HOUSE", l.dir)
	l.agents(p.Vulnerabilities, "agent: -envelope claude -in 1000 -out 50 -usd 0.08 -books "+l.books+" "+args)
	return l
}

// start starts a child process.
func (l *lab) start(out *bytes.Buffer, args ...string) *exec.Cmd {
	b, err := json.Marshal(append([]string{"-auditor", "agent"}, args...))
	require.NoError(l.t, err)
	exe, err := os.Executable()
	require.NoError(l.t, err)
	cmd := exec.Command(exe, "-test.run=^TestAuditsChild$", "-test.timeout=120s")
	// What a killed child leaves behind goes with the test.
	cmd.Env = append(os.Environ(), auditsEnv+"="+string(b), "TMPDIR="+l.t.TempDir())
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(l.t, cmd.Start())
	l.t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

// run runs a child to its end and gives what it printed and its exit status.
func (l *lab) run(args ...string) (string, int) {
	l.t.Helper()
	var out bytes.Buffer
	cmd := l.start(&out, args...)
	_ = cmd.Wait()
	return out.String(), cmd.ProcessState.ExitCode()
}

// entries counts the books' lines that begin so.
func (l *lab) entries(word string) (n int) {
	b, _ := os.ReadFile(l.books)
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, word) {
			n++
		}
	}
	return n
}

// await waits until the books have so many lines that begin so.
func (l *lab) await(word string, n int) {
	l.t.Helper()
	require.Eventually(l.t, func() bool { return l.entries(word) >= n }, time.Minute,
		5*time.Millisecond, "%d lines %q", n, word)
}

// kept counts the audits in results.db that count, by trial; none where there is no
// database yet.
func (l *lab) kept() map[string]int {
	kept := map[string]int{}
	if _, err := os.Stat(l.path("results.db")); err != nil {
		return kept
	}
	db, err := sql.Open("sqlite", "file:"+l.path("results.db")+
		"?mode=ro&_pragma=busy_timeout(10000)")
	require.NoError(l.t, err)
	defer db.Close()
	rows, err := db.Query("SELECT trial_key, auditor FROM audits WHERE outcome = 'correct'")
	if err != nil {
		require.ErrorContains(l.t, err, "no such table", "they are not there yet")
		return kept
	}
	defer rows.Close()
	for rows.Next() {
		var trial, auditor string
		require.NoError(l.t, rows.Scan(&trial, &auditor))
		require.Equal(l.t, "agent", auditor)
		kept[trial]++
	}
	require.NoError(l.t, rows.Err())
	return kept
}

// gone waits until no agent that was begun is there any more.
func (l *lab) gone() {
	b, _ := os.ReadFile(l.books)
	for line := range strings.Lines(string(b)) {
		var pid int
		if n, _ := fmt.Sscanf(line, "begun %d", &pid); n == 1 {
			require.Eventually(l.t, func() bool { return syscall.Kill(pid, 0) != nil },
				30*time.Second, 5*time.Millisecond, "agent %d works on", pid)
		}
	}
}

// One interrupt ends the run in good order: nothing more is begun, what ended is
// judged and recorded, and the same command again pays for the rest alone.
func TestAnInterruptEndsAuditsInGoodOrder(t *testing.T) {
	for name, sig := range map[string]os.Signal{"interrupt": os.Interrupt,
		"terminated": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			gate := filepath.Join(t.TempDir(), "gate")
			l := newLab(t, 2, "-until "+gate)
			var out bytes.Buffer
			cmd := l.start(&out, "-trials", "3", "-concurrency", "1")
			l.await("begun", 1)
			require.NoError(t, cmd.Process.Signal(sig))
			_ = cmd.Wait()
			require.Contains(t, out.String(), "the child has ended", "it ended in order")
			require.Equal(t, 1, cmd.ProcessState.ExitCode())
			require.Equal(t, 1, l.entries("begun"), "nothing more is begun")
			require.Contains(t, out.String(), "INVALID")
			require.Contains(t, out.String(), "5 of 6 trials were not begun\n")
			require.Contains(t, out.String(), "\nto carry on: ")
			l.gone()
			rs, err := record.ReadAll(l.path("records"))
			require.NoError(t, err)
			require.NotEmpty(t, rs)

			require.NoError(t, os.WriteFile(gate, nil, 0o644))
			text, code := l.run("-trials", "3")
			require.Zero(t, code, text)
			require.Equal(t, 6, l.entries("ended"))
			require.Len(t, l.kept(), 6)
			require.Contains(t, text, "Regression: continues the interrupted run of ")
		})
	}
}

// A second interrupt ends the process at once, and its agents with it; what had
// ended is kept.
func TestASecondInterruptEndsAtOnce(t *testing.T) {
	l := newLab(t, 1, "-deaf")
	var out bytes.Buffer
	cmd := l.start(&out, "-trials", "2", "-concurrency", "1")
	l.await("begun", 1)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	interrupted := time.Now()
	for time.Since(interrupted) < 30*time.Second && cmd.Process.Signal(os.Interrupt) == nil {
		var status syscall.WaitStatus
		if pid, _ := syscall.Wait4(cmd.Process.Pid, &status, syscall.WNOHANG, nil); pid != 0 {
			require.True(t, status.Signaled(),
				"it was ended by the signal, and did not wait for its agent")
			require.NotContains(t, out.String(), "the child has ended")
			l.gone()
			require.Equal(t, 1, l.entries("begun"))
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("it goes on")
}

// Killed at seeded moments, again and again, and started anew: what ended is kept and
// never paid for again; lost is what was in flight alone.
func TestAuditsKilledAtAnyMoment(t *testing.T) {
	const trials, slots = 16, 2
	kills := 6
	l := newLab(t, 2, "")
	rng := rand.New(rand.NewPCG(11, 7))
	killed, before := 0, 0
	for range kills {
		var out bytes.Buffer
		began := l.entries("begun")
		cmd := l.start(&out, "-trials", fmt.Sprint(trials), "-budget", "none")
		// Well into the run: the moment is by what has begun, and a seeded while after.
		go func() {
			for deadline := time.Now().Add(20 * time.Second); l.entries("begun") < began+1+
				rng.IntN(2) && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(time.Duration(rng.Int64N(int64(60 * time.Millisecond))))
			_ = cmd.Process.Kill()
		}()
		_ = cmd.Wait()
		require.Equal(t, -1, cmd.ProcessState.ExitCode(),
			"it was killed before it was complete: %s", &out)
		killed++
		l.gone()
		kept := len(l.kept())
		require.GreaterOrEqual(t, kept, before, "what was kept is not lost")
		before = kept
	}
	require.Positive(t, killed)
	text, code := l.run("-trials", fmt.Sprint(trials), "-budget", "none")
	require.Zero(t, code, text)
	kept := l.kept()
	require.Len(t, kept, 2*trials)
	for trial, n := range kept {
		require.Equal(t, 1, n, "%s is kept once", trial)
	}
	require.LessOrEqual(t, l.entries("ended")-2*trials, killed*slots,
		"lost is at most what was in flight")
	rs, err := record.ReadAll(l.path("records"))
	require.NoError(t, err)
	require.Len(t, rs[len(rs)-1].Trials, trials)
	t.Logf("%d kills, %d audits, %d paid for", killed, 2*trials, l.entries("ended"))
}

// Turned away, then fine; broken off, then whole: each is tried again and nothing of
// it shows in the verdict, but in the record.
func TestAuditsTurnedAwayAndBrokenOff(t *testing.T) {
	l := newLab(t, 1, "-fail 2 -say 'API Error: 429 rate_limit_error'")
	b, err := os.ReadFile(l.path("fixtures/auditors.md"))
	require.NoError(t, err)
	l.write("fixtures/auditors.md", strings.Replace(string(b), "| Cost |",
		"| Retry | 429, 529 |\n| Cost |", 1))
	text, code := l.run("-trials", "2", "-concurrency", "1")
	require.Zero(t, code, text)
	require.Equal(t, 4, l.entries("begun"))
	require.Contains(t, text, "Regression: $0.16 now, in ", "what was turned down is free")

	l = newLab(t, 1, "-early 1")
	text, code = l.run("-trials", "2", "-concurrency", "1")
	require.Zero(t, code, text)
	require.Equal(t, 3, l.entries("begun"))
	rs, err := record.ReadAll(l.path("records"))
	require.NoError(t, err)
	require.Equal(t, 3, rs[0].Trials[0].Runs+rs[0].Trials[1].Runs)
	require.Equal(t, 1, rs[0].Trials[0].EarlyEnds+rs[0].Trials[1].EarlyEnds)
	require.Contains(t, rs[0].Text(), "1 of 3 runs ended early; trial ")
	require.Contains(t, rs[0].Text(), "was tried again: it ended early: ")
}

// The budget holds over projects and trials; -budget 0 starts nothing; a budget that
// is used up in the middle leaves the rest for the same command with more.
func TestAuditsWithinABudget(t *testing.T) {
	l := newLab(t, 2, "")
	text, code := l.run("-trials", "3", "-budget", "0")
	require.Zero(t, code, text)
	require.Zero(t, l.entries("begun"), "nothing is begun")
	require.Contains(t, strings.Join(strings.Fields(text), " "),
		"estimate: 6 trials planned: about $0.60, at most $0.60 without retries; budget $0.00")

	text, code = l.run("-trials", "3", "-budget", "0.30")
	require.Equal(t, 1, code, text)
	require.Equal(t, 3, l.entries("ended"), "a fourth might cost more than is left")
	require.Contains(t, text,
		"the budget of $0.30 is used up ($0.2400 spent, the next one may cost $0.1200)")
	require.Contains(t, text, "3 of 6 trials were not begun")
	require.Contains(t, text, "INVALID")

	text, _ = l.run("-trials", "3", "-budget", "0")
	require.Contains(t, text,
		"6 trials planned, 3 completed by an earlier run, 3 to ask: about $0.24",
		"estimated from what they cost")
	text, code = l.run("-trials", "3")
	require.Zero(t, code, text)
	require.Equal(t, 6, l.entries("ended"))
	text, code = l.run("-trials", "3", "-budget", "0.01", "-reuse")
	require.Zero(t, code, "answers that are reused need no budget: %s", text)
	_, code = l.run("-trials", "1")
	require.Zero(t, code)
	require.Equal(t, 8, l.entries("ended"), "a complete run is never reused")
}

// Two trials run at once where -concurrency says two, and never three.
func TestAuditsInParallel(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	l := newLab(t, 2, "-until "+gate)
	var out bytes.Buffer
	cmd := l.start(&out, "-trials", "2", "-concurrency", "2")
	l.await("begun", 2)
	require.Equal(t, 2, l.entries("begun"))
	require.NoError(t, os.WriteFile(gate, nil, 0o644))
	require.NoError(t, cmd.Wait(), out.String())
	require.Equal(t, 4, l.entries("ended"))
}
