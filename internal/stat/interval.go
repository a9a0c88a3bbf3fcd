package stat

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// ErrEmpty is returned where there is nothing to compute from: the figure is
// undefined, which is not the same as 0.
var ErrEmpty = errors.New("no observations: the figure is undefined")

// An Interval is a figure with the range that contains it at a given confidence.
type Interval struct {
	Center   float64  // the estimate itself; not always the middle of Lo and Hi
	Lo, Hi   float64  // in the unit of Center
	Level    float64  // confidence, 0.95 for 95 %
	Warnings []string // what makes the interval less than it claims; empty is good
}

// Wilson returns the score interval for successes out of n independent items, both
// from 0; successes may be fractional (half credits), which errs on the wide
// side. level lies between 0 and 1. It is never empty and never leaves 0 to 1.
// Of no items it returns [ErrEmpty].
//
// Source: E. B. Wilson, JASA 22 (1927) 209-212; method 3 of R. G. Newcombe,
// Statistics in Medicine 17 (1998) 857-872.
func Wilson(successes, n, level float64) (Interval, error) {
	if err := checkShare(successes, n, level); err != nil {
		return Interval{}, err
	}
	return score(successes/n, n, normalQuantile(1-(1-level)/2), level), nil
}

// score is Wilson's interval with z as the quantile.
func score(p, n, z, level float64) Interval {
	z2 := z * z
	mid := (p + z2/(2*n)) / (1 + z2/n)
	half := z / (1 + z2/n) * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	lo, hi := max(0, mid-half), min(1, mid+half)
	if p == 0 { // rounding must not leave a speck beyond the edge
		lo = 0
	}
	if p == 1 {
		hi = 1
	}
	return Interval{Center: p, Lo: min(lo, p), Hi: max(hi, p), Level: level}
}

// ClopperPearson returns the exact interval for successes out of n independent
// items: it covers at least level, and is wider than [Wilson]. Arguments and
// errors are as there.
//
// Source: C. J. Clopper and E. S. Pearson, Biometrika 26 (1934) 404-413, by
// quantiles of the beta distribution.
func ClopperPearson(successes, n, level float64) (Interval, error) {
	if err := checkShare(successes, n, level); err != nil {
		return Interval{}, err
	}
	tail := (1 - level) / 2
	iv := Interval{Center: successes / n, Lo: 0, Hi: 1, Level: level}
	if successes > 0 {
		iv.Lo = mathext.InvRegIncBeta(successes, n-successes+1, tail)
	}
	if successes < n {
		iv.Hi = mathext.InvRegIncBeta(successes+1, n-successes, 1-tail)
	}
	return iv, nil
}

// checkShare checks the arguments of an interval.
func checkShare(successes, n, level float64) error {
	if err := checkLevel(level); err != nil {
		return err
	}
	switch {
	case n == 0:
		return ErrEmpty
	case !(n > 0) || math.IsInf(n, 1):
		return fmt.Errorf("interval of %g items: the number of items must be positive and finite",
			n)
	case !(successes >= 0 && successes <= n):
		return fmt.Errorf(
			"interval of %g successes of %g items: successes must lie between 0 and the items",
			successes, n)
	}
	return nil
}

// checkLevel checks that a confidence is between 0 and 1.
func checkLevel(level float64) error {
	if !(level > 0 && level < 1) {
		return fmt.Errorf("confidence %g: must lie between 0 and 1 (0.95 for 95 %%)", level)
	}
	return nil
}
