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
	Bench *score.Bench
	Cost  string // USD for a thousand answers
	usd   float64
	Pace  string // seconds an answer
}

func (l variantLine) Anchor() string {
	return "reviewer-" + strings.TrimSuffix(pageName(l.Short), ".html")
}

func (l variantLine) Count(o string) int { return l.Bench.Outcomes[audit.Outcome(o)] }

// variantLines gives the reviewers, those with the highest balanced accuracy first.
func variantLines(r *Results) ([]variantLine, error) {
	ls := make([]variantLine, len(r.Variants))
	err := each(len(ls), func(i int) error {
		s := r.Variants[i]
		b, err := score.BenchOf(s.all())
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		l := variantLine{VariantResults: s, Bench: b, Cost: "no price", Pace: "not measured"}
		if used := b.Consumed; used.Trials > 0 {
			if used.Cost() != "no price" && used.USD > 0 {
				l.usd = 1000 * used.USD / float64(used.Trials)
				l.Cost = fmt.Sprintf("%.2f USD", l.usd)
				if !used.Priced {
					l.Cost = "at least " + l.Cost
				}
			}
			if used.Seconds > 0 {
				l.Pace = fmt.Sprintf("%.1f s", used.Seconds/float64(used.Trials))
			}
		}
		ls[i] = l
		return nil
	})
	if err != nil {
		return nil, err
	}
	balanced := func(l variantLine) float64 {
		if v := l.Bench.BalancedAccuracy.Value; v.Defined {
			return v.V
		}
		return -1
	}
	slices.SortStableFunc(ls, func(a, b variantLine) int { return cmp.Compare(balanced(b), balanced(a)) })
	return ls, nil
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
