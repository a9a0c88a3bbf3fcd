package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/url"
	"sync"

	"github.com/jackc/pgx/v5"
)

// A Loopback is a PostgreSQL server on 127.0.0.1 with passwords, which applications of any
// language and driver can connect to. Each of its databases has a role of its own with no other
// rights.
type Loopback struct {
	server *Server
	port   int
	mu     sync.Mutex // one statement of admin at a time
	admin  *pgx.Conn
	made   int
}

// StartLoopback creates a cluster, in memory if there is room, and runs it until Stop. It
// returns ErrMissing if there are no server binaries.
func StartLoopback(ctx context.Context) (*Loopback, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s, err := start("", port)
	if err != nil {
		return nil, err
	}
	admin, err := pgx.Connect(ctx, s.dsn("postgres"))
	if err != nil {
		s.Stop()
		return nil, fmt.Errorf("PostgreSQL on 127.0.0.1: %w", err)
	}
	return &Loopback{server: s, port: port, admin: admin}, nil
}

// freePort returns a free port of 127.0.0.1.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// Database creates an empty database with a role of its own and returns its URL, of the form
// postgres://ROLE:PASSWORD@127.0.0.1:PORT/NAME?sslmode=disable. drop drops both, even if
// sessions are open.
func (l *Loopback) Database(ctx context.Context) (dsn string, drop func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made++
	name, password := fmt.Sprintf("app_%d", l.made), rand.Text()
	for _, q := range []string{
		fmt.Sprintf("CREATE ROLE %s LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD '%s'",
			name, password),
		fmt.Sprintf("CREATE DATABASE %s OWNER %s", name, name),
		fmt.Sprintf("REVOKE ALL ON DATABASE %s FROM PUBLIC", name),
	} {
		if _, err := l.admin.Exec(ctx, q); err != nil {
			return "", nil, err
		}
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(name, password),
		Host: fmt.Sprintf("127.0.0.1:%d", l.port),
		Path: "/" + name, RawQuery: "sslmode=disable"}
	return u.String(), func() { l.drop(name) }, nil
}

// drop drops a database and its role.
func (l *Loopback) drop(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range []string{"DROP DATABASE IF EXISTS " + name + " WITH (FORCE)",
		"DROP ROLE IF EXISTS " + name} {
		_, _ = l.admin.Exec(context.Background(), q) // what stays goes with the cluster
	}
}

// Bin returns the folder of PostgreSQL's own programs. Debian's psql in /usr/bin is a slow
// wrapper around them.
func (l *Loopback) Bin() string { return l.server.bin }

// Stop stops the server and removes its folder.
func (l *Loopback) Stop() {
	_ = l.admin.Close(context.Background())
	l.server.Stop()
}
