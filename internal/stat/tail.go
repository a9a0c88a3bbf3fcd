package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// normalQuantile returns the quantile of the standard normal distribution.
func normalQuantile(p float64) float64 { return mathext.NormalQuantile(p) }

// studentQuantile returns what Student's t exceeds with probability 1-p. Source: M.
// Abramowitz and I. A. Stegun, Handbook of Mathematical Functions (1964), 26.7.1.
func studentQuantile(p, df float64) float64 {
	x := mathext.InvRegIncBeta(df/2, 0.5, 2*min(p, 1-p))
	return math.Copysign(math.Sqrt(df*(1-x)/x), p-0.5)
}
