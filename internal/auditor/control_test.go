package auditor

import (
	"context"
	"testing"

	"assay/audit"

	"github.com/stretchr/testify/require"
)

func TestWordsControl(t *testing.T) {
	spec := "# Notes\n\n## Requirements\n\n1. A note is read by its owner alone.\n2. Notes that were deleted are never\n   shown again.\n\nAnything else.\n"
	for _, tt := range []struct {
		name, code string
		want       audit.Label
		violates   []int
	}{
		{"both words", "select text from notes where owner_id = $1 and deleted_at is null",
			audit.Good, nil},
		{"one missing", "select text from notes where owner_id = $1", audit.Bad, []int{2}},
		{"a comment is no code", "select text from notes where owner_id = $1 -- not deleted",
			audit.Bad, []int{2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rev, err := Control("control-words").Review(context.Background(),
				audit.ReviewTask{Spec: spec, Language: "sql", Code: tt.code})
			require.NoError(t, err)
			require.Equal(t, tt.want, rev.Verdict, rev.Explanation)
			require.Equal(t, tt.violates, rev.Violates)
		})
	}
}
