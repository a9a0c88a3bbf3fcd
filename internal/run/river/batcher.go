package river

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"

	"assay/audit"
	"assay/internal/run"
	"assay/internal/store"
)

const (
	batch = 200 // asks, and endings, that one turn holds at most
	// from one look whether another worker's attempt has ended to the next
	poll = 50 * time.Millisecond
)

// ahead is how long before it begins an attempt may have its lease: what the provider
// grants while the workers' transactions are under way is not lost then.
const ahead = 50 * time.Millisecond

// rowCost is the approximate cost of a worker's turn for the others, which wait for the same
// rows. With more workers each collects for longer.
const rowCost = time.Millisecond

// A batcher requests permits and records outcomes for the attempts of one run at one provider
// in this process. It collects requests while a transaction is under way and handles them in
// the next one.
type batcher struct {
	workers  *workers
	run      string
	provider string
	config   run.Config // what it says of attempts and waits
	asks     chan *ask
	endings  chan *ending
	// when the pause ends that the provider asked for, as of the last turn; Unix ns
	until atomic.Int64

	// What follows belongs to serve.
	turns int64               // begun
	held  map[*run.Lease]bool // leases of the attempts under way
}

type ask struct {
	ctx    context.Context
	item   *run.Job
	answer chan permit
	turn   int64 // that gave this permit, committed or not; 0: none
	permit permit
}

// A permit says whether an attempt may begin: from at on, or not now, or never.
type permit struct {
	lease *run.Lease
	at    time.Time
	later bool   // the job goes back
	never string // why it is skipped
}

// An ending is an attempt that ended: with the trial's outcome, or to be tried again.
type ending struct {
	job      *river.Job[ReviewArgs]
	item     *run.Job
	lease    *run.Lease        // that ends; nil where nothing was begun
	turn     int64             // that ended it, committed or not; 0: none
	try      run.AttemptResult // that ended
	row      *store.Evaluation // the outcome
	skipped  string            // the outcome: never begun, and why
	attempts []audit.Attempt   // all of them, earlier workers' too
	last     store.Evaluation  // what the last attempt came to
	tries    int
	stop     stop
	came     time.Time
	done     chan error
}

// final reports whether the trial has an outcome.
func (e *ending) final() bool { return e.row != nil || e.skipped != "" }

// What is kept of a trial that waits for another attempt.
type kept struct {
	Attempts []audit.Attempt
	Last     store.Evaluation
}

// A stop ends all work of a provider or a reviewer; of a run, where its budget is used up.
type stop struct{ scope, name, why string }

// permit waits for permission to start an attempt.
func (d *batcher) permit(ctx context.Context, it *run.Job) permit {
	a := &ask{ctx: ctx, item: it, answer: make(chan permit, 1)}
	select {
	case d.asks <- a:
	case <-d.workers.leaving:
		return permit{later: true}
	case <-ctx.Done():
		return permit{later: true}
	}
	p := <-a.answer
	for p.never == "" && !p.later && time.Until(p.at) > 0 && ctx.Err() == nil {
		select {
		case <-time.After(time.Until(p.at)):
		case <-ctx.Done():
		}
		p.at = time.Unix(0, d.until.Load()) // the provider may have asked for a pause meanwhile
	}
	return p
}

// settle records an ending and waits until it is in the database.
func (d *batcher) settle(e *ending) error {
	e.came, e.done = time.Now(), make(chan error, 1)
	d.endings <- e
	return <-e.done
}

// serve collects requests and endings and handles them, one transaction at a time.
func (d *batcher) serve() {
	var asks []*ask
	var ends []*ending
	var last time.Time // when the last turn began
	leaving := d.workers.leaving
	timer := time.NewTimer(0)
	defer timer.Stop()
	trouble := time.Duration(0)
	for {
		select {
		case a := <-d.asks:
			if asks = append(asks, a); len(asks) == 1 {
				timer.Reset(0)
			}
			continue // the timer says when
		case e := <-d.endings:
			ends = append(ends, e)
		case <-timer.C:
		case <-leaving:
			leaving = nil
		case <-d.workers.gone:
			return
		}
		others := time.Duration(d.workers.enrolled.Load())
		time.Sleep(time.Until(last.Add(others * rowCost)))
		asks, ends = d.gather(asks, ends)
		asks = slices.DeleteFunc(asks, func(a *ask) bool {
			// else it may have its lease
			back := a.turn == 0 && (leaving == nil || a.ctx.Err() != nil)
			if back {
				a.answer <- permit{later: true}
			}
			return back
		})
		if len(asks)+len(ends) == 0 {
			continue
		}
		last = time.Now()
		rest, wait, err := d.turn(asks[:min(batch, len(asks))], ends)
		if err != nil {
			// What the endings say was paid for: a PostgreSQL that is gone comes back.
			ends = d.desperate(ends, err)
			trouble = min(2*trouble+50*time.Millisecond, 2*time.Second)
			time.Sleep(trouble)
			timer.Reset(0)
			continue
		}
		asks, ends, trouble = append(rest, asks[min(batch, len(asks)):]...), nil, 0
		timer.Reset(min(wait, time.Second+10*others*rowCost)) // a run may be stopped meanwhile
	}
}

// gather adds the waiting requests and endings.
func (d *batcher) gather(asks []*ask, ends []*ending) ([]*ask, []*ending) {
	for len(ends) < batch {
		select {
		case a := <-d.asks:
			asks = append(asks, a)
		case e := <-d.endings:
			ends = append(ends, e)
		default:
			return asks, ends
		}
	}
	return asks, ends
}

// desperate gives up endings that could not be stored for too long.
func (d *batcher) desperate(ends []*ending, err error) []*ending {
	return slices.DeleteFunc(ends, func(e *ending) bool {
		late := time.Since(e.came) > d.workers.patience
		if late {
			e.done <- fmt.Errorf("river: outcomes cannot be stored: %w", err)
		}
		return late
	})
}

// turn carries out one transaction: outcomes, ends of leases, new leases. It returns the
// requests that have to wait, and the least time. After an error it is unknown whether the
// transaction was committed: its contents are part of the next one, which recognizes them by
// their number.
func (d *batcher) turn(asks []*ask, ends []*ending) (rest []*ask, wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	d.turns++
	held := map[*run.Lease]bool{}
	var answered int
	var left int64
	err = pgx.BeginFunc(ctx, d.workers.db.pool, func(tx pgx.Tx) error {
		done, err := d.outcomes(ctx, tx, ends)
		if err != nil {
			return err
		}
		s, err := lock(ctx, tx, d.run, d.provider, d.workers.id)
		if err != nil {
			return err
		}
		began := time.Now()
		if s.turn > 0 { // else this worker was taken for dead, and charged in full
			maps.Copy(held, d.held)
		}
		again := d.settled(s, held, ends)
		d.until.Store(began.Add(s.limiter.Until.Sub(s.now)).UnixNano())
		answered, wait = d.decide(s, held, asks, began)
		h := holding{d.workers.id, d.turns, len(held), 0}
		for l := range held {
			h.most += l.Most
		}
		left, err = s.store(ctx, tx, done, again, &h)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	d.held = held
	for _, e := range ends {
		e.done <- nil
	}
	if left <= 0 && len(ends) > 0 {
		d.workers.finish(d.run)
	}
	for _, a := range asks[:answered] {
		a.answer <- a.permit
	}
	return asks[answered:], wait, nil
}

// committed reports whether what a turn of this worker did is in the database.
func (s *shared) committed(turn int64) bool { return turn > 0 && turn <= s.turn }

// settled ends the leases of attempts and returns how many trials get another attempt. A lease
// that is not held anymore was charged in full.
func (d *batcher) settled(s *shared, held map[*run.Lease]bool, ends []*ending) (again int) {
	for _, e := range ends {
		ours := held[e.lease]
		delete(held, e.lease)
		if !ours || s.committed(e.turn) {
			continue
		}
		if !e.final() {
			again++
		}
		if why := run.Settle(&s.budget, &s.limiter, *e.lease, &e.try, &d.config, s.now); why != "" {
			s.news = append(s.news, stop{"provider", d.provider, why})
		}
		e.turn, s.changed = d.turns, true
	}
	return again
}

// decide answers requests in order, up to the first that has to wait, and returns how many.
func (d *batcher) decide(s *shared, held map[*run.Lease]bool, asks []*ask,
	began time.Time) (answered int, wait time.Duration) {
	for i, a := range asks {
		if !s.committed(a.turn) {
			if a.permit, wait = d.decideOn(s, a.item, began); wait > 0 {
				for _, later := range asks[i:] {
					later.turn = 0
				}
				return i, wait
			}
			a.turn = d.turns
		}
		if a.permit.lease != nil {
			held[a.permit.lease] = true
		}
	}
	return len(asks), poll
}

// decideOn returns the permit of a job, or how long it has to wait.
func (d *batcher) decideOn(s *shared, it *run.Job, began time.Time) (p permit,
	wait time.Duration) {
	if why := s.stopped(it); why != "" {
		return permit{never: why}, 0
	}
	switch g := run.AskAhead(&s.budget, &s.limiter, it, &d.config, s.now, ahead); {
	case g.Lease != nil:
		s.changed = true
		return permit{lease: g.Lease, at: began.Add(g.Lease.At.Sub(s.now))}, 0
	case g.Never != "":
		s.news = append(s.news, stop{"budget", "", g.Never})
		return permit{never: g.Never}, 0
	case g.Stop != "":
		s.news = append(s.news, stop{"provider", it.Provider, g.Stop})
		return permit{never: g.Stop}, 0
	case g.Wait > 0:
		return permit{}, max(1, g.Wait-ahead+rand.N(ahead/2)) // not all processes at once
	}
	return permit{}, poll/2 + rand.N(poll) // until something ends: here, or elsewhere
}

// outcomes writes rows, skips and attempts and returns the number of new outcomes. River writes
// the end of a job; a job that is lost is started again and finds its outcome then.
func (d *batcher) outcomes(ctx context.Context, tx pgx.Tx, ends []*ending) (done int, err error) {
	if len(ends) == 0 {
		return 0, nil
	}
	var rows []store.Evaluation
	b := &pgx.Batch{}
	for _, e := range ends {
		switch {
		case e.row != nil:
			rows = append(rows, *e.row)
		case e.skipped != "":
			// Not where a row is there already: a worker taken for dead may have ended its work.
			b.Queue(`INSERT INTO spread_skipped (run_id, trial_key, expected, why) SELECT $1, $2, $3, $4
				WHERE NOT EXISTS (SELECT FROM evaluations WHERE run_id = $1 AND trial_key = $2) ON CONFLICT DO NOTHING`,
				d.run, e.item.Key,
				string(e.item.Expected),
				e.skipped).Exec(func(t pgconn.CommandTag) error { done += int(t.RowsAffected()); return nil })
		default:
			b.Queue(`INSERT INTO spread_tries (run_id, trial_key, tries, kept) VALUES ($1, $2, $3, $4)
				ON CONFLICT (run_id, trial_key) DO UPDATE SET tries = EXCLUDED.tries, kept = EXCLUDED.kept`, d.run, e.item.Key, e.tries, kept{e.attempts, e.last})
		}
		if e.stop.why != "" {
			b.Queue(insertStop, d.run, e.stop.scope, e.stop.name, e.stop.why)
		}
	}
	inserted, err := store.InsertTx(ctx, tx, rows...)
	if err != nil {
		return 0, err
	}
	err = tx.SendBatch(ctx, b).Close()
	return done + inserted, err
}
