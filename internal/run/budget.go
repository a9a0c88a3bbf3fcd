package run

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/audit"
)

// A budget holds the budget of a run, in USD. Each try takes out the most that it
// can cost before it begins and puts back what it did not use.
type budget struct {
	limit    float64 // +Inf for none
	spent    float64
	reserved float64
	out      int                // tries that hold a reserve
	unsure   float64            // part of spent that was charged because nobody knows the cost
	over     float64            // by how much tries cost more than their most
	dearest  map[string]float64 // by reviewer: the most that a try has cost, where that is more than was said
}

func newBudget(limit float64) budget { return budget{limit: limit, dearest: map[string]float64{}} }

// most gives what a try of an item may cost: what is said or, where that proved
// wrong (a price that has risen, a model listed as free), what one did cost.
func (p *budget) most(it *Item) float64 { return max(it.Cost.Most, p.dearest[it.Reviewer]) }

// fits reports whether a try that costs most fits beside those in flight. What
// costs nothing fits always.
func (p *budget) fits(most float64) bool {
	return most == 0 || p.spent+p.reserved+most <= p.limit+1e-12
}

// enough is the share of what a try may cost that it begins with at least, where it
// keeps to what it is given: with less it would hardly get anywhere.
const enough = 0.1

// grant gives what the next try of an item may cost: the most or, where it keeps to
// less, what is left.
func (p *budget) grant(it *Item) float64 {
	most := p.most(it)
	if left := p.limit - p.spent - p.reserved; it.Grant != nil && left < most && left >= enough*most {
		return left
	}
	return most
}

func (p *budget) reserve(most float64) {
	p.reserved += most
	p.out++
}

// settle replaces a try's reserve by what it cost.
func (p *budget) settle(it *Item, most float64, attempts []audit.Attempt) {
	p.reserved -= most
	if p.out--; p.out == 0 {
		p.reserved = 0 // what is left is the error of adding up
	}
	cost := 0.0
	for _, a := range attempts {
		c, sure := charge(a, most)
		cost += c
		if !sure {
			p.unsure += c
		}
	}
	p.spent += cost
	if cost > most {
		p.over += cost - most
		p.dearest[it.Reviewer] = cost
	}
}

// charge is what an attempt cost. Where nobody says (the connection broke while
// the model may have been answering) it is the most, so that the budget errs on
// the safe side; a request that the provider turned down is free.
func charge(a audit.Attempt, most float64) (usd float64, sure bool) {
	usd = max(0, a.Usage.USD)
	switch {
	case math.IsNaN(usd) || math.IsInf(usd, 0):
		return most, most == 0
	case a.Usage.Priced:
		return usd, true
	case turnedDown(a):
		return 0, true
	}
	return max(most, usd), most == 0
}

// turnedDown reports whether a provider refused a request before a model worked
// on it. Whoever knows that one did, though the request failed, says how many
// tokens it took.
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
}

// String gives one line for people.
func (e Estimate) String() string {
	s := fmt.Sprintf("%d planned, %d answered already, %d to ask: about $%.2f, at most $%.2f when each is asked once",
		e.Planned, e.Reused, e.Ask, e.Expected, e.Most)
	if len(e.Unpriced) > 0 {
		s += "; no price known for " + strings.Join(e.Unpriced, ", ")
	}
	if !math.IsInf(e.Budget, 1) {
		s += fmt.Sprintf("; budget $%.2f", e.Budget)
	}
	return s
}

func estimate(items []Item, ask []int, budget float64) Estimate {
	e := Estimate{Planned: len(items), Ask: len(ask), Reused: len(items) - len(ask), Budget: budget}
	unpriced := map[string]bool{}
	for _, i := range ask {
		if c := items[i].Cost; c.Known {
			e.Expected += c.Expected
			e.Most += c.Most
		} else if name := items[i].Reviewer; !unpriced[name] {
			unpriced[name] = true
			e.Unpriced = append(e.Unpriced, name)
		}
	}
	slices.Sort(e.Unpriced)
	return e
}
