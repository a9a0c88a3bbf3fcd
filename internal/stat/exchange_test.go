package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func binary(ones, n int) []int {
	out := make([]int, n)
	for i := range ones {
		out[i] = 1
	}
	return out
}

// Fisher's tea: of four cups with milk first three were named, of four others
// one. R. A. Fisher, The Design of Experiments (1935), chapter 2: 17 of 70.
func TestExchangeIsFishersTest(t *testing.T) {
	p, err := Exchange([]Stratum{{Baseline: binary(3, 4), Now: binary(1, 4)}})
	require.NoError(t, err)
	require.InDelta(t, 17.0/70, p, 1e-12)
}

// Penicillin and rabbits: N. Mantel, JASA 58 (1963) 690-700; the exact
// conditional test of R's mantelhaen.test(Rabbits, exact = TRUE) gives 0.03994
// two-sided, which is 0.01997 one-sided.
func TestExchangeIsTheExactMantelHaenszelTest(t *testing.T) {
	table := [][4]int{{0, 6, 0, 5}, {3, 3, 0, 6}, {6, 0, 2, 4}, {5, 1, 6, 0}, {2, 0, 5, 0}} // cured, died at once; cured, died late
	var strata []Stratum
	for _, c := range table {
		strata = append(strata, Stratum{Baseline: binary(c[0], c[0]+c[1]), Now: binary(c[2], c[2]+c[3])})
	}
	p, err := Exchange(strata)
	require.NoError(t, err)
	require.InDelta(t, 0.01997, p, 5.1e-6)
}

// brute deals every stratum in every way.
func brute(strata []Stratum) float64 {
	observed := 0
	sums := []int{0}
	for _, s := range strata {
		all := slices.Concat(s.Baseline, s.Now)
		for _, v := range s.Now {
			observed += v
		}
		var mine []int
		for mask := range 1 << len(all) {
			sum, n := 0, 0
			for i, v := range all {
				if mask>>i&1 == 1 {
					sum, n = sum+v, n+1
				}
			}
			if n == len(s.Now) {
				mine = append(mine, sum)
			}
		}
		var next []int
		for _, a := range sums {
			for _, b := range mine {
				next = append(next, a+b)
			}
		}
		sums = next
	}
	hits := 0
	for _, s := range sums {
		if s <= observed {
			hits++
		}
	}
	return float64(hits) / float64(len(sums))
}

func TestExchangeAgainstAllDeals(t *testing.T) {
	points := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 3)
	rapid.Check(t, func(t *rapid.T) {
		var strata []Stratum
		for range rapid.IntRange(1, 3).Draw(t, "strata") {
			strata = append(strata, Stratum{points.Draw(t, "baseline"), points.Draw(t, "now")})
		}
		got, err := Exchange(strata)
		if err != nil {
			t.Fatal(err)
		}
		if want := brute(strata); math.Abs(got-want) > 1e-12 {
			t.Fatalf("got %v, all deals give %v", got, want)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for i := range strata {
			rng.Shuffle(len(strata[i].Now), func(a, b int) { s := strata[i].Now; s[a], s[b] = s[b], s[a] })
		}
		rng.Shuffle(len(strata), func(a, b int) { strata[a], strata[b] = strata[b], strata[a] })
		again, _ := Exchange(strata)
		if again != got {
			t.Fatalf("another order, another chance: %v and %v", got, again)
		}
	})
}

func repeated(v, n int) []int { return slices.Repeat([]int{v}, n) }

func TestExchangeRefuses(t *testing.T) {
	_, err := Exchange(nil)
	require.ErrorIs(t, err, ErrEmpty)
	for _, s := range []Stratum{{}, {Baseline: []int{1}}, {Now: []int{1}}, {[]int{-1}, []int{0}}, {[]int{1}, []int{5000}}, {make([]int, 600), make([]int, 600)}, {make([]int, 40), repeated(4096, 40)}} {
		_, err := Exchange([]Stratum{s})
		require.Error(t, err, "%v", s)
	}
}

// The values of R's t.test(extra ~ group, data = sleep): t = -1.8608, df =
// 17.776, p = 0.07939 (Student's sleep data, Biometrika 6 (1908) 1-25). The other
// rows are the three examples on Wikipedia's page on Welch's t-test: t -2.46 with
// 25.0 degrees of freedom and p 0.021; -1.57, 9.9, 0.149; -2.22, 24.5, 0.036.
func TestWelchOfTheTextbooks(t *testing.T) {
	for _, c := range []struct {
		name       string
		a, b       []float64
		t, df, p   float64
		dt, dd, dp float64
	}{
		{"sleep", []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2},
			[]float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}, -1.8608, 17.776, 0.07939, 5e-5, 5e-4, 5e-6},
		{"equal variances", []float64{27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4},
			[]float64{27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4}, -2.46, 25.0, 0.021, 5e-3, 0.05, 5e-4},
		{"unequal sizes", []float64{17.2, 20.9, 22.6, 18.1, 21.7, 21.4, 23.5, 24.2, 14.7, 21.8},
			[]float64{21.5, 22.8, 21.0, 23.0, 21.6, 23.6, 22.5, 20.7, 23.4, 21.8, 20.7, 21.7, 21.5, 22.5, 23.6, 21.5, 22.5, 23.5, 21.5, 21.8}, -1.57, 9.9, 0.149, 5e-3, 0.05, 5e-4},
		{"larger variance in the larger", []float64{19.8, 20.4, 19.6, 17.8, 18.5, 18.9, 18.3, 18.9, 19.5, 22.0},
			[]float64{28.2, 26.6, 20.1, 23.3, 25.2, 22.1, 17.7, 27.6, 20.6, 13.7, 23.2, 17.5, 20.6, 18.0, 23.9, 21.6, 24.3, 20.4, 24.0, 13.2}, -2.22, 24.5, 0.036, 5e-3, 0.05, 5e-4},
	} {
		t.Run(c.name, func(t *testing.T) {
			ma, va := moments(c.a)
			mb, vb := moments(c.b)
			variance, df := welch(va, float64(len(c.a)), vb, float64(len(c.b)))
			got := ratioOf(ma-mb, math.Sqrt(variance))
			require.InDelta(t, c.t, got, c.dt)
			require.InDelta(t, c.df, df, c.dd)
			require.InDelta(t, 1-c.p/2, distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Survival(got), c.dp)
		})
	}
	variance, df := welch(0, 3, 0, 3)
	require.Equal(t, []float64{0, 4}, []float64{variance, df})
	require.Equal(t, []float64{0, math.Inf(1), math.Inf(-1)}, []float64{ratioOf(0, 0), ratioOf(1, 0), ratioOf(-1, 0)})
}
