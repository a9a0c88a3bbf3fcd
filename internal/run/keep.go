package run

import (
	"context"
	"fmt"
	"time"

	"assay/audit"
	"assay/internal/store"

	"github.com/cenkalti/backoff/v5"
)

// keep completes a job's evaluation, stores it, and reports back.
func (e *engine) keep(l *lane, j *job) {
	ev := row(e.config.Run.ID, j.item, j.last.Evaluation, j.tries, j.attempts)
	res := Result{Key: j.item.Key, Outcome: ev.Outcome, Evaluation: ev, Value: j.last.Value}
	save := e.store
	if j.item.Keep != nil {
		save = j.item.Keep
	}
	// Short waits: a lock goes away at any moment, and the place is held meanwhile.
	waits := newBackOff(50*time.Millisecond, 2*time.Second)
	// What is stored was paid for: it is stored although the run was stopped.
	_, res.Err = backoff.Retry(context.Background(), func() (struct{}, error) {
		return struct{}{}, save(context.Background(), res)
	}, backoff.WithBackOff(waits), backoff.WithMaxElapsedTime(e.config.StoreWait))
	e.ended <- ending{lane: l, job: j, stored: true, result: res}
}

// row completes an evaluation by what its item and all its attempts say.
func row(run string, it *Item, ev store.Evaluation, tries int, attempts []audit.Attempt) store.Evaluation {
	ev.Run, ev.Trial, ev.Tries, ev.Attempts = run, it.Key, tries, attempts
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

func (e *engine) store(ctx context.Context, res Result) error {
	if err := e.config.Store.Put(ctx, res.Evaluation); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return nil
}
