package run

// A chance tells refusals that come whatever the rate, as a provider that is overloaded
// sends them, from those that the rate brings. Once the rate was lowered by a quarter
// and refusals still come, it is halved for some tries: a bucket that was emptied at the
// full rate a moment ago refuses none of these, an overload the same share as before.
type chance struct {
	Share  float64 // refused whatever the rate
	Credit float64 // refusals that Share explains and that have not come yet
	Gap    float64 // tries from one refusal to the next, a moving mean
	Last   uint64  // the try that was refused last
	Top    float64 // the rate before refusals lowered it

	From, To uint64  // the test: tries after From, until To
	Before   float64 // share that was refused before them
	Missed   float64 // refused of them
	Full     float64 // the rate after them; 0: no test is under way
	Rest     float64 // refusals until the next test
	Faith    float64 // Rest after a test that found the same as the last one, at least
}

const (
	together = 4   // refusals by chance that may come together
	gaps     = 16  // that their mean is about
	shortest = 2.0 // gap: who refuses more than half does it because of the rate
	rare     = 16  // gap: what is refused less often is not worth a test
	expected = 6   // refusals in a test, if they are by chance,
	longest  = 32  // but no more tries
	again    = 8   // refusals after which it is tested again whether the rate brings them,
	faithful = 64  // and whether they are by chance; twice as many each time that they are
)

func (c *chance) seen(n uint64, rate float64) {
	gap := 0.
	if n > c.Last {
		gap = float64(n - c.Last)
	}
	if c.Last == 0 {
		c.Gap = min(gap, 2*shortest)
	}
	c.Gap += (gap - c.Gap) / gaps
	c.Last = max(c.Last, n)
	c.Rest--
	if c.Gap < shortest {
		c.Share, c.Credit, c.Rest, c.Top = 0, 0, 0, rate
	}
}

// byChance reports whether a refusal is by chance, as far as is known, and so not to
// be held against the rate. It is told of each try that has ended.
func (p *Pace) byChance(s Sending, refused bool) bool {
	c := &p.Chance
	c.Credit = min(together, c.Credit+c.Share)
	if c.Full > 0 && s.Number > c.To {
		p.judge()
	}
	if !refused {
		return false
	}
	c.seen(s.Number, p.Rate)
	if s.Number > c.From && s.Number <= c.To {
		c.Missed++
	}
	if c.Credit < 1 || s.Number <= p.Fence {
		return false
	}
	c.Credit--
	p.test(p.measured(float64(s.Number)-p.Refused-p.Accepted, s.At))
	return true
}

// doubt begins a test where refusals have lowered the rate by a quarter.
func (p *Pace) doubt(m float64) {
	if p.Rate < .75*p.Chance.Top {
		p.test(m)
	}
}

// test halves the rate for some tries, unless more is refused than is ever by chance, or
// less than matters. The provider accepted m a second.
func (p *Pace) test(m float64) {
	c := &p.Chance
	if c.Full > 0 || c.Gap < shortest || c.Gap > rare || c.Rest > 0 {
		return
	}
	c.From, c.To = p.Sent, p.Sent+uint64(min(longest, max(window, expected*c.Gap)))
	c.Before, c.Missed = 1/c.Gap, 0
	c.Full, p.Rate = p.Rate, min(p.Rate, max(m, p.Rate/4))/2
	p.Fence = c.To
}

func (p *Pace) judge() {
	c := &p.Chance
	p.Rate = c.Full
	switch share := c.Missed / float64(c.To-c.From); {
	case share <= c.Before/4 || share > min(.6, 2*c.Before): // with more, less is granted than before
		c.Share, c.Credit, c.Faith = 0, 0, again
		p.Gain = min(p.Gain, fastest)
	case c.Share > 0:
		c.Share, c.Faith = c.Before, 2*c.Faith
	default:
		c.Share, c.Credit, c.Faith = c.Before, together, faithful
		p.Rate, p.Gain = max(p.Rate, c.Top), .01
	}
	c.Top, c.Rest, c.Full = p.Rate, c.Faith, 0
}
