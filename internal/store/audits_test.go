package store_test

import (
	"context"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/store"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// audits are kept with all that they left behind; a second row for a trial of a
// run is dropped, and only those that count are found again.
func audits(t *testing.T, e engine) {
	where, ctx := e.fresh(t), context.Background()
	s := open(t, where)
	require.NoError(t, s.Begin(ctx, store.Run{ID: "r1", Suite: "Regression", Started: day}))
	require.NoError(t, s.Begin(ctx, store.Run{ID: "r2", Started: day}))
	want := store.Audit{Run: "r1", Trial: "k1", Time: day, Project: "dvja", Auditor: "claude",
		Index: 2, Outcome: audit.OutcomeCorrect,
		Version: "1.2", Model: "m-2026", Tries: 2, EarlyEnds: 1,
		Usage: audit.Usage{TokensIn: 5 << 32, TokensOut: 7, Turns: 31, USD: 1.25, Priced: true},
		Wall:  90 * time.Minute, Kept: []byte{0, 1, 0xff, '\n'}, Attempts: attempts()}
	require.NoError(t, s.PutAudit(ctx, want))
	second := want
	second.Detail, second.Attempts = "another", nil
	require.NoError(t, s.PutAudit(ctx, second))
	broken := store.Audit{Run: "r1", Trial: "k2", Time: day.Add(time.Second), Project: "dvja\x00",
		Auditor: "codex", Outcome: audit.OutcomeMalformed, Detail: "it ended early"}
	require.NoError(t, s.PutAudit(ctx, broken))
	require.Error(t, s.PutAudit(ctx, store.Audit{Trial: "k3"}))

	at, err := s.Attempts(ctx, "r1", "k1")
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(want.Attempts, at), "-want +got")
	found, err := s.PriorAudits(ctx, nil, []string{"k1", "k2", "k3"})
	require.NoError(t, err)
	require.Len(t, found, 1, "what proves nothing is no answer")
	final, err := s.PriorAudits(ctx, []string{"r1", "r2"}, []string{"k1", "k2", "k3"})
	require.NoError(t, err)
	require.Len(t, final, 2, "within a run whatever was no error is final")
	want.Attempts = nil
	require.Empty(t, cmp.Diff(want, found["k1"]), "-want +got")
	newer := want
	newer.Run, newer.Time, newer.Version = "r2", day.Add(time.Hour), "1.3"
	require.NoError(t, s.PutAudit(ctx, newer))
	found, err = s.PriorAudits(ctx, nil, []string{"k1"})
	require.NoError(t, err)
	require.Equal(t, "1.3", found["k1"].Version)

	db, err := e.open(where)
	require.NoError(t, err)
	defer db.Close()
	var rows int
	require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM audits").Scan(&rows))
	require.Equal(t, 3, rows)
	require.Empty(t, all(t, s, store.Query{}), "they are no evaluations")

	rs, err := s.Runs(ctx)
	require.NoError(t, err)
	suites := map[string]string{}
	for _, r := range rs {
		suites[r.ID] = r.Suite
	}
	require.Equal(t, map[string]string{"r1": "Regression", "r2": "Bench"}, suites)
	require.NoError(t, s.Close())
	ro, err := store.OpenReadOnly(ctx, where)
	require.NoError(t, err)
	defer ro.Close()
	require.ErrorIs(t, ro.PutAudit(ctx, want), store.ErrReadOnly)
}
