package stat

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// The figures are those of R. G. Newcombe, Two-sided confidence intervals for
// the single proportion, Statistics in Medicine 17 (1998) 857-872, Table I:
// method 3 (Wilson's score) and method 5 (Clopper-Pearson), four decimals.
func TestIntervalsOfNewcombe(t *testing.T) {
	for _, c := range []struct {
		r, n                           float64
		wilsonLo, wilsonHi, cpLo, cpHi float64
	}{
		{81, 263, 0.2553, 0.3662, 0.2527, 0.3676},
		{15, 148, 0.0624, 0.1605, 0.0578, 0.1617},
		{0, 20, 0, 0.1611, 0, 0.1684},
		{1, 29, 0.0061, 0.1718, 0.0009, 0.1776},
	} {
		w, err := Wilson(c.r, c.n, 0.95)
		require.NoError(t, err)
		require.InDelta(t, c.wilsonLo, w.Lo, 5.1e-5, "Wilson %v/%v", c.r, c.n)
		require.InDelta(t, c.wilsonHi, w.Hi, 5.1e-5, "Wilson %v/%v", c.r, c.n)
		cp, err := ClopperPearson(c.r, c.n, 0.95)
		require.NoError(t, err)
		require.InDelta(t, c.cpLo, cp.Lo, 5.1e-5, "Clopper-Pearson %v/%v", c.r, c.n)
		require.InDelta(t, c.cpHi, cp.Hi, 5.1e-5, "Clopper-Pearson %v/%v", c.r, c.n)
		require.Equal(t, c.r/c.n, cp.Center)
	}
}

// At the edges Clopper-Pearson has a closed form: 1-(tail)^(1/n).
func TestClopperPearsonAtTheEdges(t *testing.T) {
	for _, n := range []float64{1, 5, 55, 1000, 1e6} {
		want := 1 - math.Pow(0.025, 1/n)
		iv, err := ClopperPearson(0, n, 0.95)
		require.NoError(t, err)
		require.Zero(t, iv.Lo)
		require.InEpsilon(t, want, iv.Hi, 1e-9)
		iv, err = ClopperPearson(n, n, 0.95)
		require.NoError(t, err)
		require.Equal(t, 1.0, iv.Hi)
		require.InEpsilon(t, 1-want, iv.Lo, 1e-9)
	}
}

// Clopper-Pearson promises its confidence for every share; summed exactly over
// the binomial distribution, not drawn.
func TestClopperPearsonCovers(t *testing.T) {
	const n = 30
	for p := 0.01; p < 1; p += 0.01 {
		covered := 0.0
		for k := 0.0; k <= n; k++ {
			iv, err := ClopperPearson(k, n, 0.95)
			require.NoError(t, err)
			if iv.Lo <= p && p <= iv.Hi {
				covered += distuv.Binomial{N: n, P: p}.Prob(k)
			}
		}
		require.GreaterOrEqual(t, covered, 0.95, "share %.2f", p)
	}
}

func TestIntervalProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := float64(rapid.IntRange(1, 400).Draw(t, "n"))
		k := float64(rapid.IntRange(0, int(2*n)).Draw(t, "halves")) / 2
		level := rapid.Float64Range(0.5, 0.999).Draw(t, "level")
		for name, f := range map[string]func(_, _, _ float64) (Interval,
			error){"wilson": Wilson, "clopper-pearson": ClopperPearson} {
			iv, err := f(k, n, level)
			if err != nil {
				t.Fatal(err)
			}
			if !(0 <= iv.Lo && iv.Lo <= iv.Center && iv.Center <= iv.Hi && iv.Hi <= 1) {
				t.Fatalf("%s %g/%g: %+v", name, k, n, iv)
			}
			mirror, err := f(n-k, n, level)
			if err != nil || math.Abs(1-mirror.Hi-iv.Lo) > 1e-9 {
				t.Fatalf("%s is not symmetric: %+v and %+v", name, iv, mirror)
			}
			wider, err := f(k, n, level+(1-level)/2)
			if err != nil || wider.Lo > iv.Lo+1e-12 || wider.Hi < iv.Hi-1e-12 {
				t.Fatalf("%s: more confidence, narrower: %+v and %+v", name, iv, wider)
			}
		}
	})
}

func TestIntervalsRefuse(t *testing.T) {
	for _, f := range []func(_, _, _ float64) (Interval, error){Wilson, ClopperPearson} {
		_, err := f(0, 0, 0.95)
		require.ErrorIs(t, err, ErrEmpty)
		for _, bad := range [][3]float64{{-1, 5, .95}, {6, 5, .95}, {1, -5, .95}, {1, 5, 95},
			{1, 5, 0},
			{math.NaN(), 5, .95}, {1, math.NaN(), .95}, {1, math.Inf(1), .95}, {1, 5, math.NaN()}} {
			_, err := f(bad[0], bad[1], bad[2])
			require.Error(t, err, "%v", bad)
			require.NotErrorIs(t, err, ErrEmpty)
		}
	}
}
