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

// A greetings holds the greeting of a chat, which asks once, beside the first request,
// whether anybody is there; nil before it and after one that nobody answered. A model
// that thinks is as silent as an address without a server; what tells them apart is a
// request that needs no thought: GET /models, without the key, whatever is answered.
type greetings struct {
	mu  sync.Mutex
	now context.Context // ended when it is known, by errSilent where nobody answered in time
}

// greet gives the chat's greeting, which has had its head start.
func (c *chat) greet(ctx context.Context) context.Context {
	c.greetings.mu.Lock()
	if c.greetings.now == nil {
		now, over := context.WithCancelCause(context.Background())
		c.greetings.now = now
		go func() { over(c.listen(ctx)) }()
	}
	g := c.greetings.now
	c.greetings.mu.Unlock()
	select {
	case <-g.Done():
	case <-ctx.Done():
	case <-time.After(headStart):
	}
	return g
}

// listen asks, and gives errSilent where nothing was heard.
func (c *chat) listen(parent context.Context) error {
	ctx, cancel := context.WithTimeout(parent, c.config.Silence)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.config.BaseURL, "/")+"/models", nil)
	if err != nil {
		return nil // the request itself will tell
	}
	req.Header.Set("User-Agent", "assay")
	res, err := c.config.Client.Do(req)
	if err == nil {
		_ = res.Body.Close()
		c.heard.Store(true)
		return nil
	}
	c.greetings.mu.Lock()
	c.greetings.now = nil
	c.greetings.mu.Unlock()
	if ctx.Err() != nil && parent.Err() == nil {
		return errSilent
	}
	return nil
}

// unlessSilent ends a request to a server that did not answer the greeting, where it
// was never heard of either. done is called when a response has begun.
func (c *chat) unlessSilent(g context.Context, end context.CancelCauseFunc) (done func() bool) {
	return context.AfterFunc(g, func() {
		if context.Cause(g) == errSilent && !c.heard.Load() {
			end(errSilent)
		}
	})
}
