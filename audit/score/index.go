package score

import "slices"

// A claim says that an entry has to do with a number in a file: a CWE or a function's
// name.
type claim struct{ file, number, entry int32 }

// A lookup finds entries by a file and a number in it. A cell is such a pair.
type lookup struct {
	from    []int32 // of each file its first cell; one more at the end
	numbers []int32 // of each cell, ascending in a file
	entries table   // of each cell those that claim it, as they come
}

// newLookup makes a lookup in so many files of the first n claims; the others have
// cells too, and are not found there.
func newLookup(files int, claims []claim, n int) lookup {
	rows := make([]int32, len(claims))
	for i, c := range claims {
		rows[i] = c.file
	}
	var byFile table
	byFile.sort(files, rows)
	l := lookup{from: make([]int32, 1, files+1), numbers: make([]int32, 0, len(claims))}
	for f := range int32(files) {
		first := len(l.numbers)
		for _, i := range byFile.row(f) {
			l.numbers = append(l.numbers, claims[i].number)
		}
		slices.Sort(l.numbers[first:])
		l.numbers = l.numbers[:first+len(slices.Compact(l.numbers[first:]))]
		l.from = append(l.from, int32(len(l.numbers)))
	}
	entries := make([]int32, n)
	for i, c := range claims[:n] {
		rows[i], entries[i] = l.cell(c.file, c.number), c.entry
	}
	l.entries.gather(len(l.numbers), rows[:n], entries)
	return l
}

// cell gives the number of a cell; -1 for none.
func (l *lookup) cell(file, number int32) int32 {
	if file < 0 {
		return -1
	}
	from := l.from[file]
	at, ok := slices.BinarySearch(l.numbers[from:l.from[file+1]], number)
	if !ok {
		return -1
	}
	return from + int32(at)
}

// claimed gives the entries of a cell.
func (l *lookup) claimed(file, number int32) []int32 {
	if c := l.cell(file, number); c >= 0 {
		return l.entries.row(c)
	}
	return nil
}
