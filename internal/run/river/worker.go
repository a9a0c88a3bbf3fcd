package river

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"assay/internal/run"
)

// A Worker says how this process works.
type Worker struct {
	// Name is this worker's own among all: a second one of the same name is its
	// successor, and what the first one held is given back at once. Empty: a new
	// one each time.
	Name string
	// Slots is how many trials it works on at once of one provider; 0 is
	// run.DefaultConcurrency.
	Slots int
	// Rebuild gives the work that a task names. ErrOther when what is here is not
	// what was planned.
	Rebuild func(ctx context.Context, t ReviewArgs) (run.Job, error)
	// Audit runs an auditor. nil: this worker takes no audits.
	Audit func(ctx context.Context, t AuditArgs) ([]byte, error)
	// Audits is how many auditors run at once; 0 is 1.
	Audits int
	// Drain ends the work when every run has ended.
	Drain bool
	// Grace is how long what is under way may go on when the worker is stopped; 0
	// is run.DefaultGrace.
	Grace time.Duration
	// Ready is called when the worker works. It may be nil.
	Ready func(id string)
}

// ErrOther says that a worker's copy of the repository, or its environment, is
// not that of the plan: it would ask another question.
var ErrOther = errors.New("this worker is not what the run was planned for")

type workers struct {
	Worker
	db       *DB
	id       string
	client   *river.Client[pgx.Tx]
	patience time.Duration // with a PostgreSQL that is gone
	leaving  chan struct{} // closed when nothing more is begun
	gone     chan struct{} // closed when nothing is under way
	fail     context.CancelCauseFunc

	mu       sync.Mutex
	batchers map[[2]string]*batcher
	// jobs in this worker's hands: zero, or until when they may be on their way back
	held     map[int64]time.Time
	enrolled atomic.Int64 // workers, as of the last beat
	queues   map[string]bool
	serving  sync.WaitGroup

	shown, since time.Time // when this worker last showed itself, and since when without a gap
}

// Work works on jobs until ctx ends, or with Drain until every run has ended.
// When ctx ends, nothing more is begun, what is under way gets Grace, and the
// rest goes back to the others. The error is nil after an ordinary end.
func (db *DB) Work(ctx context.Context, w Worker) error {
	c := &workers{Worker: w, db: db, patience: run.DefaultStoreWait, leaving: make(chan struct{}),
		gone:     make(chan struct{}),
		batchers: map[[2]string]*batcher{}, queues: map[string]bool{}, held: map[int64]time.Time{}}
	c.Slots, c.Grace = cmp.Or(max(0, c.Slots), run.DefaultConcurrency), cmp.Or(max(0, c.Grace),
		run.DefaultGrace)
	if c.Audits = max(1, c.Audits); c.Audit == nil {
		c.Audits = 0
	}
	if c.Name == "" {
		host, _ := os.Hostname()
		c.Name = fmt.Sprintf("%s-%d-%s", clip(host, 30), os.Getpid(), rand.Text()[:6])
	}
	c.id = clip(c.Name, 60) + "/" + rand.Text()[:10]
	work, fail := context.WithCancelCause(ctx)
	c.fail = fail
	defer fail(nil)
	if err := c.begin(work); err != nil {
		return err
	}
	if c.Ready != nil {
		c.Ready(c.id)
	}
	c.pulse(work)
	err := c.end()
	if why := context.Cause(work); ctx.Err() == nil && why != nil && !errors.Is(why, errDrained) {
		return errors.Join(why, err)
	}
	return err
}

// atOnce has what a dead worker left done at once.
type atOnce struct{}

func (atOnce) NextRetry(*rivertype.JobRow) time.Time { return time.Now() }

var errDrained = errors.New("every run has ended")

// clip returns the first n bytes of s.
func clip(s string, n int) string { return s[:min(len(s), n)] }

// begin takes the place of a predecessor of the same name and starts River.
func (c *workers) begin(ctx context.Context) error {
	others, _, err := c.db.Workers(ctx, 0)
	if err != nil {
		return err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &trialWorker{workers: c})
	river.AddWorker(workers, &auditWorker{workers: c})
	// Nobody listens, which would take a connection: the more there are, the less often
	// each looks for jobs.
	config := &river.Config{ID: c.id, Logger: quiet, Workers: workers,
		Queues: map[string]river.QueueConfig{}, PollOnly: true,
		FetchCooldown:     10 * time.Millisecond,
		FetchPollInterval: 200*time.Millisecond + time.Duration(others)*5*time.Millisecond,
		JobTimeout:        -1, MaxAttempts: maxAttempts, RetryPolicy: atOnce{}}
	if c.Rebuild != nil {
		config.Queues[queueOf("")] = river.QueueConfig{MaxWorkers: c.Slots}
		c.queues[queueOf("")] = true
	}
	if c.Audit != nil {
		config.Queues[auditQueue] = river.QueueConfig{MaxWorkers: c.Audits}
	}
	if len(config.Queues) == 0 {
		return errors.New("river: a worker that can do nothing: expected Rebuild or Audit")
	}
	if c.client, err = river.NewClient(riverpgxv5.New(c.db.pool), config); err != nil {
		return fmt.Errorf("river: %w", err)
	}
	if err := c.strike(ctx, clip(c.Name, 60)+"/", time.Time{}); err != nil {
		return err
	}
	if err := c.beat(ctx); err != nil {
		return err
	}
	if err := c.client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("river: %w", err)
	}
	return nil
}

// pulse reports until ctx ends that the worker is present, and looks after those that are not.
func (c *workers) pulse(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(interval(int(c.enrolled.Load()))):
			_ = c.beat(ctx) // a PostgreSQL that is gone comes back, or River's own calls fail too
		}
	}
}

// end stops River: first the fetching, then after the grace what is under way.
func (c *workers) end() error {
	close(c.leaving)
	soft, cancel := context.WithTimeout(context.Background(), c.Grace)
	defer cancel()
	err := c.client.Stop(soft)
	if err != nil {
		hard, cancel := context.WithTimeout(context.Background(), c.Grace+c.patience)
		defer cancel()
		err = c.client.StopAndCancel(hard)
	}
	close(c.gone)
	c.serving.Wait()
	ctx, cancelBury := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancelBury()
	return errors.Join(err, c.strike(ctx, c.id, time.Time{}))
}

// batcher returns this worker's batcher of a run at a provider.
func (c *workers) batcher(ctx context.Context, id, provider string) (*batcher, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := [2]string{id, provider}
	d, ok := c.batchers[k]
	if !ok {
		var s settings
		if err := c.db.pool.QueryRow(ctx, "SELECT config FROM spread_runs WHERE run_id = $1",
			id).Scan(&s); err != nil {
			return nil, fmt.Errorf("river: run %s: %w", id, err)
		}
		d = &batcher{workers: c, run: id, provider: provider, config: run.Config{Attempts: s.Tries,
			FirstWait: s.FirstWait, MaxWait: s.MaxWait,
			Stall: cmp.Or(s.Stall, run.DefaultStall)},
			asks: make(chan *ask), endings: make(chan *ending)}
		c.batchers[k] = d
		c.serving.Go(d.serve)
	}
	return d, nil
}

// finish records the end of a run whose last trial has its outcome. Whoever
// notices it later does it when this fails.
func (c *workers) finish(run string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, _ = c.db.finish(ctx, run)
}
