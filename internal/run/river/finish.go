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
	for _, from := range []string{"evaluations e WHERE e.run_id = $1", "reused r JOIN evaluations e ON e.id = r.evaluation_id WHERE r.run_id = $1"} {
		own := from[0] == 'e'
		if err := db.count(ctx, &rec, from, own); err != nil {
			return rec, err
		}
	}
	var skipped int
	if err := db.pool.QueryRow(ctx, "SELECT count(*) + (SELECT missing FROM spread_runs WHERE run_id = $1) FROM spread_skipped WHERE run_id = $1", id).Scan(&skipped); err != nil {
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
	if _, err := db.exec(ctx, "UPDATE spread_runs SET ended = now() WHERE run_id = $1 AND ended IS NULL", id); err != nil {
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
func (db *DB) count(ctx context.Context, rec *store.Run, from string, own bool) error {
	var outcome string
	var n int
	var priced int64
	var u audit.Usage
	return db.each(ctx, []any{&outcome, &n, &u.TokensIn, &u.TokensOut, &u.USD, &priced}, func() error {
		rec.Outcomes[audit.Outcome(outcome)] += n
		if u.Priced = priced != 0; own {
			rec.Usage = rec.Usage.Add(u)
		}
		return nil
	}, "SELECT e.outcome, count(*), coalesce(sum(e.tokens_in), 0)::bigint, coalesce(sum(e.tokens_out), 0)::bigint, coalesce(sum(e.usd), 0), min(e.priced) FROM "+from+" GROUP BY e.outcome", rec.ID)
}
