package stat

import (
	"math"

	gonum "gonum.org/v1/gonum/stat"
)

// A Stratum holds the values of one stratum on two sides, one for each trial.
type Stratum struct{ Now, Before []float64 }

// MeanDifference returns the mean over strata of the difference of both sides' means, with
// its interval: over the strata by Student's t, of a single one over its trials by Welch's.
// Strata without a value on a side are left out; without any it returns ErrEmpty. Where
// nothing varies that could be counted the interval is infinite.
func MeanDifference(pairs []Stratum, level float64) (Interval, error) {
	if err := checkLevel(level); err != nil {
		return Interval{}, err
	}
	var differences []float64
	var last Stratum
	for _, p := range pairs {
		if len(p.Now) > 0 && len(p.Before) > 0 {
			differences = append(differences, gonum.Mean(p.Now, nil)-gonum.Mean(p.Before, nil))
			last = p
		}
	}
	n := float64(len(differences))
	if n == 0 {
		return Interval{}, ErrEmpty
	}
	out := Interval{Center: gonum.Mean(differences, nil), Level: level, Lo: math.Inf(-1),
		Hi: math.Inf(1)}
	var se, df float64
	switch a, b := float64(len(last.Now)), float64(len(last.Before)); {
	case n > 1:
		se, df = gonum.StdDev(differences, nil)/math.Sqrt(n), n-1
	case a > 1 && b > 1:
		va, vb := gonum.Variance(last.Now, nil)/a, gonum.Variance(last.Before, nil)/b
		se, df = math.Sqrt(va+vb), (va+vb)*(va+vb)/(va*va/(a-1)+vb*vb/(b-1))
		if se == 0 {
			df = a + b - 2
		}
	default:
		return out, nil
	}
	half := se * studentQuantile(0.5+level/2, df)
	out.Lo, out.Hi = out.Center-half, out.Center+half
	return out, nil
}
