package report

import (
	"context"
	"fmt"
	"slices"

	"assay/audit/score"
	"assay/internal/store"
)

// trendMost is how many answers a trend is made of, newest runs first: each run is
// scored by itself, which a million answers would make slow.
const trendMost = 100_000

// A trend gathers answers by run while all answers are read.
type trend struct {
	runs []store.Run         // newest first
	of   []*loader           // a run's each
	by   map[int64][]*loader // of the runs that count an answer, by its ID
}

// newTrend says which answers are wanted. A store without runs has no trend.
func newTrend(ctx context.Context, st store.Store, key Key) (*trend, error) {
	t := &trend{by: map[int64][]*loader{}}
	runs, err := st.Runs(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	left := trendMost
	for _, run := range runs {
		if left -= run.Planned; left < 0 {
			break
		}
		if run.Suite == "Bench" && run.Planned > 0 {
			t.runs, ids = append(t.runs, run), append(ids, run.ID)
		}
	}
	counted, err := st.Counted(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		l := newLoader(Key{Cases: key.Cases})
		t.of = append(t.of, l)
		for _, answer := range counted[id] {
			t.by[answer] = append(t.by[answer], l)
		}
	}
	return t, nil
}

// series gives each reviewer's balanced accuracy run by run, oldest first; who has no two
// runs is left out.
func (t *trend) series() ([]Series, error) {
	var names []string
	of := map[string][]point{}
	for i, run := range t.runs {
		for _, v := range t.of[i].r.Variants {
			b, err := score.BenchOf(v.Score(""))
			if err != nil {
				return nil, fmt.Errorf("%s in run %s: %w", v, run.ID, err)
			}
			if !b.BalancedAccuracy.Value.Defined {
				continue
			}
			name := v.String()
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			of[name] = append(of[name], point{run.Started, b.BalancedAccuracy})
		}
	}
	var all []Series
	for _, name := range names {
		if ps := of[name]; len(ps) > 1 {
			slices.Reverse(ps)
			all = append(all, Series{name, ps})
		}
	}
	return all, nil
}
