package report

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"assay/audit"
	"assay/audit/score"
)

type variantLine struct {
	*VariantResults
	Bench   *score.Bench
	Rank    score.Estimate // balanced accuracy over the cases by which variants are ranked
	Ranked  int            // number of these cases: those that every whole run answered
	Partial bool           // the run holds a part of the cases: never first
}

// Anchor returns the variant's anchor on a page.
func (l variantLine) Anchor() string {
	return "reviewer-" + strings.TrimSuffix(pageName(l.Short), ".html")
}

// Count returns the number of trials with an outcome.
func (l variantLine) Count(o audit.Outcome) int { return l.Bench.Outcomes[o] }

// variantLines returns the reviewers by rank.
func variantLines(r *BenchResults) ([]variantLine, error) {
	ls := make([]variantLine, len(r.Variants))
	err := each(len(ls), func(i int) error {
		s := r.Variants[i]
		b, err := score.BenchOf(s.all())
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		ls[i] = variantLine{VariantResults: s, Bench: b}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ls, rank(ls)
}

// rank sorts variants by balanced accuracy over the cases that all of them answered. Runs of
// a part of the cases come after the others, by their own cases.
func rank(ls []variantLine) error {
	most := 0
	for i := range ls {
		most = max(most, ls[i].planned, len(ls[i].Cases))
	}
	answeredBy := map[string]int{} // how many whole runs answered a case, by its ID and hash
	whole := 0
	key := func(c *CaseResults) string { return c.Case.ID() + " " + c.Hash }
	for i := range ls {
		l := &ls[i]
		if l.Partial = l.Skipped > 0 || max(l.planned, len(l.Cases)) < most; l.Partial {
			continue
		}
		whole++
		for _, c := range l.Cases {
			if n := c.outcomes(); n[audit.OutcomeCorrect]+n[audit.OutcomeWrong] > 0 {
				answeredBy[key(c)]++
			}
		}
	}
	for i := range ls {
		l := &ls[i]
		var cases []*CaseResults
		for _, c := range l.sorted() {
			if l.Partial || answeredBy[key(c)] == whole {
				cases = append(cases, c)
			}
		}
		l.Rank, l.Ranked = l.Bench.BalancedAccuracy, len(cases)
		if len(cases) < len(l.Cases) {
			b, err := score.BenchOf(answers(cases))
			if err != nil {
				return err
			}
			l.Rank = b.BalancedAccuracy
		}
	}
	first := func(l variantLine) float64 {
		switch v := l.Rank.Value; {
		case !v.Defined:
			return -2
		case l.Partial:
			return v.V - 2
		default:
			return v.V
		}
	}
	slices.SortStableFunc(ls, func(a, b variantLine) int { return cmp.Compare(first(b), first(a)) })
	return nil
}

// each calls do for 0 to n-1, as many at once as there are processors.
func each(n int, do func(int) error) error {
	errs := make([]error, n)
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i := range n {
		places <- struct{}{}
		wg.Go(func() {
			errs[i] = do(i)
			<-places
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
