package report

import (
	"context"
	"fmt"
	"slices"

	"assay/audit/score"
	"assay/internal/store"
)

// trendMost is how many answers a trend is made of, newest runs first: each run is
// read and scored by itself, which a million answers would make slow.
const trendMost = 100_000

// trendOf gives each reviewer's balanced accuracy run by run, oldest first; who has no two
// runs is left out. A store without runs has no trend.
func trendOf(ctx context.Context, st store.Store, key Key) ([]Series, error) {
	runs, err := st.Runs(ctx)
	if err != nil {
		return nil, err
	}
	var all []Series
	left, continued := trendMost, map[string]bool{}
	for _, run := range runs {
		if left -= run.Planned; left < 0 {
			break
		}
		if run.Suite != "Bench" || run.Planned == 0 {
			continue
		}
		if continued[run.ID] {
			continue // the points of the later run hold its trials
		}
		continued[run.Continues] = true
		l := newLoader(Key{Cases: key.Cases})
		if err := l.readRun(ctx, st, store.Query{Run: run.ID}, nil); err != nil {
			return nil, err
		}
		for _, v := range l.r.Variants {
			b, err := score.BenchOf(answers(v.sorted()))
			if err != nil {
				return nil, fmt.Errorf("%s in run %s: %w", v, run.ID, err)
			}
			if !b.BalancedAccuracy.Value.Defined {
				continue
			}
			at := slices.IndexFunc(all, func(s Series) bool { return s.Name == v.String() })
			if at < 0 {
				at, all = len(all), append(all, Series{Name: v.String()})
			}
			all[at].Points = slices.Insert(all[at].Points, 0, point{run.Started, b.BalancedAccuracy})
		}
	}
	return slices.DeleteFunc(all, func(s Series) bool { return len(s.Points) < 2 }), nil
}
