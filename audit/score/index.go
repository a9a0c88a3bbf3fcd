package score

import (
	"cmp"
	"slices"

	"assay/audit"
	"assay/internal/cwe"
)

// An index is what the keys of one project share: the numbers of files, functions
// and CWEs, and the cells that entries claim.
type index struct {
	files, names numbering[string]    // of names 0 is none
	cwes         numbering[audit.CWE] // that findings have, and 0 for none: others match nothing
	strict       []bool               // of each file, as they came: whether it is a manifest or settings
	reach        []int32              // of each file how many lines may lie between an entry and a finding
	ofCWEs       cells
	ofNames      cells
	room         []int32 // for lists
}

// list gives an empty list with room for n numbers.
func (x *index) list(n int) []int32 {
	if len(x.room) < n {
		x.room = make([]int32, n+1<<12)
	}
	list := x.room[:0:n]
	x.room = x.room[n:]
	return list
}

// file numbers a file that an entry names.
func (x *index) file(path string) int32 {
	n := x.files.number(path)
	if int(n) == len(x.strict) {
		x.strict = append(x.strict, strict(path))
	}
	return n
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
	for i := 0; i < maxCWEs && cwes[i] != 0; i++ {
		first[i] = x.cwes.number(audit.CWE(cwes[i]))
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

// A numbering numbers values as they come, and then in their own order.
type numbering[T cmp.Ordered] struct {
	of   map[T]int32
	list []T
}

func newNumbering[T cmp.Ordered](first ...T) numbering[T] {
	n := numbering[T]{of: map[T]int32{}}
	for _, v := range first {
		n.number(v)
	}
	return n
}

func (n *numbering[T]) number(v T) int32 {
	i, ok := n.of[v]
	if !ok {
		i = int32(len(n.list))
		n.of[v], n.list = i, append(n.list, v)
	}
	return i
}

// sort brings the numbers into the order of the values. It gives of each number the new one.
func (n *numbering[T]) sort() []int32 {
	now := make([]int32, len(n.list))
	slices.Sort(n.list)
	for i, v := range n.list {
		now[n.of[v]], n.of[v] = int32(i), int32(i)
	}
	return now
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

// claims say that entries have to do with a number in a file: a CWE's or a function's.
type claims struct{ file, number, entry []int32 }

// newClaims begins claims, of which there may be about n.
func newClaims(n int) *claims {
	return &claims{make([]int32, 0, n), make([]int32, 0, n), make([]int32, 0, n)}
}

func (c *claims) add(file, number, entry int32) {
	c.file, c.number, c.entry = append(c.file, file), append(c.number, number), append(c.entry, entry)
}

// cells are the pairs of a file and a number that are claimed, numbered from 1 by file
// and number.
type cells struct {
	from    []int32 // of each file its first cell; one more at the end
	numbers []int32 // of each cell
}

// cells gives the cells in so many files and numbers, and of each claim its cell.
func (c *claims) cells(files, numbers int) (found cells, of []int32) {
	var byNumber, byFile table
	byNumber.sort(numbers, c.number)
	of = make([]int32, len(c.file))
	for i, at := range byNumber.of {
		of[i] = c.file[at]
	}
	byFile.sort(files, of)
	found = cells{from: make([]int32, 0, files+1), numbers: make([]int32, 1, len(c.file)+1)}
	for f := range int32(files) {
		first := len(found.numbers)
		found.from = append(found.from, int32(first))
		for _, i := range byFile.row(f) {
			at := byNumber.of[i]
			if last := len(found.numbers) - 1; last < first || found.numbers[last] != c.number[at] {
				found.numbers = append(found.numbers, c.number[at])
			}
			of[at] = int32(len(found.numbers) - 1)
		}
	}
	found.from = append(found.from, int32(len(found.numbers)))
	return found, of
}

// find gives a cell; 0 for none.
func (c *cells) find(file, number int32) int32 {
	if file < 0 || number == 0 {
		return 0
	}
	from := c.from[file]
	at, ok := slices.BinarySearch(c.numbers[from:c.from[file+1]], number)
	if !ok {
		return 0
	}
	return from + int32(at)
}
