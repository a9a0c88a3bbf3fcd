package run_test

import (
	"cmp"
	"context"
	"io"
	"math"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/auditor"
	"assay/internal/run"
	"assay/internal/run/testdata/mockapi"

	"github.com/stretchr/testify/require"
)

// One process is held to what workers are held to (internal/run/river).
func TestSituations(t *testing.T) {
	for _, u := range mockapi.Situations {
		t.Run(u.Name, func(t *testing.T) {
			t.Parallel()
			s := mockapi.New(u.Script)
			defer s.Close()
			r, err := auditor.Chat(auditor.ChatConfig{Name: "m", Provider: "mock",
				BaseURL: s.BaseURL, Key: canary, KeyName: "ASSAY_API_KEY", MaxTokens: 100,
				Model:   audit.Model{Name: "m", ID: "maker/m", In: 0.15, Out: 0.60, Priced: true},
				Timeout: 20 * time.Second})
			require.NoError(t, err)
			defer r.(io.Closer).Close()
			its := items(trials(u.Trials, r))
			sum := finish(t, context.Background(),
				run.Config{Store: open(t), Budget: cmp.Or(u.Budget, math.Inf(1)),
					Concurrency: u.Most, Attempts: u.Tries, MaxWait: u.MaxWait,
					FirstWait: 10 * time.Millisecond}, its)
			answered := sum.State.Outcome(audit.OutcomeCorrect) +
				sum.State.Outcome(audit.OutcomeWrong)
			require.NoError(t,
				u.Holds(s, mockapi.Ended{Answered: answered,
					Skipped: sum.State.Outcome(audit.OutcomeSkipped),
					Spent:   sum.State.Spent, Unsure: sum.Unsure, Over: sum.Over, Stops: sum.Stops},
					its[0].Cost.Most))
		})
	}
}
