package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"assay/audit"
	"assay/internal/store"
)

// ErrAccounting says that a run's outcomes do not sum up to what was planned. It
// is a defect of this package and never a provider's.
var ErrAccounting = errors.New("run: the outcomes do not sum up to what was planned")

// An Execution is a plan being carried out.
type Execution struct {
	*PendingResults

	summary Summary
	err     error
}

// A Summary is what became of a run.
type Summary struct {
	Run    store.Run // as it stands in the store
	State  State     // the last one
	Unsure float64   // part of State.Spent that was charged for attempts whose cost nobody knows, USD
	Over   float64   // by how much attempts cost more than their stated most, USD
	// Stops are the reasons why jobs were skipped, one line each, in the order in
	// which they came up; empty when all were asked.
	Stops    []string
	Unstored []string // keys whose outcome is not in the store
}

// Unanswered returns the share of the planned jobs that have no answer, 0 to 1.
func (s *Summary) Unanswered() float64 {
	if s.State.Planned == 0 {
		return 1
	}
	answered := s.State.Outcome(audit.OutcomeCorrect) + s.State.Outcome(audit.OutcomeWrong)
	return 1 - float64(answered)/float64(s.State.Planned)
}

// Start records the run and carries it out in the background until everything
// has its outcome or ctx ends. When ctx ends, nothing more is sent, attempts in
// flight get Config.Grace to come to an end, and the rest is skipped.
func (p *Plan) Start(ctx context.Context) (*Execution, error) {
	c := p.Config
	var err error
	if c.Run, err = p.Record(ctx); err != nil {
		return nil, err
	}
	r := &Execution{PendingResults: p.Results()}
	if c.Discard {
		p.digests = nil
	}
	e := &engine{plan: p, config: c, out: r, ended: make(chan ending), over: make(chan struct{}),
		hands: make(chan func() ending), flying: map[*queuedJob]bool{},
		budget: Budget{Limit: c.Budget, Spent: p.spent}, stopped: map[string]string{},
		usage: audit.Usage{Priced: true}, began: time.Now()}
	e.state = State{Planned: p.items.Count, Earlier: p.spent}
	e.left, e.leftMost = p.Estimate.Expected, p.Estimate.Most
	for at, name := range p.providers {
		asked := slices.DeleteFunc(slices.Clone(p.ask),
			func(i int32) bool { return int(p.provider[i]) != at })
		e.queues = append(e.queues, &queue{provider: name,
			limiter: RateLimiter{Max: c.Concurrency}, items: p.items, queue: asked})
	}
	go func() {
		e.run(ctx)
		r.End(ErrAccounting)
	}()
	return r, nil
}

// Finish waits for the end of the run and returns its summary. The error is ErrAccounting, or
// says that the store could not be written.
func (r *Execution) Finish() (Summary, error) {
	<-r.done
	return r.summary, r.err
}

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
		errs = append(errs, fmt.Errorf("%w: planned %d, outcomes %d, done %d", ErrAccounting,
			e.plan.items.Count, sum, e.state.Done))
	}
	s := Summary{Run: r, Unsure: e.budget.Unsure, Over: e.budget.Over, Stops: e.stops}
	for _, u := range e.unstored {
		s.Unstored = append(s.Unstored, u.item.Key)
		errs = append(errs, u.err)
	}
	if err := e.insist(func(ctx context.Context) error {
		return e.config.Store.Finish(ctx,
			r)
	}); err != nil {
		errs = append(errs, fmt.Errorf("run: %w", err))
	}
	e.tell(Event{Kind: Ended})
	s.State = e.state
	e.out.summary, e.out.err = s, errors.Join(errs...)
}
