package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
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
	p, err := ExchangeFamilies([]FamilySums{{Baseline: binary(3, 4), Now: binary(1, 4)}})
	require.NoError(t, err)
	require.InDelta(t, 17.0/70, p, 1e-12)
}

// Penicillin and rabbits: N. Mantel, JASA 58 (1963) 690-700; the exact
// conditional test of R's mantelhaen.test(Rabbits, exact = TRUE) gives 0.03994
// two-sided, which is 0.01997 one-sided.
func TestExchangeIsTheExactMantelHaenszelTest(t *testing.T) {
	// cured, died at once; cured, died late
	table := [][4]int{{0, 6, 0, 5}, {3, 3, 0, 6}, {6, 0, 2, 4}, {5, 1, 6, 0}, {2, 0, 5, 0}}
	var strata []FamilySums
	for _, c := range table {
		strata = append(strata, FamilySums{Baseline: binary(c[0], c[0]+c[1]),
			Now: binary(c[2], c[2]+c[3])})
	}
	p, err := ExchangeFamilies(strata)
	require.NoError(t, err)
	require.InDelta(t, 0.01997, p, 5.1e-6)
}

// brute deals every stratum in every way.
func brute(strata []FamilySums) float64 {
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
		var strata []FamilySums
		for range rapid.IntRange(1, 3).Draw(t, "strata") {
			strata = append(strata, FamilySums{points.Draw(t, "baseline"), points.Draw(t, "now")})
		}
		got, err := ExchangeFamilies(strata)
		if err != nil {
			t.Fatal(err)
		}
		if want := brute(strata); math.Abs(got-want) > 1e-12 {
			t.Fatalf("got %v, all deals give %v", got, want)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for i := range strata {
			rng.Shuffle(len(strata[i].Now),
				func(a, b int) { s := strata[i].Now; s[a], s[b] = s[b], s[a] })
		}
		rng.Shuffle(len(strata), func(a, b int) { strata[a], strata[b] = strata[b], strata[a] })
		again, _ := ExchangeFamilies(strata)
		if again != got {
			t.Fatalf("another order, another chance: %v and %v", got, again)
		}
	})
}

func repeated(v, n int) []int { return slices.Repeat([]int{v}, n) }

func TestExchangeRefuses(t *testing.T) {
	_, err := ExchangeFamilies(nil)
	require.ErrorIs(t, err, ErrEmpty)
	for _, s := range []FamilySums{{}, {Baseline: []int{1}}, {Now: []int{1}}, {[]int{-1}, []int{0}},
		{[]int{1}, []int{5000}}, {make([]int, 600), make([]int, 600)}, {make([]int, 40),
			repeated(4096, 40)}} {
		_, err := ExchangeFamilies([]FamilySums{s})
		require.Error(t, err, "%v", s)
	}
}
