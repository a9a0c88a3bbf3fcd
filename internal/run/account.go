package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/audit"
)

// close records the end of the run and checks the account.
func (e *engine) close() {
	r := e.config.Run
	r.Ended = time.Now().UTC().Truncate(time.Millisecond)
	r.State = "finished"
	if len(e.stops) > 0 {
		r.State = e.stops[0]
	}
	r.Usage = e.usage
	r.Outcomes = map[audit.Outcome]int{}
	sum := 0
	for _, o := range audit.Outcomes() {
		r.Outcomes[o] = e.state.Outcome(o)
		sum += r.Outcomes[o]
	}
	var errs []error
	if sum != e.plan.items.Count || e.state.Done != sum {
		errs = append(errs, fmt.Errorf("%w: planned %d, outcomes %d, done %d", ErrAccounting, e.plan.items.Count, sum, e.state.Done))
	}
	s := Summary{Run: r, Unsure: e.budget.Unsure, Over: e.budget.Over, Stops: e.stops}
	for _, u := range e.unstored {
		s.Unstored = append(s.Unstored, u.item.Key)
		errs = append(errs, u.err)
	}
	if err := e.insist(func(ctx context.Context) error { return e.config.Store.Finish(ctx, r) }); err != nil {
		errs = append(errs, fmt.Errorf("run: %w", err))
	}
	e.tell(Event{Kind: Ended})
	s.State = e.state
	e.out.summary, e.out.err = s, errors.Join(errs...)
}
