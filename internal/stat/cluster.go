package stat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// An Observation is one answer of one trial.
type Observation struct {
	Cluster string // the family: answers within one may depend on each other
	// what was asked in one request, across clusters: it counts as dependent as it shows; may
	// be empty
	Group string
	Bad   bool    // the case's label; Proportion ignores it
	Value float64 // 1 right, 0 wrong
}

// fewClusters is where the cluster-robust variance is known to be too small: its
// own error goes with the root of the number of clusters.
const fewClusters = 10

const oneFamily = "one family: nothing is known of how families differ, any value is possible"

// Proportion returns the share of right answers, with an interval that allows for
// any dependence within a cluster. Several trials of one case belong to the same
// cluster. Values lie between 0 and 1. Without observations it returns
// [ErrEmpty].
//
// It is Wilson's interval at the effective number of answers: the number divided
// by the design effect, which is the linearised variance of a ratio over
// clusters against the binomial one (W. G. Cochran, Sampling Techniques, 3rd ed.
// 1977, 3.12; J. N. K. Rao and A. J. Scott, Biometrics 48 (1992) 577-585), with
// Student's quantile at one degree of freedom less than there are clusters. How
// mistakes clump cannot be learnt from a handful of mistakes, so one cluster
// that is all wrong is added to what was seen when the design effect is
// estimated: without a mistake each cluster counts as one answer. Where answers
// form groups too, which cross the clusters, what shows over groups is added, as
// two-way variances are (A. C. Cameron, J. B. Gelbach, D. L. Miller, Journal of
// Business & Economic Statistics 29 (2011) 238-249).
func Proportion(obs []Observation, level float64) (Interval, error) {
	if err := checkLevel(level); err != nil {
		return Interval{}, err
	}
	cs, err := clusters(obs, byCluster)
	if err != nil {
		return Interval{}, err
	}
	return ratio(cs, groups(obs), level), nil
}

// byCluster returns the cluster of an observation.
func byCluster(o *Observation) string { return o.Cluster }

// groups returns the groups of observations, nil if they form none.
func groups(obs []Observation) []cluster {
	if len(obs) == 0 || obs[0].Group == "" {
		return nil
	}
	gs, err := clusters(obs, func(o *Observation) string { return o.Group })
	if err != nil {
		return nil // it is the error of their clusters
	}
	return gs
}

// Balanced returns the balanced accuracy: the mean of the share of bad cases that
// were called bad and of good ones that were called good. Its interval allows
// for any dependence within a cluster. Without observations of both labels it
// returns an error that wraps [ErrEmpty].
//
// The intervals of the two shares are those of [Proportion]; they are joined as
// variances (MOVER: G. Y. Zou and A. Donner, Statistics in Medicine 27 (2008)
// 1693-1702) with their correlation over clusters where it is positive.
func Balanced(obs []Observation, level float64) (Interval, error) {
	if err := checkLevel(level); err != nil {
		return Interval{}, err
	}
	bad := 0
	for i := range obs {
		if obs[i].Bad {
			bad++
		}
	}
	sides := [2][]Observation{make([]Observation, 0, len(obs)-bad), make([]Observation, 0, bad)}
	for _, o := range obs {
		i := 0
		if o.Bad {
			i = 1
		}
		sides[i] = append(sides[i], o)
	}
	var cs [2][]cluster
	var iv [2]Interval
	for i, name := range []string{"good", "bad"} {
		var err error
		if cs[i], err = clusters(sides[i], byCluster); err != nil {
			return Interval{}, fmt.Errorf("balanced accuracy, %s cases: %w", name, err)
		}
		iv[i] = ratio(cs[i], groups(sides[i]), level)
	}
	out := meanOf(iv[0], iv[1], max(0, correlation(cs[0], cs[1], iv[0].Center, iv[1].Center)))
	out.Warnings = iv[0].Warnings
	for _, w := range iv[1].Warnings {
		if !slices.Contains(out.Warnings, w) {
			out.Warnings = append(out.Warnings, w)
		}
	}
	return out, nil
}

type cluster struct {
	name   string
	sum, n float64
}

// clusters are sorted by name.
func clusters(obs []Observation, by func(*Observation) string) ([]cluster, error) {
	if len(obs) == 0 {
		return nil, ErrEmpty
	}
	at := map[string]int{}
	var names []string
	var values [][]float64
	last := -1 // observations of one cluster mostly follow each other
	for i := range obs {
		o := &obs[i]
		name := by(o)
		if !(o.Value >= 0 && o.Value <= 1) {
			return nil, fmt.Errorf(
				"cluster %q: value %g: must lie between 0 and 1; leave out what has no answer",
				name, o.Value)
		}
		if last < 0 || names[last] != name {
			i, ok := at[name]
			if !ok {
				i = len(names)
				at[name] = i
				names, values = append(names, name), append(values, nil)
			}
			last = i
		}
		values[last] = append(values[last], o.Value)
	}
	out := make([]cluster, len(names))
	for i, vs := range values {
		slices.Sort(vs) // so that sums round alike for any input order
		c := &out[i]
		c.name, c.n = names[i], float64(len(vs))
		for _, v := range vs {
			c.sum += v
		}
	}
	slices.SortFunc(out, func(a, b cluster) int { return cmp.Compare(a.name, b.name) })
	return out, nil
}

// effect is the design effect: the linearised variance of a ratio against the binomial
// one, of n observations with the share p.
func effect(cs []cluster, p, n float64) float64 {
	g := float64(len(cs))
	if p <= 0 || p >= 1 || g < 2 {
		return 1
	}
	var ss float64
	for _, c := range cs {
		d := c.sum - p*c.n
		ss += d * d
	}
	return max(1, g/(g-1)*ss/(n*p*(1-p)))
}

// ratio returns the interval of a sum of values divided by a sum of counts over clusters.
func ratio(cs, groups []cluster, level float64) Interval {
	var sum, n, squares float64
	for _, c := range cs {
		sum, n, squares = sum+c.sum, n+c.n, squares+c.n*c.n
	}
	p, g := sum/n, float64(len(cs))
	if g < 2 {
		return Interval{Center: p, Lo: 0, Hi: 1, Level: level, Warnings: []string{oneFamily}}
	}
	worst := squares / n // the design effect of clusters that are right or wrong as one
	seen := effect(cs, p, n) + effect(groups, p, n) - 1
	minority := min(sum, n-sum)
	expected := (seen*minority + worst*worst) / (minority + worst)
	if k := float64(len(groups)); k > 1 {
		g = min(g, k)
	}
	t := studentQuantile(1-(1-level)/2, g-1)
	iv := score(p, n/expected, t, level)
	iv.Warnings = few(int(g))
	return iv
}

// few returns a warning if there are few clusters.
func few(clusters int) []string {
	if clusters >= fewClusters {
		return nil
	}
	return []string{fmt.Sprintf("%d families: fewer than %d, the interval is rough",
		clusters, fewClusters)}
}

// correlation is 0 where it is undefined.
func correlation(a, b []cluster, pa, pb float64) float64 {
	other := make(map[string]float64, len(b))
	var sbb, sab, saa float64
	for _, c := range b {
		d := c.sum - pb*c.n
		other[c.name] = d
		sbb += d * d
	}
	for _, c := range a {
		d := c.sum - pa*c.n
		saa += d * d
		sab += d * other[c.name]
	}
	if saa == 0 || sbb == 0 {
		return 0
	}
	return sab / math.Sqrt(saa*sbb)
}
