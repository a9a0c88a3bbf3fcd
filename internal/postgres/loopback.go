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

// A Loopback is a PostgreSQL that listens on 127.0.0.1 and asks for passwords:
// applications of any language and driver can be given a URL of it. It hands out
// databases, each with a role that owns it and can do nothing else.
type Loopback struct {
	server *Server
	port   int
	mu     sync.Mutex // one statement of admin at a time
	admin  *pgx.Conn
	made   int
}

// StartLoopback makes a cluster, in memory where there is room, and runs it until
// Stop. Without server binaries the error is ErrMissing.
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

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// Database makes an empty database with a role of its own and gives its URL, of
// the form postgres://ROLE:PASSWORD@127.0.0.1:PORT/NAME?sslmode=disable. drop
// removes both, whoever is connected.
func (l *Loopback) Database(ctx context.Context) (dsn string, drop func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made++
	name, password := fmt.Sprintf("app_%d", l.made), rand.Text()
	for _, q := range []string{
		fmt.Sprintf("CREATE ROLE %s LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD '%s'", name, password),
		fmt.Sprintf("CREATE DATABASE %s OWNER %s", name, name),
		fmt.Sprintf("REVOKE ALL ON DATABASE %s FROM PUBLIC", name),
	} {
		if _, err := l.admin.Exec(ctx, q); err != nil {
			return "", nil, err
		}
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(name, password), Host: fmt.Sprintf("127.0.0.1:%d", l.port),
		Path: "/" + name, RawQuery: "sslmode=disable"}
	return u.String(), func() { l.drop(name) }, nil
}

func (l *Loopback) drop(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range []string{"DROP DATABASE IF EXISTS " + name + " WITH (FORCE)", "DROP ROLE IF EXISTS " + name} {
		_, _ = l.admin.Exec(context.Background(), q) // what stays goes with the cluster
	}
}

// Bin gives the folder of PostgreSQL's own programs. Debian's psql in /usr/bin is
// a slow wrapper around them.
func (l *Loopback) Bin() string { return l.server.bin }

// Stop ends the server and removes its folder.
func (l *Loopback) Stop() {
	_ = l.admin.Close(context.Background())
	l.server.Stop()
}
