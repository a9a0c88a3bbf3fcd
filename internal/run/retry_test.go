package run_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"assay/audit"
	"assay/internal/run"
	"assay/internal/store"

	"github.com/stretchr/testify/require"
)

func TestRetriesUntilAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reviewer{name: "m", provider: "p"}
		r.review = func(n int64, _ audit.ReviewTask) (audit.Review, error) {
			if n < 4 {
				return fails(502, true, 0), nil
			}
			return says(audit.Bad, 0.01), nil
		}
		m := &memory{}
		sum := finish(t, t.Context(), run.Config{Store: m, Budget: math.Inf(1)},
			items(trials(6, r)[5:]))
		require.Equal(t, 3, sum.State.Retries)
		row := m.rows()[0]
		require.Equal(t, audit.OutcomeCorrect, row.Outcome)
		require.Equal(t, 4, row.Tries)
		require.Len(t, row.Attempts, 4, "every attempt is stored")
		require.Equal(t, "HTTP 502", row.Attempts[0].Error)
		require.True(t, row.Usage.Priced, "a request that was turned down is free")
		require.InDelta(t, 0.01, sum.State.Spent, 1e-12)
	})
}

func TestTriesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reviewer{name: "m"}
		r.review = func(int64, audit.ReviewTask) (audit.Review,
			error) {
			return fails(503, true, 0), nil
		}
		m := &memory{}
		sum := finish(t, t.Context(), run.Config{Store: m, Budget: math.Inf(1), Attempts: 3},
			items(trials(2, r)))
		require.Equal(t, 2, sum.State.Outcome(audit.OutcomeErrored))
		require.EqualValues(t, 6, r.asked.Load())
		require.Equal(t, 1.0, sum.Unanswered())
		// An error is asked again by the run that continues this one.
		r.review = nil
		again := finish(t, t.Context(), run.Config{Store: m, Budget: math.Inf(1)},
			items(trials(2, r)))
		require.Zero(t, again.State.Reused)
	})
}

func TestFailuresThatWillNotPassAreNotTriedAgain(t *testing.T) {
	r := &reviewer{name: "m"}
	r.review = func(int64, audit.ReviewTask) (audit.Review,
		error) {
		return fails(413, false, 0), nil
	}
	finish(t, context.Background(), run.Config{Store: &memory{}, Budget: math.Inf(1)},
		items(trials(6, r)))
	require.EqualValues(t, 6, r.asked.Load())
}

// Retry-After of one provider holds that provider's work back, and no other's.
func TestRetryAfterIsHonouredPerProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var mu sync.Mutex
		var slowSent []time.Duration
		slow := &reviewer{name: "slow", provider: "a"}
		slow.review = func(n int64, _ audit.ReviewTask) (audit.Review, error) {
			mu.Lock()
			slowSent = append(slowSent, time.Since(start))
			mu.Unlock()
			if n == 1 {
				return fails(429, true, 30*time.Second), nil
			}
			time.Sleep(time.Second) // what was sent beside the first ends after its pause is known
			return says(audit.Bad, 0), nil
		}
		var quickDone time.Duration
		quick := &reviewer{name: "quick", provider: "b", wait: func(context.Context) {
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			quickDone = time.Since(start)
		}}
		c := run.Config{Store: &memory{}, Budget: math.Inf(1), Concurrency: 2}
		finish(t, t.Context(), c, append(items(trials(6, slow)), items(trials(6, quick))...))
		require.Positive(t, quickDone)
		require.Less(t, quickDone, 10*time.Second, "the other provider goes on")
		for _, at := range slowSent[2:] { // two were sent before anybody could know
			require.GreaterOrEqual(t, at, 30*time.Second, "nothing is sent to it before")
		}
	})
}

func TestWaitsAreJittered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		last, waits := map[string]time.Time{}, map[int][]time.Duration{}
		tries := map[string]int{}
		r := &reviewer{name: "m"}
		r.review = func(_ int64, task audit.ReviewTask) (audit.Review, error) {
			mu.Lock()
			defer mu.Unlock()
			n := tries[task.Code]
			if n > 0 {
				waits[n] = append(waits[n], time.Since(last[task.Code]))
			}
			tries[task.Code], last[task.Code] = n+1, time.Now()
			return fails(500, true, 0), nil // 500 is no sign of being asked too often
		}
		finish(t, t.Context(), run.Config{Store: &memory{}, Budget: math.Inf(1),
			Concurrency: 600, Attempts: 5}, items(trials(600, r)))
		for n, ceiling := 1, time.Second; n <= 4; n, ceiling = n+1, 2*ceiling {
			var sum, most time.Duration
			for _, w := range waits[n] {
				sum += w
				most = max(most, w)
			}
			mean := sum / time.Duration(len(waits[n]))
			require.LessOrEqual(t, most, ceiling)
			require.InDelta(t, ceiling.Seconds()/2, mean.Seconds(), ceiling.Seconds()/10,
				"uniform from 0 to %s", ceiling)
		}
	})
}

// A provider that takes five at once is found out: the limit falls below its
// own soon, and its capacity is used.
func TestConcurrencyAdapts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const capacity = 5
		var mu sync.Mutex
		flying, turnedDown := 0, 0
		r := &reviewer{name: "m", provider: "p"}
		r.review = func(int64, audit.ReviewTask) (audit.Review, error) {
			mu.Lock()
			if flying >= capacity {
				turnedDown++
				mu.Unlock()
				return fails(429, true, 0), nil
			}
			flying++
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			flying--
			mu.Unlock()
			return says(audit.Bad, 0), nil
		}
		start := time.Now()
		sum := finish(t, t.Context(), run.Config{Store: &memory{}, Budget: math.Inf(1),
			Concurrency: 64, Attempts: 50}, items(trials(600, r)))
		require.Equal(t, 600, sum.State.Outcome(audit.OutcomeCorrect)+
			sum.State.Outcome(audit.OutcomeWrong))
		require.Less(t, turnedDown, 300,
			"not a storm: a fixed 64 is turned down tens of thousands of times")
		require.Less(t, time.Since(start), 2*600/capacity*time.Second,
			"at least half of what it takes is used")
	})
}

func TestFailsFast(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		other  string // provider of the second reviewer
		asks   bool   // whether the second reviewer goes on
	}{
		{"a revoked key ends its provider's work", 401, "p", false},
		{"and no other's", 401, "q", true},
		{"no credit", 402, "p", false},
		{"no quota", 429, "p", false},
		{"an unknown model ends its own work", 404, "p", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &reviewer{name: "m", provider: "p",
					wait: func(context.Context) { time.Sleep(time.Second) }}
				r.review = func(n int64, _ audit.ReviewTask) (audit.Review, error) {
					if n > 20 {
						return fails(c.status, false, 0), errors.New("m: the key was refused")
					}
					return says(audit.Bad, 0), nil
				}
				other := &reviewer{name: "other", provider: c.other,
					wait: func(context.Context) { time.Sleep(30 * time.Second) }}
				m := &memory{}
				its := append(items(trials(60, r)), items(trials(60, other))...)
				sum := finish(t, t.Context(), run.Config{Store: m, Budget: math.Inf(1),
					Concurrency: 10}, its)
				require.LessOrEqual(t, r.asked.Load(), int64(30),
					"only those in flight meet it too")
				require.Equal(t, []string{"m: the key was refused"}, sum.Stops, "one clear line")
				require.Equal(t, c.asks, other.asked.Load() == 60)
				require.Equal(t, 120-int(r.asked.Load()+other.asked.Load()),
					sum.State.Outcome(audit.OutcomeSkipped))
				require.Equal(t, "m: the key was refused", m.runs[0].State)
			})
		})
	}
}

func TestTooLongARetryAfterEndsTheProvidersWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reviewer{name: "m", provider: "p"}
		r.review = func(int64, audit.ReviewTask) (audit.Review,
			error) {
			return fails(429, true, time.Hour), nil
		}
		start := time.Now()
		sum := finish(t, t.Context(), run.Config{Store: &memory{}, Budget: math.Inf(1),
			Concurrency: 1}, items(trials(12, r)))
		require.EqualValues(t, 1, r.asked.Load())
		require.Equal(t, []string{"p asks to wait 1h0m0s (Retry-After), longer than 5m0s"},
			sum.Stops)
		require.Less(t, time.Since(start), time.Minute)
	})
}

// When the run is stopped, tries in flight come to their end, what waits for
// another try is told as errored, and the rest is skipped.
func TestStopsInGoodOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reviewer{name: "m", wait: func(context.Context) { time.Sleep(4 * time.Second) }}
		r.review = func(n int64, _ audit.ReviewTask) (audit.Review, error) {
			if n == 1 {
				return fails(429, true, time.Minute), nil
			}
			return says(audit.Bad, 0.01), nil
		}
		m := &memory{}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second,
			errors.New("the test's deadline is near"))
		defer cancel()
		start := time.Now()
		other := &reviewer{name: "other", provider: "q",
			wait: func(context.Context) { time.Sleep(4 * time.Second) }}
		sum := finish(t, ctx, run.Config{Store: m, Budget: math.Inf(1), Concurrency: 2},
			append(items(trials(60, r)), items(trials(60, other))...))
		require.Equal(t, 12*time.Second, time.Since(start),
			"what was in flight at 10 s ended at 12 s")
		require.Equal(t, []string{"stopped: the test's deadline is near"}, sum.Stops)
		require.Equal(t, 1, sum.State.Outcome(audit.OutcomeErrored))
		require.EqualValues(t, 120-r.asked.Load()-other.asked.Load(),
			sum.State.Outcome(audit.OutcomeSkipped))
		require.EqualValues(t, r.asked.Load()+other.asked.Load(), len(m.rows()),
			"what was begun is stored")
	})
}

// A try that does not end in its grace is cut off.
func TestGraceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reviewer{name: "m", wait: func(ctx context.Context) { <-ctx.Done() }}
		r.review = func(int64, audit.ReviewTask) (audit.Review,
			error) {
			return fails(0, false, 0), nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		sum := finish(t, ctx, run.Config{Store: &memory{}, Budget: math.Inf(1), Concurrency: 3,
			Grace: 5 * time.Second}, items(trials(12, r)))
		require.Equal(t, 6*time.Second, time.Since(start))
		require.Equal(t, 3, sum.State.Outcome(audit.OutcomeErrored))
		require.Equal(t, 9, sum.State.Outcome(audit.OutcomeSkipped))
	})
}

func TestOrderIsSeededAndSpreadsFamilies(t *testing.T) {
	sent := func(seed uint64) (families, codes []string) {
		r := &reviewer{name: "m"}
		its := items(trials(60, r))
		ts := trials(60, r)
		for i := range its {
			do := its[i].Do
			its[i].Do = func(ctx context.Context) run.AttemptResult {
				families, codes = append(families, ts[i].Case.Family()),
					append(codes, ts[i].Case.ID())
				return do(ctx)
			}
		}
		finish(t, context.Background(), run.Config{Store: &memory{}, Budget: math.Inf(1),
			Concurrency: 1, Seed: seed}, its)
		return families, codes
	}
	families, first := sent(1)
	for i := 0; i < 60; i += 10 {
		seen := map[string]bool{}
		for _, f := range families[i : i+10] {
			seen[f] = true
		}
		require.Len(t, seen, 10, "each round has one of each of the ten families")
	}
	_, again := sent(1)
	_, other := sent(2)
	require.Equal(t, first, again)
	require.NotEqual(t, first, other)
}

func TestAStoreThatFails(t *testing.T) {
	full := errors.New("database or disk is full")
	t.Run("for a while", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := &memory{fails: func(put int) error {
				if put%3 != 0 {
					return errors.New("database is locked")
				}
				return nil
			}}
			r := &reviewer{name: "m"}
			sum := finish(t, t.Context(), run.Config{Store: m, Budget: math.Inf(1)},
				items(trials(60, r)))
			require.Empty(t, sum.Stops)
			require.Equal(t, 60, len(m.rows()))
			require.EqualValues(t, 60, r.asked.Load(),
				"nothing is asked again because it could not be stored at once")
		})
	})
	t.Run("until the end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := &memory{fails: func(put int) error {
				if put > 5 {
					return full
				}
				return nil
			}}
			r := &reviewer{name: "m"}
			p, err := run.Prepare(t.Context(), run.Config{Store: m, Budget: math.Inf(1),
				Concurrency: 4}, run.Listed(items(trials(60, r))))
			require.NoError(t, err)
			started, err := p.Start(t.Context())
			require.NoError(t, err)
			sum, err := started.Finish()
			require.ErrorIs(t, err, full)
			require.Len(t, sum.Unstored, 4, "those in flight")
			require.Contains(t, sum.Stops[0], "results cannot be stored")
			require.EqualValues(t, 24, r.asked.Load(), "nothing more is paid for")
			require.Equal(t, 60, sum.State.Done)
		})
	})
	t.Run("until there is room", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			m := &memory{fails: func(int) error {
				if time.Since(start) < 30*time.Second {
					return full
				}
				return nil
			}}
			sum := finish(t, t.Context(), run.Config{Store: m, Budget: math.Inf(1)},
				items(trials(12, &reviewer{name: "m"})))
			require.Equal(t, 12, len(m.rows()))
			require.Empty(t, sum.Unstored)
		})
	})
}

func TestAPanicIsAnOutcome(t *testing.T) {
	r := &reviewer{name: "m"}
	r.review = func(n int64, _ audit.ReviewTask) (audit.Review, error) {
		if n%2 == 0 {
			panic("unthinkable")
		}
		return says(audit.Bad, 0), nil
	}
	m := &memory{}
	sum := finish(t, context.Background(), run.Config{Store: m, Budget: math.Inf(1)},
		items(trials(6, r)))
	require.Equal(t, 3, sum.State.Outcome(audit.OutcomeErrored))
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reviewer{name: "m", wait: func(context.Context) { time.Sleep(time.Minute) }}
		its := items(trials(1, r))
		p, err := run.Prepare(t.Context(), run.Config{Store: &memory{}, Budget: math.Inf(1)},
			run.Listed(its))
		require.NoError(t, err)
		started, err := p.Start(t.Context())
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = started.Wait(ctx, its[0].Key)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = started.Wait(t.Context(), "unknown")
		require.ErrorContains(t, err, "no item with key")
		res, err := started.Wait(t.Context(), its[0].Key)
		require.NoError(t, err)
		require.Equal(t, store.ReasonUnknown, res.Evaluation.Reason)
		<-started.Done()
	})
}
