package score_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit/score"
)

// TestEntriesByID: a key whose rows were only put in another order keeps its hash, so
// results made before and after are compared, entry by entry.
func TestEntriesByID(t *testing.T) {
	p := trialProject(12)
	before := trial(t, p, []int{0, 1, 2})
	slices.Reverse(p.Vulnerabilities)
	after := trial(t, p, []int{11, 10, 9}) // the same entries

	both := score.AuditedByTwo{A: []*score.Result{before}, B: []*score.Result{after}}
	same, err := score.CompareAuditors(score.AuditedByTwo{A: both.A, B: both.A})
	require.NoError(t, err)
	c, err := score.CompareAuditors(both)
	require.NoError(t, err)
	require.Equal(t, same, c)
	require.Empty(t, score.FoundBy(both.A, both.B))

	all, err := score.OverTrials([]*score.Result{before, after})
	require.NoError(t, err)
	require.Equal(t, []float64{0.25, 0.25}, all.PassAll)

	other := trial(t, p, []int{11, 8})
	found := score.FoundBy([]*score.Result{other}, both.A)
	require.Len(t, found, 1)
	require.Equal(t, "K-03", found[0].ID)
	require.Len(t, score.FoundBy([]*score.Result{other}, nil), 2)
	require.Empty(t, score.FoundBy(nil, both.A))
}
