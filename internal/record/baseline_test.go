package record

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit/score"
)

// A baseline falls only for a reason, whichever figure of the gate falls.
func TestABaselineMovesDownForAReasonOnly(t *testing.T) {
	dir := t.TempDir()
	rec := func(recall, precision, f1 float64) *Record {
		v := func(f float64) score.Value { return score.Value{V: f, Defined: true} }
		return &Record{Suite: "Regression", Date: time.Unix(1e9, 0), Auditor: "a", Project: "p", Trials: []Trial{{Result: &score.Result{Metrics: score.Metrics{Part: score.Part{Recall: v(recall), Precision: score.Span{Low: v(precision), High: v(precision)}, F1: score.Span{Low: v(f1), High: v(f1)}}}}}}}
	}
	require.NoError(t, WriteBaseline(dir, rec(0.5, 0.5, 0.5), ""))
	require.NoError(t, WriteBaseline(dir, rec(0.5, 0.6, 0.55), ""), "up needs no reason")

	err := WriteBaseline(dir, rec(0.6, 0.4, 0.48), "")
	require.ErrorIs(t, err, ErrLower)
	require.ErrorContains(t, err, "precision 40.0 % after 60.0 %, F1 48.0 % after 55.0 %")
	require.NotContains(t, err.Error(), "recall")
	kept, err := Baseline(os.DirFS(dir), ".", "a", "p")
	require.NoError(t, err)
	require.InDelta(t, 0.6, kept.Trials[0].Result.Metrics.Precision.Low.V, 1e-9, "what was there stays")

	require.NoError(t, WriteBaseline(dir, rec(0.6, 0.4, 0.48), "the new rules find more and err more"))
	kept, err = Baseline(os.DirFS(dir), ".", "a", "p")
	require.NoError(t, err)
	require.Equal(t, []string{"baseline lowered: precision 40.0 % after 60.0 %, F1 48.0 % after 55.0 %: the new rules find more and err more"}, kept.Notes)
}

// Runs print the name of a record's text; that name reads the record.
func TestARecordIsReadByTheNameThatRunsPrint(t *testing.T) {
	dir := t.TempDir()
	name, err := (&Record{Suite: "Regression", Auditor: "a", Project: "p", Date: time.Unix(0, 0).UTC()}).Write(dir)
	require.NoError(t, err)
	require.Equal(t, ".txt", filepath.Ext(name))
	r, err := Read(os.DirFS(dir), filepath.Base(name))
	require.NoError(t, err)
	require.Equal(t, "a", r.Auditor)
}
