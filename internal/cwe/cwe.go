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
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:generate go run ./gen

// A Kind is the kind of a catalogue entry.
type Kind string

// The kinds.
const (
	Weakness Kind = "weakness"
	Category Kind = "category" // a group of weaknesses, like CWE-310 "Cryptographic Issues"
	View     Kind = "view"     // a selection of the catalogue, like CWE-1000
)

// An Entry is one number of the catalogue. Its slices must not be changed.
type Entry struct {
	Number     int
	Name       string
	Kind       Kind
	Deprecated bool
	Parents    []int // ascending; empty for pillars, categories, views and deprecated entries
	Children   []int // whose parent it is, ascending
	// Successors are the weaknesses that replace a number that should not be used
	// anymore, ascending: of a deprecated number those that its text names, of a category
	// its members, and of a category without members its siblings in the categories
	// that list it. A weakness in force and a view have none.
	Successors []int
}

//go:embed table.tsv
var tsv string

// An edition is the pinned catalogue; the first line of the table states its version.
type edition struct {
	version, date, pkg, sha256 string
	entries                    []Entry // by number; what is not listed has no Kind
}

// catalogue reads the table once. The table is generated, so an error in it panics.
var catalogue = sync.OnceValue(func() *edition {
	lines := strings.Split(strings.TrimSuffix(tsv, "\n"), "\n")
	head := strings.Split(lines[0], "\t") // # CWE, version, date, npm package, SHA-256
	last, _, _ := strings.Cut(lines[len(lines)-1], "\t")
	c := &edition{version: head[1], date: head[2], pkg: head[3], sha256: head[4],
		entries: make([]Entry, number(last)+1)}
	for _, line := range lines[1:] {
		cells := strings.Split(line, "\t") // number, kind, parents, successors, name
		kind, deprecated := strings.CutPrefix(cells[1], "deprecated ")
		e := &c.entries[number(cells[0])]
		e.Number, e.Name, e.Kind, e.Deprecated = number(cells[0]), cells[4], Kind(kind), deprecated
		e.Parents, e.Successors = numbers(cells[2]), numbers(cells[3])
		for _, p := range e.Parents {
			c.entries[p].Children = append(c.entries[p].Children, e.Number)
		}
	}
	return c
})

// number parses a number of the table.
func number(cell string) int {
	n, err := strconv.Atoi(cell)
	if err != nil {
		panic("internal/cwe/table.tsv: " + err.Error())
	}
	return n
}

// numbers parses a list of numbers of the table.
func numbers(cell string) (ns []int) {
	for _, n := range strings.Fields(cell) {
		ns = append(ns, number(n))
	}
	return ns
}

// Source returns the edition of the catalogue that the table was made from, in one line.
func Source() string {
	c := catalogue()
	return fmt.Sprintf("CWE %s of %s (npm %s, sha256 %s)", c.version, c.date, c.pkg, c.sha256)
}

// Version returns the edition's number and date, like "4.15 (2024-07-16)".
func Version() string { return catalogue().version + " (" + catalogue().date + ")" }

// Lookup returns the entry of a number, of any kind, and whether there is one.
func Lookup(n int) (Entry, bool) {
	table := catalogue().entries
	if n < 0 || n >= len(table) {
		return Entry{}, false
	}
	return table[n], table[n].Kind != ""
}

// Known reports whether the catalogue lists n as a weakness, category, view or deprecated
// number.
func Known(n int) bool {
	_, ok := Lookup(n)
	return ok
}

// Name returns MITRE's name for n, "" if the catalogue does not list n.
func Name(n int) string {
	e, _ := Lookup(n)
	return e.Name
}

// A Relation is the relation of one number to another.
type Relation string

// The relations. Two steps apart, including siblings, is [Unrelated].
const (
	Unrelated Relation = ""
	Same      Relation = "same"
	ParentOf  Relation = "parent of" // a is a parent of b
	ChildOf   Relation = "child of"  // a is a child of b
)

// Relate returns the relation of a to b. A number is [Same] as itself even if the catalogue
// does not list it.
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

// Related reports whether a is b, its parent or its child.
func Related(a, b int) bool { return Relate(a, b) != Unrelated }

// Neighbours returns n, its parents and its children, each once, ascending.
func Neighbours(n int) []int {
	e, _ := Lookup(n)
	ns := slices.Concat([]int{n}, e.Parents, e.Children)
	slices.Sort(ns)
	return slices.Compact(ns)
}
