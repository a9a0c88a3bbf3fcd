package suite

import (
	"context"
	"errors"
	"math"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/postgres"
	"assay/internal/record"
	"assay/internal/store"
)

// postgres gives the house a PostgreSQL for its results.
func (h *house) postgres() (dsn string) {
	h.t.Helper()
	dsn, stop, err := postgres.Start()
	if errors.Is(err, postgres.ErrMissing) && os.Getenv("ASSAY_CHECK") == "" {
		h.t.Skip(err)
	}
	require.NoError(h.t, err)
	h.t.Cleanup(stop)
	h.t.Setenv("ASSAY_DB", dsn)
	return dsn
}

// worker starts a worker of the house's repository; stop ends it and gives its
// error.
func (h *house) worker(audits int, drain bool) (stop func() error) {
	h.t.Helper()
	s, err := NewWorkers(h.dir, Settings{})
	require.NoError(h.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- s.Work(ctx, "", 4, audits, drain, time.Second,
			func(id string) { ready <- id })
	}()
	select {
	case <-ready:
	case err := <-ended:
		require.NoError(h.t, err)
	}
	stop = sync.OnceValue(func() error {
		if !drain {
			cancel()
		}
		defer cancel()
		return <-ended
	})
	h.t.Cleanup(func() { cancel(); _ = stop() })
	return stop
}

// A file is none of what workers share, and none is made.
func TestWorkersShareNoFile(t *testing.T) {
	for _, db := range []string{"results.db", "host=127.0.0.1 password=hunter2"} {
		_, err := NewWorkers(t.TempDir(), Settings{DB: db})
		require.ErrorContains(t, err,
			"is no PostgreSQL, which workers share: expected a URL like postgres://")
		require.NotContains(t, err.Error(), "hunter2")
	}
}

// runs gives the runs in the database.
func runs(t *testing.T, dsn string) []store.Run {
	st, err := store.OpenReadOnly(context.Background(), dsn)
	require.NoError(t, err)
	defer st.Close()
	rs, err := st.Runs(context.Background())
	require.NoError(t, err)
	return rs
}

// TestBenchWithWorkers: the same suite with workers, without them, after assay
// enqueue, and when those that took the work are gone.
func TestBenchWithWorkers(t *testing.T) {
	h := newHouse(t)
	h.corpus(2)
	dsn := h.postgres()
	url, requests := server(t, http.StatusOK)
	t.Setenv("ASSAY_BASE_URL", url)
	args := []string{"-model", "some/model", "-budget", "none"}
	const all = 12
	bench := func(more ...string) *fake {
		f := play(t, "TestBench", h.suite(append(args, more...)...).Bench)
		require.Empty(t, f.complaints())
		return f
	}

	// Without workers this process does it, and makes no tables for them.
	bench()
	require.Len(t, requests(), all)
	require.Len(t, runs(t, dsn), 1)
	s, err := NewWorkers(h.dir, Settings{Models: []string{"some/model"},
		Budget: math.Inf(1), Reuse: true})
	require.NoError(t, err)
	var out strings.Builder

	// A worker does it.
	stop := h.worker(0, false)
	f := bench()
	require.Len(t, requests(), 2*all)
	require.NotNil(t, f.leaf("TestBench/some~model/evaluation-prompt/shop/q00-01-good"))
	rs := runs(t, dsn)
	require.Len(t, rs, 2)
	require.Equal(t, "finished", rs[0].State)
	require.Equal(t, all, rs[0].Planned)
	require.Contains(t, rs[0].Command, "go test -run Bench")
	require.NoError(t, stop())

	// It was enqueued, a worker came and went: all is answered.
	s.env.cfg.Reuse, s.env.cfg.Trials = false, 2
	budget, err := ParseBudget("none")
	require.NoError(t, err)
	s.env.cfg.Budget = budget
	id, err := s.Enqueue(context.Background(), &out)
	require.NoError(t, err)
	require.Contains(t, out.String(), "24 trials enqueued")
	again, err := s.Enqueue(context.Background(), &out)
	require.NoError(t, err)
	require.Equal(t, id, again, "nothing is enqueued twice")
	require.NoError(t, h.worker(0, true)())
	require.Len(t, requests(), 4*all)

	// It was enqueued and stopped: a worker skips it, and the same plan continues it.
	s.env.cfg.Trials = 3
	id, err = s.Enqueue(context.Background(), &out)
	require.NoError(t, err)
	require.NoError(t, s.Stop(context.Background(), id))
	require.NoError(t, h.worker(0, true)())
	require.Len(t, requests(), 4*all)
	require.Equal(t, 36, runs(t, dsn)[0].Outcomes[audit.OutcomeSkipped])
	require.Equal(t, "assay enqueue --model=some/model --trials=3 --budget=none --concurrency=1",
		runs(t, dsn)[0].Command)
	require.ErrorContains(t, s.Stop(context.Background(), id), "is under way")

	// It was enqueued, and no worker came: the process that waits does it.
	id, err = s.Enqueue(context.Background(), &out)
	require.NoError(t, err)
	bench("-trials", "3")
	require.Len(t, requests(), 7*all)
	rs = runs(t, dsn)
	require.Equal(t, id, rs[0].ID, "the run that was enqueued, and no other")
	require.Equal(t, "finished", rs[0].State)
}

// TestAuditsWithWorkers: live audits are done by workers, each trial in an export
// of its own, and judged as if they had been done here.
func TestAuditsWithWorkers(t *testing.T) {
	h := newHouse(t)
	h.repository(20)
	h.corpus(1)
	dsn := h.postgres()
	p, err := fixture.ReadProject(os.DirFS(h.dir), "fixtures/projects/demo.md")
	require.NoError(t, err)
	h.agents(p.Vulnerabilities, "steady: -envelope claude -in 1000 -out 50 -usd 0.25", "broken: -truncate",
		"writes: -write f00.java,new.java")
	stop := h.worker(2, false)
	f := play(t, "TestRegression", h.suite("-auditor", "steady,broken,writes",
		"-trials", "3").Regression)
	require.Equal(t, "PASS", f.attrs["verdict:steady/demo"], f.complaints())
	require.Equal(t, "INVALID", f.attrs["verdict:broken/demo"])
	require.Equal(t, "PASS", f.attrs["verdict:writes/demo"], f.complaints())
	rs, err := record.ReadAll(h.path("records"))
	require.NoError(t, err)
	require.Len(t, rs, 3)
	for _, r := range rs {
		require.Len(t, r.Trials, 3)
		if r.Auditor == "steady" {
			require.Contains(t, r.Text(), "Recall:    100% (baseline: none)  [PASS]")
			require.Contains(t, r.Text(), "1000 tokens read and 50 written, 3 turns, 0.25 USD")
		}
	}
	made := runs(t, dsn)
	require.Len(t, made, 1)
	require.Equal(t, "Regression", made[0].Suite)
	require.Equal(t, map[audit.Outcome]int{"correct": 6, "malformed": 3, "wrong": 0, "refused": 0,
		"errored": 0, "skipped": 0}, made[0].Outcomes)
	require.InDelta(t, 0.75, made[0].Usage.USD, 1e-9, "one ledger: the plan's")
	play(t, "TestRegression", h.suite("-auditor", "steady", "-trials", "3").Regression)
	require.Equal(t, 0, runs(t, dsn)[0].Reused, "a complete run is made again")
	play(t, "TestRegression", h.suite("-auditor", "steady", "-trials", "3", "-reuse").Regression)
	require.Equal(t, 3, runs(t, dsn)[0].Reused, "the results of workers are stored like the rest")
	require.NoError(t, stop())

	// A worker with another auditor under the name refuses, and leaves; nobody waits
	// for a deadline then.
	other := newHouse(t)
	mirror := os.Getenv("ASSAY_MIRROR")
	other.repository(20)
	other.corpus(1)
	t.Setenv("ASSAY_MIRROR", mirror)
	t.Setenv("ASSAY_DB", dsn)
	other.agents(p.Vulnerabilities, "steady: -find 3")
	refuses := other.worker(1, false)
	s := h.suite("-auditor", "steady")
	f = play(t, "TestRegression", s.Regression)
	require.ErrorContains(t, refuses(), "is another audit here")
	require.Equal(t, "PASS", f.attrs["verdict:steady/demo"], f.complaints())
	require.Contains(t, strings.Join(s.summary.notes, "\n"),
		"steady on demo: no worker for audits was left, and this process did their work")
}

// TestARunIsCarriedOnWhereItBegan: the command names its folder, and a shell takes each
// flag as one word.
func TestARunIsCarriedOnWhereItBegan(t *testing.T) {
	c := Settings{Root: "/my tests", Filter: "shop/*", Trials: 2, Budget: 5, Concurrency: 8}
	require.Equal(t,
		"assay enqueue '--root=/my tests' '--filter=shop/*' --trials=2 --budget=5 --concurrency=8",
		c.enqueueCommand())
}
