package river

import (
	"context"
	"strings"

	"assay/internal/run"
)

// Present reports whether a run should be left to workers: some are there, or
// they were given the very same plan before. It creates nothing. A dsn that is no
// postgres:// URL has none.
func Present(ctx context.Context, dsn string, plan *run.Plan) (bool, error) {
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		return false, nil
	}
	db, err := connect(ctx, dsn, 1)
	if err != nil {
		return false, err
	}
	defer db.pool.Close()
	var there bool
	if err := db.pool.QueryRow(ctx, "SELECT to_regclass('spread_workers') IS NOT NULL AND to_regclass('spread_runs') IS NOT NULL").Scan(&there); err != nil || !there {
		return false, err
	}
	if plan != nil {
		if id, err := db.unfinished(ctx, plan.Identity()); err != nil || id != "" {
			return err == nil, err
		}
	}
	n, err := db.Workers(ctx)
	return n > 0, err
}
