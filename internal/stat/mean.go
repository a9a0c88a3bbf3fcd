package stat

import (
	"errors"
	"math"
)

// Mean gives the mean of two independent shares and its interval, from theirs:
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
	mid := (a.Center + b.Center) / 2
	lo := math.Hypot(a.Center-a.Lo, b.Center-b.Lo) / 2
	hi := math.Hypot(a.Hi-a.Center, b.Hi-b.Center) / 2
	return Interval{Center: mid, Lo: mid - lo, Hi: mid + hi, Level: a.Level}, nil
}
