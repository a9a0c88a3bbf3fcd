package sqlreview

import (
	"sort"
	"strings"
)

// closure is the equality closure of a set of facts.
type closure struct {
	up       map[term]term
	facts    []fact
	a        *analysis
	conflict bool
	members  map[term][]term
}

func (c *closure) find(t term) term {
	for n := 0; n < 10000; n++ {
		p, ok := c.up[t]
		if !ok || p == t {
			return t
		}
		if g, ok := c.up[p]; ok {
			c.up[t] = g
		}
		t = p
	}
	return t
}

func (c *closure) union(a, b term) bool {
	ra, rb := c.find(a), c.find(b)
	if ra == rb {
		return false
	}
	c.up[ra] = rb
	return true
}

func (c *closure) same(a, b term) bool { return a == b || c.find(a) == c.find(b) }

// maxWork bounds the facts that one review looks at.
const maxWork = 3_000_000

func (a *analysis) close(envs []*env) *closure {
	c := &closure{up: map[term]term{}, a: a}
	for _, e := range envs {
		c.facts = append(c.facts, e.facts...)
	}
	if len(c.facts) > 5000 {
		c.facts = c.facts[:5000]
		a.opaque = true
	}
	a.work += 20 + len(c.facts)*(1+len(c.facts)/50)
	for _, f := range c.facts {
		if f.op == "=" {
			c.union(f.a, f.b)
		}
		if f.op == "never" {
			c.conflict = true
		}
	}
	c.congruence()
	c.index()
	return c
}

// congruence: two instances of one table that agree on its key are one row.
func (c *closure) congruence() {
	seen := map[string][]*inst{}
	for _, t := range c.terms() {
		if !t.isCol() {
			continue
		}
		in := c.a.instOf(t)
		if in == nil || in.tab == nil || in.role == roleInsert {
			continue
		}
		dup := false
		for _, x := range seen[in.table] {
			dup = dup || x == in
		}
		if !dup {
			seen[in.table] = append(seen[in.table], in)
		}
	}
	for round := 0; round < 3; round++ {
		changed := false
		for _, list := range seen {
			for i := 0; i < len(list) && i < 30; i++ {
				for j := i + 1; j < len(list) && j < 30; j++ {
					if c.sameRow(list[i], list[j]) {
						for _, col := range list[i].tab.cols {
							if c.union(list[i].col(col.name), list[j].col(col.name)) {
								changed = true
							}
						}
					}
				}
			}
		}
		if !changed {
			return
		}
	}
}

func (c *closure) terms() []term {
	m := map[term]bool{}
	for _, f := range c.facts {
		m[f.a] = true
		if f.b != "" {
			m[f.b] = true
		}
	}
	out := make([]term, 0, len(m))
	for t := range m {
		out = append(out, t)
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

func (c *closure) sameRow(x, y *inst) bool {
	for _, key := range x.tab.keys {
		if len(key) == 0 {
			continue
		}
		all := true
		for _, k := range key {
			all = all && c.same(x.col(k), y.col(k))
		}
		if all {
			return true
		}
	}
	return false
}

func (c *closure) index() {
	c.members = map[term][]term{}
	for _, t := range c.terms() {
		r := c.find(t)
		c.members[r] = append(c.members[r], t)
	}
	for r, ms := range c.members {
		lit := term("")
		for _, m := range ms {
			if m.isLit() {
				if lit != "" && lit != m && foldLit(lit) != foldLit(m) {
					c.conflict = true
				}
				lit = m
			}
		}
		for _, f := range c.facts {
			if f.op == "null" && c.find(f.a) == r && lit != "" {
				c.conflict = true
			}
		}
	}
	for _, f := range c.facts {
		if f.op == "null" {
			if in := c.a.instOf(f.a); in != nil && in.tab != nil && !in.outer {
				if col := in.tab.column(f.a.colName()); col != nil && col.notNull {
					c.conflict = true
				}
			}
			for _, g := range c.facts {
				if (g.op == "notnull") && c.same(f.a, g.a) {
					c.conflict = true
				}
			}
		}
	}
}

func foldLit(t term) string { return strings.Trim(string(t[2:]), "'") }

// class lists the terms that are known equal to t, t included.
func (c *closure) class(t term) []term {
	r := c.find(t)
	ms := c.members[r]
	for _, m := range ms {
		if m == t {
			return ms
		}
	}
	return append([]term{t}, ms...)
}

// param gives a parameter that t equals, or "".
func (c *closure) param(t term) term {
	for _, m := range c.class(t) {
		if m.isParam() {
			return m
		}
	}
	return ""
}

// about lists the facts on t, each turned so that t is its left side.
func (c *closure) about(t term) []fact {
	r := c.find(t)
	var out []fact
	for _, f := range c.facts {
		if c.find(f.a) == r {
			out = append(out, f)
		}
		if f.b != "" && c.find(f.b) == r && f.a != f.b {
			g := f
			g.a, g.b, g.op = f.b, f.a, flip(f.op)
			out = append(out, g)
		}
	}
	return out
}

func flip(op string) string {
	switch op {
	case "<":
		return ">"
	case "<=":
		return ">="
	case ">":
		return "<"
	case ">=":
		return "<="
	}
	return op
}

// values gives the literal values that t is confined to, or nil when it is not.
func (c *closure) values(t term, enum []string) []string {
	var out []string
	known := false
	meet := func(s []string) {
		if !known {
			out, known = s, true
			return
		}
		var both []string
		for _, x := range out {
			for _, y := range s {
				if x == y {
					both = append(both, x)
				}
			}
		}
		out = both
	}
	for _, m := range c.class(t) {
		if m.isLit() {
			meet([]string{foldLit(m)})
		}
	}
	for _, f := range c.about(t) {
		switch f.op {
		case "in":
			meet(f.set)
		case "notin", "<>":
			if len(enum) == 0 {
				continue
			}
			no := f.set
			if f.op == "<>" {
				if !f.b.isLit() {
					continue
				}
				no = []string{foldLit(f.b)}
			}
			meet(without(enum, no))
		}
	}
	if !known {
		return nil
	}
	if out == nil {
		out = []string{}
	}
	return out
}

func without(all, no []string) []string {
	out := []string{}
	for _, x := range all {
		if !contains(no, x) {
			out = append(out, x)
		}
	}
	return out
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
