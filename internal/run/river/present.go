package river

import (
	"context"
	"time"

	"assay/internal/run"
	"assay/internal/store"
)

// desertion is how long no worker may show itself before what waits counts as deserted.
const desertion = 20 * time.Second

// A presence is what was last seen of workers. The zero value is for who has not looked
// yet, or could not, as nobody could say anything then.
type presence struct {
	beats int64     // of all of them together
	risen time.Time // when these were last seen to rise
	some  time.Time // when some were last enrolled
}

// deserted reports whether no worker that takes so many audits is there any more: none is
// enrolled, or none of them has shown itself for too long.
func (db *DB) deserted(ctx context.Context, seen *presence, audits int) bool {
	var workers, beats int64
	if db.pool.QueryRow(ctx, "SELECT count(*), coalesce(sum(seen), 0)::bigint FROM spread_workers WHERE audits >= $1", audits).Scan(&workers, &beats) != nil {
		*seen = presence{}
		return false
	}
	now := time.Now()
	if beats != seen.beats || seen.risen.IsZero() {
		seen.beats, seen.risen = beats, now
	}
	if workers > 0 || seen.some.IsZero() {
		seen.some = now
	}
	return now.Sub(seen.some) > 3*beat || now.Sub(seen.risen) > max(desertion, time.Duration(workers)*4*beat/beatsPer)
}

// Present reports whether a run should be left to workers: some are there, or
// they were given the very same plan before. It creates nothing. A dsn that is no
// postgres:// URL has none.
func Present(ctx context.Context, dsn string, plan *run.Plan) (bool, error) {
	if !store.OfPostgres(dsn) {
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
