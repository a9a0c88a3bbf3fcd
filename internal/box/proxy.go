package box

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"assay/audit"
)

// A proxy connects the program of one run to the hosts that its section names and to no
// others. In requests to the provider it replaces a token by the key, so that the program needs
// no key.
//
// A program under bubblewrap can reach nothing else: its network holds the proxy's listener
// alone. Landlock lets it connect to the proxy's port alone. A program that nothing confines is
// asked by its environment to use the proxy.
type proxy struct {
	network    audit.Network
	provider   *url.URL  // nil if the section names none
	token, key string    // both empty if no key is set
	scrubber   *scrubber // nil if there is no key, or it is too short to be searched for
	address    string    // as the program sees it
	listener   net.Listener
	server     *http.Server
	transport  *http.Transport
	ctx        context.Context
	end        context.CancelFunc
	tunnels    sync.WaitGroup
	above      func(*http.Request) (*url.URL, error) // the proxy of this machine
	open, work chan struct{}                         // connections, and requests under way

	mu      sync.Mutex
	traffic map[string]*audit.Traffic
}

const (
	boxAddress = "127.0.0.1:3128" // of the proxy, under bubblewrap
	maxHosts   = 1000             // that are logged apart: a program can ask for any number

	// leastKey is the least length of a key that is searched for. A shorter one may be any word,
	// set for a server that needs no key.
	leastKey = 16

	// atOnce bounds the connections that wait for a request, and the requests under way. Each
	// takes open files of this process, which other runs need.
	atOnce = 256
)

// newProxy returns the proxy of a run; nil where its section asks for no network or for all
// of it. Where the program has no network of its own it listens at once.
func newProxy(n audit.Network, ownNetwork bool) (*proxy, error) {
	if n.None() || n.Open {
		return nil, nil
	}
	p := &proxy{network: n, address: boxAddress, traffic: map[string]*audit.Traffic{},
		above: http.ProxyFromEnvironment,
		open:  make(chan struct{}, atOnce), work: make(chan struct{}, atOnce)}
	if n.Provider != "" {
		given, from := n.Provider, "its Provider"
		if v := os.Getenv(n.BaseURL); v != "" {
			given, from = v, n.BaseURL
		}
		u, err := url.Parse(given)
		if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, fmt.Errorf(
				"%s is no address of a provider: expected a URL like https://api.example.com", from)
		}
		if p.provider, p.key = u, os.Getenv(n.Key); p.key != "" {
			p.token = "assay-" + rand.Text()
			if len(p.key) >= leastKey {
				p.scrubber = newScrubber(p.key, p.token)
			}
		}
	}
	p.ctx, p.end = context.WithCancel(context.Background())
	p.transport = &http.Transport{DialContext: p.dial, DisableCompression: true,
		TLSHandshakeTimeout: time.Minute}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute,
		ErrorLog:    log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return p.ctx }, ConnContext: p.enter,
		ConnState: p.leave}
	if ownNetwork {
		return p, nil
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the proxy of the run: %w", err)
	}
	p.address = l.Addr().String()
	p.serve(l)
	return p, nil
}

// port returns the port that a program connects to.
func (p *proxy) port() (uint16, error) {
	at, err := netip.ParseAddrPort(p.address)
	return at.Port(), err
}

func (p *proxy) serve(l net.Listener) {
	p.listener = l
	go func() { _ = p.server.Serve(l) }()
}

// enter takes a place for a connection. While all are taken the next connection waits.
func (p *proxy) enter(ctx context.Context, c net.Conn) context.Context {
	select {
	case p.open <- struct{}{}:
	case <-p.ctx.Done():
		_ = c.Close()
	}
	return ctx
}

// leave frees the place of a connection that was closed, or that a tunnel has taken over, which
// counts as a request under way.
func (p *proxy) leave(_ net.Conn, state http.ConnState) {
	if state == http.StateClosed || state == http.StateHijacked {
		select {
		case <-p.open:
		default: // it never entered
		}
	}
}

// close ends all connections of the proxy and returns the traffic by host; nil for a nil proxy.
func (p *proxy) close() []audit.Traffic {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	p.end() // from here on no tunnel begins
	p.mu.Unlock()
	_ = p.server.Close()
	if p.listener != nil {
		_ = p.listener.Close()
	}
	p.transport.CloseIdleConnections()
	p.tunnels.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []audit.Traffic
	for _, t := range p.traffic {
		all = append(all, *t)
	}
	slices.SortFunc(all, func(x, y audit.Traffic) int { return cmp.Compare(x.Host, y.Host) })
	return all
}

// environment returns the environment with the variables that lead to the proxy.
func (p *proxy) environment(env []string) []string {
	if p == nil {
		return env
	}
	// A program reaches its own servers directly; a server of this machine that Hosts names, by
	// the proxy.
	direct := strings.Join(slices.DeleteFunc([]string{"127.0.0.1", "localhost"},
		func(name string) bool {
			return slices.ContainsFunc(p.network.Hosts,
				func(host string) bool {
					return strings.HasPrefix(strings.ToLower(host), name+
						":")
				})
		}), ",")
	at := "http://" + p.address
	told := map[string]string{"HTTP_PROXY": at, "HTTPS_PROXY": at, "ALL_PROXY": at,
		"NO_PROXY":   direct,
		"http_proxy": at, "https_proxy": at, "all_proxy": at, "no_proxy": direct}
	if p.provider != nil {
		told[p.network.BaseURL] = at + p.provider.Path
		told[p.network.Key] = p.token
	}
	var out []string
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		if _, ours := told[name]; !ours {
			out = append(out, v)
		}
	}
	for name, value := range told {
		if value != "" {
			out = append(out, name+"="+value)
		}
	}
	slices.Sort(out)
	return out
}

// describe returns which hosts the program can reach, and which keys its environment holds.
func (p *proxy) describe(env []string) string {
	hosts := slices.Clone(p.network.Hosts)
	if p.provider != nil {
		at := p.provider.Host
		if p.key != "" {
			at += " (the proxy adds " + p.network.Key + ")"
		}
		hosts = append([]string{at}, hosts...)
	}
	said := "network through a proxy to " + strings.Join(hosts, ", ") + " alone"
	var keys []string
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if Secret(name) && value != "" && value != p.token {
			keys = append(keys, name)
		}
	}
	if len(keys) > 0 {
		said += ", in its environment " + strings.Join(keys, ", ")
	}
	return said
}

// secretName matches the names of variables that hold secrets, and neither MAX_OUTPUT_TOKENS
// nor GIT_AUTHOR_NAME.
var secretName = regexp.MustCompile(
	`(?i)(?:keys?|token|secrets?|passw(?:or)?d|passphrase|credentials?|auth|authorization)(?:[_-]|$)`)

// Secret reports whether a variable of this name probably holds a secret, which must not be
// stored.
func Secret(name string) bool { return secretName.MatchString(name) }

// ServeHTTP forwards a request, or answers why it does not: the program may report that text.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case p.work <- struct{}{}:
		defer func() { <-p.work }()
	case <-r.Context().Done():
		return
	}
	switch {
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	case r.Method == http.MethodTrace: // it would be answered with the key
		http.Error(w, "assay: TRACE is not let through", http.StatusMethodNotAllowed)
	case r.URL.IsAbs() && r.URL.Host != p.address:
		p.forward(w, r, &url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host}, "")
	case p.provider == nil:
		http.Error(w, "assay: this is the proxy of the run, and its section names no Provider",
			http.StatusNotFound)
	default:
		p.forward(w, r, p.provider, p.key)
	}
}

// keyHeaders are the headers in which a provider takes its key, and ?key= is the parameter.
var keyHeaders = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"}

// misplaced returns the part of a request that holds the token although it is not meant for
// keys; "" if there is none. A provider might quote it in its answer.
func (p *proxy) misplaced(r *http.Request) string {
	for name, values := range r.Header {
		text := strings.ToLower(name + strings.Join(values, " "))
		if strings.Contains(text, strings.ToLower(p.token)) && !slices.Contains(keyHeaders, name) {
			return "the header " + name
		}
	}
	for part := range strings.SplitSeq(r.URL.RawQuery, "&") {
		if strings.Contains(part, p.token) && part != "key="+p.token {
			return "a parameter other than key"
		}
	}
	if strings.Contains(r.URL.Path, p.token) {
		return "the path"
	}
	return ""
}

// forward sends a request on and its answer back. If there is a key, it replaces the token in
// the request where providers take keys, and the token replaces the key in the answer.
func (p *proxy) forward(w http.ResponseWriter, r *http.Request, to *url.URL, key string) {
	if key != "" {
		why := ""
		if at := p.misplaced(r); at != "" {
			why = fmt.Sprintf("%s holds the token: expected it in %s or ?key=", at,
				strings.Join(keyHeaders, ", "))
		} else if r.Header.Get("Upgrade") != "" {
			why = "an upgraded connection cannot be searched for the key: expected plain requests"
		}
		if why != "" {
			refuse(w, fmt.Errorf("the request is %w: %s", errKept, why))
			return
		}
	}
	scrub := p.scrubber
	var models *modelPair
	if key == "" {
		scrub = nil
	}
	counted := to == p.provider && r.Method == http.MethodPost
	if to == p.provider {
		models = p.watchModels(r)
	}
	if counted {
		p.noteProvider(func(t *audit.Traffic) { t.Requests++ })
	}
	reverse := httputil.ReverseProxy{Transport: p.transport, FlushInterval: -1,
		ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(pr *httputil.ProxyRequest) {
			out := pr.Out
			out.URL.Scheme, out.URL.Host, out.Host = to.Scheme, to.Host, to.Host
			if key == "" {
				return
			}
			out.URL.RawQuery = strings.ReplaceAll(out.URL.RawQuery, p.token, url.QueryEscape(key))
			for _, name := range keyHeaders {
				for i, value := range out.Header[name] {
					out.Header[name][i] = strings.ReplaceAll(value, p.token, key)
				}
			}
			out.Header.Set("Accept-Encoding", "identity")
			out.Header.Del("Range") // a key could come in two parts
		},
		ModifyResponse: func(r *http.Response) error {
			models.answered(r)
			if counted {
				p.countAnswer(r)
			}
			if scrub == nil {
				return nil
			}
			if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
				return fmt.Errorf(
					"the provider answers in the coding %q, in which the key cannot be "+
						"searched for: expected none", coding)
			}
			scrub.headers(r.Header)
			if r.Request.Method != http.MethodHead {
				r.Header.Del("Content-Length")
				r.ContentLength = -1
			}
			r.Body = &scrubbedBody{scrubber: scrub, answer: r, body: r.Body}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if scrub != nil && !errors.Is(err, errKept) {
				err = errors.New(scrub.text(err.Error()))
			}
			refuse(w, err)
		},
	}
	// Without it the server closes the request as the answer begins. A provider that answers
	// before our last read of the request would have its answer cut off.
	_ = http.NewResponseController(w).EnableFullDuplex()
	reverse.ServeHTTP(w, r)
}

// tunnel answers a CONNECT request and copies bytes both ways.
func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	if !p.begin() {
		return
	}
	defer p.tunnels.Done()
	there, err := p.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		refuse(w, err)
		return
	}
	defer there.Close()
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		refuse(w, err)
		return
	}
	defer here.Close()
	defer context.AfterFunc(p.ctx, func() { _, _ = here.Close(), there.Close() })()
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.Copy(there, buffered)
		endWriting(there)
	}()
	_, _ = io.Copy(here, there)
	endWriting(here)
	<-sent
}

// begin registers a tunnel. It reports false if the run has ended.
func (p *proxy) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() == nil {
		p.tunnels.Add(1)
	}
	return p.ctx.Err() == nil
}

func endWriting(c net.Conn) {
	if counted, ok := c.(*countedConn); ok {
		c = counted.Conn
	}
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// errKept is the error of a host or request that the section does not allow.
var errKept = errors.New("not let through")

func refuse(w http.ResponseWriter, err error) {
	status := http.StatusBadGateway
	if errors.Is(err, errKept) {
		status = http.StatusForbidden
	}
	http.Error(w, "assay: "+err.Error(), status)
}

// dial connects to an allowed host. The connection counts its bytes.
func (p *proxy) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is no host with a port", address)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	address = net.JoinHostPort(host, port)
	if !p.allowed(host, port) {
		p.note(address, func(t *audit.Traffic) { t.Refused++ })
		return nil, fmt.Errorf("%s is %w: its section of auditors.md names other Hosts",
			address, errKept)
	}
	c, err := p.connect(ctx, network, address)
	if err != nil {
		if errors.Is(err, errKept) {
			p.note(address, func(t *audit.Traffic) { t.Refused++ })
		}
		return nil, err
	}
	p.note(address, func(t *audit.Traffic) { t.Connections++ })
	return &countedConn{Conn: c, proxy: p, host: address}, nil
}

// portOf returns the port of a URL, which its scheme implies if it names none.
func portOf(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"https": "443", "http": "80"}[u.Scheme])
}

// allowed reports whether the section names a host with this port.
func (p *proxy) allowed(host, port string) bool {
	if p.provider != nil && host == strings.ToLower(p.provider.Hostname()) &&
		port == portOf(p.provider) {
		return true
	}
	return slices.ContainsFunc(p.network.Hosts, func(named string) bool {
		name, at, found := strings.Cut(strings.ToLower(named), ":")
		if !found {
			at = "443"
		}
		below, wild := strings.CutPrefix(name, "*")
		return at == port && (name == host || wild && strings.HasSuffix(host, below) &&
			len(host) > len(below))
	})
}

// connect connects to a host, through the proxy of this machine if it has one.
func (p *proxy) connect(ctx context.Context, network, address string) (net.Conn, error) {
	above, err := p.above(&http.Request{URL: &url.URL{Scheme: "https", Host: address}})
	if err != nil {
		return nil, err
	}
	if above == nil {
		return (&net.Dialer{Timeout: time.Minute,
			ControlContext: notHere(address)}).DialContext(ctx, network, address)
	}
	if above.Scheme != "http" {
		return nil, fmt.Errorf("the proxy of this machine is %s: expected one with http://",
			above.Redacted())
	}
	c, err := (&net.Dialer{Timeout: time.Minute}).DialContext(ctx, network,
		net.JoinHostPort(above.Hostname(), portOf(above)))
	if err != nil {
		return nil, err
	}
	ask := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address,
		Header: http.Header{}}
	if u := above.User; u != nil {
		password, _ := u.Password()
		as := http.Request{Header: http.Header{}}
		as.SetBasicAuth(u.Username(), password)
		ask.Header.Set("Proxy-Authorization", as.Header.Get("Authorization"))
	}
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if err := ask.Write(c); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	read := bufio.NewReaderSize(oneByte{c}, 16)
	resp, err := http.ReadResponse(read, ask)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if resp.StatusCode != http.StatusOK {
		err := fmt.Errorf("the proxy of this machine, %s, does not connect to %s: %s",
			above.Redacted(), address, resp.Status)
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// oneByte reads one byte at a time, so that a buffer above it reads no more than the answer:
// what follows belongs to the tunnel.
type oneByte struct{ io.Reader }

func (r oneByte) Read(b []byte) (int, error) { return r.Reader.Read(b[:min(len(b), 1)]) }

// notHere returns a check that refuses a name that resolves to this machine or its link: servers
// there may rely on being out of reach. A section can name such an address itself.
func notHere(address string) func(context.Context, string, string, syscall.RawConn) error {
	host, _, _ := net.SplitHostPort(address)
	_, err := netip.ParseAddr(host)
	named := err == nil || host == "localhost"
	return func(_ context.Context, _, to string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(to)
		if err != nil || named {
			return err
		}
		ip := at.Addr().Unmap()
		if ip.IsLoopback() || ip.IsUnspecified() || ip.IsLinkLocalUnicast() || ip.IsMulticast() ||
			ofThisMachine(ip) {
			return fmt.Errorf("%s leads to %s, which is %w: name the address itself under Hosts",
				address, ip, errKept)
		}
		return nil
	}
}

// ofThisMachine reports whether an address belongs to an interface of this machine.
func ofThisMachine(ip netip.Addr) bool {
	addresses, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(addresses, func(a net.Addr) bool {
		own, err := netip.ParsePrefix(a.String())
		return err == nil && own.Addr().Unmap() == ip
	})
}

// note changes what is counted for a host.
func (p *proxy) note(host string, f func(*audit.Traffic)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.traffic[host] == nil {
		if len(p.traffic) >= maxHosts {
			host = "others"
		}
		if p.traffic[host] == nil {
			p.traffic[host] = &audit.Traffic{Host: host}
		}
	}
	f(p.traffic[host])
}

// A countedConn is a connection whose bytes are counted.
type countedConn struct {
	net.Conn
	proxy *proxy
	host  string
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.proxy.note(c.host, func(t *audit.Traffic) { t.Received += int64(n) })
	return n, err
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.proxy.note(c.host, func(t *audit.Traffic) { t.Sent += int64(n) })
	return n, err
}
