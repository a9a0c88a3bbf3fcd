// Package cwe knows MITRE's Common Weakness Enumeration: which numbers exist, how
// they are named and which is whose parent.
//
// The table is generated (go generate) from a pinned edition of MITRE's XML
// catalogue; [Source] says which. Parents are the ChildOf relations of view 1000,
// "Research Concepts": the one view that holds every weakness. Categories and
// views are known by name, have no place in that tree and are no weaknesses.
//
// Numbers are plain ints, so that this package imports nothing of ours. CWE is a
// trademark of The MITRE Corporation; names and relations are used under the CWE
// terms of use, https://cwe.mitre.org/about/termsofuse.html.
package cwe

import (
	"fmt"
	"slices"
	"sync"
)

//go:generate go run ./gen -o table.go

// A Kind says what sort of entry a number names.
type Kind uint8

// The kinds.
const (
	Weakness Kind = iota + 1
	Category      // a group of weaknesses, like CWE-310 "Cryptographic Issues"
	View          // a selection of the catalogue, like CWE-1000
)

// String gives "weakness", "category" or "view".
func (k Kind) String() string {
	switch k {
	case Weakness:
		return "weakness"
	case Category:
		return "category"
	case View:
		return "view"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// An Entry is one number of the catalogue.
type Entry struct {
	Number     int
	Name       string
	Kind       Kind
	Deprecated bool
	Parents    []int // ascending; empty for pillars, categories, views and deprecated entries. Not to be changed
	Successors []int // ascending; see [Successors]. Not to be changed
}

// Source says which edition of the catalogue the table was made from, in one line.
func Source() string {
	return fmt.Sprintf("CWE %s of %s (npm %s, sha256 %s)", catalogVersion, catalogDate, catalogPackage, catalogSHA256)
}

// Version is the edition's number and date, like "4.15 (2024-07-16)".
func Version() string { return catalogVersion + " (" + catalogDate + ")" }

// Lookup finds an entry by its number, of whatever kind.
func Lookup(n int) (Entry, bool) {
	i, found := slices.BinarySearchFunc(table, n, func(e Entry, n int) int { return e.Number - n })
	if !found {
		return Entry{}, false
	}
	return table[i], true
}

// Known reports whether the catalogue lists n, be it weakness, category, view or
// a deprecated number.
func Known(n int) bool {
	_, ok := Lookup(n)
	return ok
}

// IsWeakness reports whether n is a weakness that is not deprecated.
func IsWeakness(n int) bool {
	e, ok := Lookup(n)
	return ok && e.Kind == Weakness && !e.Deprecated
}

// Name gives MITRE's name for n, and "" for a number that the catalogue does not
// list.
func Name(n int) string {
	e, _ := Lookup(n)
	return e.Name
}

// Parents gives the weaknesses of which n is a child, ascending. The slice is the
// caller's.
func Parents(n int) []int {
	e, _ := Lookup(n)
	return slices.Clone(e.Parents)
}

// Successors gives the weaknesses that stand in the place of a number that is to
// be used no more, ascending: of a deprecated number those that its text names, of
// a category its members, and of a category without members those beside it in
// the categories that list it. A weakness in force, a view and a number that the
// catalogue does not list have none. The slice is the caller's.
func Successors(n int) []int {
	e, _ := Lookup(n)
	return slices.Clone(e.Successors)
}

// Children gives the weaknesses that name n as a parent, ascending. The slice is
// the caller's.
func Children(n int) []int { return slices.Clone(children()[n]) }

var children = sync.OnceValue(func() map[int][]int {
	m := make(map[int][]int)
	for i := range table {
		for _, p := range table[i].Parents {
			m[p] = append(m[p], table[i].Number)
		}
	}
	return m
})

// A Relation says how one number stands to another.
type Relation uint8

// The relations. Two steps, siblings included, are [Unrelated].
const (
	Unrelated Relation = iota
	Same
	ParentOf // a is a parent of b
	ChildOf  // a is a child of b
)

// String gives "same", "parent of", "child of" or "unrelated".
func (r Relation) String() string {
	switch r {
	case Unrelated:
		return "unrelated"
	case Same:
		return "same"
	case ParentOf:
		return "parent of"
	case ChildOf:
		return "child of"
	}
	return fmt.Sprintf("Relation(%d)", uint8(r))
}

// Relate says how a stands to b. A number is Same as itself even when the
// catalogue does not list it.
func Relate(a, b int) Relation {
	if a == b {
		return Same
	}
	if e, ok := Lookup(a); ok && slices.Contains(e.Parents, b) {
		return ChildOf
	}
	if e, ok := Lookup(b); ok && slices.Contains(e.Parents, a) {
		return ParentOf
	}
	return Unrelated
}

// Related reports whether a is b, or one step from it: its parent or its child.
func Related(a, b int) bool { return Relate(a, b) != Unrelated }

// Neighbours gives n itself, its parents and its children, each once, ascending.
func Neighbours(n int) []int {
	ns := append([]int{n}, Parents(n)...)
	ns = append(ns, children()[n]...)
	slices.Sort(ns)
	return slices.Compact(ns)
}

// All gives every entry of the catalogue, ascending.
func All() []Entry { return slices.Clone(table) }

// MarshalText writes the relation's name.
func (r Relation) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (r *Relation) UnmarshalText(b []byte) error {
	for _, known := range []Relation{Unrelated, Same, ParentOf, ChildOf} {
		if known.String() == string(b) {
			*r = known
			return nil
		}
	}
	return fmt.Errorf("%q is no relation: expected same, parent of, child of or unrelated", b)
}
