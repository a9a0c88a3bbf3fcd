package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"
)

// migrationLock keeps processes that start together from migrating at once. The
// number means nothing but has to be the same in all of them.
const migrationLock = 7_417_302_218

func openPostgres(ctx context.Context, dsn string, readOnly bool) (Store, error) {
	conf, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("store: %s: the URL is not understood: %w", withoutPassword(dsn), scrub(err, dsn))
	}
	if readOnly {
		conf.RuntimeParams["default_transaction_read_only"] = "on"
	}
	db := stdlib.OpenDB(*conf)
	db.SetMaxOpenConns(8)
	s, err := newStore(ctx, db, goose.DialectPostgres, withoutPassword(dsn), readOnly)
	if err != nil {
		return nil, errors.Join(scrub(err, dsn), db.Close())
	}
	return s, nil
}

var password = regexp.MustCompile(`(//[^:/@]*:)[^@]*@|(password=)[^&\s]*`)

// withoutPassword makes a URL fit for messages.
func withoutPassword(dsn string) string { return password.ReplaceAllString(dsn, "${1}${2}xxxxx@") }

// scrub keeps a driver's message from quoting the password back.
func scrub(err error, dsn string) error {
	if clean := password.ReplaceAllString(err.Error(), "${1}${2}xxxxx@"); clean != err.Error() {
		return errors.New(clean)
	}
	return err
}

// exclusively runs f while no other process that asks does.
func exclusively(ctx context.Context, db *sql.DB, f func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		return err
	}
	err = f()
	_, unlock := conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrationLock)
	return errors.Join(err, unlock)
}
