package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// designs are the two test vectors of the gate's specification, computed independently.
var designs = []struct {
	projects              []ProjectTrials
	drop, p, count, bound float64
}{
	{[]ProjectTrials{
		{"a", 12, []float64{9, 11, 10}, []float64{6, 8, 7}},
		{"b", 20, []float64{12, 15, 11}, []float64{13, 9, 10}},
		{"c", 30, []float64{20, 18, 25}, []float64{14, 17, 19}},
	}, 0.156887, 0.002250, 8000, 0.241964},
	{[]ProjectTrials{
		{"a", 12, []float64{9, 11, 10}, []float64{6}},
		{"b", 20, []float64{12, 15, 11, 9}, []float64{13, 9}},
		{"c", 30, []float64{20, 18, 25}, []float64{14}},
	}, 0.193867, 0.029167, 240, 0.323233},
}

func samples(projects []ProjectTrials) (out []Sample) {
	for _, p := range projects {
		out = append(out, p.sample())
	}
	return out
}

func TestExchangeRunsVectors(t *testing.T) {
	for _, d := range designs {
		e, err := ExchangeRuns(samples(d.projects))
		require.NoError(t, err)
		require.InDelta(t, d.drop, e.Drop, 5e-7)
		require.InDelta(t, d.p, e.P, 5e-7)
		require.Equal(t, d.count, e.Count)
		require.InDelta(t, d.bound, e.Bound, 5e-7)

		// Drawn exchanges say about the same.
		drawn, err := exchangeRuns(samples(d.projects), int(d.count)-1)
		require.NoError(t, err)
		require.InDelta(t, d.p, drawn.P, 4*math.Sqrt(d.p/d.count))
		require.InDelta(t, d.bound, drawn.Bound, 0.03)
	}
}

var smallDesign = rapid.Custom(func(t *rapid.T) Sample {
	runs := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 6),
		func(v int) float64 { return float64(v) }), 1, 3)
	return Sample{runs.Draw(t, "baseline"), runs.Draw(t, "now"),
		float64(rapid.IntRange(1, 9).Draw(t, "weight"))}
})

// bruteRuns assigns the runs of all projects to sides in all ways, by bit masks.
func bruteRuns(projects []Sample) (drop, p, bound float64) {
	type assigned struct{ drop, shift float64 }
	sums, total := []assigned{{}}, 0.0
	for _, s := range projects {
		total += s.Weight
	}
	for _, s := range projects {
		all := slices.Concat(s.Baseline, s.Now)
		b, m := float64(len(s.Baseline)), float64(len(s.Now))
		drop += s.Weight / total * (average(s.Baseline) - average(s.Now))
		var next []assigned
		for mask := range 1 << len(all) {
			var a assigned
			n := 0
			for i, v := range all {
				new := 0.0
				if i >= len(s.Baseline) {
					new = 1
				}
				if mask>>i&1 == 1 {
					n++
					a.drop, a.shift = a.drop-v/m, a.shift+new/m
				} else {
					a.drop, a.shift = a.drop+v/b, a.shift-new/b
				}
			}
			if n != len(s.Now) {
				continue
			}
			for _, x := range sums {
				next = append(next, assigned{x.drop + a.drop*s.Weight/total,
					x.shift + a.shift*s.Weight/total})
			}
		}
		sums = next
	}
	var limits []float64
	for _, x := range sums {
		if x.drop >= drop-1e-9 {
			p += 1 / float64(len(sums))
		}
		limit := math.Inf(1)
		if x.shift < 1-1e-9 {
			limit = (drop - x.drop) / (1 - x.shift)
		}
		limits = append(limits, limit)
	}
	bound = math.Inf(1)
	for _, v := range limits { // the smallest that at most 5 % exceed
		above := 0
		for _, w := range limits {
			if w > v+1e-12 {
				above++
			}
		}
		if float64(above) <= 0.05*float64(len(limits)) {
			bound = min(bound, v)
		}
	}
	return drop, p, max(0, bound)
}

func TestExchangeRunsBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		projects := rapid.SliceOfN(smallDesign, 1, 2).Draw(t, "projects")
		e, err := ExchangeRuns(projects)
		require.NoError(t, err)
		drop, p, bound := bruteRuns(projects)
		require.InDelta(t, drop, e.Drop, 1e-9)
		require.InDelta(t, p, e.P, 1e-9)
		if e.Bound != bound { // both may be infinite
			require.InDelta(t, bound, e.Bound, 1e-9)
		}
	})
}

func TestExchangeRunsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		projects := rapid.SliceOfN(smallDesign, 1, 3).Draw(t, "projects")
		e, err := ExchangeRuns(projects)
		require.NoError(t, err)
		other := slices.Clone(projects)
		for i, s := range other {
			other[i].Baseline, other[i].Now = s.Now, s.Baseline
		}
		turned, err := ExchangeRuns(other)
		require.NoError(t, err)
		require.InDelta(t, e.Drop, -turned.Drop, 1e-9, "relabelling the sides changes the sign")
		require.GreaterOrEqual(t, e.P+turned.P, 1-1e-9)
		require.GreaterOrEqual(t, e.P, 1/e.Count-1e-12)

		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
		rng.Shuffle(len(projects),
			func(i, j int) { projects[i], projects[j] = projects[j], projects[i] })
		slices.Reverse(projects[0].Baseline)
		again, err := exchangeRuns(projects, 50)
		require.NoError(t, err)
		slices.Reverse(projects)
		same, err := exchangeRuns(projects, 50)
		require.NoError(t, err)
		require.Equal(t, again.P, same.P, "the order of the input does not matter")
	})
}

func TestExchangeRunsErrors(t *testing.T) {
	one := []float64{1}
	_, err := ExchangeRuns(nil)
	require.ErrorIs(t, err, ErrEmpty)
	for _, s := range []Sample{
		{Baseline: one, Weight: 1}, {Now: one, Weight: 1}, {one, one, 0}, {one, one, math.NaN()},
		{make([]float64, 13), one, 1}, {one, make([]float64, 7), 1},
	} {
		_, err := ExchangeRuns([]Sample{{one, one, 1}, s})
		require.ErrorContains(t, err, "project 2: ")
	}
}
