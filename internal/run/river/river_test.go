package river_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/run"
	"assay/internal/run/river"
	"assay/internal/run/testdata/mockapi"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func TestARunIsSpread(t *testing.T) {
	t.Parallel()
	s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		if r.N%20 == 3 {
			return mockapi.Reply{Status: 502, Body: "{}"}
		}
		return mockapi.Reply{Cost: 0.00001}
	})
	defer s.Close()
	db := open(t, database(t))
	h := chatHouse(t, s, 120)
	n, _, err := db.Workers(context.Background(), 0)
	require.NoError(t, err)
	require.Zero(t, n)
	done := 0
	r := h.enqueue(t, db, run.Config{Concurrency: 6, FirstWait: 10 * time.Millisecond,
		Progress: func(e run.Event) {
			if e.Kind == run.Done {
				done++
			}
		}})
	require.False(t, r.Joined)
	// Whoever plans the same meanwhile waits for the same run.
	again := h.enqueue(t, db, run.Config{})
	require.True(t, again.Joined)
	require.Equal(t, r.ID, again.ID)
	stops := []func() error{work(t, db, river.Worker{Rebuild: h.rebuild}),
		work(t, db, river.Worker{Rebuild: h.rebuild})}
	n, _, err = db.Workers(context.Background(), 0)
	require.NoError(t, err)
	require.Positive(t, n)
	res, err := r.Wait(context.Background(), h.items[5].Key)
	require.NoError(t, err)
	require.Equal(t, audit.OutcomeCorrect, res.Outcome)
	require.Equal(t, "because", res.Evaluation.Explanation)
	for _, r := range []*river.Execution{r, again} {
		sum, err := r.Finish()
		require.NoError(t, err)
		require.Empty(t, sum.Stops)
		require.Equal(t, 80, sum.State.Count(audit.Bad, audit.OutcomeCorrect))
		require.Equal(t, 40, sum.State.Count(audit.Good, audit.OutcomeWrong))
		require.InDelta(t, s.Charged(), sum.State.Spent, 1e-9)
		require.Positive(t, sum.State.Retries)
		require.Equal(t, "finished", sum.Run.State)
	}
	require.Equal(t, 120, done)
	account(t, db, r.ID, 120)
	require.LessOrEqual(t, s.MostInFlight(), 6, "two workers send no more than one may")
	require.Len(t, s.Answers(), 120)
	for _, n := range s.Answers() {
		require.Equal(t, 1, n)
	}

	// What is answered is not asked again.
	h.byKey = chatHouse(t, s, 130).byKey
	more := chatHouse(t, s, 130)
	third := more.enqueue(t, db, run.Config{Reuse: true})
	sum, err := third.Finish()
	require.NoError(t, err)
	require.Equal(t, 120, sum.State.Reused)
	require.Len(t, s.Answers(), 130)
	account(t, db, third.ID, 130)
	for _, stop := range stops {
		require.NoError(t, stop())
	}
}

// Three workers are held to what one process is held to (internal/run), each of which
// makes its trials anew for each try, and knows nothing of an earlier one.
func TestSituations(t *testing.T) {
	t.Parallel()
	for i, u := range mockapi.Situations {
		t.Run(u.Name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && i%3 != 2 {
				t.Skip("-short: a third of the situations")
			}
			s := mockapi.New(u.Script)
			defer s.Close()
			db := open(t, database(t))
			h := chatHouse(t, s, u.Trials)
			r := h.enqueue(t, db, run.Config{Concurrency: u.Most, Budget: u.Budget, Attempts: u.Tries,
				MaxWait: u.MaxWait, FirstWait: 10 * time.Millisecond})
			for range 3 {
				work(t, db, river.Worker{Slots: u.Most,
					Rebuild: func(ctx context.Context, task river.ReviewArgs) (run.Job, error) {
						return newHouse(trials(u.Trials, h.reviewer)).rebuild(ctx, task)
					}})
			}
			sum, err := r.Finish()
			require.NoError(t, err)
			answered := sum.State.Outcome(audit.OutcomeCorrect) +
				sum.State.Outcome(audit.OutcomeWrong)
			require.NoError(t,
				u.Holds(s, mockapi.Ended{Answered: answered,
					Skipped: sum.State.Outcome(audit.OutcomeSkipped),
					Spent:   sum.State.Spent, Unsure: sum.Unsure, Over: sum.Over, Stops: sum.Stops},
					h.items[0].Cost.Most))
			account(t, db, r.ID, u.Trials)
		})
	}
}

// A provider that asks for patience gets it from all workers: but for what had leave
// when its answer was on its way, which arrives late on a busy machine.
func TestPaceIsShared(t *testing.T) {
	t.Parallel()
	const pause, slots = 2 * time.Second, 8
	var mu sync.Mutex
	var asked time.Time // for patience
	within, after := 0, 0
	s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		mu.Lock()
		defer mu.Unlock()
		since := time.Since(asked)
		switch {
		case r.N == 40:
			asked = time.Now()
			return mockapi.Reply{Status: 429, Body: `{"error":{"message":"slowly"}}`,
				Header: map[string]string{"Retry-After-Ms": fmt.Sprint(pause.Milliseconds())}}
		case asked.IsZero():
		case since > pause:
			after++
		case since > pause/2:
			within++
		}
		return mockapi.Reply{Latency: 20 * time.Millisecond}
	})
	defer s.Close()
	db := open(t, database(t))
	h := chatHouse(t, s, 150)
	r := h.enqueue(t, db, run.Config{Concurrency: slots, FirstWait: time.Millisecond})
	for range 3 {
		work(t, db, river.Worker{Rebuild: h.rebuild, Slots: slots})
	}
	sum, err := r.Finish()
	require.NoError(t, err)
	require.Less(t, within, slots, "nothing is sent while the provider wants nothing")
	require.Positive(t, after, "the rest is sent then")
	require.Zero(t, sum.Unanswered())
	require.LessOrEqual(t, s.MostInFlight(), slots)
}

// A worker with another repository refuses the work, says why, and leaves it to
// the others.
func TestAnotherRepositoryIsRefused(t *testing.T) {
	t.Parallel()
	s := mockapi.New(func(mockapi.Request) mockapi.Reply { return mockapi.Reply{} })
	defer s.Close()
	db := open(t, database(t))
	h, other := chatHouse(t, s, 12), chatHouse(t, s, 6)
	for key := range h.byKey {
		delete(other.byKey, key)
	}
	r := h.enqueue(t, db, run.Config{})
	edited := func(_ context.Context, task river.ReviewArgs) (run.Job, error) {
		it := h.byKey[task.Key]
		it.Key = "of a case that was edited here"
		return it, nil
	}
	for _, rebuild := range []func(context.Context, river.ReviewArgs) (run.Job,
		error){other.rebuild, edited} {
		ended := make(chan error, 1)
		go func() { ended <- db.Work(context.Background(), river.Worker{Rebuild: rebuild}) }()
		err := <-ended
		require.ErrorIs(t, err, river.ErrOther)
		require.ErrorContains(t, err, "or stop the run: assay enqueue --stop "+r.ID)
	}
	require.Empty(t, s.Requests())
	work(t, db, river.Worker{Rebuild: h.rebuild})
	_, err := r.Finish()
	require.NoError(t, err)
	account(t, db, r.ID, 12)
}

// A revoked key ends the run of all workers, for every model of its provider, with
// one line.
func TestRevokedKey(t *testing.T) {
	t.Parallel()
	s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		if r.N > 30 {
			return mockapi.Reply{Status: 401, Body: `{"error":{"code":401,"message":"no"}}`}
		}
		return mockapi.Reply{}
	})
	defer s.Close()
	db := open(t, database(t))
	other, err := modelNamed("n", s.BaseURL)
	require.NoError(t, err)
	defer other.(io.Closer).Close()
	one, err := model(s.BaseURL)
	require.NoError(t, err)
	defer one.(io.Closer).Close()
	h := newHouse(append(trials(75, one), trials(75, other)...))
	r := h.enqueue(t, db, run.Config{Concurrency: 4})
	work(t, db, river.Worker{Rebuild: h.rebuild})
	work(t, db, river.Worker{Rebuild: h.rebuild})
	sum, err := r.Finish()
	require.NoError(t, err)
	require.Len(t, sum.Stops, 1)
	require.Contains(t, sum.Stops[0], "the key in ASSAY_API_KEY was refused")
	require.LessOrEqual(t, len(s.Requests()), 34)
	outcomes := account(t, db, r.ID, 150)
	require.Equal(t, 120, outcomes[audit.OutcomeSkipped]+outcomes[audit.OutcomeErrored])
}

// Who waits and is interrupted stops the run: it can be carried on.
func TestInterruptedWaiting(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{}, 1000)
	s := mockapi.New(func(mockapi.Request) mockapi.Reply {
		reached <- struct{}{}
		return mockapi.Reply{Latency: 10 * time.Millisecond}
	})
	defer s.Close()
	db := open(t, database(t))
	h := chatHouse(t, s, 300)
	plan, err := run.Prepare(context.Background(), run.Config{Store: db.Store, Budget: 100,
		Concurrency: 4, Grace: 10 * time.Minute}, run.Listed(h.items))
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(context.Background())
	r, err := db.Enqueue(ctx, plan, h.task)
	require.NoError(t, err)
	work(t, db, river.Worker{Rebuild: h.rebuild})
	for range 20 {
		<-reached
	}
	cancel(errors.New("interrupted"))
	sum, err := r.Finish()
	require.NoError(t, err)
	require.Equal(t, []string{"stopped: interrupted"}, sum.Stops)
	outcomes := account(t, db, r.ID, 300)
	require.Equal(t, len(s.Requests()), 300-outcomes[audit.OutcomeSkipped],
		"everything that was asked is stored")
	next := h.enqueue(t, db, run.Config{})
	require.False(t, next.Joined)
	_, err = next.Finish()
	require.NoError(t, err)
	require.Len(t, s.Requests(), 300, "nothing is asked twice")
}

// Of those who begin the same plan together, one enqueues it.
func TestTogether(t *testing.T) {
	t.Parallel()
	s := mockapi.New(func(mockapi.Request) mockapi.Reply { return mockapi.Reply{} })
	defer s.Close()
	dsn := database(t)
	db := open(t, dsn)
	h := chatHouse(t, s, 60)
	ids, begin := make(chan string, 5), make(chan struct{})
	for range cap(ids) {
		one := open(t, dsn)
		plan, err := run.Prepare(context.Background(),
			run.Config{Store: one.Store, Budget: math.Inf(1)}, run.Listed(h.items))
		require.NoError(t, err)
		go func() {
			<-begin
			id, _, err := one.EnqueueOnly(context.Background(), plan, h.task)
			if err != nil {
				id = err.Error()
			}
			ids <- id
		}()
	}
	close(begin)
	first := <-ids
	require.NotEmpty(t, first)
	for range cap(ids) - 1 {
		require.Equal(t, first, <-ids)
	}
	r := h.enqueue(t, db, run.Config{})
	require.True(t, r.Joined)
	work(t, db, river.Worker{Rebuild: h.rebuild})
	_, err := r.Finish()
	require.NoError(t, err)
	account(t, db, first, 60)
	require.Len(t, s.Requests(), 60)
}

// A job that a worker fetched, or put back, when the connection broke stands as running,
// and nobody holds it, though its worker lives; so does one of a worker that is not even
// enrolled. They are begun anew.
func TestJobsThatNobodyHolds(t *testing.T) {
	t.Parallel()
	s := mockapi.New(func(mockapi.Request) mockapi.Reply { return mockapi.Reply{Latency: 50 * time.Millisecond} })
	defer s.Close()
	dsn, ctx := database(t), context.Background()
	db := open(t, dsn)
	h := chatHouse(t, s, 18)
	r := h.enqueue(t, db, run.Config{Concurrency: 1})
	work(t, db, river.Worker{Slots: 1, Rebuild: h.rebuild})
	c, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	defer c.Close(ctx)
	for _, holder := range []string{"(SELECT worker FROM spread_workers)", "'gone'"} {
		tag, err := c.Exec(ctx, `UPDATE river_job SET state = 'running', attempt = attempt + 1, attempted_at = now() - interval '10 seconds', attempted_by = ARRAY[`+holder+`]
			WHERE id = (SELECT id FROM river_job WHERE state = 'available' ORDER BY id DESC LIMIT 1 FOR UPDATE SKIP LOCKED)`)
		require.NoError(t, err)
		require.EqualValues(t, 1, tag.RowsAffected())
	}
	sum, err := r.Finish()
	require.NoError(t, err)
	require.Zero(t, sum.Unanswered())
	require.Len(t, s.Requests(), 18)
	account(t, db, r.ID, 18)
}

// The run of who was killed while it enqueued ends: what is enqueued of it is skipped
// like what is not, and the same plan is a new run.
func TestEnqueueingThatIsCutOff(t *testing.T) {
	t.Parallel()
	s := mockapi.New(func(mockapi.Request) mockapi.Reply { return mockapi.Reply{} })
	defer s.Close()
	dsn, ctx := database(t), context.Background()
	db := open(t, dsn)
	h := chatHouse(t, s, 12)
	half := h.enqueue(t, db, run.Config{})
	c, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	defer c.Close(ctx)
	_, err = c.Exec(ctx,
		"DELETE FROM river_job WHERE id IN (SELECT id FROM river_job ORDER BY id DESC LIMIT 5)")
	require.NoError(t, err)
	_, err = c.Exec(ctx, "UPDATE spread_runs SET missing = 5")
	require.NoError(t, err)
	whole := h.enqueue(t, db, run.Config{})
	require.False(t, whole.Joined)
	work(t, db, river.Worker{Rebuild: h.rebuild})
	sum, err := whole.Finish()
	require.NoError(t, err)
	require.Zero(t, sum.Unanswered())
	sum, err = half.Finish()
	require.NoError(t, err)
	require.Equal(t, []string{"its enqueueing was cut off"}, sum.Stops)
	require.Equal(t, 12, account(t, db, half.ID, 12)[audit.OutcomeSkipped])
	require.Len(t, s.Requests(), 12)
}
