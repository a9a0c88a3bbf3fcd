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
	"time"
)

// busyTimeout is how long SQLite itself waits for another process's lock, in
// milliseconds. Without it, six writers lost two thirds of their rows.
const busyTimeout = 10_000

// openSQLite opens a file and, unless it is read-only, takes its lease.
func openSQLite(ctx context.Context, file string, readOnly bool) (Store, error) {
	if file == "" {
		return nil, errors.New(
			"store: no file named: expected a path like results.db, or a postgres:// URL")
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	q := url.Values{"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout), "synchronous(NORMAL)",
		"cache_size(-16384)"}, "_txlock": {"immediate"}}
	switch err := recognise(ctx, abs); {
	case errors.Is(err, fs.ErrNotExist) && readOnly:
		return nil, fmt.Errorf(
			"store: %w: run go test -run Bench to make one, or name another by ASSAY_DB", err)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("store: %s: %w", file, err)
	}
	_, noWAL := os.Stat(abs + "-wal")
	switch {
	case readOnly && errors.Is(noWAL, fs.ErrNotExist): // what SQLite lays beside a file, it takes away where it may write
		q.Set("mode", "rw")
		q.Add("_pragma", "query_only(1)")
	case readOnly:
		q.Set("mode", "ro")
	default:
		if err := private(abs); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
	}
	db, err := sql.Open("sqlite",
		(&url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("store: %s: %w", file, err)
	}
	// One connection is the writer's; a reader that reads attempts while it streams rows takes two.
	db.SetMaxOpenConns(8)
	if !readOnly {
		err = keepWAL(ctx, db)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store: %s: %w", file, err), db.Close())
	}
	s, err := newStore(ctx, db, sqliteDialect, file, readOnly)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// keepWAL switches the file to a write-ahead log permanently. If two processes do this at the
// same time, SQLite refuses one of them without waiting, so it retries.
func keepWAL(ctx context.Context, db *sql.DB) error {
	for end := time.Now().Add(busyTimeout * time.Millisecond); ; {
		_, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
		if !busy(err) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// recognise checks that a file is a results.db before it is changed, and returns an error for
// any other file.
func recognise(ctx context.Context, file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("no file: expected a results.db, or a path where nothing is")
	case info.Size() == 0:
		return nil
	}
	q := url.Values{"mode": {"ro"}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout)}}
	if _, err := os.Stat(file + "-wal"); errors.Is(err, fs.ErrNotExist) {
		q.Set("immutable", "1") // or reading would lay files beside it
	}
	db, err := sql.Open("sqlite",
		(&url.URL{Scheme: "file", Path: file, RawQuery: q.Encode()}).String())
	if err != nil {
		return err
	}
	defer db.Close()
	var tables, columns int
	err = db.QueryRowContext(ctx,
		"SELECT (SELECT COUNT(*) FROM sqlite_master), (SELECT COUNT(*) FROM pragma_table_info('evaluations') WHERE lower(name) IN ('id', 'timestamp', 'test_file', 'model_name', 'expected_result', 'actual_result'))").Scan(&tables, &columns)
	if err != nil {
		return fmt.Errorf(
			"it cannot be read as a database: %w: expected a results.db, or a path where nothing is", err)
	}
	if tables > 0 && columns < 6 {
		return errors.New(
			"a database of something else, left as it is: expected a table evaluations with id, timestamp, test_file, model_name, expected_result, actual_result, explanation, or a path where nothing is")
	}
	_, err = sqliteDialect.own().version(ctx, db)
	return err
}

// private creates the file if necessary, readable by its owner alone, because the models' texts
// about code may be confidential. SQLite gives the -wal and -shm files the same mode. An
// existing file is not opened, because closing it would release the locks of this process.
func private(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	const create = os.O_RDWR | os.O_CREATE
	f, err := os.OpenFile(file, create|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		info, missing := os.Stat(file)
		if missing == nil {
			err = os.Chmod(file, info.Mode().Perm()&^0o077)
		} else { // it is a link to where nothing is yet
			f, err = os.OpenFile(file, create, 0o600)
		}
	}
	if f != nil {
		err = errors.Join(err, f.Close())
	}
	return err
}
