package auditor

import (
	"context"
	"net"
	"net/http"
	"time"
)

// newTransport gives a transport that keeps a connection for each request in
// flight (Go's default keeps two for a host and opens the rest anew) and does not wait
// for a host that is silent.
func newTransport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 1024, 1024
	t.DialContext = (&net.Dialer{Timeout: dialTime, KeepAlive: 30 * time.Second}).DialContext
	return t
}

// stay refuses a redirect to another host, or to another scheme: the key and the
// prompt would go there too.
func stay(req *http.Request, via []*http.Request) error {
	if first := via[0].URL; req.URL.Host != first.Host || req.URL.Scheme != first.Scheme || len(via) >= 10 {
		return http.ErrUseLastResponse
	}
	return nil
}

// A watch ends a request whose stream stands still, or stays open after its end.
type watch struct {
	end   context.CancelCauseFunc
	idle  time.Duration
	timer *time.Timer
	over  bool
}

// alive is told of each event of the stream.
func (w *watch) alive(r *reply) {
	switch {
	case r.done && !w.over:
		w.stop()
		w.over = true
		w.timer = time.AfterFunc(trailer, func() { w.end(errOver) })
	case w.over:
	case w.timer == nil && r.written > 0:
		w.timer = time.AfterFunc(w.idle, func() { w.end(errIdle) })
	case w.timer != nil:
		w.timer.Reset(w.idle)
	}
}

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}
