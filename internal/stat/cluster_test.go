package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// clumps makes observations of families of six, two good and four bad, right with
// chance p. share is how many families are right or wrong as one.
func clumps(rng *rand.Rand, families int, p, share float64) []Observation {
	var out []Observation
	for f := range families {
		together, u := rng.Float64() < share, rng.Float64()
		for i := range 6 {
			if !together {
				u = rng.Float64()
			}
			out = append(out, Observation{Cluster: fmt.Sprint(f), Bad: i >= 2,
				Value: right(u, 1-p)})
		}
	}
	return out
}

// Worked by hand: three families of four, with 4, 2 and 0 right. p = 1/2; sums
// differ from p n by 2, 0, -2, so the variance of p is 3/2 * 8/144 = 1/12 against
// a binomial 1/48: design effect 4. One whole family (weight 4) at the worst
// effect, 4, beside 6 answers of the minority leaves it 4: 3 effective answers.
// Student's quantile at 2 degrees of freedom is 4.302653, its square 18.51282;
// half the width is 4.302653 sqrt(1/12 + 18.51282/36) / (1 + 18.51282/3).
func TestProportionByHand(t *testing.T) {
	var obs []Observation
	for f, rights := range []int{4, 2, 0} {
		for i := range 4 {
			obs = append(obs, Observation{Cluster: fmt.Sprint(f),
				Value: right(float64(i), float64(4-rights))})
		}
	}
	iv, err := Proportion(obs, 0.95)
	require.NoError(t, err)
	half := 4.302653 * math.Sqrt(1.0/12+18.51282/36) / (1 + 18.51282/3)
	require.Equal(t, 0.5, iv.Center)
	require.InDelta(t, 0.5-half, iv.Lo, 1e-6)
	require.InDelta(t, 0.5+half, iv.Hi, 1e-6)
	require.Len(t, iv.Warnings, 1, "three families are few")
}

// Families of one answer are independent answers: Wilson's interval, but for the
// one mistake that is assumed unseen and for Student's quantile.
func TestProportionOfSinglesIsWilson(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var obs []Observation
	rights := 0.0
	for i := range 500 {
		o := Observation{Cluster: fmt.Sprint(i), Value: right(rng.Float64(), 0.2)}
		rights += o.Value
		obs = append(obs, o)
	}
	iv, err := Proportion(obs, 0.95)
	require.NoError(t, err)
	w, err := Wilson(rights, 500, 0.95)
	require.NoError(t, err)
	require.InDelta(t, w.Lo, iv.Lo, 5e-4)
	require.InDelta(t, w.Hi, iv.Hi, 5e-4)
}

// The same answers given in three trials are no more evidence.
func TestRepeatingAnswersAddsNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	once := clumps(rng, 40, 0.85, 0.3)
	var thrice []Observation
	for range 3 {
		thrice = append(thrice, once...)
	}
	for _, f := range []func([]Observation, float64) (Interval, error){Proportion, Balanced} {
		a, err := f(once, 0.95)
		require.NoError(t, err)
		b, err := f(thrice, 0.95)
		require.NoError(t, err)
		require.InDelta(t, a.Lo, b.Lo, 1e-9)
		require.InDelta(t, a.Hi, b.Hi, 1e-9)
	}
}

// A reviewer without a mistake on 40 families has not been shown to be perfect,
// and a first mistake does not make it look better by more than a hair.
func TestNoMistakeIsNoCertainty(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	obs := clumps(rng, 40, 1, 0)
	perfect, err := Proportion(obs, 0.95)
	require.NoError(t, err)
	require.Equal(t, 1.0, perfect.Hi)
	require.InDelta(t, 0.907, perfect.Lo, 0.001)
	obs[0].Value = 0
	one, err := Proportion(obs, 0.95)
	require.NoError(t, err)
	require.Less(t, one.Lo, perfect.Lo+0.005)

	ba, err := Balanced(clumps(rng, 40, 1, 0), 0.95)
	require.NoError(t, err)
	require.Less(t, ba.Lo, 0.95)
}

// Over 1,000 samples (100 in the short form) the intervals hold the truth about
// as often as they say, whether families go wrong together or not.
func TestClusterIntervalsCover(t *testing.T) {
	n := 1000
	if brief() {
		n = 100
	}
	for _, p := range []float64{0.7, 0.88, 0.97} {
		for _, share := range []float64{0, 0.5, 1} {
			var hit [2]int
			for i := range n {
				rng := rand.New(rand.NewPCG(simulationSeed, uint64(i)))
				obs := clumps(rng, 40, p, share)
				for k, f := range []func([]Observation, float64) (Interval,
					error){Proportion, Balanced} {
					iv, err := f(obs, 0.95)
					require.NoError(t, err)
					if iv.Lo <= p && p <= iv.Hi {
						hit[k]++
					}
				}
			}
			slack := 3 * math.Sqrt(0.95*0.05/float64(n))
			t.Logf("share %.2f, families together %.1f: proportion %.3f, balanced %.3f",
				p, share, float64(hit[0])/float64(n), float64(hit[1])/float64(n))
			require.Greater(t, float64(hit[0])/float64(n), 0.95-slack,
				"proportion, p %g, together %g", p, share)
			require.Greater(t, float64(hit[1])/float64(n), 0.95-slack,
				"balanced, p %g, together %g", p, share)
		}
	}
}

func TestClusterIntervalProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		obs := clumps(rng, rapid.IntRange(1, 15).Draw(t, "families"),
			rapid.Float64Range(0, 1).Draw(t, "p"), rapid.Float64Range(0, 1).Draw(t, "together"))
		shuffled := append([]Observation(nil), obs...)
		rng.Shuffle(len(shuffled),
			func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		for name, f := range map[string]func([]Observation, float64) (Interval,
			error){"proportion": Proportion, "balanced": Balanced} {
			a, err := f(obs, 0.9)
			if err != nil {
				t.Fatal(err)
			}
			if !(a.Lo <= a.Center+1e-12 && a.Center <= a.Hi+1e-12 && a.Lo >= 0 && a.Hi <= 1) {
				t.Fatalf("%s: %+v", name, a)
			}
			b, err := f(shuffled, 0.9)
			if err != nil || a.Center != b.Center || a.Lo != b.Lo || a.Hi != b.Hi {
				t.Fatalf("%s: another order, another interval: %+v and %+v", name, a, b)
			}
		}
	})
}

func TestClusterIntervalsRefuse(t *testing.T) {
	for _, f := range []func([]Observation, float64) (Interval, error){Proportion, Balanced} {
		_, err := f(nil, 0.95)
		require.ErrorIs(t, err, ErrEmpty)
		_, err = f([]Observation{{Cluster: "a", Value: 1},
			{Cluster: "a", Bad: true, Value: math.NaN()}}, 0.95)
		require.ErrorContains(t, err, "between 0 and 1")
		_, err = f([]Observation{{Cluster: "a", Value: 1}}, 1)
		require.ErrorContains(t, err, "confidence")
	}
	_, err := Balanced([]Observation{{Cluster: "a", Value: 1}}, 0.95)
	require.ErrorIs(t, err, ErrEmpty)
	one, err := Proportion([]Observation{{Cluster: "a", Value: 1}, {Cluster: "a", Value: 0}}, 0.95)
	require.NoError(t, err)
	require.Equal(t, []float64{0, 1}, []float64{one.Lo, one.Hi})
	require.NotEmpty(t, one.Warnings)
}

// Mistakes that gather in few requests widen the interval; spread over all of them
// they do not.
func TestGroupsCrossClusters(t *testing.T) {
	answers := func(wrong func(request, site int) bool) (obs []Observation) {
		for r := range 30 {
			for s := range 24 {
				o := Observation{Cluster: fmt.Sprint(r%15, " ", s), Group: fmt.Sprint(r), Value: 1}
				if wrong(r, s) {
					o.Value = 0
				}
				obs = append(obs, o)
			}
		}
		return obs
	}
	width := func(obs []Observation, grouped bool) float64 {
		if !grouped {
			obs = slices.Clone(obs)
			for i := range obs {
				obs[i].Group = ""
			}
		}
		iv, err := Proportion(obs, 0.95)
		require.NoError(t, err)
		return iv.Hi - iv.Lo
	}
	spread := answers(func(r, s int) bool { return s == r%15 }) // 30 of 720, one a request
	require.InDelta(t, width(spread, false), width(spread, true), 0.1*width(spread, false))
	// 30 of 720, in two requests
	gathered := answers(func(r, s int) bool { return r < 2 && s < 15 })
	require.Greater(t, width(gathered, true), 1.5*width(gathered, false))
	none := answers(func(int, int) bool { return false })
	require.Less(t, width(none, true), 0.02)
}
