package sqlreview

import (
	"regexp"
	"strings"

	"assay/audit"
)

// shapes looks for slips that the code shows by itself, whatever the SPEC says of it:
// one end of a period, one branch of an OR, one row picked before it is tested.
func (r *reviewer) shapes() {
	r.kind = kShape
	r.periods()
	r.moments()
	r.guards()
	r.picked()
	r.outerOr()
	r.defaults()
	r.wholeRows()
	r.strayRights()
	r.loose()
	for _, q := range r.a.stmts {
		eachQuery(q, func(x *query, _ bool) {
			r.lopsided(x)
			r.lateFilters(x)
		})
	}
}

// speaksOf gives the requirement that says most about the columns of a table.
func (r *reviewer) speaksOf(t *table, cols ...string) int {
	best, at := 0, 0
	for _, q := range r.s.reqs {
		n := 0
		for _, c := range cols {
			if q.namesAny(c) {
				n += 4
			}
			for _, w := range stemsOf(c) {
				if q.stems[w] {
					n++
				}
			}
		}
		if t != nil && (q.tables[t.name] || q.touches(t.name)) {
			n += 2
		}
		if t != nil && hasRun(stemsOf(q.head()), t.name) {
			n += 2
		}
		if n > best {
			best, at = n, q.n
		}
	}
	return at
}

var (
	beginsRE = regexp.MustCompile(`(^|_)(since|from)(_at|_on|_date)?$`)
	endsRE   = regexp.MustCompile(`(^|_)(until|till|to|through|expires?|left|expiry)(_at|_on|_date)?$`)
	validRE  = regexp.MustCompile(`during|valid|period|term|force|active|effective|span`)
)

// tests lists the facts of an env, those of its alternatives too.
func tests(v *env) []fact {
	var out []fact
	var down func(e *env, depth int)
	seen := map[*env]bool{}
	down = func(e *env, depth int) {
		if e == nil || seen[e] || depth > 6 {
			return
		}
		seen[e] = true
		out = append(out, e.facts...)
		for _, im := range e.imports {
			down(im, depth+1)
		}
		for _, or := range e.ors {
			for _, b := range or {
				down(b, depth+1)
			}
		}
	}
	for e := v; e != nil; e = e.parent {
		down(e, 0)
	}
	return out
}

// mentions: the fact speaks of the term, by itself or within another.
func (f fact) mentions(t term) bool {
	for _, x := range append([]term{f.a, f.b}, f.cols...) {
		if x == t || strings.HasPrefix(string(x), "f:") && within2(string(x), string(t)) {
			return true
		}
	}
	return false
}

// within2: t stands in x as a whole name.
func within2(x, t string) bool {
	i := strings.Index(x, t)
	return i >= 0 && (i+len(t) == len(x) || !isWord(x[i+len(t)]))
}

// clocked: the fact compares with the clock.
func (f fact) clocked() bool {
	for _, x := range []term{f.a, f.b} {
		if x == "now" || x == "today" || strings.HasPrefix(string(x), "f:") && (within2(string(x), "now") || strings.Contains(string(x), "today")) {
			return true
		}
	}
	return false
}

// periods: of a row that is good for a time, one end is asked about and the other not.
func (r *reviewer) periods() {
	for _, in := range r.a.insts {
		if in.tab == nil || in.der != nil || in.role == roleInsert || in.role == roleConflict {
			continue
		}
		var from, to *column
		for _, c := range in.tab.cols {
			switch {
			case strings.HasSuffix(c.typ, "range"):
				r.rangeEnds(in, c)
			case c.isTime() && beginsRE.MatchString(c.name):
				from = c
			case c.isTime() && endsRE.MatchString(c.name):
				to = c
			}
		}
		if from == nil || to == nil {
			continue
		}
		asked := func(c *column) (any, clock bool) {
			for _, f := range tests(in.env) {
				if f.mentions(in.col(c.name)) {
					any, clock = true, clock || f.clocked()
				}
			}
			return any, clock
		}
		f1, c1 := asked(from)
		f2, c2 := asked(to)
		if c1 && !f2 {
			r.add(r.speaksOf(in.tab, from.name, to.name), 0.7, in.pos, []audit.CWE{863, 672}, "%s is asked whether it has begun (%s), and not whether it has ended (%s)", name(in), from.name, to.name)
		}
		if c2 && !f1 {
			r.add(r.speaksOf(in.tab, from.name, to.name), 0.7, in.pos, []audit.CWE{863, 672}, "%s is asked whether it has ended (%s), and not whether it has begun (%s)", name(in), to.name, from.name)
		}
	}
}

// rangeEnds: an instant is after a range's lower end, or before its upper one, and the
// other end is not asked about anywhere.
func (r *reviewer) rangeEnds(in *inst, c *column) {
	lower, upper, other, at := false, false, false, in.pos
	col := string(in.col(c.name))
	lo, hi := term("f:lower("+col+")"), term("f:upper("+col+")")
	for _, x := range r.a.exprScope {
		if x.sc == nil || r.inGuard(x.e) { // a refusal asks for the contrary
			continue
		}
		x.e.walk(func(e *expr) bool {
			if e.kind != eBin && e.kind != eBetween || len(e.args) < 2 {
				return true
			}
			a, b := r.a.term(e.args[0], x.sc), r.a.term(e.args[1], x.sc)
			after, before := e.op == ">" || e.op == ">=", e.op == "<" || e.op == "<="
			switch {
			case a == lo && before || b == lo && after:
				lower, at = true, e.pos
			case a == hi && after || b == hi && before:
				upper, at = true, e.pos
			case a == lo || b == lo || a == hi || b == hi || within2(string(a), col) || within2(string(b), col):
				other = true
			}
			return true
		})
	}
	if (lower && !upper || upper && !lower && validRE.MatchString(c.name)) && !other {
		r.add(r.speaksOf(in.tab, c.name), 0.7, at, []audit.CWE{863, 672}, "only one end of %s of %s is asked about", c.name, name(in))
	}
}

// inGuard: e is part of a condition under which the code refuses.
func (r *reviewer) inGuard(e *expr) bool {
	for _, g := range r.a.guards {
		if e.pos >= g.e.pos && e.end <= g.e.end && g.e.end > 0 {
			return true
		}
	}
	return false
}

var futureRE = regexp.MustCompile(`(_from|_until|_to)$|^(publish|expir|valid|starts?_|ends?_|opens?_|visible|embargo|until)`)

// moments: a moment that may lie ahead is asked only whether it is set.
func (r *reviewer) moments() {
	for _, in := range r.a.insts {
		if in.tab == nil || in.der != nil || in.role == roleInsert || in.role == roleConflict {
			continue
		}
		for _, c := range in.tab.cols {
			if !c.isTime() || c.notNull || !futureRE.MatchString(c.name) {
				continue
			}
			set, more, at := false, false, in.pos
			for _, f := range tests(in.env) {
				if !f.mentions(in.col(c.name)) {
					continue
				}
				if f.op == "notnull" && f.text == "" {
					set, at = true, f.pos
				} else {
					more = true
				}
			}
			if set && !more {
				r.add(r.speaksOf(in.tab, c.name), 0.65, at, []audit.CWE{672}, "%s of %s is asked whether it is set, and not whether it has come", c.name, name(in))
			}
		}
	}
}
