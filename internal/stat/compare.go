package stat

import (
	"fmt"
	"math"
	"slices"
)

// A Standing says which of two reviewers is better.
type Standing string

// The standings.
const (
	Better       Standing = "better"
	Worse        Standing = "worse"
	Inconclusive Standing = "inconclusive"
)

// A Comparison sets one reviewer, Now, against another, Baseline, on the same cases.
type Comparison struct {
	Standing        Standing // of Now
	Diff            Interval // balanced accuracy of Now minus that of Baseline, percentage points
	P               float64  // chance of such a difference, either way, were the reviewers alike
	Cases, Families int      // that both answered
	Need            Need     // what would decide it; empty where it is decided
	Warnings        []string
}

// A Need is what would decide a comparison, beyond what is there.
type Need struct {
	Size     float64 // percentage points: the difference that it is computed for
	Trials   int     // more trials of each case by each reviewer
	Families int     // more families, where no number of trials is enough
}

const (
	// actionable is the smallest difference, in percentage points, for which Compare
	// computes a Need.
	actionable = 5.0
	// power is the probability that what a Need asks for decides a difference of its size.
	power = 0.9
	// mostTrials is the largest number of trials that is asked for.
	mostTrials = 100
)

// Compare reports whether one reviewer, whose trials are Now, is better or worse than
// another, whose are Baseline, in balanced accuracy; where all cases are bad, as the
// entries of a key are, in recall. They may have different numbers of trials. It asks
// whether the difference would hold on other families like these, not only on other
// trials of these: families are the unit, with whatever dependence within. level is the
// confidence, 0.95 for 95 %; the comparison is conclusive where P is at most 1 - level.
//
// P is exact: were the reviewers alike, each family's difference could as well
// have the other sign, all signs are taken (the paired randomisation test of
// R. A. Fisher, The Design of Experiments (1935), 21; with single cases of one
// trial it is McNemar's exact test). Diff is the linearised interval over
// families with Student's quantile.
//
// Cases without an answer of either reviewer are left out, with a warning. It
// returns an error for a case without ID or family or named twice, and values
// other than 0, 0.5, 1 and NaN; without a case that both answered one that wraps
// [ErrEmpty].
func Compare(pairs []Item, level float64) (Comparison, error) {
	if err := checkLevel(level); err != nil {
		return Comparison{}, err
	}
	d, err := differences(pairs)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{Standing: Inconclusive, Cases: d.cases, Families: len(d.families),
		Warnings: d.warnings}
	c.P = signFlip(d.lattice())
	c.Diff = d.interval(level)
	if c.P <= 1-level && c.Diff.Center != 0 {
		c.Standing = Better
		if c.Diff.Center < 0 {
			c.Standing = Worse
		}
		return c, nil
	}
	var doubt string
	c.Need, doubt = d.need(c.Diff.Center, level)
	if doubt != "" {
		c.Warnings = append(c.Warnings, doubt)
	}
	return c, nil
}

type difference struct {
	// its part in the difference less what its cases would give at the mean one, percentage
	// points
	spread float64
	noise  float64 // variance of its part that comes from trials, at the trials that are there
	points float64 // sum of the differences of its cases, each at its label's points
}

type differenceSet struct {
	families []difference
	center   float64 // the difference itself, percentage points
	cases    int
	trials   TrialCounts // of the two reviewers, the least that a case has
	single   bool        // some case has one trial only, so that noise is unknown
	scale    int         // a common multiple of the numbers of trials
	warnings []string
}

// differences returns the differences of families.
func differences(pairs []Item) (*differenceSet, error) {
	kept, left, err := answeredByBoth(pairs)
	if err != nil {
		return nil, err
	}
	var labels [2]int
	var means [2]float64
	for _, p := range kept {
		labels[index(p.Bad)]++
		means[index(p.Bad)] += mean(p.Now) - mean(p.Baseline)
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("comparison: no case that both answered: %w", ErrEmpty)
	}
	weight := weights(labels)
	center := 0.0
	for i, n := range labels {
		center += weight[i] * means[i]
		means[i] /= float64(max(1, n))
	}
	points := (&bench{label: labels}).points()
	d := &differenceSet{center: center, cases: len(kept), trials: TrialCounts{math.MaxInt, math.MaxInt},
		scale: 1}
	if left > 0 {
		d.warnings = append(d.warnings, fmt.Sprintf(
			"%d of %d cases were not answered by both reviewers, and are left out",
			left, len(pairs)))
	}
	for i, p := range kept {
		if i == 0 || kept[i-1].Family != p.Family {
			d.families = append(d.families, difference{})
		}
		f, at := &d.families[len(d.families)-1], index(p.Bad)
		diff := mean(p.Now) - mean(p.Baseline)
		f.spread += weight[at] * (diff - means[at])
		f.points += float64(points[at]) * diff
		a, b := answered(p.Now), answered(p.Baseline)
		d.trials = TrialCounts{min(d.trials.Baseline, b), min(d.trials.Now, a)}
		d.single = d.single || a < 2 || b < 2
		d.scale = lcm(lcm(d.scale, a), b)
	}
	d.addNoise(kept, weight)
	d.warnings = append(d.warnings, few(len(d.families))...)
	return d, nil
}

// weights returns the weight of a case by its label, in percentage points.
func weights(labels [2]int) (out [2]float64) {
	for i, n := range labels {
		switch {
		case n == 0:
		case labels[1-i] == 0:
			out[i] = 100 / float64(n)
		default:
			out[i] = 50 / float64(n)
		}
	}
	return out
}

// answeredByBoth returns the pairs that both answered, sorted by family and ID, and the number
// of the others.
func answeredByBoth(pairs []Item) (kept []Item, left int, err error) {
	pairs, err = checked(pairs, byFamily, "0, 0.5, 1 or NaN",
		func(v float64) bool { return v == 0 || v == 0.5 || v == 1 || math.IsNaN(v) })
	if err != nil {
		return nil, 0, err
	}
	all := len(pairs)
	kept = slices.DeleteFunc(pairs,
		func(p Item) bool { return answered(p.Baseline) == 0 || answered(p.Now) == 0 })
	return kept, all - len(kept), nil
}

// addNoise takes the variance over trials of each family as a whole, since its cases
// may go wrong together.
func (d *differenceSet) addNoise(kept []Item, weight [2]float64) {
	for at, items := range runsOf(kept, byFamily) {
		for _, side := range []func(Item) []float64{ofNow, ofBaseline} {
			n := 0
			for _, p := range items {
				n = max(n, len(side(p)))
			}
			runs := make([]float64, n)
			for _, p := range items {
				addScores(runs, side(p), mean(side(p)), weight[index(p.Bad)])
			}
			if n > 1 {
				_, variance := moments(runs)
				d.families[at].noise += variance / float64(n)
			}
		}
	}
}

// lattice returns each family's points as whole numbers. Where they are no
// multiples of a small fraction they are rounded, half away from 0: the test is
// exact for any points that change sign when the reviewers change places.
func (d *differenceSet) lattice() []int {
	const most = 1 << 16
	total := 0.0
	for _, f := range d.families {
		total += math.Abs(f.points)
	}
	scale := float64(2 * d.scale) // halves are whole, too
	if total*scale > most {
		scale = most / total
	}
	out := make([]int, len(d.families))
	for i, f := range d.families {
		out[i] = int(math.Round(f.points * scale))
	}
	return out
}

// signFlip returns the probability that a sum of differences lies as far from 0 as it
// does, or farther, if each could as well have had the other sign; summed exactly
// over all signs. Its time grows with the number of differences times the sum of
// their sizes. Of no differences, or zeros only, it is 1.
func signFlip(diffs []int) float64 {
	sum, total := 0, 0
	for _, d := range diffs {
		sum += d
		total += max(d, -d)
	}
	// Adding 0 or |d| instead of -|d| or |d| halves the lattice.
	dist := make([]float64, total+1)
	dist[0] = 1
	reach := 0
	sizes := make([]int, 0, len(diffs))
	for _, d := range diffs {
		if d != 0 {
			sizes = append(sizes, max(d, -d))
		}
	}
	slices.Sort(sizes)
	for _, a := range sizes {
		reach += a
		for s := reach; s >= 0; s-- {
			v := dist[s] / 2
			if s >= a {
				v += dist[s-a] / 2
			}
			dist[s] = v
		}
	}
	p := 0.0
	far := max(sum, -sum)
	for s, v := range dist {
		if at := 2*s - total; at >= far || -at >= far {
			p += v
		}
	}
	return min(1, p)
}

// variance returns the variance of the difference, and its part that more trials remove.
func (d *differenceSet) variance() (all, noise float64) {
	g := float64(len(d.families))
	for _, f := range d.families {
		all += f.spread * f.spread
		noise += f.noise
	}
	if g > 1 {
		all *= g / (g - 1)
	}
	return all, min(noise, all)
}

// quantile returns Student's quantile for a confidence.
func (d *differenceSet) quantile(level float64) float64 {
	return studentQuantile(1-(1-level)/2, float64(len(d.families)-1))
}

// interval returns the linearised interval of the difference.
func (d *differenceSet) interval(level float64) Interval {
	iv := Interval{Center: d.center, Lo: -100, Hi: 100, Level: level}
	g := float64(len(d.families))
	if g < 2 {
		iv.Warnings = append(iv.Warnings, oneFamily)
		return iv
	}
	all, _ := d.variance()
	half := d.quantile(level) * math.Sqrt(all)
	if all == 0 {
		// No family differed from the others; as many as this share of all families
		// still might, unseen.
		half = 100 * (1 - math.Pow((1-level)/2, 1/g))
		iv.Warnings = append(iv.Warnings,
			"no family differs from the others: the interval is what unseen families might hide")
	}
	iv.Lo, iv.Hi = max(-100, iv.Center-half), min(100, iv.Center+half)
	return iv
}

// need returns what would decide a difference of the size that was seen, or of
// the actionable size where that is larger. The variance falls to what families
// differ by as trials grow; where that alone is too much, only families help, and so
// they do where all signs of those that differ come about by chance too often.
func (d *differenceSet) need(seen, level float64) (n Need, doubt string) {
	n.Size = max(math.Abs(seen), actionable)
	families := len(d.families)
	g := float64(families)
	if families < 2 {
		n.Families = fewClusters - 1
		return n, "one family cannot decide anything"
	}
	reach := n.Size / (d.quantile(level) + normalQuantile(power))
	wanted := reach * reach
	all, noise := d.variance()
	more := max(1, int(math.Ceil(g*all/wanted-g)))
	fewest := 1 + int(math.Ceil(-math.Log2(1-level)))
	switch {
	case families < fewest:
		n.Families = max(more, fewest-families)
		return n, fmt.Sprintf("%d families cannot decide anything, %d are the fewest that can",
			families, fewest)
	case all <= wanted && math.Abs(seen) < n.Size:
		return n, fmt.Sprintf(
			"a difference of %.1f points would have shown: what there is, is likely smaller",
			n.Size)
	case all <= wanted:
		n.Families = max(1, fewest-d.differing())
		return n, ""
	case d.single:
		n.Trials = 2
		return n, "with one trial, luck and difference cannot be told apart: after two more they can"
	}
	fixed := all - noise
	have := float64(min(d.trials.Baseline, d.trials.Now))
	if fixed < wanted {
		total := noise * have / (wanted - fixed)
		if total-have <= mostTrials {
			n.Trials = max(1, int(math.Ceil(total-have)))
			return n, ""
		}
	}
	n.Families = more
	return n, ""
}

// differing returns the number of families in which the two reviewers differ.
func (d *differenceSet) differing() (n int) {
	for _, points := range d.lattice() {
		if points != 0 {
			n++
		}
	}
	return n
}

// lcm returns the least common multiple, or a if it would be too large.
func lcm(a, b int) int {
	if l := a / gcd(a, b) * b; l <= 1<<20 {
		return l
	}
	return a
}

// moments returns mean and variance (n-1).
func moments(x []float64) (mean, variance float64) {
	mean = average(x)
	for _, v := range x {
		variance += (v - mean) * (v - mean)
	}
	return mean, variance / float64(len(x)-1)
}
