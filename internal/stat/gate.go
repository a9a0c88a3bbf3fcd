package stat

import (
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

// A look is a number of trials a side at which the gate may decide. Looks are
// declared beforehand: whoever looks after every trial and stops when it suits
// finds a drop in anything.
type look struct {
	trials int
	alpha  float64 // chance of calling a drop here that is none, over all parts
}

// A Plan is what the gate was told before it saw a result: [DefaultPlan] makes it.
type Plan struct {
	looks []look // by rising number of trials, from the second on above confirmed
	// Beside says that both sides ran beside each other, so that whatever shifts
	// with the day has hit both alike.
	Beside bool

	// lazy leaves out the randomisation test where it cannot change the decision.
	lazy bool
}

// DefaultPlan gives the plan of both suites: looks at 1, 3, 6, 12 and 24 trials a
// side. The alphas and those of [EarlyEnds] at these looks sum to 0.91 %: what two
// measures of noise add where every bound is reached leaves the suite its 1 %. docs/gate-measured.md holds what it
// was measured to do.
func DefaultPlan() Plan {
	return Plan{looks: []look{{1, 0.0042}, {3, 0.0017}, {6, 0.0009}, {12, 0.0009}, {24, 0.0009}}}
}

const (
	threshold = 5.0  // percentage points: a larger drop counts
	moreItems = 1.0  // entries or cases: a drop counts above this many
	rise      = 1.5  // times: errors that rise by as much count, however few points they are
	tolerance = 10.0 // percentage points: a drop as large must be ruled out before there is none
	miss      = 0.01 // chance, at a look, of ruling it out where it is there
	missApart = 0.05 // the same where a day may lie between the sides
	doubt     = 0.05 // chance below which a drop of one project alone, over all projects, is looked into

	// What trials and days move at most, as standard deviations in logits.
	suiteNoise   = 0.30 // a trial of several projects
	projectNoise = 0.50 // a trial of one project
	dayNoise     = 0.15 // a day, which all trials of a side may share

	// measured is the number of trials a side from which their own spread may speak
	// for them.
	measured = 3
	// confirmed is the number of trials from which one project of several may
	// decide: a single one that went wrong is no drop.
	confirmed = 2

	// poolShare is the part of a look's alpha that is the pool's of several projects;
	// the others share the rest evenly.
	poolShare = 0.8

	// others is the chance below which a drop must be one without the project that
	// fell most.
	others = 0.05

	// rounding is what a drop may exceed a threshold by and still be at it, so that
	// the last bit of a sum decides nothing.
	rounding = 1e-9
)

func (p Plan) last() int { return p.looks[len(p.looks)-1].trials }

// least is from where the part may decide.
func (p Plan) at(look, least int) int { return max(p.looks[look].trials, least) }

// Trials is a number of trials on either side.
type Trials struct{ Baseline, Now int }

// A Part is one thing that the gate looks at: the pool of all projects, one
// project, or all cases.
type Part struct {
	Name     string
	Gates    bool       // whether it may decide: not so one project of several before its second trial
	Items    int        // entries or cases that were compared
	Trials   Trials     // that were there
	Used     Trials     // that were compared
	Drop     float64    // percentage points, baseline minus now; NaN where a side has no trial
	Lost     float64    // the drop in entries or cases
	Errors   [2]float64 // errors a trial at the baseline and now: entries missed, cases judged wrongly
	Upper    float64    // percentage points: a larger drop is ruled out, at 99 % where both sides ran beside each other, else at 95 %; NaN where a side has no trial
	Exchange float64    // chance of such a drop if trials are exchanged; NaN where not computed
	P        float64    // chance of such a drop where nothing changed; NaN where not computed
	Alpha    float64    // what P is held against; 0 where the part does not gate
	Decision Decision
	More     Trials // trials that would settle it; none where no number would
	Beside   bool   // More are trials of both sides beside each other, all of them anew: apart no number would do
	Warnings []string
}

func (p *Part) pointsDrop() bool {
	return p.Lost > moreItems+rounding && p.Drop > threshold+rounding
}

// ErrorsRise reports whether errors rose by half or more, and by more than one: near
// the ceiling that matters, however few points it is.
func (p *Part) ErrorsRise() bool {
	return p.Lost > moreItems+rounding && p.Errors[1] >= rise*p.Errors[0]-rounding
}

// lookAt gives the deepest look that the new side reaches, -1 before the first, and
// the trials that are compared: of the new side those of the look, since a look
// after each new trial would be a look that was never declared; of the baseline
// all, up to the last look's.
func (p Plan) lookAt(have Trials, least int) (int, Trials) {
	at := -1
	for i := range p.looks {
		if have.Baseline > 0 && have.Now >= p.at(i, least) {
			at = i
		}
	}
	if at < 0 {
		return at, Trials{min(have.Baseline, p.last()), min(have.Now, p.last())}
	}
	return at, Trials{min(have.Baseline, p.last()), p.at(at, least)}
}

// A noise is in logits.
type noise struct{ trial, day float64 }

type sample struct {
	strata        []Stratum // by cluster
	also          []Stratum // the same by other clusters; none where there are none
	unit          float64   // percentage points that one point of a stratum is worth
	baseline, now []float64 // scores of the runs in percentage points
}

// A spread is how far chance moves a drop: variances in squared points.
type spread struct {
	each    float64 // 1/baseline + 1/now, of the trials
	strata  float64 // the luck of clusters, each alone
	bound   float64 // the luck of whole trials at most
	runs    float64 // both as the scores of the runs differ; 0 where a side has fewer than two
	day     float64
	student float64 // variance of the runs for Student's quantile at df degrees of freedom, which are 0 where trials are too few
	df      float64
}

func (s *sample) spread(n noise) (drop float64, w spread) {
	b, k := float64(len(s.baseline)), float64(len(s.now))
	mb, vb := moments(s.baseline)
	mn, vn := moments(s.now)
	w.each = 1/b + 1/k
	rate := min(1, max(0, (mb+mn)/200))
	slope := 100 * rate * (1 - rate) // points a logit, where all items are alike; less where they are not
	w.day = slope * slope * n.day * n.day * 2
	w.bound = slope * slope * max(0, n.trial*n.trial-n.day*n.day) * w.each // a trial's, of which the day has its part
	switch {
	case b >= 2 && k >= 2:
		w.runs, _ = welch(vb, b, vn, k)
	case b >= 2:
		w.runs = vb * w.each
	case k >= 2:
		w.runs = vn * w.each
	}
	for _, strata := range [][]Stratum{s.strata, s.also} {
		v := 0.0
		for i := range strata {
			v += strata[i].variance()
		}
		w.strata = max(w.strata, v*s.unit*s.unit*w.each)
	}
	if b >= measured && k >= measured {
		// With 3 new runs against 24 Welch's test trusts a spread that is small by luck:
		// the pooled one counts where it is larger.
		_, w.df = welch(vb, b, vn, k)
		w.student = max(w.runs, ((b-1)*vb+(k-1)*vn)/(b+k-2)*w.each)
	}
	return mb - mn, w
}

func (s *Stratum) variance() float64 {
	n, sum, squares := len(s.Baseline)+len(s.Now), 0, 0
	for _, v := range s.Baseline {
		sum, squares = sum+v, squares+v*v
	}
	for _, v := range s.Now {
		sum, squares = sum+v, squares+v*v
	}
	return float64(n*squares-sum*sum) / float64(n*(n-1))
}

// p gives the chance of a drop as large where nothing changed, for what the
// randomisation test said of it. That test knows of the luck of clusters, each
// alone. What moves whole trials is either bounded beforehand, or measured from
// trials enough; the smaller of the two chances counts. Chances become standard
// errors, whose squares add up, by the normal quantile that belongs to them.
func (w *spread) p(drop, exchange float64) float64 {
	if !(drop > rounding) {
		return 1
	}
	error2 := func(p float64) float64 {
		if p >= 0.5 {
			return math.Inf(1)
		}
		q := drop / normalQuantile(p)
		return q * q
	}
	p := normalTail(drop / math.Sqrt(max(error2(exchange)+w.bound, w.runs)+w.day))
	if w.df > 0 {
		t := studentTail(ratioOf(drop, math.Sqrt(w.student)), w.df)
		p = min(p, normalTail(drop/math.Sqrt(error2(max(t, exchange))+w.day)))
	}
	return p
}

// margin added to a drop, the true one stays below with confidence 1-tail.
func (w *spread) margin(tail float64) float64 {
	z := -normalQuantile(tail)
	m := z * math.Sqrt(max(w.strata+w.bound, w.runs)+w.day)
	if w.df > 0 {
		t := studentQuantile(1-tail, w.df)
		m = min(m, math.Sqrt(t*t*max(w.student, w.strata)+z*z*w.day))
	}
	return m
}

type test struct {
	share  float64     // the part of a look's alpha that is this part's to spend
	least  int         // trials from which it may decide
	noise  noise       // what is bounded beforehand
	alone  bool        // one project of several: it has dropped, is in doubt, or has not; the whole must rule out a drop of the tolerance
	counts func() bool // whether the part's drop is large enough to matter
}

// judge fills in what a sample says at a look (-1 before the first), but for the drop.
func (p Plan) judge(part *Part, s *sample, at int, t test) error {
	if p.Beside {
		t.noise.day = 0
	}
	part.Exchange, part.P, part.Upper = math.NaN(), math.NaN(), math.NaN()
	part.Decision, part.Gates = NotSettled, at >= 0
	if part.Used.Baseline == 0 || part.Used.Now == 0 {
		first := p.at(0, t.least)
		part.Drop, part.Lost = math.NaN(), math.NaN()
		part.More = Trials{max(0, first-part.Trials.Baseline), max(0, first-part.Trials.Now)}
		return nil
	}
	counts := t.counts()
	if p.lazy && t.alone && !counts {
		part.Decision = NoDrop
		return nil
	}
	drop, w := s.spread(t.noise)
	part.Upper = min(100, drop+w.margin(p.miss()))
	alpha := p.looks[max(at, 0)].alpha * t.share
	if part.Gates {
		part.Alpha = alpha
	}
	inDoubt := doubt * t.share / (1 - poolShare)
	if part.P = w.p(drop, 0); !p.lazy || counts && (part.P <= alpha || t.alone && part.P <= inDoubt) {
		var err error
		if part.Exchange, err = p.exchange(s, drop, w); err != nil {
			return fmt.Errorf("%s: %w", part.Name, err)
		}
		part.P = w.p(drop, part.Exchange)
	}
	last := at == len(p.looks)-1
	switch {
	case part.Gates && counts && part.P <= alpha:
		part.Decision = Drop
		return nil
	case t.alone && (!counts || min(part.Used.Baseline, part.Used.Now) >= measured && part.P > inDoubt):
		part.Decision = NoDrop
	case !t.alone && !counts && (part.Upper < tolerance || last && p.Beside):
		part.Decision = NoDrop
	default:
		p.more(part, drop, w, at, counts, t)
	}
	return nil
}

func (p Plan) exchange(s *sample, drop float64, w spread) (float64, error) {
	if p.lazy && len(s.strata) > 100 {
		return normalTail(ratioOf(drop, math.Sqrt(w.strata))), nil
	}
	e, err := Exchange(s.strata)
	if err == nil && len(s.also) > 0 {
		var other float64
		other, err = Exchange(s.also)
		e = max(e, other)
	}
	return e, err
}

func (p Plan) miss() float64 {
	if p.Beside {
		return miss
	}
	return missApart
}

// more reckons the trials that settle what was seen with the chance settles: the
// first look at which a true drop of that size, if it counts, would be called one,
// or if it does not, one of the tolerance would be ruled out.
func (p Plan) more(part *Part, drop float64, w spread, at int, counts bool, t test) {
	z := func(tail float64) float64 { return -normalQuantile(tail) }
	// What a trial a side moves: as measured, or with too few trials by the luck of
	// clusters and half of what a trial may move.
	each := (w.strata + w.bound/4) / w.each
	if w.df > 0 {
		each = max(w.student, w.strata) / w.each
	}
	settled := func(trials, look int, day float64) bool {
		se := math.Sqrt(each*2/float64(trials) + day)
		if counts {
			return drop >= (z(p.looks[look].alpha*t.share)+z(1-settles))*se
		}
		return tolerance-max(0, drop) >= (z(p.miss())+z(1-settles))*se
	}
	for i := at + 1; i < len(p.looks); i++ {
		if n := p.at(i, t.least); settled(n, i, w.day) {
			part.More = Trials{max(0, n-part.Trials.Baseline), max(0, n-part.Trials.Now)}
			return
		}
	}
	for i := 0; i < len(p.looks) && w.day > 0; i++ {
		if n := p.at(i, t.least); settled(n, i, 0) {
			part.More, part.Beside = Trials{n, n}, true
			return
		}
	}
	part.Beside = w.day > 0
	if at == len(p.looks)-1 && !part.Beside {
		return // the last look has been taken
	}
	part.More = Trials{max(0, p.last()-part.Trials.Baseline), max(0, p.last()-part.Trials.Now)}
	if part.Beside {
		part.More = Trials{p.last(), p.last()}
	}
}
