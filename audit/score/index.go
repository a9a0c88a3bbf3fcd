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

// newLookup makes a lookup of claims in so many files. Places have cells too, and no
// entries.
func newLookup(files int, claims, places []claim) lookup {
	rows := make([]int32, 0, len(claims)+len(places))
	for _, list := range [][]claim{claims, places} {
		for _, c := range list {
			rows = append(rows, c.file)
		}
	}
	var byFile table
	byFile.sort(files, rows)
	l := lookup{from: make([]int32, 1, files+1), numbers: make([]int32, 0, len(rows))}
	for f := range int32(files) {
		first := len(l.numbers)
		for _, i := range byFile.row(f) {
			if i < int32(len(claims)) {
				l.numbers = append(l.numbers, claims[i].number)
			} else {
				l.numbers = append(l.numbers, places[i-int32(len(claims))].number)
			}
		}
		slices.Sort(l.numbers[first:])
		l.numbers = l.numbers[:first+len(slices.Compact(l.numbers[first:]))]
		l.from = append(l.from, int32(len(l.numbers)))
	}
	entries := make([]int32, len(claims))
	for i, c := range claims {
		rows[i], entries[i] = l.cell(c.file, c.number), c.entry
	}
	l.entries.gather(len(l.numbers), rows[:len(claims)], entries)
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
