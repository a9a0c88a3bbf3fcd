package score_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// plantedProject has two bad sites and two good ones, each a function of 10 lines.
func plantedProject() *audit.Project {
	p := project(known("B1", "a.java", 12, 14, 89), known("B2", "a.java", 112, 114, 862))
	p.Decoys = []audit.Decoy{decoy("G1", "a.java", 212, 214, 89), decoy("G2", "b.java", 12, 14, 79)}
	p.Vulnerabilities[0].Functions, p.Vulnerabilities[1].Functions = []string{"find"}, []string{"drop"}
	p.Decoys[0].Functions, p.Decoys[1].Functions = []string{"list"}, []string{"show"}
	p.Planted = true
	return p
}

func TestPlacesDecideOnPlantedProjects(t *testing.T) {
	p := plantedProject()
	p.Tree["app.yml"] = audit.TreeFile{Path: "app.yml", Lines: 100}
	inFunction := audit.Finding{ID: "F", File: "a.java", Function: "drop"}
	for _, c := range []struct {
		f     audit.Finding
		want  score.Disposition
		entry string
	}{
		{finding("the site's weakness", "a.java", 12, 12, 89), score.Matched, "B1"},
		{finding("another one", "a.java", 24, 24, 639), score.Matched, "B1"},
		{finding("none", "a.java", 12, 12), score.Matched, "B1"},
		{inFunction, score.Matched, "B2"},
		{finding("11 lines off", "a.java", 25, 25, 89), score.Unmatched, ""},
		{finding("a good site", "a.java", 213, 213, 502), score.DecoyHit, "G1"},
		{finding("its weakness elsewhere", "b.java", 100, 100, 89), score.Unmatched, ""},
	} {
		r := mustScore(t, p, c.f)
		require.Equal(t, c.want, r.Findings[0].Disposition, c.f.ID)
		require.Equal(t, c.entry, r.Findings[0].Match.Entry, c.f.ID)
		require.Equal(t, c.want == score.Matched, r.Metrics.Precision.Low.V == 1, c.f.ID)
		require.Zero(t, r.Metrics.Halves)
	}
	r := mustScore(t, p, finding("right", "a.java", 14, 14, 89),
		finding("nearer", "a.java", 12, 14, 79), inFunction)
	require.Equal(t, score.Of(1), r.Metrics.Recall)
	require.Equal(t, score.Of(0.5), r.Metrics.Classification,
		"of B1 and B2 one is named by its weakness")
}

// What names every site, with whatever weakness, finds everything and is worth nothing.
func TestEveryFunctionIsWorthNothing(t *testing.T) {
	p := plantedProject()
	var carpet []audit.Finding
	for file, names := range map[string][]string{"a.java": {"find", "drop", "list", "more"},
		"b.java": {"show", "other"}} {
		for _, name := range names {
			carpet = append(carpet, audit.Finding{File: file, Function: name,
				CWEs: []audit.CWE{89}})
		}
	}
	scored := func(fs ...audit.Finding) score.Metrics {
		r, err := score.Score(score.Input{Project: p, Findings: fs, Dimensions: dims})
		require.NoError(t, err)
		return r.Metrics
	}
	m := scored(carpet...)
	require.Equal(t, score.Of(1), m.Recall)
	require.LessOrEqual(t, m.Corrected.V, 0.0)
	require.InDelta(t, 2.0/6, m.Precision.Low.V, 1e-9)
	m = scored(finding("F", "a.java", 12, 12, 89), finding("G", "a.java", 112, 112, 89))
	require.InDelta(t, 0.5, m.Chance.Mean.V, 0.05, "two of four sites, drawn at random")
	require.InDelta(t, 1, m.Corrected.V, 1e-9)
	p.Vulnerabilities = nil
	m = scored(finding("F", "a.java", 212, 212, 89))
	require.False(t, m.Recall.Defined, "an area without a vulnerability counts for false findings")
	require.Equal(t, score.Of(0), m.Precision.Low)
}

// All locations of a finding count, up to three.
func TestThreeLocationsOfAFindingCount(t *testing.T) {
	p := project(known("K", "a.java", 10, 10, 89), known("L", "b.java", 50, 50, 89))
	f := finding("F", "b.java", 300, 300, 89)
	at := func(file string, line int) audit.Step {
		return audit.Step{File: file,
			Lines: audit.Range{Start: line}}
	}
	f.Others = []audit.Step{at("b.java", 200), at("a.java", 12)}
	r := mustScore(t, p, f)
	require.Equal(t, "K; CWE-89; by lines, 2 lines off", r.Findings[0].Match.String())
	f.Others = append([]audit.Step{at("b.java", 100)}, f.Others...)
	require.Equal(t, score.Partial, mustScore(t, p, f).Findings[0].Disposition, "the fourth does not")
	f.Others = []audit.Step{at("a.java", 12), at("b.java", 50)}
	require.Equal(t, "L; CWE-89; by lines, lines overlap",
		mustScore(t, p, f).Findings[0].Match.String(), "the nearest entry")
	require.Equal(t, 1.0, mustScore(t, p, f).Metrics.Credit, "one finding takes one entry")
}
