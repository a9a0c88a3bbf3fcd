package run_test

import (
	"context"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assay/audit"
	"assay/internal/auditor"
	"assay/internal/run"
	"assay/internal/run/testdata/mockapi"

	"github.com/stretchr/testify/require"
)

// A provider that refuses everything, or is out of order, ends the run a minute after it last
// answered.
func TestAProviderThatAnswersNothingEndsTheRun(t *testing.T) {
	for name, failure := range map[string]func() audit.Review{
		"429":                  func() audit.Review { return fails(429, true, 0) },
		"429 with Retry-After": func() audit.Review { return fails(429, true, 7*time.Second) },
		"503":                  func() audit.Review { return fails(503, true, 0) },
		"broken":               func() audit.Review { return fails(0, true, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &reviewer{name: "m", provider: "p",
					wait: func(context.Context) { time.Sleep(time.Second) }}
				var answered atomic.Pointer[time.Time]
				r.review = func(n int64, _ audit.ReviewTask) (audit.Review, error) {
					if n <= 20 {
						now := time.Now()
						answered.Store(&now)
						return says(audit.Bad, 0), nil
					}
					return failure(), nil
				}
				c := run.Config{Store: &memory{}, Budget: math.Inf(1), Attempts: 1000,
					MaxWait: time.Hour}
				sum := finish(t, t.Context(), c, items(trials(600, r)))
				require.LessOrEqual(t, time.Since(*answered.Load()), 2*time.Minute,
					"a minute, and one wait between two tries")
				require.Contains(t, sum.Stops[0], "p has answered nothing for 1m")
				require.Equal(t, 600, sum.State.Done)
			})
		})
	}
}

// Audits that wait for a provider that says nothing end the run with the first ones.
func TestAuditsWithoutAnAnswerEndTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, runs := time.Now(), atomic.Int64{}
		var audits []*run.AuditTrial
		for i := range 10 {
			audits = append(audits, &run.AuditTrial{Project: "p", Auditor: "a", Index: i, Export: "e",
				Settings: "v1", Provider: "key", Longest: 40 * time.Minute,
				Cost: run.Cost{Known: true},
				Once: func(context.Context, float64) (audit.AuditRun, string, error) {
					time.Sleep(40*time.Minute + time.Duration(runs.Add(1))*time.Second)
					return audit.AuditRun{Invalid: "no report within 40m", Transient: true}, "/dir", nil
				}})
		}
		c := run.Config{Store: &memory{}, Budget: math.Inf(1), Concurrency: 2, Attempts: 2}
		items := run.AuditJobs(c.Store, audits)
		var all []run.Job
		for i := range items.Count {
			it := items.At(i)
			it.Keep = nil
			all = append(all, it)
		}
		sum := finish(t, t.Context(), c, all)
		require.EqualValues(t, 2, runs.Load())
		require.Less(t, time.Since(began), 41*time.Minute)
		require.Equal(t, "key has answered nothing for 40m2s: no report within 40m", sum.Stops[0])
		require.Equal(t, 8, sum.State.Outcome(audit.OutcomeSkipped))
	})
}

// While a try goes on in silence, the run says until when.
func TestSilenceIsAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		a := &run.AuditTrial{Project: "p", Auditor: "a", Export: "e", Settings: "v1",
			Longest: 40 * time.Minute, Cost: run.Cost{Known: true},
			Once: func(context.Context, float64) (audit.AuditRun, string, error) {
				time.Sleep(40 * time.Minute)
				return whole("", 0), "/dir", nil
			}}
		var said []string
		var first time.Duration
		c := run.Config{Store: &memory{}, Budget: math.Inf(1), Progress: func(e run.Event) {
			if e.Kind == run.Waiting {
				if said = append(said, e.Text); first == 0 {
					first = time.Since(began)
				}
			}
		}}
		it := run.AuditJobs(c.Store, []*run.AuditTrial{a}).At(0)
		it.Keep = nil
		finish(t, t.Context(), c, []run.Job{it})
		require.Equal(t, time.Minute, first)
		require.Equal(t, "nothing was answered for 1m0s: 1 under way end by "+
			began.Add(40*time.Minute).Format("15:04:05")+" at the latest", said[0])
	})
}

// Servers that say nothing, drip, or refuse for ever end a run of each client soon after the
// clock that it is given.
func TestServersThatNeverAnswerEndTheRun(t *testing.T) {
	const stall, timeout = 300 * time.Millisecond, 600 * time.Millisecond
	for name, reply := range map[string]mockapi.Reply{
		"silence": {Stall: true},
		"a drip": {Piece: 1, Pause: 100 * time.Millisecond,
			Content: strings.Repeat("word ", 1000)},
		"429": {Status: 429, Body: `{"error":{"message":"slow down"}}`},
		"429 with Retry-After": {Status: 429, Header: map[string]string{"Retry-After": "1"},
			Body: `{"error":{"message":"slow down"}}`},
	} {
		for _, api := range []string{"chat", "responses", "messages"} {
			t.Run(name+", "+api, func(t *testing.T) {
				t.Parallel()
				s := mockapi.New(func(mockapi.Request) mockapi.Reply { return reply })
				defer s.Close()
				r, err := auditor.Chat(auditor.ChatConfig{Name: "m", Provider: "test",
					BaseURL: s.BaseURL, Timeout: timeout, Silence: timeout, Idle: timeout,
					Model: audit.Model{Name: "m", ID: "maker/m", In: 1, Out: 2, Priced: true,
						Settings: audit.ModelSettings{API: api}}})
				require.NoError(t, err)
				var said []string
				sum := finish(t, context.Background(),
					run.Config{Store: &memory{}, Budget: math.Inf(1), Concurrency: 2, Attempts: 1000,
						Stall:     stall,
						FirstWait: time.Millisecond, Progress: func(e run.Event) {
							if e.Kind == run.Waiting {
								said = append(said, e.Text)
							}
						}}, items(trials(12, r)))
				require.NotEmpty(t, sum.Stops, "without an end it would try a thousand times")
				require.Equal(t, 12, sum.State.Outcome(audit.OutcomeErrored)+
					sum.State.Outcome(audit.OutcomeSkipped))
				if name == "a drip" || name == "429 with Retry-After" {
					require.NotEmpty(t, said)
				}
			})
		}
	}
}
