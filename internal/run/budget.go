package run

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"assay/audit"
)

// A Budget is the budget of a run, in USD. Each attempt takes out the most that it can
// cost before it begins and puts back what it did not use.
type Budget struct {
	Limit    float64 `json:"-"` // +Inf for none, which JSON cannot say
	Spent    float64
	Reserved float64
	Out      int                // attempts that hold a reserve
	Unsure   float64            // part of Spent that was charged because nobody knows the cost
	Over     float64            // by how much attempts cost more than their most
	Dearest  map[string]float64 // by reviewer: the most that an attempt has cost
}

// A Lease is an attempt under way: what is reserved for it, and its place in the rate limiter.
type Lease struct {
	Reviewer, Provider string
	Most               float64 // USD
	Sending
}

// A Permission says whether an attempt may begin: with a Lease, later, or never.
type Permission struct {
	Lease *Lease
	Wait  time.Duration // for how long, without a lease; 0: until an attempt that is under way has ended
	Never string        // why it may not begin at all
	Stop  string        // why nothing of the provider may
}

// Ask asks for permission to start an attempt now. It depends on the budget and the rate
// limiter alone, which may be kept in this process or in a database. Limits that the provider
// states are not waited for longer than Config.MaxWait. While the provider has answered nothing
// for Config.Stall, no attempt begins beside those under way: if they fail, it is given up.
func Ask(b *Budget, r *RateLimiter, it *Job, c *Config, now time.Time) Permission {
	if d, ok := r.Wait(now); d > 0 || !ok {
		if d > c.MaxWait && r.Stated && r.InFlight == 0 { // else an answer may state more
			return Permission{Stop: fmt.Sprintf(
				"%s states limits by which the next request waits %s, longer than %s",
				name(it.Provider), d.Round(time.Second), c.MaxWait)}
		}
		return Permission{Wait: d}
	}
	if r.InFlight > 0 && r.stalled(c.Stall, now) {
		return Permission{}
	}
	// The larger of the stated cost and dearer times the dearest attempt so far is reserved.
	// If the job can keep to less, it is what is left of the budget.
	most := max(it.Cost.Most, dearer*b.Dearest[it.Reviewer])
	if left := b.Limit - b.Spent - b.Reserved; it.Grant != nil && left < most &&
		left >= enough*most {
		most = left
	}
	switch {
	case most == 0 || b.Spent+b.Reserved+most <= b.Limit+1e-12: // what costs nothing fits always
		b.Reserved += most
		b.Out++
		return Permission{Lease: &Lease{it.Reviewer, it.Provider, most, r.Begin(now)}}
	case b.Out > 0: // what is in flight may put something back
		return Permission{}
	}
	return Permission{Never: fmt.Sprintf(
		"the budget of $%.2f is used up ($%.4f spent, the next one may cost $%.4f)", b.Limit,
		b.Spent, most)}
}

// Settle ends a lease with what its attempt came to: the reserve is replaced by the cost.
// A pause that the provider asks for is at most Config.MaxWait. It returns why nothing more is
// sent to the provider if that has answered nothing for Config.Stall and nothing is under way;
// "" otherwise.
func Settle(b *Budget, r *RateLimiter, l Lease, t *AttemptResult, c *Config, now time.Time) (stop string) {
	last := t.last()
	r.End(l.Sending, t.throttled(), min(last.RetryAfter, c.MaxWait), last.Grant, now)
	b.release(1, l.Most)
	cost, stated := 0.0, 0.0
	for _, a := range t.Attempts {
		usd, unsure := charge(a, l.Most)
		cost += usd + unsure
		b.Unsure += unsure
		if unsure == 0 {
			stated += usd
		}
	}
	b.Spent += cost
	b.Over += max(0, cost-l.Most)
	if b.Dearest == nil {
		b.Dearest = map[string]float64{}
	}
	b.Dearest[l.Reviewer] = max(b.Dearest[l.Reviewer], stated)
	if r.Failing = t.unanswered(); !r.Failing {
		r.Answered = now
	}
	if r.InFlight > 0 || !r.stalled(c.Stall, now) {
		return ""
	}
	return fmt.Sprintf("%s has answered nothing for %s: %s", name(l.Provider),
		now.Sub(r.Answered).Round(time.Second), last.Error)
}

// Lose ends the leases of attempts whose outcome will never be known. It charges the most that
// they may cost together.
func Lose(b *Budget, r *RateLimiter, tries int, most float64) {
	r.InFlight -= tries
	b.release(tries, most)
	b.Spent += most
	b.Unsure += most
}

// enough is the share of what an attempt may cost that it begins with at least, where it
// keeps to what it is given: with less it would hardly get anywhere.
const enough = 0.1

// dearer is how much more than the dearest attempt so far the next one may cost.
const dearer = 1.5

// release returns what was reserved for attempts.
func (b *Budget) release(tries int, most float64) {
	b.Reserved -= most
	if b.Out -= tries; b.Out == 0 {
		b.Reserved = 0 // what is left is the error of adding up
	}
}

// charge returns what an attempt cost, and what it may have cost beside that. If the connection
// broke, the model may have been answering: then it is charged with the most that its request,
// or else its lease, can cost. A request that the provider turned down is free.
func charge(a audit.Attempt, most float64) (usd, unsure float64) {
	u := a.Usage
	usd = max(0, u.USD)
	switch {
	case math.IsNaN(usd) || math.IsInf(usd, 0):
		return 0, most
	case u.Priced:
		return usd, 0
	case turnedDown(a):
		return 0, 0
	case u.Unsure > 0 && !math.IsInf(u.Unsure, 1):
		return usd, u.Unsure
	}
	return usd, max(0, most-usd)
}

// turnedDown reports whether a provider refused a request before a model worked on it:
// of one that failed later it is known how many tokens it took.
func turnedDown(a audit.Attempt) bool {
	return a.HTTPStatus >= 300 && a.Usage.TokensIn+a.Usage.TokensOut == 0
}

// An Estimate says what a plan costs before it begins, in USD.
type Estimate struct {
	Planned  int
	Reused   int      // answered already
	Ask      int      // to be asked now
	Expected float64  // sum of the expected costs of what is asked
	Most     float64  // sum of the most that each costs when it is asked once
	Unpriced []string // reviewers without a price, sorted
	Budget   float64  // +Inf for none
	lines    []estimateLine
}

type estimateLine struct {
	name           string
	ask            int
	expected, most float64
	unpriced       bool
}

// Lines returns the estimate of each variant, a line each, in the order of the plan.
func (e *Estimate) Lines() (lines []string) {
	for _, l := range e.lines {
		cost := fmt.Sprintf("about $%.2f, at most $%.2f", l.expected, l.most)
		if l.unpriced {
			cost = "no price known"
		}
		lines = append(lines, fmt.Sprintf("%s: %d trials, %s", l.name, l.ask, cost))
	}
	return lines
}

// String returns the estimate as one line of text.
func (e Estimate) String() string {
	s := fmt.Sprintf("%d trials planned", e.Planned)
	if e.Reused > 0 {
		s += fmt.Sprintf(", %d completed by an earlier run, %d to ask", e.Reused, e.Ask)
	}
	s += fmt.Sprintf(": about $%.2f, at most $%.2f without retries", e.Expected, e.Most)
	if len(e.Unpriced) > 0 {
		s += "; no price known for " + strings.Join(e.Unpriced, ", ")
	}
	if !math.IsInf(e.Budget, 1) {
		s += fmt.Sprintf("; budget $%.2f", e.Budget)
	}
	return s
}

// add counts a job that is asked (n = 1), or that is not asked after all (n = -1).
func (e *Estimate) add(it *Job, n int) {
	e.Ask += n
	name := cmp.Or(it.Line, it.Reviewer)
	at := slices.IndexFunc(e.lines, func(l estimateLine) bool { return l.name == name })
	if at < 0 {
		at, e.lines = len(e.lines), append(e.lines, estimateLine{name: name})
	}
	l := &e.lines[at]
	l.ask, l.unpriced = l.ask+n, !it.Cost.Known
	l.expected, l.most = l.expected+float64(n)*it.Cost.Expected, l.most+float64(n)*it.Cost.Most
	if it.Cost.Known {
		e.Expected += float64(n) * it.Cost.Expected
		e.Most += float64(n) * it.Cost.Most
	} else if !slices.Contains(e.Unpriced, it.Reviewer) {
		e.Unpriced = append(e.Unpriced, it.Reviewer)
	}
}
