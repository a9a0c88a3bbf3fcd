package river

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"assay/internal/run"
)

// A ReviewArgs is a job: a trial named such that a worker can rebuild it from its own copy of the
// repository. It holds no code, no answer and no API key.
type ReviewArgs struct {
	Run      string `json:"run"`
	Key      string `json:"key"`  // of the trial: what is rebuilt must have it too
	Case     string `json:"case"` // audit.Case.ID
	Reviewer string `json:"reviewer"`
	Prompt   string `json:"prompt"`
	Trial    int    `json:"trial,omitempty"`
}

// Kind is River's name for it.
func (ReviewArgs) Kind() string { return "trial" }

// ReviewArgsOf returns the task of a trial; Enqueue fills in the run.
func ReviewArgsOf(t *run.ReviewTrial) ReviewArgs {
	return ReviewArgs{Key: t.Key(), Case: t.Case.ID(), Reviewer: t.Reviewer.Name(), Prompt: t.PromptName,
		Trial: t.Index}
}

type settings struct {
	Tries     int           `json:"tries"`
	FirstWait time.Duration `json:"first_wait"`
	MaxWait   time.Duration `json:"max_wait"`
	Stall     time.Duration `json:"stall"`
}

const chunk = 2000 // jobs in a transaction

// Enqueue makes a plan a run of workers: a job for each trial that has no answer
// yet, in the plan's order. task names the trial of a job of the plan by its number.
// Where workers are about the very same plan already, that run is given and nothing is enqueued:
// nothing is paid for twice.
func (db *DB) Enqueue(ctx context.Context, plan *run.Plan, task func(i int) ReviewArgs) (*Execution, error) {
	id, joined, err := db.EnqueueOnly(ctx, plan, task)
	if err != nil {
		return nil, err
	}
	return db.follow(ctx, plan, id, joined), nil
}

// EnqueueOnly is like Enqueue for callers that do not wait for the results.
func (db *DB) EnqueueOnly(ctx context.Context, plan *run.Plan, task func(i int) ReviewArgs) (id string,
	joined bool, err error) {
	if plan.Config.Budget == 0 {
		return "", false,
			errors.New("river: the budget is 0: this is an estimate, and nothing is enqueued")
	}
	identity := plan.Identity()
	// One at a time: of those who begin the same plan together, the first enqueues
	// it and the others join. The lock goes with its connection, so that whoever gets
	// it knows that nobody is at it any more.
	conn, err := pgx.ConnectConfig(ctx, db.pool.Config().ConnConfig)
	if err != nil {
		return "", false, fmt.Errorf("river: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 11))",
		identity); err != nil {
		return "", false, fmt.Errorf("river: %w", err)
	}
	if err := db.cutOff(ctx, identity); err != nil {
		return "", false, err
	}
	if id, err = db.unfinished(ctx, identity); err != nil || id != "" {
		return id, err == nil, err
	}
	rec, err := plan.Record(ctx)
	if err != nil {
		return "", false, err
	}
	if err := db.insert(ctx, plan, rec.ID, identity, task); err != nil {
		rec.Ended, rec.State = time.Now().UTC(), "could not be enqueued"
		quiet := context.WithoutCancel(ctx)
		return "", false, errors.Join(fmt.Errorf("river: enqueueing: %w", err),
			db.cutOff(quiet, identity), db.Store.Finish(quiet, rec))
	}
	if plan.Estimate.Ask == 0 {
		_, err = db.finish(ctx, rec.ID)
	}
	return rec.ID, false, err
}

// cutOff stops the run of a plan whose enqueueing was interrupted. The caller holds the plan's
// lock.
func (db *DB) cutOff(ctx context.Context, identity string) error {
	_, err := db.exec(ctx,
		"UPDATE spread_runs SET stopped = 'its enqueueing was cut off' WHERE identity = $1 AND missing > 0 AND ended IS NULL AND stopped = ''", identity)
	return err
}

// insert writes the run with its providers, and then its jobs, in transactions that
// are short, and are worked on at once.
func (db *DB) insert(ctx context.Context, plan *run.Plan, id, identity string,
	task func(i int) ReviewArgs) error {
	c, ask := plan.Config, plan.Ask()
	client, err := db.inserter()
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx,
			"INSERT INTO spread_runs (run_id, identity, budget, remaining, missing, config) VALUES ($1, $2, $3, $4, $4, $5)",
			id, identity, c.Budget, len(ask), settings{c.Attempts, c.FirstWait, c.MaxWait, c.Stall})
		if err != nil {
			return err
		}
		providers := plan.Providers()
		slices.Sort(providers) // rows are locked in one order
		for _, p := range providers {
			most := c.Concurrency
			if p == "" {
				most = math.MaxInt32
			}
			if err := limitRate(ctx, tx, p, most); err != nil {
				return err
			}
		}
		return nil
	})
	for jobs := range slices.Chunk(ask, chunk) {
		if err != nil {
			break
		}
		err = pgx.BeginFunc(ctx, db.pool,
			func(tx pgx.Tx) error { return enqueue(ctx, tx, client, id, plan, jobs, task) })
	}
	return err
}

// enqueue writes jobs of a run, unless it was stopped meanwhile.
func enqueue(ctx context.Context, tx pgx.Tx, client *river.Client[pgx.Tx], id string,
	plan *run.Plan, ask []int32, task func(i int) ReviewArgs) error {
	jobs := make([]river.InsertManyParams, len(ask))
	for k, i := range ask {
		t := task(int(i))
		t.Run = id
		jobs[k] = river.InsertManyParams{Args: t,
			InsertOpts: &river.InsertOpts{Queue: queueOf(plan.Provider(i)),
				MaxAttempts: maxAttempts}}
	}
	if _, err := client.InsertManyFastTx(ctx, tx, jobs); err != nil {
		return err
	}
	var stopped string // last: it locks what the workers share
	err := tx.QueryRow(ctx,
		"UPDATE spread_runs SET missing = missing - $2 WHERE run_id = $1 RETURNING stopped", id,
		len(ask)).Scan(&stopped)
	if err == nil && stopped != "" {
		err = errors.New(stopped)
	}
	return err
}

// limitRate sets how many attempts a provider accepts at once. Work without a provider is
// limited by each worker's slots alone. The limit is reset unless other runs use the provider.
func limitRate(ctx context.Context, tx pgx.Tx, provider string, most int) error {
	_, err := tx.Exec(ctx,
		"INSERT INTO spread_providers (provider, pace) VALUES ($1, $2) ON CONFLICT DO NOTHING",
		provider, run.RateLimiter{})
	if err != nil {
		return err
	}
	var p run.RateLimiter
	if err := tx.QueryRow(ctx, "SELECT pace FROM spread_providers WHERE provider = $1 FOR UPDATE",
		provider).Scan(&p); err != nil {
		return err
	}
	if p.InFlight == 0 {
		p = run.RateLimiter{Until: p.Until}
	}
	p.Max = most
	_, err = tx.Exec(ctx, "UPDATE spread_providers SET pace = $2 WHERE provider = $1", provider, p)
	return err
}

// maxAttempts is how often River starts a job at most. Waits do not count, so
// these are workers that died, and times when the outcome could not be stored.
const maxAttempts = 1000

var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// queueOf returns a provider's queue. Each has its own: one that asks for patience
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
