package stat

import "math"

// welch gives the variance of the difference of two means, and its degrees of
// freedom, from the variances and sizes of two samples that need not vary alike.
// Each sample has two values or more.
//
// Source: B. L. Welch, Biometrika 34 (1947) 28-35; F. E. Satterthwaite,
// Biometrics 2 (1946) 110-114.
func welch(va, na, vb, nb float64) (variance, df float64) {
	qa, qb := va/na, vb/nb
	if qa+qb == 0 {
		return 0, na + nb - 2
	}
	return qa + qb, (qa + qb) * (qa + qb) / (qa*qa/(na-1) + qb*qb/(nb-1))
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
