package score

import (
	"cmp"
	"slices"
)

// A group is a run of equal locations.
type group struct {
	location location
	members  []int32
}

// A grouping gathers equal locations. Its slices are used again.
type grouping struct {
	groups []group
	rows   []int32
	keys   []uint64
	byRow  table
	order  []placed
	inRow  []int32
}

type placed struct {
	key   uint64
	index int32
}

// group gathers the locations that compare as equal, in order: by a row below n
// (below 0: the location is left out) and a key within it, which settle most
// comparisons, then by compare; members by tie, or as they come.
func (g *grouping) group(locations []location, n int, at func(*location) (row int32, key uint64), compare func(a, b *location) int, tie func(a, b int32) int) {
	g.rows, g.keys = sized(g.rows, len(locations)), sized(g.keys, len(locations))
	for i := range locations {
		g.rows[i], g.keys[i] = at(&locations[i])
	}
	g.byRow.sort(n, g.rows)
	g.groups, g.inRow = g.groups[:0], sized(g.inRow, len(g.byRow.of))[:0]
	for r := range int32(n) {
		g.order = g.order[:0]
		for _, i := range g.byRow.row(r) {
			g.order = append(g.order, placed{g.keys[i], i})
		}
		slices.SortFunc(g.order, func(a, b placed) int {
			if a.key != b.key {
				return cmp.Compare(a.key, b.key)
			}
			if c := compare(&locations[a.index], &locations[b.index]); c != 0 {
				return c
			}
			return int(a.index - b.index)
		})
		for i := 0; i < len(g.order); {
			first, from := &locations[g.order[i].index], len(g.inRow)
			for key := g.order[i].key; i < len(g.order) && g.order[i].key == key && compare(first, &locations[g.order[i].index]) == 0; i++ {
				g.inRow = append(g.inRow, g.order[i].index)
			}
			members := g.inRow[from:len(g.inRow):len(g.inRow)]
			if tie != nil && len(members) > 1 {
				slices.SortFunc(members, tie)
			}
			g.groups = append(g.groups, group{*first, members})
		}
	}
}

func compareLocations(a, b *location) int {
	switch {
	case a.file != b.file:
		return cmp.Compare(a.file, b.file)
	case a.at.start != b.at.start:
		return cmp.Compare(a.at.start, b.at.start)
	case a.at.end != b.at.end:
		return cmp.Compare(a.at.end, b.at.end)
	case a.name != b.name:
		return cmp.Compare(a.name, b.name)
	case a.says != b.says:
		return cmp.Compare(a.says, b.says)
	case a.cwes == b.cwes:
		return 0
	}
	return slices.Compare(a.cwes[:], b.cwes[:])
}
