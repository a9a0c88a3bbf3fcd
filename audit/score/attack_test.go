package score_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// The attackers below have read no code. They know the tree (every auditor sees
// it) and which CWEs are common; some know the key's files. Their scores are
// pinned: a change of the rules that helps one of them shows here.

// commonCWEs is the order of the CWE Top 25 of 2023.
var commonCWEs = []audit.CWE{787, 79, 89, 416, 78, 20, 125, 22, 352, 434, 862, 476, 287, 190, 502,
	77, 119, 798, 918, 306, 362, 269, 94, 863, 276}

// target is a synthetic project of the size of a larger benchmark: 1,500 Java
// files, 60 entries in 45 of them.
func target() *audit.Project {
	rng := rand.New(rand.NewPCG(11, 12))
	p := &audit.Project{Name: "target", Tree: audit.Tree{}}
	var names []string
	for i := range 1500 {
		n := fmt.Sprintf("core/src/main/java/io/target/m%02d/C%04d.java", i%37, i)
		names = append(names, n)
		p.Tree[n] = audit.TreeFile{Path: n, Lines: 30 + rng.IntN(400)}
	}
	cwes := [][]audit.CWE{{89, 564}, {79}, {22, 23}, {502}, {918}, {639, 566}, {798, 321}, {327},
		{328}, {306, 862},
		{287}, {200}, {532}, {434}, {352}, {78, 77}, {94}, {611}, {601}, {1395}}
	dims := map[audit.CWE]audit.Dimension{611: audit.Injection, 601: audit.BusinessLogic}
	for i := range 60 {
		file := names[(i%45)*31]
		at := 5 + rng.IntN(p.Tree[file].Lines-12)
		k := known(fmt.Sprintf("T-%02d", i), file, at, at+rng.IntN(6), cwes[i%len(cwes)]...)
		if k.Dimension == "" {
			k.Dimension = dims[k.CWEs[0]]
		}
		k.Functions = []string{fmt.Sprintf("handle%d", i)}
		p.Vulnerabilities = append(p.Vulnerabilities, k)
	}
	return p
}

func paths(p *audit.Project) []string {
	return slices.Sorted(maps.Keys(p.Tree))
}

func keyFiles(p *audit.Project) []string {
	seen := map[string]bool{}
	var out []string
	for _, k := range p.Vulnerabilities {
		if !seen[k.File] {
			seen[k.File] = true
			out = append(out, k.File)
		}
	}
	return out
}

// randomFindings draws n findings: CWEs by rank (the k-th with weight 1/k), files
// and lines at random.
func randomFindings(p *audit.Project, n int, seed uint64) []audit.Finding {
	rng := rand.New(rand.NewPCG(seed, 99))
	names := paths(p)
	total := 0.0
	for k := range commonCWEs {
		total += 1 / float64(k+1)
	}
	var fs []audit.Finding
	for i := range n {
		x, c := rng.Float64()*total, 0
		for x -= 1; x > 0 && c < len(commonCWEs)-1; x -= 1 / float64(c+1) {
			c++
		}
		file := names[rng.IntN(len(names))]
		at := 1 + rng.IntN(p.Tree[file].Lines)
		fs = append(fs, finding(fmt.Sprintf("R%d", i), file, at, at+3, commonCWEs[c]))
	}
	return fs
}

// pinned holds percentages, to a tenth.
type pinned struct {
	recall, low, high float64 // ours: recall, and precision's two ends
	literal           float64 // recall by the literal score
	chance            float64 // ours, 99th percentile
}

func TestAttackers(t *testing.T) {
	p := target()
	dims := realDimensions(t)
	attacks := []struct {
		name string
		make func() []audit.Finding
		want pinned
	}{
		{"80 random findings by CWE frequency",
			func() []audit.Finding { return randomFindings(p, 80, 1) }, pinned{0, 0, 0, 19.2, 0.8}},
		{"top 25 CWEs on random files", func() []audit.Finding {
			rng := rand.New(rand.NewPCG(3, 4))
			names := paths(p)
			var fs []audit.Finding
			for _, c := range commonCWEs {
				for range 4 {
					fs = append(fs, finding("F", names[rng.IntN(len(names))], 0, 0, c))
				}
			}
			return fs
		}, pinned{0, 0, 0, 30, 1.7}},
		{"every tenth line of the key's files with 25 CWEs", func() []audit.Finding {
			var fs []audit.Finding
			for _, file := range keyFiles(p) {
				for at := 1; at <= p.Tree[file].Lines; at += 10 {
					fs = append(fs, finding("F", file, at, at, commonCWEs...))
				}
			}
			return fs
		}, pinned{10, 0.5, 1.1, 10, 5.8}},
		{"every tenth line of the key's files, a finding for each CWE", func() []audit.Finding {
			var fs []audit.Finding
			for _, file := range keyFiles(p) {
				for at := 1; at <= p.Tree[file].Lines; at += 10 {
					for _, c := range commonCWEs {
						fs = append(fs, finding("F", file, at, at, c))
					}
				}
			}
			return fs
		}, pinned{60, 0.1, 0.3, 60, 28.3}},
		{"one finding per CWE and file of the key", func() []audit.Finding {
			var fs []audit.Finding
			for _, file := range keyFiles(p) {
				for _, c := range commonCWEs {
					fs = append(fs, finding("F", file, 0, 0, c))
				}
			}
			return fs
		}, pinned{30, 1.6, 3.2, 60, 4.2}},
		{"whole-file ranges, the key's own CWEs", func() []audit.Finding {
			var fs []audit.Finding
			for _, k := range p.Vulnerabilities {
				fs = append(fs, finding("F", k.File, 1, max(60, p.Tree[k.File].Lines), k.CWEs...))
			}
			return fs
		}, pinned{50, 50, 50, 100, 0.8}},
	}
	goals := score.ProjectGoals{Recall: 0.7, Precision: 0.85, F1: 0.77, Coverage: 8}
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			r, err := score.Score(score.Input{Project: p, Findings: a.make(),
				Dimensions: dims, Rounds: 50})
			require.NoError(t, err)
			m := r.Metrics
			tenth := func(v score.Value) float64 { return math.Round(1000*v.V) / 10 }
			require.Equal(t, a.want, pinned{tenth(m.Recall), tenth(m.Precision.Low),
				tenth(m.Precision.High),
				tenth(r.Methodology.Recall), tenth(m.Chance.P99)})
			j, err := score.Judge(score.Subject{Goals: goals, Now: []score.AuditTrial{{Result: r}}},
				score.Rules{})
			require.NoError(t, err)
			require.Equal(t, audit.Fail, j.Verdict)
		})
	}
}

// 80 findings with common CWEs at random places, 100 times: what a report scores
// without a line of code read, by our rules and by the literal score.
func TestRandomFindingsScoreNothing(t *testing.T) {
	p := target()
	dims := realDimensions(t)
	var ours, letters, most float64
	const draws = 100
	for seed := range uint64(draws) {
		r, err := score.Score(score.Input{Project: p, Findings: randomFindings(p, 80, seed),
			Dimensions: dims, Rounds: -1})
		require.NoError(t, err)
		ours += r.Metrics.Recall.V / draws
		letters += r.Methodology.Recall.V / draws
		most = max(most, r.Metrics.Recall.V)
	}
	require.Less(t, ours, 0.002)
	require.Less(t, most, 0.02)
	require.Greater(t, letters, 0.15, "the literal score pays for it")
}

// Duplicates do not lift precision: three a vulnerability cost nothing and bring
// nothing, the fourth costs.
func TestDuplicatesDoNotLiftPrecision(t *testing.T) {
	p := target()
	base := append(score.AsFindings(p)[:18], randomFindings(p, 40, 5)...)
	before := mustScore(t, p, base...).Metrics
	spread := slices.Clone(base)
	for copies := 1; copies <= 5; copies++ {
		spread = append(spread, score.AsFindings(p)[:18]...)
		after := mustScore(t, p, spread...).Metrics
		require.Equal(t, before.Recall, after.Recall)
		if copies <= 3 {
			require.Equal(t, before.Precision, after.Precision, "%d copies", copies)
			continue
		}
		require.Less(t, after.Precision.Low.V, before.Precision.Low.V)
		require.Less(t, after.Precision.High.V, before.Precision.High.V)
	}
}

// An auditor that finds 30 % gains nothing by 40 false findings on top.
func TestNoiseGainsNothing(t *testing.T) {
	p := target()
	dims := realDimensions(t)
	for seed := range uint64(20) {
		run := func(fs []audit.Finding) score.Metrics {
			r, err := score.Score(score.Input{Project: p, Findings: fs,
				Dimensions: dims, Rounds: -1})
			require.NoError(t, err)
			return r.Metrics
		}
		honest := score.AsFindings(p)[:18]
		before, after := run(honest), run(append(slices.Clone(honest),
			randomFindings(p, 40, seed)...))
		require.Equal(t, score.Of(0.3), before.Recall)
		require.LessOrEqual(t, after.Recall.V, before.Recall.V+0.5/60, "at most one lucky half")
		require.Less(t, after.Precision.Low.V, before.Precision.Low.V)
		require.Less(t, after.F1.Low.V, before.F1.Low.V)
	}
}
