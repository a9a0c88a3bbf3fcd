package run

import (
	"math"
	"time"

	"assay/audit"
)

// A Pace says when a provider is asked: no more than Most tries at once, and no
// faster than it grants. It sees a provider as a bucket of Burst tries that fills at a
// rate. A refusal says that the bucket was empty then, so what was accepted between two
// refusals tells the rate; from there it feels its way upwards, since a provider does
// not say when it grants more. Where the provider states its limits in headers, these
// are believed. It is a function of its fields, of what happens, and of the time that
// it is given, so that it can be kept in a database between two calls. It starts with
// Most alone, which is what the user asked for.
type Pace struct {
	Most     int
	InFlight int
	Until    time.Time // nothing is sent before: the provider said so
	Sent     uint64    // tries begun
	Refused  float64   // of them

	Rate  float64   // tries a second; 0 while nothing was refused and nothing stated: as many as Most lets
	Burst float64   // that the provider takes at once after a rest
	Left  float64   // of Burst, at the time At
	At    time.Time // see Left
	Gain  float64   // by which share Rate grows with each try that went well
	Calm  float64   // tries that went well since Gain was last changed

	Empty    time.Time // when the measurement began: the bucket was empty
	Accepted float64   // of Sent, until then
	Paused   float64   // seconds of pauses since then
	Missed   float64   // refused since then
	Before   float64   // accepted between the last two refusals that asked for a pause, and in
	Beyond   float64   // so many seconds besides the pause
	Chance   chance    // which refusals are not about the rate
	Lost     float64   // tries that the last pause cost
	Fence    uint64    // Sent when the rate was last measured: what was sent before says nothing about it
	First    Sending   // the refusal with which the measurement began, or the next one will when the pause ends
	Asked    float64   // seconds that First asked for, until that pause ends
	Base     float64   // Refused at First while the pause lasts
	Rest     float64   // Paused of the next measurement
	Step     uint64    // Sent when it was last lowered a little
	Heard    uint64    // the last try whose answer stated limits
}

// A Sending is a try under way, as the pace knows it.
type Sending struct {
	Number uint64
	At     time.Time
}

// The numbers of a pace. They were chosen on a simulated provider (TestPaceKeepsUp).
const (
	calmly   = 80  // tries that go well before the rate grows faster, and
	dearly   = 14  // as many times what a pause costs
	quiet    = 28  // tries accepted after which a refusal is no more than a hint
	window   = 16  // tries that a measurement takes
	bisected = 1.0 // tries a second below which a rate is not lowered unless something was accepted
	slowest  = 0.05
	least    = 0.0005 // Gain once the rate is found, and
	fastest  = 0.002  // when it is sought again: the more it grows, the more is refused until that is heard
	bursts   = 10     // that a pause is taken to refill at most, while nothing else is known
)

// Wait gives how long the next try waits, 0 when it may begin. ok is false when that
// is not a matter of time: one of those in flight has to end first. Who asks, and
// begins, at a time that is still to come takes what the bucket will hold then, and
// those who ask at an earlier time wait beyond it.
func (p *Pace) Wait(now time.Time) (d time.Duration, ok bool) {
	p.resume(now)
	switch {
	case p.InFlight >= p.Most:
		return 0, false
	case now.Before(p.Until):
		return p.Until.Sub(now), true
	case p.Rate == 0:
		return 0, true
	}
	p.fill(now)
	d = p.At.Sub(now)
	if p.Left < 1 {
		d += time.Duration((1-p.Left)/p.Rate*1e9) + 1
	}
	return d, true
}

// stated reports whether the rate is what the provider says that it grants.
func (p *Pace) stated() bool { return p.Rate > 0 && p.Gain == 0 }

// Begin counts a try that begins.
func (p *Pace) Begin(now time.Time) Sending {
	p.resume(now)
	p.fill(now)
	if p.Rate > 0 {
		p.Left--
	}
	if p.Sent == 0 {
		p.Empty = now
	}
	p.Sent++
	p.InFlight++
	if c := &p.Chance; c.Full > 0 && p.Sent == c.To {
		p.Rate = c.Full
	}
	return Sending{p.Sent, now}
}

// End takes note of how a try went: whether the provider refused it as one too many,
// for how long it asks to be left alone, and what it states of its limits.
func (p *Pace) End(s Sending, refused bool, pause time.Duration, g audit.Grant, now time.Time) {
	p.InFlight--
	p.fill(now)
	byChance := p.byChance(s, refused && pause == 0)
	if refused && !byChance {
		p.refused(s, pause, now)
	} else if p.Rate > 0 && s.Number > p.Fence && p.Left < min(2, max(1, p.Burst)) { // else something else holds the sending back
		p.Rate *= 1 + p.Gain
		p.Calm++
		p.Chance.Top = max(p.Chance.Top, p.Rate)
		if p.Calm > max(calmly, dearly*p.Lost) {
			p.Calm, p.Gain = 0, max(p.Gain, min(fastest, 2*p.Gain))
			p.Chance.Top = p.Rate
		}
	}
	if g.Rate > 0 && s.Number > p.Heard {
		p.Heard, p.Asked = s.Number, 0
		p.Rate, p.Gain, p.Burst = g.Rate, 0, max(1, g.Burst)
		p.Left, p.At = min(g.Left+g.Rate*now.Sub(s.At).Seconds()-float64(min(p.Sent-s.Number, uint64(p.InFlight))), p.Burst), now
	}
}

// refused lowers the rate, or keeps what a refusal tells until the pause that it asks
// for ends, as refusals may overtake each other.
func (p *Pace) refused(s Sending, pause time.Duration, now time.Time) {
	p.Refused++
	rest := p.pause(pause, now)
	accepted := float64(s.Number) - p.Refused // refusals come in the order of the tries, about
	if s.Number < p.First.Number {            // it was overtaken, and taken as accepted
		if p.Asked > 0 {
			p.Base++
		} else {
			p.Accepted--
		}
	}
	switch a := accepted - p.Accepted; {
	case s.Number <= p.Fence:
	case pause > 0:
		p.Asked, p.First, p.Base, p.Rest, p.Fence = pause.Seconds(), s, p.Refused, 0, p.Sent
	case p.Rate == 0:
		p.first(s, accepted, 0, now)
		p.Chance.Top = p.Rate
		p.measure(s, accepted)
	case a > quiet || p.First.Number <= p.Chance.To:
		m := p.measured(a, s.At)
		p.mark(s, accepted)
		p.lower(s)
		p.doubt(m)
	default:
		if p.Missed++; p.Missed+a < window || p.Missed < window/4 {
			p.lower(s)
			break
		}
		m := p.measured(a, s.At)
		p.saturated(a, m)
		p.measure(s, accepted)
		p.doubt(m)
	}
	p.Left = min(p.Left, .5)
	if p.Asked > 0 {
		p.Rest += rest
	} else {
		p.Paused += rest
	}
}

func (p *Pace) resume(now time.Time) {
	if p.Asked == 0 || now.Before(p.Until) {
		return
	}
	accepted := float64(p.First.Number) - p.Base
	if c := &p.Chance; c.Full > 0 { // the pause tells what the test would have told
		p.Rate, c.Full = c.Full, 0
	}
	if p.Rate == 0 {
		p.first(p.First, accepted, p.Asked, p.At)
	} else {
		p.afterPause(accepted-p.Accepted, p.Asked, p.First.At)
	}
	p.mark(p.First, accepted)
	p.Paused, p.Asked = p.Rest, 0
}

// pause notes that the provider wants to be left alone and gives by how many seconds
// longer than it is already.
func (p *Pace) pause(d time.Duration, now time.Time) float64 {
	from, until := p.Until, now.Add(d)
	if from.Before(now) {
		from = now
	}
	if d <= 0 || !until.After(from) {
		return 0
	}
	p.Until = until
	return until.Sub(from).Seconds()
}

// first makes what it can of the first refusal. Where it comes at once, what was
// accepted is the burst, and the rate is anything.
func (p *Pace) first(s Sending, accepted, pause float64, now time.Time) {
	p.Burst, p.Left, p.Gain = 1, 0, .02
	if d := s.At.Sub(p.Empty).Seconds(); d > .1 || accepted > float64(2*p.Most) {
		p.Rate = max(slowest, accepted/max(d, 1e-3))
		return
	}
	p.Burst = max(1, .9*accepted)
	round := .05 // seconds: too fast a rate is found out by a few refusals more
	most := math.Inf(1)
	if pause > 0 { // each of which is dear here
		round, most = 1, max(slowest, bursts*max(1, accepted)/pause)
	}
	p.Rate = min(most, float64(p.Most)/max(round, 2*now.Sub(s.At).Seconds()))
}

// afterPause sets the rate by a refusal that asks for a pause of so many seconds, with
// a tries accepted since the last one. Each costs what the pause keeps back, so the
// rate stays a little below what was measured.
func (p *Pace) afterPause(a, pause float64, at time.Time) {
	// The same gathers in each pause, so what was accepted beyond is the rate, to within one try.
	t := at.Sub(p.Empty).Seconds() - p.Paused
	if more, longer := a-p.Before, t-p.Beyond; p.Beyond > 0 && longer > 0 {
		p.Burst = max(p.Burst, a-(max(more, 0)+1)/longer*t)
	}
	p.Before, p.Beyond = a, t
	free := min(p.Burst, p.Rate*p.Paused) // what had gathered in the last pause
	if a < free {
		p.Burst = max(1, .9*a)
		free = min(p.Burst, free)
	}
	m, low := p.measured(a, at), p.lowest(a)
	// While a rate grew, less was sent than was granted. So many tries after it grew past
	// what is granted, the excess is a burst: the sum of Gain, 2 Gain, 3 Gain ...
	if k := math.Sqrt(2 * p.Burst / p.Gain); p.Calm > k {
		m = max(m, p.Rate*math.Exp(-p.Gain*k))
	}
	p.Lost = max(0, pause*min(m, p.Rate)-p.Burst)
	slow := least * calmly / max(calmly, dearly*p.Lost)
	net := a - free
	if net < 2 { // too few to tell: half way, on the scale of logarithms, but some tries for each pause
		p.Rate = max(low, min(p.Rate, 4/pause), math.Sqrt(max(min(m, p.Rate), p.Rate/50)*p.Rate))
		if p.Gain = max(p.Gain/2, slow); a < 1 {
			p.Gain = .05
		}
		return
	}
	if p.Lost > 4 {
		m *= .95
	}
	// So many tries tell of a rate that is no more than so many times less.
	p.Rate = max(low, min(.98*p.Rate, max(m*(1-.5/a), p.Rate/net)))
	p.Gain = max(min(p.Gain, .07/net*slow/least), slow)
}

// saturated sets the rate to what was accepted while much was refused: the bucket was
// empty all the time.
func (p *Pace) saturated(a, m float64) {
	p.Rate = max(p.lowest(a), min(p.Rate, max(m, p.Rate/4)))
	p.Gain = min(.01, .6/float64(p.InFlight+1)) // those under way are answered before the next refusal is heard
	if a < 1 {
		p.Gain = .5 // an outage: when it ends, the rate means nothing
	}
}

// lowest is the least rate that a measurement with so many accepted can give.
func (p *Pace) lowest(a float64) float64 {
	if a < 1 {
		return min(p.Rate, bisected)
	}
	return min(p.Rate, slowest)
}

// measured gives the rate at which tries were accepted since the measurement began. In
// pauses no more than a burst gathers.
func (p *Pace) measured(a float64, at time.Time) float64 {
	d := at.Sub(p.Empty).Seconds()
	m := a / max(d, 1e-3)
	if p.Paused > 0 && m*p.Paused > p.Burst {
		m = max(m, (a-p.Burst)/max(d-p.Paused, 1e-3))
	}
	return m
}

// measure begins a measurement of what is sent from now on.
func (p *Pace) measure(s Sending, accepted float64) {
	p.mark(s, accepted)
	p.Fence = p.Sent
}

func (p *Pace) mark(s Sending, accepted float64) {
	p.First = s
	p.Empty, p.Accepted, p.Paused, p.Missed, p.Calm = s.At, accepted, 0, 0, 0
}

// lower takes a little off the rate, once for what was under way together.
func (p *Pace) lower(s Sending) {
	if s.Number > p.Step {
		p.Rate *= .97
		p.Gain, p.Step, p.Calm = max(min(.02, p.Gain)/2, least), p.Sent, 0
	}
}

func (p *Pace) fill(now time.Time) {
	if d := now.Sub(p.At).Seconds(); d > 0 && p.Asked == 0 {
		p.Left, p.At = min(max(p.Burst, 1), p.Left+p.Rate*d), now
	}
}
