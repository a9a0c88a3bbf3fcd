package score_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// trialProject has n entries, one a file.
func trialProject(n int) *audit.Project {
	p := &audit.Project{Name: "p", KeyHash: "k", Tree: audit.Tree{}}
	for i := range n {
		f := fmt.Sprintf("f%02d.go", i)
		p.Vulnerabilities = append(p.Vulnerabilities, audit.Vulnerability{ID: fmt.Sprintf("K-%02d", i),
			Dimension: audit.Injection, CWEs: []audit.CWE{89}, File: f,
			Lines: audit.Range{Start: 40, End: 40}})
		p.Tree[f] = audit.TreeFile{Path: f, Lines: 1000}
	}
	return p
}

// trial finds the entries of that number, and claims something off the key at the
// lines.
func trial(t *testing.T, p *audit.Project, found []int, offKey ...int) *score.Result {
	t.Helper()
	var fs []audit.Finding
	for _, i := range found {
		fs = append(fs, audit.Finding{CWEs: []audit.CWE{89}, File: p.Vulnerabilities[i].File,
			Lines: audit.Range{Start: 38 + i%4, End: 42}})
	}
	for _, l := range offKey {
		fs = append(fs, audit.Finding{CWEs: []audit.CWE{22}, File: "f00.go",
			Lines: audit.Range{Start: l, End: l}})
	}
	r, err := score.Score(score.Input{Project: p, Findings: fs, Rounds: -1,
		Dimensions: map[audit.CWE]audit.Dimension{89: audit.Injection, 22: audit.FileOps}})
	require.NoError(t, err)
	return r
}

// TestOverTrialsByHand: three trials on four entries, found 3, 2, 1 and 0 times.
func TestOverTrialsByHand(t *testing.T) {
	p := trialProject(4)
	got, err := score.OverTrials([]*score.Result{
		trial(t, p, []int{0, 1, 2}, 500, 600), trial(t, p, []int{0, 1, 1}, 500, 500),
		trial(t, p, []int{0}, 500),
	})
	require.NoError(t, err)
	require.Equal(t, 3, got.N)
	require.Equal(t, []score.EntryTrials{{"K-00", 3}, {"K-01", 2}, {"K-02", 1}, {"K-03", 0}},
		got.Entries)
	// pass@1 = (1 + 2/3 + 1/3 + 0)/4; pass@2 = (1 + 1 + 2/3 + 0)/4; pass@3 = 3/4.
	require.InDeltaSlice(t, []float64{0.5, 8.0 / 12, 0.75}, got.PassAt, 1e-12)
	// pass^2 = (1 + 1/3 + 0 + 0)/4; pass^3 = 1/4.
	require.InDeltaSlice(t, []float64{0.5, 4.0 / 12, 0.25}, got.PassAll, 1e-12)
	require.Equal(t, score.TrialSet{Known: 3, Others: 2, Recall: score.Of(0.75), Findings: 5},
		got.Union)
	require.Equal(t, score.TrialSet{Known: 1, Others: 1, Recall: score.Of(0.25), Findings: 2},
		got.Intersection)
}

// TestOverTrialsByEnumeration: the formulas against every choice of k trials.
func TestOverTrialsByEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := trialProject(7)
	for range 20 {
		n := 1 + r.IntN(5)
		var rs []*score.Result
		found := make([]map[int]bool, n)
		for i := range n {
			var fs []int
			found[i] = map[int]bool{}
			for e := range p.Vulnerabilities {
				if r.IntN(2) == 0 {
					fs, found[i][e] = append(fs, e), true
				}
			}
			rs = append(rs, trial(t, p, fs))
		}
		got, err := score.OverTrials(rs)
		require.NoError(t, err)
		at, all, choices := make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
		for choice := 1; choice < 1<<n; choice++ {
			k := 0
			for e := range p.Vulnerabilities {
				k = 0
				some, every := false, true
				for i := range n {
					if choice>>i&1 == 1 {
						k++
						some = some || found[i][e]
						every = every && found[i][e]
					}
				}
				if some {
					at[k]++
				}
				if every {
					all[k]++
				}
			}
			choices[k] += float64(len(p.Vulnerabilities))
		}
		for k := 1; k <= n; k++ {
			require.InDelta(t, at[k]/choices[k], got.PassAt[k-1], 1e-12)
			require.InDelta(t, all[k]/choices[k], got.PassAll[k-1], 1e-12)
		}
		require.InDelta(t, got.PassAt[n-1], got.Union.Recall.V, 1e-12)
		require.InDelta(t, got.PassAll[n-1], got.Intersection.Recall.V, 1e-12)
	}
}

func TestOverTrialsRefuses(t *testing.T) {
	_, err := score.OverTrials(nil)
	require.ErrorContains(t, err, "no trial")
	p := trialProject(2)
	other := trialProject(2)
	other.KeyHash = "another"
	_, err = score.OverTrials([]*score.Result{trial(t, p, nil), trial(t, other, nil)})
	var mismatch *score.MismatchError
	require.ErrorAs(t, err, &mismatch)
}
