package score

import (
	"cmp"
	"fmt"
	"slices"

	"assay/audit"
	"assay/internal/cwe"
)

// A key is an answer key made ready for look-ups by file and CWE. It is built
// once and serves every matching against it, those of the chance level included.
type key struct {
	*index
	entries []entry   // sorted by ID
	byCWE   table     // of each of the index' cells of CWEs the entries with lines that take it, ordered by first line
	ats     []lines   // the lines of byCWE's entries
	byName  table     // of each of its cells of functions the entries
	whole   table     // of each file the entries that name neither lines nor functions
	hubOf   []int32   // of each cell of a CWE, from 1: the hub; 0 for none
	hubs    table     // of each hub its entries, ascending
	hubsAt  table     // of each entry its hubs
	own     []int32   // of each CWE, by its number, the first entry that takes half for it, from 1; 0 for none
	named   [][]int32 // by location.says: the entries whose component is named
	marks   []int32   // scratch of candidates, as the next two
	mark    int32
	found   []int32
}

// An entry is a known vulnerability or a decoy, as far as matching goes.
type entry struct {
	*audit.Known
	known     int // index in the project's list
	file      int32
	also      []int32 // files
	functions []int32
	at        lines
	component string  // what the entry is about, in a file where each line is its own thing, folded; empty where its title names none
	accepts   []int32 // numbers of its CWEs, of those one step off in its dimension, and of what stands for these
	halves    []int32 // numbers of its CWEs, and of what stands for these
	own       int     // how many of the halves are its own CWEs: the first
}

// newKeys gives the keys of a project's known vulnerabilities, its decoys and the
// reviews of what is neither, for these findings. The first one's entries take halves.
func newKeys(p *audit.Project, dims map[audit.CWE]audit.Dimension, findings []audit.Finding) (known, decoys, reviews *key, err error) {
	lists := [][]audit.Known{p.Known, make([]audit.Known, len(p.Decoys)), make([]audit.Known, len(p.Reviews))}
	for i, d := range p.Decoys {
		lists[1][i] = audit.Known{ID: d.ID, Title: d.Title, Dimension: d.Dimension, CWEs: d.CWEs, Functions: d.Functions, Lines: d.Lines, File: d.File, Pos: d.Pos}
	}
	for i := range p.Reviews {
		r := &p.Reviews[i]
		lists[2][i] = audit.Known{ID: reviewID(r, i), CWEs: r.CWEs, Functions: r.Functions, Lines: r.Lines, File: r.File, Pos: r.Pos}
		if len(r.CWEs) > 0 {
			lists[2][i].Dimension = dims[r.CWEs[0]]
		}
	}
	x := newIndex(lists, findings, dims)
	var keys [3]*key
	var full, half, named [3]claims
	for i, list := range lists {
		if keys[i], err = x.key(list, p.Pos); err != nil {
			return nil, nil, nil, err
		}
		full[i], named[i] = keys[i].claim()
	}
	half[0] = keys[0].claimHalves()
	for i, k := range keys { // once all cells are known
		k.byCWE.gather(int(x.ofCWEs.count)+1, full[i].cell, full[i].entry)
		k.sortCells()
		k.addHubs(half[i])
		k.byName.gather(len(x.ofNames)+1, named[i].cell, named[i].entry)
	}
	return keys[0], keys[1], keys[2], nil
}

// key gives the key of a list that stands at pos. Its entries are sorted, so that their
// order in the fixture has no say.
func (x *index) key(list []audit.Known, pos audit.Pos) (*key, error) {
	k := &key{index: x, entries: make([]entry, len(list)), marks: make([]int32, len(list))}
	for i := range list {
		of := &list[i]
		if of.ID == "" || of.File == "" || len(of.CWEs) == 0 {
			return nil, fmt.Errorf("%s: entry %q: an entry needs an ID, a file and a CWE", of.Pos, of.ID)
		}
		k.entries[i] = x.entry(i, of)
	}
	slices.SortFunc(k.entries, func(a, b entry) int { return cmp.Compare(a.ID, b.ID) })
	for i := 1; i < len(k.entries); i++ {
		if id := k.entries[i].ID; id == k.entries[i-1].ID {
			return nil, fmt.Errorf("%s: entry %q stands twice in the key", pos, id)
		}
	}
	return k, nil
}

func (x *index) entry(i int, of *audit.Known) entry {
	e := entry{Known: of, known: i, file: x.files.of[of.File], at: usable(of.Lines)}
	if x.reach[e.file] == 0 {
		e.component = component(of.Title)
	}
	for _, f := range of.Also {
		e.also = append(e.also, x.files.of[f])
	}
	for _, f := range of.Functions {
		if name := x.names.of[FunctionName(f)]; name > 0 {
			e.functions = append(e.functions, name)
		}
	}
	x.accept(&e)
	return e
}

func (k *key) claim() (byCWE, byName claims) {
	byCWE = newClaims(8 * len(k.entries))
	whole := make([]int32, len(k.entries))
	for i := range k.entries {
		e := &k.entries[i]
		whole[i] = -1
		switch {
		case !e.at.none():
			for _, c := range e.accepts {
				byCWE.add(k.ofCWEs.claim(e.file, c), int32(i))
			}
		case len(e.functions) == 0:
			whole[i] = e.file
		}
		for _, name := range e.functions {
			byName.add(k.ofNames.claim(e.file, name), int32(i))
		}
	}
	k.whole.sort(len(k.files.list), whole)
	return byCWE, byName
}

// claimHalves claims what the entries take half for, in their files and in those where
// they may be shown.
func (k *key) claimHalves() (halves claims) {
	halves = newClaims(4 * len(k.entries))
	k.own = make([]int32, len(k.cwes.list))
	for i := range k.entries {
		e := &k.entries[i]
		for _, file := range append([]int32{e.file}, e.also...) {
			for _, c := range e.halves {
				halves.add(k.ofCWEs.claim(file, c), int32(i))
				if k.own[c] == 0 {
					k.own[c] = int32(i) + 1
				}
			}
		}
	}
	return halves
}

func (k *key) sortCells() {
	for c := range k.byCWE.rows() {
		if row := k.byCWE.row(int32(c)); len(row) > 1 {
			slices.SortStableFunc(row, func(a, b int32) int { return cmp.Compare(k.entries[a].at.start, k.entries[b].at.start) })
		}
	}
	k.ats = make([]lines, len(k.byCWE.of))
	for at, i := range k.byCWE.of {
		k.ats[at] = k.entries[i].at
	}
}

// addHubs numbers the hubs, which are the cells that entries take half in, as they come,
// and gives each its entries and each entry its hubs once.
func (k *key) addHubs(halves claims) {
	k.hubOf = make([]int32, k.ofCWEs.count+1)
	last := make([]int32, len(k.hubOf)) // the entry that claimed the cell last, from 1
	var once claims
	count := int32(0)
	for i, at := range halves.cell {
		if k.hubOf[at] == 0 {
			count++
			k.hubOf[at] = count
		}
		if e := halves.entry[i]; last[at] != e+1 {
			last[at] = e + 1
			once.add(k.hubOf[at]-1, e)
		}
	}
	k.hubs.gather(int(count), once.cell, once.entry)
	k.hubsAt.gather(len(k.entries), once.entry, once.cell)
}

// An accepting is one CWE of the entries of a dimension.
type accepting struct {
	own       audit.CWE
	dimension audit.Dimension
}

// terms are what it accepts, as numbers.
type terms struct {
	own    int32   // the CWE itself; 0 where no finding uses it
	stands []int32 // what stands for it
	steps  []int32 // what is one step from it and of the dimension, and deprecated numbers that stand for that
}

// accept gives the entry the CWEs that match it: its own, and those one step from
// one of them that the map puts into the entry's dimension. A deprecated number
// does what its successors do; a category names several weaknesses and is a step
// itself, so it stands for the entry's own alone.
func (x *index) accept(e *entry) {
	e.halves, e.accepts = make([]int32, 0, 2), make([]int32, 0, 8)
	for _, own := range e.CWEs {
		t := x.terms(accepting{own, e.Dimension})
		if t.own > 0 {
			e.halves = with(e.halves, t.own)
			e.accepts = with(e.accepts, t.own)
		}
		e.accepts = with(with(e.accepts, t.stands...), t.steps...)
	}
	e.own = len(e.halves)
	for _, own := range e.CWEs {
		e.halves = with(e.halves, x.stand[own]...)
	}
}

func (x *index) terms(a accepting) terms {
	t, ok := x.seen[a]
	if ok {
		return t
	}
	t = terms{own: x.cwes.of[a.own], stands: x.stand[a.own]}
	for _, n := range cwe.Neighbours(int(a.own)) {
		c := audit.CWE(n)
		if c == a.own || a.dimension == "" || x.dims[c] != a.dimension {
			continue
		}
		if i := x.cwes.of[c]; i > 0 {
			t.steps = append(t.steps, i)
		}
		for _, old := range x.stand[c] {
			if en, _ := cwe.Lookup(int(x.cwes.list[old])); en.Kind == cwe.Weakness {
				t.steps = append(t.steps, old)
			}
		}
	}
	x.seen[a] = t
	return t
}

// with appends those numbers that the list has not.
func with(list []int32, numbers ...int32) []int32 {
	for _, n := range numbers {
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// A location is what matching sees of a finding. Equal locations are interchangeable.
type location struct {
	file  int32 // -1: not a file that the key names
	name  int32 // 0: no function, or one that the key does not name
	at    lines
	cwes  [maxCWEs]int32 // the index' numbers, as reported, repeats left out; 0 for none
	cells [maxCWEs]int32 // of these in the file; 0 for none
	says  int32          // which components it names of those that its file's entries are about: a number of the scorer's; 0 for none
}

// candidates gives the entries that s matches in full, each once. The list holds
// until the next call.
func (k *key) candidates(s *location) []int32 {
	k.found = k.found[:0]
	if s.file < 0 || len(k.entries) == 0 {
		return nil
	}
	k.mark++
	if s.name > 0 {
		k.giveTaking(s, k.byName.row(k.ofNames.find(s.file, s.name)))
	}
	k.giveTaking(s, k.whole.row(s.file))
	if s.says > 0 && int(s.says) <= len(k.named) {
		k.giveTaking(s, k.named[s.says-1])
	}
	if s.at.none() {
		return k.found
	}
	reach := k.reach[s.file]
	for _, c := range s.cells {
		entries, ats := k.byCWE.row(c), k.ats[k.byCWE.from[c]:k.byCWE.from[c+1]]
		lo, _ := slices.BinarySearchFunc(ats, s.at.start-reach-maxRange, func(at lines, line int32) int { return cmp.Compare(at.start, line) })
		for j := lo; j < len(ats) && ats[j].start <= s.at.end+reach; j++ {
			if ats[j].gap(s.at) <= reach {
				k.give(entries[j])
			}
		}
	}
	return k.found
}

func (k *key) give(i int32) {
	if k.marks[i] != k.mark {
		k.marks[i] = k.mark
		k.found = append(k.found, i)
	}
}

// giveTaking gives those of a list that take one of s's CWEs.
func (k *key) giveTaking(s *location, list []int32) {
	for _, i := range list {
		if k.entries[i].takes(s) {
			k.give(i)
		}
	}
}

// nearest gives the entry that s matches in full and that is nearest, of those that
// may be (nil: all); -1 for none.
func (k *key) nearest(s *location, may func(e int32) bool) int32 {
	best, gap := int32(-1), int32(0)
	for _, e := range k.candidates(s) {
		g := k.entries[e].at.distance(s.at)
		if (best < 0 || g < gap || g == gap && e < best) && (may == nil || may(e)) {
			best, gap = e, g
		}
	}
	return best
}

// takes reports whether one of s's CWEs matches e in full.
func (e *entry) takes(s *location) bool {
	for _, c := range s.cwes {
		if c != 0 && slices.Contains(e.accepts, c) {
			return true
		}
	}
	return false
}

// exact reports whether s says word for word what e says: then it is the better
// of two that are equally near.
func (k *key) exact(e *entry, s *location) bool {
	if e.at != s.at || k.cwes.list[s.cwes[0]] != e.CWEs[0] {
		return false
	}
	return s.name == 0 && len(e.functions) == 0 || slices.Contains(e.functions, s.name)
}
