package river

import (
	"context"
	"fmt"
	"time"

	"assay/audit"
	"assay/internal/run"
	"assay/internal/store"
)

// finish records the end of a run all of whose trials have their outcome, and
// checks its account. It may be called again, by anybody.
func (db *DB) finish(ctx context.Context, id string) (store.Run, error) {
	var rec store.Run
	runs, err := db.Store.Runs(ctx)
	if err != nil {
		return rec, err
	}
	for _, r := range runs {
		if r.ID == id {
			rec = r
		}
	}
	if rec.ID == "" {
		return rec, fmt.Errorf("river: no run %s is recorded", id)
	}
	rec.Usage, rec.Outcomes = audit.Usage{Priced: true}, map[audit.Outcome]int{}
	if err := db.count(ctx, &rec); err != nil {
		return rec, err
	}
	var skipped int
	if err := db.pool.QueryRow(ctx,
		"SELECT count(*) + (SELECT missing FROM spread_runs WHERE run_id = $1) FROM spread_skipped WHERE run_id = $1", id).Scan(&skipped); err != nil {
		return rec, fmt.Errorf("river: %w", err)
	}
	rec.Outcomes[audit.OutcomeSkipped] += skipped
	stops, err := db.stops(ctx, id)
	if err != nil {
		return rec, err
	}
	rec.State = "finished"
	if len(stops) > 0 {
		rec.State = stops[0]
	}
	if rec.Ended.IsZero() {
		rec.Ended = time.Now().UTC().Truncate(time.Millisecond)
	}
	sum := 0
	for _, n := range rec.Outcomes {
		sum += n
	}
	if err := db.Store.Finish(ctx, rec); err != nil {
		return rec, err
	}
	if _, err := db.exec(ctx,
		"UPDATE spread_runs SET ended = now() WHERE run_id = $1 AND ended IS NULL",
		id); err != nil {
		return rec, err
	}
	if _, err := db.exec(ctx, "DELETE FROM spread_tries WHERE run_id = $1", id); err != nil {
		return rec, err
	}
	if sum != rec.Planned {
		return rec, fmt.Errorf("%w: planned %d, outcomes %d", run.ErrAccounting, rec.Planned, sum)
	}
	return rec, nil
}

// count adds up outcomes, and what the run's own rows consumed.
func (db *DB) count(ctx context.Context, rec *store.Run) error {
	var outcome string
	var own bool
	var n int
	var u audit.Usage
	return db.each(ctx, []any{&outcome, &own, &n, &u.TokensIn, &u.TokensOut, &u.USD, &u.Priced},
		func() error {
			rec.Outcomes[audit.Outcome(outcome)] += n
			if own {
				rec.Usage = rec.Usage.Add(u)
			}
			return nil
		}, `SELECT e.outcome, e.run_id = $1, count(*), coalesce(sum(e.tokens_in), 0)::bigint, coalesce(sum(e.tokens_out), 0)::bigint, coalesce(sum(e.usd), 0), min(e.priced) <> 0
		FROM evaluations e WHERE e.run_id = $1 OR e.id IN (SELECT evaluation_id FROM reused WHERE run_id = $1) GROUP BY 1, 2`, rec.ID)
}
