package river

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"assay/audit"
	"assay/internal/run"
	"assay/internal/store"
)

// hold is how long a lease lasts when nobody settles it: longer than any try.
const hold = 15 * time.Minute

// batch is how many asks or endings one transaction holds at most.
const batch = 100

// A batcher is where the tries of one run at one provider ask for a permit in this
// process, and where they settle. It gathers what arrives while the last
// transaction is under way into the next one.
type batcher struct {
	workers  *workers
	run      string
	provider string
	asks     chan *ask
	endings  chan *ending
	freed    chan struct{} // something was settled: a slot may be free
}

// An ask waits for a permit to try.
type ask struct {
	ctx    context.Context
	item   *run.Item
	answer chan permit
}

// A permit says whether a try may begin.
type permit struct {
	verdict verdict
	why     string
}

type verdict string

const (
	verdictGo   verdict = "go"
	verdictStop verdict = "stop" // never: skip it
	verdictWait verdict = "wait"
)

// An ending is a try that ended: with the trial's outcome, or to be tried again.
type ending struct {
	ctx       context.Context // the job's
	job       *river.Job[Task]
	item      *run.Item
	leased    bool
	cost      float64
	unsure    float64
	throttled bool
	pause     time.Duration
	row       *store.Evaluation // the outcome
	skipped   string            // the outcome: never begun, and why
	attempts  []audit.Attempt   // all of them, earlier workers' too
	last      store.Evaluation  // what the last try came to
	tries     int
	stop      *stop
	done      chan error
}

// What is kept of a trial that waits for another try.
type kept struct {
	Attempts []audit.Attempt
	Last     store.Evaluation
}

// A stop ends all work of a provider or a reviewer.
type stop struct{ scope, name, why string }

// permit waits until the item may be tried, for as long as the worker works.
func (d *batcher) permit(ctx context.Context, it *run.Item) permit {
	a := &ask{ctx: ctx, item: it, answer: make(chan permit, 1)}
	select {
	case d.asks <- a:
	case <-d.workers.leaving:
		return permit{verdict: verdictWait}
	case <-ctx.Done():
		return permit{verdict: verdictWait}
	}
	return <-a.answer
}

// serve answers asks until the workers has gone.
func (d *batcher) serve() {
	var waiting []*ask
	patience := time.Duration(0)
	for {
		if len(waiting) == 0 {
			select {
			case a := <-d.asks:
				waiting = append(waiting, a)
			case <-d.workers.gone:
				return
			}
		}
		for more := true; more && len(waiting) < batch; {
			select {
			case a := <-d.asks:
				waiting = append(waiting, a)
			default:
				more = false
			}
		}
		rest, after, err := d.reserve(waiting)
		switch {
		case err != nil:
			patience, rest = 500*time.Millisecond, waiting
		case len(rest) < len(waiting):
			patience = 5 * time.Millisecond
		default:
			patience = min(patience*2+time.Millisecond, 200*time.Millisecond)
		}
		if waiting = rest; len(waiting) > 0 {
			waiting = d.wait(waiting, max(after, patience))
		}
	}
}

// wait waits for about so long, less when a slot becomes free, and sends those
// away whose worker is leaving.
func (d *batcher) wait(waiting []*ask, about time.Duration) []*ask {
	timer := time.NewTimer(about + rand.N(about/2+time.Millisecond)) // not all processes at once
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-d.freed:
	case <-d.workers.leaving:
		for _, a := range waiting {
			a.answer <- permit{verdict: verdictWait}
		}
		return nil
	}
	still := waiting[:0]
	for _, a := range waiting {
		if a.ctx.Err() != nil {
			a.answer <- permit{verdict: verdictWait}
			continue
		}
		still = append(still, a)
	}
	return still
}

// reserve asks the database for all of them at once and answers those that it
// decided. It gives the others, and how long they have to wait at least.
func (d *batcher) reserve(asks []*ask) (rest []*ask, after time.Duration, err error) {
	keys, reviewers, most := make([]string, len(asks)), make([]string, len(asks)), make([]float64, len(asks))
	for i, a := range asks {
		keys[i], reviewers[i], most[i] = a.item.Key, a.item.Reviewer, a.item.Cost.Most
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	rows, err := d.workers.db.pool.Query(ctx, "SELECT verdict, why, wait_ms FROM spread_reserve($1, $2, $3, $4, $5, $6, $7)",
		d.run, d.workers.id, d.provider, keys, reviewers, most, pgtype.Interval{Microseconds: hold.Microseconds(), Valid: true})
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	var answers []permit
	for rows.Next() {
		var l permit
		var ms int64
		if err := rows.Scan(&l.verdict, &l.why, &ms); err != nil {
			return nil, 0, err
		}
		answers = append(answers, l)
		after = max(after, time.Duration(ms)*time.Millisecond)
	}
	if err := rows.Err(); err != nil {
		return nil, 0, err // it may have committed: the lease is taken for lost, and charged, when it is asked for again
	}
	for i, a := range asks {
		if i >= len(answers) || answers[i].verdict == verdictWait {
			rest = append(rest, a)
			continue
		}
		a.answer <- answers[i]
	}
	return rest, after, nil
}

// settle hands in an ending and waits until it is in the database.
func (d *batcher) settle(e *ending) error {
	e.done = make(chan error, 1)
	d.endings <- e
	return <-e.done
}

// keep writes endings until the workers has gone.
func (d *batcher) keep() {
	for {
		var es []*ending
		select {
		case e := <-d.endings:
			es = append(es, e)
		case <-d.workers.gone:
			return
		}
		for more := true; more && len(es) < batch; {
			select {
			case e := <-d.endings:
				es = append(es, e)
			default:
				more = false
			}
		}
		err := d.write(es)
		for _, e := range es {
			e.done <- err
		}
		select {
		case d.freed <- struct{}{}:
		default:
		}
	}
}

// write commits endings, trying again for as long as a PostgreSQL may take to
// come back: what they say was paid for.
func (d *batcher) write(es []*ending) error {
	wait := 50 * time.Millisecond
	for began := time.Now(); ; {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		left, err := d.commit(ctx, es)
		cancel()
		if err == nil {
			if left <= 0 {
				d.workers.finish(d.run)
			}
			return nil
		}
		if time.Since(began) > d.workers.patience {
			return fmt.Errorf("river: outcomes cannot be stored: %w", err)
		}
		time.Sleep(wait)
		wait = min(2*wait, 2*time.Second)
	}
}

// commit is one transaction: outcomes, ends of jobs, ends of leases. It may be
// tried again when nobody knows whether it was committed.
func (d *batcher) commit(ctx context.Context, es []*ending) (left int64, err error) {
	err = pgx.BeginFunc(ctx, d.workers.db.pool, func(tx pgx.Tx) error {
		done, err := d.outcomes(ctx, tx, es)
		if err != nil {
			return err
		}
		for _, e := range es {
			if e.row == nil && e.skipped == "" {
				continue
			}
			// Not cancelled with the job: that would take the others' transaction along.
			_, err := river.JobCompleteTx[*riverpgxv5.Driver](context.WithoutCancel(e.ctx), tx, e.job)
			if err != nil && !errors.Is(err, rivertype.ErrNotFound) {
				return err
			}
		}
		left, err = d.close(ctx, tx, es, done)
		return err
	})
	return left, err
}

// outcomes writes rows, skips and attempts so far, and gives how many outcomes
// are new.
func (d *batcher) outcomes(ctx context.Context, tx pgx.Tx, es []*ending) (done int, err error) {
	var rows []store.Evaluation
	for _, e := range es {
		switch {
		case e.row != nil:
			rows = append(rows, *e.row)
		case e.skipped != "":
			// Not where a row is there already: a worker taken for dead may have ended its work.
			tag, err := tx.Exec(ctx, `INSERT INTO spread_skipped (run_id, trial_key, expected, why) SELECT $1, $2, $3, $4
				WHERE NOT EXISTS (SELECT FROM evaluations WHERE run_id = $1 AND trial_key = $2) ON CONFLICT DO NOTHING`,
				d.run, e.item.Key, string(e.item.Expected), e.skipped)
			if err != nil {
				return 0, err
			}
			done += int(tag.RowsAffected())
		default:
			_, err := tx.Exec(ctx, `INSERT INTO spread_tries (run_id, trial_key, tries, kept) VALUES ($1, $2, $3, $4)
				ON CONFLICT (run_id, trial_key) DO UPDATE SET tries = EXCLUDED.tries, kept = EXCLUDED.kept`, d.run, e.item.Key, e.tries, kept{e.attempts, e.last})
			if err != nil {
				return 0, err
			}
		}
		if e.stop != nil {
			_, err := tx.Exec(ctx, "INSERT INTO spread_stops (run_id, scope, name, why) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
				d.run, e.stop.scope, e.stop.name, e.stop.why)
			if err != nil {
				return 0, err
			}
		}
	}
	inserted, err := store.InsertTx(ctx, tx, rows...)
	return done + len(inserted), err
}

// close ends the leases and adds up the account; last in the transaction, since
// it locks what all workers share.
func (d *batcher) close(ctx context.Context, tx pgx.Tx, es []*ending, done int) (left int64, err error) {
	keys, cost, unsure, throttled, pause := []string{}, []float64{}, []float64{}, []bool{}, []int64{}
	retries := 0
	for _, e := range es {
		if e.row == nil && e.skipped == "" {
			retries++
		}
		if e.leased {
			keys, cost, unsure = append(keys, e.item.Key), append(cost, e.cost), append(unsure, e.unsure)
			throttled, pause = append(throttled, e.throttled), append(pause, e.pause.Milliseconds())
		}
	}
	err = tx.QueryRow(ctx, "SELECT spread_settle($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)", d.run, d.workers.id, d.provider,
		keys, cost, unsure, throttled, pause, done, retries).Scan(&left)
	return left, err
}
