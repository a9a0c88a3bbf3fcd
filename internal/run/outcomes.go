package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/audit"
	"assay/internal/store"
)

// gathering is how long an outcome waits for others to be stored with: a transaction of
// its own costs more than the trial did.
const gathering = 2 * time.Millisecond

// gather has the outcome of a job stored. The job keeps its place until then.
func (e *engine) gather(j *queuedJob) {
	j.queue.limiter.InFlight++
	if j.item.Keep != nil {
		e.hand(func() ending { return e.keep([]*queuedJob{j}) })
		return
	}
	if e.gathered = append(e.gathered, j); len(e.gathered) == 1 {
		e.due = time.After(gathering)
	}
}

// keepGathered stores what was gathered, when it has waited or nothing more can come,
// and what was stored before is.
func (e *engine) keepGathered() {
	if e.storing || len(e.gathered) == 0 || e.due != nil && len(e.flying) > 0 {
		return
	}
	all := e.gathered
	e.gathered, e.storing, e.due = nil, true, nil
	e.hand(func() ending { return e.keep(all) })
}

// keep completes evaluations and stores them. Those that cannot be stored
// together are stored one by one: a bad row does not take its neighbours with it.
func (e *engine) keep(all []*queuedJob) ending {
	evs := make([]store.Evaluation, len(all))
	for i, j := range all {
		j.last.Evaluation = j.item.Row(e.config.Run.ID, j.last.Evaluation, j.tries, j.attempts)
		evs[i] = j.last.Evaluation
	}
	if len(all) == 1 || e.store(context.Background(), evs...) != nil {
		var alone sync.WaitGroup
		for _, j := range all {
			alone.Go(func() {
				j.err = e.insist(func(ctx context.Context) error {
					if j.item.Keep != nil {
						return j.item.Keep(ctx, j.result())
					}
					return e.store(ctx, j.last.Evaluation)
				})
			})
		}
		alone.Wait()
	}
	return ending{kept: all}
}

// stored releases the places of stored jobs.
func (e *engine) stored(all []*queuedJob) {
	for _, j := range all {
		if j.item.Keep == nil {
			e.storing = false
		}
		e.state.InFlight--
		j.queue.limiter.InFlight--
		if j.err != nil {
			e.unstored = append(e.unstored, j)
			e.halt(fmt.Sprintf("results cannot be stored: %v", j.err))
		}
		e.finish(j.item, j.result())
	}
}

// fullDiskWait is the StoreWait of a disk that is full.
const fullDiskWait = 2 * time.Second

// insist writes, and tries again for StoreWait at most. What is written was paid
// for: it is written although the run was stopped. The waits are short: a lock
// goes away at any moment, and a place is held meanwhile.
func (e *engine) insist(write func(context.Context) error) error {
	begun, patience := time.Now(), e.config.StoreWait
	for n := 1; ; n++ {
		err := write(context.Background())
		if store.Full(err) { // which seldom passes, and what is asked meanwhile is lost
			patience = min(patience, fullDiskWait)
		}
		wait := jitter(50*time.Millisecond, 2*time.Second, n)
		if err == nil || errors.Is(err, store.ErrGone) || time.Since(begun)+wait > patience {
			return err
		}
		time.Sleep(wait)
	}
}

// Row returns the row of a job whose last attempt, the tries-th, gave ev, after all of
// these attempts.
func (it *Job) Row(run string, ev store.Evaluation, tries int,
	attempts []audit.Attempt) store.Evaluation {
	ev.Run, ev.Trial, ev.Tries, ev.Attempts = run, it.Key, tries, attempts
	if !slices.Contains(audit.Outcomes(), ev.Outcome) { // or the account would not add up
		ev.Detail = strings.TrimPrefix(ev.Detail+fmt.Sprintf("; defect: the outcome %q is none",
			ev.Outcome), "; ")
		ev.Outcome, ev.Status, ev.Actual = audit.OutcomeErrored, audit.Errored, string(audit.Errored)
	}
	if ev.Time.IsZero() {
		ev.Time = time.Now().UTC().Truncate(time.Millisecond)
	}
	ev.Usage = total(attempts)
	if n := len(attempts); n > 0 {
		last := attempts[n-1]
		ev.Latency, ev.Served, ev.Finish = last.Latency.Truncate(time.Millisecond), last.Model, last.FinishReason
	}
	return ev
}

// total sums up attempts. It is priced when everything that cost something is.
func total(attempts []audit.Attempt) audit.Usage {
	sum := audit.Usage{Priced: true}
	for _, a := range attempts {
		a.Usage.Priced = a.Usage.Priced || turnedDown(a)
		sum = sum.Add(a.Usage)
	}
	return sum
}

// store writes evaluations.
func (e *engine) store(ctx context.Context, evs ...store.Evaluation) error {
	if err := e.config.Store.Put(ctx, evs...); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return nil
}
