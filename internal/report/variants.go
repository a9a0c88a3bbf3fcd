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

// sorted returns the variant's cases by ID.
func (s *VariantResults) sorted() []*CaseResults {
	cs := make([]*CaseResults, 0, len(s.Cases))
	for _, id := range slices.Sorted(maps.Keys(s.Cases)) {
		cs = append(cs, s.Cases[id])
	}
	return cs
}

// Find returns the variant of a name: "model@prompt", or a model with only one prompt. The
// error lists the variants.
func (r *BenchResults) Find(name string) (*VariantResults, error) {
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
	return nil, fmt.Errorf("%q answered with %d prompts: expected one of %s", name,
		len(found), r.names())
}

// names returns the names of the variants.
func (r *BenchResults) names() string {
	var ns []string
	for _, s := range r.Variants {
		ns = append(ns, strconv.Quote(s.String()))
	}
	return strings.Join(ns, ", ")
}

// A VariantDiff sets reviewer A against reviewer B on the same cases.
type VariantDiff struct {
	A, B       string
	Comparison score.Comparison // of B against A: a positive difference is a lead of B
	FiguresA   *score.Bench     // of all that A was asked
	FiguresB   *score.Bench
	AlsoA      []string // cases that A gets right in every trial and B in none
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
	if d.FiguresA, err = score.BenchOf(a.all()); err != nil {
		return nil, err
	}
	d.FiguresB, err = score.BenchOf(b.all())
	return d, err
}

// compare compares the answers.
func (d *VariantDiff) compare(as, bs []score.Answer) (err error) {
	if d.Comparison, err = score.CompareReviewers(bs, as); err != nil {
		return fmt.Errorf("%s against %s: %w", d.A, d.B, err)
	}
	return nil
}

// common returns the answers of both variants to the cases that both were asked in the same
// form, and lists the other cases and those that differ.
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

// answers returns every trial of cases, with what they took.
func answers(cs []*CaseResults) []score.Answer {
	n := 0
	for _, c := range cs {
		n += len(c.Trials)
	}
	as := make([]score.Answer, 0, n) // they are many: not grown
	for _, c := range cs {
		for i, t := range c.Trials {
			a := score.Answer{Case: c.Case, Trial: t.Index, Outcome: t.Outcome, Violates: t.Violate}
			if i == 0 {
				a.Used = c.used.by(len(c.Trials))
			}
			as = append(as, a)
		}
	}
	return as
}

// by returns the usage a trial.
func (s *spent) by(trials int) *score.Consumed {
	used := score.Used(trials, s.usage, s.latency.Seconds())
	return &used
}

// all returns every planned trial of the variant.
func (v *VariantResults) all() []score.Answer {
	return append(answers(v.sorted()),
		v.notBegun()...)
}

// notBegun returns the planned trials that did not begin.
func (v *VariantResults) notBegun() []score.Answer {
	return slices.Repeat([]score.Answer{{Outcome: audit.OutcomeSkipped}}, v.Skipped)
}

// consumed returns what all trials of the variant took.
func (v *VariantResults) consumed() score.Consumed {
	var sum spent
	for _, s := range v.used {
		sum.usage, sum.latency = sum.usage.Add(s.usage), sum.latency+s.latency
		sum.usage.Priced = s.usage.Priced
	}
	return *sum.by(v.Answers)
}

// byTrial returns the answers of each repetition.
func (v *VariantResults) byTrial() [][]score.Answer {
	out := make([][]score.Answer, len(v.used))
	for _, a := range answers(v.sorted()) {
		a.Used = nil
		out[a.Trial] = append(out[a.Trial], a)
	}
	for i, as := range out {
		if len(as) > 0 {
			as[0].Used = v.used[i].by(len(as))
		}
	}
	return slices.DeleteFunc(out, func(as []score.Answer) bool { return len(as) == 0 })
}

// turns reports whether c is right in every trial and other in none.
func (c *CaseResults) turns(other *CaseResults) bool {
	mine, theirs := c.outcomes(), other.outcomes()
	return len(c.Trials) > 0 && mine[audit.OutcomeCorrect] == len(c.Trials) &&
		theirs[audit.OutcomeCorrect] == 0 && len(other.Trials) > 0
}

// outcomes returns the number of trials by outcome.
func (c *CaseResults) outcomes() map[audit.Outcome]int {
	n := map[audit.Outcome]int{}
	for _, t := range c.Trials {
		n[t.Outcome]++
	}
	return n
}
