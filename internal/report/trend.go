package report

import (
	"context"
	"fmt"
	"slices"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/store"
)

// trendMost is how many answers a trend is made of, newest runs first: each run's
// are read and scored anew, which a million rows would make slow.
const trendMost = 100_000

// Trend gives each reviewer's balanced accuracy run by run, oldest first, with its
// interval: what a run asked together with what it counted as its own. A series
// without two runs is left out. cases are by ID.
func Trend(ctx context.Context, st store.Store, cases map[string]*audit.Case) ([]Series, error) {
	runs, err := st.Runs(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	of := map[string][]point{}
	left := trendMost
	for _, run := range runs { // newest first
		left -= run.Planned
		if left < 0 {
			break
		}
		if run.Suite != "Bench" || run.Planned == 0 {
			continue
		}
		r, err := LoadResults(ctx, st, store.Query{Run: run.ID}, Key{Cases: cases}, false)
		if err != nil {
			continue // nothing of it can be judged: the report of all runs says why
		}
		for _, v := range r.Variants {
			b, err := score.BenchOf(v.Score(""))
			if err != nil {
				return nil, fmt.Errorf("%s in run %s: %w", v, run.ID, err)
			}
			e := b.BalancedAccuracy
			if !e.Value.Defined {
				continue
			}
			name := v.String()
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			of[name] = append(of[name], point{run.Started, e})
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
