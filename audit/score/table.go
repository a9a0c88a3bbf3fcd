package score

import "slices"

// A table holds lists of numbers one after the other, in two slices that are used
// again: matching is asked a hundred times over for one chance level.
type table struct {
	from []int32 // of each row its first number in of; one more at the end
	of   []int32
	next []int32
}

func (t *table) row(i int32) []int32 { return t.of[t.from[i]:t.from[i+1]] }

func (t *table) rows() int { return len(t.from) - 1 }

// sort makes the given number of rows by counting: row r holds, ascending, each i
// with rows[i] == r. What is below 0 is in none.
func (t *table) sort(n int, rows []int32) {
	t.from = zeros(t.from, n+1)
	for _, r := range rows {
		if r >= 0 {
			t.from[r+1]++
		}
	}
	for r := range n {
		t.from[r+1] += t.from[r]
	}
	t.of = sized(t.of, int(t.from[n]))
	t.next = append(t.next[:0], t.from[:n]...)
	for i, r := range rows {
		if r >= 0 {
			t.of[t.next[r]] = int32(i)
			t.next[r]++
		}
	}
}

// gather makes the given number of rows: row r holds values[i] of each i with rows[i] == r.
func (t *table) gather(n int, rows, values []int32) {
	t.sort(n, rows)
	for at, i := range t.of {
		t.of[at] = values[i]
	}
}

// sized gives n elements of any value, in the same place where there is room.
func sized[T any](s []T, n int) []T {
	return slices.Grow(s[:0], n)[:n]
}

func zeros[T any](s []T, n int) []T {
	s = sized(s, n)
	clear(s)
	return s
}

func all[T any](s []T, n int, v T) []T {
	s = sized(s, n)
	for i := range s {
		s[i] = v
	}
	return s
}
