package score_test

import (
	"os"
	"path/filepath"
	"strings"
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
		if strings.HasSuffix(name, ".reviews.md") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			p, err := fixture.ReadProject(os.DirFS("../.."), "fixtures/projects/"+name)
			require.NoError(t, err)
			r, err := score.Score(score.Input{Project: p, Findings: score.AsFindings(p),
				Dimensions: realDimensions(t), Rounds: 100})
			require.NoError(t, err)
			requirePerfect(t, r)
			require.Greater(t, r.Metrics.Recall.V, r.Metrics.Chance.P99.V)
		})
	}
}

// 80 random findings on DataEase's own tree, with its own key: the attack that
// made the narrow matching necessary.
func TestRandomFindingsOnDataEase(t *testing.T) {
	p, err := fixture.ReadProject(os.DirFS("../.."), "fixtures/projects/dataease.md")
	require.NoError(t, err)
	for name, f := range p.Tree {
		if f.Lines == 0 {
			delete(p.Tree, name) // nobody points at a line of an empty file
		}
	}
	dims := realDimensions(t)
	most, literal := 0.0, 0.0
	const draws = 50
	for seed := range uint64(draws) {
		r, err := score.Score(score.Input{Project: p, Findings: randomFindings(p, 80, seed),
			Dimensions: dims, Rounds: -1})
		require.NoError(t, err)
		most = max(most, r.Metrics.Recall.V)
		literal += r.Methodology.Recall.V / draws
	}
	t.Logf("80 random findings: recall at most %.2f %%; by the literal %.1f %% on average",
		100*most, 100*literal)
	require.Less(t, most, 0.02)
	require.Greater(t, literal, 0.05)
}
