package planted

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
)

// passed are the variables that every step inherits.
var passed = []string{"PATH", "HOME", "USER", "GOROOT", "GOPATH", "GOCACHE", "GOMODCACHE",
	"GOTOOLCHAIN", "GOPROXY", "GOSUMDB", "JAVA_HOME", "XDG_CACHE_HOME"}

// network are further variables that setup and build inherit, since they install packages. A
// name with a trailing * matches all names with this prefix.
var network = []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy",
	"no_proxy", "SSL_CERT_FILE",
	"NODE_EXTRA_CA_CERTS", "npm_config_*", "PIP_*", "MAVEN_OPTS", "COMPOSER_HOME",
	"GONOSUMDB", "GOPRIVATE"}

// environment returns the inherited variables that match passed or more. The folder bin, if
// any, comes first in PATH. GOFLAGS omits folder names and debug data, so that a draw compiles
// only files that differ from earlier draws.
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
	return append(env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+
		" -trimpath -ldflags=-w -buildvcs=false"))
}

// matches reports whether a name matches one of the patterns.
func matches(name string, patterns []string) bool {
	for _, p := range patterns {
		prefix, many := strings.CutSuffix(p, "*")
		if name == p || many && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// ports holds the port that was returned last.
var ports struct {
	mu   sync.Mutex
	next int
}

// freePort returns a loopback port without a listener. The port is below the range that the
// kernel uses for outgoing connections and is not returned again soon.
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
