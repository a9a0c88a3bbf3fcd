package score

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"assay/audit"
	"assay/internal/cwe"
)

// A key is an answer key made ready for look-ups by file and CWE. It is built
// once and serves every matching against it, those of the chance level included.
type key struct {
	entries []entry // sorted by ID
	files   map[string]int32
	names   map[string]int32    // bare function names
	byCWE   lookup              // entries with lines, by the CWEs that they take, ordered by first line
	starts  []int32             // the first lines of byCWE's entries
	byName  lookup              // entries by function; those that name neither lines nor functions by none
	whole   bool                // whether an entry names neither
	hubOf   []int32             // of byCWE's cells, from 1: the hub; 0 for none
	hubs    table               // of each hub its entries, ascending
	hubsAt  table               // of each entry its hubs
	own     map[audit.CWE]int32 // the first entry that takes half for it
	named   [][]int32           // by location.says: the entries whose component is named
	marks   []int32             // scratch of candidates, as the next two
	mark    int32
	found   []int32
	halves  []int32 // hubs of the location that candidates was asked for
}

// An entry is a known vulnerability or a decoy, as far as matching goes.
type entry struct {
	known     int // index in the project's list
	id        string
	dimension audit.Dimension
	cwes      []audit.CWE
	file      int32
	functions []int32
	at        lines
	strict    bool        // in a file where each line is its own thing: no tolerance of lines
	component string      // what the entry is about, in a strict file, folded; empty where its title names none
	accepts   []audit.CWE // its own, those one step off in its dimension, and numbers that stand for these
	halves    []audit.CWE // its own, and numbers that stand for these
}

// newKeys prepares a project's known vulnerabilities, its decoys and the reviews of
// what is neither. Files and functions are numbered in their own order, not in the
// fixture's, and alike for all. CWEs that no finding uses need no place in the
// index.
func newKeys(p *audit.Project, dims map[audit.CWE]audit.Dimension, used map[audit.CWE]bool) (known, decoys, reviews *key, err error) {
	files, names := numbers(p)
	known, decoys, reviews = emptyKey(len(p.Known), files, names), emptyKey(len(p.Decoys), files, names), emptyKey(len(p.Reviews), files, names)
	for i := range p.Known {
		e := &p.Known[i]
		if err := known.add(i, e.ID, e.Title, e.Dimension, e.CWEs, e.File, e.Functions, e.Lines, e.Pos); err != nil {
			return nil, nil, nil, err
		}
	}
	for i := range p.Decoys {
		e := &p.Decoys[i]
		if err := decoys.add(i, e.ID, e.Title, e.Dimension, e.CWEs, e.File, e.Functions, e.Lines, e.Pos); err != nil {
			return nil, nil, nil, err
		}
	}
	for i := range p.Reviews {
		r := &p.Reviews[i]
		dimension := audit.Dimension("")
		if len(r.CWEs) > 0 {
			dimension = dims[r.CWEs[0]]
		}
		if err := reviews.add(i, reviewID(r, i), "", dimension, r.CWEs, r.File, r.Functions, r.Lines, r.Pos); err != nil {
			return nil, nil, nil, err
		}
	}
	stand := standIns(used)
	if err := errors.Join(known.finish(dims, used, stand), decoys.finish(dims, used, stand), reviews.finish(dims, used, stand)); err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", p.Pos, err)
	}
	halves := make([]claim, 0, 4*len(p.Known))
	for i := range known.entries {
		e := &known.entries[i]
		halves = claims(halves, e.file, int32(i), e.halves, used)
		for _, file := range p.Known[e.known].Also {
			halves = claims(halves, files[file], int32(i), e.halves, used)
		}
		for _, c := range e.halves {
			if _, ok := known.own[c]; !ok {
				known.own[c] = int32(i)
			}
		}
	}
	known.index(used, halves)
	decoys.index(used, nil)
	reviews.index(used, nil)
	return known, decoys, reviews, nil
}

// maxSuccessors is how many weaknesses a category may stand for. A wider one says
// next to nothing: with three of the widest, one finding a window would name half
// of the catalogue.
const maxSuccessors = 20

// standIns gives, by weakness, the numbers among those in use that stand for it:
// deprecated ones and categories.
func standIns(used map[audit.CWE]bool) map[audit.CWE][]audit.CWE {
	stand := map[audit.CWE][]audit.CWE{}
	for _, c := range slices.Sorted(maps.Keys(used)) {
		e, _ := cwe.Lookup(int(c))
		if len(e.Successors) > maxSuccessors {
			continue
		}
		for _, n := range e.Successors {
			stand[audit.CWE(n)] = append(stand[audit.CWE(n)], c)
		}
	}
	return stand
}

func numbers(p *audit.Project) (files, names map[string]int32) {
	files, names = make(map[string]int32), map[string]int32{"": 0}
	set := func(m map[string]int32, keys ...string) {
		for _, k := range keys {
			m[k] = 0
		}
	}
	for i := range p.Known {
		set(files, p.Known[i].File)
		set(files, p.Known[i].Also...)
		for _, f := range p.Known[i].Functions {
			set(names, FunctionName(f))
		}
	}
	for i := range p.Decoys {
		set(files, p.Decoys[i].File)
		for _, f := range p.Decoys[i].Functions {
			set(names, FunctionName(f))
		}
	}
	for i := range p.Reviews {
		set(files, p.Reviews[i].File)
		for _, f := range p.Reviews[i].Functions {
			set(names, FunctionName(f))
		}
	}
	for _, m := range []map[string]int32{files, names} {
		for i, k := range slices.Sorted(maps.Keys(m)) {
			m[k] = int32(i) // of names, "" is the first and so 0
		}
	}
	return files, names
}

func emptyKey(n int, files, names map[string]int32) *key {
	return &key{
		files:   files,
		names:   names,
		entries: make([]entry, 0, n),
		own:     make(map[audit.CWE]int32),
		marks:   make([]int32, n),
	}
}

func (k *key) add(i int, id, title string, d audit.Dimension, cwes []audit.CWE, file string, functions []string, at audit.Range, pos audit.Pos) error {
	if id == "" || file == "" || len(cwes) == 0 {
		return fmt.Errorf("%s: entry %q: an entry needs an ID, a file and a CWE", pos, id)
	}
	e := entry{known: i, id: id, dimension: d, cwes: cwes, file: k.files[file], at: usable(at), strict: strict(file)}
	if e.strict {
		e.component = component(title)
	}
	for _, f := range functions {
		if name := FunctionName(f); name != "" {
			e.functions = append(e.functions, k.names[name])
		}
	}
	k.entries = append(k.entries, e)
	return nil
}

// finish sorts the entries, so that their order in the fixture has no say, and gives
// them the CWEs that they take.
func (k *key) finish(dims map[audit.CWE]audit.Dimension, used map[audit.CWE]bool, stand map[audit.CWE][]audit.CWE) error {
	slices.SortStableFunc(k.entries, func(a, b entry) int { return cmp.Compare(a.id, b.id) })
	accepts := make(map[acceptor][]audit.CWE)
	for i := range k.entries {
		e := &k.entries[i]
		if i > 0 && e.id == k.entries[i-1].id {
			return fmt.Errorf("entry %q stands twice in the key", e.id)
		}
		e.accepts = accepted(e, dims, used, stand, accepts)
		e.halves = slices.Clip(e.cwes)
		for _, own := range e.cwes {
			for _, c := range stand[own] {
				if !slices.Contains(e.halves, c) {
					e.halves = append(e.halves, c)
				}
			}
		}
	}
	return nil
}

// index fills the lookups. A hub stands for each cell of the halves, in the order in
// which they come.
func (k *key) index(used map[audit.CWE]bool, halves []claim) {
	full, names := make([]claim, 0, 4*len(k.entries)+len(halves)), make([]claim, 0, len(k.entries))
	for i := range k.entries {
		e := &k.entries[i]
		if !e.at.none() {
			full = claims(full, e.file, int32(i), e.accepts, used)
		}
		for _, name := range e.functions {
			names = append(names, claim{e.file, name, int32(i)})
		}
		if e.at.none() && len(e.functions) == 0 {
			k.whole = true
			names = append(names, claim{e.file, 0, int32(i)})
		}
	}
	k.byName = newLookup(len(k.files), names, len(names))
	k.byCWE = newLookup(len(k.files), append(full, halves...), len(full))
	start := func(i int32) int32 { return k.entries[i].at.start }
	for c := range k.byCWE.numbers {
		slices.SortStableFunc(k.byCWE.entries.row(int32(c)), func(a, b int32) int { return cmp.Compare(start(a), start(b)) })
	}
	k.starts = make([]int32, len(full))
	for at, i := range k.byCWE.entries.of {
		k.starts[at] = start(i)
	}
	k.addHubs(halves)
}

// claims appends an entry's claims of those CWEs that findings use.
func claims(to []claim, file, entry int32, cwes []audit.CWE, used map[audit.CWE]bool) []claim {
	for _, c := range cwes {
		if used[c] {
			to = append(to, claim{file, int32(c), entry})
		}
	}
	return to
}

// addHubs numbers the hubs, and gives each its entries and each entry its hubs once.
func (k *key) addHubs(halves []claim) {
	k.hubOf = make([]int32, len(k.byCWE.numbers))
	last := make([]int32, len(k.byCWE.numbers)) // the entry that claimed the cell last, from 1
	hubs, entries := make([]int32, 0, len(halves)), make([]int32, 0, len(halves))
	n := int32(0)
	for _, c := range halves {
		at := k.byCWE.cell(c.file, c.number)
		if k.hubOf[at] == 0 {
			n++
			k.hubOf[at] = n
		}
		if last[at] != c.entry+1 {
			last[at] = c.entry + 1
			hubs, entries = append(hubs, k.hubOf[at]-1), append(entries, c.entry)
		}
	}
	k.hubs.gather(int(n), hubs, entries)
	k.hubsAt.gather(len(k.entries), entries, hubs)
}

type acceptor struct {
	cwe       audit.CWE
	dimension audit.Dimension
}

// accepted gives the CWEs that match the entry: its own, and those one step from
// one of them that the map puts into the entry's dimension. A deprecated number
// does what its successors do; a category names several weaknesses and is a step
// itself, so it stands for the entry's own alone.
func accepted(e *entry, dims map[audit.CWE]audit.Dimension, used map[audit.CWE]bool, stand map[audit.CWE][]audit.CWE, seen map[acceptor][]audit.CWE) []audit.CWE {
	all := make([]audit.CWE, 0, 2*len(e.cwes))
	for _, own := range e.cwes {
		at := acceptor{own, e.dimension}
		near, ok := seen[at]
		if !ok {
			near = append([]audit.CWE{own}, stand[own]...)
			for _, n := range cwe.Neighbours(int(own)) {
				c := audit.CWE(n)
				if c == own || e.dimension == "" || dims[c] != e.dimension {
					continue
				}
				if used[c] {
					near = append(near, c)
				}
				for _, old := range stand[c] {
					if en, _ := cwe.Lookup(int(old)); en.Kind == cwe.Weakness {
						near = append(near, old)
					}
				}
			}
			seen[at] = near
		}
		for _, c := range near {
			if !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// hubIn gives the hub of a CWE in a file; -1 for none.
func (k *key) hubIn(file, cwe int32) int32 {
	if c := k.byCWE.cell(file, cwe); c >= 0 {
		return k.hubOf[c] - 1
	}
	return -1
}

// A location is what matching sees of a finding. Equal locations are interchangeable.
type location struct {
	file int32 // -1: not a file that the key names
	name int32 // 0: no function, or one that the key does not name
	at   lines
	cwes [maxCWEs]int32 // as reported, repeats left out; 0 for none
	says int32          // which components it names of those that its file's entries are about: a number of the scorer's; 0 for none
}

// candidates gives the entries that s matches in full, each once. The list holds
// until the next call.
func (k *key) candidates(s *location) []int32 {
	k.found, k.halves = k.found[:0], k.halves[:0]
	if s.file < 0 || len(k.entries) == 0 {
		return nil
	}
	k.mark++
	if s.name > 0 {
		k.giveTaking(s, k.byName.claimed(s.file, s.name))
	}
	if k.whole {
		k.giveTaking(s, k.byName.claimed(s.file, 0))
	}
	if s.says > 0 && int(s.says) <= len(k.named) {
		k.giveTaking(s, k.named[s.says-1])
	}
	for _, c := range s.cwes {
		if c == 0 {
			break
		}
		at := k.byCWE.cell(s.file, c)
		if at < 0 {
			continue
		}
		if h := k.hubOf[at]; h > 0 {
			k.halves = append(k.halves, h-1)
		}
		if s.at.none() {
			continue
		}
		from, to := k.byCWE.entries.from[at], k.byCWE.entries.from[at+1]
		lo, _ := slices.BinarySearch(k.starts[from:to], s.at.start-maxGap-maxRange)
		for j := from + int32(lo); j < to && k.starts[j] <= s.at.end+maxGap; j++ {
			i := k.byCWE.entries.of[j]
			if e := &k.entries[i]; e.at.gap(s.at) <= e.reach() {
				k.give(i)
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

// reach is how many lines may lie between the entry and a finding.
func (e *entry) reach() int32 {
	if e.strict {
		return 0
	}
	return maxGap
}

// takes reports whether one of s's CWEs matches e in full.
func (e *entry) takes(s *location) bool {
	for _, c := range s.cwes {
		if c != 0 && slices.Contains(e.accepts, audit.CWE(c)) {
			return true
		}
	}
	return false
}

// exact reports whether s says word for word what e says: then it is the better
// of two that are equally near.
func (e *entry) exact(s *location) bool {
	if e.at != s.at || audit.CWE(s.cwes[0]) != e.cwes[0] {
		return false
	}
	return s.name == 0 && len(e.functions) == 0 || slices.Contains(e.functions, s.name)
}
