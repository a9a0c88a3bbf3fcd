package river

import (
	"context"
	"fmt"
	"time"

	"assay/internal/run"
)

// A worker reports once a beat, and a beat more for each so many other workers, because each of
// them reads all reports. It counts as present for some beats after its last report.
const (
	beat        = time.Second
	beatsPer    = 50 // workers a beat
	thereBeats  = 5
	desertBeats = 15 // without any worker, after which what waits counts as deserted, and
	leftBeats   = 3  // where none is even enrolled
)

// interval returns how often each of so many workers shows itself.
func interval(workers int) time.Duration {
	return beat + time.Duration(workers)*beat/beatsPer
}

// Workers returns how many workers are there that run at least so many audits at once, and
// how many audits all that are there run at once.
func (db *DB) Workers(ctx context.Context, audits int) (there, slots int, err error) {
	there, slots, _, err = db.present(ctx, audits)
	return there, slots, err
}

// present is Workers, with how many of the former are enrolled at all: those that died, too.
func (db *DB) present(ctx context.Context, audits int) (there, slots, enrolled int, err error) {
	// By the PostgreSQL's clock alone, so that workers' clocks may differ.
	err = db.pool.QueryRow(ctx, `SELECT count(*) FILTER (WHERE alive AND audits >= $1), coalesce(sum(audits) FILTER (WHERE alive), 0), count(*) FILTER (WHERE audits >= $1)
		FROM (SELECT audits, shown > clock_timestamp() - $2 * (1 + (SELECT count(*) FROM spread_workers) / $3::float) * interval '1 second' AS alive FROM spread_workers) w`,
		audits, thereBeats*beat.Seconds(), beatsPer).Scan(&there, &slots, &enrolled)
	if err != nil {
		err = fmt.Errorf("river: who is there: %w", err)
	}
	return there, slots, enrolled, err
}

// deserted reports whether no worker that runs so many audits has reported for a while. seen is
// the time of the last report, or of the last failure to read reports; the zero time before the
// first call. An unreachable database does not count as silence.
func (db *DB) deserted(ctx context.Context, seen *time.Time, audits int) bool {
	there, _, enrolled, err := db.present(ctx, audits)
	if err != nil || there > 0 || seen.IsZero() {
		*seen = time.Now()
	}
	silence := desertBeats * interval(enrolled)
	if enrolled == 0 {
		silence = leftBeats * beat
	}
	return time.Since(*seen) > silence
}

// Present reports whether a run should be left to workers: some are there, or
// they were given the very same plan before. It creates nothing.
func Present(ctx context.Context, dsn string, plan *run.Plan) (bool, error) {
	db, err := connect(ctx, dsn, 1)
	if err != nil {
		return false, err
	}
	defer db.pool.Close()
	var tables bool
	if err := db.pool.QueryRow(ctx,
		"SELECT to_regclass('spread_workers') IS NOT NULL AND to_regclass('spread_runs') IS NOT NULL").Scan(&tables); err != nil || !tables {
		return false, err
	}
	if plan != nil {
		if id, err := db.unfinished(ctx, plan.Identity()); err != nil || id != "" {
			return err == nil, err
		}
	}
	there, _, err := db.Workers(ctx, 0)
	return there > 0, err
}
