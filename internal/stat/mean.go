package stat

import (
	"errors"
	"math"
)

// Mean returns the mean of two independent shares and its interval, from theirs:
// each side is as far off as the two shares' own sides are, squared and added. It
// takes no account of clusters; [Balanced] does, and takes longer. Both intervals
// must have the same level.
//
// Source: G. Y. Zou and A. Donner, Statistics in Medicine 27 (2008) 1693-1702
// (MOVER), after method 10 of R. G. Newcombe, Statistics in Medicine 17 (1998)
// 873-890.
func Mean(a, b Interval) (Interval, error) {
	if a.Level != b.Level {
		return Interval{}, errors.New("stat: the mean of two intervals of different levels")
	}
	return meanOf(a, b, 0), nil
}

// meanOf returns the mean of shares that are correlated by rho.
func meanOf(a, b Interval, rho float64) Interval {
	off := func(x, y float64) float64 { return math.Sqrt(x*x+y*y+2*rho*x*y) / 2 }
	mid := (a.Center + b.Center) / 2
	return Interval{Center: mid, Level: a.Level,
		Lo: max(0, mid-off(a.Center-a.Lo, b.Center-b.Lo)),
		Hi: min(1, mid+off(a.Hi-a.Center, b.Hi-b.Center))}
}
