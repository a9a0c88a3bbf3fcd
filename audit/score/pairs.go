package score

import (
	"math"
	"strings"

	"assay/audit"
	"assay/internal/stat"
)

// pairs returns for each trial of a bad case whether it and the nearest good case of its family
// were both answered correctly. Pairs with an unanswered side are left out. A reviewer that
// always gives the same answer gets no pair right.
func (r *trialTable) pairs(answers []Answer) []stat.Observation {
	goods := map[string][]*audit.Case{}
	for _, ct := range r.cases {
		if ct.c.Label == audit.Good {
			goods[ct.family] = append(goods[ct.family], ct.c)
		}
	}
	near := map[*audit.Case]string{}
	lines := r.lineUp(answers)
	obs := make([]stat.Observation, 0, len(answers))
	for i := range answers {
		a := &answers[i]
		if a.Case.Label != audit.Bad {
			continue
		}
		id, ok := near[a.Case]
		if !ok {
			id = NearestGood(a.Case, goods[a.Case.Family()])
			near[a.Case] = id
		}
		good := lines[id]
		if good == nil {
			continue
		}
		if both := right(a.Outcome) * good.values[a.Trial]; !math.IsNaN(both) {
			obs = append(obs, stat.Observation{Cluster: good.family, Bad: true, Value: both})
		}
	}
	return obs
}

// NearestGood returns the ID of the good case whose code differs from the bad one's in the
// fewest lines; among several, the one with the lowest number; "" if there is none.
func NearestGood(bad *audit.Case, goods []*audit.Case) string {
	var best *audit.Case
	least := 0
	for _, g := range goods {
		d := otherLines(bad.Code, g.Code)
		if best == nil || d < least || d == least && g.Number < best.Number {
			best, least = g, d
		}
	}
	if best == nil {
		return ""
	}
	return best.ID()
}

// otherLines counts the lines that only one of two texts has, in any order.
func otherLines(a, b string) int {
	have, n := map[string]int{}, 0
	for line := range strings.Lines(a) {
		have[strings.TrimSpace(line)]++
		n++
	}
	for line := range strings.Lines(b) {
		if line = strings.TrimSpace(line); have[line] > 0 {
			have[line]--
			n--
		} else {
			n++
		}
	}
	return n
}
