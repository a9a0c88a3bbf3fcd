package run

import (
	"context"
	"fmt"
	"sync"
)

// PendingResults are where the results of a plan's jobs are waited for.
type PendingResults struct {
	planned func(key string) bool
	done    chan struct{}
	why     error // why a job has no result in the end

	mu sync.Mutex
	// by key, once anybody waits or anything is there; no map when results are discarded
	slots map[string]*slot
}

type slot struct {
	ready  chan struct{}
	full   bool
	result JobResult
}

// Results returns an empty PendingResults for the plan's jobs.
func (p *Plan) Results() *PendingResults {
	r := &PendingResults{planned: p.planned, done: make(chan struct{})}
	if !p.Config.Discard {
		r.slots = map[string]*slot{}
	}
	return r
}

// Wait returns the result of the job with this key as soon as it is there. It
// ends with an error when ctx ends first, when the plan has no such job, when the run
// ends without it, and when results are discarded.
func (r *PendingResults) Wait(ctx context.Context, key string) (JobResult, error) {
	r.mu.Lock()
	s := r.slots[key]
	if s == nil && r.slots != nil && r.planned(key) {
		s = r.slot(key)
	}
	r.mu.Unlock()
	if s == nil {
		return JobResult{},
			fmt.Errorf("run: no item with key %.12s is planned, or results are discarded", key)
	}
	select {
	case <-s.ready:
	case <-r.done:
	case <-ctx.Done():
	}
	select {
	case <-s.ready: // whatever else has come about
		return s.result, nil
	default:
	}
	if ctx.Err() != nil {
		return JobResult{}, context.Cause(ctx)
	}
	return JobResult{}, fmt.Errorf("run: the run ended without item %.12s: %w", key, r.why)
}

// Deliver hands a planned job's result to whoever waits for it, and reports whether it
// was the first: others are dropped.
func (r *PendingResults) Deliver(res JobResult) (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.slots == nil {
		return true
	}
	s := r.slot(res.Key)
	if s.full {
		return false
	}
	s.result, s.full = res, true
	close(s.ready)
	return true
}

// slot returns the slot of a key. The caller holds mu.
func (r *PendingResults) slot(key string) *slot {
	s := r.slots[key]
	if s == nil {
		s = &slot{ready: make(chan struct{})}
		r.slots[key] = s
	}
	return s
}

// End says that no more results come, and why those that did not come never will.
func (r *PendingResults) End(why error) {
	r.why = why
	close(r.done)
}

// Done is closed when no more results come.
func (r *PendingResults) Done() <-chan struct{} { return r.done }
