package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// ErrHeld says that another process writes to the database.
var ErrHeld = errors.New("one run at a time writes to it")

// ErrGone says that the file of a database was removed, or another put in its place.
var ErrGone = errors.New("the file is not there any more")

// A lease is how one process at a time writes to an SQLite file: two that ran the
// same trials would pay for them twice. Its holder shows that it lives.
type lease struct {
	db    *sql.DB
	file  string
	info  fs.FileInfo // of the file, as it was opened
	token string
	end   chan struct{}
	ended sync.WaitGroup
}

// A holder that nobody saw for leaseStale is taken for dead, whatever its machine;
// it shows itself every leaseBeat.
const (
	leaseBeat  = 15 * time.Second
	leaseStale = 2 * time.Minute
)

// takeLease takes the lease, over that of a holder that is dead.
func takeLease(ctx context.Context, db *sql.DB, file string) (*lease, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	now := time.Now().UTC()
	var pid int
	var host, pids, taken, seen string
	err = tx.QueryRowContext(ctx, "SELECT pid, host, pids, taken, seen FROM lease").Scan(&pid, &host, &pids, &taken, &seen)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	here, table := thisHost()
	if err == nil {
		silent := now.Sub(readTime(seen))
		dead := host == here && pids == table && !processLives(pid)
		if !dead && silent < leaseStale {
			return nil, fmt.Errorf("%w, and process %d on %s has done so for %s (it last showed itself %s ago): wait for its end, stop it, or name another database by ASSAY_DB",
				ErrHeld, pid, host, now.Sub(readTime(taken)).Round(time.Second), max(0, silent).Round(time.Second))
		}
	}
	l := &lease{db: db, file: file, info: info, token: rand.Text(), end: make(chan struct{})}
	if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO lease (only, token, pid, host, pids, taken, seen) VALUES (1, $1, $2, $3, $4, $5, $5)",
		l.token, os.Getpid(), here, table, formatTime(now)); err != nil {
		return nil, err
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	l.ended.Go(l.beat)
	return l, nil
}

func (l *lease) beat() {
	tick := time.NewTicker(leaseBeat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			// One that fails is made good by the next.
			_, _ = l.db.Exec("UPDATE lease SET seen = $1 WHERE token = $2", formatTime(time.Now()), l.token)
		case <-l.end:
			return
		}
	}
}

// held is an error when another process has taken the lease since: this one was
// thought to be dead, as one that slept is.
func (l *lease) held(ctx context.Context, c connection) error {
	var token, host string
	var pid int
	err := c.QueryRowContext(ctx, "SELECT token, pid, host FROM lease").Scan(&token, &pid, &host)
	if err == nil && token != l.token {
		return fmt.Errorf("%w, and while this one was silent process %d on %s took its place", ErrHeld, pid, host)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w, and another has done so while this one was silent", ErrHeld)
	}
	return err
}

// there is an error when the file was removed or replaced since: SQLite goes on writing
// to what nobody can open again.
func (l *lease) there() error {
	if l == nil {
		return nil
	}
	info, err := os.Stat(l.file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, l.info) {
		return fmt.Errorf("%w: it was removed, or another put in its place, while this process wrote to it, and what it stored there is lost: run again, and leave the file", ErrGone)
	}
	return nil
}

func (l *lease) release() error {
	if l == nil {
		return nil
	}
	close(l.end)
	l.ended.Wait()
	_, err := l.db.Exec("DELETE FROM lease WHERE token = $1", l.token)
	return err
}

// thisHost names this machine, and the table of processes in which our number is
// ours: two containers may have one name.
func thisHost() (host, pids string) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	pids, _ = os.Readlink("/proc/self/ns/pid")
	return host, pids
}
