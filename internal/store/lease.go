package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrHeld says that another process writes to the database.
var ErrHeld = errors.New("one run at a time writes to it")

// ErrGone says that the file of a database was removed, or another put in its place.
var ErrGone = errors.New("the file is not there any more")

// A lease allows one process at a time to write to an SQLite file, so that no two processes pay
// for the same trials. It is an SQLite lock on an empty file next to the database and ends with
// its process. The table lease names the holder for other processes.
type lease struct {
	db   *sql.DB
	file string
	info fs.FileInfo // of the file, as it was opened
	lock *sql.DB
	held *sql.Conn // in a transaction until the lease is given back
}

// takeLease takes the lease of a file. It is an error if another process holds it.
func takeLease(ctx context.Context, db *sql.DB, file string) (_ *lease, err error) {
	l := &lease{db: db, file: file}
	if l.info, err = os.Stat(file); err != nil {
		return nil, err
	}
	at, err := filepath.Abs(file)
	if err == nil {
		at, err = filepath.EvalSymlinks(at) // or another name of the file would have another lock
	}
	if err != nil {
		return nil, err
	}
	if err = l.hold(ctx, at+"-lock"); busy(err) {
		err = l.other(ctx)
	} else if err != nil {
		err = fmt.Errorf(
			"%s-lock, which says that one run at a time writes, cannot be locked: %w: remove it when nothing runs", at, err)
	}
	if err == nil {
		host, _ := os.Hostname()
		now := formatTime(time.Now())
		_, err = db.ExecContext(ctx,
			"INSERT OR REPLACE INTO lease (only, token, pid, host, pids, taken, seen) VALUES (1, '', $1, $2, '', $3, $3)", os.Getpid(), host, now)
	}
	if err != nil {
		return nil, errors.Join(err, l.letGo())
	}
	return l, nil
}

// hold locks the file, which is made when it is not there.
func (l *lease) hold(ctx context.Context, file string) (err error) {
	if err := private(file); err != nil {
		return err
	}
	if l.lock, err = sql.Open("sqlite",
		(&url.URL{Scheme: "file", Path: file}).String()); err != nil {
		return err
	}
	if l.held, err = l.lock.Conn(ctx); err != nil {
		return err
	}
	_, err = l.held.ExecContext(ctx, "BEGIN IMMEDIATE")
	return err
}

// letGo releases the lock.
func (l *lease) letGo() (err error) {
	if l.held != nil {
		err = l.held.Close()
	}
	if l.lock != nil {
		err = errors.Join(err, l.lock.Close())
	}
	return err
}

// busy reports whether an error means that another connection holds a lock.
func busy(err error) bool {
	var refused *sqlite.Error
	return errors.As(err, &refused) && refused.Code()&0xff == sqlite3.SQLITE_BUSY
}

// other returns an error that names the holder of the lease.
func (l *lease) other(ctx context.Context) error {
	var pid int
	var host, taken string
	who := "another process has done so"
	err := l.db.QueryRowContext(ctx, "SELECT pid, host, taken FROM lease").Scan(&pid, &host, &taken)
	if err == nil {
		who = fmt.Sprintf("process %d on %s has done so for %s", pid, host,
			time.Since(readTime(taken)).Round(time.Second))
	}
	if errors.Is(err, sql.ErrNoRows) { // it has only just taken it, or is about to end
		err = nil
	}
	return errors.Join(fmt.Errorf(
		"%w, and %s: wait for its end, stop it, or name another database by ASSAY_DB", ErrHeld,
		who), err)
}

// there returns an error if the file was removed or replaced, because SQLite would keep writing
// to a file that cannot be opened anymore.
func (l *lease) there() error {
	if l == nil {
		return nil
	}
	info, err := os.Stat(l.file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, l.info) {
		return fmt.Errorf(
			"%w: it was removed, or another put in its place, while this process wrote to it, and what it stored there is lost: run again, and leave the file", ErrGone)
	}
	return nil
}

// release gives up the lease.
func (l *lease) release() error {
	if l == nil {
		return nil
	}
	_, err := l.db.Exec("DELETE FROM lease")
	return errors.Join(err, l.letGo())
}

// Full reports whether something could not be stored because the disk is full.
func Full(err error) bool {
	var refused *sqlite.Error
	return errors.As(err, &refused) && refused.Code()&0xff == sqlite3.SQLITE_FULL ||
		errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
