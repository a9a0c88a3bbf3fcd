package stat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// AllCases is the name of the part that GateBench judges.
const AllCases = "all cases"

// GateBench judges cases, or sites of module reviews, against a baseline: balanced
// accuracy, and errors. Values are 0, 1 and NaN. Trials are exchanged within families, whole families at a
// time, so that what belongs to one family may be right and wrong together; where
// cases have groups, whole groups as well, and the larger chance counts.
//
// A drop counts when it is more than one case, and more than 5 points of balanced
// accuracy or a rise of errors by half; the figure that counts is tested as in
// [GateRecall], but for what is bounded beforehand: a trial asks each case in a
// conversation of its own, so that only a day may move it as a whole.
//
// A case that has no answer in more than half of the trials of a side is left
// out, and a family's trial in which one of its other cases has no answer does
// not count; both are told by warnings. Without a baseline the answer is not
// settled.
//
// It returns an error for a case without ID or family or named twice, trials that
// differ in number, and values other than 0, 1 and NaN; of no cases of either label
// one that wraps [ErrEmpty].
func GateBench(cases []Item, plan Plan) (Part, error) {
	cases, err := checkCases(cases)
	if err != nil {
		return Part{}, err
	}
	have := Trials{len(cases[0].Baseline), len(cases[0].Now)}
	at, used := plan.lookAt(have, 1)
	part := Part{Name: AllCases, Items: len(cases), Trials: have, Used: used}
	if used.Baseline == 0 || used.Now == 0 {
		err := plan.judge(&part, &sample{}, at, test{share: 1, least: 1})
		return part, err
	}
	b := newBench(cases, used)
	if b.label[0] == 0 || b.label[1] == 0 {
		return Part{}, fmt.Errorf("balanced accuracy: %d good and %d bad cases with answers on both sides: %w", b.label[0], b.label[1], ErrEmpty)
	}
	part.Items = len(b.cases)
	balanced := b.sample(b.points(), [2]float64{50 / float64(b.label[0]), 50 / float64(b.label[1])})
	if len(balanced.strata) == 0 {
		return Part{}, fmt.Errorf("bench gate: no family has a trial on both sides in which all its cases were answered: %w", ErrEmpty)
	}
	each := 100 / float64(len(b.cases))
	errors := b.sample([2]int{1, 1}, [2]float64{each, each})
	for _, c := range b.cases {
		was, is := 1-mean(c.Baseline), 1-mean(c.Now)
		part.Errors[0] += was
		part.Errors[1] += is
		part.Drop += (is - was) * 50 / float64(b.label[index(c.Bad)])
	}
	part.Lost = part.Errors[1] - part.Errors[0]
	part.Warnings = b.warnings
	byErrors := part
	t := test{share: 1, least: 1, noise: noise{day: dayNoise}, counts: part.pointsDrop}
	if err := plan.judge(&part, &balanced, at, t); err != nil {
		return Part{}, err
	}
	t.counts = byErrors.ErrorsRise
	if err := plan.judge(&byErrors, &errors, at, t); err != nil {
		return Part{}, err
	}
	if severity(byErrors.Decision) > severity(part.Decision) {
		byErrors.Upper = part.Upper
		part = byErrors
	}
	return part, nil
}

func severity(d Decision) int { return slices.Index([]Decision{NoDrop, NotSettled, Drop}, d) }

func checkCases(cases []Item) ([]Item, error) {
	cases, err := checked(cases, byFamily, "0, 1 or NaN", func(v float64) bool { return v == 0 || v == 1 || math.IsNaN(v) })
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		if (c.Group == "") != (cases[0].Group == "") {
			return nil, fmt.Errorf("case %s: group %q, case %s has %q: name all or none", c.ID, c.Group, cases[0].ID, cases[0].Group)
		}
	}
	return cases, sameTrials(cases)
}

type bench struct {
	cases    []Item
	label    [2]int // good, bad cases
	used     Trials
	warnings []string
}

func newBench(cases []Item, used Trials) bench {
	b := bench{used: used}
	out := 0
	for _, c := range cases {
		c.Baseline, c.Now = c.Baseline[:used.Baseline], c.Now[:used.Now]
		if 2*answered(c.Baseline) < len(c.Baseline) || 2*answered(c.Now) < len(c.Now) {
			out++
			continue
		}
		b.cases = append(b.cases, c)
		b.label[index(c.Bad)]++
	}
	if out > 0 {
		b.warnings = append(b.warnings, fmt.Sprintf(
			"%d of %d cases have no answer in more than half of the trials of a side, and are left out", out, len(cases)))
	}
	return b
}

// sample takes the points of a good and a bad case, and their weights in percentage
// points.
func (b *bench) sample(points [2]int, weight [2]float64) sample {
	s := sample{unit: weight[0] / float64(points[0]), baseline: make([]float64, b.used.Baseline), now: make([]float64, b.used.Now)}
	for _, c := range b.cases {
		// What has no answer counts as the case's mean over both sides, which leans to
		// "no drop".
		center := mean(slices.Concat(c.Baseline, c.Now))
		addScores(s.baseline, c.Baseline, center, weight[index(c.Bad)])
		addScores(s.now, c.Now, center, weight[index(c.Bad)])
	}
	var holes int
	s.strata, holes = b.strata(b.cases, points, byFamily)
	if b.cases[0].Group != "" {
		groups := slices.Clone(b.cases)
		slices.SortStableFunc(groups, func(x, y Item) int { return cmp.Compare(x.Group, y.Group) })
		s.also, _ = b.strata(groups, points, byGroup)
	}
	if w := fmt.Sprintf("%d trials of families lack an answer and do not count in the randomisation test", holes); holes > 0 && !slices.Contains(b.warnings, w) {
		b.warnings = append(b.warnings, w)
	}
	return s
}

// strata takes sorted cases. Holes are trials that lack an answer.
func (b *bench) strata(cases []Item, points [2]int, by func(Item) string) (out []Stratum, holes int) {
	for _, cluster := range runsOf(cases, by) {
		st, h := stratum(cluster, points, b.used)
		holes += h
		if len(st.Baseline) > 0 && len(st.Now) > 0 {
			out = append(out, st)
		}
	}
	return out, holes
}

// points gives the small whole numbers, up to 5, whose ratio is nearest to the
// weights that balanced accuracy gives a good and a bad case. The randomisation
// test is exact for any such points; the ratio only aims it.
func (b *bench) points() [2]int {
	want := math.Log(float64(b.label[1]) / float64(b.label[0]))
	best, at := math.Inf(1), [2]int{1, 1}
	for good := 1; good <= 5; good++ {
		for bad := 1; bad <= 5; bad++ {
			if d := math.Abs(math.Log(float64(good)/float64(bad)) - want); d < best-1e-12 {
				best, at = d, [2]int{good, bad}
			}
		}
	}
	return at
}
