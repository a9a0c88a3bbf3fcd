package run_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"

	"assay/audit"
	"assay/internal/run"

	"github.com/stretchr/testify/require"
)

// audits returns ten audits, each of which may cost 1 USD, and costs what cost says. None ends
// before so many have begun.
func audits(together int64, keeps bool,
	cost func(nth int64, usd float64) audit.Usage) (as []*run.AuditTrial) {
	var begun atomic.Int64
	all := make(chan struct{})
	for i := range 10 {
		as = append(as, &run.AuditTrial{Project: fmt.Sprint("p", i), Auditor: "a", Export: "e",
			Settings: "v1", Keeps: keeps,
			Cost: run.Cost{Expected: 1, Most: 1, Known: true},
			Once: func(ctx context.Context, usd float64) (audit.AuditRun, string, error) {
				n := begun.Add(1)
				if n == together {
					close(all)
				}
				select {
				case <-all:
				case <-ctx.Done():
				}
				r := whole("", 0)
				if r.Usage = cost(n, usd); !r.Usage.Priced {
					r.Invalid = "the connection broke"
				}
				return r, "/dir", nil
			}})
	}
	return as
}

func costs(usd float64) audit.Usage { return audit.Usage{USD: usd, Priced: true} }

// If ten trials fit a budget, at least eight of them run, eight at a time.
func TestTheBudgetIsUsed(t *testing.T) {
	for name, c := range map[string]struct {
		keeps bool
		cost  func(nth int64, usd float64) audit.Usage
	}{
		"as stated": {false, func(int64, float64) audit.Usage { return costs(1) }},
		"less than stated": {false,
			func(nth int64, _ float64) audit.Usage { return costs(.5 + float64(nth)/25) }},
		"keeps to its budget": {true,
			func(_ int64, usd float64) audit.Usage { return costs(min(1, usd)) }},
		"two broken streams": {false, func(nth int64, _ float64) audit.Usage {
			return audit.Usage{USD: .7, Priced: nth > 2, Unsure: .1}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			as := audits(8, c.keeps, c.cost) // the test would hang if fewer were in flight
			s, results := finishAudits(t, run.Config{Store: open(t), Budget: 10, Concurrency: 8},
				as)
			begun := 0
			for _, r := range results {
				if r.Outcome != audit.OutcomeSkipped {
					begun++
				}
			}
			require.GreaterOrEqual(t, begun, 8)
			require.LessOrEqual(t, s.State.Spent, 10+1e-9)
		})
	}
}

// A budget holds over a run and the runs that resume it, broken streams included: what a
// request may have cost is charged once, with its own maximum, and is remembered.
func TestABudgetHoldsOverBrokenStreams(t *testing.T) {
	c := run.Config{Store: open(t), Budget: 3, Concurrency: 1}
	broken := func(int64, float64) audit.Usage { return audit.Usage{USD: .1, Unsure: .2} }
	as := audits(1, false, broken)
	s, _ := finishAudits(t, c, as)
	require.InDelta(t, 2.1, s.State.Spent, 1e-9,
		"seven times 0.30 USD: an eighth one might cost 1 USD")
	require.InDelta(t, 1.4, s.Unsure, 1e-9)
	as = audits(1, false, broken)
	s, _ = finishAudits(t, c, as)
	require.InDelta(t, 2.1, s.State.Earlier, 1e-9)
	require.Zero(t, s.State.Spent, "too little of the budget is left")
	require.Contains(t, s.Stops[0], "the budget of $3.00 is used up")
}

// The budget that a message names covers the plan.
func TestTheBudgetOfAMessageFits(t *testing.T) {
	for name, cost := range map[string]float64{"as stated": 1, "less": .3,
		"more than stated": 2.5} {
		t.Run(name, func(t *testing.T) {
			priced := func(int64, float64) audit.Usage { return costs(cost) }
			as := audits(1, false, priced)
			s, _ := finishAudits(t, run.Config{Store: open(t), Budget: 2.2, Concurrency: 1}, as)
			require.NotEmpty(t, s.Stops)
			m := regexp.MustCompile(`-budget (\d+\.\d\d) covers all`).FindStringSubmatch(s.Stops[0])
			require.NotNil(t, m, s.Stops[0])
			budget, err := strconv.ParseFloat(m[1], 64)
			require.NoError(t, err)
			as = audits(1, false, priced)
			s, _ = finishAudits(t, run.Config{Store: open(t), Budget: budget, Concurrency: 8}, as)
			require.Equal(t, 10, s.State.Outcome(audit.OutcomeCorrect), s.Stops)
			require.LessOrEqual(t, s.State.Spent, budget)
		})
	}
}
