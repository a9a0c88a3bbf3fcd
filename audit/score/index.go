package score

import (
	"cmp"
	"maps"
	"slices"

	"assay/audit"
	"assay/internal/cwe"
)

// An index is what the keys of one project share: the numbers of files, functions
// and CWEs, each in its own order and not in that of fixture and report, and the cells
// that entries claim.
type index struct {
	files, names numbering[string]    // that entries name; of names 0 is none
	cwes         numbering[audit.CWE] // that findings have, and 0 for none: others match nothing
	reach        []int32              // of each file how many lines may lie between an entry and a finding
	ofCWEs       grid
	ofNames      cells

	dims  map[audit.CWE]audit.Dimension
	stand map[audit.CWE][]int32 // see standIns
	seen  map[accepting]terms
}

func newIndex(lists [][]audit.Known, findings []audit.Finding, dims map[audit.CWE]audit.Dimension) *index {
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
	x := &index{files: numbered(files), names: numbered(names), cwes: numbered(cwes), ofCWEs: newGrid(len(files), len(cwes)), ofNames: cells{}, dims: dims, seen: map[accepting]terms{}}
	x.stand = x.standIns()
	x.reach = make([]int32, len(files))
	for i, file := range x.files.list {
		if !strict(file) {
			x.reach[i] = maxGap
		}
	}
	return x
}

// find gives the number of a file that the keys name; -1 for others.
func (x *index) find(path string) int32 {
	if file, ok := x.files.of[path]; ok {
		return file
	}
	return -1
}

// counting numbers a finding's first three distinct CWEs, and gives those that follow.
func (x *index) counting(f *audit.Finding) (first [maxCWEs]int32, rest []audit.CWE) {
	cwes, rest := counting(f.CWEs)
	for i, c := range cwes {
		first[i] = x.cwes.of[audit.CWE(c)]
	}
	return first, rest
}

// place sets the file of a location, and with it its cells.
func (x *index) place(s *location, file int32) {
	s.file = file
	for i, c := range s.cwes {
		s.cells[i] = x.ofCWEs.find(file, c)
	}
}

// A numbering numbers values in their own order.
type numbering[T cmp.Ordered] struct {
	of   map[T]int32
	list []T
}

func numbered[T cmp.Ordered](values map[T]bool) numbering[T] {
	n := numbering[T]{make(map[T]int32, len(values)), slices.Sorted(maps.Keys(values))}
	for i, v := range n.list {
		n.of[v] = int32(i)
	}
	return n
}

// maxSuccessors is how many weaknesses a category may stand for. A wider one says
// next to nothing: with three of the widest, one finding a window would name half
// of the catalogue.
const maxSuccessors = 20

// standIns gives, by weakness, the numbers of what stands for it: deprecated ones and
// categories.
func (x *index) standIns() map[audit.CWE][]int32 {
	stand := map[audit.CWE][]int32{}
	for i, c := range x.cwes.list {
		e, _ := cwe.Lookup(int(c))
		if len(e.Successors) > maxSuccessors {
			continue
		}
		for _, n := range e.Successors {
			stand[audit.CWE(n)] = append(stand[audit.CWE(n)], int32(i))
		}
	}
	return stand
}

// cells number, from 1, the pairs of a file and a CWE or function that entries claim.
type cells map[uint64]int32

func cell(file, number int32) uint64 { return uint64(file)<<32 | uint64(number) }

// claim gives the cell, a new one where nothing claimed it.
func (c cells) claim(file, number int32) int32 {
	at := cell(file, number)
	n, ok := c[at]
	if !ok {
		n = int32(len(c) + 1)
		c[at] = n
	}
	return n
}

// find gives a cell; 0 for none.
func (c cells) find(file, number int32) int32 {
	if file < 0 || number == 0 {
		return 0
	}
	return c[cell(file, number)]
}

// A grid is the same where numbers are few: looking a finding's CWEs up is a tenth of
// matching.
type grid struct {
	width int32
	at    []int32 // by file and number
	count int32
}

func newGrid(files, numbers int) grid {
	return grid{width: int32(numbers), at: make([]int32, files*numbers)}
}

func (g *grid) claim(file, number int32) int32 {
	at := &g.at[file*g.width+number]
	if *at == 0 {
		g.count++
		*at = g.count
	}
	return *at
}

func (g *grid) find(file, number int32) int32 {
	if file < 0 {
		return 0
	}
	return g.at[file*g.width+number]
}

// claims are the cells that entries claim.
type claims struct{ cell, entry []int32 }

// newClaims has room for about n.
func newClaims(n int) claims { return claims{make([]int32, 0, n), make([]int32, 0, n)} }

func (c *claims) add(cell, entry int32) {
	c.cell, c.entry = append(c.cell, cell), append(c.entry, entry)
}
