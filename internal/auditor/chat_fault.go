package auditor

import (
	"fmt"
	"sync"
	"time"
)

// How often the same fault is met before it counts as one that stays. Requests in
// flight together meet it once.
const (
	unreachedTries = 3 // of a server that was never reached: about three seconds
	envelopeTries  = 4 // of one that is reached, and gives no reply that can be read
	// brokenTries are of one that has answered before: where one connection in five
	// breaks, four running do in any longer run.
	brokenTries = 20
	// dialTime is how long a server may take to accept a connection.
	dialTime = 5 * time.Second
)

// A standstill counts the faults that no waiting mends: a server that is not there,
// or that does not speak the protocol.
type standstill struct {
	mu       sync.Mutex
	fault    string
	times    int
	first    time.Time // when the request began that met it first
	last     time.Time // when it was counted last
	answered bool      // the server has answered before: it is there, and may come back
}

// ends forgets the faults: the server answered.
func (s *standstill) ends() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.times, s.answered = "", 0, true
}

// stays counts a failure and gives how often it was met where that is too often; 0
// where the request may be tried again.
func (s *standstill) stays(f *failure) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.fault == "" || f.fault == unreached && s.answered {
		return 0
	}
	if f.fault != s.fault {
		s.fault, s.times, s.first = f.fault, 0, f.attempt.Started
	} else if f.attempt.Started.Before(s.last) {
		return 0
	}
	s.times++
	s.last = time.Now()
	lost := f.fault == unreached && (s.times >= unreachedTries || s.last.Sub(s.first) >= dialTime)
	most := envelopeTries
	if f.fault == brokenOff && s.answered {
		most = brokenTries
	}
	if lost || s.times >= most {
		return s.times
	}
	return 0
}

// unreached is the fault of a server that nothing was heard of, brokenOff of one whose
// connection ends within its response; others are named by status and code.
const (
	unreached = "unreached"
	brokenOff = "broken off"
)

// stopAt makes a fault that stays one that ends the run.
func (c *chat) stopAt(f *failure) {
	times := c.standstill.stays(f)
	if times == 0 || f.fatal != nil {
		return
	}
	advice := "expected a server that speaks OpenAI's chat completions"
	if f.fault == unreached {
		advice = "expected a server there: check the address, its port and http or https"
	}
	f.fatal = fmt.Errorf("%s: %s (%d times running at %s): %s", c.config.Name, f.text, times, c.address, advice)
}
