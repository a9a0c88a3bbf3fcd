package river

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"assay/audit"
	"assay/internal/run"
	"assay/internal/store"
)

const poisonous = 25 // workers that may die with a trial before it is given up

type trialWorker struct {
	river.WorkerDefaults[ReviewArgs]
	workers *workers
}

// Work makes one attempt of a trial.
func (w *trialWorker) Work(ctx context.Context, job *river.Job[ReviewArgs]) (err error) {
	c, t := w.workers, job.Args
	end := c.hold(job.ID)
	defer func() { end(err) }()
	it, err := c.rebuild(ctx, t)
	if err != nil {
		return err
	}
	e := &ending{job: job, item: &it}
	if job.Attempt > 1 || len(job.Metadata) > 2 { // it was begun before, or waited
		if done, err := c.before(ctx, t, e); done || err != nil {
			return err
		}
	}
	d, err := c.batcher(ctx, t.Run, it.Provider)
	if err != nil {
		return err
	}
	if job.Attempt > poisonous {
		e.row = poisoned(t.Run, &it, e)
		return d.settle(e)
	}
	p := d.permit(ctx, &it)
	switch e.lease = p.lease; {
	case p.later:
		return river.JobSnooze(0)
	case p.never != "":
		c.abandon(t.Run, &it, e, p.never)
		return d.settle(e)
	case it.Grant != nil && p.lease.Most > 0:
		it.Grant(p.lease.Most)
	}
	return w.try(ctx, d, e)
}

// try makes one attempt of a trial.
func (w *trialWorker) try(ctx context.Context, d *batcher, e *ending) error {
	it := e.item
	if it.Reasked != nil && slices.ContainsFunc(e.attempts, answered) {
		it.Reasked() // by another process than the one that read the reply
	}
	e.try = it.Attempt(ctx, e.lease.Most)
	e.attempts, e.last = append(e.attempts, e.try.Attempts...), e.try.Evaluation
	e.tries++
	next := d.config.DecideRetry(it, &e.try, e.tries)
	switch {
	case next.Stop != "" && next.Provider:
		e.stop = stop{"provider", it.Provider, next.Stop}
	case next.Stop != "":
		e.stop = stop{"reviewer", it.Reviewer, next.Stop}
	case ctx.Err() != nil:
		// The worker is made to leave: the trial is another's, and this attempt is charged.
		return errors.Join(d.settle(e), river.JobSnooze(0))
	case next.Again:
		if err := d.settle(e); err != nil {
			return err
		}
		return river.JobSnooze(next.Wait)
	}
	row := it.Row(d.run, e.try.Evaluation, e.tries, e.attempts)
	e.row = &row
	return d.settle(e)
}

// answered reports whether an attempt brought a reply, of a server or a program: that
// the trial goes on says that it was of no use.
func answered(a audit.Attempt) bool { return a.Error == "" }

// rebuild returns the task's work, or ends the worker where it cannot: the job goes
// to another one.
func (c *workers) rebuild(ctx context.Context, t ReviewArgs) (run.Job, error) {
	it, err := c.Rebuild(ctx, t)
	if err == nil && it.Key != t.Key {
		err = fmt.Errorf("%w: %s with %s is another trial here (%.12s, planned %.12s)", ErrOther,
			t.Case, t.Reviewer, it.Key, t.Key)
	}
	if err != nil {
		c.fail(fmt.Errorf(
			"run %s: %w: give every worker the commit, fixtures and environment of the plan, or stop the run: assay enqueue --stop %s", t.Run, err, t.Run))
		return it, errors.Join(err, river.JobSnooze(2*time.Second))
	}
	return it, nil
}

// before reads what earlier attempts gave, and whether one has ended the trial: its worker
// died before its job had ended, or was taken for dead.
func (c *workers) before(ctx context.Context, t ReviewArgs, e *ending) (done bool, err error) {
	var k kept
	err = c.db.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM evaluations WHERE run_id = $1 AND trial_key = $2)
		OR EXISTS (SELECT FROM spread_skipped WHERE run_id = $1 AND trial_key = $2)`, t.Run, t.Key).Scan(&done)
	if err != nil {
		return false, fmt.Errorf("river: %w", err)
	}
	err = c.db.pool.QueryRow(ctx,
		"SELECT tries, kept FROM spread_tries WHERE run_id = $1 AND trial_key = $2", t.Run,
		t.Key).Scan(&e.tries, &k)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return false, fmt.Errorf("river: %w", err)
	}
	e.attempts, e.last = k.Attempts, k.Last
	return done, nil
}

// abandon ends a trial that is not tried any more: skipped when it was never
// begun, else with what its attempts say.
func (c *workers) abandon(id string, it *run.Job, e *ending, why string) {
	if e.tries == 0 {
		e.skipped = why
		return
	}
	e.last.Detail += " (not tried again: " + why + ")"
	row := it.Row(id, e.last, e.tries, e.attempts)
	e.row = &row
}

// poisoned returns the row of a trial that is given up because workers died in the middle of
// it.
func poisoned(id string, it *run.Job, e *ending) *store.Evaluation {
	if e.tries == 0 {
		e.last = store.Evaluation{Model: it.Reviewer, Expected: it.Expected, Family: it.Family}
	}
	e.last.Actual, e.last.Outcome, e.last.Status = string(audit.Errored), audit.OutcomeErrored, audit.Errored
	e.last.Detail = fmt.Sprintf("given up: %d workers ended in the middle of it", e.job.Attempt-1)
	row := it.Row(id, e.last, e.tries, e.attempts)
	return &row
}
