package proof

import (
	"fmt"
	"slices"
	"strings"
)

// An Effect is the result of one run of a case on one parameter set.
type Effect struct {
	Variant string // how it was run: the order of the rows, the interleaving
	// canonical form of what it returned and of the state it left: equal effects have equal
	// texts
	Result   string
	Rows     int // rows that it returned
	Violated []Violation
	Err      string // the runtime's error; empty when there was none
}

// A Violation is a requirement that an effect breaks.
type Violation struct {
	Requirement int
	Name        string // the oracle's
	Why         string // the first row that the oracle gave, or the harness's reason
}

func (v Violation) String() string {
	return fmt.Sprintf("requirement %d (%s): %s", v.Requirement, v.Name, v.Why)
}

// breaks reports whether the effect violates requirement n.
func (e *Effect) breaks(n int) bool {
	return slices.ContainsFunc(e.Violated, func(v Violation) bool { return v.Requirement == n })
}

// A table holds the rows that a statement returned, with values in PostgreSQL's text form.
type table struct {
	columns []column
	rows    [][][]byte // nil is NULL
}

type column struct {
	name string
	typ  string // folded: every integer is "int", every text is "text"
}

// canonical returns the table as a typed multiset: columns sorted by name, then rows sorted.
func (t *table) canonical() string {
	if t == nil {
		return "no rows are returned\n"
	}
	order := make([]int, len(t.columns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order,
		func(a, b int) int { return strings.Compare(t.columns[a].name, t.columns[b].name) })
	lines := make([]string, 0, len(t.rows))
	for _, r := range t.rows {
		var b strings.Builder
		for _, i := range order {
			if r[i] == nil {
				b.WriteString("NULL | ")
			} else {
				fmt.Fprintf(&b, "%q | ", value(t.columns[i].typ, string(r[i])))
			}
		}
		lines = append(lines, b.String())
	}
	slices.Sort(lines)
	var head strings.Builder
	for _, i := range order {
		fmt.Fprintf(&head, "%s %s | ", t.columns[i].name, t.columns[i].typ)
	}
	return head.String() + "\n" + strings.Join(lines, "\n") + "\n"
}

// value returns equal texts for equal values: 10.50 and 10.5 are the same numeric.
func value(typ, text string) string {
	if typ == "numeric" && strings.Contains(text, ".") {
		return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// difference returns the first lines in which two canonical results differ.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	only := func(a, b []string) []string {
		left := map[string]int{}
		for _, l := range b {
			left[l]++
		}
		var out []string
		for _, l := range a {
			if left[l]--; left[l] < 0 {
				out = append(out, l)
			}
		}
		return out
	}
	var b strings.Builder
	for _, part := range []struct {
		sign  string
		lines []string
	}{{"-", only(w, g)}, {"+", only(g, w)}} {
		for i, l := range part.lines {
			if i == 4 {
				fmt.Fprintf(&b, "\n\t%s ... and %d more", part.sign, len(part.lines)-i)
				break
			}
			b.WriteString("\n\t" + part.sign + " " + clip(l, 240))
		}
	}
	return b.String()
}

// clip returns the first n bytes of s, with an ellipsis if s is longer.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "..."
}
