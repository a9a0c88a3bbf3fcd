package score

import (
	"fmt"

	"assay/audit"
)

// Consumed is what trials took: the trials whose figures are shown, with all attempts.
type Consumed struct {
	Trials  int     `json:"trials"` // that began
	USD     float64 `json:"usd"`
	Priced  bool    `json:"priced"` // USD is everything: an unknown cost is not 0
	Tokens  int64   `json:"tokens"` // read and written
	Seconds float64 `json:"seconds"`
}

// BeyondAll is more dollars or seconds than anything takes. Whoever states as much states
// nothing.
const BeyondAll = 1e12

// Used returns the Consumed of n trials by their usage and seconds.
func Used(n int, u audit.Usage, seconds float64) Consumed {
	if !(u.USD >= 0 && u.USD < BeyondAll) { // or no number
		u.USD, u.Priced = 0, false
	}
	if !(seconds >= 0 && seconds < BeyondAll) {
		seconds = 0
	}
	return Consumed{n, u.USD, u.Priced, u.TokensIn + u.TokensOut, seconds}
}

// add adds what other trials took. The sum is priced if all trials are.
func (c *Consumed) add(more Consumed) {
	priced := more.Priced && (c.Priced || c.Trials == 0)
	*c = Consumed{c.Trials + more.Trials, c.USD + more.USD, priced, c.Tokens + more.Tokens,
		c.Seconds + more.Seconds}
}

// cost returns the dollars: as a lower bound where some trials have no price.
func (c *Consumed) cost() Estimate {
	usd := Of(c.USD)
	switch {
	case c.USD < 0 || c.USD > BeyondAll || !c.Priced && c.USD == 0:
		return Estimate{}
	case !c.Priced:
		return Estimate{Low: usd}
	}
	return Estimate{Value: usd}
}

// Cost returns "$1.25", "at least $1.25" where some trials have no price, and "no price".
func (c *Consumed) Cost() string {
	switch e := c.cost(); {
	case e.Value.Defined:
		return Dollars(e.Value.V)
	case e.Low.Defined:
		return "at least " + Dollars(e.Low.V)
	}
	return "no price"
}

// Dollars shows a sum with two digits after the point, or as many as a small one needs.
func Dollars(usd float64) string {
	if usd > 0 && usd < 0.095 {
		return fmt.Sprintf("$%.2g", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// consumedMetrics are the metrics of what the trials of R took.
func consumedMetrics[R any](of func(R) *Consumed) []Metric[R] {
	number := func(v func(*Consumed) float64) func(R) Estimate {
		return func(r R) (e Estimate) {
			if x := v(of(r)); x > 0 && x < BeyondAll {
				e.Value = Of(x)
			}
			return e
		}
	}
	plain := func(v func(*Consumed) float64) func(R) string {
		return func(r R) string {
			if x := v(of(r)); x > 0 && x < BeyondAll {
				return fmt.Sprintf("%.0f", x)
			}
			return "unknown"
		}
	}
	trials := func(c *Consumed) float64 { return float64(c.Trials) }
	tokens := func(c *Consumed) float64 { return float64(c.Tokens) }
	seconds := func(c *Consumed) float64 { return c.Seconds }
	return []Metric[R]{
		{Name: "trials", Of: number(trials), show: plain(trials)},
		{Name: "cost", Less: true, Of: func(r R) Estimate { return of(r).cost() },
			show: func(r R) string { return of(r).Cost() }},
		{Name: "tokens", Less: true, Of: number(tokens), show: plain(tokens)},
		{Name: "seconds", Less: true, Of: number(seconds), show: func(r R) string {
			if x := of(r).Seconds; x > 0 && x < 9.95 {
				return fmt.Sprintf("%.1f", x)
			}
			return plain(seconds)(r)
		}},
	}
}
