package auditor

import (
	"math"
	"net"
	"net/http"
	"time"
)

// newTransport returns a transport that keeps a connection for each request in
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
	if first := via[0].URL; req.URL.Host != first.Host || req.URL.Scheme != first.Scheme ||
		len(via) >= 10 {
		return http.ErrUseLastResponse
	}
	return nil
}

// never is the time of what is not waited for.
const never = time.Duration(math.MaxInt64)

// patience returns how long a stream may now stand still. Before the first word, and between
// two items of an answer, a model may think in silence.
func (r *reply) patience(idle time.Duration) time.Duration {
	switch {
	case r.done:
		return min(idle, trailer)
	case r.whole:
		return min(idle, lateUsage)
	case r.written == 0, r.between:
		return never
	}
	return idle
}
