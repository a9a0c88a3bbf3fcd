package river

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"assay/internal/run"
)

// shared is what all workers share of one run at one provider, locked: the same budget
// and rate limiter that one process keeps in memory, decided upon by the same functions of
// internal/run. Rows are always locked in one order: provider, run.
type shared struct {
	run, provider string
	now           time.Time // of the PostgreSQL: the one clock of all workers
	limiter       run.RateLimiter
	budget        run.Budget
	halted        string // why nothing of the run is sent any more
	stops         []stop
	// of the worker in question, the last one that was committed; 0 where it holds nothing
	turn int64

	changed bool // whether limiter has changed
	news    []stop
}

// A holding is the work of one worker under way, in one row.
type holding struct {
	worker string
	turn   int64
	tries  int
	most   float64 // that these may cost
}

const insertStop = "INSERT INTO spread_stops (run_id, scope, name, why) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"

// lock reads the state within tx, with the last turn of a worker, and keeps it from others
// until tx ends.
func lock(ctx context.Context, tx pgx.Tx, id, provider, worker string) (*shared, error) {
	s := &shared{run: id, provider: provider}
	b := &pgx.Batch{}
	b.Queue("SELECT pace FROM spread_providers WHERE provider = $1 FOR UPDATE",
		provider).QueryRow(func(r pgx.Row) error { return r.Scan(&s.limiter) })
	b.Queue("SELECT budget, account, stopped FROM spread_runs WHERE run_id = $1 FOR UPDATE",
		id).QueryRow(func(r pgx.Row) error {
		var limit float64
		err := r.Scan(&limit, &s.budget, &s.halted)
		s.budget.Limit = limit
		return err
	})
	b.Queue("SELECT scope, name, why FROM spread_stops WHERE run_id = $1 ORDER BY at",
		id).Query(func(rows pgx.Rows) (err error) {
		s.stops, err = pgx.CollectRows(rows,
			func(r pgx.CollectableRow) (p stop, err error) {
				return p,
					r.Scan(&p.scope, &p.name, &p.why)
			})
		return err
	})
	b.Queue("SELECT coalesce(max(turn), 0) FROM spread_holdings WHERE run_id = $1 AND provider = $2 AND worker = $3", id, provider, worker).
		QueryRow(func(r pgx.Row) error { return r.Scan(&s.turn) })
	b.Queue("SELECT clock_timestamp()").QueryRow(func(r pgx.Row) error { return r.Scan(&s.now) })
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, fmt.Errorf("river: run %s: %w", id, err)
	}
	return s, nil
}

// stopped says why nothing more is sent to a job's reviewer.
func (s *shared) stopped(it *run.Job) string {
	for _, p := range s.stops {
		if p.scope == "provider" && p.name == it.Provider || p.scope == "reviewer" &&
			p.name == it.Reviewer {
			return cmp.Or(s.halted, p.why)
		}
	}
	return s.halted
}

// store writes the changes and the worker's holding. left is the number of trials of the run
// without an outcome.
func (s *shared) store(ctx context.Context, tx pgx.Tx, done, again int, h *holding) (left int64,
	err error) {
	b := &pgx.Batch{}
	if h != nil {
		b.Queue(`INSERT INTO spread_holdings (run_id, provider, worker, turn, tries, most) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (run_id, provider, worker) DO UPDATE SET turn = EXCLUDED.turn, tries = EXCLUDED.tries, most = EXCLUDED.most`,
			s.run, s.provider, h.worker, h.turn, h.tries, h.most)
	}
	for _, p := range s.news {
		b.Queue(insertStop, s.run, p.scope, p.name, p.why)
	}
	if s.changed {
		b.Queue("UPDATE spread_providers SET pace = $2 WHERE provider = $1", s.provider, s.limiter)
	}
	b.Queue("UPDATE spread_runs SET account = $2, remaining = remaining - $3, retries = retries + $4 WHERE run_id = $1 RETURNING outstanding",
		s.run, s.budget, done, again).QueryRow(func(r pgx.Row) error { return r.Scan(&left) })
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return 0, fmt.Errorf("river: run %s: %w", s.run, err)
	}
	return left, nil
}

// lose returns the permits of workers that are gone. They are charged in full, because their
// cost is unknown.
func (db *DB) lose(ctx context.Context) error {
	const nobodys = "NOT EXISTS (SELECT FROM spread_workers w WHERE w.worker = h.worker)"
	var pairs [][2]string
	var p [2]string
	err := db.each(ctx, []any{&p[0], &p[1]}, func() error { pairs = append(pairs, p); return nil },
		"SELECT DISTINCT provider, run_id FROM spread_holdings h WHERE "+nobodys)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		err := pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
			s, err := lock(ctx, tx, p[1], p[0], "")
			if err != nil {
				return err
			}
			rows, err := tx.Query(ctx,
				"DELETE FROM spread_holdings h WHERE run_id = $1 AND provider = $2 AND "+nobodys+
					" RETURNING tries, most", p[1], p[0])
			if err != nil {
				return err
			}
			var h holding
			_, err = pgx.ForEachRow(rows, []any{&h.tries, &h.most}, func() error {
				run.Lose(&s.budget, &s.limiter, h.tries, h.most)
				s.changed = true
				return nil
			})
			if err != nil {
				return err
			}
			_, err = s.store(ctx, tx, 0, 0, nil)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
