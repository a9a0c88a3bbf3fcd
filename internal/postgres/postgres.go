// Package postgres starts private PostgreSQL servers from Debian's binaries: in a temporary
// folder, with a private socket, without network, as an unprivileged user.
package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/internal/box"
)

// Role is the role that the URL of [Start] logs in as. It owns the database of the same name
// and may create databases. It is no superuser, so it can neither start programs nor read the
// server's files.
const Role = "assay"

// ErrMissing means that PostgreSQL's server binaries are not installed.
var ErrMissing = errors.New(
	"no PostgreSQL server found under /usr/lib/postgresql or in PATH: install Debian's package postgresql")

// BinDir returns the folder that holds initdb and postgres: the newest under
// /usr/lib/postgresql, else the one in PATH. It returns ErrMissing if there is none.
func BinDir() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) > 0 {
		major := func(p string) int {
			n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(p))))
			return n
		}
		return filepath.Dir(slices.MaxFunc(found,
			func(a, b string) int { return major(a) - major(b) })), nil
	}
	if p, err := exec.LookPath("initdb"); err == nil {
		if p, err = filepath.EvalSymlinks(p); err == nil {
			return filepath.Dir(p), nil
		}
	}
	return "", ErrMissing
}

// Start creates a cluster in a new folder, in memory if there is room, and runs it until stop
// is called. The URL logs in as Role; its query names the socket's folder, which pgx and psql
// understand. stop stops the server at once and removes the folder; it may be called
// repeatedly. Start returns ErrMissing if there are no server binaries.
func Start() (dsn string, stop func(), err error) {
	s, err := StartServer("")
	if err != nil {
		return "", nil, err
	}
	return s.DSN, s.Stop, nil
}

// A Server is a running PostgreSQL.
type Server struct {
	DSN string // as Start gives it

	bin, sock, data string
	port            int // 0: it has its socket alone
	owner           *owner
	end             func()       // of run
	remove          func() error // sock
}

// StartServer starts a server that can be restarted, in a folder below dir, "" for a temporary
// one. If the caller is root, the server runs as another user, who must be able to reach dir.
func StartServer(dir string) (*Server, error) {
	s, err := start(dir, 0)
	if err != nil {
		return nil, err
	}
	if err := s.createRole(); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// Restart stops the server at once, as a crash would, and starts it again on the same data.
func (s *Server) Restart() error {
	s.end()
	return s.run()
}

// Stop stops the server at once and removes its folder. It may be called repeatedly.
func (s *Server) Stop() {
	s.end()
	_ = s.remove()
}

// start creates a cluster and runs it. With a port it listens on 127.0.0.1 too, where it asks
// for passwords, and only postgres may log in at its socket.
func start(dir string, port int) (*Server, error) {
	bin, err := BinDir()
	if err != nil {
		return nil, err
	}
	owner, err := unprivileged()
	if err != nil {
		return nil, err
	}
	// a socket's path has at most 107 bytes
	base, remove, err := box.TempDirIn(cmp.Or(dir, memory(), os.TempDir()), "pg")
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, sock: base, data: filepath.Join(base, "data"), port: port, owner: owner,
		end: func() {}, remove: remove}
	s.DSN = s.dsn(Role)
	if err = s.init(); err == nil {
		err = s.run()
	}
	if err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// socketPort is the port in the name of the socket of a server without a port.
const socketPort = 5432

// dsn returns the URL by which a role logs in to the database of its name.
func (s *Server) dsn(role string) string {
	u := url.URL{Scheme: "postgres", User: url.User(role), Path: "/" + role,
		RawQuery: url.Values{"host": {s.sock}, "port": {fmt.Sprint(cmp.Or(s.port, socketPort))},
			"sslmode": {"disable"}}.Encode()}
	return u.String()
}

// An owner is the user that the server runs as if we are root, because PostgreSQL refuses to
// run as root.
type owner struct{ uid, gid int }

// unprivileged returns the owner of a new cluster; nil if we are not root.
func unprivileged() (*owner, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err1 == nil && err2 == nil && uid != 0 {
			return &owner{uid, gid}, nil
		}
	}
	return nil, errors.New(
		"running as root, and neither user postgres nor nobody exists to run PostgreSQL as")
}

// command returns a command of PostgreSQL's programs, run as the owner.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Env = []string{"LC_ALL=C.UTF-8", "PATH=" + s.bin + ":/usr/bin:/bin", "TZ=UTC",
		"HOME=" + s.data}
	cmd.Dir = s.data
	cmd.SysProcAttr = attributes(s.owner)
	return cmd
}

// init creates the cluster.
func (s *Server) init() error {
	if err := os.Mkdir(s.data, 0o700); err != nil {
		return err
	}
	for _, dir := range []string{s.sock, s.data} {
		if s.owner != nil {
			if err := os.Chown(dir, s.owner.uid, s.owner.gid); err != nil {
				return err
			}
		}
	}
	cmd := s.command("initdb", "-D", s.data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
		"--locale=C.UTF-8", "--no-sync", "--no-instructions")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	listen := ""
	if s.port != 0 {
		listen = "127.0.0.1"
		hba := "local all postgres trust\nhost all postgres all reject\nhost all all 127.0.0.1/32 scram-sha-256\n"
		if err := os.WriteFile(filepath.Join(s.data, "pg_hba.conf"),
			[]byte(hba), 0o600); err != nil {
			return err
		}
	}
	conf := fmt.Sprintf("listen_addresses = '%s'\nport = %d\nunix_socket_directories = '%s'\n",
		listen, cmp.Or(s.port, socketPort), s.sock) +
		// Nothing here outlives the test, so nothing needs to reach the disk. What the
		// server said is committed outlives the server all the same (see Restart): the
		// kernel has it. With synchronous_commit off too it would be lost now and then.
		"fsync = off\nfull_page_writes = off\nautovacuum = off\n" +
		"shared_buffers = '48MB'\nmax_connections = 200\ntimezone = 'UTC'\njit = off\n" +
		"max_parallel_workers_per_gather = 0\nlog_min_messages = fatal\n"
	return os.WriteFile(filepath.Join(s.data, "postgresql.auto.conf"), []byte(conf), 0o600)
}

// run starts the server and waits until it accepts connections.
func (s *Server) run() error {
	s.end = func() {}
	cmd := s.command("postgres", "-D", s.data)
	log, err := os.Create(filepath.Join(s.sock, "log"))
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = log, log
	started, ended := make(chan error), make(chan struct{})
	go func() {
		// The kernel ends the server when the thread that started it ends (see
		// attributes); this goroutine keeps that thread for the server's life.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		started <- nil
		go func() { _ = cmd.Wait(); close(ended) }()
		<-ended
	}()
	if err := <-started; err != nil {
		_ = log.Close()
		return err
	}
	s.end = func() {
		s.end = func() {}
		_ = cmd.Process.Signal(quit)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		_ = log.Close()
	}
	deadline := time.After(2 * time.Minute)
	for {
		// The server writes "ready" into its pid file when it takes connections.
		b, _ := os.ReadFile(filepath.Join(s.data, "postmaster.pid"))
		if lines := strings.Split(string(b), "\n"); len(lines) > 7 &&
			strings.TrimSpace(lines[7]) == "ready" {
			return nil
		}
		select {
		case <-ended:
			b, _ := os.ReadFile(log.Name())
			s.end()
			return fmt.Errorf("postgres ended while starting:\n%s", b)
		case <-deadline:
			s.end()
			return errors.New("postgres took no connections within 2 minutes")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// createRole creates Role and its database.
func (s *Server) createRole() error {
	cmd := s.command("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", s.dsn("postgres"),
		"-c", "CREATE ROLE "+Role+" LOGIN CREATEDB", "-c", "CREATE DATABASE "+Role+" OWNER "+Role)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("psql: %w\n%s", err, out)
	}
	return nil
}
