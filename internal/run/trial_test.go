package run_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"assay/audit"
	"assay/internal/run"
	"assay/internal/store"

	"github.com/stretchr/testify/require"
)

// Whatever a reviewer says becomes one outcome and one row.
func TestOutcomesOfATrial(t *testing.T) {
	answer := func(v audit.Label, violates ...int) audit.Review {
		return audit.Review{Status: audit.Answered, Verdict: v, Violates: violates,
			CWEs: []audit.CWE{639}}
	}
	for _, c := range []struct {
		name    string
		bad     bool
		review  audit.Review
		err     error
		outcome audit.Outcome
		actual  string
		reason  store.ReasonGrade
	}{
		{"right for the right reason", true, answer(audit.Bad, 1, 2), nil, audit.OutcomeCorrect,
			"bad", store.ReasonRight},
		{"right for another reason", true, answer(audit.Bad, 3), nil, audit.OutcomeCorrect, "bad",
			store.ReasonWrong},
		{"right without a reason", true, answer(audit.Bad), nil, audit.OutcomeCorrect, "bad",
			store.ReasonWrong},
		{"a good one right", false, answer(audit.Good), nil, audit.OutcomeCorrect, "good",
			store.ReasonUnknown},
		{"wrong", true, answer(audit.Good), nil, audit.OutcomeWrong, "good", store.ReasonUnknown},
		{"wrong the other way", false, answer(audit.Bad, 2), nil, audit.OutcomeWrong, "bad",
			store.ReasonUnknown},
		{"refused", true, audit.Review{Status: audit.Refused, Detail: "no"}, nil,
			audit.OutcomeRefused, "refused", store.ReasonUnknown},
		{"malformed", true, audit.Review{Status: audit.Malformed, Detail: "?"}, nil,
			audit.OutcomeMalformed, "malformed", store.ReasonUnknown},
		{"errored", true, audit.Review{Status: audit.Errored, Detail: "!"}, nil,
			audit.OutcomeErrored, "errored", store.ReasonUnknown},
		{"an unknown verdict", true, answer("maybe"), nil, audit.OutcomeMalformed, "malformed",
			store.ReasonUnknown},
		{"no status at all", true, audit.Review{}, nil, audit.OutcomeMalformed, "malformed",
			store.ReasonUnknown},
		{"fatal", true, audit.Review{}, errors.New("gone"), audit.OutcomeErrored, "errored",
			store.ReasonUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &reviewer{name: "m", settings: "x=1"}
			r.review = func(int64, audit.ReviewTask) (audit.Review,
				error) {
				return c.review, c.err
			}
			ts := trials(6, r)[:1]
			if c.bad {
				ts = trials(6, r)[5:]
			}
			db := open(t)
			sum := finish(t, context.Background(), run.Config{Store: db, Budget: math.Inf(1)},
				items(ts))
			require.Equal(t, 1, sum.State.Outcome(c.outcome))
			require.Equal(t, 1, sum.State.Count(ts[0].Case.Label, c.outcome))
			for e, err := range db.Evaluations(context.Background(), store.Query{}) {
				require.NoError(t, err)
				require.Equal(t, c.actual, e.Actual)
				require.Equal(t, c.reason, e.Reason)
				require.Equal(t, "tests/"+ts[0].Case.ID()+".md", e.TestFile)
				require.Equal(t, "m\nx=1", e.Settings)
				for _, h := range []string{e.CaseHash, e.SpecHash, e.PromptHash, e.SettingsHash} {
					require.Len(t, h, 64)
				}
			}
		})
	}
}

// The key follows everything that an answer depends on, and nothing else.
func TestKey(t *testing.T) {
	make := func(change func(*run.ReviewTrial)) string {
		tr := trials(6, &reviewer{name: "m", settings: "s"})[5]
		change(&tr)
		return tr.Key()
	}
	same := make(func(*run.ReviewTrial) {})
	seen := map[string]string{same: "nothing"}
	for name, change := range map[string]func(*run.ReviewTrial){
		"code":     func(tr *run.ReviewTrial) { tr.Case.Code += " " },
		"language": func(tr *run.ReviewTrial) { tr.Case.Language = "go" },
		"violates": func(tr *run.ReviewTrial) { tr.Case.Violates = []int{3} },
		"label":    func(tr *run.ReviewTrial) { tr.Case.Label = audit.Good },
		"number":   func(tr *run.ReviewTrial) { tr.Case.Number = 9 },
		"app":      func(tr *run.ReviewTrial) { tr.Case.App = "other" },
		"spec":     func(tr *run.ReviewTrial) { tr.Spec = &audit.Spec{Prompt: "other"} },
		"prompt":   func(tr *run.ReviewTrial) { tr.Prompt = "other" },
		"name":     func(tr *run.ReviewTrial) { tr.Reviewer = &reviewer{name: "n", settings: "s"} },
		"settings": func(tr *run.ReviewTrial) { tr.Reviewer = &reviewer{name: "m", settings: "t"} },
		"index":    func(tr *run.ReviewTrial) { tr.Index = 1 },
	} {
		k := make(change)
		require.Empty(t, seen[k], "%s changes the key", name)
		seen[k] = name
	}
	for name, change := range map[string]func(*run.ReviewTrial){
		"description": func(tr *run.ReviewTrial) { tr.Case.Description = "other" },
		"place":       func(tr *run.ReviewTrial) { tr.Case.Pos.Line = 7 },
		"prompt name": func(tr *run.ReviewTrial) { tr.PromptName = "other" },
		"order": func(tr *run.ReviewTrial) {
			tr.Case.Violates = append([]int(nil),
				tr.Case.Violates...)
		},
	} {
		require.Equal(t, same, make(change), "%s does not", name)
	}
}

func TestLongRepliesAreCapped(t *testing.T) {
	r := &reviewer{name: "m"}
	r.review = func(int64, audit.ReviewTask) (audit.Review, error) {
		long := strings.Repeat("é", 100_000)
		return audit.Review{Status: audit.Malformed, Raw: long, Explanation: long, Detail: long},
			nil
	}
	m := &memory{}
	finish(t, context.Background(), run.Config{Store: m, Budget: math.Inf(1)}, items(trials(1, r)))
	row := m.rows()[0]
	for _, kept := range []string{row.Reply, row.Explanation, row.Detail} {
		require.Less(t, len(kept), 66_000)
		require.Contains(t, kept, "bytes more]")
		require.NotContains(t, kept, "\uFFFD")
	}
}

// Work that is no trial keeps its own results; a run that discards them has none
// to wait for.
func TestOtherWork(t *testing.T) {
	var kept []any
	it := run.Job{Key: "audit", Reviewer: "agent", Cost: run.Cost{Known: true},
		Do: func(context.Context) run.AttemptResult {
			return run.AttemptResult{Value: 42, Evaluation: store.Evaluation{Outcome: audit.OutcomeCorrect,
				Status: audit.Answered}}
		},
		Keep: func(_ context.Context, r run.JobResult) error {
			kept = append(kept,
				r.Value)
			return nil
		}}
	m := &memory{}
	p, err := run.Prepare(context.Background(), run.Config{Store: m, Budget: math.Inf(1)},
		run.Listed([]run.Job{it}))
	require.NoError(t, err)
	r, err := p.Start(context.Background())
	require.NoError(t, err)
	res, err := r.Wait(context.Background(), "audit")
	require.NoError(t, err)
	require.Equal(t, 42, res.Value)
	_, err = r.Finish()
	require.NoError(t, err)
	require.Equal(t, []any{42}, kept)
	require.Empty(t, m.rows())

	p, err = run.Prepare(context.Background(), run.Config{Store: m, Budget: math.Inf(1),
		Discard: true}, run.Listed([]run.Job{it}))
	require.NoError(t, err)
	r, err = p.Start(context.Background())
	require.NoError(t, err)
	_, err = r.Wait(context.Background(), "audit")
	require.ErrorContains(t, err, "discarded")
	<-r.Done()
}

func TestEvents(t *testing.T) {
	var events []run.Event
	r := &reviewer{name: "m", expected: 0.001, most: 0.01}
	finish(t, context.Background(), run.Config{Store: &memory{}, Budget: 1,
		Progress: func(e run.Event) { events = append(events, e) }}, items(trials(12, r)))
	require.Equal(t, run.Began, events[0].Kind)
	require.Equal(t, run.Ended, events[len(events)-1].Kind)
	require.InDelta(t, 0.012, events[0].State.Expected, 1e-9, "what is expected at the beginning")
	done, told := 0, 0
	for _, e := range events {
		require.GreaterOrEqual(t, e.State.Done, done)
		require.LessOrEqual(t, e.State.Spent, e.State.Expected+1e-9)
		done = e.State.Done
		if e.Kind == run.Done {
			told++
		}
	}
	require.Equal(t, 12, told)
	last := events[len(events)-1].State
	require.Equal(t, 12, last.Done)
	require.InDelta(t, 0.012, last.Spent, 1e-9)
	require.Positive(t, last.Rate())
	require.Zero(t, last.Left())
	require.Zero(t, last.InFlight)
}
