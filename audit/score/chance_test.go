package score_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// One entry at line 50 of a file with 100 lines, one finding of one line: a drawn
// line is in scope from 40 to 60, 21 of 100. The finding's CWE is the parent of
// the entry's, so it takes no half elsewhere; the entry's own would, and the
// expectation is 0.21 + 0.79/2.
func TestChanceByHand(t *testing.T) {
	p := &audit.Project{Name: "one", Vulnerabilities: []audit.Vulnerability{known("K", "a.java", 50, 50, 89)},
		Tree: audit.Tree{"a.java": {Path: "a.java", Lines: 100},
			"readme.md": {Path: "readme.md", Lines: 5000}}}
	for c, want := range map[audit.CWE]float64{943: 0.21, 89: 0.605} {
		r, err := score.Score(score.Input{Project: p,
			Findings: []audit.Finding{finding("F", "a.java", 50, 50, c)}, Dimensions: dims,
			Rounds: 20000})
		require.NoError(t, err)
		require.InDelta(t, want, r.Metrics.Chance.Mean.V, 0.01, "%v", c)
		require.Equal(t, score.Of(1), r.Metrics.Chance.P99)
		require.InDelta(t, 1, r.Metrics.Corrected.V, 1e-9)
		require.Equal(t, 20000, r.Metrics.Chance.Rounds)
	}
	// Two files of one kind: half of the draws.
	p.Tree["b.java"] = audit.TreeFile{Path: "b.java", Lines: 100}
	r, err := score.Score(score.Input{Project: p,
		Findings: []audit.Finding{finding("F", "a.java", 50, 50, 943)}, Dimensions: dims,
		Rounds: 20000})
	require.NoError(t, err)
	require.InDelta(t, 0.105, r.Metrics.Chance.Mean.V, 0.01)
	require.Equal(t, score.Of(0), r.Methodology.Recall, "the literal knows no parents")
}

// The corroborated entry is one of two alike in files of one size: by lot it gets
// half of what both get.
func TestChanceOfTheCorroboratedPart(t *testing.T) {
	p := &audit.Project{Name: "two", Vulnerabilities: []audit.Vulnerability{known("K", "a.java", 50, 50, 89),
		known("L", "b.java", 50, 50, 89)},
		Tree: audit.Tree{"a.java": {Path: "a.java", Lines: 100},
			"b.java": {Path: "b.java", Lines: 100}}}
	p.Vulnerabilities[0].Corroborated = []string{"an advisory"}
	r, err := score.Score(score.Input{Project: p,
		Findings: []audit.Finding{finding("F", "b.java", 50, 50, 943)}, Dimensions: dims,
		Rounds: 20000})
	require.NoError(t, err)
	c := r.Metrics.Corroborated
	require.Equal(t, score.Of(0), c.Recall)
	require.Zero(t, c.Counted, "the finding matched the other entry: it stands aside")
	require.False(t, c.Precision.Low.Defined)
	// of one entry: 21 of 100 lines, half of the draws
	require.InDelta(t, 0.105, c.Chance.Mean.V, 0.01)
	require.InDelta(t, 0.105, r.Metrics.Chance.Mean.V, 0.01)
	require.InDelta(t, -0.105/0.895, c.Corrected.V, 0.01, "worse than chance")
}

// Of r rounds the 99th percentile is the value that 99 % do not exceed.
func TestChancePercentile(t *testing.T) {
	p := &audit.Project{Name: "many", Tree: audit.Tree{"a.java": {Path: "a.java", Lines: 20000}}}
	var fs []audit.Finding
	for i := range 40 {
		p.Vulnerabilities = append(p.Vulnerabilities, known(fmt.Sprintf("K%02d", i), "a.java", 100+400*i,
			100+400*i, 89))
		fs = append(fs, finding("F", "a.java", 1, 1, 943))
	}
	r, err := score.Score(score.Input{Project: p, Findings: fs, Dimensions: dims, Rounds: 2000})
	require.NoError(t, err)
	// 40 draws that hit with chance 21*40/20000 = 4.2 %: about 1.7 entries, at most
	// 5 in 99 % of the rounds (binomial: P(X <= 4) = 0.972, P(X <= 5) = 0.994).
	require.InDelta(t, 1.65/40, r.Metrics.Chance.Mean.V, 0.005)
	require.InDelta(t, 5.0/40, r.Metrics.Chance.P99.V, 1e-9)
}
