package run_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/run"

	"github.com/stretchr/testify/require"
)

// A desk is an auditor in this process that does as it is told, run by run.
type desk struct {
	mu   sync.Mutex
	runs map[string]int // by project and index
	say  func(trial string, nth int) audit.AuditRun
}

// audits plans trials of auditors at n projects.
func (d *desk) audits(projects, trials int, cost run.Cost) []*run.AuditTrial {
	var as []*run.AuditTrial
	for p := range projects {
		for i := range trials {
			name := fmt.Sprintf("p%d/%d", p, i)
			as = append(as, &run.AuditTrial{Project: fmt.Sprint("p", p), Auditor: "a", Index: i,
				Export: "e", Settings: "v1", Provider: "x", Cost: cost,
				Once: func(context.Context, float64) (audit.AuditRun, string, error) {
					d.mu.Lock()
					defer d.mu.Unlock()
					if d.runs == nil {
						d.runs = map[string]int{}
					}
					d.runs[name]++
					return d.say(name, d.runs[name]), "/dir/" + name, nil
				}})
		}
	}
	return as
}

func (d *desk) total() (n int) {
	for _, k := range d.runs {
		n += k
	}
	return n
}

func whole(string, int) audit.AuditRun {
	return audit.AuditRun{Raw: []byte("report"), Version: "1", Duration: time.Minute,
		Usage: audit.Usage{TokensIn: 10, TokensOut: 2, Turns: 3, USD: 1, Priced: true},
		Report: audit.Report{Format: "text",
			Findings: []audit.Finding{{ID: "f", Pos: audit.Pos{File: "r", Line: 7}}}}}
}

func finishAudits(t *testing.T, c run.Config, as []*run.AuditTrial) (run.Summary,
	map[string]run.JobResult) {
	t.Helper()
	ctx := context.Background()
	c.Run.Suite = "Regression"
	p, err := run.Prepare(ctx, c, run.AuditJobs(c.Store, as))
	require.NoError(t, err)
	r, err := p.Start(ctx)
	require.NoError(t, err)
	results := map[string]run.JobResult{}
	for _, a := range as {
		res, err := r.Wait(ctx, a.Key())
		require.NoError(t, err)
		results[fmt.Sprintf("%s/%d", a.Project, a.Index)] = res
	}
	s, err := r.Finish()
	require.NoError(t, err)
	return s, results
}

// A complete run is made again by the same command; -reuse takes what was answered
// under the same settings and export.
func TestAuditsAreReusedOnPurpose(t *testing.T) {
	d, where := &desk{say: whole}, filepath.Join(t.TempDir(), "results.db")
	db := openAt(t, where)
	c := run.Config{Store: db, Budget: 100, Concurrency: 2}
	s, first := finishAudits(t, c, d.audits(2, 3, run.Cost{Expected: 1, Most: 2, Known: true}))
	require.Equal(t, 6, d.total())
	require.Equal(t, 6, s.State.Outcome(audit.OutcomeCorrect))
	require.InDelta(t, 6, s.State.Spent, 1e-9)
	require.Equal(t, int64(18), s.Run.Usage.Turns)

	c.Reuse = true
	s, again := finishAudits(t, c, d.audits(2, 3, run.Cost{Expected: 1, Most: 2, Known: true}))
	require.Equal(t, 6, d.total(), "nothing is paid twice")
	require.Zero(t, s.State.Spent)
	require.Equal(t, 6, s.State.Reused)
	for name, res := range first {
		was, is := res.Value.(*run.Audited), again[name].Value.(*run.Audited)
		require.True(t, again[name].Reused)
		require.Equal(t, was, is, "what is kept is all of it, positions among it")
	}
	finishAudits(t, c, d.audits(2, 4, run.Cost{Known: true}))
	require.Equal(t, 8, d.total(), "one trial more of each")
	for _, edit := range []func(*run.AuditTrial){func(a *run.AuditTrial) { a.Settings = "v2" },
		func(a *run.AuditTrial) { a.Export = "f" }} {
		before := d.total()
		as := d.audits(1, 1, run.Cost{Known: true})
		edit(as[0])
		finishAudits(t, c, as)
		require.Equal(t, before+1, d.total())
	}
	c.Reuse = false
	finishAudits(t, c, d.audits(2, 3, run.Cost{Known: true}))
	require.Equal(t, 16, d.total(), "without -reuse all are made again")
	raw, err := sql.Open("sqlite", where)
	require.NoError(t, err)
	defer raw.Close()
	var rows int
	require.NoError(t,
		raw.QueryRow("SELECT COUNT(*) FROM audits WHERE wall_ms = 60000").Scan(&rows))
	require.Equal(t, d.total(), rows, "each that was paid for has its row")
}

// An early end is tried once more, counted, and proves nothing the second time.
func TestEarlyEndsAreTriedOnceMore(t *testing.T) {
	d := &desk{say: func(trial string, nth int) audit.AuditRun {
		r := whole(trial, nth)
		if nth == 1 && trial != "p0/0" || trial == "p0/2" {
			r.EndedEarly, r.Report = "no SENTINEL", audit.Report{}
		}
		return r
	}}
	c := run.Config{Store: open(t), Budget: 100, FirstWait: time.Millisecond}
	s, results := finishAudits(t, c, d.audits(1, 3, run.Cost{Expected: 1, Most: 1, Known: true}))
	require.Equal(t, map[string]int{"p0/0": 1, "p0/1": 2, "p0/2": 2}, d.runs)
	require.InDelta(t, 5, s.State.Spent, 1e-9)
	value := func(name string) *run.Audited { return results[name].Value.(*run.Audited) }
	require.Zero(t, value("p0/0").EarlyEnds)
	require.Equal(t, 1, value("p0/1").EarlyEnds)
	require.Empty(t, value("p0/1").Run.Invalid)
	require.Equal(t, "it ended early: no SENTINEL", value("p0/1").Earlier[0].Invalid)
	require.InDelta(t, 2, value("p0/1").Usage.USD, 1e-9, "both runs were paid for")
	require.Equal(t, 2, value("p0/2").EarlyEnds)
	require.Equal(t, "it ended early, twice: no SENTINEL", value("p0/2").Run.Invalid)
	require.Equal(t, audit.OutcomeMalformed, results["p0/2"].Outcome)
	finishAudits(t, c, d.audits(1, 3, run.Cost{Expected: 1, Most: 1, Known: true}))
	require.Equal(t, map[string]int{"p0/0": 2, "p0/1": 3, "p0/2": 4}, d.runs,
		"a truncated report is final: the run was complete")
}

// A run that is turned away is tried again at the engine's pace, and what was
// turned down costs nothing.
func TestAuditsTurnedAway(t *testing.T) {
	d := &desk{say: func(trial string, nth int) audit.AuditRun {
		if nth < 3 {
			return audit.AuditRun{Invalid: "API Error: 429", HTTPStatus: 429, Transient: true,
				RetryAfter: time.Millisecond}
		}
		return whole(trial, nth)
	}}
	s, results := finishAudits(t, run.Config{Store: open(t), Budget: 3,
		FirstWait: time.Millisecond}, d.audits(1, 2, run.Cost{Expected: 1, Most: 1, Known: true}))
	require.Equal(t, map[string]int{"p0/0": 3, "p0/1": 3}, d.runs)
	require.InDelta(t, 2, s.State.Spent, 1e-9)
	require.Zero(t, s.Unsure)
	require.Equal(t, 3, results["p0/0"].Evaluation.Tries)
	require.Len(t, results["p0/0"].Value.(*run.Audited).Earlier, 2)

	d.say = func(string, int) audit.AuditRun {
		return audit.AuditRun{Invalid: "API Error: 401",
			HTTPStatus: 401}
	}
	before := d.total()
	s, _ = finishAudits(t, run.Config{Store: open(t), Budget: 3, Concurrency: 1},
		d.audits(3, 2, run.Cost{Expected: 1, Most: 1, Known: true}))
	require.Equal(t, before+1, d.total(), "a key that is refused is refused for all")
	require.Equal(t, []string{"API Error: 401"}, s.Stops)
}

// The budget holds over projects and trials; what costs an unknown sum is charged
// with the most; what could not be started is free.
func TestAuditsKeepTheirBudget(t *testing.T) {
	d := &desk{say: whole}
	c := run.Config{Store: open(t), Budget: 0}
	s, results := finishAudits(t, c, d.audits(2, 2, run.Cost{Expected: 1, Most: 2, Known: true}))
	require.Zero(t, d.total())
	require.Equal(t, 4, s.State.Outcome(audit.OutcomeSkipped))
	require.Contains(t, results["p1/1"].Why, "the budget is 0")

	c.Budget, c.Concurrency = 3.5, 4
	s, _ = finishAudits(t, c, d.audits(2, 2, run.Cost{Expected: 1, Most: 2, Known: true}))
	require.Equal(t, 2, d.total(), "after two a third may cost more than is left")
	require.Contains(t, s.Stops[0], "the budget of $3.50 is used up")
	c.Budget = 6
	s, _ = finishAudits(t, c, d.audits(2, 2, run.Cost{Expected: 1, Most: 2, Known: true}))
	require.Equal(t, 4, d.total(), "the same command with a larger budget continues the run")
	require.Equal(t, 2, s.State.Reused)

	unknown := &desk{say: func(string, int) audit.AuditRun { return audit.AuditRun{} }}
	s, _ = finishAudits(t, run.Config{Store: open(t), Budget: 3.5, Concurrency: 4},
		unknown.audits(2, 2, run.Cost{Expected: 1, Most: 1.5, Known: true}))
	require.Equal(t, 2, unknown.total())
	require.InDelta(t, 3, s.Unsure, 1e-9)

	as := d.audits(1, 2, run.Cost{Expected: 1, Most: 2, Known: true})
	for _, a := range as {
		a.Auditor, a.Once = "b", func(context.Context, float64) (audit.AuditRun, string, error) {
			return audit.AuditRun{}, "", errors.New("no such program")
		}
	}
	s, results = finishAudits(t, run.Config{Store: open(t), Budget: 3}, as)
	require.Zero(t, s.State.Spent)
	require.Equal(t, "no such program", results["p0/1"].Evaluation.Detail)
	_, err := run.Prepare(context.Background(), run.Config{Store: open(t), Budget: math.Inf(1)},
		run.Jobs{})
	require.ErrorContains(t, err, "nothing is planned")
}
