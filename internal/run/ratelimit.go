package run

import (
	"math"
	"time"

	"assay/audit"
)

// A RateLimiter says when the next request may be sent to a provider. It holds at most Max
// requests in flight. Until the first refusal it sends as fast as that allows; then it spaces
// requests evenly at Rate. Refusals lower Rate half-way to what the provider accepted since Rate
// was last lowered, on a scale of logarithms, and three quarters of the way if most requests were
// refused; each accepted request raises it a little.
// Where a provider states its limits in headers, these are the rate.
//
// A RateLimiter depends on its fields and the times that it is given alone, so that it can be
// kept in a database between two calls.
type RateLimiter struct {
	Max      int
	InFlight int
	Until    time.Time // the provider asked to send nothing before
	Sent     uint64    // requests so far

	Rate   float64   // requests a second; 0 while nothing was refused or stated
	Stated bool      // Rate is what the provider's headers say
	Burst  float64   // requests that may be sent at once after a rest
	Left   float64   // of Burst, at the time At
	At     time.Time // see Left
	Heard  uint64    // the last request whose answer stated limits

	// The window that is measured: the requests after From, up to To.
	From    Sending
	To      Sending // zero until one of them is refused
	Refused float64 // of them
	Pause   float64 // seconds that the last refusal asked for

	Best float64 // requests a second that were accepted in a window, a decaying maximum

	Answered time.Time // of the last answer, or of the first request
	Failing  bool      // a request ended without an answer since
}

// A Sending is a request under way.
type Sending struct {
	Number uint64
	At     time.Time
}

// The numbers of a RateLimiter, chosen in a simulation (TestRateLimiterKeepsUp).
const (
	slowest   = 0.05   // requests a second
	window    = 32     // requests that are measured together, at least
	tolerated = 0.98   // accepted share at which the rate stays
	growth    = 0.0007 // share by which an accepted request raises the rate, and
	fastest   = 0.1    // for all requests of a second; more after each second without a refusal
	patience  = 10     // pauses between two refusals that ask for one, about
	best      = 0.9    // share of Best below which few refusals do not lower the rate
	decay     = 0.99   // of Best, a window
	farOff    = 0.75   // refused share above which the rate is far too high
)

// Wait returns how long the next request has to wait, 0 if it may be sent now. ok is false if
// one of those in flight has to end first.
func (l *RateLimiter) Wait(now time.Time) (d time.Duration, ok bool) {
	if l.To.Number > 0 && l.Pause > 0 && !now.Before(l.Until) { // a pause has ended
		end := l.To.At
		l.To.Number = l.Sent
		l.measure(end, end)
	}
	l.fill(now)
	switch {
	case l.InFlight >= l.Max:
		return 0, false
	case now.Before(l.Until):
		return l.Until.Sub(now), true
	case l.Rate == 0:
		return 0, true
	}
	d = l.At.Sub(now) // above 0 where a request was let go ahead of its time
	if l.Left < 1 {
		d += time.Duration((1-l.Left)/l.Rate*1e9) + 1
	}
	return d, true
}

// Begin counts a request that is sent, after Wait at the same time.
func (l *RateLimiter) Begin(now time.Time) Sending {
	if l.Rate > 0 {
		l.Left--
	}
	if l.Sent == 0 {
		l.From.At, l.Answered = now, now
	}
	l.Sent++
	l.InFlight++
	return Sending{l.Sent, now}
}

// End counts an answer: whether it was refused as one request too many, for how long the
// provider asks to be left alone, and what its headers say of its limits.
func (l *RateLimiter) End(s Sending, refused bool, pause time.Duration, stated audit.RateLimits,
	now time.Time) {
	l.InFlight--
	l.fill(now)
	if until := now.Add(pause); until.After(l.Until) {
		l.Until = until
	}
	switch full := l.Left >= min(2, max(1, l.Burst)); {
	case refused && s.Number > l.From.Number:
		l.refused(s, pause, now)
	case !refused && !l.Stated && !full: // if full, something else limits the rate
		l.raise(now)
	}
	if stated.Rate > 0 && s.Number > l.Heard {
		l.Heard, l.Stated = s.Number, true
		l.Rate, l.Burst, l.At = stated.Rate, max(1, stated.Burst), now
		since := float64(min(l.Sent-s.Number, uint64(l.InFlight)))
		l.Left = min(stated.Left+stated.Rate*now.Sub(s.At).Seconds()-since, l.Burst)
	}
}

// stalled reports whether the provider has answered nothing for so long, and a request failed.
func (l *RateLimiter) stalled(stall time.Duration, now time.Time) bool {
	return l.Failing && now.Sub(l.Answered) >= stall
}

// refused counts a refusal. The window reaches to the last one, and is measured when it is
// large enough and a later request is refused, since refusals overtake each other. If the
// provider asks for a pause, the window is measured when that ends.
func (l *RateLimiter) refused(s Sending, pause time.Duration, now time.Time) {
	if l.Rate == 0 {
		l.Rate, l.Burst, l.Left = float64(l.Sent)/max(now.Sub(l.From.At).Seconds(), 1e-3), 1, 0
	}
	l.Pause = pause.Seconds()
	switch later := s.Number > l.To.Number; {
	case later && l.To.Number > l.From.Number+window:
		l.measure(l.To.At, now)
		return
	case later:
		l.To = Sending{l.Sent, now}
	}
	l.Refused++
}

// measure lowers the rate to what was accepted in the window and begins a new window. If few
// requests were refused and no pause is requested, the refusals may not depend on the rate,
// which then stays near the best that was accepted. A small window in which all requests were
// refused is the end of the last burst of refusals: it says nothing about the rate.
func (l *RateLimiter) measure(end, now time.Time) {
	l.Stated = false
	n := float64(l.To.Number - l.From.Number)
	if n > l.Refused || n > window {
		accepted := max(.5, n-l.Refused) / max(end.Sub(l.From.At).Seconds(), 1e-3)
		few := l.Pause == 0 && l.Refused < n/2
		l.Best *= decay
		if !few || accepted > l.Best {
			l.Best = accepted
		}
		lower := math.Sqrt(l.Rate * accepted / tolerated)
		switch {
		case few:
			lower = max(lower, best*l.Best)
		case l.Refused > farOff*n:
			lower = math.Sqrt(lower * accepted / tolerated)
		}
		l.Rate = max(slowest, min(l.Rate, lower))
	}
	l.From, l.To, l.Refused, l.Left = Sending{l.Sent, now}, Sending{}, 0, min(l.Left, .5)
}

// raise raises the rate after an accepted request, the more the longer ago a refusal is.
func (l *RateLimiter) raise(now time.Time) {
	calm := min(60, now.Sub(l.From.At).Seconds())
	g := min(growth, fastest/l.Rate) * (1 + calm)
	if l.Pause > 0 { // a refusal costs Pause, so the rate is to last for some of these
		g = min(growth, .05/patience/l.Pause/l.Rate) * max(1, calm/(patience*l.Pause))
	}
	l.Rate *= 1 + g
}

// fill adds the permits since the last call.
func (l *RateLimiter) fill(now time.Time) {
	if d := now.Sub(l.At).Seconds(); d > 0 {
		l.Left, l.At = min(max(l.Burst, 1), l.Left+l.Rate*d), now
	}
}
