package score

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"assay/audit"
)

// A trialTable lists the cases that one reviewer's answers are of. It asks each case for
// its names once: a run of a million answers has some hundred cases.
type trialTable struct {
	cases  map[string]*caseTrials // by ID
	by     map[*audit.Case]*caseTrials
	last   *audit.Case // answers of one case mostly follow each other
	lastOf *caseTrials
	trials int // the most that a case has
}

type caseTrials struct {
	c      *audit.Case
	family string
	seen   map[int]uint64 // trials that were answered, 64 a word
	values []float64      // NaN for no answer; filled by lineUp
}

// newTrialTable refuses answers of no case, with an unknown outcome, or two for the same
// case and trial.
func newTrialTable(answers []Answer) (*trialTable, error) {
	r := &trialTable{cases: map[string]*caseTrials{}, by: map[*audit.Case]*caseTrials{}}
	outcomes := audit.Outcomes()
	for i := range answers {
		a := &answers[i]
		switch {
		case a.Case == nil:
			return nil, errors.New("bench: an answer without its case")
		case a.Trial < 0:
			return nil, fmt.Errorf("%s: %s: trial %d: trials count from 0", a.Case.Pos,
				a.Case.ID(), a.Trial)
		case !slices.Contains(outcomes, a.Outcome):
			return nil, fmt.Errorf("%s: %s: outcome %q: expected one of %q", a.Case.Pos,
				a.Case.ID(), a.Outcome, outcomes)
		}
		ct := r.of(a.Case)
		word, bit := a.Trial/64, uint64(1)<<(a.Trial%64)
		if ct.seen[word]&bit != 0 {
			return nil, fmt.Errorf(
				"%s: %s: trial %d stands twice among the answers of one reviewer", a.Case.Pos,
				a.Case.ID(), a.Trial)
		}
		ct.seen[word] |= bit
		r.trials = max(r.trials, a.Trial+1)
	}
	return r, nil
}

// of returns the entry of a case; cases with the same ID share it.
func (r *trialTable) of(c *audit.Case) *caseTrials {
	if c == r.last {
		return r.lastOf
	}
	ct := r.by[c]
	if ct == nil {
		id := c.ID()
		if ct = r.cases[id]; ct == nil {
			ct = &caseTrials{c: c, family: c.Family(), seen: map[int]uint64{}}
			r.cases[id] = ct
		}
		r.by[c] = ct
	}
	r.last, r.lastOf = c, ct
	return ct
}

// families returns the number of families.
func (r *trialTable) families() int {
	names := map[string]bool{}
	for _, ct := range r.cases {
		names[ct.family] = true
	}
	return len(names)
}

// lineUp fills in the values, the same number for each case, and returns the cases by ID.
func (r *trialTable) lineUp(answers []Answer) map[string]*caseTrials {
	for _, ct := range r.cases {
		ct.values = slices.Repeat([]float64{math.NaN()}, r.trials)
	}
	for i := range answers {
		r.of(answers[i].Case).values[answers[i].Trial] = right(answers[i].Outcome)
	}
	return r.cases
}

// lineUpWrong is like lineUp, with 0 for unanswered trials.
func (r *trialTable) lineUpWrong(answers []Answer) map[string]*caseTrials {
	r.lineUp(answers)
	for i := range answers {
		if a := &answers[i]; math.IsNaN(right(a.Outcome)) && a.Outcome != audit.OutcomeSkipped {
			r.of(a.Case).values[a.Trial] = 0
		}
	}
	return r.cases
}
