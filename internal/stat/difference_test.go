package stat_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/internal/stat"
)

// TestMeanDifference compares with values worked out by hand: t(2) at 97.5 % is 4.302653, and
// Welch's of {1, 2, 3} and {2, 4, 9}: difference -3, SE 2.160247, df 2.304, t 3.8115.
func TestMeanDifference(t *testing.T) {
	over, err := stat.MeanDifference([]stat.Stratum{{Now: []float64{3}, Before: []float64{1}},
		{Now: []float64{4, 6}, Before: []float64{2}},
		{Now: []float64{5}, Before: []float64{1}}, {Now: []float64{5}}}, 0.95)
	require.NoError(t, err)
	require.InDelta(t, 3, over.Center, 1e-12)
	require.InDelta(t, 4.302653/math.Sqrt(3), over.Hi-over.Center, 1e-5)
	one, err := stat.MeanDifference([]stat.Stratum{{Now: []float64{1, 2, 3},
		Before: []float64{2, 4, 9}}}, 0.95)
	require.NoError(t, err)
	require.InDelta(t, -3, one.Center, 1e-12)
	require.InDelta(t, 2.160247*3.8115, one.Center-one.Lo, 0.05)
	single, err := stat.MeanDifference([]stat.Stratum{{Now: []float64{1}, Before: []float64{0}}}, 0.95)
	require.NoError(t, err)
	require.True(t, math.IsInf(single.Hi, 1) && math.IsInf(single.Lo, -1))
	_, err = stat.MeanDifference(nil, 0.95)
	require.ErrorIs(t, err, stat.ErrEmpty)
}
