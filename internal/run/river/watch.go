package river

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// silentBeats is how many beats a worker is silent before it is dead for the others.
const silentBeats = 8

// beat reports that this worker is present, removes dead workers, and picks up new providers
// and runs that nobody has ended.
func (c *workers) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var shown time.Time
	var enrolled int
	err := c.db.pool.QueryRow(ctx, `WITH own AS (INSERT INTO spread_workers (worker, audits) VALUES ($1, $2) ON CONFLICT (worker) DO UPDATE SET shown = clock_timestamp() RETURNING shown)
		SELECT shown, (SELECT count(*) FROM spread_workers) FROM own`, c.id, c.Audits).Scan(&shown, &enrolled)
	if err != nil {
		return fmt.Errorf("river: %w", err)
	}
	c.enrolled.Store(int64(enrolled))
	if err := c.strike(ctx, "", c.silent(shown, silentBeats*interval(enrolled))); err != nil {
		return err
	}
	if err := c.news(ctx); err != nil {
		return err
	}
	return c.drained(ctx)
}

// silent returns the time before which a dead worker has last shown itself: the zero time
// while this worker has not shown itself for so long without a gap, as then nobody could,
// perhaps. It goes by the PostgreSQL's clock, which may stand still or leap for all.
func (c *workers) silent(shown time.Time, silence time.Duration) (before time.Time) {
	if shown.Sub(c.shown) > silence/2 {
		c.since = shown
	}
	c.shown = shown
	if shown.Sub(c.since) < silence {
		return time.Time{}
	}
	return shown.Add(-silence)
}

// strike removes the workers whose ID begins with a prefix and those that are silent since a
// time, and frees the leases and jobs of workers that are gone. It also frees jobs that are
// assigned to this worker without being worked on: their assignment was lost when the
// connection broke, and River would not give them to another worker.
func (c *workers) strike(ctx context.Context, prefix string, silent time.Time) error {
	held := c.holding(time.Now())
	err := pgx.BeginFunc(ctx, c.db.pool, func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		b.Queue("DELETE FROM spread_workers WHERE $1 <> '' AND starts_with(worker, $1) OR shown < $2", prefix, silent)
		// One that is locked is being ended.
		b.Queue(`UPDATE river_job SET state = 'available', scheduled_at = now() WHERE id IN (
			SELECT id FROM river_job WHERE state = 'running' AND kind = ANY($1) AND CASE attempted_by[array_upper(attempted_by, 1)]
				WHEN $2 THEN attempted_at < now() - $3::interval AND id <> ALL($4)
				ELSE NOT EXISTS (SELECT FROM spread_workers w WHERE w.worker = attempted_by[array_upper(attempted_by, 1)]) END FOR UPDATE SKIP LOCKED)`,
			[]string{ReviewArgs{}.Kind(), AuditArgs{}.Kind()}, c.id, underWay, held)
		return tx.SendBatch(ctx, b).Close()
	})
	if err == nil {
		err = c.db.lose(ctx)
	}
	if err != nil {
		return fmt.Errorf("river: giving back what nobody holds: %w", err)
	}
	return nil
}

const (
	// that a job may take from the table to this worker's hands, and,
	underWay = 5 * time.Second
	// when it ended with an error, from them to the table: River tries for 40 s
	onItsWayBack = time.Minute
)

// hold notes that a job is in this worker's hands, and until when. err is what it
// ended with: River writes that to the table.
func (c *workers) hold(id int64) (end func(err error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held[id] = time.Time{}
	return func(err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.held[id] = time.Now().Add(onItsWayBack); err == nil { // it is in the table already
			delete(c.held, id)
		}
	}
}

// holding returns the jobs that this worker holds.
func (c *workers) holding(now time.Time) []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := make([]int64, 0, len(c.held))
	for id, until := range c.held {
		if !until.IsZero() && now.After(until) {
			delete(c.held, id)
			continue
		}
		ids = append(ids, id)
	}
	return ids
}

// news takes in new providers and runs that have ended.
func (c *workers) news(ctx context.Context) error {
	// Whoever enqueues holds the plan's lock.
	_, err := c.db.exec(ctx, `UPDATE spread_runs SET stopped = 'its enqueueing was cut off'
		WHERE missing > 0 AND ended IS NULL AND stopped = '' AND pg_try_advisory_xact_lock(hashtextextended(identity, 11))`)
	if err != nil {
		return err
	}
	ended, err := column[string](ctx, c.db,
		"SELECT run_id FROM spread_runs WHERE ended IS NULL AND outstanding <= 0")
	if err != nil {
		return err
	}
	for _, id := range ended {
		c.finish(id)
	}
	return c.providers(ctx)
}

// providers starts working on the queues of new providers.
func (c *workers) providers(ctx context.Context) error {
	if c.Rebuild == nil {
		return nil
	}
	names, err := column[string](ctx, c.db, "SELECT provider FROM spread_providers")
	if err != nil {
		return err
	}
	for _, name := range names {
		q := queueOf(name)
		if c.queues[q] {
			continue
		}
		if err := c.client.Queues().Add(q, river.QueueConfig{MaxWorkers: c.Slots}); err != nil {
			return fmt.Errorf("river: queue %s: %w", q, err)
		}
		c.queues[q] = true
	}
	return nil
}

// drained ends a worker with Drain when nothing is left to do for anybody.
func (c *workers) drained(ctx context.Context) error {
	if !c.Drain {
		return nil
	}
	var left bool
	err := c.db.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM spread_runs WHERE ended IS NULL)
		OR EXISTS (SELECT FROM river_job WHERE kind = $1 AND state IN ('available', 'pending', 'retryable', 'running', 'scheduled'))`, AuditArgs{}.Kind()).Scan(&left)
	if err != nil {
		return fmt.Errorf("river: %w", err)
	}
	if !left {
		c.fail(errDrained)
	}
	return nil
}
