package stat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// GateBench judges balanced accuracy, of cases or of sites, against a baseline. Trials
// are exchanged within families, whole families at a time (see [ExchangeFamilies]), so
// that what belongs to one family may be right and wrong together. Where cases have
// groups, whole groups are exchanged too, and the larger chance counts.
//
// Values are 1 for right, 0 for wrong or unanswered, and NaN for never asked: a trial of
// a family in which a case was not asked does not count. A case that was asked in less
// than half of the trials of a side is left out, with a warning.
//
// The decisions are those of [GateRecall], without its rules for few projects. Errors that
// rise over all cases alike (p at most 5 %) are a possible drop, too. The bound
// is the drop and 1.645 standard errors of the exchange; where no case was ever wrong,
// the error rate that the rule of three leaves open (3 of n) takes its place.
//
// It returns an error for a case without ID or family or named twice, trials that
// differ in number, and other values; of no cases of either label, or without a trial
// on a side, one that wraps [ErrEmpty].
func GateBench(cases []Item) (Gate, []string, error) {
	cases, err := checkCases(cases)
	if err != nil {
		return Gate{}, nil, err
	}
	have := TrialCounts{min(len(cases[0].Baseline), MaxBaseline), len(cases[0].Now)}
	at := stages[0]
	for _, s := range stages {
		if have.Now >= s.trials {
			at = s
		}
	}
	used := TrialCounts{have.Baseline, min(have.Now, at.trials)}
	b := newBench(cases, used)
	if used.Baseline == 0 || used.Now == 0 || b.label[0] == 0 || b.label[1] == 0 {
		return Gate{}, b.warnings,
			fmt.Errorf("%d good and %d bad cases with answers on both sides: %w",
				b.label[0], b.label[1], ErrEmpty)
	}
	g := Gate{Decision: NoDrop, Alpha: at.recall, Stage: at.trials, Now: have.Now, Phi: 1}
	g.Count = math.Inf(1)
	errors := 0.0
	for _, c := range b.cases {
		was, is := 1-mean(c.Baseline), 1-mean(c.Now)
		errors += was + is
		g.Drop += (is - was) / 2 / float64(b.label[index(c.Bad)])
	}
	byErrors := 0.0 // p of the errors, all cases alike
	for _, by := range []func(Item) string{byFamily, byGroup} {
		if by(b.cases[0]) == "" {
			continue
		}
		x, err := b.exchange(b.points(), by)
		if err != nil {
			return Gate{}, b.warnings, err
		}
		plain, err := b.exchange([2]int{1, 1}, by)
		if err != nil {
			return Gate{}, b.warnings, err
		}
		g.P, g.SE, byErrors = max(g.P, x.P), max(g.SE, x.SE), max(byErrors, plain.P)
		g.Count = min(g.Count, x.Count)
	}
	if errors == 0 {
		g.SE = b.ruleOfThree()
	}
	g.Bound, g.D80 = max(0, g.Drop+z95*g.SE), 4*g.SE
	switch {
	case g.P <= g.Alpha:
		g.Decision, g.Rule = Drop, ByExchange
	case min(g.P, byErrors) <= wrong, g.Count < noExchanges && g.Drop > z95*g.SE:
		g.Decision, g.Rule = PossibleDrop, ByExchange
	case g.Bound > widest:
		g.Decision, g.Rule = TooWide, ByBound
	}
	g.adviseBench(used.Baseline, len(runsOf(b.cases, byFamily)))
	return g, b.warnings, nil
}

// adviseBench asks for the first stage that finds the drop with 80 % power, or for more
// families where the last does not.
func (g *Gate) adviseBench(baseline, families int) {
	if g.Decision == NoDrop || g.Decision == Drop {
		return
	}
	each := 4 * g.SE / math.Sqrt(1/float64(baseline)+1/float64(g.Stage))
	want := g.Drop
	if g.Decision == TooWide {
		want = widest
	}
	for _, s := range stages {
		b := max(baseline, s.trials)
		if s.trials > g.Stage && each*math.Sqrt(1/float64(b)+1/float64(s.trials)) <= want {
			g.Advice = Advice{Trials: max(1, s.trials-g.Now), Baseline: b - baseline, Sure: true}
			return
		}
	}
	last := float64(stages[len(stages)-1].trials)
	d80 := each * math.Sqrt(2/last)
	g.Advice = Advice{Units: max(1,
		int(math.Ceil(float64(families)*(d80/want)*(d80/want)))-families)}
}

func checkCases(cases []Item) ([]Item, error) {
	valid := func(v float64) bool { return v == 0 || v == 1 || math.IsNaN(v) }
	cases, err := checked(cases, byFamily, "0, 1 or NaN", valid)
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		if (c.Group == "") != (cases[0].Group == "") {
			return nil, fmt.Errorf("case %s: group %q, case %s has %q: name all or none", c.ID,
				c.Group, cases[0].ID, cases[0].Group)
		}
	}
	return cases, sameTrials(cases)
}

type bench struct {
	cases    []Item
	label    [2]int // good, bad cases
	used     TrialCounts
	warnings []string
}

func newBench(cases []Item, used TrialCounts) bench {
	b := bench{used: used}
	for _, c := range cases {
		c.Baseline, c.Now = c.Baseline[:used.Baseline], c.Now[:used.Now]
		if answered(c.Baseline) > 0 && 2*answered(c.Baseline) >= len(c.Baseline) &&
			answered(c.Now) > 0 && 2*answered(c.Now) >= len(c.Now) {
			b.cases = append(b.cases, c)
			b.label[index(c.Bad)]++
		}
	}
	if out := len(cases) - len(b.cases); out > 0 {
		b.warnings = append(b.warnings, fmt.Sprintf(
			"%d of %d cases were not asked in more than half of the trials of a side, and are left out", out, len(cases)))
	}
	return b
}

// exchange exchanges what cases earn together, in points for a good and a bad one. Trials
// in which one of them was not asked are left out.
func (b *bench) exchange(points [2]int, by func(Item) string) (g Gate, err error) {
	unit := 0.5 / float64(b.label[0]) / float64(points[0])
	cases := slices.Clone(b.cases)
	slices.SortStableFunc(cases, func(x, y Item) int { return cmp.Compare(by(x), by(y)) })
	var families []FamilySums
	variance := 0.0
	g.Count = 1
	for _, cluster := range runsOf(cases, by) {
		f := FamilySums{sums(cluster, points, b.used.Baseline, ofBaseline),
			sums(cluster, points, b.used.Now, ofNow)}
		was, is := len(f.Baseline), len(f.Now)
		if was == 0 || is == 0 {
			continue
		}
		families = append(families, f)
		g.Count *= binomial(was+is, is)
		variance += f.variance() * unit * unit * (1/float64(was) + 1/float64(is))
	}
	if len(families) == 0 {
		return g, fmt.Errorf(
			"no family has a trial on both sides in which all its cases were asked: %w", ErrEmpty)
	}
	g.SE = math.Sqrt(variance)
	g.P, err = ExchangeFamilies(families)
	return g, err
}

func sums(cases []Item, points [2]int, trials int, values func(Item) []float64) (out []int) {
trials:
	for i := range trials {
		sum := 0
		for _, c := range cases {
			v := values(c)[i]
			if math.IsNaN(v) {
				continue trials
			}
			sum += int(float64(points[index(c.Bad)]) * v)
		}
		out = append(out, sum)
	}
	return out
}

// ruleOfThree returns the standard error of the drop if 3 of all answers were wrong, of
// either label: with none of n wrong, a higher rate is excluded at 95 %.
func (b *bench) ruleOfThree() float64 {
	variance := 0.0
	for _, n := range b.label {
		cases := float64(n)
		rate := min(0.5, 3/(cases*float64(b.used.Baseline+b.used.Now)))
		variance += rate * (1 - rate) / cases / 4
	}
	return math.Sqrt(variance * (1/float64(b.used.Baseline) + 1/float64(b.used.Now)))
}

// points returns the small whole numbers, up to 5, whose ratio is nearest to the
// weights that balanced accuracy gives a good and a bad case. The exchange is exact for
// any such points; the ratio only aims it.
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
