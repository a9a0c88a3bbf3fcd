//go:build linux

package box

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"assay/audit"
)

// get asks for each URL as a CLI does, by the proxy of its environment, and shows
// what it is answered line by line. What it adds is the key of its environment. A
// "+" before a URL asks for it as soon as the line before is there.
func get(urls []string) {
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for i, u := range urls {
		if strings.HasPrefix(u, "+") {
			continue
		}
		r, err := http.NewRequest("GET", u, nil)
		if err != nil {
			fmt.Println(err)
			continue
		}
		r.Header.Set("Authorization", "Bearer "+os.Getenv("PROVIDER_KEY"))
		resp, err := client.Do(r)
		if err != nil {
			fmt.Println(err)
			continue
		}
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			fmt.Println(resp.StatusCode, lines.Text())
			if i+1 < len(urls) && strings.HasPrefix(urls[i+1], "+") {
				more, err := client.Get(urls[i+1][1:])
				if err == nil {
					_ = more.Body.Close()
				}
			}
		}
		_ = resp.Body.Close()
	}
}

// dial tries to reach addresses without a proxy.
func dial(addresses []string) {
	for _, a := range addresses {
		c, err := net.Dial("tcp", a)
		if err == nil {
			_ = c.Close()
			fmt.Println("REACHED", a)
			continue
		}
		fmt.Println("KEPT OUT", err)
	}
}

// connectTo puts what a section names into a process.
func connectTo(n audit.Network) func(*Process) {
	return func(p *Process) { p.Network = n }
}

// TestProviderGetsTheKey checks that the proxy replaces the token by the key, that the program
// sees the token alone, and that answers arrive as they are streamed.
func TestProviderGetsTheKey(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		const key = "sk-canary-8d1f0c77"
		seen := make(chan struct{})
		var once sync.Once
		provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
			r *http.Request) {
			switch r.URL.Path {
			case "/v1/seen":
				once.Do(func() { close(seen) })
			case "/v1/stream":
				_, _ = fmt.Fprintln(w, "first")
				_ = http.NewResponseController(w).Flush()
				<-seen
				_, _ = fmt.Fprintln(w, "last")
			default:
				_, _ = fmt.Fprintln(w, r.Host, r.URL.Path,
					r.Header.Get("Authorization") == "Bearer "+key, r.URL.Query().Get("key") == key,
					r.Header.Get("X-Forwarded-For"))
			}
		}))
		defer provider.Close()
		t.Setenv("PROVIDER_KEY", key)
		t.Setenv("PROVIDER_URL", provider.URL+"/v1")
		n := audit.Network{Provider: "https://api.example.com", BaseURL: "PROVIDER_URL",
			Key: "PROVIDER_KEY"}
		through := func(p *Process) {
			p.Env = append(p.Env, "PROVIDER_KEY="+key, "PROVIDER_URL="+provider.URL+"/v1")
		}
		e, _ := l.run(
			`env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\0' '\n' | grep -c canary-8d1f[0]c77; exec "$SELF" get "$PROVIDER_URL/ask?key=$PROVIDER_KEY" "$PROVIDER_URL/stream" "+$PROVIDER_URL/seen"`, through, connectTo(n))
		require.Equal(t, 0, e.Code, string(e.Stderr))
		said, host := string(e.Stdout), strings.TrimPrefix(provider.URL, "http://")
		require.Contains(t, said, "200 "+host+" /v1/ask true true \n200 first\n200 last\n")
		require.NotContains(t, said, key)
		require.NotContains(t, said, provider.URL)
		require.Contains(t, said, "PROVIDER_KEY=assay-")
		require.Contains(t, e.Confined, "proxy to "+host+" (the proxy adds PROVIDER_KEY) alone;")
		require.Len(t, e.Network, 1)
		require.Equal(t, host, e.Network[0].Host)
		require.NotZero(t, e.Network[0].Connections)
		require.Greater(t, e.Network[0].Sent, int64(100))
		require.Greater(t, e.Network[0].Received, int64(100))
		if l.box != nil {
			require.Contains(t, said, "\n0\n", "no process of the box holds the key")
		}
	})
}

// TestAnswerBeforeTheRequestIsRead checks that a provider may stream its answer while the
// program still sends its request: neither loses a byte.
func TestAnswerBeforeTheRequestIsRead(t *testing.T) {
	const chunks = 300
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		duplex := http.NewResponseController(w)
		_ = duplex.EnableFullDuplex()
		for i := range chunks {
			_, _ = fmt.Fprintf(w, "data: {\"i\": %d}\n\n", i)
			_ = duplex.Flush()
		}
		n, err := io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprint(w, "read ", n, " ", err)
	}))
	defer provider.Close()
	for _, key := range []string{"", "sk-canary-8d1f0c77"} {
		t.Setenv("PROVIDER_KEY", key)
		n := audit.Network{Provider: provider.URL, BaseURL: "PROVIDER_URL", Key: "PROVIDER_KEY"}
		p, err := newProxy(n, false)
		require.NoError(t, err)
		defer p.close()
		post := func(size int) {
			body := strings.NewReader(strings.Repeat("x", size))
			resp, err := http.Post("http://"+p.address+"/v1/ask", "text/plain", body)
			require.NoError(t, err)
			answer, err := io.ReadAll(resp.Body)
			require.NoError(t, errors.Join(err, resp.Body.Close()))
			require.Equal(t, chunks, strings.Count(string(answer), "\n\n"))
			require.True(t, strings.HasSuffix(string(answer), fmt.Sprint("read ", size, " <nil>")))
		}
		post(32 << 20) // more than the sockets between hold
		for range 60 {
			post(100_000)
		}
	}
}

// TestNamedHostsOnly checks that only the hosts of the section can be reached, and that refused
// ones are logged.
func TestNamedHostsOnly(t *testing.T) {
	both(t, func(t *testing.T, l *lair) {
		hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_,
				_ = fmt.Fprintln(w, "hello")
		})
		named, other := httptest.NewTLSServer(hello), httptest.NewTLSServer(hello)
		other.Config.ErrorLog = log.New(io.Discard, "", 0)
		plain := httptest.NewServer(hello)
		defer named.Close()
		defer other.Close()
		defer plain.Close()
		bare := func(s *httptest.Server) string {
			_, host,
				_ := strings.Cut(s.URL, "://")
			return host
		}
		keyed := func(p *Process) { p.Env = append(p.Env, "OTHER_API_KEY=x") }
		// NO_PROXY names this machine, whose servers stand for others here.
		e, _ := l.run(fmt.Sprintf(`no_proxy= NO_PROXY= http_proxy= HTTP_PROXY=; unset no_proxy NO_PROXY
			for u in %s %s %s; do curl -sk --proxy "$ALL_PROXY" -w ' %%{http_connect} %%{http_code}\n' $u; done; "$SELF" dial %s`, named.URL, other.URL, plain.URL, bare(other)),
			connectTo(audit.Network{Hosts: []string{bare(named), bare(plain)}}), keyed)
		if strings.Contains(string(e.Stderr), "curl: not found") {
			t.Skip("curl is not installed")
		}
		said := string(e.Stdout)
		require.Contains(t, said, "hello\n 200 200\n", string(e.Stderr))
		require.Contains(t, said, " 403 000\n")
		require.Contains(t, said, "hello\n 000 200\n")
		require.Contains(t, e.Confined, "proxy to "+bare(named)+", "+bare(plain)+
			" alone, in its environment OTHER_API_KEY;")
		require.Len(t, e.Network, 3)
		for _, n := range e.Network {
			require.Equal(t, n.Host == bare(other), n.Refused == 1, n)
			require.Equal(t, n.Host != bare(other), n.Connections == 1 && n.Received > 5, n)
		}
		if l.box != nil {
			require.Contains(t, said, "KEPT OUT dial tcp "+bare(other))
		} else {
			require.Contains(t, said, "REACHED "+bare(other))
		}
	})
}

// TestServersOfThisMachine checks that a server of this machine that Hosts names is reached by
// the proxy, and others directly.
func TestServersOfThisMachine(t *testing.T) {
	for host, want := range map[string]string{"api.example.com": "127.0.0.1,localhost",
		"127.0.0.1:11434": "localhost", "LocalHost:80": "127.0.0.1"} {
		p := &proxy{network: audit.Network{Hosts: []string{host}}, address: boxAddress}
		env := p.environment(nil)
		require.Contains(t, env, "NO_PROXY="+want)
		require.Contains(t, env, "no_proxy="+want)
	}
}

// TestProxyLeavesNothingInTheBox checks that making the listener leaves no descriptor and no
// process behind.
func TestProxyLeavesNothingInTheBox(t *testing.T) {
	confined(t, func(t *testing.T, l *lair) {
		fd, err := unix.Open(l.export, unix.O_RDONLY, 0) // as whoever started us may leave one open
		require.NoError(t, err)
		defer unix.Close(fd)
		// The shell itself counts the processes: those of a pipeline would come and go meanwhile.
		look := `ls /proc/self/fd; set -- /proc/[0-9]*; echo $#; tail -n +3 /proc/net/dev | cut -d: -f1; cat /proc/net/route`
		if l.box.landlock > 0 { // the processes and the network are the machine's
			look = `ls /proc/self/fd`
		}
		e, _ := l.run(look)
		without := string(e.Stdout)
		if l.box.landlock == 0 {
			require.Regexp(t, `^0\n1\n2\n3\n\d\n *lo\nIface.*\n$`, without,
				"3 is the folder that is listed; no route leads out")
		}
		e, _ = l.run(look, connectTo(audit.Network{Hosts: []string{"api.example.com"}}))
		require.Equal(t, without, string(e.Stdout))
	})
}

// TestOpenNetwork checks that a section gets the machine's network if it asks for it, and else
// none.
func TestOpenNetwork(t *testing.T) {
	confined(t, func(t *testing.T, l *lair) {
		server := httptest.NewServer(http.NotFoundHandler())
		defer server.Close()
		host := strings.TrimPrefix(server.URL, "http://")
		e, _ := l.run(`"$SELF" dial `+host, connectTo(audit.Network{Open: true}))
		require.Equal(t, "REACHED "+host+"\n", string(e.Stdout))
		require.Contains(t, e.Confined, ", the machine's network;")
		e, _ = l.run(`"$SELF" dial ` + host)
		require.Contains(t, string(e.Stdout), "KEPT OUT")
		require.Contains(t, e.Confined, ", no network;")
	})
}

func TestAllowedHosts(t *testing.T) {
	p := &proxy{network: audit.Network{Hosts: []string{"API.example.com", "*.models.example",
		"db.example:5432"}}, provider: &url.URL{Scheme: "https", Host: "llm.example:8443"}}
	for address, want := range map[string]bool{
		"api.example.com:443": true, "api.example.com:80": false, "xapi.example.com:443": false,
		"api.example.com.evil.example:443": false,
		"a.models.example:443":             true, "a.b.models.example:443": true,
		"models.example:443":  false,
		".models.example:443": false, "evilmodels.example:443": false,
		"db.example:5432": true, "db.example:443": false, "llm.example:8443": true,
		"llm.example:443": false, "127.0.0.1:5432": false,
	} {
		host, port, err := net.SplitHostPort(address)
		require.NoError(t, err)
		require.Equal(t, want, p.allowed(host, port), address)
	}
}

// TestNameOfThisMachine checks that a name that resolves to this machine or its link is refused,
// and that a section can name the address.
func TestNameOfThisMachine(t *testing.T) {
	for _, to := range []string{"127.0.0.1:5432", "[::1]:5432", "[::ffff:127.0.0.1]:5432",
		"0.0.0.0:5432", "169.254.169.254:80", "[fe80::1]:80"} {
		require.ErrorIs(t, notHere("db.example:5432")(context.Background(), "tcp", to, nil),
			errKept, to)
		require.NoError(t, notHere("127.0.0.1:5432")(context.Background(), "tcp", to, nil))
	}
	require.NoError(t, notHere("db.example:5432")(context.Background(), "tcp",
		"198.51.100.3:5432", nil))
	own, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, a := range own {
		if ip, _, err := net.ParseCIDR(a.String()); err == nil {
			require.ErrorIs(t, notHere("db.example:5432")(context.Background(), "tcp",
				net.JoinHostPort(ip.String(), "5432"), nil), errKept, a)
		}
	}
	require.NoError(t, notHere("localhost:5432")(context.Background(), "tcp", "[::1]:5432", nil))
}

// TestBehindAnotherProxy checks that connections go through the proxy of this machine, and that
// the bytes after its answer are not lost.
func TestBehindAnotherProxy(t *testing.T) {
	server, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer server.Close()
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "it speaks first\n")
			_ = c.Close()
		}
	}()
	at := server.Addr().String()
	outer, err := newProxy(audit.Network{Hosts: []string{at}}, false)
	require.NoError(t, err)
	defer outer.close()
	inner, err := newProxy(audit.Network{Hosts: []string{at, "elsewhere.example:1"}}, false)
	require.NoError(t, err)
	defer inner.close()
	inner.above = func(*http.Request) (*url.URL, error) {
		return &url.URL{Scheme: "http", Host: outer.address, User: url.UserPassword("me", "hush")},
			nil
	}
	c, err := inner.dial(context.Background(), "tcp", at)
	require.NoError(t, err)
	said, err := io.ReadAll(c)
	require.NoError(t, errors.Join(err, c.Close()))
	require.Equal(t, "it speaks first\n", string(said))
	_, err = inner.dial(context.Background(), "tcp", "elsewhere.example:1")
	require.ErrorContains(t, err, "the proxy of this machine, http://me:xxxxx@"+outer.address+
		", does not connect to elsewhere.example:1: 403 Forbidden")
	require.Equal(t, at, outer.close()[0].Host)
}

// TestRedirectWithTheKey checks that the program sees its token in redirects and other headers.
func TestRedirectWithTheKey(t *testing.T) {
	const key = "sk-canary-8d1f0c77+/="
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := r.Header.Get("Authorization")
		w.Header().Set("Location", "/v1/elsewhere?key="+url.QueryEscape(given))
		w.Header().Set("X-Given", given)
		w.WriteHeader(http.StatusFound)
	}))
	defer provider.Close()
	t.Setenv("PROVIDER_KEY", key)
	p, err := newProxy(audit.Network{Provider: provider.URL, BaseURL: "PROVIDER_URL",
		Key: "PROVIDER_KEY"}, false)
	require.NoError(t, err)
	defer p.close()
	r, err := http.NewRequest("GET", "http://"+p.address+"/v1/ask", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", p.token)
	resp, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, "/v1/elsewhere?key="+p.token, resp.Header.Get("Location"))
	require.Equal(t, p.token, resp.Header.Get("X-Given"))
}

// TestManyConnections checks that further connections wait until one is closed.
func TestManyConnections(t *testing.T) {
	p, err := newProxy(audit.Network{Hosts: []string{"api.example.com"}}, false)
	require.NoError(t, err)
	defer p.close()
	ask := func(c net.Conn) {
		_, err := io.WriteString(c, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusNotFound, resp.StatusCode)
		_, _ = io.Copy(io.Discard, resp.Body)
	}
	var open []net.Conn
	dial := func() net.Conn {
		c, err := net.Dial("tcp", p.address)
		require.NoError(t, err)
		open = append(open, c)
		return c
	}
	for range atOnce {
		ask(dial())
	}
	late := dial()
	ask(open[0])
	require.Len(t, p.open, atOnce)
	require.NoError(t, open[1].Close())
	ask(late)
	for _, c := range open {
		_ = c.Close()
	}
}

// TestManyRequests checks that further requests wait until one ends, tunnels among them.
func TestManyRequests(t *testing.T) {
	there, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer there.Close()
	p, err := newProxy(audit.Network{Hosts: []string{there.Addr().String()}}, false)
	require.NoError(t, err)
	defer p.close()
	p.above = func(*http.Request) (*url.URL, error) { return nil, nil }
	connect := func() (net.Conn, *bufio.Reader) {
		c, err := net.Dial("tcp", p.address)
		require.NoError(t, err)
		_, err = fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n", there.Addr())
		require.NoError(t, err)
		return c, bufio.NewReader(c)
	}
	first, said := connect()
	line, err := said.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "200 Connection established")
	require.Len(t, p.work, 1)
	require.Empty(t, p.open, "the tunnel has the connection")
	for range atOnce - 1 {
		p.work <- struct{}{}
	}
	late, said := connect()
	defer late.Close()
	end, err := there.Accept()
	require.NoError(t, err)
	require.NoError(t, errors.Join(first.Close(), end.Close()))
	line, err = said.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "200 Connection established")
}

func TestProviderWithoutAddress(t *testing.T) {
	t.Setenv("PROVIDER_URL", "api.example.com")
	_, err := newProxy(audit.Network{Provider: "https://api.example.com",
		BaseURL: "PROVIDER_URL", Key: "K"}, true)
	require.EqualError(t, err,
		"PROVIDER_URL is no address of a provider: expected a URL like https://api.example.com")
}
