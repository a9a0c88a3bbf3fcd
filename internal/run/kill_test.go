package run_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/run"
	"assay/internal/run/testdata/mockapi"
	"assay/internal/store"

	"github.com/stretchr/testify/require"
)

// childEnv makes this test binary the program that is killed: a JSON object, see
// orders.
const childEnv = "ASSAY_RUN_TEST_CHILD"

// orders are what the child process is told.
type orders struct {
	Base, DB string
	Trials   int
	FileSize uint64 // limit of a file's size in bytes; 0: none
}

// TestChild is no test: it is the process that others start, kill, and starve.
func TestChild(t *testing.T) {
	text := os.Getenv(childEnv)
	if text == "" {
		t.Skip("started by other tests alone")
	}
	var o orders
	require.NoError(t, json.Unmarshal([]byte(text), &o))
	if o.FileSize > 0 {
		require.NoError(t, limitFiles(o.FileSize))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s, err := store.Open(ctx, o.DB)
	if err != nil {
		fmt.Println("cannot open:", err)
		os.Exit(3)
	}
	defer s.Close()
	ts := trials(o.Trials, modelAt(t, o.Base, 20*time.Second))
	p, err := run.Prepare(ctx, run.Config{Store: s, Budget: math.Inf(1), Concurrency: 8,
		StoreWait: 200 * time.Millisecond,
		FirstWait: 10 * time.Millisecond, Run: store.Run{Command: "the child"}},
		run.Listed(items(ts)))
	require.NoError(t, err)
	r, err := p.Start(ctx)
	if err != nil {
		fmt.Println("cannot start:", err)
		os.Exit(3)
	}
	sum, err := r.Finish()
	fmt.Println("stops:", sum.Stops, "unstored:", len(sum.Unstored), "error:", err)
	if err != nil || sum.Unanswered() > 0 {
		os.Exit(3)
	}
}

// child starts a child process. What it writes goes to out.
func child(t *testing.T, o orders, out *bytes.Buffer) *exec.Cmd {
	b, err := json.Marshal(o)
	require.NoError(t, err)
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe, "-test.run=^TestChild$", "-test.timeout=120s")
	cmd.Env = append(os.Environ(), childEnv+"="+string(b))
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	return cmd
}

// ledger reads what a database holds: answered rows and all rows by trial.
func ledger(t *testing.T, where string) (answered, rows map[string]int) {
	s, err := store.OpenReadOnly(context.Background(), where)
	require.NoError(t, err)
	defer s.Close()
	answered, rows = map[string]int{}, map[string]int{}
	for e, err := range s.Evaluations(context.Background(), store.Query{}) {
		require.NoError(t, err)
		rows[e.Trial]++
		if e.Status == audit.Answered {
			answered[e.Trial]++
		}
		attempts, err := s.Attempts(context.Background(), e.Run, e.Trial)
		require.NoError(t, err)
		require.Len(t, attempts, e.Tries, "a row and its attempts are one transaction")
	}
	return answered, rows
}

func requireIntact(t *testing.T, where string) {
	db, err := sql.Open("sqlite", where)
	require.NoError(t, err)
	defer db.Close()
	var ok string
	require.NoError(t, db.QueryRow("PRAGMA integrity_check").Scan(&ok))
	require.Equal(t, "ok", ok)
}

// A process is killed at random instants, again and again, and started anew each
// time. In the end every trial has one answer, and what was asked for twice are
// at most the trials that were in flight. ASSAY_KILLS says how often (50;
// 8 under -short).
func TestKilledAtAnyInstant(t *testing.T) {
	kills := 50
	if testing.Short() {
		kills = 8
	}
	if n, err := strconv.Atoi(os.Getenv("ASSAY_KILLS")); err == nil {
		kills = n
	}
	const concurrency = 8
	var last atomic.Int64 // the request with which the child is killed
	fatal := make(chan struct{}, 1)
	s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		switch ahead := int64(r.N) - last.Load(); {
		case ahead == 0:
			fatal <- struct{}{}
		case ahead > 15: // however late the kill comes, the child does not end before it
			return mockapi.Reply{Stall: true}
		}
		if chance(r.N, 6, 0.03) {
			return mockapi.Reply{Status: 502, Body: "{}"}
		}
		return mockapi.Reply{Cost: 0.001, Latency: 5 * time.Millisecond}
	})
	defer s.Close()
	o := orders{Base: s.BaseURL, DB: filepath.Join(t.TempDir(), "results.db"), Trials: kills * 45}
	rng := rand.New(rand.NewPCG(7, 7))
	before := 0
	for range kills {
		var out bytes.Buffer
		// From before the database is opened to well into the run, which needs more requests.
		after, ripens := rng.IntN(30), time.Duration(rng.Int64N(int64(10*time.Millisecond)))
		last.Store(int64(len(s.Requests()) + after))
		cmd := child(t, o, &out)
		if after > 0 {
			<-fatal
		}
		kill := time.AfterFunc(ripens, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		kill.Stop()
		require.ErrorContains(t, err, "killed", "the child ended by itself: %s", &out)
		if _, err := os.Stat(o.DB); err != nil {
			continue // killed before it made one
		}
		answered := countAnswered(t, o.DB)
		require.GreaterOrEqual(t, answered, before, "no answer that was stored is lost")
		before = answered
	}

	last.Store(math.MaxInt64)
	var out bytes.Buffer
	require.NoError(t, child(t, o, &out).Wait(), out.String())
	requireIntact(t, o.DB)
	answered, _ := ledger(t, o.DB)
	require.Len(t, answered, o.Trials)
	for trial, n := range answered {
		require.Equal(t, 1, n, "trial %s is counted once", trial)
	}
	total := 0
	for _, n := range s.Answers() {
		total += n
	}
	require.LessOrEqual(t, total-o.Trials, kills*concurrency, "lost at most the trials in flight")
	t.Logf("%d kills, %d trials, %d answers paid for, %d of them lost in flight", kills, o.Trials,
		total, total-o.Trials)
}

// countAnswered counts answered rows; a database killed before its tables were
// made has none.
func countAnswered(t *testing.T, where string) (n int) {
	db, err := sql.Open("sqlite", "file:"+where+"?_pragma=busy_timeout(10000)")
	require.NoError(t, err)
	defer db.Close()
	if err := db.QueryRow(
		"SELECT count(*) FROM evaluations WHERE status = 'answered'").Scan(&n); err != nil {
		require.ErrorContains(t, err, "no such")
	}
	return n
}

// A disk that is full ends the run in good order; with room again, the same
// command asks the rest, and what could not be stored.
func TestFullDisk(t *testing.T) {
	s := mockapi.New(func(mockapi.Request) mockapi.Reply { return mockapi.Reply{Cost: 0.001} })
	defer s.Close()
	o := orders{Base: s.BaseURL, DB: filepath.Join(t.TempDir(), "results.db"), Trials: 600,
		FileSize: 600 << 10}
	var out bytes.Buffer
	require.Error(t, child(t, o, &out).Wait())
	require.Contains(t, out.String(), "results cannot be stored")
	stored := countAnswered(t, o.DB)
	require.Positive(t, stored)
	require.Less(t, stored, 600)
	asked := len(s.Requests())
	require.LessOrEqual(t, asked, stored+8,
		"nothing is paid for that cannot be kept, but what was in flight")

	o.FileSize = 0
	out.Reset()
	require.NoError(t, child(t, o, &out).Wait(), out.String())
	requireIntact(t, o.DB)
	answered, _ := ledger(t, o.DB)
	require.Len(t, answered, 600)
	for _, n := range answered {
		require.Equal(t, 1, n)
	}
	require.LessOrEqual(t, len(s.Requests()), 600+8)
}

// An interrupt ends the run in good order, resumable.
func TestInterrupt(t *testing.T) {
	reached := make(chan struct{}, 1000)
	s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		reached <- struct{}{}
		return mockapi.Reply{Cost: 0.001, Latency: 5 * time.Millisecond}
	})
	defer s.Close()
	o := orders{Base: s.BaseURL, DB: filepath.Join(t.TempDir(), "results.db"), Trials: 300}
	var out bytes.Buffer
	cmd := child(t, o, &out)
	for range 50 {
		<-reached
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Error(t, cmd.Wait())
	require.Contains(t, out.String(), "stops: [stopped:")
	require.Equal(t, len(s.Requests()), countAnswered(t, o.DB),
		"everything that was asked is stored")
	out.Reset()
	require.NoError(t, child(t, o, &out).Wait(), out.String())
	require.Len(t, s.Requests(), 300, "nothing is asked twice")
}

// The key is in no byte that a run leaves behind, though the server quotes it
// back in every way that it has.
func TestSecretsStayOut(t *testing.T) {
	s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		echo := "your key " + r.Key + " (Authorization: " + r.Header.Get("Authorization") + ")"
		switch r.N % 6 {
		case 0:
			return mockapi.Reply{Status: 502, Body: `{"error":{"message":"` + echo + `"}}`}
		case 1:
			return mockapi.Reply{Content: `{"verdict":"bad","explanation":"` + echo + `"}`}
		case 2:
			return mockapi.Reply{Content: echo, Model: r.Key}
		case 3:
			return mockapi.Reply{Finish: r.Key, Content: "I'm sorry, but I can't use " + echo}
		case 4:
			return mockapi.Reply{Status: 413, Body: "<b>" + echo + "</b>",
				Header: map[string]string{"X-Echo": r.Key}}
		}
		return mockapi.Reply{Body: `{"error":{"code":500,"message":"` + echo +
			`","metadata":{"raw":"` + echo + `"}}}`}
	})
	defer s.Close()
	dir := t.TempDir()
	o := orders{Base: s.BaseURL, DB: filepath.Join(dir, "results.db"), Trials: 60}
	var out bytes.Buffer
	cmd := child(t, o, &out)
	_ = cmd.Wait() // many trials end without an answer
	require.Contains(t, out.String(), "stops:")
	redacted := false
	for name, b := range leftBehind(t, dir) {
		redacted = redacted || bytes.Contains(b, []byte("[key]"))
		require.False(t, bytes.Contains(b, []byte(canary[6:])), "%s holds the key", name)
	}
	// Were the servers' words not stored at all, this test could not fail.
	require.True(t, redacted, "what the server said is stored, without the key")
	require.NotContains(t, out.String(), canary[6:])

	// A process that is killed leaves its write-ahead log; it holds no key either.
	again := orders{Base: s.BaseURL, DB: filepath.Join(dir, "killed.db"), Trials: 600}
	have := len(s.Requests())
	cmd = child(t, again, &out)
	for len(s.Requests()) < have+100 {
		time.Sleep(time.Millisecond)
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	files := leftBehind(t, dir)
	require.Contains(t, files, "killed.db-wal")
	for name, b := range files {
		require.False(t, bytes.Contains(b, []byte(canary[6:])), "%s holds the key", name)
	}
}

func leftBehind(t *testing.T, dir string) map[string][]byte {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	out := map[string][]byte{}
	for _, e := range entries {
		out[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
	}
	return out
}
