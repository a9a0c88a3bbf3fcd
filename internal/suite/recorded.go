package suite

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"assay/audit/score"
)

// bestAgents is how many recorded agents the summary shows.
const bestAgents = 5

// printRecorded adds the rows that live auditors are compared with, on the pinned projects
// that published agents audited: the best recorded agents, patterns and the best scanner,
// each of those that audited all of these projects.
func printRecorded(r *running, variants [][]*measurement) error {
	agents := func(m *measurement) bool {
		return m.published() && m.target.drawn == nil && m.variant.replay[0].Model != ""
	}
	shared := map[string]bool{}
	for _, ms := range variants {
		for _, m := range ms {
			if agents(m) {
				shared[m.target.project.Name] = true
			}
		}
	}
	type recorded struct {
		line   line
		class  int // 0 agents, 1 patterns, 2 scanners
		recall float64
	}
	var all []recorded
	for _, ms := range variants {
		on := slices.DeleteFunc(slices.Clone(ms),
			func(m *measurement) bool { return !shared[m.target.project.Name] })
		if len(on) < len(shared) || len(on) == 0 || !on[0].published() {
			continue
		}
		v := on[0].variant
		x := recorded{}
		switch {
		case agents(on[0]):
		case v.entry.Kind == patternsKind:
			x.class = 1
		case v.entry.Kind == "tool":
			x.class = 2
		default:
			continue
		}
		p, err := pool(on)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		x.recall = p.Recall.Value.V
		x.line = line{suite: "Regression", who: v.name, n: p.Trials,
			used:    make([]string, len(usedHeads)),
			figures: []string{p.Recall.String(), p.Precision.String()}}
		if p.USD.Defined {
			x.line.used[0] = score.Dollars(p.USD.V)
		}
		if p.Seconds.Defined {
			x.line.used[3] = span(time.Duration(math.Round(p.Seconds.V)) * time.Second)
		}
		all = append(all, x)
	}
	slices.SortStableFunc(all, func(a, b recorded) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(b.recall, a.recall))
	})
	s, shown := &r.suite.summary, map[int]int{}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = plural(len(shared), "small project")
	for _, x := range all {
		if shown[x.class]++; shown[x.class] <= [...]int{bestAgents, 1, 1}[x.class] {
			s.known = append(s.known, x.line)
		}
	}
	return nil
}
