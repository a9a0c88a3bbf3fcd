package score

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"assay/audit"
	"assay/internal/stat"
)

// An Answer is what became of one trial of one case.
type Answer struct {
	Case     *audit.Case   // nil for a trial that never began, where only their number is known
	Trial    int           // from 0
	Outcome  audit.Outcome // of the trial
	Violates []int         // requirements that the reviewer says are violated
	// what the trial took, or trials together; nil where another answer states it
	Used *Consumed
}

// An Estimate is a share with its 95 % interval, which allows for any dependence
// within a family.
type Estimate struct {
	Value    Value    `json:"value"`
	Low      Value    `json:"low"`
	High     Value    `json:"high"`
	Answers  int      `json:"answers"` // that it is made of
	Warnings []string `json:"warnings,omitempty"`
}

// String returns "71.4 % (60.1 to 80.2)", or the value or the bounds alone if nothing else is
// known.
func (e Estimate) String() string {
	switch {
	case !e.Value.Defined:
		return Span{e.Low, e.High}.String()
	case !e.Low.Defined:
		return e.Value.String()
	}
	return fmt.Sprintf("%v (%.1f to %.1f)", e.Value, 100*e.Low.V, 100*e.High.V)
}

// Bench are the figures of a reviewer over cases. A trial without an answer is in
// no share but Unanswered.
type Bench struct {
	Planned  int                   `json:"planned"`
	Outcomes map[audit.Outcome]int `json:"outcomes"` // sum to Planned
	Cases    int                   `json:"cases"`
	Families int                   `json:"families"`
	Trials   int                   `json:"trials"` // the most that a case has

	// wrong answers in a hundred: 100 x (1 - Accuracy)
	Errors           Estimate `json:"errors_per_hundred"`
	BalancedAccuracy Estimate `json:"balanced_accuracy"` // the mean of Recall and Specificity
	Accuracy         Estimate `json:"accuracy"`
	Recall           Estimate `json:"recall"`      // bad cases called bad
	Specificity      Estimate `json:"specificity"` // good cases called good
	// over bad cases called bad whose violations are known: the mean F1 of the requirements
	// named
	RightReason Estimate `json:"right_reason"`
	// bad cases told apart from their nearest good: both right in the same trial
	Pairs Estimate `json:"pairs"`
	// refused, malformed or errored, of all that began
	Unanswered Value `json:"unanswered"`

	Rates Rates `json:"rates"` // by CWE

	Consumed Consumed `json:"consumed"`
}

// BenchOf reckons the figures of one reviewer. Answers of no case, or two for the
// same case and trial, are an error; figures without an answer are undefined.
func BenchOf(answers []Answer) (*Bench, error) {
	planned := len(answers)
	answers = begun(answers)
	r, err := newTrialTable(answers)
	if err != nil {
		return nil, err
	}
	b := &Bench{Planned: planned, Outcomes: map[audit.Outcome]int{}, Cases: len(r.cases),
		Families: r.families(), Trials: r.trials}
	if n := planned - len(answers); n > 0 {
		b.Outcomes[audit.OutcomeSkipped] = n
	}
	all := make([]stat.Observation, 0, len(answers)) // those of good cases, then those of bad ones
	observe := func(bad bool) []stat.Observation {
		from := len(all)
		for i := range answers {
			a := &answers[i]
			if v := right(a.Outcome); (a.Case.Label == audit.Bad) == bad && !math.IsNaN(v) {
				all = append(all, stat.Observation{Cluster: r.of(a.Case).family,
					Bad: bad, Value: v})
			}
		}
		return all[from:]
	}
	good, bad := observe(false), observe(true)
	var reasons []stat.Observation
	for i := range answers {
		a := &answers[i]
		b.Outcomes[a.Outcome]++
		if a.Used != nil {
			b.Consumed.add(*a.Used)
		}
		if a.Case.Label == audit.Bad && right(a.Outcome) == 1 && len(a.Case.Violates) > 0 {
			reasons = append(reasons, stat.Observation{Cluster: r.of(a.Case).family, Bad: true,
				Value: reasonF1(a.Violates, a.Case.Violates)})
		}
	}
	for _, e := range []struct {
		to  *Estimate
		obs []stat.Observation
		by  func([]stat.Observation, float64) (stat.Interval, error)
	}{
		{&b.BalancedAccuracy, all, stat.Balanced}, {&b.Accuracy, all, stat.Proportion},
		{&b.Recall, bad, stat.Proportion},
		{&b.Specificity, good, stat.Proportion}, {&b.RightReason, reasons, stat.Proportion},
		{&b.Pairs, r.pairs(answers), stat.Proportion},
	} {
		var err error
		if *e.to, err = estimate(e.obs, e.by); err != nil {
			return nil, err
		}
	}
	b.Errors = b.Accuracy.errors()
	silent := b.Outcomes[audit.OutcomeRefused] + b.Outcomes[audit.OutcomeMalformed] +
		b.Outcomes[audit.OutcomeErrored]
	b.Unanswered = Ratio(float64(silent), float64(b.Planned-b.Outcomes[audit.OutcomeSkipped]))
	b.Rates = ratesOf(answers)
	return b, nil
}

// begun returns the answers without those of no case.
func begun(answers []Answer) []Answer {
	none := func(a Answer) bool { return a.Case == nil && a.Outcome == audit.OutcomeSkipped }
	if !slices.ContainsFunc(answers, none) {
		return answers
	}
	return slices.DeleteFunc(slices.Clone(answers), none)
}

// estimate returns an interval of the observations; undefined if there are none.
func estimate(obs []stat.Observation,
	by func([]stat.Observation, float64) (stat.Interval, error)) (Estimate, error) {
	iv, err := by(obs, level)
	switch {
	case errors.Is(err, stat.ErrEmpty):
		return Estimate{Answers: len(obs)}, nil
	case err != nil:
		return Estimate{}, err
	}
	return Estimate{Value: Of(iv.Center), Low: Of(iv.Lo), High: Of(iv.Hi), Answers: len(obs),
		Warnings: iv.Warnings}, nil
}

// errors turns a share of right answers into wrong ones in a hundred.
func (e Estimate) errors() Estimate {
	wrong := func(v Value) Value {
		if !v.Defined {
			return v
		}
		return Of(100 * (1 - v.V))
	}
	e.Value, e.Low, e.High = wrong(e.Value), wrong(e.High), wrong(e.Low)
	return e
}

// reasonF1 compares the requirements that a reviewer names with those that the case violates: 2
// x right / (named + violated). Naming all of eighteen requirements when one is violated yields
// 2/19. A repeated number counts once.
func reasonF1(named, violated []int) float64 {
	named, violated = slices.Compact(slices.Sorted(slices.Values(named))),
		slices.Compact(slices.Sorted(slices.Values(violated)))
	both := 0
	for _, n := range named {
		if slices.Contains(violated, n) {
			both++
		}
	}
	return 2 * float64(both) / float64(len(named)+len(violated))
}

// right returns 1 for a right answer, 0 for a wrong one and NaN for none.
func right(o audit.Outcome) float64 {
	switch o {
	case audit.OutcomeCorrect:
		return 1
	case audit.OutcomeWrong:
		return 0
	}
	return math.NaN()
}

// A Standing is the result of comparing one reviewer with another.
type Standing string

// The standings.
const (
	Better       Standing = Standing(stat.Better)
	Worse        Standing = Standing(stat.Worse)
	Inconclusive Standing = Standing(stat.Inconclusive)
)

// A Comparison sets reviewer A against reviewer B on the same cases, or auditor A against
// auditor B on the same projects.
type Comparison struct {
	Standing Standing // of A; Better and Worse only where Diff and Answered agree
	// balanced accuracy of A minus that of B, unanswered trials being wrong
	Diff Difference
	// the same of answered trials alone, where it differs from Diff
	Answered        *Difference `json:",omitempty"`
	P               float64     // chance of such a difference, either way, were the reviewers alike
	Cases, Families int         // that both were asked
	Need            Need        // what would decide it; empty where it is decided
	Warnings        []string
}

// A Difference is one in percentage points with its 95 % interval.
type Difference struct{ Center, Lo, Hi float64 }

// A Need is what would make a comparison conclusive in addition to the present trials.
type Need struct {
	Size     float64 // percentage points: the difference that it is reckoned for
	Trials   int     // more trials of each case by each reviewer
	Families int     // more families, where no number of trials is enough
}

// CompareReviewers compares reviewer a with reviewer b on the cases that both were asked, at 95
// %. It tests whether the difference would hold for other families like these: families are the
// unit, with any dependence within. P is that of the exact paired randomisation test over
// families. Unanswered trials count as wrong; if the answered ones alone do not show the same,
// the comparison is inconclusive. Cases that one side was not asked are left out. Without both
// good and bad cases it returns an error.
func CompareReviewers(a, b []Answer) (Comparison, error) {
	c, err := compareCases(a, b, (*trialTable).lineUpWrong)
	if err != nil {
		return Comparison{}, err
	}
	out := comparison(&c)
	x, err := compareCases(a, b, (*trialTable).lineUp)
	switch {
	case errors.Is(err, stat.ErrEmpty):
		out.Standing = Inconclusive
		return out, nil
	case err != nil:
		return Comparison{}, err
	case x.Diff.Center == c.Diff.Center && x.Diff.Lo == c.Diff.Lo && x.Diff.Hi == c.Diff.Hi:
		return out, nil
	}
	answered := comparison(&x)
	out.Answered = &answered.Diff
	if out.Standing != answered.Standing {
		out.Standing = Inconclusive
	}
	return out, nil
}

// compareCases compares the reviewers with trials lined up by lineUp.
func compareCases(a, b []Answer,
	lineUp func(*trialTable, []Answer) map[string]*caseTrials) (stat.Comparison, error) {
	pairs, err := pairCases(a, b, lineUp)
	if err != nil {
		return stat.Comparison{}, err
	}
	return stat.Compare(pairs.both, level)
}

// Reversed returns the comparison of B against A.
func (c Comparison) Reversed() Comparison {
	c.Diff = c.Diff.negated()
	if c.Answered != nil {
		d := c.Answered.negated()
		c.Answered = &d
	}
	switch c.Standing {
	case Better:
		c.Standing = Worse
	case Worse:
		c.Standing = Better
	}
	return c
}

// negated returns the difference with the sides exchanged.
func (d Difference) negated() Difference { return Difference{-d.Center, -d.Hi, -d.Lo} }

// comparison converts a comparison of package stat.
func comparison(c *stat.Comparison) Comparison {
	return Comparison{Standing: Standing(c.Standing), Diff: Difference{c.Diff.Center,
		c.Diff.Lo, c.Diff.Hi}, P: c.P,
		Cases: c.Cases, Families: c.Families, Need: Need(c.Need), Warnings: c.Warnings}
}
