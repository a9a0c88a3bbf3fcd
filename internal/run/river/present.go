package river

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"assay/internal/run"
)

// Present reports whether a run should be left to workers: some are there, or
// they were given the very same plan before. It creates nothing. A dsn that is no
// postgres:// URL has none.
func Present(ctx context.Context, dsn string, plan *run.Plan) (bool, error) {
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		return false, nil
	}
	conf, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return false, errors.New("river: the URL of the PostgreSQL is not understood")
	}
	conf.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(ctx, conf)
	if err != nil {
		return false, errors.New("river: the PostgreSQL cannot be reached")
	}
	defer pool.Close()
	var there bool
	if err := pool.QueryRow(ctx, "SELECT to_regclass('spread_workers') IS NOT NULL AND to_regclass('spread_runs') IS NOT NULL").Scan(&there); err != nil || !there {
		return false, err
	}
	if plan != nil {
		var id string
		err = pool.QueryRow(ctx, "SELECT run_id FROM spread_runs WHERE identity = $1 AND ended IS NULL AND stopped = ''", plan.Identity()).Scan(&id)
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return false, fmt.Errorf("river: %w", err)
		}
	}
	n, err := (&DB{pool: pool}).Workers(ctx)
	return n > 0, err
}
