package run

import (
	"container/heap"
	"time"

	"assay/audit"

	"github.com/cenkalti/backoff/v5"
)

// A queue is the work of one provider.
type queue struct {
	provider string
	pace     Pace
	items    Items
	queue    []int32 // numbers of those that were not begun, in order
	next     *job    // the first of them, when it was looked at
	delayed  delays  // to be tried again
	stopped  string  // why nothing more is sent to it
}

// A job is an item on its way.
type job struct {
	item     *Item
	queue    *queue
	tries    int
	attempts []audit.Attempt
	last     Try
	at       time.Time // when it may be tried again
	lease    Lease     // of the try under way
	given    bool      // up: the try under way did not end when it was told to
	err      error     // why its outcome could not be stored
}

// result gives what became of the item, once its last try is complete.
func (j *job) result() Result {
	ev := j.last.Evaluation
	return Result{Key: j.item.Key, Outcome: ev.Outcome, Evaluation: ev, Value: j.last.Value, Err: j.err}
}

// peek gives the job that is due: one that waited for another try before one
// that was never begun; nil when there is none.
func (l *queue) peek(now time.Time) *job {
	if len(l.delayed) > 0 && now.Before(l.delayed[0].at) {
		return l.fresh()
	}
	return l.first()
}

// first gives one that waits for another try, whether it is due or not, before one that
// was never begun; nil when there is none.
func (l *queue) first() *job {
	if len(l.delayed) > 0 {
		return l.delayed[0]
	}
	return l.fresh()
}

// fresh gives the first that was never begun. It is made when its turn has come.
func (l *queue) fresh() *job {
	if l.next == nil && len(l.queue) > 0 {
		it := l.items.At(int(l.queue[0]))
		l.next, l.queue = &job{item: &it, queue: l}, l.queue[1:]
	}
	return l.next
}

// pop takes a job that one of these gave.
func (l *queue) pop(j *job) {
	if l.next == j {
		l.next = nil
		return
	}
	heap.Pop(&l.delayed)
}

// lastCeiling is where the ceiling of the waits stops doubling.
const lastCeiling = time.Minute

// delay gives how long an item waits after try t, the tries-th. One that the provider
// refused as one too many is due at once when that happens the first time, since the
// pace holds it back, and when the provider says else when it says so. Others wait a
// share of chance of a ceiling that doubles, and at least what the provider asks.
func (c *Config) delay(t *Try, tries int) time.Duration {
	asked := t.last().RetryAfter
	if t.throttled() {
		if tries--; tries == 0 {
			return asked
		}
	}
	b := newBackOff(c.FirstWait, max(c.FirstWait, lastCeiling))
	d := b.NextBackOff()
	for range tries - 1 {
		d = b.NextBackOff()
	}
	if asked > 0 {
		return asked + min(d, c.FirstWait)
	}
	return d
}

// newBackOff gives the waits of one item: full jitter, that is uniform between 0
// and a ceiling that doubles. Full jitter spreads a crowd of clients best (M.
// Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015). A
// randomisation of 1 around half the ceiling is uniform from 0 to the ceiling.
func newBackOff(first, last time.Duration) *backoff.ExponentialBackOff {
	b := &backoff.ExponentialBackOff{InitialInterval: first / 2, RandomizationFactor: 1, Multiplier: 2, MaxInterval: last / 2}
	b.Reset()
	return b
}

func name(provider string) string {
	if provider == "" {
		return "this machine"
	}
	return provider
}

// delays is a heap of jobs by the time at which they may be tried again.
type delays []*job

func (d delays) Len() int           { return len(d) }
func (d delays) Less(i, k int) bool { return d[i].at.Before(d[k].at) }
func (d delays) Swap(i, k int)      { d[i], d[k] = d[k], d[i] }
func (d *delays) Push(j any)        { *d = append(*d, j.(*job)) }
func (d *delays) Pop() any {
	old := *d
	j := old[len(old)-1]
	*d = old[:len(old)-1]
	return j
}
