package river

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"assay/internal/run"
)

// shared is what all workers share of one run at one provider, locked: the same budget
// and pace that one process keeps in memory, decided upon by the same functions of
// internal/run. Rows are always locked in one order: provider, run.
type shared struct {
	run, provider string
	now           time.Time // of the PostgreSQL: the one clock of all workers
	pace          run.Pace
	budget        run.Budget
	halted        string // why nothing of the run is sent any more
	stops         []stop
	leases        map[string]held // by key, of the trials in question

	begun map[string]held
	ended []string
	news  []stop
}

type held struct {
	worker string
	ask    int64 // by which the worker knows it
	lease  run.Lease
}

const insertStop = "INSERT INTO spread_stops (run_id, scope, name, why) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"

// lock reads the state within tx and keeps it from others until tx ends. keys are the
// trials whose leases matter; nil means all that nobody will settle any more.
func lock(ctx context.Context, tx pgx.Tx, id, provider string, keys []string) (*shared, error) {
	s := &shared{run: id, provider: provider, leases: map[string]held{}, begun: map[string]held{}}
	b := &pgx.Batch{}
	b.Queue("SELECT pace FROM spread_providers WHERE provider = $1 FOR UPDATE", provider).QueryRow(func(r pgx.Row) error { return r.Scan(&s.pace) })
	b.Queue("SELECT budget, account, stopped FROM spread_runs WHERE run_id = $1 FOR UPDATE", id).QueryRow(func(r pgx.Row) error {
		var limit float64
		err := r.Scan(&limit, &s.budget, &s.halted)
		s.budget.Limit = limit
		return err
	})
	b.Queue("SELECT scope, name, why FROM spread_stops WHERE run_id = $1 ORDER BY at", id).Query(func(rows pgx.Rows) (err error) {
		s.stops, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (p stop, err error) { return p, r.Scan(&p.scope, &p.name, &p.why) })
		return err
	})
	which, args := "l.trial_key = ANY($3)", []any{id, provider, keys}
	if keys == nil {
		which, args = nobodys, args[:2]
	}
	b.Queue("SELECT trial_key, worker, ask, lease FROM spread_leases l WHERE run_id = $1 AND provider = $2 AND "+which, args...).Query(func(rows pgx.Rows) error {
		var key string
		var h held
		_, err := pgx.ForEachRow(rows, []any{&key, &h.worker, &h.ask, &h.lease}, func() error {
			s.leases[key] = h
			h.lease = run.Lease{}
			return nil
		})
		return err
	})
	b.Queue("SELECT clock_timestamp()").QueryRow(func(r pgx.Row) error { return r.Scan(&s.now) })
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return nil, fmt.Errorf("river: run %s: %w", id, err)
	}
	return s, nil
}

// stopped says why nothing more is sent to an item's reviewer.
func (s *shared) stopped(it *run.Item) string {
	for _, p := range s.stops {
		if p.scope == "provider" && p.name == it.Provider || p.scope == "reviewer" && p.name == it.Reviewer {
			return cmp.Or(s.halted, p.why)
		}
	}
	return s.halted
}

func (s *shared) begin(key string, h held) { s.leases[key], s.begun[key] = h, h }

func (s *shared) end(key string) {
	delete(s.leases, key)
	delete(s.begun, key)
	s.ended = append(s.ended, key)
}

// store writes what has changed. left is how many trials of the run have no outcome yet.
func (s *shared) store(ctx context.Context, tx pgx.Tx, done, again int) (left int64, err error) {
	b := &pgx.Batch{}
	for _, p := range s.news {
		b.Queue(insertStop, s.run, p.scope, p.name, p.why)
	}
	if len(s.ended) > 0 {
		b.Queue("DELETE FROM spread_leases WHERE run_id = $1 AND trial_key = ANY($2)", s.run, s.ended)
	}
	if len(s.begun) > 0 {
		var keys, workers, leases []string
		var asks []int64
		for key, h := range s.begun {
			lease, err := json.Marshal(h.lease)
			if err != nil {
				return 0, err
			}
			keys, workers, asks, leases = append(keys, key), append(workers, h.worker), append(asks, h.ask), append(leases, string(lease))
		}
		b.Queue(`INSERT INTO spread_leases (run_id, provider, trial_key, worker, ask, lease)
			SELECT $1, $2, key, worker, ask, lease::jsonb FROM unnest($3::text[], $4::text[], $5::bigint[], $6::text[]) AS l (key, worker, ask, lease)`,
			s.run, s.provider, keys, workers, asks, leases)
	}
	if len(s.ended)+len(s.begun) > 0 {
		b.Queue("UPDATE spread_providers SET pace = $2 WHERE provider = $1", s.provider, s.pace)
	}
	b.Queue("UPDATE spread_runs SET account = $2, remaining = remaining - $3, retries = retries + $4 WHERE run_id = $1 RETURNING outstanding",
		s.run, s.budget, done, again).QueryRow(func(r pgx.Row) error { return r.Scan(&left) })
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return 0, fmt.Errorf("river: run %s: %w", s.run, err)
	}
	return left, nil
}

// nobodys are the leases l that nobody will settle any more: their worker is not on the
// roll.
const nobodys = "NOT EXISTS (SELECT FROM spread_workers w WHERE w.worker = l.worker)"

// lose gives such leases back. They are charged in full: nobody knows what the tries
// came to.
func (db *DB) lose(ctx context.Context) error {
	var pairs [][2]string
	var p [2]string
	err := db.each(ctx, []any{&p[0], &p[1]}, func() error { pairs = append(pairs, p); return nil }, "SELECT DISTINCT provider, run_id FROM spread_leases l WHERE "+nobodys)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		err := pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
			s, err := lock(ctx, tx, p[1], p[0], nil)
			if err != nil {
				return err
			}
			for key, h := range s.leases {
				run.Lose(&s.budget, &s.pace, h.lease)
				s.end(key)
			}
			_, err = s.store(ctx, tx, 0, 0)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
