package planted

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
)

// passed names the variables that every step gets from ours.
var passed = []string{"PATH", "HOME", "USER", "GOROOT", "GOPATH", "GOCACHE", "GOMODCACHE", "GOTOOLCHAIN", "GOPROXY", "GOSUMDB", "JAVA_HOME", "XDG_CACHE_HOME"}

// network names those that setup and build get besides: what packages are
// installed with. A name that ends with * stands for all that begin so.
var network = []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE",
	"NODE_EXTRA_CA_CERTS", "npm_config_*", "PIP_*", "MAVEN_OPTS", "COMPOSER_HOME", "GONOSUMDB", "GOPRIVATE"}

// environment gives what is passed on of our environment. The folder bin, if
// any, comes first in PATH. Go is told to forget in which folder it compiles, so
// that a draw compiles only what differs from the draws before, and to link without
// what debuggers read.
func environment(bin string, more ...string) []string {
	env := []string{"LANG=C.UTF-8", "TZ=UTC", "PYTHONDONTWRITEBYTECODE=1"}
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "PATH" && bin != "":
			env = append(env, "PATH="+bin+":"+value)
		case name == "GOFLAGS": // set below
		case matches(name, passed) || matches(name, more):
			env = append(env, kv)
		}
	}
	return append(env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -trimpath -ldflags=-w -buildvcs=false"))
}

func matches(name string, patterns []string) bool {
	for _, p := range patterns {
		prefix, many := strings.CutSuffix(p, "*")
		if name == p || many && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

var ports struct {
	mu   sync.Mutex
	next int
}

// freePort gives a loopback port on which nobody listens. It lies below the range
// from which the kernel takes ports for connections, and is not soon given again.
func freePort() (int, error) {
	ports.mu.Lock()
	defer ports.mu.Unlock()
	const from, till = 20000, 32000
	if ports.next == 0 {
		ports.next = from + os.Getpid()*37%(till-from)
	}
	for range till - from {
		if ports.next++; ports.next >= till {
			ports.next = from
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", ports.next))
		if err == nil {
			return ports.next, l.Close()
		}
	}
	return 0, fmt.Errorf("no free port on 127.0.0.1 between %d and %d", from, till)
}
