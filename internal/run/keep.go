package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/audit"
	"assay/internal/store"

	"github.com/cenkalti/backoff/v5"
)

// keep completes a job's evaluation, stores it, and reports back.
func (e *engine) keep(l *queue, j *job) {
	ev := row(e.config.Run.ID, j.item, j.last.Evaluation, j.tries, j.attempts)
	res := Result{Key: j.item.Key, Outcome: ev.Outcome, Evaluation: ev, Value: j.last.Value}
	res.Err = e.insist(func(ctx context.Context) error { return e.save(ctx, j.item, res) })
	e.report(ending{queue: l, job: j, stored: true, result: res})
}

// insist writes, and tries again for StoreWait at most. What is written was paid
// for: it is written although the run was stopped. The waits are short: a lock
// goes away at any moment, and a place is held meanwhile.
func (e *engine) insist(write func(context.Context) error) error {
	_, err := backoff.Retry(context.Background(), func() (struct{}, error) {
		err := write(context.Background())
		if errors.Is(err, store.ErrHeld) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(newBackOff(50*time.Millisecond, 2*time.Second)), backoff.WithMaxElapsedTime(e.config.StoreWait))
	return err
}

// save stores a result where its item keeps it.
func (e *engine) save(ctx context.Context, it *Item, res Result) error {
	if it.Keep != nil {
		return it.Keep(ctx, res)
	}
	return e.store(ctx, res.Evaluation)
}

// An unstored result is one that could not be stored when it came.
type unstored struct {
	item   *Item
	result Result
}

// storeRest tries the unstored results once more, together and then one by one:
// the disk may have room again. What still is not stored is in the summary.
func (e *engine) storeRest(s *Summary) error {
	var evs []store.Evaluation
	for _, u := range e.unstored {
		if u.item.Keep == nil {
			evs = append(evs, u.result.Evaluation)
		}
	}
	together := len(evs) > 0 && e.store(context.Background(), evs...) == nil
	var errs []error
	end := time.Now().Add(e.config.StoreWait)
	for _, u := range e.unstored {
		if together && u.item.Keep == nil {
			continue
		}
		err := u.result.Err
		if time.Now().Before(end) { // each may wait for a lock as long as the database lets it
			err = e.save(context.Background(), u.item, u.result)
		}
		if err != nil {
			s.Unstored = append(s.Unstored, u.result.Key)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// row completes an evaluation by what its item and all its attempts say.
func row(run string, it *Item, ev store.Evaluation, tries int, attempts []audit.Attempt) store.Evaluation {
	ev.Run, ev.Trial, ev.Tries, ev.Attempts = run, it.Key, tries, attempts
	if !slices.Contains(audit.Outcomes(), ev.Outcome) { // or the account would not add up
		ev.Detail = strings.TrimPrefix(ev.Detail+fmt.Sprintf("; defect: the outcome %q is none", ev.Outcome), "; ")
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

func (e *engine) store(ctx context.Context, evs ...store.Evaluation) error {
	if err := e.config.Store.Put(ctx, evs...); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return nil
}
