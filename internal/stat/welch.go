package stat

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A WelchResult compares two means.
type WelchResult struct {
	Diff float64 // mean of a minus mean of b
	SE   float64 // standard error of Diff
	T    float64 // Diff / SE; infinite where SE is 0 and Diff is not, 0 where both are
	DF   float64 // degrees of freedom by Satterthwaite
}

// Welch compares the means of two samples that need not vary alike. It assumes
// that all values are independent and roughly normal. Each sample needs two
// finite values.
//
// Source: B. L. Welch, Biometrika 34 (1947) 28-35; F. E. Satterthwaite,
// Biometrics 2 (1946) 110-114.
func Welch(a, b []float64) (WelchResult, error) {
	if len(a) < 2 || len(b) < 2 {
		return WelchResult{}, fmt.Errorf("Welch's test of %d against %d values: each side needs at least 2", len(a), len(b))
	}
	ma, va := moments(a)
	mb, vb := moments(b)
	na, nb := float64(len(a)), float64(len(b))
	qa, qb := va/na, vb/nb
	w := WelchResult{Diff: ma - mb, SE: math.Sqrt(qa + qb), DF: na + nb - 2}
	if math.IsNaN(w.Diff) || math.IsNaN(w.SE) || math.IsInf(w.Diff, 0) || math.IsInf(w.SE, 0) {
		return WelchResult{}, fmt.Errorf("Welch's test: values must be finite numbers")
	}
	if w.SE > 0 {
		w.DF = (qa + qb) * (qa + qb) / (qa*qa/(na-1) + qb*qb/(nb-1))
	}
	w.T = ratioOf(w.Diff, w.SE)
	return w, nil
}

// ratioOf is a difference in standard errors: infinite where only the error is 0.
func ratioOf(diff, se float64) float64 {
	switch {
	case se > 0:
		return diff / se
	case diff != 0:
		return math.Copysign(math.Inf(1), diff)
	}
	return 0
}

// Greater gives the chance of a T at least as large where the means are equal.
func (w WelchResult) Greater() float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: w.DF}.Survival(w.T)
}

// moments gives mean and variance (n-1); values are few, two passes are exact
// enough.
func moments(x []float64) (mean, variance float64) {
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		variance += (v - mean) * (v - mean)
	}
	return mean, variance / float64(len(x)-1)
}
