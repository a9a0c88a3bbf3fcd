package stat

import (
	"errors"
	"fmt"
	"math"
)

// A Decision is what the gate says of a change.
type Decision string

// The decisions.
const (
	Drop       Decision = "drop"        // worse, by more than the threshold and more than chance
	NoDrop     Decision = "no drop"     // nothing that the gate would act on; Part.Upper says what is not ruled out
	NotSettled Decision = "not settled" // Part.More says what would settle it
)

// A Look is a number of trials a side at which the gate may decide. Looks are
// declared beforehand: whoever looks after every trial and stops when it suits
// finds a drop in anything.
type Look struct {
	Trials int
	Alpha  float64 // chance of calling a drop here that is none, over the whole suite
	Miss   float64 // chance of stopping here for "no drop" where the drop is Plan.Tolerance
}

// A Plan is what the gate was told before it saw a result.
type Plan struct {
	Looks     []Look  // by rising number of trials
	Threshold float64 // percentage points: a drop counts above this
	Tolerance float64 // percentage points: a drop of this size must not be missed
	Doubt     float64 // percentage points: a single project asks for more trials above this; lower finds more, and asks more
	MinItems  int     // entries or cases below which a key does not gate alone
	MinDrop   float64 // entries or cases: a drop counts above this many

	// lazy leaves out the randomisation test where it cannot change the decision.
	lazy bool
}

// DefaultPlan gives the plan of the regression and bench suites: looks at 3, 6,
// 12 and 24 trials a side, whose alphas sum to less than 1 %. docs/gate.md holds
// what it was measured to do.
func DefaultPlan() Plan {
	return Plan{
		Looks: []Look{
			{Trials: 3, Alpha: 0.001, Miss: 0.01},
			{Trials: 6, Alpha: 0.0025, Miss: 0.01},
			{Trials: 12, Alpha: 0.003, Miss: 0.01},
			{Trials: 24, Alpha: 0.0025, Miss: 0.01},
		},
		Threshold: 5,
		Tolerance: 10,
		Doubt:     5,
		MinItems:  30,
		MinDrop:   1,
	}
}

// Validate says what is wrong with a plan; nil means nothing.
func (p Plan) Validate() error {
	if len(p.Looks) == 0 {
		return errors.New("gate plan without looks: declare the numbers of trials at which it may decide")
	}
	for i, l := range p.Looks {
		switch {
		case l.Trials < 2:
			return fmt.Errorf("gate plan, look %d: %d trials: Welch's test needs at least 2 a side", i+1, l.Trials)
		case 2*l.Trials > maxTrials:
			return fmt.Errorf("gate plan, look %d: %d trials: at most %d a side", i+1, l.Trials, maxTrials/2)
		case i > 0 && l.Trials <= p.Looks[i-1].Trials:
			return fmt.Errorf("gate plan, look %d: %d trials after %d: looks must rise", i+1, l.Trials, p.Looks[i-1].Trials)
		case !(l.Alpha > 0 && l.Alpha < 0.5) || !(l.Miss > 0 && l.Miss < 0.5):
			return fmt.Errorf("gate plan, look %d: alpha %g, miss %g: both must lie between 0 and 0.5", i+1, l.Alpha, l.Miss)
		}
	}
	if !(p.Threshold >= 0 && p.Tolerance > p.Threshold && p.Tolerance <= 100) {
		return fmt.Errorf("gate plan: threshold %g, tolerance %g points: want 0 <= threshold < tolerance <= 100", p.Threshold, p.Tolerance)
	}
	if !(p.Doubt <= p.Threshold) {
		return fmt.Errorf("gate plan: doubt %g above threshold %g points: a drop that counts is always in doubt", p.Doubt, p.Threshold)
	}
	if p.MinItems < 1 || !(p.MinDrop >= 0) {
		return fmt.Errorf("gate plan: at least %d items, more than %g dropped: want 1 or more, and 0 or more", p.MinItems, p.MinDrop)
	}
	return nil
}

// rounding is what a drop may exceed a threshold by and still be at it, so that
// the last bit of a sum decides nothing.
const rounding = 1e-9

// last gives the trials of the last look.
func (p Plan) last() int { return p.Looks[len(p.Looks)-1].Trials }

// Trials is a number of trials on either side.
type Trials struct{ Baseline, Now int }

// A Part is one thing that the gate looks at: the pool of all projects, one
// project, or all cases.
type Part struct {
	Name     string
	Gates    bool    // whether it may decide; keys below Plan.MinItems only count in the pool
	Items    int     // entries or cases that were compared
	Trials   Trials  // that were there
	Used     Trials  // that were compared; 0 before the first look
	Drop     float64 // percentage points, baseline minus now; NaN where a side has no trial
	Lost     float64 // the drop in entries or cases
	Upper    float64 // percentage points: a larger drop is ruled out at the look's Miss; NaN before the first look
	Exchange float64 // chance of such a drop if trials are exchanged; NaN where not computed
	Runs     float64 // chance of such a drop by the run scores: the larger of Welch's and Student's; NaN where not computed
	P        float64 // the larger of the two
	Alpha    float64 // what P is held against; 0 before the first look and where the part does not gate
	Decision Decision
	More     Trials // trials that would bring the next look; none where there is none
	Warnings []Warning
}

// A Gate is the gate's answer.
type Gate struct {
	Decision Decision
	Drop     float64 // percentage points, baseline minus now, over everything
	P        float64 // of the part that decided: the first that dropped, else the whole
	More     Trials  // the most that any part asks for
	Parts    []Part  // the whole first, then projects by name; warnings are theirs
}

// A sample is what one part compares, cut to its look.
type sample struct {
	strata        []Stratum
	baseline, now []float64 // run scores in percentage points
	drop, lost    float64
}

// look gives the deepest look that both sides reach, -1 before the first, and
// the trials that it uses. A side that has more than the other gives all of them,
// up to the last look; the other gives what the look wants, since a look after
// each new trial would be a look that was never declared.
func (p Plan) look(have Trials) (int, Trials) {
	at := -1
	for i, l := range p.Looks {
		if min(have.Baseline, have.Now) >= l.Trials {
			at = i
		}
	}
	if at < 0 {
		return at, Trials{min(have.Baseline, p.last()), min(have.Now, p.last())}
	}
	used := Trials{p.Looks[at].Trials, p.Looks[at].Trials}
	if have.Now > have.Baseline {
		used.Now = min(have.Now, p.last())
	}
	if have.Baseline > have.Now {
		used.Baseline = min(have.Baseline, p.last())
	}
	return at, used
}

// more gives the trials that bring the look after at, and none after the last.
func (p Plan) more(have Trials, at int) Trials {
	if at+1 >= len(p.Looks) {
		return Trials{}
	}
	next := p.Looks[at+1].Trials
	return Trials{max(0, next-have.Baseline), max(0, next-have.Now)}
}

// judge fills in what a sample says. share is the part of the look's alpha that
// is this part's to spend, 0 if it does not gate; whole says that it is the whole
// suite, which must rule out a drop of the tolerance before it stops.
func (p Plan) judge(part Part, s sample, at int, share float64, whole bool) (Part, error) {
	part.Drop, part.Lost = s.drop, s.lost
	part.Upper, part.Exchange, part.Runs, part.P = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	part.Decision, part.Gates = NotSettled, share > 0
	if !part.Gates {
		part.Warnings = append(part.Warnings, Warning(fmt.Sprintf(
			"%d items: fewer than %d do not gate alone", part.Items, p.MinItems)))
	}
	if at < 0 {
		part.Used = Trials{}
		if part.Gates {
			part.More = p.more(part.Trials, at)
		}
		return part, nil
	}
	look := p.Looks[at]
	w, err := Welch(s.baseline, s.now)
	if err != nil {
		return part, fmt.Errorf("%s: %w", part.Name, err)
	}
	// With 3 new runs against 24, Welch's test trusts a spread that is small by
	// luck; Student's does not. With as many on both sides Welch's is the larger.
	e := student(s.baseline, s.now)
	part.Alpha = look.Alpha * share
	part.Runs, part.Upper = max(w.Greater(), e.Greater()), max(w.Upper(look.Miss), e.Upper(look.Miss))
	counts := s.drop > p.Threshold+rounding && s.lost > p.MinDrop+rounding
	part.P = part.Runs
	if !p.lazy || counts && part.Runs <= part.Alpha {
		if part.Exchange, err = Exchange(s.strata); err != nil {
			return part, fmt.Errorf("%s: %w", part.Name, err)
		}
		part.P = max(part.Runs, part.Exchange)
	}
	switch {
	case !part.Gates: // shown, never decided
	case counts && part.P <= part.Alpha:
		part.Decision = Drop
	case !counts && (part.Upper < p.Tolerance || at == len(p.Looks)-1 || !whole && s.drop <= p.Doubt+rounding):
		part.Decision = NoDrop
	default:
		part.More = p.more(part.Trials, at)
		if part.More == (Trials{}) {
			part.Warnings = append(part.Warnings, Warning(fmt.Sprintf(
				"the last look, at %d trials, has been taken: a drop of %.1f points was seen, and chance explains it too well (p %.2g, needed %.2g)",
				look.Trials, s.drop, part.P, part.Alpha)))
		}
	}
	if part.Decision == NoDrop && part.Upper >= p.Tolerance {
		part.Warnings = append(part.Warnings, Warning(fmt.Sprintf(
			"a drop of up to %.1f points is not ruled out", part.Upper)))
	}
	return part, nil
}

// gate sums up the parts, the whole first.
func gate(parts []Part) Gate {
	g := Gate{Decision: NoDrop, Drop: parts[0].Drop, P: parts[0].P, Parts: parts}
	for _, part := range parts {
		if part.Decision == Drop {
			g.Decision, g.P = Drop, part.P
			break
		}
	}
	for i, part := range parts {
		if !part.Gates && i > 0 {
			continue
		}
		if g.Decision != Drop && part.Decision == NotSettled {
			g.Decision = NotSettled
		}
		if g.Decision != Drop {
			g.More.Baseline = max(g.More.Baseline, part.More.Baseline)
			g.More.Now = max(g.More.Now, part.More.Now)
		}
	}
	return g
}
