package stat

import (
	"fmt"
	"slices"
)

// A FamilySums holds the sums of the cases of one family in each trial, as whole points on a scale
// that all families share.
type FamilySums struct {
	Baseline, Now []int
}

// Bounds of one family, so that memory and counts stay in bounds whatever comes in:
// points of a trial, trials, and trials squared times points.
const (
	maxLattice = 4096
	maxTrials  = 1000
	maxWork    = 1 << 24
)

// ExchangeFamilies is the stratified randomisation test: if nothing changed, the trials
// of each family could have come in any order, on either side. It returns the share of
// exchanges in which the points of Now, summed over all families, are at most the
// observed ones. The share is summed exactly by convolution: nothing is drawn.
//
// It assumes that families are independent of each other within a trial. With one
// family of zeros and ones it is Fisher's exact test, with several the exact
// conditional form of Cochran, Mantel and Haenszel's.
//
// Each family needs a trial on both sides and has at most 1,000; points are from
// 0 to 4,096, which 64 trials may reach: more trials, fewer points (trials squared
// times points stay below 2^24). Without families it returns [ErrEmpty].
//
// Source: E. J. G. Pitman, Supplement to JRSS 4 (1937) 119-130; C. R. Mehta,
// N. R. Patel and R. Gray, JASA 80 (1985) 969-973.
func ExchangeFamilies(families []FamilySums) (float64, error) {
	if len(families) == 0 {
		return 0, ErrEmpty
	}
	observed, low, step := 0, 0, 0
	// all trials sorted, in Baseline; how many are dealt to Now, as the length of Now
	var open []FamilySums
	for i, s := range families {
		if len(s.Baseline) == 0 || len(s.Now) == 0 {
			return 0, fmt.Errorf("family %d: %d baseline and %d new trials: each side needs one", i,
				len(s.Baseline), len(s.Now))
		}
		all := slices.Concat(s.Baseline, s.Now)
		if len(all) > maxTrials {
			return 0, fmt.Errorf("family %d: %d trials on both sides: at most %d", i,
				len(all), maxTrials)
		}
		slices.Sort(all)
		if n := len(all); n*n*(all[n-1]-all[0]) > maxWork {
			return 0, fmt.Errorf(
				"family %d: %d trials of %d to %d points: too many for an exact test", i, n,
				all[0], all[n-1])
		}
		if all[0] < 0 || all[len(all)-1] > maxLattice {
			return 0, fmt.Errorf("family %d: points %d to %d: must lie between 0 and %d", i, all[0],
				all[len(all)-1], maxLattice)
		}
		for _, v := range s.Now {
			observed += v
		}
		low += all[0] * len(s.Now)
		if all[0] == all[len(all)-1] {
			continue // every deal is alike
		}
		for _, v := range all {
			step = gcd(v-all[0], step)
		}
		open = append(open, FamilySums{all, s.Now})
	}
	var spread [][]float64 // what each family can give to Now, from its least up, in steps
	deals := map[string][]float64{}
	for _, s := range open {
		least := s.Baseline[0]
		for i := range s.Baseline {
			s.Baseline[i] = (s.Baseline[i] - least) / step
		}
		key := fmt.Sprint(len(s.Now), s.Baseline)
		if deals[key] == nil {
			deals[key] = deal(s.Baseline, len(s.Now))
		}
		spread = append(spread, deals[key])
	}
	// Only sums up to the observed one matter, so longer tails are never computed.
	limit := (observed - low) / max(step, 1)
	// Narrow families first: the work is the sum of products of lengths.
	slices.SortFunc(spread, func(a, b []float64) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return slices.Compare(a, b)
	})
	dist := []float64{1}
	for _, s := range spread {
		dist = convolve(dist, s, limit)
	}
	p := 0.0
	for _, v := range dist[:min(limit+1, len(dist))] {
		p += v
	}
	return min(1, p), nil
}

// deal returns the distribution of the sum of k of the sorted values, drawn
// without putting back. The least value is 0.
func deal(sorted []int, k int) []float64 {
	span := 0
	for _, v := range sorted[len(sorted)-k:] {
		span += v
	}
	// ways[j][s]: how many sets of j values sum to s. Counts up to
	// C(n,k) are exact in a float64 up to 56 trials, and good to its last bits above.
	ways := make([][]float64, k+1)
	for j := range ways {
		ways[j] = make([]float64, span+1)
	}
	ways[0][0] = 1
	for i, v := range sorted {
		for j := min(i+1, k); j > 0; j-- {
			to, from := ways[j], ways[j-1]
			for s := span; s >= v; s-- {
				to[s] += from[s-v]
			}
		}
	}
	total := 0.0
	for _, w := range ways[k] {
		total += w
	}
	out := ways[k]
	for s := range out {
		out[s] /= total
	}
	return out
}

// convolve returns the distribution of the sum of two numbers, up to limit.
func convolve(a, b []float64, limit int) []float64 {
	out := make([]float64, min(len(a)+len(b)-1, limit+1))
	for j, y := range b {
		if y == 0 || j >= len(out) {
			continue
		}
		for i, x := range a[:min(len(a), len(out)-j)] {
			out[i+j] += x * y
		}
	}
	return out
}

// gcd returns the greatest common divisor.
func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// variance returns that of a trial's points, over both sides.
func (f *FamilySums) variance() float64 {
	n, sum, squares := len(f.Baseline)+len(f.Now), 0, 0
	for _, v := range slices.Concat(f.Baseline, f.Now) {
		sum, squares = sum+v, squares+v*v
	}
	return float64(n*squares-sum*sum) / float64(n*(n-1))
}
