package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

//go:embed migrations
var migrations embed.FS

// busyTimeout is how long SQLite itself waits for another process's lock, in
// milliseconds. Without it, six writers lost two thirds of their rows.
const busyTimeout = 10_000

func openSQLite(ctx context.Context, file string, readOnly bool) (Store, error) {
	if file == "" {
		return nil, errors.New("store: no file named: expected a path like results.db, or a postgres:// URL")
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	q := url.Values{"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout), "synchronous(NORMAL)", "cache_size(-16384)"}, "_txlock": {"immediate"}}
	if readOnly {
		if _, err := os.Stat(abs); err != nil {
			return nil, fmt.Errorf("store: %w: run go test -run Bench to make one, or name another by ASSAY_DB", err)
		}
		q.Set("mode", "ro")
	} else {
		q["_pragma"] = append(q["_pragma"], "journal_mode(WAL)")
		if err := private(abs); err != nil {
			return nil, err
		}
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("store: %s: %w", file, err)
	}
	// One connection is the writer's; a reader that reads attempts while it streams rows takes two.
	db.SetMaxOpenConns(8)
	s, err := newStore(ctx, db, goose.DialectSQLite3, file, readOnly)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// private makes sure that the file exists and that nobody but its owner reads
// it: what models wrote about code may be confidential. SQLite gives the -wal
// and -shm files the mode of the database.
func private(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// migrate brings the tables up to date.
func migrate(ctx context.Context, db *sql.DB, dialect goose.Dialect) error {
	dir := "migrations/sqlite"
	if dialect == goose.DialectPostgres {
		dir = "migrations/postgres"
	}
	files, err := fs.Sub(migrations, dir)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(dialect, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// repeatedly runs up until it succeeds, a few times at most. SQLite has no lock
// that outlives a transaction: of two processes that start together, one finds
// its next migration already made, is rolled back, and finds nothing to do then.
func repeatedly(up func() error) (err error) {
	for range 10 {
		if err = up(); err == nil {
			return nil
		}
	}
	return err
}
