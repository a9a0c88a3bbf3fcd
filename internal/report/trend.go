package report

import (
	"context"
	"fmt"
	"slices"

	"assay/audit/score"
	"assay/internal/store"
)

// trendMost is how many answers a trend is made of, newest runs first: each run's
// are kept and scored, which a million would make slow.
const trendMost = 100_000

// A trend gathers the answers of runs while all answers are read.
type trend struct {
	runs    []store.Run // newest first
	counted map[string][]int64
	rows    map[int64]*store.Evaluation // by ID, nil until it is read
}

// newTrend says which answers are wanted. A store without runs has no trend.
func newTrend(ctx context.Context, st store.Store) (*trend, error) {
	t := &trend{rows: map[int64]*store.Evaluation{}}
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
	if t.counted, err = st.Counted(ctx, ids); err != nil {
		return nil, err
	}
	for _, counted := range t.counted {
		for _, id := range counted {
			t.rows[id] = nil
		}
	}
	return t, nil
}

// keep keeps a copy of an answer that is wanted.
func (t *trend) keep(e *store.Evaluation) {
	if _, wanted := t.rows[e.ID]; wanted {
		kept := *e
		t.rows[e.ID] = &kept
	}
}

// series gives each reviewer's balanced accuracy run by run, oldest first, with its
// interval: what a run asked together with what it counted as its own. A series without
// two runs is left out.
func (t *trend) series(key Key) ([]Series, error) {
	var names []string
	of := map[string][]point{}
	for _, run := range t.runs {
		l := newLoader(Key{Cases: key.Cases})
		ids := t.counted[run.ID]
		slices.Sort(ids)
		for _, id := range ids {
			if e := t.rows[id]; e != nil {
				l.add(e) // what nothing can be judged by counts nowhere: the report of all runs says why
			}
		}
		for _, v := range l.r.Variants {
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
