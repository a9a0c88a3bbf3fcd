package mockapi

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
)

// A Situation is what may happen to a run, and what has to come of it whoever carries
// the run out: one process, or workers that share a database.
type Situation struct {
	Name    string
	Trials  int
	Most    int           // requests at once
	Budget  float64       // USD; 0: none
	Tries   int           // of each trial; 0: the default
	MaxWait time.Duration // 0: the default
	Script  func(Request) Reply

	Answered int                // trials with an answer; 0: all; some: not all
	Stop     string             // what the only reason to stop says; empty: there is none
	Asked    [2]int             // requests, at least and at most; zero: one a trial
	Ended    func(*Ended) error // what else has to hold; may be nil
}

// An Ended is what a run says that it came to, money in USD.
type Ended struct {
	Answered, Skipped   int
	Spent, Unsure, Over float64
	Stops               []string
	most                float64 // that a try may cost, as it is said
}

// some trials are answered, and some are skipped.
const some = -1

const refused = `{"error":{"message":"as told","code":0}}`

// Situations are what every driver of a run is held to. Each trial's prompt is another
// one, and the model's listed price makes the most that a try may cost several times
// the cost of most answers here.
var Situations = []Situation{
	{Name: "all is well", Trials: 60, Most: 6, Script: func(Request) Reply { return Reply{Cost: .00001, Latency: time.Millisecond} }},
	{Name: "a gateway fails now and then", Trials: 60, Most: 6, Asked: [2]int{62, 75}, Script: func(r Request) Reply {
		if r.N%20 == 3 {
			return Reply{Status: 502, Body: "{}"}
		}
		return Reply{Cost: .00001}
	}},
	{Name: "one fails always", Trials: 30, Most: 3, Tries: 3, Answered: 29, Asked: [2]int{32, 32}, Script: func(r Request) Reply {
		if strings.Contains(r.Prompt+"\n", "SELECT 5\n") {
			return Reply{Status: 500, Body: "{}"}
		}
		return Reply{Cost: .00001}
	}},
	{Name: "an answer is of no use once", Trials: 12, Most: 4, Asked: [2]int{24, 24}, Script: func(r Request) Reply {
		if strings.Contains(r.Prompt, "could not be used: ") {
			return Reply{Cost: .00001}
		}
		return Reply{Content: "hm", Cost: .00001}
	}},
	{Name: "too much at once", Trials: 80, Most: 8, Asked: [2]int{81, 120}, Script: func(r Request) Reply {
		if r.N%40 < 4 && r.N > 4 {
			return Reply{Status: 429, Body: refused}
		}
		return Reply{Cost: .00001, Latency: 5 * time.Millisecond}
	}},
	{Name: "too much at once, with Retry-After", Trials: 80, Most: 8, Asked: [2]int{81, 120}, Script: func(r Request) Reply {
		if r.N == 40 {
			return Reply{Status: 429, Body: refused, Header: map[string]string{"Retry-After-Ms": "300"}}
		}
		return Reply{Cost: .00001, Latency: 5 * time.Millisecond}
	}},
	{Name: "Retry-After is too long", Trials: 60, Most: 4, MaxWait: time.Second, Answered: some, Asked: [2]int{10, 13}, Stop: "(Retry-After), longer than 1s", Script: func(r Request) Reply {
		if r.N >= 10 {
			return Reply{Status: 429, Body: refused, Header: map[string]string{"Retry-After": "600"}}
		}
		return Reply{Cost: .00001}
	}},
	{Name: "the limits that are stated last for hours", Trials: 60, Most: 4, Answered: some, Asked: [2]int{10, 13}, Stop: "states limits by which the next request waits", Script: func(r Request) Reply {
		return Reply{Cost: .00001, Header: map[string]string{"x-ratelimit-limit-requests": "10", "x-ratelimit-remaining-requests": fmt.Sprint(max(0, 10-r.N)),
			"x-ratelimit-reset-requests": "23h0m0s"}}
	}},
	{Name: "the key is revoked", Trials: 60, Most: 4, Answered: 30, Asked: [2]int{31, 34}, Stop: "the key in ASSAY_API_KEY was refused", Script: func(r Request) Reply {
		if r.N > 30 {
			return Reply{Status: 401, Body: `{"error":{"code":401,"message":"no"}}`}
		}
		return Reply{Cost: .00001}
	}},
	{Name: "the budget is used up, and some answers are lost", Trials: 200, Most: 12, Budget: .005, Answered: some, Asked: [2]int{20, 200}, Stop: "is used up", Script: func(r Request) Reply {
		if r.N%10 == 0 {
			return Reply{Cost: .00004, CutAfter: 40} // charged, and nobody learns it
		}
		return Reply{Cost: .00004, Latency: time.Duration(r.N%7) * time.Millisecond}
	}, Ended: func(e *Ended) error {
		if e.Unsure <= 0 || e.Spent < .005-2*e.most {
			return fmt.Errorf("$%.5f of $0.005 spent, $%.5f of it unsure: expected nearly all, and some of it unsure", e.Spent, e.Unsure)
		}
		return nil
	}},
	{Name: "the price has risen", Trials: 150, Most: 4, Budget: .05, Answered: some, Asked: [2]int{40, 50}, Stop: "the next one may cost $0.0015", Script: func(Request) Reply { return Reply{Cost: .001} },
		Ended: func(e *Ended) error {
			if e.Over <= 0 {
				return fmt.Errorf("nothing is said of what tries cost more than they were said to")
			}
			return nil
		}},
}

// Holds reports what does not hold of a run that ended; s is the server that it asked.
// most is what a try may cost at most, as it is said, USD.
func (u *Situation) Holds(s *Server, e Ended, most float64) error {
	e.most = most
	asked, books := len(s.Requests()), s.Charged()+s.ChargedBroken()
	low, high := cmp.Or(u.Asked[0], u.Trials), cmp.Or(u.Asked[1], u.Trials)
	limit := cmp.Or(u.Budget, math.Inf(1))
	switch {
	case u.Answered != some && e.Answered != cmp.Or(u.Answered, u.Trials):
		return fmt.Errorf("%d of %d are answered: expected %d", e.Answered, u.Trials, cmp.Or(u.Answered, u.Trials))
	case u.Answered == some && e.Skipped == 0:
		return fmt.Errorf("nothing is skipped")
	case asked < low || asked > high:
		return fmt.Errorf("asked %d times: expected %d to %d", asked, low, high)
	case s.MostInFlight() > u.Most:
		return fmt.Errorf("%d requests at once: expected %d at most", s.MostInFlight(), u.Most)
	case books > e.Spent+1e-9 || e.Spent > limit+1e-9 || books > limit+1e-9:
		return fmt.Errorf("the provider charged $%.6f, accounted are $%.6f: expected no more than that, and no more than $%.6f", books, e.Spent, limit)
	case e.Unsure == 0 && math.Abs(books-e.Spent) > 1e-9:
		return fmt.Errorf("the provider charged $%.6f, accounted are $%.6f, none of it unsure", books, e.Spent)
	case u.Stop == "" && len(e.Stops) > 0 || u.Stop != "" && (len(e.Stops) != 1 || !strings.Contains(e.Stops[0], u.Stop)):
		return fmt.Errorf("it stopped because of %q: expected %q and nothing else", e.Stops, u.Stop)
	case u.Ended != nil:
		return u.Ended(&e)
	}
	return nil
}
