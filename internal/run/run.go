package run

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"assay/audit"
	"assay/internal/store"
)

// ErrAccounting says that a run's outcomes do not sum up to what was planned. It
// is a defect of this package and never a provider's.
var ErrAccounting = errors.New("run: the outcomes do not sum up to what was planned")

// A Run is a plan being carried out.
type Run struct {
	ID   string
	plan *Plan
	done chan struct{}

	mu      sync.Mutex
	slots   map[string]*slot // by key, once anybody waits or anything is there; no map when results are discarded
	summary Summary
	err     error
}

// A slot is where the result of one item is waited for.
type slot struct {
	ready  chan struct{}
	result Result
}

// A Summary is what became of a run.
type Summary struct {
	Run    store.Run // as it stands in the store
	State  State     // the last one
	Unsure float64   // part of State.Spent that was charged for tries whose cost nobody knows, USD
	Over   float64   // by how much tries cost more than their stated most, USD
	// Stops are the reasons why items were skipped, one line each, in the order in
	// which they came up; empty when all were asked.
	Stops []string
	// Unstored are the keys whose outcome is not in the store.
	Unstored []string
}

// Unanswered gives the share of the planned items that have no answer, 0 to 1.
func (s *Summary) Unanswered() float64 {
	if s.State.Planned == 0 {
		return 1
	}
	answered := s.State.Outcome(audit.OutcomeCorrect) + s.State.Outcome(audit.OutcomeWrong)
	return 1 - float64(answered)/float64(s.State.Planned)
}

// Start records the run and carries it out in the background until everything
// has its outcome or ctx ends. When ctx ends, nothing more is sent, tries in
// flight get Config.Grace to come to an end, and the rest is skipped.
func (p *Plan) Start(ctx context.Context) (*Run, error) {
	c := p.config
	var err error
	if c.Run, err = p.Record(ctx); err != nil {
		return nil, err
	}
	r := &Run{ID: c.Run.ID, plan: p, done: make(chan struct{})}
	if c.Discard {
		p.digests = nil
	} else {
		r.slots = map[string]*slot{}
	}
	e := newEngine(p, c, r)
	go func() {
		defer close(r.done)
		e.run(ctx)
	}()
	return r, nil
}

// Wait gives the result of the item with this key as soon as it is there. It
// ends with an error when ctx ends first, when the plan has no such item, and
// when results are discarded.
func (r *Run) Wait(ctx context.Context, key string) (Result, error) {
	s := r.slot(key, r.plan.planned)
	if s == nil {
		return Result{}, fmt.Errorf("run: no item with key %.12s is planned, or results are discarded", key)
	}
	select {
	case <-s.ready:
		return s.result, nil
	default:
	}
	select {
	case <-s.ready:
		return s.result, nil
	case <-r.done:
		select {
		case <-s.ready:
			return s.result, nil
		default:
			return Result{}, fmt.Errorf("%w: the run ended without item %.12s", ErrAccounting, key)
		}
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	}
}

// Done is closed when the run has ended.
func (r *Run) Done() <-chan struct{} { return r.done }

// Finish waits for the end of the run and gives its summary. The error is
// ErrAccounting, or says that the store could not be written.
func (r *Run) Finish() (Summary, error) {
	<-r.done
	return r.summary, r.err
}

// deliver hands a result to whoever waits for it.
func (r *Run) deliver(res Result) {
	if s := r.slot(res.Key, func(string) bool { return true }); s != nil {
		s.result = res
		close(s.ready)
	}
}

// slot gives the slot of a key, nil where there is none. It is made where planned says so.
func (r *Run) slot(key string, planned func(string) bool) *slot {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.slots[key]
	if s == nil && r.slots != nil && planned(key) {
		s = &slot{ready: make(chan struct{})}
		r.slots[key] = s
	}
	return s
}
