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

// An arc says that a group matches an entry in full.
type arc struct {
	entry, group int32
	distance     int32
	exact        bool
}

// A matcher assigns locations to entries: most full matches, then most halves, then
// least distance of the full ones, solved exactly.
//
// A location that matches some entry in full never takes half: when no full match is
// left for it, all that it matches are taken, and it is a duplicate. So full and
// half compete for entries only, never for locations; most full plus most of both is
// then reached by one minimum-cost assignment (see flow), in which a half costs
// more than all distances together.
//
// Connected components are solved on their own. Locations are grouped first, so that
// a thousand copies of one finding are one node. Of equal locations the first are
// taken; in nothing else has their order a say.
type matcher struct {
	key *key
	// decoy gives how far the nearest decoy is that a location hits, -1 for none
	// (nil: none for all). It takes the locations that it is nearer to than an entry
	// is, and none that hits one may take half.
	decoy func(*location) int32

	paired pairing
	grouping
	arcs   []arc // sorted by entry, exact ones first, then by distance
	found  []arc // the same as they come
	first  table // of each entry its arcs
	hubs   table // of each group that may take half, its hubs
	near   []int32
	parent []int32 // union-find: entries, groups, hubs
	joined []bool  // hubs

	root      []int32 // of each entry, then of each group, then of each hub, its component; -1 for none
	entriesOf table   // entries by component
	groupsOf  table
	hubsOf    table
	local     []int32 // numbers within a component's flow
	flow      flow
	linked    []int32
}

// match pairs locations with entries. The pairing holds until the next call.
func (m *matcher) match(locations []location) *pairing {
	p := &m.paired
	p.entry, p.near = all(p.entry, len(locations), -1), all(p.near, len(locations), -1)
	p.half, p.credit2 = zeros(p.half, len(locations)), 0
	m.group(locations, len(m.key.files.list))
	if m.groups() == 0 {
		return p
	}
	m.graph()
	for g := range m.groups() {
		for _, i := range m.members.row(g) {
			p.near[i] = m.near[g]
		}
	}
	m.solve()
	return p
}

// graph finds what may be assigned to what, in components.
func (m *matcher) graph() {
	ne, ng := int32(len(m.key.entries)), m.groups()
	m.parent = sized(m.parent, int(ne+ng)+m.key.hubs.rows())
	for i := range m.parent {
		m.parent[i] = int32(i)
	}
	m.joined = zeros(m.joined, m.key.hubs.rows())
	m.near = sized(m.near, int(ng))
	m.found, m.hubs.of, m.hubs.from = sized(m.found, int(ng))[:0], m.hubs.of[:0], append(sized(m.hubs.from, int(ng+1))[:0], 0)
	for gi := range ng {
		within := int32(-1)
		if m.decoy != nil {
			within = m.decoy(m.location(gi))
		}
		m.near[gi] = m.addArcs(gi, within)
		if m.near[gi] < 0 && within < 0 {
			m.addHubs(gi)
		}
		m.hubs.from = append(m.hubs.from, int32(len(m.hubs.of)))
	}
	m.sortArcs()
}

// addHubs adds what a group may take half of, by its cells.
func (m *matcher) addHubs(gi int32) {
	ne, ng := int32(len(m.key.entries)), m.groups()
	for _, c := range m.location(gi).cells {
		h := m.key.hubOf[c] - 1
		if h < 0 {
			continue
		}
		m.hubs.of = append(m.hubs.of, h)
		m.join(ne+gi, ne+ng+h)
		if m.joined[h] {
			continue
		}
		m.joined[h] = true
		for _, e := range m.key.hubs.row(h) {
			m.join(e, ne+ng+h)
		}
	}
}

// addArcs adds the full matches of a group and gives the nearest; -1 for none.
// Those that are farther off than within are a decoy's (-1: there is none).
func (m *matcher) addArcs(gi, within int32) int32 {
	s := m.location(gi)
	best, bestDistance := int32(-1), int32(0)
	for _, e := range m.key.candidates(s) {
		en := &m.key.entries[e]
		d := en.at.distance(s.at)
		if within >= 0 && d > within {
			continue
		}
		if best < 0 || d < bestDistance || d == bestDistance && e < best {
			best, bestDistance = e, d
		}
		m.found = append(m.found, arc{e, gi, d, d == 0 && m.key.exact(en, s)})
		m.join(e, int32(len(m.key.entries))+gi)
	}
	return best
}

// sortArcs orders the arcs by entry, then each entry's few.
func (m *matcher) sortArcs() {
	rows := sized(m.linked, len(m.found))
	for i := range m.found {
		rows[i] = m.found[i].entry
	}
	m.linked = rows
	m.first.sort(len(m.key.entries), rows)
	m.arcs = sized(m.arcs, len(m.found))[:0]
	for e := range int32(len(m.key.entries)) {
		from := len(m.arcs)
		for _, i := range m.first.row(e) {
			m.arcs = append(m.arcs, m.found[i])
		}
		if len(m.arcs)-from > 1 {
			slices.SortFunc(m.arcs[from:], compareArcs)
		}
	}
}

func compareArcs(a, b arc) int {
	switch {
	case a.exact != b.exact && a.exact:
		return -1
	case a.exact != b.exact:
		return 1
	case a.distance != b.distance:
		return cmp.Compare(a.distance, b.distance)
	}
	return cmp.Compare(a.group, b.group)
}

// arcsOf gives the arcs of an entry.
func (m *matcher) arcsOf(e int32) []arc { return m.arcs[m.first.from[e]:m.first.from[e+1]] }

func (m *matcher) find(v int32) int32 {
	for m.parent[v] != v {
		m.parent[v] = m.parent[m.parent[v]]
		v = m.parent[v]
	}
	return v
}

func (m *matcher) join(a, b int32) {
	if a, b = m.find(a), m.find(b); a != b {
		m.parent[max(a, b)] = min(a, b)
	}
}

// solve assigns component by component. A component's root is its least entry,
// as entries are numbered first, so components come in a fixed order.
func (m *matcher) solve() {
	ne, ng := int32(len(m.key.entries)), m.groups()
	m.root = sized(m.root, len(m.parent))
	for v := range int32(len(m.parent)) {
		if m.root[v] = m.find(v); m.root[v] >= ne {
			m.root[v] = -1
		}
	}
	m.entriesOf.sort(int(ne), m.root[:ne])
	m.groupsOf.sort(int(ne), m.root[ne:ne+ng])
	m.hubsOf.sort(int(ne), m.root[ne+ng:])
	m.local = zeros(m.local, len(m.parent))
	for r := range ne {
		entries, groups := m.entriesOf.row(r), m.groupsOf.row(r)
		if len(entries) > 0 && len(groups) > 0 {
			m.layOut(entries, groups, m.hubsOf.row(r))
			m.flow.prepare()
			m.takeExact(entries)
			m.flow.run(noStop)
			m.read(entries, groups)
		}
	}
}

// layOut builds the flow of a component.
func (m *matcher) layOut(entries, groups, hubs []int32) {
	ne, ng := int32(len(m.key.entries)), m.groups()
	f := &m.flow
	f.reset(len(entries), len(groups), len(m.arcs)+len(m.key.hubsAt.of))
	for i, g := range groups {
		m.local[ne+g] = int32(f.knowns + i)
		f.room = append(f.room, int32(len(m.members.row(g))))
	}
	f.hubs = len(hubs)
	for i, h := range hubs {
		m.local[ne+ng+h] = int32(f.knowns + f.groups + i + 1) // 0: not in use here
	}
	for _, e := range entries {
		for _, a := range m.arcsOf(e) {
			f.addArc(m.local[ne+a.group], int64(a.distance))
		}
		for _, h := range m.key.hubsAt.row(e) {
			if v := m.local[ne+ng+h]; v > 0 {
				f.addArc(v-1, halfCost)
			}
		}
		f.arcFrom = append(f.arcFrom, int32(len(f.arcTo)))
	}
	for i, g := range groups {
		for _, h := range m.hubs.row(g) {
			f.link(m.local[ne+ng+h]-1-int32(f.knowns+f.groups), int32(i))
		}
	}
	for _, h := range hubs {
		m.local[ne+ng+h] = 0
	}
}

// takeExact begins with pairs that agree word for word. They cost nothing, so the
// assignment stays one of least cost; among equals they are kept unless moving
// one gains a match.
func (m *matcher) takeExact(entries []int32) {
	f := &m.flow
	for k, e := range entries {
		for i, a := range m.arcsOf(e) {
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
// by their order, which is fixed.
func (m *matcher) read(entries, groups []int32) {
	m.flow.each(func(k, a, g, nth int32) {
		i := m.members.row(groups[g])[nth]
		half := int(m.flow.arcTo[a]) >= m.flow.knowns+m.flow.groups
		m.paired.entry[i], m.paired.half[i] = entries[k], half
		m.paired.credit2 += 2
		if half {
			m.paired.credit2--
		}
	})
}
