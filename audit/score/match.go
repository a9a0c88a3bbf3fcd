package score

import (
	"cmp"
	"slices"
)

// A pairing says which entry each location took.
type pairing struct {
	entry   []int32 // of each location the entry that it took; -1 for none
	half    []bool  // whether it took it by half
	near    []int32 // of each location the nearest entry that it matches in full; -1 for none
	credit2 int     // twice the credit: an integer
}

// halfCost is what a half match costs, so that no sum of distances outweighs it.
const halfCost = int64(1) << 40

// A group is a run of equal locations.
type group struct {
	location location
	members  []int32
}

// An arc says that a group matches an entry in full.
type arc struct {
	entry, group int32
	distance     int32
	exact        bool
}

// match assigns locations to entries: most full matches, then most halves, then least
// distance of the full ones, solved exactly.
//
// A location that matches some entry in full never takes half: when no full match is
// left for it, all that it matches are taken, and it is a duplicate. So full and
// half compete for entries only, never for locations; most full plus most of both is
// then reached by one minimum-cost assignment (see flow), in which a half costs
// more than all distances together.
//
// Connected components are solved on their own. Spots are grouped first, so that
// a thousand copies of one finding are one node. Input in any order gives the same
// pairing.
//
// A decoy takes the locations that it is nearer to than an entry is, and none that
// hits a decoy may take half. Decoy gives how far the nearest decoy is that a
// location hits, -1 for none (nil: none for all); tie orders equal locations (nil:
// as they come).
func (k *key) match(locations []location, decoy func(*location) int32, tie func(a, b int32) int) *pairing {
	p := &pairing{
		entry: make([]int32, len(locations)),
		half:  make([]bool, len(locations)),
		near:  make([]int32, len(locations)),
	}
	for i := range p.entry {
		p.entry[i], p.near[i] = -1, -1
	}
	groups := k.groups(locations)
	if tie != nil {
		for i := range groups {
			if len(groups[i].members) > 1 {
				slices.SortFunc(groups[i].members, tie)
			}
		}
	}
	m := k.graph(groups, decoy)
	for gi := range groups {
		for _, i := range groups[gi].members {
			p.near[i] = m.near[gi]
		}
	}
	m.solve(p)
	return p
}

// groups gives the distinct locations in a fixed order, those outside of the key's
// files left out.
func (k *key) groups(locations []location) []group {
	return grouped(locations, func(s *location) bool { return s.file >= 0 && s.cwes[0] != 0 }, compareLocations)
}

// grouped gives the locations that are wanted by groups of equals, in order. Sorting
// beats a map here: members need no slices of their own.
func grouped(locations []location, want func(*location) bool, compare func(a, b *location) int) []group {
	type placed struct {
		key   uint64 // file and first line, which settle most comparisons
		index int32
	}
	order := make([]placed, 0, len(locations))
	for i := range locations {
		if s := &locations[i]; want(s) {
			order = append(order, placed{uint64(uint32(s.file)+1)<<32 | uint64(uint32(s.at.start)), int32(i)})
		}
	}
	slices.SortFunc(order, func(a, b placed) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		if c := compare(&locations[a.index], &locations[b.index]); c != 0 {
			return c
		}
		return int(a.index - b.index)
	})
	members := make([]int32, len(order))
	n := 0
	for i := range order {
		members[i] = order[i].index
		if i == 0 || compare(&locations[members[i-1]], &locations[members[i]]) != 0 {
			n++
		}
	}
	groups := make([]group, 0, n)
	for i := 0; i < len(members); {
		j := i + 1
		for j < len(members) && compare(&locations[members[i]], &locations[members[j]]) == 0 {
			j++
		}
		groups = append(groups, group{locations[members[i]], members[i:j:j]})
		i = j
	}
	return groups
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

// A graph is what may be assigned to what, in components.
type graph struct {
	key    *key
	groups []group
	arcs   []arc     // sorted by entry, exact ones first, then by distance
	first  []int32   // of each entry its first arc; one more at the end
	hubs   [][]int32 // of each group that may take half, its hubs
	near   []int32   // of each group the nearest entry matched in full
	parent []int32   // union-find: entries, groups, hubs
}

func (k *key) graph(groups []group, decoy func(*location) int32) *graph {
	m := &graph{key: k, groups: groups, hubs: make([][]int32, len(groups)), near: make([]int32, len(groups))}
	ne, ng := int32(len(k.entries)), int32(len(groups))
	m.parent = make([]int32, int(ne+ng)+len(k.hubs))
	for i := range m.parent {
		m.parent[i] = int32(i)
	}
	joined := make([]bool, len(k.hubs))
	for gi := range groups {
		g := &groups[gi]
		within := int32(-1)
		if decoy != nil {
			within = decoy(&g.location)
		}
		m.near[gi] = m.addArcs(int32(gi), within)
		if m.near[gi] >= 0 || within >= 0 {
			continue
		}
		for _, c := range g.location.cwes {
			h, ok := k.hubOf[inFile(g.location.file, c)]
			if c == 0 || !ok {
				continue
			}
			m.hubs[gi] = append(m.hubs[gi], h)
			m.join(ne+int32(gi), ne+ng+h)
			if joined[h] {
				continue
			}
			joined[h] = true
			for _, e := range k.hubs[h] {
				m.join(e, ne+ng+h)
			}
		}
	}
	m.sortArcs()
	return m
}

// addArcs adds the full matches of a group and gives the nearest; -1 for none.
// Those that are farther off than within are a decoy's (-1: there is none).
func (m *graph) addArcs(gi, within int32) int32 {
	g := &m.groups[gi]
	best, bestDistance := int32(-1), int32(0)
	m.key.candidates(&g.location, func(e int32) {
		en := &m.key.entries[e]
		d := en.at.distance(g.location.at)
		if within >= 0 && d > within {
			return
		}
		if best < 0 || d < bestDistance || d == bestDistance && e < best {
			best, bestDistance = e, d
		}
		m.arcs = append(m.arcs, arc{e, gi, d, d == 0 && en.exact(&g.location)})
		m.join(e, int32(len(m.key.entries))+gi)
	})
	return best
}

// sortArcs orders the arcs by entry with a counting sort, then each entry's few.
func (m *graph) sortArcs() {
	n := len(m.key.entries)
	m.first = make([]int32, n+1)
	for i := range m.arcs {
		m.first[m.arcs[i].entry+1]++
	}
	for e := range n {
		m.first[e+1] += m.first[e]
	}
	sorted := make([]arc, len(m.arcs))
	fill := slices.Clone(m.first)
	for _, a := range m.arcs {
		sorted[fill[a.entry]] = a
		fill[a.entry]++
	}
	m.arcs = sorted
	for e := range n {
		slices.SortFunc(sorted[m.first[e]:m.first[e+1]], func(a, b arc) int {
			if a.exact != b.exact {
				if a.exact {
					return -1
				}
				return 1
			}
			if a.distance != b.distance {
				return cmp.Compare(a.distance, b.distance)
			}
			return cmp.Compare(a.group, b.group)
		})
	}
}

func (m *graph) find(v int32) int32 {
	for m.parent[v] != v {
		m.parent[v] = m.parent[m.parent[v]]
		v = m.parent[v]
	}
	return v
}

func (m *graph) join(a, b int32) {
	if a, b = m.find(a), m.find(b); a != b {
		m.parent[max(a, b)] = min(a, b)
	}
}

// solve assigns component by component. A component's root is its least entry,
// as entries are numbered first, so components come in a fixed order.
func (m *graph) solve(p *pairing) {
	ne, ng := int32(len(m.key.entries)), int32(len(m.groups))
	parts := make([]part, ne)
	for e := range ne {
		r := m.find(e)
		parts[r].entries = append(parts[r].entries, e)
	}
	for g := range ng {
		if r := m.find(ne + g); r < ne {
			parts[r].groups = append(parts[r].groups, g)
		}
	}
	local := make([]int32, len(m.parent))
	for i := range parts {
		if len(parts[i].entries) > 0 && len(parts[i].groups) > 0 {
			m.solvePart(&parts[i], local, p)
		}
	}
}

// A part is a connected component.
type part struct{ entries, groups []int32 }

func (m *graph) solvePart(c *part, local []int32, p *pairing) {
	f, hubIDs := m.flowOf(c, local)
	f.prepare()
	f.takeExact(m, c)
	f.run(noStop)
	m.read(f, c, hubIDs, p)
}

// flowOf builds the component's flow; local is scratch for numbers within it. It
// gives the key's numbers of the flow's hubs too.
func (m *graph) flowOf(c *part, local []int32) (*flow, []int32) {
	ne, ng := int32(len(m.key.entries)), int32(len(m.groups))
	f := &flow{knowns: len(c.entries), groups: len(c.groups)}
	var hubs []int32
	links := 0
	for i, g := range c.groups {
		local[ne+g] = int32(f.knowns + i)
		f.room = append(f.room, int32(len(m.groups[g].members)))
		hubs = append(hubs, m.hubs[g]...)
		links += len(m.hubs[g])
	}
	slices.Sort(hubs)
	hubs = slices.Compact(hubs)
	f.hubs = len(hubs)
	for i, h := range hubs {
		local[ne+ng+h] = int32(f.knowns + f.groups + i + 1) // 0: not in use here
	}
	f.arcFrom = make([]int32, 1, f.knowns+1)
	for _, e := range c.entries {
		for _, a := range m.arcs[m.first[e]:m.first[e+1]] {
			f.arcTo = append(f.arcTo, local[ne+a.group])
			f.arcCost = append(f.arcCost, int64(a.distance))
		}
		for _, h := range m.key.entries[e].hubs {
			if v := local[ne+ng+h]; v > 0 {
				f.arcTo = append(f.arcTo, v-1)
				f.arcCost = append(f.arcCost, halfCost)
			}
		}
		f.arcFrom = append(f.arcFrom, int32(len(f.arcTo)))
	}
	byHub := make([][]int32, f.hubs)
	for _, g := range c.groups {
		for _, h := range m.hubs[g] {
			i := int(local[ne+ng+h]) - 1 - f.knowns - f.groups
			byHub[i] = append(byHub[i], local[ne+g]-int32(f.knowns))
		}
	}
	f.setLinks(byHub)
	for _, h := range hubs {
		local[ne+ng+h] = 0
	}
	return f, hubs
}

// setLinks lays the groups of each hub out.
func (f *flow) setLinks(byHub [][]int32) {
	f.hubFrom = make([]int32, 1, f.hubs+1)
	for h, gs := range byHub {
		for _, g := range gs {
			f.linkTo = append(f.linkTo, g)
			f.linkHub = append(f.linkHub, int32(h))
		}
		f.hubFrom = append(f.hubFrom, int32(len(f.linkTo)))
	}
}

// takeExact begins with pairs that agree word for word. They cost nothing, so the
// assignment stays one of least cost; among equals they are kept unless moving
// one gains a match.
func (f *flow) takeExact(m *graph, c *part) {
	for k, e := range c.entries {
		for i, a := range m.arcs[m.first[e]:m.first[e+1]] {
			if !a.exact {
				break
			}
			v := f.arcTo[int(f.arcFrom[k])+i]
			if g := int(v) - f.knowns; f.room[g] > 0 {
				f.room[g]--
				f.use(int32(k), f.arcFrom[k]+int32(i))
				break
			}
		}
	}
}

// read turns the flow into pairs. Which of a group's equal members is taken goes
// by their order, which the caller has fixed.
func (m *graph) read(f *flow, c *part, hubs []int32, p *pairing) {
	used := make([]int, f.groups)
	pair := func(k int, g int32, half bool) {
		i := m.groups[c.groups[g]].members[used[g]]
		used[g]++
		p.entry[i], p.half[i] = c.entries[k], half
	}
	throughHub := make([][]int, len(hubs))
	for k := range f.knowns {
		a := f.via[k]
		if a < 0 {
			continue
		}
		if v := int(f.arcTo[a]); v < f.knowns+f.groups {
			pair(k, int32(v-f.knowns), false)
			p.credit2 += 2
		} else {
			h := v - f.knowns - f.groups
			throughHub[h] = append(throughHub[h], k)
			p.credit2++
		}
	}
	for h, ks := range throughHub {
		for l := f.hubFrom[h]; l < f.hubFrom[h+1]; l++ {
			for range f.linkUse[l] {
				pair(ks[0], f.linkTo[l], true)
				ks = ks[1:]
			}
		}
	}
}
