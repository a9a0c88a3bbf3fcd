package river

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"assay/internal/run"
)

// A Task is a job: a trial, named so that a worker can rebuild it from its own
// copy of the repository. It holds no code, no answer and no key of an API.
type Task struct {
	Run      string `json:"run" river:"unique"`
	Key      string `json:"key" river:"unique"` // of the trial: what is rebuilt must have it too
	Case     string `json:"case"`               // audit.Case.ID
	Reviewer string `json:"reviewer"`
	Prompt   string `json:"prompt"`
	Trial    int    `json:"trial,omitempty"`
	Twin     string `json:"twin,omitempty"`
}

// Kind is River's name for it.
func (Task) Kind() string { return "trial" }

// TaskOf gives the task of a trial; Enqueue fills in the run.
func TaskOf(t *run.Trial) Task {
	return Task{Key: t.Key(), Case: t.Case.ID(), Reviewer: t.Reviewer.Name(), Prompt: t.PromptName, Trial: t.Index, Twin: t.Twin}
}

// settings are what a worker needs to know of a run.
type settings struct {
	Tries     int           `json:"tries"`
	FirstWait time.Duration `json:"first_wait"`
	MaxWait   time.Duration `json:"max_wait"`
	StoreWait time.Duration `json:"store_wait"`
}

// How many rows one COPY holds.
const chunk = 5000

// Enqueue makes a plan a run of workers: a job for each trial that has no answer
// yet, in the plan's order. tasks names the trials by key. Where workers are
// about the very same plan already, that run is given and nothing is enqueued:
// nothing is paid for twice.
func (db *DB) Enqueue(ctx context.Context, plan *run.Plan, tasks map[string]Task) (*Run, error) {
	id, joined, err := db.EnqueueOnly(ctx, plan, tasks)
	if err != nil {
		return nil, err
	}
	return db.follow(ctx, plan, id, joined)
}

// EnqueueOnly is Enqueue for those who do not wait for the results.
func (db *DB) EnqueueOnly(ctx context.Context, plan *run.Plan, tasks map[string]Task) (id string, joined bool, err error) {
	if plan.Config().Budget == 0 {
		return "", false, errors.New("river: the budget is 0: this is an estimate, and nothing is enqueued")
	}
	// One at a time: of those who begin the same plan together, the first enqueues
	// it and the others join.
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return "", false, fmt.Errorf("river: %w", err)
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 11))", plan.Identity()); err != nil {
		return "", false, fmt.Errorf("river: %w", err)
	}
	defer func() {
		_, unlock := conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(hashtextextended($1, 11))", plan.Identity())
		err = errors.Join(err, unlock)
	}()
	err = db.pool.QueryRow(ctx, "SELECT run_id FROM spread_runs WHERE identity = $1 AND ended IS NULL AND stopped = ''", plan.Identity()).Scan(&id)
	if err == nil {
		return id, true, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return "", false, fmt.Errorf("river: %w", err)
	}
	ask := plan.Ask()
	for i := range ask {
		if _, ok := tasks[ask[i].Key]; !ok {
			return "", false, fmt.Errorf("river: %s of %s: no task names the trial", ask[i].Reviewer, ask[i].Family)
		}
	}
	rec, err := plan.Record(ctx)
	if err != nil {
		return "", false, err
	}
	if err := db.insert(ctx, plan, rec.ID, tasks); err != nil {
		rec.Ended, rec.State = time.Now().UTC(), "could not be enqueued"
		return "", false, errors.Join(fmt.Errorf("river: enqueueing: %w", err), db.Store.Finish(context.WithoutCancel(ctx), rec))
	}
	if len(ask) == 0 {
		_, err = db.finish(ctx, rec.ID)
	}
	return rec.ID, false, err
}

// insert writes the run, its providers and its jobs in one transaction: a run
// that is half enqueued would never end.
func (db *DB) insert(ctx context.Context, plan *run.Plan, id string, tasks map[string]Task) error {
	c, ask := plan.Config(), plan.Ask()
	conf, err := json.Marshal(settings{c.Tries, c.FirstWait, c.MaxWait, c.StoreWait})
	if err != nil {
		return err
	}
	client, err := db.inserter()
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO spread_runs (run_id, identity, budget, remaining, config) VALUES ($1, $2, $3, $4, $5)",
			id, plan.Identity(), c.Budget, len(ask), conf)
		if err != nil {
			return err
		}
		seen := map[string]bool{}
		var jobs []river.InsertManyParams
		flush := func() error {
			if len(jobs) == 0 {
				return nil
			}
			_, err := client.InsertManyFastTx(ctx, tx, jobs)
			jobs = jobs[:0]
			return err
		}
		for i := range ask {
			it := &ask[i]
			if !seen[it.Provider] {
				seen[it.Provider] = true
				if err := pace(ctx, tx, it.Provider, c.Concurrency); err != nil {
					return err
				}
			}
			t := tasks[it.Key]
			t.Run = id
			jobs = append(jobs, river.InsertManyParams{Args: t, InsertOpts: &river.InsertOpts{Queue: queueOf(it.Provider), MaxAttempts: maxAttempts,
				UniqueOpts: river.UniqueOpts{ByArgs: true}}})
			if len(jobs) == chunk {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return flush()
	})
}

// pace sets how many tries a provider takes at once. A new limit of the user's is
// where the pace begins anew; the same one leaves it where the provider has
// brought it.
func pace(ctx context.Context, tx pgx.Tx, provider string, most int) error {
	_, err := tx.Exec(ctx, `INSERT INTO spread_providers AS p (provider, most, slots) VALUES ($1, $2, $2)
		ON CONFLICT (provider) DO UPDATE SET most = EXCLUDED.most, slots = CASE WHEN p.most = EXCLUDED.most THEN p.slots ELSE EXCLUDED.most END`, provider, most)
	return err
}

// maxAttempts is how often River starts a job at most. Waits do not count, so
// these are workers that died, and times when the outcome could not be stored.
const maxAttempts = 1000

var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// queueOf gives a provider's queue. Each has its own: one that asks for patience
// keeps no other waiting.
func queueOf(provider string) string {
	if provider == "" {
		return "trials-here"
	}
	slug := strings.Trim(unfit.ReplaceAllString(strings.ToLower(provider), "-"), "-")
	if len(slug) > 30 {
		slug = strings.Trim(slug[:30], "-")
	}
	sum := sha256.Sum256([]byte(provider))
	return "trials-" + slug + "-" + hex.EncodeToString(sum[:4])
}
