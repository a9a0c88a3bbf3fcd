package planted

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

	"assay/internal/store/pgtest"
)

// A cluster is a PostgreSQL of our own that listens on loopback, for drivers that
// know no sockets. Passwords are checked.
type cluster struct {
	server *pgtest.Server
	admin  *pgx.Conn
	mu     sync.Mutex // one statement at a time
	port   int
	made   int
}

// startCluster starts PostgreSQL. Without its programs the error is
// pgtest.ErrMissing.
func startCluster(ctx context.Context) (c *cluster, err error) {
	c = &cluster{}
	if c.server, err = pgtest.StartServer(""); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.stop()
		}
	}()
	if err = c.listen(ctx); err != nil {
		return nil, fmt.Errorf("PostgreSQL on loopback: %w", err)
	}
	return c, nil
}

// listen lets the server take connections from loopback with a password, and
// from its own socket without.
func (c *cluster) listen(ctx context.Context) error {
	if err := c.connect(ctx); err != nil {
		return err
	}
	var data string
	if err := c.admin.QueryRow(ctx, "SHOW data_directory").Scan(&data); err != nil {
		return err
	}
	hba := "local all all trust\nhost all postgres all reject\nhost all all 127.0.0.1/32 scram-sha-256\n"
	if err := os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(hba), 0o600); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	c.port = port
	for _, q := range []string{"ALTER SYSTEM SET listen_addresses = '127.0.0.1'", fmt.Sprintf("ALTER SYSTEM SET port = %d", port),
		// Drivers that do not pool hash a password for each connection.
		"ALTER SYSTEM SET password_encryption = 'scram-sha-256'"} {
		if _, err := c.admin.Exec(ctx, q); err != nil {
			return err
		}
	}
	_ = c.admin.Close(ctx)
	if err := c.server.Restart(); err != nil {
		return err
	}
	return c.connect(ctx)
}

// connect opens the administrator's session over the socket.
func (c *cluster) connect(ctx context.Context) error {
	u, err := url.Parse(c.server.DSN)
	if err != nil {
		return err
	}
	u.User, u.Path = url.User("postgres"), "/postgres"
	q := u.Query()
	if c.port != 0 {
		q.Set("port", fmt.Sprint(c.port))
	}
	u.RawQuery = q.Encode()
	c.admin, err = pgx.Connect(ctx, u.String())
	return err
}

// A database is an empty database with a role that owns it and can do nothing
// else.
type database struct {
	url  string
	name string
}

// newDatabase makes one.
func (c *cluster) newDatabase(ctx context.Context) (database, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made++
	name, password := fmt.Sprintf("app_%d", c.made), rand.Text()
	for _, q := range []string{
		fmt.Sprintf("CREATE ROLE %s LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD '%s'", name, password),
		fmt.Sprintf("CREATE DATABASE %s OWNER %s", name, name),
		fmt.Sprintf("REVOKE ALL ON DATABASE %s FROM PUBLIC", name),
	} {
		if _, err := c.admin.Exec(ctx, q); err != nil {
			return database{}, err
		}
	}
	return database{fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/%s?sslmode=disable", name, password, c.port, name), name}, nil
}

// drop removes a database with its role and whoever is connected.
func (c *cluster) drop(db database) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx := context.Background()
	_, _ = c.admin.Exec(ctx, "DROP DATABASE IF EXISTS "+db.name+" WITH (FORCE)") // the cluster goes soon after
	_, _ = c.admin.Exec(ctx, "DROP ROLE IF EXISTS "+db.name)
}

func (c *cluster) stop() {
	if c.admin != nil {
		_ = c.admin.Close(context.Background())
	}
	c.server.Stop()
}

var ports struct {
	mu   sync.Mutex
	next int
}

// freePort gives a loopback port on which nobody listens. It lies below the range
// from which the kernel takes ports for connections, and is not given twice.
func freePort() (int, error) {
	ports.mu.Lock()
	defer ports.mu.Unlock()
	const from, till = 20000, 32000
	if ports.next == 0 {
		ports.next = from + os.Getpid()*37%(till-from)
	}
	for range till - from {
		ports.next++
		if ports.next >= till {
			ports.next = from
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", ports.next))
		if err == nil {
			return ports.next, l.Close()
		}
	}
	return 0, fmt.Errorf("no free port on 127.0.0.1 between %d and %d", from, till)
}
