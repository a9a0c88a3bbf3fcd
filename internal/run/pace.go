package run

import (
	"time"

	"github.com/cenkalti/backoff/v5"
)

// A pace is how many tries one provider takes at once: one more for every full
// round that went well (additive increase), half when it says that it is asked
// too often (multiplicative decrease), between 1 and most. It starts at most,
// which is what the user asked for.
type pace struct {
	most, limit float64
	inFlight    int
	until       time.Time // nothing is sent before
	sent        uint64    // tries begun so far
	lowered     uint64    // sent when limit was last halved
}

func newPace(most int) *pace { return &pace{most: float64(most), limit: float64(most)} }

// ready reports whether another try may begin.
func (p *pace) ready(now time.Time) bool {
	return p.inFlight < int(p.limit) && !now.Before(p.until)
}

// begin counts a try and gives its number.
func (p *pace) begin() uint64 {
	p.inFlight++
	p.sent++
	return p.sent
}

// end takes note of how try n went. A burst of complaints about tries that were
// under way together halves the limit once: those that began before the last
// halving say nothing about the limit since.
func (p *pace) end(n uint64, throttled bool, pause time.Duration, now time.Time) {
	p.inFlight--
	if !throttled {
		p.limit = min(p.most, p.limit+1/p.limit)
		return
	}
	if n > p.lowered {
		p.limit = max(1, p.limit/2)
		p.lowered = p.sent
	}
	if t := now.Add(pause); pause > 0 && t.After(p.until) {
		p.until = t
	}
}

// lastCeiling is where the ceiling of the waits stops doubling.
const lastCeiling = time.Minute

// newBackOff gives the waits of one item: full jitter, that is uniform between 0
// and a ceiling that doubles. Full jitter spreads a crowd of clients best (M.
// Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015). A
// randomisation of 1 around half the ceiling is uniform from 0 to the ceiling.
func newBackOff(first, last time.Duration) *backoff.ExponentialBackOff {
	b := &backoff.ExponentialBackOff{InitialInterval: first / 2, RandomizationFactor: 1, Multiplier: 2, MaxInterval: last / 2}
	b.Reset()
	return b
}
