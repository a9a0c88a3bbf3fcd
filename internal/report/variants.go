package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
	"assay/audit/score"
)

// sorted gives the variant's cases by ID.
func (s *VariantResults) sorted() []*CaseResults {
	cs := make([]*CaseResults, 0, len(s.Cases))
	for _, id := range slices.Sorted(maps.Keys(s.Cases)) {
		cs = append(cs, s.Cases[id])
	}
	return cs
}

// Find gives the variant that name means: "model@prompt", or a model with one prompt
// alone. The error names what there is.
func (r *Results) Find(name string) (*VariantResults, error) {
	var found []*VariantResults
	for _, s := range r.Variants {
		if s.String() == name {
			return s, nil
		}
		if s.Model == name {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, fmt.Errorf("no answers of %q: expected one of %s", name, r.names())
	}
	return nil, fmt.Errorf("%q answered with %d prompts: expected one of %s", name, len(found), r.names())
}

func (r *Results) names() string {
	var ns []string
	for _, s := range r.Variants {
		ns = append(ns, strconv.Quote(s.String()))
	}
	return strings.Join(ns, ", ")
}

// A VariantDiff sets reviewer A against reviewer B on the same cases.
type VariantDiff struct {
	A, B       string
	Comparison score.Comparison // how A stands to B
	FiguresA   *score.Bench
	FiguresB   *score.Bench
	AlsoA      []string // cases that A gets right in every trial and B, which answers, in none
	AlsoB      []string // the other way
	Changed    []string // cases whose form differs between the two: left out
	OnlyA      int      // cases that B was not asked
	OnlyB      int
}

// DiffVariants compares two variants, of the same results or of two. Cases whose text
// differs between the two are left out and named.
func DiffVariants(a, b *VariantResults) (*VariantDiff, error) {
	d, as, bs := common(a, b)
	err := d.compare(as, bs)
	if err != nil {
		return nil, err
	}
	if d.FiguresA, err = score.BenchOf(as); err != nil {
		return nil, err
	}
	d.FiguresB, err = score.BenchOf(bs)
	return d, err
}

func (d *VariantDiff) compare(as, bs []score.Answer) (err error) {
	if d.Comparison, err = score.CompareReviewers(as, bs); err != nil {
		return fmt.Errorf("%s against %s: %w", d.A, d.B, err)
	}
	return nil
}

// common gives the answers of both to the cases that both were asked in one form, and
// which cases these are not, or turned.
func common(a, b *VariantResults) (d *VariantDiff, as, bs []score.Answer) {
	d = &VariantDiff{A: a.String(), B: b.String()}
	var ofA, ofB []*CaseResults
	for _, id := range slices.Sorted(maps.Keys(a.Cases)) {
		x, y := a.Cases[id], b.Cases[id]
		switch {
		case y == nil:
			d.OnlyA++
			continue
		case x.Hash != "" && y.Hash != "" && x.Hash != y.Hash:
			d.Changed = append(d.Changed, id)
			continue
		}
		ofA, ofB = append(ofA, x), append(ofB, y)
		switch {
		case x.turns(y):
			d.AlsoA = append(d.AlsoA, id)
		case y.turns(x):
			d.AlsoB = append(d.AlsoB, id)
		}
	}
	for id := range b.Cases {
		if a.Cases[id] == nil {
			d.OnlyB++
		}
	}
	return d, answers(ofA), answers(ofB)
}

// answers gives every trial of cases. They are many: the list is made once, not grown.
func answers(cs []*CaseResults) []score.Answer {
	n := 0
	for _, c := range cs {
		n += len(c.Trials)
	}
	as := make([]score.Answer, 0, n)
	for _, c := range cs {
		for i, t := range c.Trials {
			as = append(as, score.Answer{Case: c.Case, Trial: i, Outcome: t.Outcome, Violates: t.Violate})
		}
	}
	return as
}

// turns reports whether c is right in every trial and other in none. One that has no
// answer is not wrong.
func (c *CaseResults) turns(other *CaseResults) bool {
	mine, theirs := c.outcomes(), other.outcomes()
	return len(c.Trials) > 0 && mine[audit.OutcomeCorrect] == len(c.Trials) && theirs[audit.OutcomeCorrect] == 0 && theirs[audit.OutcomeWrong] > 0
}

func (c *CaseResults) outcomes() map[audit.Outcome]int {
	n := map[audit.Outcome]int{}
	for _, t := range c.Trials {
		n[t.Outcome]++
	}
	return n
}
