package river

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"assay/audit"
	"assay/internal/run"
	"assay/internal/store"
)

const look = 300 * time.Millisecond // from one look at a run to the next

// An Execution is a plan that workers carry out, seen from where its results are waited
// for.
type Execution struct {
	ID string
	// Joined says that workers were about the very same plan already.
	Joined bool

	*run.PendingResults

	db       *DB
	plan     *run.Plan
	deserted chan struct{}
	items    map[string]*run.Job

	// What follows belongs to the goroutine that watches, until it is done.
	state   run.State
	began   time.Time
	done    time.Time     // when the last trial got its outcome, or the work began
	moved   time.Time     // when an attempt last began or ended
	notice  time.Time     // when the run says that no trial gets an outcome
	longest time.Duration // of one attempt, where that is known of each
	last    int64         // the largest ID of a row that was seen
	left    float64
	account account
	stops   []string
	summary run.Summary
	err     error
}

// An account is the row of a run.
type account struct {
	budget               run.Budget
	outstanding, retries int64
	missing              int64 // of those planned: its enqueueing was cut off
}

// follow watches a run until everything has its outcome. When ctx ends, nothing
// more is begun, attempts in flight get the plan's grace, and the rest is skipped.
func (db *DB) follow(ctx context.Context, plan *run.Plan, id string, joined bool) *Execution {
	items := plan.Items()
	r := &Execution{ID: id, Joined: joined, PendingResults: plan.Results(), db: db, plan: plan,
		deserted: make(chan struct{}), began: time.Now(),
		items: make(map[string]*run.Job, items.Count)}
	r.done, r.moved, r.notice = r.began, r.began, r.began.Add(plan.Config.Stall)
	r.state.Planned = items.Count
	known := true
	for i := range items.Count {
		it := items.At(i)
		r.items[it.Key] = &it
		r.left += it.Cost.Expected
		r.longest, known = max(r.longest, it.Longest), known && it.Longest > 0
	}
	if !known {
		r.longest = 0
	}
	go func() {
		r.summary, r.err = r.watch(ctx)
		r.End(cmp.Or(r.err, run.ErrAccounting))
	}()
	return r
}

// Deserted is closed when no worker has shown itself for a while and there is
// still something to do.
func (r *Execution) Deserted() <-chan struct{} { return r.deserted }

// Finish waits for the end of the run and returns its summary. The error is run.ErrAccounting,
// or says that the database was unreachable for too long.
func (r *Execution) Finish() (run.Summary, error) {
	<-r.Done()
	return r.summary, r.err
}

// watch follows the run in the database until it ends.
func (r *Execution) watch(ctx context.Context) (run.Summary, error) {
	r.tell(run.Event{Kind: run.Began})
	c := r.plan.Config
	var seen time.Time // when a worker was last there
	good := time.Now()
	stop, grace := ctx.Done(), (<-chan time.Time)(nil)
	quiet := context.WithoutCancel(ctx)
	for {
		err := r.look(quiet)
		switch {
		case err == nil && r.account.outstanding <= 0:
			return r.end(quiet)
		case err != nil:
			seen = time.Now()
			if time.Since(good) > c.StoreWait {
				return run.Summary{State: r.state},
					fmt.Errorf("river: run %s goes on without us: the PostgreSQL cannot be reached: %w", r.ID, err)
			}
		default:
			good = time.Now()
			if r.db.deserted(quiet, &seen, 0) {
				r.desert()
			}
			r.announce(&c)
		}
		select {
		case <-time.After(look):
		case <-stop:
			stop = nil
			// What is in flight was paid for; and a PostgreSQL that is gone comes back, perhaps.
			if _, err := r.db.Stop(quiet, r.ID,
				"stopped: "+context.Cause(ctx).Error()); err != nil {
				return run.Summary{State: r.state}, err
			}
			grace = time.After(c.Grace + time.Duration(len(r.items))*time.Millisecond)
		case <-grace:
			return r.detach(quiet)
		}
	}
}

// Stop prevents further jobs of a run from starting: workers skip them. It returns the number
// of runs that it stopped, 0 or 1.
func (db *DB) Stop(ctx context.Context, id, why string) (stopped int64, err error) {
	stopped, err = db.exec(ctx,
		"UPDATE spread_runs SET stopped = $2 WHERE run_id = $1 AND ended IS NULL AND stopped = ''",
		id, why)
	if err != nil {
		err = fmt.Errorf("stopping run %s: %w", id, err)
	}
	return stopped, err
}

// desert reports, once, that no worker is left.
func (r *Execution) desert() {
	select {
	case <-r.deserted:
	default:
		close(r.deserted)
		r.tell(run.Event{Kind: run.Stopping, Text: "no worker is there any more"})
	}
}

// look reads the account and the new results of the run.
func (r *Execution) look(ctx context.Context) error {
	var a account
	// First the account: what it counts is in the tables read after it.
	err := r.db.pool.QueryRow(ctx,
		"SELECT account, outstanding, retries, missing FROM spread_runs WHERE run_id = $1", r.ID).
		Scan(&a.budget, &a.outstanding, &a.retries, &a.missing)
	if err != nil {
		return err
	}
	if a.outstanding != r.account.outstanding || a.retries != r.account.retries ||
		a.budget.Out != r.account.budget.Out {
		r.moved = time.Now()
	}
	r.account = a
	r.state.Retries, r.state.InFlight = int(a.retries), a.budget.Out
	for ev, err := range r.db.Store.Evaluations(ctx, store.Query{Run: r.ID, After: r.last}) {
		if err != nil {
			return err
		}
		r.deliver(ev.Trial, run.JobResult{Outcome: ev.Outcome, Evaluation: ev, Reused: ev.Run != r.ID})
		r.last = ev.ID
	}
	if err := r.skipped(ctx); err != nil {
		return err
	}
	return r.said(ctx)
}

// skipped reads the trials that were skipped.
func (r *Execution) skipped(ctx context.Context) error {
	var n int
	if err := r.db.pool.QueryRow(ctx, "SELECT count(*) FROM spread_skipped WHERE run_id = $1",
		r.ID).Scan(&n); err != nil {
		return err
	}
	if n == r.state.Outcome(audit.OutcomeSkipped) {
		return nil
	}
	var key, why string
	return r.db.each(ctx, []any{&key, &why}, func() error {
		r.skip(key, why)
		return nil
	}, "SELECT trial_key, why FROM spread_skipped WHERE run_id = $1", r.ID)
}

// said takes in why nothing more is sent.
func (r *Execution) said(ctx context.Context) error {
	stops, err := r.db.stops(ctx, r.ID)
	if err != nil {
		return err
	}
	for _, why := range stops[min(len(r.stops), len(stops)):] {
		r.tell(run.Event{Kind: run.Stopping, Text: why})
	}
	r.stops = stops
	return nil
}

// stops returns the reasons why trials of a run were skipped, in the order in which
// they came up.
func (db *DB) stops(ctx context.Context, id string) ([]string, error) {
	return column[string](ctx, db, `SELECT why FROM (SELECT why, at FROM spread_stops WHERE run_id = $1
		UNION ALL SELECT stopped, 'infinity' FROM spread_runs WHERE run_id = $1 AND stopped <> '') s ORDER BY at, why`, id)
}

// announce says what a run waits for in which no trial gets an outcome, and until when.
func (r *Execution) announce(c *run.Config) {
	now := time.Now()
	if now.Before(r.notice) {
		return
	}
	r.notice = now.Add(c.Stall / 4)
	r.tell(run.Event{Kind: run.Waiting, Text: run.Waits(now.Sub(r.done), r.state.InFlight,
		r.moved, r.longest, r.moved.Add(c.MaxWait))})
}

// deliver hands a result to whoever waits for it, once.
func (r *Execution) deliver(key string, res run.JobResult) {
	it := r.items[key]
	res.Key = key
	res.Evaluation.Reply, res.Evaluation.Attempts = "", nil
	if it == nil || !r.Deliver(res) {
		return
	}
	r.done = time.Now()
	r.notice = r.done.Add(r.plan.Config.Stall)
	r.state.Add(it.Expected, res.Outcome)
	r.left -= it.Cost.Expected
	if res.Reused {
		r.state.Reused++
	}
	r.tell(run.Event{Kind: run.Done})
}

// tell reports an event with the state of the run.
func (r *Execution) tell(ev run.Event) {
	r.state.Spent, r.state.Expected = r.account.budget.Spent, r.account.budget.Spent+max(0, r.left)
	r.state.Elapsed = time.Since(r.began)
	if f := r.plan.Config.Progress; f != nil {
		ev.State = r.state
		f(ev)
	}
}

// end takes in what was passed by: rows may become visible in another order than
// that of their numbers.
func (r *Execution) end(ctx context.Context) (run.Summary, error) {
	r.last = 0
	if err := r.look(ctx); err != nil {
		return run.Summary{State: r.state}, err
	}
	if r.account.missing > 0 {
		r.skipRest("it was never enqueued: the run was stopped before")
	}
	rec, err := r.db.finish(ctx, r.ID)
	return r.sum(ctx, rec, err)
}

// skip delivers a trial as skipped.
func (r *Execution) skip(key, why string) {
	if it := r.items[key]; it != nil {
		r.deliver(key, run.Skipped(it, why))
	}
}

// skipRest skips what has no result yet.
func (r *Execution) skipRest(why string) {
	for key := range r.items {
		r.skip(key, why)
	}
}

// detach ends the waiting, not the run: workers that are busy bring it to its end.
func (r *Execution) detach(ctx context.Context) (run.Summary, error) {
	r.skipRest("stopped, and no worker has said so yet")
	return r.sum(ctx, r.plan.Config.Run, nil)
}

// sum returns the summary of the run.
func (r *Execution) sum(ctx context.Context, rec store.Run, err error) (run.Summary, error) {
	if e := r.said(ctx); err == nil {
		err = e
	}
	r.tell(run.Event{Kind: run.Ended})
	s := run.Summary{Run: rec, State: r.state, Unsure: r.account.budget.Unsure,
		Over: r.account.budget.Over, Stops: r.stops}
	if r.state.Done != r.state.Planned && err == nil {
		err = fmt.Errorf("%w: planned %d, outcomes %d", run.ErrAccounting,
			r.state.Planned, r.state.Done)
	}
	return s, err
}
