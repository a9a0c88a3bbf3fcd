package score

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"

	"assay/audit"
	"assay/internal/cwe"
)

// A key is an answer key made ready for look-ups by file and CWE. It is built
// once and serves every matching against it, those of the chance level included.
type key struct {
	entries []entry // sorted by ID
	files   map[string]int32
	names   map[string]int32 // bare function names
	full    index            // what an entry takes as a full match
	hubOf   map[fileCWE]int32
	hubs    [][]int32 // entries of each hub, ascending
	own     map[audit.CWE][]int32
	marks   []int32 // scratch of candidates
	mark    int32
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
	hubs      []int32
	accepts   []audit.CWE // its own, and those one step off in its dimension
}

type fileCWE struct {
	file int32
	cwe  audit.CWE
}

type fileCWEName struct {
	fileCWE
	name int32
}

// An index finds entries that accept a CWE in a file: by lines, by function, or,
// where an entry names neither, by the file alone.
type index struct {
	byLines    map[fileCWE][]int32 // by first line
	byFunction map[fileCWEName][]int32
	byFile     map[fileCWE][]int32
}

// newKeys prepares a project's known vulnerabilities and its decoys. Files and
// functions are numbered in their own order, not in the fixture's, and alike for
// both.
func newKeys(p *audit.Project, dims map[audit.CWE]audit.Dimension) (known, decoys *key, err error) {
	files, names := numbers(p)
	known, decoys = emptyKey(len(p.Known), files, names), emptyKey(len(p.Decoys), files, names)
	for i := range p.Known {
		e := &p.Known[i]
		if err := known.add(i, e.ID, e.Dimension, e.CWEs, e.File, e.Functions, e.Lines, e.Pos); err != nil {
			return nil, nil, err
		}
	}
	for i := range p.Decoys {
		e := &p.Decoys[i]
		if err := decoys.add(i, e.ID, e.Dimension, e.CWEs, e.File, e.Functions, e.Lines, e.Pos); err != nil {
			return nil, nil, err
		}
	}
	if err := errors.Join(known.finish(dims), decoys.finish(dims)); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", p.Pos, err)
	}
	for i := range known.entries {
		e := &known.entries[i]
		known.addHubs(int32(i), e.file)
		for _, file := range p.Known[e.known].Also {
			known.addHubs(int32(i), files[file])
		}
		for _, c := range e.cwes {
			known.own[c] = append(known.own[c], int32(i))
		}
	}
	return known, decoys, nil
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
		full: index{make(map[fileCWE][]int32, 2*n), make(map[fileCWEName][]int32, 2*n),
			make(map[fileCWE][]int32)},
		hubOf: make(map[fileCWE]int32, n),
		own:   make(map[audit.CWE][]int32),
		marks: make([]int32, n),
	}
}

func (k *key) add(i int, id string, d audit.Dimension, cwes []audit.CWE, file string, functions []string, at audit.Range, pos audit.Pos) error {
	if id == "" || file == "" || len(cwes) == 0 {
		return fmt.Errorf("%s: entry %q: an entry needs an ID, a file and a CWE", pos, id)
	}
	e := entry{known: i, id: id, dimension: d, cwes: cwes, file: k.files[file], at: usable(at)}
	for _, f := range functions {
		if name := FunctionName(f); name != "" {
			e.functions = append(e.functions, k.names[name])
		}
	}
	k.entries = append(k.entries, e)
	return nil
}

// finish sorts the entries, so that their order in the fixture has no say, and
// fills the index.
func (k *key) finish(dims map[audit.CWE]audit.Dimension) error {
	slices.SortStableFunc(k.entries, func(a, b entry) int { return cmp.Compare(a.id, b.id) })
	accepts := make(map[acceptor][]audit.CWE)
	for i := range k.entries {
		e := &k.entries[i]
		if i > 0 && e.id == k.entries[i-1].id {
			return fmt.Errorf("entry %q stands twice in the key", e.id)
		}
		e.accepts = accepted(e, dims, accepts)
		for _, c := range e.accepts {
			k.full.add(int32(i), e, c)
		}
	}
	for _, list := range k.full.byLines {
		slices.SortStableFunc(list, func(a, b int32) int {
			return cmp.Compare(k.entries[a].at.start, k.entries[b].at.start)
		})
	}
	return nil
}

type acceptor struct {
	cwe       audit.CWE
	dimension audit.Dimension
}

// accepted gives the CWEs that match the entry: its own, and those one step from
// one of them that the map puts into the entry's dimension.
func accepted(e *entry, dims map[audit.CWE]audit.Dimension, seen map[acceptor][]audit.CWE) []audit.CWE {
	var all []audit.CWE
	for _, own := range e.cwes {
		at := acceptor{own, e.dimension}
		near, ok := seen[at]
		if !ok {
			near = []audit.CWE{own}
			for _, n := range cwe.Neighbours(int(own)) {
				if c := audit.CWE(n); c != own && e.dimension != "" && dims[c] == e.dimension {
					near = append(near, c)
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

func (x *index) add(i int32, e *entry, c audit.CWE) {
	at := fileCWE{e.file, c}
	for _, name := range e.functions {
		n := fileCWEName{at, name}
		x.byFunction[n] = append(x.byFunction[n], i)
	}
	switch {
	case !e.at.none():
		x.byLines[at] = append(x.byLines[at], i)
	case len(e.functions) == 0:
		x.byFile[at] = append(x.byFile[at], i)
	}
}

func (k *key) addHubs(i, file int32) {
	e := &k.entries[i]
	for _, c := range e.cwes {
		h, ok := k.hubOf[fileCWE{file, c}]
		if !ok {
			h = int32(len(k.hubs))
			k.hubOf[fileCWE{file, c}] = h
			k.hubs = append(k.hubs, nil)
		}
		if list := k.hubs[h]; len(list) == 0 || list[len(list)-1] != i {
			k.hubs[h] = append(list, i)
			e.hubs = append(e.hubs, h)
		}
	}
}

// A spot is what matching sees of a finding. Equal spots are interchangeable.
type spot struct {
	file int32 // -1: not a file that the key names
	name int32 // 0: no function, or one that the key does not name
	at   lines
	cwes [maxCWEs]audit.CWE // as reported, repeats left out; 0 for none
}

// candidates calls yield for each entry that s matches in full, once.
func (k *key) candidates(s *spot, yield func(i int32)) {
	if s.file < 0 {
		return
	}
	k.mark++
	give := func(i int32) {
		if k.marks[i] != k.mark {
			k.marks[i] = k.mark
			yield(i)
		}
	}
	for _, c := range s.cwes {
		if c == 0 {
			break
		}
		at := fileCWE{s.file, c}
		if s.name > 0 {
			for _, i := range k.full.byFunction[fileCWEName{at, s.name}] {
				give(i)
			}
		}
		for _, i := range k.full.byFile[at] {
			give(i)
		}
		if s.at.none() {
			continue
		}
		list := k.full.byLines[at]
		from := s.at.start - maxGap - maxRange
		lo := sort.Search(len(list), func(j int) bool { return k.entries[list[j]].at.start >= from })
		for _, i := range list[lo:] {
			e := &k.entries[i]
			if e.at.start > s.at.end+maxGap {
				break
			}
			if e.at.end >= s.at.start-maxGap {
				give(i)
			}
		}
	}
}

// exact reports whether s says word for word what e says: then it is the better
// of two that are equally near.
func (e *entry) exact(s *spot) bool {
	if e.at != s.at || s.cwes[0] != e.cwes[0] {
		return false
	}
	return s.name == 0 && len(e.functions) == 0 || slices.Contains(e.functions, s.name)
}
