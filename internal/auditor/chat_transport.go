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
}

// alive is told of each event of the stream.
func (w *watch) alive(r *reply) {
	wait := w.idle
	switch {
	case r.done:
		wait = min(wait, trailer)
	case r.whole:
		wait = min(wait, lateUsage)
	case r.written == 0: // before the first word nothing can be told from silence
		return
	}
	if w.timer == nil {
		w.timer = time.AfterFunc(wait, func() { w.end(errIdle) })
	} else {
		w.timer.Reset(wait)
	}
}

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}
