package run_test

import (
	"context"

	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assay/audit"
	"assay/internal/run"
	"assay/internal/store"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB) store.Store { return openAt(t, filepath.Join(t.TempDir(), "results.db")) }

func openAt(t testing.TB, file string) store.Store {
	s, err := store.Open(context.Background(), file)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// A reviewer does what the test says and counts how often it was asked.
type reviewer struct {
	name, provider, settings string
	expected, most           float64
	unpriced                 bool
	asked                    atomic.Int64
	review                   func(n int64, task audit.ReviewTask) (audit.Review, error)
	wait                     func(ctx context.Context)
}

func (r *reviewer) Name() string     { return r.name }
func (r *reviewer) Provider() string { return r.provider }
func (r *reviewer) Settings() string { return r.settings }
func (r *reviewer) Cost(audit.ReviewTask) (float64, float64, bool) {
	return r.expected, r.most, !r.unpriced
}
func (r *reviewer) Review(ctx context.Context, task audit.ReviewTask) (audit.Review, error) {
	n := r.asked.Add(1)
	if r.wait != nil {
		r.wait(ctx)
	}
	if r.review == nil {
		return says(audit.Bad, 0.001), nil
	}
	return r.review(n, task)
}

// says is an answer that cost usd.
func says(l audit.Label, usd float64) audit.Review {
	return audit.Review{Status: audit.Answered, Verdict: l, Explanation: "because",
		Violates: []int{2}, Attempts: []audit.Attempt{
			{Model: "served", FinishReason: "stop", HTTPStatus: 200,
				Usage: audit.Usage{TokensIn: 10,
					TokensOut: 5, USD: usd, Priced: true}}}}
}

// fails is a failed attempt.
func fails(status int, transient bool, after time.Duration) audit.Review {
	return audit.Review{Status: audit.Errored, Detail: fmt.Sprint("HTTP ", status),
		Attempts: []audit.Attempt{
			{HTTPStatus: status, Error: fmt.Sprint("HTTP ", status), Transient: transient,
				RetryAfter: after}}}
}

// trials gives n trials: families of six cases, the last four of each bad.
func trials(n int, r audit.Reviewer) []run.ReviewTrial {
	spec := &audit.Spec{App: "shop", Prompt: "A shop."}
	var out []run.ReviewTrial
	for i := range n {
		c := &audit.Case{App: "shop", Query: fmt.Sprintf("q%03d", i/6), Number: i%6 + 1,
			Label: audit.Good, Language: "sql",
			Code: fmt.Sprint("SELECT ", i), Description: "told to nobody"}
		if i%6 >= 2 {
			c.Label, c.Violates = audit.Bad, []int{2}
		}
		out = append(out, run.ReviewTrial{Case: c, Spec: spec, PromptName: "p",
			Prompt: "Judge.", Reviewer: r})
	}
	return out
}

func items(ts []run.ReviewTrial) []run.Job {
	out := make([]run.Job, len(ts))
	for i := range ts {
		out[i] = ts[i].Item()
	}
	return out
}

// finish carries out a plan of items to its end.
func finish(t testing.TB, ctx context.Context, c run.Config, its []run.Job) run.Summary {
	p, err := run.Prepare(ctx, c, run.Listed(its))
	require.NoError(t, err)
	r, err := p.Start(ctx)
	require.NoError(t, err)
	s, err := r.Finish()
	require.NoError(t, err)
	require.Equal(t, len(its), s.State.Done)
	sum := 0
	for _, n := range s.Run.Outcomes {
		sum += n
	}
	require.Equal(t, len(its), sum, "planned = sum of the outcomes")
	return s
}

func TestRunAndResume(t *testing.T) {
	s, ctx := open(t), context.Background()
	r := &reviewer{name: "m", provider: "p"}
	ts := trials(60, r)
	c := run.Config{Store: s, Budget: math.Inf(1), Seed: 1}

	p, err := run.Prepare(ctx, c, run.Listed(items(ts)))
	require.NoError(t, err)
	started, err := p.Start(ctx)
	require.NoError(t, err)
	for i := range ts {
		res, err := started.Wait(ctx, ts[i].Key())
		require.NoError(t, err)
		want := audit.OutcomeCorrect
		if ts[i].Case.Label == audit.Good {
			want = audit.OutcomeWrong
		}
		require.Equal(t, want, res.Outcome)
		require.Equal(t, "because", res.Evaluation.Explanation)
	}
	sum, err := started.Finish()
	require.NoError(t, err)
	require.Equal(t, 40, sum.State.Count(audit.Bad, audit.OutcomeCorrect))
	require.Equal(t, 20, sum.State.Count(audit.Good, audit.OutcomeWrong))
	require.InDelta(t, 0.060, sum.State.Spent, 1e-9)
	require.EqualValues(t, 60, r.asked.Load())

	again := finish(t, ctx, c, items(ts))
	require.EqualValues(t, 120, r.asked.Load(), "a run that is complete is never reused")
	require.Zero(t, again.State.Reused)
	require.InDelta(t, 0.060, again.State.Spent, 1e-9)

	c.Reuse = true
	ts[0].Case.Code = "SELECT 'edited'"
	ts[1].Case.Description = "edited where nobody looks"
	edited := finish(t, ctx, c, items(ts))
	require.EqualValues(t, 121, r.asked.Load(), "-reuse asks an edited case again, and it alone")
	require.Equal(t, 59, edited.State.Reused)

	total := 0
	for _, err := range s.Summaries(ctx, store.Query{Run: edited.Run.ID}) {
		require.NoError(t, err)
		total++
	}
	require.Equal(t, 60, total, "the store knows the whole run, reused rows included")
}

// A run that has no final outcome for some trial is continued by the same plan, within
// its budget, and by no other plan.
func TestInterruptedRunsAreContinued(t *testing.T) {
	s, ctx := open(t), context.Background()
	r := &reviewer{name: "m", provider: "p"}
	answers := 0
	r.review = func(n int64, _ audit.ReviewTask) (audit.Review, error) {
		if answers++; n%3 == 0 {
			return fails(413, false, 0), nil
		}
		if n%3 == 1 {
			return audit.Review{Status: audit.Refused, Detail: "no",
				Attempts: []audit.Attempt{{Usage: audit.Usage{USD: 0.001, Priced: true}}}}, nil
		}
		return audit.Review{Status: audit.Answered, Verdict: audit.Bad,
			Attempts: []audit.Attempt{{Usage: audit.Usage{USD: 0.001, Priced: true}}}}, nil
	}
	ts := trials(30, r)
	c := run.Config{Store: s, Budget: 0.05, Seed: 1, Concurrency: 1}
	first := finish(t, ctx, c, items(ts))
	require.Equal(t, 10, first.State.Outcome(audit.OutcomeErrored))
	require.Empty(t, first.Run.Continues)

	other := finish(t, ctx, c, items(ts[:29]))
	require.Empty(t, other.Run.Continues, "another plan is another run")

	r.review = nil
	again := finish(t, ctx, c, items(ts))
	require.Equal(t, first.Run.ID, again.Run.Continues)
	require.Equal(t, 20, again.State.Reused, "a refusal is final")
	require.Equal(t, 10, again.State.Outcome(audit.OutcomeRefused))
	require.InDelta(t, 0.020, again.State.Earlier, 1e-9)
	require.InDelta(t, 0.010, again.State.Spent, 1e-9)

	third := finish(t, ctx, c, items(ts))
	require.Zero(t, third.State.Reused,
		"the continued run is complete: the same command asks again")
}

// The budget of an interrupted run holds over all its parts, and names one that would do.
func TestTheBudgetHoldsOverParts(t *testing.T) {
	s, ctx := open(t), context.Background()
	r := &reviewer{name: "m", provider: "p", expected: 0.001, most: 0.001}
	ts := trials(30, r)
	c := run.Config{Store: s, Budget: 0.0105, Seed: 1, Concurrency: 1}
	first := finish(t, ctx, c, items(ts))
	spent := first.State.Spent
	require.LessOrEqual(t, spent, c.Budget)
	again := finish(t, ctx, c, items(ts))
	require.Equal(t, first.Run.ID, again.Run.Continues)
	require.LessOrEqual(t, again.State.Earlier+again.State.Spent, c.Budget)
	require.Len(t, again.Stops, 1)
	m := regexp.MustCompile(`-budget (\S+) covers`).FindStringSubmatch(again.Stops[0])
	require.NotNil(t, m, again.Stops[0])
	c.Budget, _ = strconv.ParseFloat(m[1], 64)
	last := finish(t, ctx, c, items(ts))
	require.Zero(t, last.Unanswered())
	require.LessOrEqual(t, last.State.Earlier+last.State.Spent, c.Budget)
}

func TestPrepareRefuses(t *testing.T) {
	s, ctx := open(t), context.Background()
	r := &reviewer{name: "m", unpriced: true}
	ok := items(trials(2, r))
	for _, c := range []struct {
		name   string
		config run.Config
		items  []run.Job
		want   string
	}{
		{"no store", run.Config{Budget: 1}, ok, "no store"},
		{"nothing", run.Config{Store: s, Budget: 1}, nil, "nothing is planned"},
		{"twice", run.Config{Store: s, Budget: math.Inf(1)}, append(ok, ok[0]), "planned twice"},
		{"no price", run.Config{Store: s, Budget: 5}, ok, "no price is known for m"},
		{"budget", run.Config{Store: s, Budget: -1}, ok, "the budget is -1"},
		{"no key", run.Config{Store: s, Budget: math.Inf(1)}, []run.Job{{}}, "no key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := run.Prepare(ctx, c.config, run.Listed(c.items))
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := run.Prepare(ctx, run.Config{Store: s, Budget: math.Inf(1)}, run.Listed(ok))
	require.NoError(t, err, "-budget none takes a model without a price")
	p, err := run.Prepare(ctx, run.Config{Store: s}, run.Listed(ok))
	require.NoError(t, err, "an estimate needs no price")
	require.Equal(t, []string{"m"}, p.Estimate.Unpriced)
}

func TestBudgetZeroSendsNothing(t *testing.T) {
	r := &reviewer{name: "m", expected: 0.25, most: 1}
	its := items(trials(8, r))
	c := run.Config{Store: open(t)}
	p, err := run.Prepare(context.Background(), c, run.Listed(its))
	require.NoError(t, err)
	require.Equal(t, "8 trials planned: about $2.00, at most $8.00 without retries; budget $0.00",
		p.Estimate.String())
	sum := finish(t, context.Background(), c, its)
	require.Zero(t, r.asked.Load())
	require.Equal(t, 8, sum.State.Outcome(audit.OutcomeSkipped))
	require.Len(t, sum.Stops, 1)
	require.Contains(t, sum.Stops[0], "estimate")
}

// In synctest's bubble, waits take no time and are measured exactly. SQLite's
// goroutines live outside, so these tests keep results in memory.
func TestBudgetIsNeverExceeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reviewer{name: "m", expected: 0.3, most: 1,
			wait: func(context.Context) { time.Sleep(time.Second) }}
		r.review = func(n int64, _ audit.ReviewTask) (audit.Review, error) {
			return says(audit.Bad, []float64{0.1, 0.9, 0.5}[n%3]), nil
		}
		m := &memory{}
		var most float64
		sum := finish(t, t.Context(), run.Config{Store: m, Budget: 10, Concurrency: 20,
			Progress: func(e run.Event) { most = max(most, e.State.Spent) }}, items(trials(60, r)))
		require.LessOrEqual(t, most, 10.0)
		require.Greater(t, most, 10-1.5*0.9-1e-9, "less than one reserve is left over")
		require.Equal(t, 60-int(r.asked.Load()), sum.State.Outcome(audit.OutcomeSkipped))
		require.Contains(t, sum.Stops[0], "the budget of $10.00 is used up")
		require.Len(t, m.rows(), int(r.asked.Load()))
	})
}

func TestUnknownCostIsChargedInFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reviewer{name: "m", expected: 0.3, most: 1}
		r.review = func(n int64, _ audit.ReviewTask) (audit.Review, error) {
			return fails(0, true, 0), nil // the connection broke: who knows what it cost
		}
		sum := finish(t, t.Context(), run.Config{Store: &memory{}, Budget: 5, Attempts: 2},
			items(trials(12, r)))
		require.EqualValues(t, 5, r.asked.Load(), "five broken requests may have cost five dollars")
		require.InDelta(t, 5, sum.Unsure, 1e-9)
	})
}
