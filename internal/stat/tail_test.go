package stat

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

// Tails and quantiles are those of an independent library.
func TestTails(t *testing.T) {
	t.Parallel()
	for _, p := range []float64{1e-12, 1e-6, 0.001, 0.025, 0.3, 0.5, 0.7, 0.975, 0.999} {
		require.InDelta(t, distuv.UnitNormal.Quantile(p), normalQuantile(p), 1e-12, "p %v", p)
		for _, df := range []float64{1, 2, 3.7, 12, 219} {
			want := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(p)
			require.InDelta(t, want, studentQuantile(p, df), 1e-9*max(1, math.Abs(want)),
				"p %v of %v", p, df)
		}
	}
}
