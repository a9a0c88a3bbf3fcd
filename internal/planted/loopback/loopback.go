// Package loopback runs a PostgreSQL of its own that listens on 127.0.0.1 and
// asks for passwords: applications of any language and driver can be given a URL
// of it. It hands out databases, each with a role that owns it and can do nothing
// else.
package loopback

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/jackc/pgx/v5"

	"assay/internal/postgres"
)

// ErrMissing means that this machine has no PostgreSQL server binaries.
var ErrMissing = postgres.ErrMissing

// A Server is a running PostgreSQL.
type Server struct {
	server *postgres.Server
	admin  *pgx.Conn
	mu     sync.Mutex // one statement of admin at a time
	port   int
	made   int
}

// Start makes a cluster in a temporary folder and runs it until Stop. Without
// server binaries the error is ErrMissing.
func Start(ctx context.Context) (s *Server, err error) {
	s = &Server{}
	if s.server, err = postgres.StartServer(folder()); err != nil {
		return nil, err
	}
	if err := s.listen(ctx); err != nil {
		s.Stop()
		return nil, fmt.Errorf("PostgreSQL on 127.0.0.1: %w", err)
	}
	return s, nil
}

// listen lets the server take connections from loopback with a password, and
// from its own socket without.
func (s *Server) listen(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	var data string
	if err := s.admin.QueryRow(ctx, "SHOW data_directory").Scan(&data); err != nil {
		return err
	}
	hba := "local all postgres trust\nhost all postgres all reject\nhost all all 127.0.0.1/32 scram-sha-256\n"
	if err := os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(hba), 0o600); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	s.port = port
	for _, q := range []string{"ALTER SYSTEM SET listen_addresses = '127.0.0.1'", fmt.Sprintf("ALTER SYSTEM SET port = %d", port)} {
		if _, err := s.admin.Exec(ctx, q); err != nil {
			return err
		}
	}
	if err := s.admin.Close(ctx); err != nil {
		return err
	}
	if err := s.server.Restart(); err != nil {
		return err
	}
	return s.connect(ctx)
}

// connect opens the administrator's session over the socket.
func (s *Server) connect(ctx context.Context) error {
	u, err := url.Parse(s.server.DSN)
	if err != nil {
		return err
	}
	u.User, u.Path = url.User("postgres"), "/postgres"
	q := u.Query()
	if s.port != 0 {
		q.Set("port", fmt.Sprint(s.port))
	}
	u.RawQuery = q.Encode()
	s.admin, err = pgx.Connect(ctx, u.String())
	return err
}

// freePort asks the kernel for a port on which nobody listens.
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
func (s *Server) Database(ctx context.Context) (dsn string, drop func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	name, password := fmt.Sprintf("app_%d", s.made), rand.Text()
	for _, q := range []string{
		fmt.Sprintf("CREATE ROLE %s LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD '%s'", name, password),
		fmt.Sprintf("CREATE DATABASE %s OWNER %s", name, name),
		fmt.Sprintf("REVOKE ALL ON DATABASE %s FROM PUBLIC", name),
	} {
		if _, err := s.admin.Exec(ctx, q); err != nil {
			return "", nil, err
		}
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(name, password), Host: fmt.Sprintf("127.0.0.1:%d", s.port),
		Path: "/" + name, RawQuery: "sslmode=disable"}
	return u.String(), func() { s.drop(name) }, nil
}

func (s *Server) drop(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range []string{"DROP DATABASE IF EXISTS " + name + " WITH (FORCE)", "DROP ROLE IF EXISTS " + name} {
		_, _ = s.admin.Exec(context.Background(), q) // what stays goes with the cluster
	}
}

// Bin gives the folder of PostgreSQL's own programs. Debian's psql in /usr/bin is
// a slow wrapper around them.
func (s *Server) Bin() string {
	dir, _ := postgres.BinDir() // it was found when the server was started
	return dir
}

// Stop ends the server and removes its folder.
func (s *Server) Stop() {
	if s.admin != nil {
		_ = s.admin.Close(context.Background())
	}
	s.server.Stop()
}
