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

// A lease is how one process at a time writes to an SQLite file: two that ran the
// same trials would pay for them twice. It is a lock of SQLite's own on an empty file
// beside it, which ends with its holder, however that ends; what locks the one locks the
// other, too. Who holds it stands in the table lease, for the others to read.
type lease struct {
	db   *sql.DB
	file string
	info fs.FileInfo // of the file, as it was opened
	lock *sql.DB
	held *sql.Conn // in a transaction until the lease is given back
}

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
		err = fmt.Errorf("%s-lock, which says that one run at a time writes, cannot be locked: %w: remove it when nothing runs", at, err)
	}
	if err == nil {
		host, _ := os.Hostname()
		now := formatTime(time.Now())
		_, err = db.ExecContext(ctx, "INSERT OR REPLACE INTO lease (only, token, pid, host, pids, taken, seen) VALUES (1, '', $1, $2, '', $3, $3)", os.Getpid(), host, now)
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
	if l.lock, err = sql.Open("sqlite", (&url.URL{Scheme: "file", Path: file}).String()); err != nil {
		return err
	}
	if l.held, err = l.lock.Conn(ctx); err != nil {
		return err
	}
	_, err = l.held.ExecContext(ctx, "BEGIN IMMEDIATE")
	return err
}

func (l *lease) letGo() (err error) {
	if l.held != nil {
		err = l.held.Close()
	}
	if l.lock != nil {
		err = errors.Join(err, l.lock.Close())
	}
	return err
}

// busy reports whether an error says that another connection holds a lock.
func busy(err error) bool {
	var refused *sqlite.Error
	return errors.As(err, &refused) && refused.Code()&0xff == sqlite3.SQLITE_BUSY
}

// other says who holds the lease.
func (l *lease) other(ctx context.Context) error {
	var pid int
	var host, taken string
	who := "another process has done so"
	err := l.db.QueryRowContext(ctx, "SELECT pid, host, taken FROM lease").Scan(&pid, &host, &taken)
	if err == nil {
		who = fmt.Sprintf("process %d on %s has done so for %s", pid, host, time.Since(readTime(taken)).Round(time.Second))
	}
	if errors.Is(err, sql.ErrNoRows) { // it has only just taken it, or is about to end
		err = nil
	}
	return errors.Join(fmt.Errorf("%w, and %s: wait for its end, stop it, or name another database by ASSAY_DB", ErrHeld, who), err)
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
	_, err := l.db.Exec("DELETE FROM lease")
	return errors.Join(err, l.letGo())
}

// Full reports whether something could not be stored because the disk is full.
func Full(err error) bool {
	var refused *sqlite.Error
	return errors.As(err, &refused) && refused.Code()&0xff == sqlite3.SQLITE_FULL ||
		errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
