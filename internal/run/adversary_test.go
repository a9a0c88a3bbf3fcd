package run_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assay/audit"
	"assay/internal/run"
	"assay/internal/store"

	"github.com/stretchr/testify/require"
)

// What might lose a result, count one twice, spend too much, or never end.

// Where n trials fit a budget to the cent, all run but those for which 1.5 times the
// dearest trial would exceed it.
func TestABudgetExactlyMet(t *testing.T) {
	for _, c := range []struct {
		budget, cost float64
		want         int64
	}{{0.3, 0.1, 3}, {1, 0.1, 9}, {0.7, 0.07, 9}, {5, 1.0 / 3, 14}, {5, 5, 1}, {5, 5.000001, 0}} {
		r := &reviewer{name: "m", expected: c.cost, most: c.cost}
		r.review = func(int64, audit.ReviewTask) (audit.Review,
			error) {
			return says(audit.Bad, c.cost), nil
		}
		sum := finish(t, context.Background(), run.Config{Store: &memory{}, Budget: c.budget,
			Concurrency: 4}, items(trials(30, r)))
		require.Equal(t, c.want, r.asked.Load(), "%v of %v", c.cost, c.budget)
		require.LessOrEqual(t, sum.State.Spent, c.budget+1e-9)
	}
}

// A model that costs more than its price says, or is listed as free and is not, is
// found out by its first answer: the budget is exceeded by what was in flight then
// at most.
func TestAPriceThatIsWrong(t *testing.T) {
	for _, most := range []float64{0, 0.01} {
		synctest.Test(t, func(t *testing.T) {
			r := &reviewer{name: "m", provider: "p", most: most,
				wait: func(context.Context) { time.Sleep(time.Second) }}
			r.review = func(int64, audit.ReviewTask) (audit.Review,
				error) {
				return says(audit.Bad, 0.5), nil
			}
			sum := finish(t, t.Context(), run.Config{Store: &memory{}, Budget: 5, Concurrency: 4},
				items(trials(60, r)))
			require.LessOrEqual(t, sum.State.Spent, 5.0)
			require.EqualValues(t, 9, r.asked.Load())
			require.Contains(t, sum.Stops[0], "the budget of $5.00 is used up")
			require.Positive(t, sum.Over)
		})
	}
}

// What really is free goes on when the budget is used up.
func TestFreeWorkGoesOnWithoutABudget(t *testing.T) {
	paid := &reviewer{name: "paid", provider: "p", most: 1}
	paid.review = func(int64, audit.ReviewTask) (audit.Review,
		error) {
		return says(audit.Bad, 3), nil
	}
	free := &reviewer{name: "free"}
	free.review = func(int64, audit.ReviewTask) (audit.Review,
		error) {
		return says(audit.Bad, 0), nil
	}
	finish(t, context.Background(), run.Config{Store: &memory{}, Budget: 2, Concurrency: 1},
		append(items(trials(6, paid)), items(trials(6, free))...))
	require.EqualValues(t, 1, paid.asked.Load())
	require.EqualValues(t, 6, free.asked.Load())
}

// A reviewer that panics may have asked, and be charged.
func TestAPanicIsCharged(t *testing.T) {
	r := &reviewer{name: "m", provider: "p", most: 1}
	r.review = func(int64, audit.ReviewTask) (audit.Review, error) { panic("unthinkable") }
	m := &memory{}
	sum := finish(t, context.Background(), run.Config{Store: m, Budget: 3}, items(trials(12, r)))
	require.EqualValues(t, 3, r.asked.Load())
	require.InDelta(t, 3, sum.Unsure, 1e-9)
	require.False(t, m.rows()[0].Usage.Priced)
}

// A request that failed after a model worked on it is not free; one that was
// turned down is. Costs that are none do not reach the account.
func TestChargesThatNobodyStates(t *testing.T) {
	for _, c := range []struct {
		name    string
		attempt audit.Attempt
		spent   float64
		unsure  bool
	}{
		{"turned down", audit.Attempt{HTTPStatus: 429}, 0, false},
		{"broken off after some words", audit.Attempt{HTTPStatus: 502,
			Usage: audit.Usage{TokensIn: 10, TokensOut: 3}}, 1, true},
		{"answered, cost unknown", audit.Attempt{HTTPStatus: 200, Usage: audit.Usage{TokensIn: 10}},
			1, true},
		{"a negative cost", audit.Attempt{HTTPStatus: 200,
			Usage: audit.Usage{USD: -5, Priced: true}}, 0, false},
		{"no number", audit.Attempt{HTTPStatus: 200,
			Usage: audit.Usage{USD: math.NaN(), Priced: true}}, 1, true},
		{"without end", audit.Attempt{HTTPStatus: 200,
			Usage: audit.Usage{USD: math.Inf(1), Priced: true}}, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &reviewer{name: "m", provider: "p", most: 1}
			r.review = func(int64, audit.ReviewTask) (audit.Review, error) {
				return audit.Review{Status: audit.Malformed, Attempts: []audit.Attempt{c.attempt}},
					nil
			}
			sum := finish(t, context.Background(), run.Config{Store: &memory{}, Budget: 100,
				FirstWait: time.Millisecond}, items(trials(1, r)))
			require.InDelta(t, 2*c.spent, sum.State.Spent, 1e-9,
				"a malformed reply is asked for once more, and both are charged")
			require.Equal(t, c.unsure, sum.Unsure > 0)
		})
	}
}

func TestPricesThatAreNone(t *testing.T) {
	for _, cost := range []run.Cost{{Expected: -1, Most: 1, Known: true}, {Most: -1, Known: true},
		{Most: math.NaN(), Known: true}, {Expected: math.NaN(), Known: true},
		{Most: math.Inf(1), Known: true}} {
		it := items(trials(1, &reviewer{name: "m"}))
		it[0].Cost = cost
		_, err := run.Prepare(context.Background(), run.Config{Store: &memory{}, Budget: 5},
			run.Listed(it))
		require.ErrorContains(t, err, "expected numbers from 0")
	}
}

// Reserves are added and taken away ten thousand times without leaving a rest that
// would be waited for.
func TestReservesLeaveNoRest(t *testing.T) {
	r := &reviewer{name: "m", provider: "p"}
	r.review = func(int64, audit.ReviewTask) (audit.Review,
		error) {
		return says(audit.Bad, 0), nil
	}
	its := items(trials(20_000, r))
	for i := range its {
		its[i].Cost = run.Cost{Most: 1000.0 / float64(3+i%97), Known: true}
	}
	its[len(its)-1].Cost.Most = 1e9 // never fits: it is given up when nothing is in flight any more
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	sum := finish(t, ctx, run.Config{Store: nothing{&memory{}}, Budget: 1e6, Concurrency: 50,
		Discard: true}, its)
	require.Equal(t, 1, sum.State.Outcome(audit.OutcomeSkipped))
	require.Len(t, sum.Stops, 1)
	require.Contains(t, sum.Stops[0], "is used up")
}

// A try that does not end when it is told to does not keep the run from ending,
// and is charged and accounted for.
func TestATryThatNeverEnds(t *testing.T) {
	release := make(chan struct{})
	var once sync.Once
	defer once.Do(func() { close(release) })
	r := &reviewer{name: "m", provider: "p", most: 1, wait: func(context.Context) { <-release }}
	m := &memory{}
	ctx, cancel := context.WithCancel(context.Background())
	its := items(trials(12, r))
	p, err := run.Prepare(ctx, run.Config{Store: m, Budget: 100, Concurrency: 3,
		Grace: 20 * time.Millisecond}, run.Listed(its))
	require.NoError(t, err)
	started, err := p.Start(ctx)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return r.asked.Load() == 3 }, time.Minute, time.Millisecond)
	cancel()
	sum, err := started.Finish()
	require.NoError(t, err)
	require.Equal(t, 3, sum.State.Outcome(audit.OutcomeErrored))
	require.Equal(t, 9, sum.State.Outcome(audit.OutcomeSkipped))
	require.InDelta(t, 3, sum.Unsure, 1e-9, "nobody knows what they cost")
	require.Len(t, m.rows(), 3)
	for _, e := range m.rows() {
		require.Equal(t, "it did not end when it was told to", e.Detail)
	}
	once.Do(func() { close(release) }) // they come too late, and are nowhere
	require.Len(t, m.rows(), 3)
}

// A result that its item keeps itself is kept there when there is room again, and
// not as a row.
func TestAKeeperThatFailsAtFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var kept atomic.Int64
		m := &memory{}
		it := run.Job{Key: "audit", Reviewer: "agent", Cost: run.Cost{Known: true},
			Do: func(context.Context) run.AttemptResult {
				return run.AttemptResult{Evaluation: store.Evaluation{Outcome: audit.OutcomeCorrect,
					Status: audit.Answered}}
			},
			Keep: func(context.Context, run.JobResult) error {
				if time.Since(start) < 60*time.Second {
					return errors.New("the disk is full")
				}
				kept.Add(1)
				return nil
			}}
		p, err := run.Prepare(t.Context(), run.Config{Store: m, Budget: 1,
			StoreWait: 59 * time.Second}, run.Listed([]run.Job{it}))
		require.NoError(t, err)
		r, err := p.Start(t.Context())
		require.NoError(t, err)
		time.Sleep(2 * time.Minute)
		sum, err := r.Finish()
		_ = err // whether the last try fell before or after the minute is chance
		require.Equal(t, int64(1-len(sum.Unstored)), kept.Load())
		require.Empty(t, m.rows())
	})
}

// What can never be stored does not keep the run from its end, in bounded time.
func TestALockThatNeverGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		m := &memory{fails: func(int) error {
			time.Sleep(10 * time.Second)
			return errors.New(
				"database is locked")
		}}
		r := &reviewer{name: "m"}
		p, err := run.Prepare(t.Context(), run.Config{Store: locked{m}, Budget: 1,
			Concurrency: 100}, run.Listed(items(trials(120, r))))
		require.NoError(t, err)
		started, err := p.Start(t.Context())
		require.NoError(t, err)
		sum, err := started.Finish()
		require.ErrorContains(t, err, "database is locked")
		require.Len(t, sum.Unstored, 100)
		require.Less(t, time.Since(start), 5*time.Minute)
	})
}

// locked lets its callers wait side by side, as SQLite does.
type locked struct{ *memory }

func (l locked) Put(context.Context, ...store.Evaluation) error { return l.fails(0) }

// An outcome that is none is told as a defect, and the account adds up.
func TestAnOutcomeThatIsNone(t *testing.T) {
	it := run.Job{Key: "k", Reviewer: "m", Cost: run.Cost{Known: true},
		Do: func(context.Context) run.AttemptResult { return run.AttemptResult{} }}
	m := &memory{}
	sum := finish(t, context.Background(), run.Config{Store: m, Budget: 1}, []run.Job{it})
	require.Equal(t, 1, sum.State.Outcome(audit.OutcomeErrored))
	require.Contains(t, m.rows()[0].Detail, `defect: the outcome "" is none`)
}

// Two runs of the same plan at once each hold each trial once, and a run that reuses
// their answers counts each once.
func TestTwoRunsAtOnce(t *testing.T) {
	db, ctx := open(t), context.Background()
	ts := trials(60, &reviewer{name: "m", provider: "p"})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			sum := finish(t, ctx, run.Config{Store: db, Budget: 10, Concurrency: 4}, items(ts))
			require.Zero(t, sum.Unanswered())
		})
	}
	wg.Wait()
	sum := finish(t, ctx, run.Config{Store: db, Budget: 10, Reuse: true}, items(ts))
	require.Equal(t, 60, sum.State.Reused)
	n := 0
	for _, err := range db.Summaries(ctx, store.Query{Run: sum.Run.ID}) {
		require.NoError(t, err)
		n++
	}
	require.Equal(t, 60, n)
}

// Whatever providers do, a run ends and its account adds up: random faults, random
// costs, stopped at a random instant.
func TestAnythingMayHappen(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { anything(t, seed) })
		})
	}
}

func anything(t *testing.T, seed uint64) {
	var ours atomic.Uint64
	roll := func(n int) int { return int(mix(seed, ours.Add(1)) % uint64(n)) }
	review := func(int64, audit.ReviewTask) (audit.Review, error) {
		time.Sleep(time.Duration(roll(3000)) * time.Millisecond)
		switch roll(20) {
		case 0:
			return fails(429, true, time.Duration(roll(20))*time.Second), nil
		case 1, 2:
			return fails([]int{0, 408, 500, 502, 529}[roll(5)], true, 0), nil
		case 3:
			return fails(400, false, 0), nil
		case 4:
			panic("unthinkable")
		case 5:
			if roll(40) == 0 {
				return fails([]int{401, 402, 404}[roll(3)], false, 0), errors.New("no more")
			}
		case 6:
			return audit.Review{Status: audit.Refused, Attempts: says(audit.Bad, 0.01).Attempts},
				nil
		case 7:
			return audit.Review{}, nil
		}
		return says([]audit.Label{audit.Good, audit.Bad}[roll(2)], float64(roll(100))/1000), nil
	}
	var its []run.Job
	for i, provider := range []string{"", "p", "p", "q"} {
		r := &reviewer{name: fmt.Sprint("m", i), provider: provider, expected: 0.05,
			most: float64(roll(3)) * 0.05, review: review}
		its = append(its, items(trials(30, r))...)
	}
	m := &memory{fails: func(int) error {
		if roll(15) == 0 {
			return errors.New("database is locked")
		}
		return nil
	}}
	// Were the engine to spin, time would stand still in here for ever.
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+roll(120))*time.Second)
	defer cancel()
	sum := finish(t, ctx, run.Config{Store: m, Budget: float64(1+roll(8)) / 2,
		Concurrency: 1 + roll(12), Attempts: 1 + roll(5), Seed: seed,
		Grace: time.Duration(roll(4)) * time.Second}, its)
	require.Empty(t, sum.Unstored)
	skipped := sum.State.Outcome(audit.OutcomeSkipped)
	require.Equal(t, len(its)-skipped, len(m.rows()), "a row for each that was begun")
	require.Zero(t, sum.State.InFlight)
	require.GreaterOrEqual(t, sum.State.Spent, 0.0)
	time.Sleep(time.Minute) // for tries that were given up
}

// mix gives a number of chance for a place in a sequence.
func mix(seed, n uint64) uint64 {
	x := seed*0x9e3779b97f4a7c15 + n*0xbf58476d1ce4e5b9
	x ^= x >> 31
	x *= 0x94d049bb133111eb
	return x ^ x>>29
}
