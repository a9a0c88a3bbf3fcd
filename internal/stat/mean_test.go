package stat_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/internal/stat"
)

// The interval holds the mean of two shares as often as it says, whatever they
// are.
func TestMeanCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(p float64, n int) stat.Interval {
		k := 0
		for range n {
			if rng.Float64() < p {
				k++
			}
		}
		i, err := stat.Wilson(float64(k), float64(n), 0.95)
		require.NoError(t, err)
		return i
	}
	for _, p := range []float64{0.1, 0.5, 0.8, 0.97} {
		for _, q := range []float64{0.3, 0.6, 0.95} {
			held := 0
			const draws = 4000
			for range draws {
				m, err := stat.Mean(draw(p, 24), draw(q, 48))
				require.NoError(t, err)
				require.GreaterOrEqual(t, m.Lo, 0.0)
				require.LessOrEqual(t, m.Hi, 1.0)
				if m.Lo <= (p+q)/2 && (p+q)/2 <= m.Hi {
					held++
				}
			}
			require.InDelta(t, 0.95, float64(held)/draws, 0.025, "%v and %v", p, q)
		}
	}
	a, err := stat.Wilson(1, 2, 0.9)
	require.NoError(t, err)
	b, err := stat.Wilson(1, 2, 0.95)
	require.NoError(t, err)
	_, err = stat.Mean(a, b)
	require.Error(t, err)
}
