package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

const migrationLock = 7_417_302_218 // any number, but the same for all who migrate at once

// openPostgres opens a PostgreSQL database.
func openPostgres(ctx context.Context, dsn string, readOnly bool) (Store, error) {
	conf, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("store: %s: the URL is not understood: %w",
			withoutPassword(dsn), scrub(err))
	}
	if readOnly {
		conf.RuntimeParams["default_transaction_read_only"] = "on"
	}
	db := stdlib.OpenDB(*conf)
	db.SetMaxOpenConns(8)
	return onPostgres(ctx, db, dsn, readOnly)
}

// onPostgres returns a store on an open PostgreSQL database.
func onPostgres(ctx context.Context, db *sql.DB, dsn string, readOnly bool) (Store, error) {
	_, authority, _ := strings.Cut(dsn, "//")
	// a part of it would be taken for the host, and shown
	if authority, _, _ = strings.Cut(authority, "/"); strings.Count(authority, "@") > 1 {
		return nil, errors.Join(fmt.Errorf(
			"store: %s: the user or the password holds an @: expected %%40 in its place",
			withoutPassword(dsn)), db.Close())
	}
	s, err := newStore(ctx, db, postgresDialect, withoutPassword(dsn), readOnly)
	if err != nil {
		return nil, errors.Join(scrub(err), db.Close())
	}
	return s, nil
}

// OnPool opens the store of the PostgreSQL that pool is connected to, on the pool's own
// connections, and brings its tables up to date. Closing the store leaves the pool open.
func OnPool(ctx context.Context, pool *pgxpool.Pool) (Store, error) {
	return onPostgres(ctx, stdlib.OpenDBFromPool(pool), pool.Config().ConnString(), false)
}

// Migrate brings other tables of this PostgreSQL up to date, all or nothing, by the files
// in dir: each of them, in order, by one version. table is where their version is kept.
func Migrate(ctx context.Context, pool *pgxpool.Pool, files embed.FS, dir, table string) error {
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	return schema{postgresDialect, files, dir, table}.migrate(ctx, db)
}

var password = regexp.MustCompile(`(//[^:/@\s]*:)\S*(@)|(password=)[^&\s]*`)

// withoutPassword returns a URL with the password masked.
func withoutPassword(dsn string) string {
	return password.ReplaceAllString(dsn,
		"${1}${3}xxxxx${2}")
}

// scrub keeps a driver's message from quoting the password back.
func scrub(err error) error {
	if clean := withoutPassword(err.Error()); clean != err.Error() {
		return errors.New(clean)
	}
	return err
}
