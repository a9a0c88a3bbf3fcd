package run_test

import (
	"context"
	"math"
	"os"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/auditor"
	"assay/internal/run"
	"assay/internal/run/testdata/mockapi"

	"github.com/stretchr/testify/require"
)

// Stalls of 30 seconds, with the timeouts as they are shipped: before the first
// word and in the middle of an answer they are sat out, and nothing is asked
// twice; a stream that never goes on is given up after a minute and asked for
// again. Takes most of two minutes: set ASSAY_SLOW.
func TestThirtySecondStalls(t *testing.T) {
	if os.Getenv("ASSAY_SLOW") == "" {
		t.Skip("takes most of two minutes: set ASSAY_SLOW=1")
	}
	const stall = 30 * time.Second
	for _, c := range []struct {
		name   string
		first  mockapi.Reply // to the first request for each trial
		tries  int
		atMost time.Duration
	}{
		{"before the response", mockapi.Reply{Cost: 0.001, Latency: stall}, 1, 2 * stall},
		{"before the first word", mockapi.Reply{Cost: 0.001, Think: stall}, 1, 2 * stall},
		{"in the middle of an answer", mockapi.Reply{Cost: 0.001, Nap: stall}, 1, 2 * stall},
		{"whole, not streamed", mockapi.Reply{Cost: 0.001, Whole: true, Latency: stall}, 1,
			2 * stall},
		{"for ever, in the middle", mockapi.Reply{Cost: 0.001, Stall: true, StallAfter: 700}, 2,
			4 * stall},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
				if r.Tries == 1 {
					return c.first
				}
				return mockapi.Reply{Cost: 0.001}
			})
			defer s.Close()
			m, err := auditor.Chat(auditor.ChatConfig{Name: "m", Provider: "mock",
				BaseURL: s.BaseURL, Key: canary,
				Model: audit.Model{Name: "m", ID: "maker/m", In: 0.15, Out: 0.60, Priced: true}})
			require.NoError(t, err)
			start, db := time.Now(), open(t)
			ts := trials(6, m)
			sum := finish(t, context.Background(), run.Config{Store: db, Budget: math.Inf(1),
				Concurrency: 6}, items(ts))
			require.Zero(t, sum.Unanswered(), "%v", sum.Run.Outcomes)
			require.Len(t, s.Requests(), 6*c.tries)
			require.GreaterOrEqual(t, time.Since(start), stall)
			require.Less(t, time.Since(start), c.atMost)
			wholeAndOnce(t, db, ts, sum.Run.ID)
			t.Logf("%d requests in %s", len(s.Requests()), time.Since(start).Round(time.Second))
			require.NoError(t, m.(interface{ Close() error }).Close())
		})
	}
}
