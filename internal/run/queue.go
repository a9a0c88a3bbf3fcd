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
	pace     *pace
	queue    []*job // not begun, in order
	delayed  delays // to be tried again
	stopped  string // why nothing more is sent to it
}

// A job is an item on its way.
type job struct {
	item     *Item
	tries    int
	attempts []audit.Attempt
	last     Try
	backOff  *backoff.ExponentialBackOff // nil before the first wait
	at       time.Time                   // when it may be tried again
	number   uint64                      // of the try under way, in its pace
	reserved float64                     // for the try under way, USD
	given    bool                        // up: the try under way did not end when it was told to
}

// peek gives the job that is due: one that waited for another try before one
// that was never begun; nil when there is none.
func (l *queue) peek(now time.Time) *job {
	switch {
	case len(l.delayed) > 0 && !now.Before(l.delayed[0].at):
		return l.delayed[0]
	case len(l.queue) > 0:
		return l.queue[0]
	}
	return nil
}

// pop takes the job that peek gave.
func (l *queue) pop(j *job) {
	if len(l.delayed) > 0 && l.delayed[0] == j {
		heap.Pop(&l.delayed)
		return
	}
	l.queue[0] = nil // let go of what is done
	l.queue = l.queue[1:]
}

// wake gives when something of this queue becomes due by time alone.
func (l *queue) wake(now time.Time) (t time.Time) {
	if len(l.queue) == 0 && len(l.delayed) == 0 {
		return t
	}
	if now.Before(l.pace.until) {
		t = l.pace.until
	} else if len(l.delayed) > 0 && l.pace.inFlight < int(l.pace.limit) {
		t = l.delayed[0].at
	}
	return t
}

// delay is how long a job waits for its next try: at least as long as the server
// asks, and a share of chance, so that those who were turned away together do
// not come back together.
func (j *job) delay(asked, first time.Duration) time.Duration {
	if j.backOff == nil {
		j.backOff = newBackOff(first, max(first, lastCeiling))
	}
	d := j.backOff.NextBackOff()
	if asked > 0 {
		return asked + min(d, first)
	}
	return d
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
