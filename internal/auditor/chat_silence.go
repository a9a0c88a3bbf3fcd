package auditor

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// DefaultChatSilence is how long a server that was never heard of may take
	// connections and send no byte.
	DefaultChatSilence = 7 * time.Second
	// headStart is how long the greeting goes before the first request, for servers
	// that serve one at a time.
	headStart = time.Second
)

var errSilent = errors.New("the server says nothing")

// A greeting asks once, beside the first request, whether anybody is there. A model
// that thinks is as silent as an address without a server; what tells them apart is a
// request that needs no thought: GET /models, without the key, whatever is answered.
type greeting struct {
	over   chan struct{} // closed when it is known
	silent bool          // to be read when it is over
}

// A greetings holds the greeting of a chat, nil before the first and after one that
// nobody answered.
type greetings struct {
	mu  sync.Mutex
	now *greeting
}

// greet gives the chat's greeting, which has had its head start.
func (c *chat) greet(ctx context.Context) *greeting {
	c.greetings.mu.Lock()
	g := c.greetings.now
	if g == nil {
		g = &greeting{over: make(chan struct{})}
		c.greetings.now = g
		go c.listen(ctx, g)
	}
	c.greetings.mu.Unlock()
	select {
	case <-g.over:
	case <-ctx.Done():
	case <-time.After(headStart):
	}
	return g
}

func (c *chat) listen(parent context.Context, g *greeting) {
	defer close(g.over)
	ctx, cancel := context.WithTimeout(parent, c.config.Silence)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.config.BaseURL, "/")+"/models", nil)
	if err != nil {
		return // the request itself will tell
	}
	req.Header.Set("User-Agent", "assay")
	res, err := c.config.Client.Do(req)
	if err == nil {
		_ = res.Body.Close()
		c.heard.Store(true)
		return
	}
	g.silent = ctx.Err() != nil && parent.Err() == nil
	c.greetings.mu.Lock()
	c.greetings.now = nil
	c.greetings.mu.Unlock()
}

// unlessSilent ends a request to a server that did not answer the greeting, where it
// was never heard of either. done is called when a response has begun.
func (c *chat) unlessSilent(g *greeting, end context.CancelCauseFunc) (done func()) {
	heard := make(chan struct{})
	go func() {
		select {
		case <-heard:
		case <-g.over:
			if g.silent && !c.heard.Load() {
				end(errSilent)
			}
		}
	}()
	return func() { close(heard) }
}
