package run

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"assay/audit"
)

// A queue is the work of one provider.
type queue struct {
	provider string
	limiter  RateLimiter
	items    Jobs
	queue    []int32      // numbers of those that were not begun, in order
	next     *queuedJob   // the first of them, when it was looked at
	delayed  []*queuedJob // to be tried again, by when they may be
	stopped  string       // why nothing more is sent to it
}

type queuedJob struct {
	item     *Job
	queue    *queue
	tries    int
	attempts []audit.Attempt
	last     AttemptResult
	at       time.Time // when it may be tried again
	lease    Lease     // of the attempt under way
	begun    time.Time // when that began
	given    bool      // up: the attempt under way did not end when it was told to
	err      error     // why its outcome could not be stored
}

// result returns the result of a job.
func (j *queuedJob) result() JobResult {
	ev := j.last.Evaluation
	return JobResult{Key: j.item.Key, Outcome: ev.Outcome, Evaluation: ev, Value: j.last.Value}
}

// first returns the next job, nil if there is none: one that waits for another attempt before
// one that was never begun. One that waits is passed over until it is due, unless early is set.
func (l *queue) first(now time.Time, early bool) *queuedJob {
	if len(l.delayed) > 0 && (early || !now.Before(l.delayed[0].at)) {
		return l.delayed[0]
	}
	if l.next == nil && len(l.queue) > 0 {
		it := l.items.At(int(l.queue[0]))
		l.next, l.queue = &queuedJob{item: &it, queue: l}, l.queue[1:]
	}
	return l.next
}

// pop takes a job that first returned out of the queue.
func (l *queue) pop(j *queuedJob) {
	if l.next == j {
		l.next = nil
		return
	}
	l.delayed = l.delayed[1:]
}

// delay has a job wait until a time.
func (l *queue) delay(j *queuedJob, until time.Time) {
	j.at = until
	after, _ := slices.BinarySearchFunc(l.delayed, until, func(other *queuedJob, t time.Time) int {
		return cmp.Or(other.at.Compare(t), -1) // of two that are due together the first comes first
	})
	l.delayed = slices.Insert(l.delayed, after, j)
}

const lastCeiling = time.Minute // where that of the waits stops doubling

// delay returns how long a job waits after attempt t, the tries-th. One that the provider
// refused as one too many is due at once when that happens the first time, since the
// rate limiter holds it back, and when the provider says else when it says so. Others wait a
// share of chance of a ceiling that doubles, and at least what the provider asks.
func (c *Config) delay(t *AttemptResult, tries int) time.Duration {
	asked := t.last().RetryAfter
	if t.throttled() {
		if tries--; tries == 0 {
			return asked
		}
	}
	d := jitter(c.FirstWait, max(c.FirstWait, lastCeiling), tries)
	if asked > 0 {
		return asked + min(d, c.FirstWait)
	}
	return d
}

// jitter returns the nth wait: uniform between 0 and a ceiling that doubles from first
// to last. Full jitter spreads a crowd of clients best (M. Brooker, "Exponential
// Backoff And Jitter", AWS Architecture Blog, 2015).
func jitter(first, last time.Duration, n int) time.Duration {
	ceiling := first
	for ; n > 1 && ceiling < last; n-- {
		ceiling *= 2
	}
	return rand.N(min(ceiling, last) + 1)
}
