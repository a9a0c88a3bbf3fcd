package river

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

const auditQueue = "audits" // they take hours, and have slots of their own

// An AuditArgs is a job: one trial of an auditor on a project. The worker makes
// the sealed export itself, from the pinned commit.
type AuditArgs struct {
	// Run is who asks; or, the same for whoever asks, what is asked: then what was made,
	// or is being made, for somebody who was killed is taken.
	Run     string `json:"run" river:"unique"`
	Project string `json:"project" river:"unique"`
	Auditor string `json:"auditor" river:"unique"`
	Trial   int    `json:"trial" river:"unique"` // from 0
	// the number of the attempt, from 1; set when it is enqueued
	Try    string  `json:"try" river:"unique"`
	Export string  `json:"export"`  // seal.Hash: what the auditor is shown
	MaxUSD float64 `json:"max_usd"` // that it may cost; 0 where nobody says
	Entry  string  `json:"entry"`   // hash of the auditor's section
}

// Kind is River's name for it.
func (AuditArgs) Kind() string { return "audit" }

// key returns the key of the audit within its run.
func (t AuditArgs) key() string {
	return fmt.Sprintf("%s/%s/%d/%s", t.Project, t.Auditor, t.Trial, t.Try)
}

// ErrDeserted means that no worker for audits was left. The caller does the work itself.
var ErrDeserted = errors.New("no worker takes audits")

// Audit has a worker carry out an audit and returns its result. If a worker dies, another one
// starts the audit again. The n-th audit that a process requests of the same Run is the same
// for all processes: they share its result, finished or under way. It returns ErrDeserted if no
// worker that takes audits has reported for a while.
func (db *DB) Audit(ctx context.Context, t AuditArgs) ([]byte, error) {
	id, err := db.ask(ctx, &t)
	if err != nil {
		return nil, err
	}
	var seen time.Time // when a worker that takes audits was last there
	for {
		// before its result is looked for, which is written with its end
		why, over := db.over(ctx, id)
		var b []byte
		err := db.pool.QueryRow(ctx,
			"SELECT result FROM spread_audits WHERE run_id = $1 AND audit_key = $2",
			t.Run, t.key()).Scan(&b)
		switch {
		case err == nil:
			return b, nil
		case !errors.Is(err, pgx.ErrNoRows): // a PostgreSQL that is gone comes back, or ctx ends
			seen = time.Now()
		case over && why != "":
			return nil, fmt.Errorf("river: no worker could do the audit: %s", why)
		case over: // another process has taken it, or withdrawn it
			if id, err = db.ask(ctx, &t); err != nil {
				return nil, err
			}
		case db.deserted(ctx, &seen, 1):
			return nil, errors.Join(ErrDeserted, db.withdraw(id))
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), db.withdraw(id))
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// ask requests the next attempt of an audit that this process has not requested yet. It returns
// the ID of its job, 0 if there is a result already.
func (db *DB) ask(ctx context.Context, t *AuditArgs) (id int64, err error) {
	of := AuditArgs{Run: t.Run, Project: t.Project, Auditor: t.Auditor, Trial: t.Trial}
	db.mu.Lock()
	if db.asked == nil {
		db.asked = map[AuditArgs]int{}
	}
	db.asked[of]++
	t.Try = strconv.Itoa(db.asked[of])
	db.mu.Unlock()
	done, err := column[bool](ctx, db,
		"SELECT true FROM spread_audits WHERE run_id = $1 AND audit_key = $2", t.Run, t.key())
	if err != nil || len(done) > 0 {
		return 0, err
	}
	client, err := db.inserter()
	if err != nil {
		return 0, fmt.Errorf("river: %w", err)
	}
	res, err := client.Insert(ctx, *t, &river.InsertOpts{Queue: auditQueue,
		MaxAttempts: maxAttempts, UniqueOpts: river.UniqueOpts{ByArgs: true}})
	if err != nil {
		return 0, fmt.Errorf("river: enqueueing the audit: %w", err)
	}
	return res.Job.ID, nil
}

// over reports whether a job has ended, or is none any more, and why it failed for good,
// if it did.
func (db *DB) over(ctx context.Context, id int64) (why string, over bool) {
	err := db.pool.QueryRow(ctx, `SELECT finalized_at IS NOT NULL, CASE WHEN state = 'discarded' THEN coalesce(errors[array_upper(errors, 1)]->>'error', 'discarded') ELSE '' END
		FROM river_job WHERE id = $1`, id).Scan(&over, &why)
	return why, err == nil && over || errors.Is(err, pgx.ErrNoRows)
}

// Taken deletes the results that this process has received. They are stored elsewhere, and a
// new request for the same audit runs it again.
func (db *DB) Taken(ctx context.Context) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	for t, tries := range db.asked {
		for n := range tries {
			t.Try = strconv.Itoa(n + 1)
			if _, err := db.exec(ctx,
				"DELETE FROM spread_audits WHERE run_id = $1 AND audit_key = $2",
				t.Run, t.key()); err != nil {
				return err
			}
		}
	}
	return nil
}

// withdraw cancels a job.
func (db *DB) withdraw(id int64) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	client, err := db.inserter()
	if err == nil {
		_, err = client.JobCancel(ctx, id)
	}
	if err != nil && !errors.Is(err, rivertype.ErrNotFound) {
		return fmt.Errorf("river: withdrawing the audit: %w", err)
	}
	return nil
}

type auditWorker struct {
	river.WorkerDefaults[AuditArgs]
	workers *workers
}

// Work carries out the audit.
func (w *auditWorker) Work(ctx context.Context, job *river.Job[AuditArgs]) (err error) {
	end := w.workers.hold(job.ID)
	defer func() { end(err) }()
	if w.workers.Audit == nil {
		return river.JobSnooze(time.Second)
	}
	b, err := w.workers.Audit(ctx, job.Args)
	if errors.Is(err, ErrOther) {
		w.workers.fail(err)
		return errors.Join(err, river.JobSnooze(2*time.Second))
	}
	if err != nil {
		return err
	}
	if ctx.Err() != nil { // the worker is made to leave, and the audit was cut off
		return river.JobSnooze(0)
	}
	wait := 50 * time.Millisecond
	for began := time.Now(); ; {
		if err = w.put(context.WithoutCancel(ctx), job, b); err == nil ||
			time.Since(began) > w.workers.patience {
			return err
		}
		time.Sleep(wait)
		wait = min(2*wait, 2*time.Second)
	}
}

// put stores the result of a job and completes it.
func (w *auditWorker) put(ctx context.Context, job *river.Job[AuditArgs], b []byte) error {
	return pgx.BeginFunc(ctx, w.workers.db.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx,
			"INSERT INTO spread_audits (run_id, audit_key, result) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", job.Args.Run, job.Args.key(), b); err != nil {
			return err
		}
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		if errors.Is(err, rivertype.ErrNotFound) {
			return nil
		}
		return err
	})
}
