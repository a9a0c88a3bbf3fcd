package score

import (
	"cmp"
	"math"
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
	entry, group int32 // entry: its place in its kind
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
// A decoy takes the locations that it is nearer to than a known vulnerability is, and
// none that hits one may take half.
//
// Locations are grouped first, so that a thousand copies of one finding are one node.
// Of equal locations the first are taken; in nothing else has their order a say.
type matcher struct {
	key *key
	of  kind // of the entries that are assigned

	paired pairing
	grouping
	arcs   []arc  // sorted by entry, exact ones first, then by distance
	found  []arc  // the same as they come
	first  table  // of each entry its arcs
	hubs   table  // of each group that may take half, its hubs
	joined []bool // hubs that a group may take half through
	flow   flow
	linked []int32
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
	m.layOut()
	m.takeExact()
	m.flow.run(noStop)
	m.read()
	return p
}

func (m *matcher) graph() {
	ng := m.groups()
	m.joined = zeros(m.joined, m.key.hubs.rows())
	m.found, m.hubs.of, m.hubs.from = sized(m.found, int(ng))[:0], m.hubs.of[:0], append(sized(m.hubs.from, int(ng+1))[:0], 0)
	for gi := range ng {
		near, hit := m.addArcs(gi)
		for _, i := range m.members.row(gi) {
			m.paired.near[i] = near
		}
		if m.of == known && near < 0 && !hit {
			for _, c := range m.location(gi).cells {
				if h := m.key.hub(c); h >= 0 {
					m.hubs.of, m.joined[h] = append(m.hubs.of, h), true
				}
			}
		}
		m.hubs.from = append(m.hubs.from, int32(len(m.hubs.of)))
	}
	m.sortArcs()
}

// addArcs adds the full matches of a group, gives the nearest (-1 for none), and says
// whether the group hits a decoy.
func (m *matcher) addArcs(gi int32) (near int32, hit bool) {
	s := m.location(gi)
	candidates := m.key.candidates(s)
	within := int32(math.MaxInt32)
	if m.of == known {
		if d := m.key.nearestOf(candidates, decoy, s, nil); d >= 0 {
			within, hit = m.key.entries[d].at.distance(s.at), true
		}
	}
	near = m.key.nearestOf(candidates, m.of, s, nil)
	if near < 0 || m.key.entries[near].at.distance(s.at) > within {
		return -1, hit
	}
	for _, e := range candidates {
		en := &m.key.entries[e]
		if d := en.at.distance(s.at); d <= within && m.key.is(e, m.of) {
			m.found = append(m.found, arc{e - m.key.from[m.of], gi, d, d == 0 && m.key.exact(en, s)})
		}
	}
	return near, hit
}

func (m *matcher) sortArcs() {
	rows := sized(m.linked, len(m.found))
	for i := range m.found {
		rows[i] = m.found[i].entry
	}
	m.linked = rows
	m.first.sort(len(m.key.list(m.of)), rows)
	m.arcs = sized(m.arcs, len(m.found))[:0]
	for e := range int32(len(m.key.list(m.of))) {
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

func (m *matcher) arcsOf(e int32) []arc { return m.arcs[m.first.from[e]:m.first.from[e+1]] }

// layOut builds the flow. Hubs that no group may use stay without an arc.
func (m *matcher) layOut() {
	f, ng := &m.flow, m.groups()
	f.reset(len(m.key.list(m.of)), int(ng), len(m.arcs)+len(m.key.hubsAt.of))
	f.hubs = m.key.hubs.rows()
	for g := range ng {
		f.room = append(f.room, int32(len(m.members.row(g))))
		for _, h := range m.hubs.row(g) {
			f.link(h, g)
		}
	}
	for e := range int32(f.knowns) {
		for _, a := range m.arcsOf(e) {
			f.addArc(int32(f.knowns)+a.group, int64(a.distance))
		}
		if m.of == known {
			for _, h := range m.key.hubsAt.row(e) {
				if m.joined[h] {
					f.addArc(f.hubNode(h), halfCost)
				}
			}
		}
		f.arcFrom = append(f.arcFrom, int32(len(f.arcTo)))
	}
	f.prepare()
}

// takeExact begins with pairs that agree word for word. They cost nothing, so the
// assignment stays one of least cost; among equals they are kept unless moving
// one gains a match.
func (m *matcher) takeExact() {
	f := &m.flow
	for k := range int32(f.knowns) {
		for i, a := range m.arcsOf(k) {
			if !a.exact {
				break
			}
			if f.room[a.group] > 0 {
				f.room[a.group]--
				f.use(k, f.arcFrom[k]+int32(i))
				break
			}
		}
	}
}

// read turns the flow into pairs. Which of a group's equal members is taken goes
// by their order, which is fixed.
func (m *matcher) read() {
	m.flow.each(func(k, a, g, nth int32) {
		i := m.members.row(g)[nth]
		half := int(m.flow.arcTo[a]) >= m.flow.knowns+m.flow.groups
		m.paired.entry[i], m.paired.half[i] = k+m.key.from[m.of], half
		m.paired.credit2 += 2
		if half {
			m.paired.credit2--
		}
	})
}
