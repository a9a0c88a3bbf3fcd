package run

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"assay/audit"

	"github.com/stretchr/testify/require"
)

// A granter is a provider in virtual time: a bucket of tries that fills.
type granter struct {
	rate    func(seconds float64) float64
	burst   float64
	after   time.Duration // Retry-After of a refusal
	latency time.Duration // of an answer: up to a third more
	says    time.Duration // of a refusal: up to a third more, so that one overtakes another
	noise   float64       // share that is refused whatever the rate
	stated  bool          // its headers say what it grants

	left  float64
	since time.Duration
}

func (g *granter) take(now time.Duration, rng *rand.Rand) bool {
	for g.since < now {
		step := min(now-g.since, 10*time.Millisecond)
		g.left = min(g.burst, g.left+g.rate(g.since.Seconds())*step.Seconds())
		g.since += step
	}
	if rng.Float64() < g.noise || g.left < 1-1e-9 {
		return false
	}
	g.left--
	return true
}

func (g *granter) grant(now time.Duration) audit.RateLimits {
	if !g.stated {
		return audit.RateLimits{}
	}
	return audit.RateLimits{Rate: g.rate(now.Seconds()), Burst: g.burst, Left: g.left}
}

// An arrival is an answer, or the instant at which a pace lets something begin.
type arrival struct {
	at      time.Duration
	try     *Sending
	refused bool
	grant   audit.RateLimits
	number  int // in the order in which they were caused
}

type arrivals []arrival

func (h arrivals) Len() int { return len(h) }
func (h arrivals) Less(i, k int) bool {
	return h[i].at < h[k].at || h[i].at == h[k].at && h[i].number < h[k].number
}
func (h arrivals) Swap(i, k int) { h[i], h[k] = h[k], h[i] }
func (h *arrivals) Push(x any)   { *h = append(*h, x.(arrival)) }
func (h *arrivals) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// A stretch is what was asked while a provider granted one rate.
type stretch struct {
	rate float64
	done []int // how many tries had gone well when each began
	bad  []bool
}

type stretches []stretch

func (s *stretches) add(rate float64, done int, refused bool) {
	if len(*s) == 0 || (*s)[len(*s)-1].rate != rate {
		*s = append(*s, stretch{rate: rate})
	}
	last := &(*s)[len(*s)-1]
	last.done, last.bad = append(last.done, done), append(last.bad, refused)
}

// refused gives the share of refusals once a pace has settled: what began before a
// quarter of its stretch had gone well, which is when the rate was sought, is not
// counted. In the end so many went well.
func (s stretches) refused(end int) float64 {
	all, bad := 0., 0.
	for i, x := range s {
		last := end
		if i+1 < len(s) {
			last = s[i+1].done[0]
		}
		for k, done := range x.done {
			if done > x.done[0]+(last-x.done[0])/4 {
				all++
				if x.bad[k] {
					bad++
				}
			}
		}
	}
	return bad / max(1, all)
}

const mean = 1 + 99./600 // of the time that an answer takes, in latencies

// drive has n tries accepted by a provider at most so many at a time, and gives the time
// that it takes as a multiple of what the provider grants and one latency, and the share
// of refusals once it has settled.
func drive(n, most int, g *granter, seed uint64) (ratio, refused float64) {
	rng := rand.New(rand.NewPCG(1, seed))
	start := time.Unix(1e9, 0)
	g.left = g.burst
	p, h, asked := RateLimiter{Max: most}, &arrivals{}, stretches{}
	var now, wake time.Duration
	left, done := n, 0
	for done < n && now < time.Hour {
		for left > 0 {
			d, ok := p.Wait(start.Add(now))
			if ok && d > 0 && (wake <= now || now+d < wake) {
				wake = now + d
				heap.Push(h, arrival{at: wake})
			}
			if !ok || d > 0 {
				break
			}
			left--
			s := p.Begin(start.Add(now))
			a := arrival{at: now + g.latency + time.Duration(rng.IntN(100))*g.latency/300, try: &s,
				number: int(s.Number)}
			if !g.take(now, rng) {
				a.at, a.refused = now+g.says+time.Duration(rng.IntN(100))*g.says/300, true
			}
			a.grant = g.grant(now)
			heap.Push(h, a)
			asked.add(g.rate(now.Seconds()), done, a.refused)
		}
		a := heap.Pop(h).(arrival)
		now = a.at
		if a.try == nil {
			continue
		}
		pause := time.Duration(0)
		if a.refused {
			pause = g.after
			left++
		} else {
			done++
		}
		p.End(*a.try, a.refused, pause, a.grant, start.Add(now))
	}
	granted, t := 0.0, 0.0
	for ; granted < float64(n); t += .01 {
		granted += g.rate(t) * .01
	}
	return now.Seconds() / (t + g.latency.Seconds()), asked.refused(done)
}

// share is drive for workers that ask for leases, a little ahead of time, and hand in
// what came of them in turns, of which each takes some milliseconds.
func share(n, most, workers int, g *granter, seed uint64) (ratio, refused float64) {
	const ahead = 50 * time.Millisecond
	type event struct {
		worker int
		lease  *Lease         // to be sent
		try    *AttemptResult // that has ended
	}
	rng := rand.New(rand.NewPCG(1, seed))
	start := time.Unix(1e9, 0)
	g.left = g.burst
	p, b, it := RateLimiter{Max: most}, Budget{Limit: math.Inf(1)}, &Job{}
	due, h := map[int]event{}, &arrivals{}
	var now time.Duration
	number := 0
	push := func(at time.Duration, e event) {
		number++
		due[number] = e
		heap.Push(h, arrival{at: at, number: number})
	}
	soon := make([]bool, workers) // a turn is about to be taken
	turn := func(w int, after time.Duration) {
		if !soon[w] {
			push(now+after+time.Duration(5+rng.IntN(10))*time.Millisecond, event{worker: w})
		}
		soon[w] = soon[w] || after == 0
	}
	for w := range workers {
		turn(w, 0)
	}
	c := &Config{MaxWait: time.Hour, Stall: time.Hour}
	ended, until := make([][]event, workers), make([]time.Duration, workers)
	left, done, asked := n, 0, stretches{}
	for done < n && now < time.Hour {
		a := heap.Pop(h).(arrival)
		now = a.at
		e := due[a.number]
		delete(due, a.number)
		switch {
		case e.try != nil:
			ended[e.worker] = append(ended[e.worker], e)
			turn(e.worker, 0)
		case e.lease != nil && now < until[e.worker]: // it knows better by now
			push(until[e.worker], e)
		case e.lease != nil:
			at, try := now+g.latency+
				time.Duration(rng.IntN(100))*g.latency/300,
				&AttemptResult{Attempts: []audit.Attempt{{HTTPStatus: 200, Usage: audit.Usage{Priced: true}}}}
			if !g.take(now, rng) {
				at, try.Attempts[0] = now+g.says+time.Duration(rng.IntN(100))*g.says/300,
					audit.Attempt{HTTPStatus: 429, RetryAfter: g.after}
			}
			asked.add(g.rate(now.Seconds()), done, try.throttled())
			push(at, event{e.worker, e.lease, try})
		default: // a turn
			soon[e.worker] = false
			for _, e := range ended[e.worker] {
				if e.try.throttled() {
					left++
				} else {
					done++
				}
				Settle(&b, &p, *e.lease, e.try, c, start.Add(now))
			}
			ended[e.worker], until[e.worker] = nil, p.Until.Sub(start)
			for left > 0 {
				a := AskAhead(&b, &p, it, c, start.Add(now), ahead)
				if a.Lease == nil {
					turn(e.worker, max(ahead/2, a.Wait-ahead/2))
					break
				}
				left--
				push(max(now, a.Lease.At.Sub(start)), event{worker: e.worker, lease: a.Lease})
			}
		}
	}
	return now.Seconds() / (float64(n)/g.rate(0) + g.latency.Seconds()), asked.refused(done)
}

// worst gives the greatest of three simulations, each with times of its own (of one under
// -short), or of as many as ASSAY_RATE_SEEDS says: 80000+50 are fifty, from 80000 on.
func worst(simulate func(seed uint64) (ratio, refused float64)) (ratio, refused float64) {
	from, n := uint64(0), uint64(3)
	if testing.Short() {
		n = 1
	}
	_, _ = fmt.Sscanf(os.Getenv("ASSAY_RATE_SEEDS"), "%d+%d", &from, &n)
	for seed := range n {
		a, b := simulate(from + seed)
		ratio, refused = max(ratio, a), max(refused, b)
	}
	return ratio, refused
}

// Workers that share a pace keep up as one process does.
func TestWorkersKeepUp(t *testing.T) {
	const second, ms = time.Second, time.Millisecond
	crowds := []int{16, 4}
	if testing.Short() {
		crowds = crowds[:1] // the more there are, the later each hears of a refusal
	}
	for _, rate := range []float64{5, 50} {
		for _, after := range []time.Duration{0, second} {
			for _, workers := range crowds {
				for _, times := range []float64{2, 4} {
					ratio, refused := worst(func(seed uint64) (float64, float64) {
						g := &granter{rate: steady(rate), burst: rate, after: after,
							latency: second, says: 50 * ms}
						return share(max(400, int(20*rate)), int(times*rate), workers, g, seed)
					})
					at := fmt.Sprintf(
						"%v a second, Retry-After %s, %d workers, concurrency %v: ratio %.2f, refused %.1f %%", rate, after, workers, times*rate, ratio, 100*refused)
					t.Log(at)
					if ratio > 1.5 || refused > .2 {
						t.Error("FAIL", at)
					}
				}
			}
		}
	}
}

func steady(r float64) func(float64) float64 { return func(float64) float64 { return r } }

func changes(from, to float64) func(float64) float64 {
	return func(t float64) float64 {
		if t < 8 {
			return from
		}
		return to
	}
}

// The time to finish is at most 1.5 times what the provider allows, at any concurrency that can
// use it. Once the rate is found, at most one request in five is refused.
func TestRateLimiterKeepsUp(t *testing.T) {
	const second, ms = time.Second, time.Millisecond
	for _, c := range []struct {
		name    string
		rate    func(float64) float64
		mean    float64
		burst   float64 // seconds of the mean
		after   time.Duration
		noise   float64
		stated  bool
		refused float64 // 0: 0.2
	}{
		{name: "5 a second", rate: steady(5), mean: 5, burst: 1},
		{name: "50 a second", rate: steady(50), mean: 50, burst: 1},
		{name: "500 a second", rate: steady(500), mean: 500, burst: 1},
		{name: "little burst", rate: steady(50), mean: 50, burst: .2},
		{name: "much burst", rate: steady(50), mean: 50, burst: 3, refused: .5},
		{name: "Retry-After", rate: steady(50), mean: 50, burst: 1, after: second},
		{name: "Retry-After, much burst", rate: steady(50), mean: 50, burst: 3, after: second},
		{name: "Retry-After, little burst", rate: steady(50), mean: 50, burst: .2, after: second},
		{name: "more", rate: changes(50, 100), mean: 75, burst: 1},
		{name: "less", rate: changes(100, 25), mean: 60, burst: 1},
		{name: "Retry-After, more", rate: changes(50, 100), mean: 75, burst: 1, after: second},
		{name: "Retry-After, less", rate: changes(100, 25), mean: 60, burst: 1, after: second},
		{name: "stated", rate: steady(50), mean: 50, burst: .2, stated: true, refused: .005},
		{name: "stated, less", rate: changes(100, 25), mean: 60, burst: .2, stated: true,
			refused: .005},
		{name: "one in fifty refused by chance", mean: 50, noise: .02, refused: 1},
		{name: "one in ten refused by chance", mean: 50, noise: .1, refused: 1},
		{name: "three in ten refused by chance", mean: 50, noise: .3, refused: 1},
		{name: "1 in 2 seconds", rate: steady(.5), mean: .5, burst: 4, refused: .4},
		{name: "1 a second, Retry-After 5", rate: steady(1), mean: 1, burst: 2, after: 5 * second},
		{name: "17 a second, Retry-After .2", rate: steady(17), mean: 17, burst: .5,
			after: 200 * ms},
		{name: "17 a second, Retry-After 10", rate: steady(17), mean: 17, burst: 10,
			after: 10 * second, refused: .5},
		{name: "130 a second, burst 10", rate: steady(130), mean: 130, burst: 10, refused: .5},
		{name: "130 a second, Retry-After 2", rate: steady(130), mean: 130, burst: 2,
			after: 2 * second},
		{name: "900 a second", rate: steady(900), mean: 900, burst: .3},
		{name: "20 then 200 a second", rate: changes(20, 200), mean: 130, burst: 1},
		{name: "200 then 20 a second", rate: changes(200, 20), mean: 200, burst: 1},
		{name: "Retry-After 3, 20 then 60", rate: changes(20, 60), mean: 45, burst: 1,
			after: 3 * second, refused: .5},
		{name: "17 a second, stated", rate: steady(17), mean: 17, burst: 30,
			stated: true, refused: .02},
		{name: "17 a second, one in twenty by chance", rate: steady(17), mean: 17, burst: 1,
			noise: .05, refused: 1},
		{name: "50 a second, and one in ten refused by chance", rate: steady(50), mean: 50,
			burst: 1, noise: .1, refused: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, latency := range []time.Duration{300 * ms, second, 3 * second} {
				for _, times := range []float64{2, 4, 20} {
					most := max(4, int(times*c.mean*latency.Seconds()))
					ratio, refused := worst(func(seed uint64) (float64, float64) {
						g := &granter{rate: c.rate, burst: c.burst * c.mean, after: c.after,
							latency: latency, says: 50 * ms, noise: c.noise, stated: c.stated}
						// concurrency is the only bound, and what a try takes with its retries
						if c.rate == nil {
							g.burst = math.Inf(1)
							g.rate = steady(float64(most) / (latency +
								time.Duration(c.noise/(1-c.noise)*float64(g.says))).Seconds() / mean)
						}
						return drive(max(400, int(20*c.mean)), most, g, seed)
					})
					at := fmt.Sprintf("latency %s, concurrency %d: ratio %.2f, refused %.1f %%",
						latency, most, ratio, 100*refused)
					t.Log(at)
					if ratio > 1.5 || refused > cmp.Or(c.refused, .2) {
						t.Error("FAIL", at)
					}
				}
			}
		})
	}
}

// What asks to be left alone is left alone.
func TestRetryAfterHoldsRequestsBack(t *testing.T) {
	now := time.Now()
	p := RateLimiter{Max: 2}
	s := p.Begin(now)
	p.End(s, true, time.Minute, audit.RateLimits{}, now)
	d, ok := p.Wait(now)
	require.True(t, ok)
	require.Equal(t, time.Minute, d)
}

// A rate that is not what holds the sending back says nothing, and does not grow.
func TestRateGrowsOnlyWhereItLimits(t *testing.T) {
	now := time.Now()
	p := RateLimiter{Max: 1, Rate: 10, Burst: 1, Left: 1, At: now}
	for range 1000 {
		s := p.Begin(now)
		now = now.Add(time.Second)
		p.End(s, false, 0, audit.RateLimits{}, now)
	}
	require.InDelta(t, 10, p.Rate, 0)
}
