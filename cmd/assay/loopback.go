package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// A loopback serves pages to this machine only. Another site in the same browser cannot read
// them, since it names another host, and cannot change anything, since it does not know the
// token that the pages hold.
type loopback struct {
	net.Listener
	token string
}

// listen returns a listener at an address of the loopback interface, with port 0 at a free port. It
// fails for other addresses.
func listen(address string) (*loopback, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("--serve: %w: expected an address like 127.0.0.1:8080", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("--serve %s: expected an address that only this machine reaches, "+
			"like 127.0.0.1:8080", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return &loopback{l, rand.Text()}, nil
}

// serve prints its address to w and serves h, behind guard, until ctx ends.
func (l *loopback) serve(ctx context.Context, h http.Handler, w io.Writer) error {
	server := &http.Server{Handler: l.guard(h), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	fmt.Fprintf(w, "http://%s/\n", l.Addr())
	if err := server.Serve(l); ctx.Err() == nil {
		return err
	}
	return nil
}

// guard returns a handler that refuses requests for another host, and those that change something
// without the token.
func (l *loopback) guard(h http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	mine := map[string]bool{l.Addr().String(): true, "localhost:" + port: true,
		"127.0.0.1:" + port: true, "[::1]:" + port: true}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		w.Header().Set("X-Frame-Options", "DENY")
		switch {
		case !mine[r.Host]:
			http.Error(w, "another host was asked for: expected "+l.Addr().String(),
				http.StatusForbidden)
		case r.Method != http.MethodGet && r.Method != http.MethodHead &&
			subtle.ConstantTimeCompare([]byte(r.Header.Get("X-Assay-Token")), []byte(l.token)) != 1:
			http.Error(w, "the request has no token of this page: reload the page",
				http.StatusForbidden)
		default:
			h.ServeHTTP(w, r)
		}
	})
}
