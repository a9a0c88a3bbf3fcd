package suite

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/seal"
)

// TestWhatIsRememberedStandsInTheDocuments holds the two rows of docs/maintainers/recordings.md
// that say what memory alone finds on the trees as everybody knows them, and on the
// sealed exports: they shift with keys, seals and judge.
func TestWhatIsRememberedStandsInTheDocuments(t *testing.T) {
	fsys := os.DirFS("../..")
	dimensions, err := fixture.ReadDimensions(fsys, "fixtures/dimensions.md")
	require.NoError(t, err)
	pinned, sealed := "| pinned tree |", "| sealed export |"
	for _, name := range []string{"webgoat", "dvja", "pygoat", "juice-shop", "go-test-bench", "dvwa", "dataease"} {
		p, err := fixture.ReadProject(fsys, "fixtures/projects/"+name+".md")
		require.NoError(t, err)
		recall := func(names seal.Names) string {
			files := fstest.MapFS{}
			for file := range p.Tree {
				files[names.Hide(file)] = &fstest.MapFile{}
			}
			for file := range p.Others {
				files[names.Hide(file)] = &fstest.MapFile{}
			}
			found, err := auditor.MemoryControl(files)
			require.NoError(t, err)
			r, err := score.Score(score.Input{Project: p, Findings: names.Reveal(found), Dimensions: dimensions, Rounds: -1})
			require.NoError(t, err)
			return r.Metrics.Recall.String()
		}
		pinned += " " + recall(nil) + " |"
		sealed += " " + recall(p.Renames) + " |"
	}
	page, err := os.ReadFile("../../docs/maintainers/recordings.md")
	require.NoError(t, err)
	for _, row := range []string{pinned, sealed} {
		require.True(t, strings.Contains(string(page), "\n"+row+"\n"), "docs/maintainers/recordings.md should have the row\n%s", row)
	}
}
