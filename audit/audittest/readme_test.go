package audittest

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmeShowsWhatIsMeasured: the tables of README.md are what the suites say
// of this repository, to the letter.
func TestReadmeShowsWhatIsMeasured(t *testing.T) {
	t.Setenv("ASSAY_ROOT", "")
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	s := New(flags)
	s.own = "../.."
	require.NoError(t, flags.Parse(nil))
	f := play(t, "TestSmoke", s.Smoke)
	require.Empty(t, f.complaints())
	f = play(t, "TestRegression", s.Regression)
	require.Empty(t, f.complaints())
	var b strings.Builder
	s.summary.print(&b)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		require.Contains(t, string(readme), strings.TrimRight(line, " ")+"\n", "README.md shows another table: paste what go test -run 'Smoke|Regression|Bench' prints")
	}
}
