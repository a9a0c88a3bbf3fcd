package record

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// A comparison with a baseline measures what changed since; the baseline knows.
func TestWhatChangedSinceABenchBaseline(t *testing.T) {
	dir := t.TempDir()
	b := &BenchBaseline{Reviewer: "m", Prompt: "p", Score: score.Version,
		Asked:   []Asked{{"aaa", "s", "m-1"}, {"aaa", "s", "m-2"}},
		Answers: []BenchAnswer{{Case: "a/b-01-good", Outcome: audit.OutcomeCorrect}}}
	require.NoError(t, b.Write(dir))
	read, err := ReadBench(os.DirFS(dir), ".", "m", "p")
	require.NoError(t, err)
	require.Equal(t, b, read)

	require.Empty(t, read.Changed([]Asked{{"aaa", "s", "m-2"}, {"aaa", "s", "m-1"}}),
		"in any order")
	require.Equal(t, []string{
		"the prompt changed since the baseline: bbb, and was aaa",
		"the model as served changed since the baseline: not stated, and was m-1, m-2",
	}, read.Changed([]Asked{{PromptHash: "bbb", SettingsHash: "s"}}))
	require.Empty(t, (&BenchBaseline{}).Changed([]Asked{{PromptHash: "bbb"}}),
		"a baseline that does not say is compared as before")
}
