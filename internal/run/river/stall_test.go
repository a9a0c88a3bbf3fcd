package river_test

import (
	"math"
	"sync/atomic"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/auditor"
	"assay/internal/run"
	"assay/internal/run/river"
	"assay/internal/run/testdata/mockapi"

	"github.com/stretchr/testify/require"
)

// A provider that refuses everything from some request on, or says nothing, ends the run of
// several workers, which says meanwhile what it waits for.
func TestAProviderThatAnswersNothingEndsTheRun(t *testing.T) {
	t.Parallel()
	const stall, timeout = 500 * time.Millisecond, 2 * time.Second
	for name, reply := range map[string]mockapi.Reply{
		"429": {Status: 429, Body: `{"error":{"message":"slow down"}}`},
		"429 with Retry-After": {Status: 429, Header: map[string]string{"Retry-After": "1"},
			Body: `{"error":{"message":"slow down"}}`},
		"silence": {Stall: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			s := mockapi.New(func(mockapi.Request) mockapi.Reply {
				if n.Add(1) > 10 {
					return reply
				}
				return mockapi.Reply{Cost: 0.00001}
			})
			defer s.Close()
			r, err := auditor.Chat(auditor.ChatConfig{Name: "m", Provider: "mock",
				BaseURL: s.BaseURL, Key: "sk-test", KeyName: "ASSAY_API_KEY", MaxTokens: 100,
				Model: audit.Model{Name: "m", ID: "maker/m", Priced: true}, Timeout: timeout,
				Silence: timeout})
			require.NoError(t, err)
			db, h := open(t, database(t)), newHouse(trials(60, r))
			var said []string
			planned := h.enqueue(t, db, run.Config{Concurrency: 4, Budget: math.Inf(1),
				Attempts: 1000, Stall: stall, FirstWait: 10 * time.Millisecond,
				Progress: func(e run.Event) {
					if e.Kind == run.Waiting {
						said = append(said, e.Text)
					}
				}})
			for range 2 {
				work(t, db, river.Worker{Rebuild: h.rebuild})
			}
			sum, err := planned.Finish()
			require.NoError(t, err)
			require.NotEmpty(t, sum.Stops, "without an end it would try a thousand times")
			require.Contains(t, sum.Stops[0], "mock has answered nothing for ")
			require.Equal(t, 10, account(t, db, planned.ID, 60)[audit.OutcomeCorrect]+
				account(t, db, planned.ID, 60)[audit.OutcomeWrong])
			// Where requests end at once, the run may be over before it is looked at again.
			require.True(t, len(said) > 0 || name != "silence")
			for _, text := range said {
				require.Regexp(t, `^nothing was answered for .*: (\d under way end by [\d:]{8} at the `+
					`latest|the next request goes out by [\d:]{8})$`, text)
			}
		})
	}
}
