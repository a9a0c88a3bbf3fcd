package report

import (
	"context"
	"fmt"
	"slices"
	"time"

	"assay/internal/store"
)

// pastMost is how many answers earlier runs are read of, newest runs first: each run is read
// and scored by itself, which a million answers would make slow.
const pastMost = 100_000

// A Past is one run of reviewers with its figures, and none of its answers.
type Past struct {
	Started time.Time
	ranking *ranking
}

// pastOf returns the runs of Bench, the newest first. A store without runs has none.
func pastOf(ctx context.Context, st store.Store, key Key) (past []Past, err error) {
	runs, err := st.Runs(ctx)
	if err != nil {
		return nil, err
	}
	left, continued := pastMost, map[string]bool{}
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
		if err := l.r.addUp(ctx, st); err != nil {
			return nil, err
		}
		l.r.shorten()
		ls, err := variantLines(l.r)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", run.ID, err)
		}
		if len(ls) == 0 {
			continue
		}
		p := Past{run.Started, rankReviewers(ls[:min(topMost, len(ls))])}
		p.ranking.answerReviewer(nil, ls)
		// no case and no baseline is of this run
		p.ranking.Answers = p.ranking.Answers[:min(3, len(p.ranking.Answers))]
		for _, x := range p.ranking.Rows {
			x.Name, x.variant, x.Page = x.variant.String(), nil, ""
		}
		past = append(past, p)
	}
	return past, nil
}

// Trend returns the balanced accuracy of each reviewer run by run, oldest first; those with
// fewer than two runs are left out.
func (r *BenchResults) Trend() (all []Series) {
	for _, p := range slices.Backward(r.Past) {
		for _, x := range p.ranking.Rows {
			if !x.E.Value.Defined {
				continue
			}
			at := slices.IndexFunc(all, func(s Series) bool { return s.Name == x.Name })
			if at < 0 {
				at, all = len(all), append(all, Series{Name: x.Name})
			}
			all[at].Points = append(all[at].Points, point{p.Started, x.E})
		}
	}
	return slices.DeleteFunc(all, func(s Series) bool { return len(s.Points) < 2 })
}
