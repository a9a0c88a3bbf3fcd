package proof

import (
	"fmt"
	"slices"
	"strings"
)

// A Mutant is a variant of a good with one part taken out.
type Mutant struct {
	Name string // what was done, stable as long as the code is: "drop p.deleted_at IS NULL"
	Code string
	// Limit says that a LIMIT of the outermost query was dropped: the data must
	// then give more than twice as many rows.
	Limit bool
	// Races says that the mutant shows only when two sessions meet: a lock is gone.
	Races bool

	skipRaces bool
}

// Mutants makes the mutants of SQL: each predicate of a WHERE, ON, HAVING, FILTER
// or bracket dropped, each LIMIT, DISTINCT, PARTITION BY and row lock dropped,
// each inner join made outer, each join dropped, each column of the result
// dropped. Some do not run; PostgreSQL says so.
func Mutants(code string) []Mutant {
	m := &mutator{ts: lex(code)}
	m.index()
	for i := range m.code {
		switch {
		case m.is(i, "on") && m.is(i+1, "conflict"), m.is(i, "on", "(") &&
			m.is(i-1, "distinct", "conflict"):
		case m.is(i, "where", "on", "having"):
			m.predicates(i+1, m.clauseEnd(i+1))
		case m.is(i, "("):
			m.bracket(i)
		case m.is(i, "limit", "fetch"):
			end := m.clauseEnd(i + 1)
			m.add(i, end, "", m.depth[i] == 0)
		case m.is(i, "distinct") && m.is(i-1, "select") && !m.is(i+1, "on"):
			m.add(i, i+1, "", false)
		case m.is(i, "partition"):
			m.add(i, m.clauseEnd(i+2), "", false)
		case m.is(i, "for") && (m.is(i+1, "update", "share") || m.is(i+1, "no", "key") &&
			m.is(i+2, "key", "share")):
			m.add(i, m.clauseEnd(i+1), "", false)
			m.out[len(m.out)-1].Races = true
		case m.is(i, "join"):
			m.join(i)
		case m.depth[i] == 0 && m.is(i, "select", "returning"):
			m.columns(i)
		}
	}
	return m.out
}

// A mutator works on the tokens that are code, by their index in code.
type mutator struct {
	ts    []token
	code  []int // indices into ts
	depth []int // brackets around each
	out   []Mutant
}

func (m *mutator) index() {
	d := 0
	for i, t := range m.ts {
		if !t.code() {
			continue
		}
		if t.is(")") {
			d--
		}
		m.code, m.depth = append(m.code, i), append(m.depth, d)
		if t.is("(") {
			d++
		}
	}
}

func (m *mutator) is(i int, words ...string) bool {
	if i < 0 || i >= len(m.code) || i > 0 && m.ts[m.code[i-1]].text == "." {
		return false // a.order is a column
	}
	return slices.ContainsFunc(words, m.ts[m.code[i]].is)
}

// clauseEnd gives the index after the last token of the clause that begins at i.
func (m *mutator) clauseEnd(i int) int {
	if i >= len(m.code) {
		return len(m.code)
	}
	d, cases := m.depth[i], 0
	for ; i < len(m.code); i++ {
		switch {
		case m.depth[i] < d:
			return i
		case m.depth[i] > d:
		case m.is(i, "case"):
			cases++
		case cases > 0:
			if m.is(i, "end") {
				cases--
			}
		case m.is(i, "left", "right") && m.is(i+1, "("): // the functions
		case m.is(i, "from") && m.is(i-1, "distinct"):
		case m.is(i, clauseWords...):
			return i
		}
	}
	return i
}

// bracket takes the brackets that hold AND or OR for an expression of their own.
func (m *mutator) bracket(i int) {
	if m.is(i+1, "select", "with", "where", "values") ||
		!m.is(i-1, "and", "or", "where", "on", "not", "(", "having") {
		return
	}
	m.predicates(i+1, m.clauseEnd(i+1))
}

// predicates replaces each operand of AND and OR in [from, to) by true.
func (m *mutator) predicates(from, to int) {
	d, start, between, cases := 0, from, false, 0
	if from < len(m.depth) {
		d = m.depth[from]
	}
	for i := from; i <= to; i++ {
		if i < to {
			switch {
			case m.depth[i] != d:
				continue
			case m.is(i, "case"):
				cases++
			case m.is(i, "end") && cases > 0:
				cases--
			case m.is(i, "between"):
				between = true
				continue
			case between && m.is(i, "and"):
				between = false
				continue
			}
			if cases > 0 || !m.is(i, "and", "or") {
				continue
			}
		}
		if start < i {
			m.add(start, i, "true", false)
		}
		start = i + 1
	}
}

// join makes an inner join outer, and drops the join.
func (m *mutator) join(i int) {
	first := i
	for first > 0 && m.is(first-1, "left", "right", "inner", "cross", "full", "outer", "natural") {
		first--
	}
	on := i + 1
	for on < len(m.code) && m.depth[on] >= m.depth[i] && !(m.depth[on] == m.depth[i] &&
		m.is(on, "on", "using")) {
		if m.depth[on] == m.depth[i] && m.is(on, "where", "join", "group", "order", "limit", ";") {
			break
		}
		on++
	}
	if first == i || m.is(first, "inner") {
		m.replace(first, i+1, "LEFT JOIN", "outer "+m.text(first, on), false)
	}
	if m.is(on, "on") {
		m.replace(first, m.clauseEnd(on+1), "", "drop "+m.text(first, m.clauseEnd(on+1)), false)
	}
}

// columns drops each column of the outermost result.
func (m *mutator) columns(i int) {
	end := m.clauseEnd(i + 1)
	var cuts []int
	for j := i + 1; j < end; j++ {
		if m.depth[j] == m.depth[i] && m.is(j, ",") {
			cuts = append(cuts, j)
		}
	}
	if len(cuts) == 0 {
		return
	}
	start := i + 1
	if m.is(start, "distinct", "all") {
		return
	}
	for n, cut := range append(cuts, end) {
		from, to := start, cut+1
		if n == len(cuts) {
			from, to = cuts[n-1], end
		}
		m.replace(from, to, "", "drop column "+m.text(start, cut), false)
		start = cut + 1
	}
}

func (m *mutator) add(from, to int, by string, limit bool) {
	m.replace(from, to, by, "drop "+m.text(from, to), limit)
}

func (m *mutator) replace(from, to int, by, name string, limit bool) {
	if from >= to || to > len(m.code) {
		return
	}
	first, last := m.code[from], m.code[to-1]
	code := join(m.ts[:first]) + by + join(m.ts[last+1:])
	same := 0
	for _, o := range m.out {
		if o.Name == name || strings.HasPrefix(o.Name, name+" (") {
			same++
		}
	}
	if same > 0 {
		name = fmt.Sprintf("%s (%d)", name, same+1)
	}
	m.out = append(m.out, Mutant{Name: name, Code: code, Limit: limit})
}

// text gives the code of a span on one line, shortened where it is long.
func (m *mutator) text(from, to int) string {
	var b strings.Builder
	for i := from; i < to && i < len(m.code); i++ {
		if i > from && m.code[i] != m.code[i-1]+1 {
			b.WriteByte(' ')
		}
		b.WriteString(m.ts[m.code[i]].text)
	}
	s := strings.Join(strings.Fields(b.String()), " ")
	if r := []rune(s); len(r) > 90 {
		s = string(r[:60]) + " ... " + string(r[len(r)-25:])
	}
	return s
}
