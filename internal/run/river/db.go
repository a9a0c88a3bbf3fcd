package river

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"assay/internal/store"
)

//go:embed migrations
var migrations embed.FS

// A DB is a PostgreSQL with the tables of the store, of River and of this package.
type DB struct {
	Store store.Store
	pool  *pgxpool.Pool

	mu    sync.Mutex
	asked map[AuditArgs]int // how many attempts of an audit this process asked workers for
}

// Open opens the PostgreSQL at dsn, and brings its tables up to date. Results of
// processes that open it at once are written by all of them.
func Open(ctx context.Context, dsn string) (*DB, error) { return open(ctx, dsn, 4) }

// OpenWorker is Open for a process that does nothing but Work: there are many of these,
// and a PostgreSQL has few connections, so it takes two.
func OpenWorker(ctx context.Context, dsn string) (*DB, error) { return open(ctx, dsn, 2) }

// open connects to the database and opens its store.
func open(ctx context.Context, dsn string, connections int32) (*DB, error) {
	db, err := connect(ctx, dsn, connections)
	if err != nil {
		return nil, err
	}
	if db.Store, err = store.OnPool(ctx, db.pool); err != nil {
		db.pool.Close()
		return nil, err
	}
	if err := db.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("river: bringing the tables up to date: %w", err),
			db.Close())
	}
	return db, nil
}

// connect makes a pool. The errors hold nothing of the URL, which may hold a password.
func connect(ctx context.Context, dsn string, connections int32) (*DB, error) {
	conf, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("river: the URL of the PostgreSQL is not understood")
	}
	conf.MaxConns = connections
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		return nil, errors.New("river: the PostgreSQL cannot be reached")
	}
	return &DB{pool: pool}, nil
}

// Close lets go of the connections, the store's too.
func (db *DB) Close() error {
	err := db.Store.Close()
	db.pool.Close()
	return err
}

const migrationLock = 7_417_302_219 // any number, but the same for all who migrate at once

// migrate creates or updates the tables.
func (db *DB) migrate(ctx context.Context) (err error) {
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		return err
	}
	defer func() {
		_, unlock := conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)",
			migrationLock)
		err = errors.Join(err, unlock)
	}()
	theirs, err := rivermigrate.New(riverpgxv5.New(db.pool), &rivermigrate.Config{Logger: quiet})
	if err != nil {
		return err
	}
	if _, err := theirs.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	return store.Migrate(ctx, db.pool, migrations, "migrations", "spread_version")
}

// unfinished returns the ID of the run with the same plan that workers are at, "" for none.
func (db *DB) unfinished(ctx context.Context, identity string) (id string, err error) {
	err = db.pool.QueryRow(ctx,
		"SELECT run_id FROM spread_runs WHERE identity = $1 AND ended IS NULL AND stopped = ''",
		identity).Scan(&id)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("river: %w", err)
	}
	return id, nil
}

var quiet = slog.New(slog.DiscardHandler)

// inserter returns a client that enqueues jobs.
func (db *DB) inserter() (*river.Client[pgx.Tx], error) {
	return river.NewClient(riverpgxv5.New(db.pool), &river.Config{Logger: quiet})
}

// each calls do for each row of a query, scanned into to.
func (db *DB) each(ctx context.Context, to []any, do func() error, text string, args ...any) error {
	rows, err := db.pool.Query(ctx, text, args...)
	if err == nil {
		_, err = pgx.ForEachRow(rows, to, do)
	}
	if err != nil {
		return fmt.Errorf("river: %w", err)
	}
	return nil
}

// column returns the only column of a query.
func column[T any](ctx context.Context, db *DB, text string, args ...any) (all []T, err error) {
	var v T
	err = db.each(ctx, []any{&v}, func() error { all = append(all, v); return nil }, text, args...)
	return all, err
}

// exec runs a statement and returns the number of changed rows.
func (db *DB) exec(ctx context.Context, text string, args ...any) (int64, error) {
	tag, err := db.pool.Exec(ctx, text, args...)
	if err != nil {
		return 0, fmt.Errorf("river: %w", err)
	}
	return tag.RowsAffected(), nil
}
