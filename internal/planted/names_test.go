package planted

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestNamesAreWholeWords: names are replaced where a regular expression finds them as
// whole words, the longest of those that begin at one place.
func TestNamesAreWholeWords(t *testing.T) {
	names := map[string]string{"a": "1", "a-b": "2", "b-c": "3", "b--c": "4", "a_b": "5",
		"a-b-c-d": "6"}
	longest := slices.Sorted(maps.Keys(names))
	slices.SortStableFunc(longest, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	whole := regexp.MustCompile(`\b(?:` + strings.Join(longest, "|") + `)\b`)
	piece := rapid.SampledFrom([]string{"a", "b", "c", "d", "-", "--", "_", " ", ".", "é"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(piece).Draw(t, "text"), "")
		want := whole.ReplaceAllStringFunc(text, func(w string) string { return names[w] })
		require.Equal(t, want, renamer{names: names}.apply(text))
	})
}
