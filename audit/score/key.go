package score

import (
	"cmp"
	"fmt"
	"slices"

	"assay/audit"
	"assay/internal/cwe"
)

// A kind is what an entry of a key is: its list in the project.
type kind int

const (
	known  kind = iota // vulnerabilities, which alone are matched by half, too
	decoy              // what only looks so
	review             // of what is neither
	kinds
)

// A key is an answer key made ready for look-ups by file and CWE. It is built once and
// serves every matching against it, those of the chance level included. Files, functions
// and CWEs have numbers, each in their own order and not in that of fixture and report.
type key struct {
	files, names numbering[string]    // that entries name; of names 0 is none
	cwes         numbering[audit.CWE] // that findings have, and 0 for none: others match nothing
	reach        []int32              // of each file how many lines may lie between an entry and a finding
	entries      []entry              // the kinds one after the other, each sorted by ID
	from         [kinds + 1]int32

	cellOf []int32            // by file and CWE, from 1: the cell of the entries that take it there; 0 for none
	cells  int32              // how many
	byCWE  table              // of each cell the entries with lines that take it in full, ordered by first line
	ats    []lines            // the lines of byCWE's entries
	byName map[inFile][]int32 // the entries; below no name those that name neither lines nor functions
	named  [][]int32          // by location.says: the entries whose component is named
	hubs   table              // of each of the first cells, in which known vulnerabilities take half, these, ascending
	hubsAt table              // of each known vulnerability its hubs
	own    []int32            // of each CWE, by its number, the first entry that takes half for it, from 1; 0 for none

	dims    map[audit.CWE]audit.Dimension
	stand   map[audit.CWE][]int32 // see standIns
	stepped map[step][]int32      // what steps gave

	marks []int32 // scratch of candidates, as the next two
	mark  int32
	found []int32
}

// inFile is a function in a file, by their numbers.
type inFile struct{ file, name int32 }

// An entry is one of a key, as far as matching goes.
type entry struct {
	*audit.Known
	index     int // in the project's list
	file      int32
	also      []int32 // other files
	functions []int32
	at        lines
	component string  // what the entry is about, in a file where each line is its own thing, folded; empty where its title names none
	accepts   []int32 // numbers of its CWEs, of those one step off in its dimension, and of what stands for these
	halves    []int32 // numbers of its CWEs, and of what stands for these
	own       int     // how many of the halves are its own CWEs: the first
}

// newKey gives the key of a project for these findings.
func newKey(p *audit.Project, dims map[audit.CWE]audit.Dimension, findings []audit.Finding) (*key, error) {
	lists := [kinds][]audit.Known{p.Known, make([]audit.Known, len(p.Decoys)), make([]audit.Known, len(p.Reviews))}
	for i, d := range p.Decoys {
		lists[decoy][i] = audit.Known{ID: d.ID, Title: d.Title, Dimension: d.Dimension, CWEs: d.CWEs, Functions: d.Functions, Lines: d.Lines, File: d.File, Pos: d.Pos}
	}
	for i := range p.Reviews {
		r := &p.Reviews[i]
		lists[review][i] = audit.Known{ID: reviewID(r, i), CWEs: r.CWEs, Functions: r.Functions, Lines: r.Lines, File: r.File, Pos: r.Pos}
		if len(r.CWEs) > 0 {
			lists[review][i].Dimension = dims[r.CWEs[0]]
		}
	}
	k := &key{dims: dims, byName: map[inFile][]int32{}, stepped: map[step][]int32{}}
	k.number(lists[:], findings)
	for of, list := range lists {
		if err := k.add(list, p.Pos); err != nil {
			return nil, err
		}
		k.from[of+1] = int32(len(k.entries))
	}
	k.marks = make([]int32, len(k.entries))
	k.fill()
	return k, nil
}

// list gives the entries of a kind.
func (k *key) list(kind kind) []entry { return k.entries[k.from[kind]:k.from[kind+1]] }

func (k *key) number(lists [][]audit.Known, findings []audit.Finding) {
	files, names, cwes := map[string]bool{}, map[string]bool{"": true}, map[audit.CWE]bool{0: true}
	for _, list := range lists {
		for i := range list {
			files[list[i].File] = true
			for _, f := range list[i].Also {
				files[f] = true
			}
			for _, f := range list[i].Functions {
				names[FunctionName(f)] = true
			}
		}
	}
	for i := range findings {
		first, _ := counting(findings[i].CWEs)
		for _, c := range first {
			if !cwes[audit.CWE(c)] { // which costs a third of setting it again
				cwes[audit.CWE(c)] = true
			}
		}
	}
	k.files, k.names, k.cwes = numbered(files), numbered(names), numbered(cwes)
	k.cellOf = make([]int32, len(files)*len(cwes))
	k.stand = k.standIns()
	k.reach = make([]int32, len(files))
	for i, file := range k.files.list {
		if !strict(file) {
			k.reach[i] = maxGap
		}
	}
}

// add adds the entries of a list, sorted, so that their order in the fixture has no say.
func (k *key) add(list []audit.Known, pos audit.Pos) error {
	entries := make([]entry, len(list))
	for i := range list {
		of := &list[i]
		if of.ID == "" || of.File == "" || len(of.CWEs) == 0 {
			return fmt.Errorf("%s: entry %q: an entry needs an ID, a file and a CWE", of.Pos, of.ID)
		}
		entries[i] = k.entry(i, of)
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.ID, b.ID) })
	for i := 1; i < len(entries); i++ {
		if id := entries[i].ID; id == entries[i-1].ID {
			return fmt.Errorf("%s: entry %q stands twice in the key", pos, id)
		}
	}
	k.entries = append(k.entries, entries...)
	return nil
}

func (k *key) entry(i int, of *audit.Known) entry {
	e := entry{Known: of, index: i, file: k.files.of[of.File], at: usable(of.Lines)}
	if k.reach[e.file] == 0 {
		e.component = component(of.Title)
	}
	for _, f := range of.Also {
		if file := k.files.of[f]; file != e.file {
			e.also = with(e.also, file)
		}
	}
	for _, f := range of.Functions {
		if name := k.names.of[FunctionName(f)]; name > 0 {
			e.functions = append(e.functions, name)
		}
	}
	k.accept(&e)
	return e
}

// fill fills the cells with what the entries take: first by half, in their files and in
// those where they may be shown, so that the first cells are the hubs, then in full.
func (k *key) fill() {
	half, full := newClaims(4*len(k.list(known))), newClaims(8*len(k.entries))
	k.own = make([]int32, len(k.cwes.list))
	for i, e := range k.list(known) {
		for _, file := range append([]int32{e.file}, e.also...) {
			for _, c := range e.halves {
				half.add(k.claim(file, c)-1, int32(i))
				if k.own[c] == 0 {
					k.own[c] = int32(i) + 1
				}
			}
		}
	}
	k.hubs.gather(int(k.cells), half.cell, half.entry)
	k.hubsAt.gather(len(k.list(known)), half.entry, half.cell)
	for i := range k.entries {
		e := &k.entries[i]
		names := e.functions
		switch {
		case !e.at.none():
			for _, c := range e.accepts {
				full.add(k.claim(e.file, c), int32(i))
			}
		case len(names) == 0:
			names = []int32{0}
		}
		for _, name := range names {
			at := inFile{e.file, name}
			k.byName[at] = append(k.byName[at], int32(i))
		}
	}
	k.byCWE.gather(int(k.cells)+1, full.cell, full.entry)
	k.sortCells()
}

// hub gives the hub of a cell; -1 for none.
func (k *key) hub(cell int32) int32 {
	if int(cell) > k.hubs.rows() {
		return -1
	}
	return cell - 1
}

// claim gives the cell of a CWE in a file, a new one where nothing claimed it.
func (k *key) claim(file, cwe int32) int32 {
	at := &k.cellOf[int(file)*len(k.cwes.list)+int(cwe)]
	if *at == 0 {
		k.cells++
		*at = k.cells
	}
	return *at
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

// A step goes from a CWE to its neighbours in a dimension.
type step struct {
	from audit.CWE
	in   audit.Dimension
}

// accept gives the entry the CWEs that match it: its own, and those one step from
// one of them that the map puts into the entry's dimension. A deprecated number
// does what its successors do; a category names several weaknesses and is a step
// itself, so it stands for the entry's own alone.
func (k *key) accept(e *entry) {
	e.halves, e.accepts = make([]int32, 0, 2), make([]int32, 0, 8)
	for _, own := range e.CWEs {
		if n := k.cwes.of[own]; n > 0 {
			e.halves = with(e.halves, n)
			e.accepts = with(e.accepts, n)
		}
		e.accepts = with(with(e.accepts, k.stand[own]...), k.steps(step{own, e.Dimension})...)
	}
	e.own = len(e.halves)
	for _, own := range e.CWEs {
		e.halves = with(e.halves, k.stand[own]...)
	}
}

// steps gives the CWEs that one step leads to, and the deprecated numbers that stand for
// these.
func (k *key) steps(s step) []int32 {
	list, ok := k.stepped[s]
	if ok || s.in == "" {
		return list
	}
	for _, n := range cwe.Neighbours(int(s.from)) {
		c := audit.CWE(n)
		if c == s.from || k.dims[c] != s.in {
			continue
		}
		if i := k.cwes.of[c]; i > 0 {
			list = append(list, i)
		}
		for _, old := range k.stand[c] {
			if en, _ := cwe.Lookup(int(k.cwes.list[old])); en.Kind == cwe.Weakness {
				list = append(list, old)
			}
		}
	}
	k.stepped[s] = list
	return list
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

func (k *key) is(entry int32, of kind) bool { return entry >= k.from[of] && entry < k.from[of+1] }

// find gives the number of a file that the key names; -1 for others.
func (k *key) find(path string) int32 {
	if file, ok := k.files.of[path]; ok {
		return file
	}
	return -1
}

// counting numbers a finding's first three distinct CWEs, and gives those that follow.
func (k *key) counting(f *audit.Finding) (first [maxCWEs]int32, rest []audit.CWE) {
	cwes, rest := counting(f.CWEs)
	for i, c := range cwes {
		first[i] = k.cwes.of[audit.CWE(c)]
	}
	return first, rest
}

// place sets the file of a location, and with it its cells.
func (k *key) place(s *location, file int32) {
	s.file = file
	for i, c := range s.cwes {
		s.cells[i] = 0
		if file >= 0 {
			s.cells[i] = k.cellOf[int(file)*len(k.cwes.list)+int(c)]
		}
	}
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
	if s.file < 0 {
		return nil
	}
	k.mark++
	if s.name > 0 {
		k.giveTaking(s, k.byName[inFile{s.file, s.name}])
	}
	k.giveTaking(s, k.byName[inFile{file: s.file}])
	if s.says > 0 {
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

// nearest gives the entry of a kind that s matches in full and that is nearest, of those
// that may be (nil: all); -1 for none.
func (k *key) nearest(of kind, s *location, may func(e int32) bool) int32 {
	return k.nearestOf(k.candidates(s), of, s, may)
}

func (k *key) nearestOf(candidates []int32, of kind, s *location, may func(e int32) bool) int32 {
	best, gap := int32(-1), int32(0)
	for _, e := range candidates {
		if !k.is(e, of) {
			continue
		}
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
