package score

import (
	"cmp"
	"slices"
)

type grouping struct {
	locations []location
	members   table // of each group its locations

	rows  []int32
	byRow table
	order []placed
}

type placed struct {
	key   uint64
	index int32
}

func (g *grouping) groups() int32 { return int32(len(g.members.from) - 1) }

func (g *grouping) location(i int32) *location {
	return &g.locations[g.members.of[g.members.from[i]]]
}

// group gathers equal locations of the first n files, in order; members as they come.
func (g *grouping) group(locations []location, n int) {
	g.locations, g.rows = locations, sized(g.rows, len(locations))
	for i := range locations {
		g.rows[i] = locations[i].file
	}
	g.byRow.sort(n, g.rows)
	m := &g.members
	m.of = sized(m.of, len(g.byRow.of))[:0]
	m.from = append(sized(m.from, len(g.byRow.of)+1)[:0], 0)
	for r := range int32(n) {
		g.order = inOrder(g.order[:0], g.byRow.row(r), locations, func(a, b int32) int { return int(a - b) })
		for i := 0; i < len(g.order); {
			first := g.order[i]
			for ; i < len(g.order) && locations[g.order[i].index] == locations[first.index]; i++ {
				m.of = append(m.of, g.order[i].index)
			}
			m.from = append(m.from, int32(len(m.of)))
		}
	}
}

// inOrder gives a row of one file: by lines, which settle most comparisons, then by what
// else the locations say, equal ones by tie.
func inOrder(to []placed, row []int32, locations []location, tie func(a, b int32) int) []placed {
	for _, i := range row {
		at := locations[i].at
		to = append(to, placed{uint64(at.start)<<32 | uint64(at.end), i})
	}
	slices.SortFunc(to, func(a, b placed) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		x, y := &locations[a.index], &locations[b.index]
		if c := cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(x.says, y.says), slices.Compare(x.cwes[:], y.cwes[:])); c != 0 {
			return c
		}
		return tie(a.index, b.index)
	})
	return to
}
