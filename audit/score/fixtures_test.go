package score_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit/fixture"
	"assay/audit/score"
)

// Each key of this repository, played back as findings, scores 1 everywhere. A
// key that fails here has two entries that cannot be told apart, an entry that a
// decoy swallows, or a place that is not in its tree.
func TestEveryKeyPlayedBackScoresOne(t *testing.T) {
	files, err := filepath.Glob("../../fixtures/projects/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			p, err := fixture.ReadProject(os.DirFS("../.."), "fixtures/projects/"+name)
			require.NoError(t, err)
			r, err := score.Score(score.Input{Project: p, Findings: score.AsFindings(p), Dimensions: realDimensions(t), Rounds: 100})
			require.NoError(t, err)
			requirePerfect(t, r)
			require.Greater(t, r.Metrics.Recall.V, r.Metrics.Chance.P99.V)
		})
	}
}
