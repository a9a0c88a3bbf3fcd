package score

import (
	"cmp"
	"maps"
	"slices"

	"assay/audit"
	"assay/internal/cwe"
)

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
func (k *key) standIns() map[audit.CWE][]int32 {
	stand := map[audit.CWE][]int32{}
	for i, c := range k.cwes.list {
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

// claims are the cells that entries claim.
type claims struct{ cell, entry []int32 }

// newClaims has room for about n.
func newClaims(n int) claims { return claims{make([]int32, 0, n), make([]int32, 0, n)} }

func (c *claims) add(cell, entry int32) {
	c.cell, c.entry = append(c.cell, cell), append(c.entry, entry)
}
