package score

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"assay/audit"
)

var testDims = map[audit.CWE]audit.Dimension{
	89: audit.Injection, 564: audit.Injection, 943: audit.Injection, 79: audit.Injection,
	22: audit.FileOps, 23: audit.FileOps,
}

// drawProject draws a small key, dense enough that entries compete.
func drawProject(t *rapid.T) *audit.Project {
	p := &audit.Project{Name: "drawn", Tree: audit.Tree{}}
	files := []string{"a", "b", "c.yml"}
	for _, f := range files {
		p.Tree[f] = audit.TreeFile{Path: f, Lines: 100}
	}
	cwes := rapid.SliceOfNDistinct(rapid.SampledFrom([]audit.CWE{89, 564, 79, 22}), 1, 2, rapid.ID)
	for i := range rapid.IntRange(1, 5).Draw(t, "knowns") {
		k := audit.Vulnerability{ID: fmt.Sprintf("K%d", i), File: rapid.SampledFrom(files).Draw(t, "file"),
			CWEs: cwes.Draw(t, "cwes")}
		k.Dimension = testDims[k.CWEs[0]]
		k.Severity = audit.Severity(rapid.IntRange(0, 3).Draw(t, "severity"))
		k.Lines = drawRange(t)
		k.Functions = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"f", "g"}),
			0, 1, rapid.ID).Draw(t, "functions")
		k.Title = rapid.SampledFrom([]string{"flaw", "Lib 1.0", "other-lib 2.3 is old"}).Draw(t,
			"title")
		k.OtherFiles = rapid.SliceOfNDistinct(rapid.SampledFrom(files), 0, 1, rapid.ID).Draw(t, "also")
		p.Vulnerabilities = append(p.Vulnerabilities, k)
	}
	if rapid.Bool().Draw(t, "decoy") {
		p.Decoys = []audit.Decoy{{ID: "D", Dimension: audit.Injection, CWEs: []audit.CWE{89},
			File: rapid.SampledFrom(files).Draw(t, "decoy's file"), Lines: drawRange(t)},
			{ID: "E", Dimension: audit.Injection, CWEs: []audit.CWE{79}, File: "a",
				Lines: drawRange(t)}}
	}
	for range rapid.IntRange(0, 2).Draw(t, "reviews") {
		r := audit.FindingReview{CWEs: cwes.Draw(t, "review's cwes"),
			File: rapid.SampledFrom(files).Draw(t, "review's file"), Lines: drawRange(t),
			Ruling: rapid.SampledFrom([]audit.Ruling{audit.RuledTrue, audit.RuledFalse,
				audit.RuledSame, audit.RuledArguable}).Draw(t, "ruling")}
		if r.Lines.IsZero() {
			r.Functions = []string{"f"}
		}
		if r.Ruling == audit.RuledSame {
			r.Entry = "K0"
		}
		p.Reviews = append(p.Reviews, r)
	}
	p.Planted = rapid.Bool().Draw(t, "planted")
	return p
}

func drawRange(t *rapid.T) audit.Range {
	if rapid.IntRange(0, 5).Draw(t, "lineless") == 0 {
		return audit.Range{}
	}
	start := rapid.IntRange(1, 40).Draw(t, "start")
	return audit.Range{Start: start,
		End: start + rapid.SampledFrom([]int{0, 0, 3, 20, 49, 50}).Draw(t, "length")}
}

func drawFinding(t *rapid.T) audit.Finding {
	return audit.Finding{
		ID:       rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "id"),
		File:     rapid.SampledFrom([]string{"a", "b", "c.yml", "nowhere"}).Draw(t, "file"),
		Function: rapid.SampledFrom([]string{"", "f", "C.g(int)"}).Draw(t, "function"),
		Severity: audit.Severity(rapid.IntRange(0, 3).Draw(t, "severity")),
		CWEs: rapid.SliceOfN(rapid.SampledFrom([]audit.CWE{89, 564, 943, 79, 22, 23}), 0,
			2).Draw(t, "cwes"),
		Lines: drawRange(t),
		Title: rapid.SampledFrom([]string{"", "LIB is old", "other lib, and libs"}).Draw(t,
			"finding's title"),
	}
}

func mustScore(t require.TestingT, p *audit.Project, fs []audit.Finding) *Result {
	r, err := Score(Input{Project: p, Findings: fs, Dimensions: testDims, Rounds: -1})
	require.NoError(t, err)
	return r
}

// An edge of the oracle: 2 for full, 1 for half, 0 for none; written from the
// words of the rules, without the index.
func oracleEdge(p *audit.Project, k *audit.Vulnerability, f *audit.Finding) (credit, distance int) {
	full, gap := oracleFull(p.Planted, k.CWEs, k.Dimension, k.File, k.Functions,
		k.Lines, k.Title, f)
	if full {
		return 2, gap
	}
	own := slices.ContainsFunc(f.CWEs, func(c audit.CWE) bool { return slices.Contains(k.CWEs, c) })
	if own && !p.Planted && (f.File == k.File || slices.Contains(k.OtherFiles, f.File)) {
		return 1, 0
	}
	return 0, 0
}

func oracleFull(planted bool, cwes []audit.CWE, dim audit.Dimension, file string,
	functions []string, at audit.Range, title string, f *audit.Finding) (bool, int) {
	step := map[[2]audit.CWE]bool{{89, 564}: true, {89, 943}: true, {22, 23}: true}
	right := planted // the place decides
	for _, c := range f.CWEs {
		for _, own := range cwes {
			near := step[[2]audit.CWE{c, own}] || step[[2]audit.CWE{own, c}]
			right = right || c == own || near && testDims[c] == dim
		}
	}
	if !right || f.File != file {
		return false, 0
	}
	named := func(r audit.Range) bool { return r.Start > 0 && r.End-r.Start+1 <= 50 }
	distance := 11
	inLines := false
	if named(at) && named(f.Lines) {
		distance = max(0, at.Start-f.Lines.End, f.Lines.Start-at.End)
		inLines = distance <= 10
		if file == "c.yml" && !planted { // settings: each line is its own thing
			inLines = distance == 0
		}
	}
	name := map[string]string{"f": "f", "C.g(int)": "g"}[f.Function]
	inFunction := name != "" && slices.Contains(functions, name)
	whole := !named(at) && len(functions) == 0
	names := map[string][]string{"LIB is old": {"Lib 1.0"}, "other lib, and libs": {"Lib 1.0",
		"other-lib 2.3 is old"}}
	inName := !planted && file == "c.yml" && slices.Contains(names[f.Title], title)
	return inLines || inFunction || whole || inName, distance
}

// oracle tries every assignment.
func oracle(p *audit.Project, fs []audit.Finding) (full, half, distance int) {
	type edge struct{ credit, distance int }
	edges := make([][]edge, len(fs))
	for i := range fs {
		edges[i] = make([]edge, len(p.Vulnerabilities))
		anyFull := false
		if fs[i].File == "nowhere" || fs[i].Lines.Start > 100 {
			continue
		}
		decoy, nearest := false, 0
		for _, d := range p.Decoys {
			hit, distance := oracleFull(p.Planted, d.CWEs, d.Dimension, d.File, d.Functions,
				d.Lines, d.Title, &fs[i])
			if hit && (!decoy || distance < nearest) {
				nearest = distance
			}
			decoy = decoy || hit
		}
		for j := range p.Vulnerabilities {
			c, d := oracleEdge(p, &p.Vulnerabilities[j], &fs[i])
			if c == 2 && decoy && d > nearest {
				continue // a nearer decoy has it
			}
			edges[i][j] = edge{c, d}
			anyFull = anyFull || c == 2
		}
		for j := range edges[i] {
			if edges[i][j].credit == 1 && (anyFull || decoy) {
				edges[i][j] = edge{}
			}
		}
	}
	best := [3]int{-1, -1, 0}
	used := make([]bool, len(p.Vulnerabilities))
	var try func(i int, sum [3]int)
	try = func(i int, sum [3]int) {
		if i == len(fs) {
			if slices.Compare(sum[:], best[:]) > 0 {
				best = sum
			}
			return
		}
		try(i+1, sum)
		for j := range p.Vulnerabilities {
			e := edges[i][j]
			if used[j] || e.credit == 0 {
				continue
			}
			used[j] = true
			next := sum
			if e.credit == 2 {
				next[0]++
				next[2] -= e.distance
			} else {
				next[1]++
			}
			try(i+1, next)
			used[j] = false
		}
	}
	try(0, [3]int{})
	return best[0], best[1], -best[2]
}

func TestMatchingIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProject(t)
		fs := rapid.SliceOfN(rapid.Custom(drawFinding), 0, 6).Draw(t, "findings")
		full, half, distance := oracle(p, fs)
		r := mustScore(t, p, fs)
		got := 0
		for _, k := range r.Known {
			if k.Credit == 1 {
				_, d := oracleEdge(p,
					&p.Vulnerabilities[slices.IndexFunc(p.Vulnerabilities,
						func(x audit.Vulnerability) bool { return x.ID == k.ID })], &fs[k.Finding])
				got += d
			}
		}
		if p.Planted { // there findings that name the weakness come before nearer ones
			got = distance
		}
		require.Equal(t, []int{full, half, distance}, []int{r.Metrics.Full, r.Metrics.Halves, got},
			"full, half, distance")
		for i := range r.Known {
			require.Equal(t, r.Known[i].Credit > 0, r.Known[i].Finding >= 0)
		}
	})
}

// The literal against its own oracle: most credit of all assignments.
func TestLetterIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProject(t)
		fs := rapid.SliceOfN(rapid.Custom(drawFinding), 0, 6).Draw(t, "findings")
		used := make([]bool, len(p.Vulnerabilities))
		var best func(i int) int
		best = func(i int) int {
			if i == len(fs) {
				return 0
			}
			most := best(i + 1)
			if fs[i].File == "nowhere" || fs[i].Lines.Start > 100 {
				return most
			}
			for j, k := range p.Vulnerabilities {
				if used[j] ||
					!slices.ContainsFunc(fs[i].CWEs,
						func(c audit.CWE) bool { return slices.Contains(k.CWEs, c) }) {
					continue
				}
				credit := 1
				if fs[i].File == k.File {
					credit = 2
				}
				used[j] = true
				most = max(most, credit+best(i+1))
				used[j] = false
			}
			return most
		}
		r := mustScore(t, p, fs)
		require.InDelta(t, float64(best(0))/2, r.Methodology.Credit, 1e-9)
		sum := 0.0
		for _, f := range r.Findings {
			sum += f.MethodologyCredit
		}
		require.InDelta(t, r.Methodology.Credit, sum, 1e-9, "what findings earn is what entries earn")
	})
}

// Shuffled findings and entries: the same disposition for the same finding, the same
// figures.
func TestOrderHasNoSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProject(t)
		fs := rapid.SliceOfN(rapid.Custom(drawFinding), 0, 8).Draw(t, "findings")
		order := rapid.Permutation(indices(len(fs))).Draw(t, "order")
		keyOrder := rapid.Permutation(indices(len(p.Vulnerabilities))).Draw(t, "key order")

		shuffled := make([]audit.Finding, len(fs))
		for to, from := range order {
			shuffled[to] = fs[from]
		}
		q := *p
		q.Vulnerabilities = make([]audit.Vulnerability, len(p.Vulnerabilities))
		for to, from := range keyOrder {
			q.Vulnerabilities[to] = p.Vulnerabilities[from]
		}
		q.Reviews = slices.Clone(p.Reviews)
		slices.Reverse(q.Reviews)
		a := score3(t, p, fs)
		b := score3(t, &q, shuffled)
		require.Empty(t, cmp.Diff(a.Metrics, b.Metrics))
		require.Empty(t, cmp.Diff(a.Methodology, b.Methodology))
		require.Empty(t, cmp.Diff(bag(a), bag(b)))
	})
}

func score3(t require.TestingT, p *audit.Project, fs []audit.Finding) *Result {
	r, err := Score(Input{Project: p, Findings: fs, Dimensions: testDims, Rounds: 3})
	require.NoError(t, err)
	return r
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// bag counts each finding with all that was said of it.
func bag(r *Result) map[string]int {
	m := map[string]int{}
	for _, f := range r.Findings {
		m[fmt.Sprintf("%+v", f)]++
	}
	return m
}

func TestMonotony(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProject(t)
		fs := rapid.SliceOfN(rapid.Custom(drawFinding), 0, 8).Draw(t, "findings")
		before := mustScore(t, p, fs)

		right := AsFindings(p)[rapid.IntRange(0, len(p.Vulnerabilities)-1).Draw(t, "right")]
		after := mustScore(t, p, append(slices.Clone(fs), right))
		require.GreaterOrEqual(t, after.Metrics.Recall.V, before.Metrics.Recall.V,
			"a right finding never lowers recall")
		any := mustScore(t, p, append(slices.Clone(fs), drawFinding(t)))
		require.GreaterOrEqual(t, any.Metrics.Recall.V, before.Metrics.Recall.V,
			"no finding lowers recall")
		require.GreaterOrEqual(t, any.Methodology.Credit, before.Methodology.Credit)

		for i := range before.Findings {
			if f := &before.Findings[i]; !Reviewable(f.Disposition) || f.Review != "" {
				continue
			}
			less := mustScore(t, p, slices.Delete(slices.Clone(fs), i, i+1))
			require.Equal(t, before.Metrics.Recall, less.Metrics.Recall)
			if less.Metrics.Precision.Low.Defined {
				require.GreaterOrEqual(t, less.Metrics.Precision.Low.V,
					before.Metrics.Precision.Low.V, "without an open finding precision is no lower")
			}
		}
	})
}
