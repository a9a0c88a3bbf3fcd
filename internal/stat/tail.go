package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

func normalTail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

func normalQuantile(p float64) float64 { return mathext.NormalQuantile(p) }

// studentTail is the chance to exceed t. Source: M. Abramowitz and I. A. Stegun,
// Handbook of Mathematical Functions (1964), 26.7.1: the incomplete beta function at
// df/(df+t²).
func studentTail(t, df float64) float64 {
	tail := mathext.RegIncBeta(df/2, 0.5, df/(df+t*t)) / 2
	if t < 0 {
		return 1 - tail
	}
	return tail
}

// studentQuantile gives what is exceeded with chance 1-p, the inverse of [studentTail].
func studentQuantile(p, df float64) float64 {
	x := mathext.InvRegIncBeta(df/2, 0.5, 2*min(p, 1-p))
	return math.Copysign(math.Sqrt(df*(1-x)/x), p-0.5)
}
