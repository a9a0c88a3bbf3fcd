package score

import "math"

// A flow assigns knowns to groups of findings: as many as can be, and of all such
// assignments one of least cost. A known takes one finding; a group holds as many
// findings as its capacity. A known reaches a group over an arc of its own, or
// through a hub, which stands for "the right CWE in this file": with hubs, pairs
// that nothing but their CWE joins need no arc each.
//
// The method is the Hungarian one for all free knowns at once: augment along
// tight arcs until none is left, then lower the potentials of what was reached by
// the least slack, so that one more arc becomes tight. Every state between is of
// least cost for its size. With n knowns, E arcs and L levels (distinct lengths
// of augmenting paths; at most the spread of the costs over a path, in practice a
// few dozen) it takes O(L·E·sqrt(n)) time, and O(E) memory.
//
// Nodes are numbered: knowns first, then groups, then hubs.
type flow struct {
	knowns, groups, hubs int

	arcFrom []int32 // of each known the index of its first arc; one more at the end
	arcTo   []int32 // a group or a hub
	arcCost []int64

	ofHub   table   // of each hub its links
	linkTo  []int32 // group
	linkHub []int32 // hub of the link
	linkUse []int32 // findings that go over the link

	groupLinks table   // of each group its links from hubs
	room       []int32 // findings of each group that are free
	free       int32   // findings of all groups that are free

	via  []int32 // of each known the arc that it uses; -1 for none
	next []int32 // chains the knowns of one group or hub
	prev []int32

	nodes  []node
	stamp  int32
	cursor []int32 // of each hub the link that is tried next in this pass

	newTo, newHub, used []int32 // links as they come; scratch of each
	through             table
}

type node struct {
	pot     int64
	visited int32 // the stamp of the pass that saw it last
	first   int32 // of a group or hub the first known that uses it; -1 for none
}

const noStop = math.MaxInt64

func (f *flow) reset(knowns, groups, arcs int) {
	f.knowns, f.groups, f.hubs = knowns, groups, 0
	f.arcFrom, f.arcTo, f.arcCost = append(sized(f.arcFrom, knowns+1)[:0], 0), sized(f.arcTo, arcs)[:0], sized(f.arcCost, arcs)[:0]
	f.room, f.newTo, f.newHub = sized(f.room, groups)[:0], f.newTo[:0], f.newHub[:0]
}

func (f *flow) addArc(to int32, cost int64) {
	f.arcTo, f.arcCost = append(f.arcTo, to), append(f.arcCost, cost)
}

// link takes groups in ascending order.
func (f *flow) link(hub, group int32) {
	f.newHub, f.newTo = append(f.newHub, hub), append(f.newTo, group)
}

// prepare comes after arcs, links and room are set.
func (f *flow) prepare() {
	f.ofHub.sort(f.hubs, f.newHub)
	f.linkTo, f.linkHub = f.linkTo[:0], f.linkHub[:0]
	for _, l := range f.ofHub.of {
		f.linkTo, f.linkHub = append(f.linkTo, f.newTo[l]), append(f.linkHub, f.newHub[l])
	}
	f.groupLinks.sort(f.groups, f.linkTo)
	f.linkUse = zeros(f.linkUse, len(f.linkTo))
	n := f.knowns + f.groups + f.hubs
	f.nodes, f.stamp = all(f.nodes, n, node{first: -1}), 0
	f.via, f.next, f.prev = all(f.via, f.knowns, -1), all(f.next, f.knowns, -1), all(f.prev, f.knowns, -1)
	f.cursor = sized(f.cursor, f.hubs)
}

// each gives the pairs: known k, over arc a, takes the nth member of group g.
func (f *flow) each(pair func(k, a, g, nth int32)) {
	f.used = zeros(f.used, f.groups)
	take := func(k, g int32) {
		pair(k, f.via[k], g, f.used[g])
		f.used[g]++
	}
	hubOf := sized(f.prev, f.knowns) // no longer in use
	for k := range int32(f.knowns) {
		hubOf[k] = -1
		if f.via[k] < 0 {
			continue
		}
		if v := f.arcTo[f.via[k]] - int32(f.knowns); int(v) < f.groups {
			take(k, v)
		} else {
			hubOf[k] = v - int32(f.groups)
		}
	}
	f.through.sort(f.hubs, hubOf)
	for h := range int32(f.hubs) {
		ks := f.through.row(h)
		for l := f.ofHub.from[h]; l < f.ofHub.from[h+1]; l++ {
			for range f.linkUse[l] {
				take(ks[0], f.linkTo[l])
				ks = ks[1:]
			}
		}
	}
}

// run assigns. It ends before the first augmenting path that costs stop or more.
func (f *flow) run(stop int64) {
	var cost int64
	f.free = 0
	for _, r := range f.room {
		f.free += r
	}
	for f.free > 0 {
		if f.pass() > 0 {
			continue
		}
		slack := f.slack()
		if slack == math.MaxInt64 || cost >= stop-slack {
			return
		}
		cost += slack
		for v := range f.nodes {
			if n := &f.nodes[v]; n.visited == f.stamp {
				n.pot -= slack
			}
		}
	}
}

// pass tries every free known once and gives the number that found a finding. A
// pass that gives 0 has visited exactly what free knowns reach over tight arcs.
func (f *flow) pass() int {
	f.stamp++
	copy(f.cursor, f.ofHub.from[:f.hubs])
	found := 0
	for k := range int32(f.knowns) {
		if f.via[k] < 0 && f.place(k) {
			if found++; f.free == 0 {
				break
			}
		}
	}
	return found
}

func (f *flow) place(k int32) bool {
	f.nodes[k].visited = f.stamp
	for a := f.arcFrom[k]; a < f.arcFrom[k+1]; a++ {
		v := f.arcTo[a]
		if f.nodes[v].visited == f.stamp || f.arcCost[a]+f.nodes[k].pot != f.nodes[v].pot {
			continue
		}
		ok := false
		if int(v) < f.knowns+f.groups {
			ok = f.enter(v)
		} else {
			ok = f.pierce(v)
		}
		if ok {
			f.use(k, a)
			return true
		}
	}
	return false
}

// enter makes room for one more in a group.
func (f *flow) enter(v int32) bool {
	f.nodes[v].visited = f.stamp
	g := v - int32(f.knowns)
	if f.room[g] > 0 {
		f.free--
		f.room[g]--
		if f.room[g] > 0 {
			f.nodes[v].visited = 0
		}
		return true
	}
	for k := f.nodes[v].first; k >= 0; k = f.next[k] {
		if f.nodes[k].visited != f.stamp && f.place(k) {
			return true
		}
	}
	for _, l := range f.groupLinks.row(g) {
		if h := f.hubNode(f.linkHub[l]); f.linkUse[l] > 0 && f.nodes[h].visited != f.stamp && f.pierce(h) {
			f.linkUse[l]--
			return true
		}
	}
	return false
}

// pierce takes one more known into a hub.
func (f *flow) pierce(v int32) bool {
	f.nodes[v].visited = f.stamp
	h := v - int32(f.knowns+f.groups)
	for ; f.cursor[h] < f.ofHub.from[h+1]; f.cursor[h]++ {
		l := f.cursor[h]
		g := f.linkTo[l] + int32(f.knowns)
		if f.nodes[g].visited == f.stamp || f.nodes[v].pot != f.nodes[g].pot {
			continue
		}
		if f.enter(g) {
			f.linkUse[l]++
			f.nodes[v].visited = 0 // a hub holds any number
			return true
		}
	}
	for k := f.nodes[v].first; k >= 0; k = f.next[k] {
		if f.nodes[k].visited != f.stamp && f.place(k) {
			f.nodes[v].visited = 0
			return true
		}
	}
	return false
}

func (f *flow) hubNode(h int32) int32 { return h + int32(f.knowns+f.groups) }

func (f *flow) use(k, a int32) {
	if old := f.via[k]; old >= 0 {
		v := f.arcTo[old]
		if f.prev[k] >= 0 {
			f.next[f.prev[k]] = f.next[k]
		} else {
			f.nodes[v].first = f.next[k]
		}
		if f.next[k] >= 0 {
			f.prev[f.next[k]] = f.prev[k]
		}
	}
	v := f.arcTo[a]
	f.via[k], f.prev[k], f.next[k] = a, -1, f.nodes[v].first
	if f.nodes[v].first >= 0 {
		f.prev[f.nodes[v].first] = k
	}
	f.nodes[v].first = k
}

// slack is the least reduced cost of an arc that leaves what the last pass visited.
func (f *flow) slack() int64 {
	least := int64(math.MaxInt64)
	for k := range f.knowns {
		if f.nodes[k].visited != f.stamp {
			continue
		}
		for a := f.arcFrom[k]; a < f.arcFrom[k+1]; a++ {
			if v := f.arcTo[a]; f.nodes[v].visited != f.stamp {
				least = min(least, f.arcCost[a]+f.nodes[k].pot-f.nodes[v].pot)
			}
		}
	}
	for h := range int32(f.hubs) {
		v := f.hubNode(h)
		if f.nodes[v].visited != f.stamp {
			continue
		}
		for l := f.ofHub.from[h]; l < f.ofHub.from[h+1]; l++ {
			if g := f.linkTo[l] + int32(f.knowns); f.nodes[g].visited != f.stamp {
				least = min(least, f.nodes[v].pot-f.nodes[g].pot)
			}
		}
	}
	return least
}
