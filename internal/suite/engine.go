package suite

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/run"
	"assay/internal/store"
)

// An engine carries out the trials of one run of a suite: leaves register theirs and call
// t.Parallel, begin sends what was planned, and the leaves wait for it.
type engine struct {
	suite   *Suite
	env     *env
	name    string        // of the suite
	before  string        // settings and server, in front of commands that are told
	started chan struct{} // closed when running is set, or failed
	running running       // here, or with workers elsewhere
	failed  error
	closers []func() // what the run holds: released last first, after the judgement
}

type running interface {
	Wait(ctx context.Context, key string) (run.Result, error)
	Finish() (run.Summary, error)
}

// benchSeed is no setting: two runs that are compared send their trials in the same order.
const benchSeed = 20261121

var errEstimate = errors.New("-budget 0 asks for the estimate alone")

func newEngine(s *Suite, e *env, name string) engine {
	return engine{suite: s, env: e, name: name, started: make(chan struct{})}
}

func (g *engine) begin(t T, start func() error) {
	defer close(g.started)
	if g.failed = start(); g.failed != nil && !errors.Is(g.failed, errEstimate) {
		t.Errorf("%s: %v", audit.Invalid, g.failed)
	}
}

// open opens the results until the run is closed; command is what carries it on.
func (g *engine) open(ctx context.Context, t T) (st store.Store, command string, err error) {
	if st, err = store.Open(ctx, g.suite.db(g.env)); err != nil {
		return nil, "", err
	}
	g.closing(t, st.Close)
	g.before, command, err = g.suite.resume(g.env, g.name)
	return st, command, err
}

// prepare takes in c what the plan needs beside the flags; the run ends so long before go
// test's own time is up as margin says.
func (g *engine) prepare(t T, margin time.Duration, c run.Config, items func(context.Context, store.Store) (run.Items, error)) (context.Context, *run.Plan, error) {
	ctx, stop := untilStopped(t, margin)
	g.closers = append(g.closers, stop)
	st, command, err := g.open(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	all, err := items(ctx, st)
	if err != nil {
		return nil, nil, err
	}
	cfg := &g.env.cfg
	c.Store, c.Budget, c.Seed, c.Force, c.Run.ScoreVersion, c.Run.Command = st, cfg.Budget, benchSeed, cfg.Force, score.Version, command
	c.Progress = g.suite.progress.event
	plan, err := run.Prepare(ctx, c, all)
	if err != nil {
		return nil, nil, err
	}
	g.suite.progress.plan(plan.Estimate)
	if plan.Estimate.Most > 0 {
		t.Logf("%s", plan.Estimate)
	}
	if cfg.Budget == 0 {
		g.suite.summary.note("estimate: %s", plan.Estimate)
		return nil, nil, errEstimate
	}
	return ctx, plan, nil
}

func (g *engine) await(t T) {
	t.Helper()
	<-g.started
	if g.running == nil {
		t.Skipf("not asked: %v", g.failed)
	}
}

func (g *engine) tellStopped(sum *run.Summary, skipped string) {
	for _, why := range sum.Stops {
		g.suite.summary.note("%s: %s", g.name, why)
	}
	if n := sum.State.Outcome(audit.OutcomeSkipped); n > 0 {
		g.suite.summary.note("%s: %d of %d %s", g.name, n, sum.State.Planned, skipped)
		g.suite.summary.do("to carry on", sum.Run.Command)
	}
}

// closing has what is held closed with the run, after what is opened later.
func (g *engine) closing(t T, held func() error) {
	g.closers = append(g.closers, func() {
		if err := held(); err != nil {
			t.Errorf("%v", err)
		}
	})
}

// send starts a plan in this process.
func (g *engine) send(ctx context.Context, plan *run.Plan) error {
	r, err := plan.Start(ctx)
	if err == nil { // else it were an interface that holds nil, and none that is nil
		g.running = r
	}
	return err
}

func (g *engine) close() {
	for _, c := range slices.Backward(g.closers) {
		c()
	}
}

// untilStopped ends with the first interrupt, after which a second one ends the process at
// once, and so long before go test's own time is up.
func untilStopped(t T, margin time.Duration) (context.Context, func()) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	at, ok := t.Deadline()
	if !ok {
		return ctx, stop
	}
	limited, cancel := context.WithDeadlineCause(ctx, at.Add(-margin), errors.New("the tests' own time is nearly up (-timeout)"))
	return limited, func() { cancel(); stop() }
}
