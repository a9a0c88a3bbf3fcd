package auditor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
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

// A circuitBreaker counts the faults that waiting does not mend: a server that is not there, or
// that does not speak the protocol.
type circuitBreaker struct {
	mu       sync.Mutex
	fault    string
	times    int
	first    time.Time // when the request began that met it first
	last     time.Time // when it was counted last
	answered bool      // the server has answered before: it is there, and may come back
}

// closes forgets the faults: the server answered.
func (s *circuitBreaker) closes() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.times, s.answered = "", 0, true
}

// opens counts a failure. It returns how often it was met where that is too often, and 0 where
// the request may be sent again.
func (s *circuitBreaker) opens(f *failure) int {
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

// breakAt makes a fault that waiting does not mend one that ends the run.
func (c *client) breakAt(f *failure) {
	times := c.breaker.opens(f)
	if times == 0 || f.fatal != nil {
		return
	}
	advice := "expected a server that speaks " + c.api.name()
	if f.fault == unreached {
		advice = "expected a server there: check the address, its port and http or https"
	}
	f.fatal = fmt.Errorf("%s: %s (%d times running at %s): %s", c.config.Name, f.text, times,
		c.address, advice)
}

// DefaultChatSilence is how long a server that has never answered may accept connections
// without sending a byte. It is longer than dialTime, so that a server that accepts no
// connection is reported as such.
const DefaultChatSilence = 7 * time.Second

var errSilent = errors.New("the server says nothing")

// A probe checks once, before the first request, whether a server answers, because a thinking
// model is as silent as an address without a server. It requests GET /models without the key;
// any answer will do.
type probe struct {
	mu     sync.Mutex
	heard  bool
	failed error // of the last one, for all that waited for it
	at     time.Time
}

// preflight returns what is wrong with a server that cannot be reached or says nothing. Every
// other fault is left to the request itself.
func (c *client) preflight(ctx context.Context) error {
	g, asked := &c.probe, time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.heard || g.at.After(asked) {
		return g.failed
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.config.Silence, errSilent)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		strings.TrimSuffix(c.config.BaseURL, "/")+"/models", nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "assay")
	res, err := c.http.Do(req)
	var dial *net.OpError
	switch {
	case err == nil:
		_ = res.Body.Close()
		g.heard, g.failed = true, nil
	case context.Cause(ctx) == errSilent:
		g.failed = errSilent
	case errors.As(err, &dial) && dial.Op == "dial":
		g.failed = err
	default:
		g.failed = nil
	}
	g.at = time.Now()
	return g.failed
}
