package score_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

var injection = map[audit.CWE]audit.Dimension{89: "Injection"}

func injectionAt(file, function string, line int) audit.Finding {
	return audit.Finding{CWEs: []audit.CWE{89}, File: file, Function: function,
		Lines: audit.Range{Start: line, End: line}}
}

// TestAFixHasSeveralPlaces holds that any place of a fix is right, once, and that nothing
// beside them earns partial credit.
func TestAFixHasSeveralPlaces(t *testing.T) {
	p := &audit.Project{Name: "shop",
		Vulnerabilities: []audit.Vulnerability{{ID: "F01", Dimension: "Injection", CWEs: []audit.CWE{89},
			File:      "a.go",
			Functions: []string{"find"}, Lines: audit.Range{Start: 10, End: 12}, Title: "x",
			Places: []audit.Place{
				{File: "a.go", Function: "find", Lines: audit.Range{Start: 10, End: 12}},
				{File: "a.go", Function: "list", Lines: audit.Range{Start: 100, End: 101}},
				{File: "b.go", Lines: audit.Range{Start: 5, End: 5}}}}}}
	for _, c := range []struct {
		finding audit.Finding
		want    float64
	}{
		{injectionAt("a.go", "", 20), 1}, {injectionAt("a.go", "list", 300), 1},
		{injectionAt("a.go", "", 95), 1},
		{injectionAt("b.go", "", 14), 1}, {injectionAt("b.go", "", 16), 0},
		{injectionAt("a.go", "other", 50), 0},
	} {
		r, err := score.Score(score.Input{Project: p, Findings: []audit.Finding{c.finding},
			Dimensions: injection, Rounds: -1})
		require.NoError(t, err)
		require.Equal(t, c.want, r.Known[0].Credit, "%v", c.finding)
	}
	r, err := score.Score(score.Input{Project: p, Dimensions: injection, Rounds: -1,
		Findings: []audit.Finding{injectionAt("a.go", "find", 11), injectionAt("b.go", "", 5)}})
	require.NoError(t, err)
	require.Equal(t, 1.0, r.Metrics.Credit, "one fix, one entry")
	require.Equal(t, score.Duplicate, r.Findings[1].Disposition)
	require.Equal(t, 1.0, r.Metrics.Precision.Low.V, "all that it reports is in the table")
	r, err = score.Score(score.Input{Project: p, Dimensions: injection, Rounds: -1,
		Findings: []audit.Finding{injectionAt("a.go", "find", 11), injectionAt("c.go", "", 5)}})
	require.NoError(t, err)
	require.False(t, r.Metrics.Precision.Low.Defined, "nobody knows whether the other is right")
	require.False(t, r.Metrics.F1.High.Defined)
}

// TestAMendedTree holds that what is not reported is right where the flaw is gone.
func TestAMendedTree(t *testing.T) {
	p := &audit.Project{Name: "shop.mended", Mended: true}
	for i, file := range []string{"a.go", "b.go", "c.go"} {
		at := audit.Place{File: file, Function: "f", Lines: audit.Range{Start: 1, End: 2}}
		p.Vulnerabilities = append(p.Vulnerabilities, audit.Vulnerability{ID: []string{"F01", "F02", "F03"}[i],
			Dimension: "Injection", CWEs: []audit.CWE{89},
			File: file, Functions: []string{"f"}, Lines: at.Lines, Title: "x",
			Places: []audit.Place{at}})
	}
	r, err := score.Score(score.Input{Project: p, Dimensions: injection,
		Findings: []audit.Finding{injectionAt("b.go", "", 1)}})
	require.NoError(t, err)
	require.InDelta(t, 2.0/3, r.Metrics.Recall.V, 1e-9)
	require.Equal(t, []float64{1, 0, 1}, []float64{r.Known[0].Credit, r.Known[1].Credit,
		r.Known[2].Credit})
	require.Equal(t, score.DecoyHit, r.Findings[0].Disposition)
	require.False(t, r.Metrics.Chance.Mean.Defined)
}
