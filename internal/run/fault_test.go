package run_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/auditor"
	"assay/internal/postgres"
	"assay/internal/run"
	"assay/internal/run/testdata/mockapi"
	"assay/internal/store"

	"github.com/stretchr/testify/require"
)

const canary = "sk-or-v1-canary0123456789abcdef0123456789abcdef"

// model is the reviewer that asks the mock.
func model(t testing.TB, s *mockapi.Server, timeout time.Duration) audit.Reviewer {
	return modelAt(t, s.BaseURL, timeout)
}

func modelAt(t testing.TB, base string, timeout time.Duration) audit.Reviewer {
	r, err := auditor.Chat(auditor.ChatConfig{Name: "m", Provider: "mock", BaseURL: base,
		Key: canary, KeyName: "ASSAY_API_KEY",
		Model:   audit.Model{Name: "m", ID: "maker/m", In: 0.15, Out: 0.60, Priced: true},
		Timeout: timeout})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.(io.Closer).Close()) })
	return r
}

// A chance decides by the number of a request, the same in every run.
func chance(n int, salt uint64, p float64) bool {
	return rand.New(rand.NewPCG(uint64(n), salt)).Float64() < p
}

// faults are what providers do. Each is met by a run that ends with an answer
// for every trial.
func TestEveryTrialIsAnsweredDespite(t *testing.T) {
	errorBody := `{"error":{"message":"as told","code":0}}`
	n := 300
	if testing.Short() {
		n = 150
	}
	for _, c := range []struct {
		name    string
		timeout time.Duration
		script  func(mockapi.Request) mockapi.Reply
	}{
		{"5 % 502", 0, func(r mockapi.Request) mockapi.Reply {
			if chance(r.N, 1, 0.05) {
				return mockapi.Reply{Status: 502, Body: "<html>bad gateway</html>",
					Header: map[string]string{"Content-Type": "text/html"}}
			}
			return mockapi.Reply{Cost: 0.001}
		}},
		{"bursts of 429 without Retry-After", 0, func(r mockapi.Request) mockapi.Reply {
			if r.N%40 < 8 {
				return mockapi.Reply{Status: 429, Body: errorBody}
			}
			return mockapi.Reply{Cost: 0.001}
		}},
		{"bursts of 429 with Retry-After", 0, func(r mockapi.Request) mockapi.Reply {
			if r.N%60 < 8 {
				return mockapi.Reply{Status: 429, Body: errorBody,
					Header: map[string]string{"Retry-After-Ms": "40"}}
			}
			return mockapi.Reply{Cost: 0.001}
		}},
		{"Retry-After in seconds and as a date", 0, func(r mockapi.Request) mockapi.Reply {
			switch r.N {
			case 50:
				return mockapi.Reply{Status: 429, Body: errorBody,
					Header: map[string]string{"Retry-After": "1"}}
			case 100:
				now := time.Now().UTC()
				return mockapi.Reply{Status: 503, Body: errorBody, Header: map[string]string{
					"Date": now.Format(time.RFC1123),
					"Retry-After": strings.Replace(now.Add(time.Second).Format(time.RFC1123),
						"UTC", "GMT", 1)}}
			}
			return mockapi.Reply{Cost: 0.001}
		}},
		{"resets in mid-body", 0, func(r mockapi.Request) mockapi.Reply {
			if chance(r.N, 2, 0.1) {
				return mockapi.Reply{CutAfter: 60}
			}
			return mockapi.Reply{Cost: 0.001}
		}},
		{"stalls", time.Second, func(r mockapi.Request) mockapi.Reply {
			if r.Tries == 1 && chance(r.N, 3, 0.03) {
				return mockapi.Reply{Stall: true, StallAfter: r.N % 2 * 30}
			}
			return mockapi.Reply{Cost: 0.001}
		}},
		{"broken JSON", 0, func(r mockapi.Request) mockapi.Reply {
			if chance(r.N, 4, 0.1) {
				return mockapi.Reply{Body: `{"id":"gen-1","choices":[{"message":{"cont`}
			}
			return mockapi.Reply{Cost: 0.001}
		}},
		{"errors within 200", 0, func(r mockapi.Request) mockapi.Reply {
			if chance(r.N, 5, 0.1) {
				return mockapi.Reply{Body: `{"error":{"code":502,"message":"the host is down"}}`}
			}
			return mockapi.Reply{Cost: 0.001}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := mockapi.New(c.script)
			defer s.Close()
			slow := c.timeout > 0 // then an answer that comes too late is asked for again
			if !slow {
				c.timeout = 20 * time.Second
			}
			db := open(t)
			ts := trials(n, model(t, s, c.timeout))
			sum := finish(t, context.Background(), run.Config{Store: db, Budget: math.Inf(1),
				Concurrency: 10, Attempts: 30, FirstWait: 10 * time.Millisecond}, items(ts))
			require.Zero(t, sum.Unanswered(), "%v", sum.Run.Outcomes)
			require.Empty(t, sum.Stops)
			require.Positive(t, sum.State.Retries, "the fault was met")
			wholeAndOnce(t, db, ts, sum.Run.ID)
			require.Len(t, s.Answers(), n)
			if slow {
				return
			}
			for prompt, n := range s.Answers() {
				require.Equal(t, 1, n, "an answer that came is not asked for again: %s", prompt)
			}
			require.InDelta(t, s.Charged(), sum.State.Spent-sum.Unsure, 1e-9,
				"what the server charged is what is accounted for")
		})
	}
}

// wholeAndOnce checks that the store holds one row for each trial of the run,
// with its attempts.
func wholeAndOnce(t testing.TB, s store.Store, ts []run.ReviewTrial, id string) {
	seen := map[string]int{}
	for e, err := range s.Evaluations(context.Background(), store.Query{Run: id}) {
		require.NoError(t, err)
		seen[e.Trial]++
		attempts, err := s.Attempts(context.Background(), e.Run, e.Trial)
		require.NoError(t, err)
		require.Len(t, attempts, e.Tries, "every attempt is stored")
	}
	require.Len(t, seen, len(ts))
	for i := range ts {
		require.Equal(t, 1, seen[ts[i].Key()])
	}
}

// Answers without a verdict are told apart and stored. Malformed and empty ones are
// asked for once more, with what was wrong; refusals are not.
func TestNoAnswerIsToldApart(t *testing.T) {
	first := 0 // requests that say nothing of an earlier reply
	s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		if strings.Contains(r.Prompt, "could not be used: ") {
			if strings.Contains(r.Prompt, "could not be used: the reply is empty") {
				return mockapi.Reply{}
			}
			return mockapi.Reply{Content: "still no verdict"}
		}
		first++
		switch first % 6 {
		case 0:
			return mockapi.Reply{Finish: "length", Content: `{"explanation":"the qu`}
		case 1:
			return mockapi.Reply{Content: `{"verdict":"bad","explanation":"the qu`}
		case 2:
			return mockapi.Reply{Content: "I'm sorry, but I can't help with that."}
		case 3:
			return mockapi.Reply{Content: " "}
		case 4:
			return mockapi.Reply{Content: mockapi.Verdict("good")}
		}
		return mockapi.Reply{}
	})
	defer s.Close()
	db := open(t)
	ts := trials(60, model(t, s, time.Second))
	sum := finish(t, context.Background(), run.Config{Store: db, Budget: math.Inf(1),
		Concurrency: 1}, items(ts))
	require.Equal(t, 20, sum.State.Outcome(audit.OutcomeMalformed), "the empty ones were mended")
	require.Equal(t, 10, sum.State.Outcome(audit.OutcomeRefused))
	require.Equal(t, 30, sum.State.Outcome(audit.OutcomeCorrect)+
		sum.State.Outcome(audit.OutcomeWrong))
	require.Len(t, s.Requests(), 90)
	require.Equal(t, 30, sum.State.Retries, "each of the malformed and empty once, and counted")
	wholeAndOnce(t, db, ts, sum.Run.ID)
}

// A key that is revoked halfway ends the run with one line; with a new key, the
// same command asks the rest alone.
func TestRevokedKeyHalfway(t *testing.T) {
	var mu sync.Mutex
	revoked := true
	s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		mu.Lock()
		defer mu.Unlock()
		if revoked && r.N > 30 {
			return mockapi.Reply{Status: 401, Body: `{"error":{"code":401,"message":"key ` + r.Key +
				` is disabled"}}`}
		}
		return mockapi.Reply{Cost: 0.001}
	})
	defer s.Close()
	db, ctx := open(t), context.Background()
	ts := trials(120, model(t, s, time.Second))
	c := run.Config{Store: db, Budget: 5, Concurrency: 4}
	sum := finish(t, ctx, c, items(ts))
	require.Len(t, sum.Stops, 1)
	require.Contains(t, sum.Stops[0], "the key in ASSAY_API_KEY was refused")
	require.LessOrEqual(t, len(s.Requests()), 34)
	require.Equal(t, 90, sum.State.Outcome(audit.OutcomeSkipped)+
		sum.State.Outcome(audit.OutcomeErrored))
	mu.Lock()
	revoked = false
	mu.Unlock()
	again := finish(t, ctx, c, items(ts))
	require.Zero(t, again.Unanswered())
	require.Equal(t, 30, again.State.Reused)
	require.Len(t, s.Answers(), 120)
	wholeAndOnce(t, db, ts, again.Run.ID)
}

// A database that another process holds is waited for; nothing is asked twice.
func TestLockedDatabase(t *testing.T) {
	where := filepath.Join(t.TempDir(), "results.db")
	db, err := store.Open(context.Background(), where)
	require.NoError(t, err)
	defer db.Close()
	other, err := sql.Open("sqlite", "file:"+where+"?_pragma=busy_timeout(10000)")
	require.NoError(t, err)
	defer other.Close()
	conn, err := other.Conn(context.Background())
	require.NoError(t, err)
	defer conn.Close()
	released := make(chan error, 2)
	s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		if r.N == 20 {
			_, err := conn.ExecContext(context.Background(), "BEGIN EXCLUSIVE")
			released <- err
			time.AfterFunc(300*time.Millisecond, func() {
				_, err := conn.ExecContext(context.Background(), "COMMIT")
				released <- err
			})
		}
		return mockapi.Reply{Cost: 0.001}
	})
	defer s.Close()
	ts := trials(60, model(t, s, 20*time.Second))
	sum := finish(t, context.Background(), run.Config{Store: db, Budget: math.Inf(1),
		Concurrency: 5}, items(ts))
	require.NoError(t, <-released)
	require.NoError(t, <-released)
	require.Zero(t, sum.Unanswered())
	require.Len(t, s.Requests(), 60)
	wholeAndOnce(t, db, ts, sum.Run.ID)
}

// What is sent holds nothing that tells the answer: the same code under another
// name, number, label and description is the same request to the byte.
func TestRequestsTellNothing(t *testing.T) {
	s := mockapi.New(func(mockapi.Request) mockapi.Reply { return mockapi.Reply{} })
	defer s.Close()
	r := model(t, s, 20*time.Second)
	spec := &audit.Spec{App: "secretapp", Prompt: "# A shop",
		Pos: audit.Pos{File: "tests/secretapp/SPEC.md"}}
	var ts []run.ReviewTrial
	for i := range 2 {
		c := &audit.Case{App: "secretapp", Query: fmt.Sprint("secretquery", i), Number: 41 + i,
			Label:       []audit.Label{audit.Good, audit.Bad}[i],
			Description: fmt.Sprint("secretdescription", i), Language: "sql", Code: "SELECT 1",
			Violates: []int{7}[:i], CWEs: []audit.CWE{639}}
		c.Pos = audit.Pos{File: "tests/" + c.ID() + ".md", Line: 1}
		ts = append(ts, run.ReviewTrial{Case: c, Spec: spec, PromptName: "secretprompt",
			Prompt: "Judge.", Reviewer: r})
	}
	finish(t, context.Background(), run.Config{Store: open(t), Budget: math.Inf(1)}, items(ts))
	sent := s.Requests()
	require.Len(t, sent, 2)
	require.Equal(t, string(sent[0].Body), string(sent[1].Body))
	for _, q := range sent {
		all := string(q.Body) + fmt.Sprint(q.Header)
		for _, secret := range []string{"secret", "41", "42", "-good", "-bad", ".md", "639",
			"Violates", "Expected"} {
			require.NotContains(t, all, secret)
		}
	}
}

// The budget holds by the provider's own books, which also hold the answers that
// broke off on their way and whose cost nobody told us.
func TestBudgetHoldsByTheProvidersBooks(t *testing.T) {
	s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		switch {
		case chance(r.N, 8, 0.2):
			return mockapi.Reply{Cost: 0.004, CutAfter: 50}
		case chance(r.N, 9, 0.1):
			return mockapi.Reply{Status: 502, Body: "{}"}
		}
		return mockapi.Reply{Cost: 0.004}
	})
	defer s.Close()
	const budget = 0.5
	ts := trials(300, model(t, s, 20*time.Second))
	c := run.Config{Store: open(t), Budget: budget, Concurrency: 10, FirstWait: time.Millisecond}
	sum := finish(t, context.Background(), c, items(ts))
	books := s.Charged() + s.ChargedBroken()
	require.LessOrEqual(t, books, budget)
	require.LessOrEqual(t, books, sum.State.Spent+1e-9, "we never think that we spent less")
	require.Greater(t, books, budget/2, "and the budget is used")
	require.Positive(t, sum.Unsure)
	require.Contains(t, strings.Join(sum.Stops, "\n"), "the budget of $0.50 is used up")
	require.Positive(t, sum.State.Outcome(audit.OutcomeSkipped))
}

// A PostgreSQL that loses all its connections in the middle of a run, as in a
// restart, is connected to again; nothing is lost and nothing asked twice.
func TestPostgreSQLGoesAwayForAMoment(t *testing.T) {
	dsn := os.Getenv("ASSAY_PG_URL")
	if dsn == "" {
		var stop func()
		var err error
		dsn, stop, err = postgres.Start()
		if errors.Is(err, postgres.ErrMissing) {
			t.Skip("PostgreSQL is missing: ", err)
		}
		require.NoError(t, err)
		defer stop()
	}
	db, err := store.Open(context.Background(), dsn)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	other, err := sql.Open("pgx", dsn)
	require.NoError(t, err)
	defer other.Close()
	other.SetMaxOpenConns(1) // lest it ends its own
	cut := make(chan error, 10)
	s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		if r.N%30 == 0 {
			_, err := other.Exec(
				"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
			cut <- err
		}
		return mockapi.Reply{Cost: 0.001}
	})
	defer s.Close()
	ts := trials(150, model(t, s, 20*time.Second))
	sum := finish(t, context.Background(), run.Config{Store: db, Budget: math.Inf(1),
		Concurrency: 5}, items(ts))
	for range 5 {
		require.NoError(t, <-cut)
	}
	require.Zero(t, sum.Unanswered())
	require.Len(t, s.Requests(), 150)
	wholeAndOnce(t, db, ts, sum.Run.ID)
}
