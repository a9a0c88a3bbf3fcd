package auditor

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// DefaultChatSilence is how long a server that was never heard of may take
// connections and send no byte. It is longer than dialTime, so that one that takes no
// connection is told as such.
const DefaultChatSilence = 7 * time.Second

var errSilent = errors.New("the server says nothing")

// A greeting asks a server once, before the first request, whether anybody is there. A
// model that thinks is as silent as an address without a server; what tells them apart
// is a request that needs no thought: GET /models, without the key, whatever is
// answered.
type greeting struct {
	mu     sync.Mutex
	heard  bool
	failed error // of the last one, for all that waited for it
	at     time.Time
}

// greet gives what is wrong with a server that cannot be reached, or says nothing; of
// every other fault the request itself will tell.
func (c *chat) greet(ctx context.Context) error {
	g, asked := &c.greeting, time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.heard || g.at.After(asked) {
		return g.failed
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.config.Silence, errSilent)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.config.BaseURL, "/")+"/models", nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "assay")
	res, err := c.client.Do(req)
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
