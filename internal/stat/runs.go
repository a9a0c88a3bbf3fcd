package stat

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// A Sample is what the runs of one project measured, on both sides: credits over
// entries, false findings, or the logarithm of what a run cost.
type Sample struct {
	Baseline, Now []float64
	Weight        float64 // of the project's difference of means in the drop
}

// An Exchange is the result of [ExchangeRuns].
type Exchange struct {
	Drop  float64 // weighted mean of baseline minus now over the projects
	P     float64 // share of the exchanges whose drop is at least Drop
	Bound float64 // a larger drop is excluded at 95 %; at least 0, +Inf if nothing is
	Count float64 // number of different exchanges
}

const (
	// maxExchanges is the number of exchanges up to which all are enumerated. Of more, so
	// many are drawn, the observed one among them.
	maxExchanges = 100_000
	// MaxBaseline and MaxNow are the trials a project that the gate takes: with more,
	// the exchanges of one project are too many to list.
	MaxBaseline, MaxNow = 12, 6
	// wrong is the error probability of a bound and of a possible drop.
	wrong = 0.05
	// rounding keeps the last bit of a sum from deciding a comparison.
	rounding = 1e-9
)

// A swap is what one exchange of a project's runs adds to the drop and to the shift.
type swap struct{ drop, shift float64 }

// ExchangeRuns tests whether the runs of the new side are worse. If nothing changed, the
// runs of a project could have come in any order. So runs change sides within each
// project, in all possible ways at once, and P is the share of these exchanges that show
// at least the observed drop. Up to 100,000 exchanges are enumerated, otherwise 99,999
// are drawn with a fixed seed.
//
// It assumes that the runs of a project are exchangeable if nothing changed, and that
// runs of different projects are independent. It assumes nothing about how runs are
// distributed, or how findings within a run depend on each other.
//
// The bound inverts the same test for a drop that is equal in all projects: a drop is
// excluded if, with the new runs shifted up by it, at most 5 % of the exchanges show as
// small a drop as was observed.
//
// It returns [ErrEmpty] without a project, and an error for a project without a run on a
// side, with more than 12 and 6 runs, or with a weight that is not positive. The order of
// projects and runs does not matter.
//
// Source: E. J. G. Pitman, Supplement to the JRSS 4 (1937) 119-130; E. S. Edgington and
// P. Onghena, Randomization Tests, 4th ed. (2007).
func ExchangeRuns(projects []Sample) (Exchange, error) {
	return exchangeRuns(projects, maxExchanges)
}

// exchangeRuns enumerates up to most exchanges, or draws most of them.
func exchangeRuns(projects []Sample, most int) (Exchange, error) {
	if len(projects) == 0 {
		return Exchange{}, ErrEmpty
	}
	e := Exchange{Count: 1}
	total := 0.0
	for i, s := range projects {
		if b, m := len(s.Baseline), len(s.Now); b == 0 || m == 0 || b > MaxBaseline || m > MaxNow {
			return Exchange{},
				fmt.Errorf("project %d: %d baseline and %d new runs: expected 1 to %d and 1 to %d",
					i+1, b, m, MaxBaseline, MaxNow)
		}
		if !(s.Weight > 0) {
			return Exchange{}, fmt.Errorf("project %d: weight %g: expected a positive one",
				i+1, s.Weight)
		}
		total += s.Weight
	}
	swaps := make([][]swap, len(projects))
	for i, s := range projects {
		swaps[i] = s.swaps(s.Weight / total)
		e.Drop += swaps[i][0].drop // the first exchange is none
		e.Count *= float64(len(swaps[i]))
	}
	slices.SortFunc(swaps, func(a, b []swap) int {
		return cmp.Or(len(a)-len(b), slices.CompareFunc(a, b, func(x, y swap) int {
			return cmp.Or(cmp.Compare(x.drop, y.drop), cmp.Compare(x.shift, y.shift))
		}))
	})
	var seen int
	limits := make([]float64, 0, int(min(e.Count, float64(most))))
	add := func(x swap) {
		if x.drop >= e.Drop-rounding {
			seen++
		}
		if 1-x.shift < rounding {
			limits = append(limits, math.Inf(1))
			return
		}
		limits = append(limits, (e.Drop-x.drop)/(1-x.shift))
	}
	if e.Count <= float64(most) {
		enumerate(swaps, swap{}, add)
	} else {
		draw(swaps, most, add)
	}
	e.P = float64(seen) / float64(len(limits))
	slices.Sort(limits)
	e.Bound = max(0, limits[len(limits)-1-int(wrong*float64(len(limits)))])
	return e, nil
}

// swaps lists all exchanges of a project's runs, the observed one first.
func (s Sample) swaps(weight float64) []swap {
	b, m := len(s.Baseline), len(s.Now)
	all := slices.Concat(slices.Sorted(slices.Values(s.Now)),
		slices.Sorted(slices.Values(s.Baseline)))
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	var out []swap
	// really: runs on the new side that belong there
	var choose func(from, left, really int, side float64)
	choose = func(from, left, really int, side float64) {
		if left == 0 {
			drop := (sum-side)/float64(b) - side/float64(m)
			shift := float64(really)/float64(m) - float64(m-really)/float64(b)
			out = append(out, swap{weight * drop, weight * shift})
			return
		}
		for i := from; i <= len(all)-left; i++ {
			is := 0
			if i < m {
				is = 1
			}
			choose(i+1, left-1, really+is, side+all[i])
		}
	}
	choose(0, m, 0, 0)
	return out
}

// enumerate calls add with the sum of each combination of exchanges.
func enumerate(swaps [][]swap, sum swap, add func(swap)) {
	if len(swaps) == 0 {
		add(sum)
		return
	}
	for _, x := range swaps[0] {
		enumerate(swaps[1:], swap{sum.drop + x.drop, sum.shift + x.shift}, add)
	}
}

// draw calls add with the sums of n random combinations of exchanges, the first of which is no
// exchange. Its seed is fixed.
func draw(swaps [][]swap, n int, add func(swap)) {
	rng := rand.New(rand.NewPCG(37, 1))
	for i := range n {
		var sum swap
		for _, of := range swaps {
			x := of[0]
			if i > 0 {
				x = of[rng.IntN(len(of))]
			}
			sum.drop, sum.shift = sum.drop+x.drop, sum.shift+x.shift
		}
		add(sum)
	}
}
