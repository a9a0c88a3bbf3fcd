package suite

import (
	"flag"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmeShowsWhatIsMeasured: the tables of README.md are what the suites say
// of this repository, to the literal.
func TestReadmeShowsWhatIsMeasured(t *testing.T) {
	t.Setenv("ASSAY_ROOT", "")
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	s := New(Options{Flags: flags, Own: os.DirFS("../.."), Out: t.TempDir()})
	require.NoError(t, flags.Parse(nil))
	f := play(t, "TestSmoke", s.Smoke)
	require.Empty(t, f.complaints())
	f = play(t, "TestRegression", s.Regression)
	require.Empty(t, f.complaints())
	var b strings.Builder
	s.summary.print(&b, true)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		require.Contains(t, string(readme), strings.TrimRight(line, " ")+"\n", "README.md shows another table: paste what go test -run 'Smoke|Regression|Bench' prints")
	}
	holdCorroborated(t, f)
}

// holdCorroborated: docs/recordings.md shows the figures for the corroborated part
// of each key, to the literal.
func holdCorroborated(t *testing.T, regression *fake) {
	t.Helper()
	var rows []string
	for _, project := range regression.children {
		for _, auditor := range project.children {
			figures, ok := auditor.attrs["corroborated"]
			require.True(t, ok, "%s: the key corroborates nothing", auditor.name)
			rows = append(rows, "| "+path.Base(project.name)+" | "+path.Base(auditor.name)+" | "+figures+" |")
		}
	}
	require.NotEmpty(t, rows)
	slices.Sort(rows)
	page, err := os.ReadFile("../../docs/recordings.md")
	require.NoError(t, err)
	if table := strings.Join(rows, "\n") + "\n"; !strings.Contains(string(page), table) {
		t.Errorf("docs/recordings.md: the table of the corroborated part is another one: expected these rows\n%s", table)
	}
}
