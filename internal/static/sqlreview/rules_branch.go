package sqlreview

import (
	"regexp"
	"strings"

	"assay/audit"
)

// disjuncts gives the alternatives of a condition.
func disjuncts(e *expr) []*expr { return partsOf(e, eOr) }

// conjuncts gives the parts of a condition that all have to hold.
func conjuncts(e *expr) []*expr { return partsOf(e, eAnd) }

// partsOf takes a condition apart at one connective, however nested.
func partsOf(e *expr, at exprKind) []*expr {
	if e == nil {
		return nil
	}
	if e.kind != at {
		return []*expr{e}
	}
	var out []*expr
	for _, x := range e.args {
		out = append(out, partsOf(x, at)...)
	}
	return out
}

// noteGuards notes the conditions under which an IF leaves.
func (a *analysis) noteGuards(s *stmt, sc *scope) {
	for _, arm := range s.arms {
		if arm.cond != nil && ends(arm.body) {
			a.guards = append(a.guards, guard{arm.cond, sc})
		}
	}
}

var plainFnRE = regexp.MustCompile(`^(coalesce|now|count|sum|length|char_length|cardinality|lower|upper|btrim|trim|abs|greatest|least|date_trunc|array_length|clock_timestamp|nullif)$`)

// guards: a refusal compares something that may be NULL, and so does not refuse then; or
// it depends on what the client says.
func (r *reviewer) guards() {
	for _, g := range r.a.guards {
		text := show(g.e)
		r.askedToRefuse(g)
		for _, d := range disjuncts(g.e) {
			for _, e := range conjuncts(d) {
				if e.kind != eBin || len(e.args) != 2 || e.op != "=" && e.op != "<>" && e.op != "!=" {
					continue
				}
				for i, x := range e.args {
					what := r.mayBeNull(strip(x), g.sc)
					// "is it his own?" is rightly answered no where nobody is named.
					if what == nil || what.tab != nil && e.op == "=" || strip(e.args[1-i]).kind == eNull || r.asksNull(g.e, show(strip(x))) || strings.Count(text, show(strip(x))) > 1 {
						continue
					}
					r.add(r.speaksOf(what.tab, what.col), 0.65, e.pos, []audit.CWE{863, 476}, "the refusal compares %s, which may be NULL: it does not refuse then", show(strip(x)))
				}
			}
		}
	}
}

// askedToRefuse: one of several grounds to refuse holds only where the client says so.
func (r *reviewer) askedToRefuse(g guard) {
	for _, d := range disjuncts(g.e) {
		parts := conjuncts(d)
		for _, p := range parts {
			t := term("")
			if x := strip(p); x.kind == eCol || x.kind == eParam {
				t = r.a.term(x, g.sc)
			}
			if len(parts) > 1 && d != g.e && t.isParam() && r.a.fn != nil && contains(r.a.fn.params, strings.TrimPrefix(string(t), "p:")) && !r.s.isActor(t) && !r.s.isScope(t) {
				r.add(0, 0.6, p.pos, []audit.CWE{863, 807}, "a refusal depends on %s, which the client sends", show(strip(p)))
			}
		}
	}
}

type nullable struct {
	tab *table
	col string
}

// mayBeNull: x is a nullable column, or what a function of the SPEC gives.
func (r *reviewer) mayBeNull(x *expr, sc *scope) *nullable {
	switch x.kind {
	case eFunc:
		if len(x.name) > 0 && len(x.args) > 0 && !plainFnRE.MatchString(x.name[len(x.name)-1]) && r.s.helpers[x.name[len(x.name)-1]].name != "" {
			return &nullable{nil, x.name[len(x.name)-1]}
		}
	case eCol:
		t := r.a.term(x, sc)
		in := r.a.instOf(t)
		if in == nil || in.tab == nil {
			return nil
		}
		if c := in.tab.column(t.colName()); c != nil && !c.notNull && !contains(in.tab.keys1(), c.name) {
			return &nullable{in.tab, c.name}
		}
	}
	return nil
}

// asksNull: the condition asks whether the text is NULL.
func (r *reviewer) asksNull(e *expr, text string) bool {
	found := false
	e.walk(func(x *expr) bool {
		if (x.kind == eIs || x.kind == eIsDist || x.isCall("coalesce")) && strings.Contains(show(x), text) {
			found = true
		}
		return true
	})
	return found
}

// lopsided: one branch of an OR asks whether a row is gone, or refuses by a function,
// and the others do not ask.
func (r *reviewer) lopsided(q *query) {
	d := r.a.subs[q]
	if d == nil {
		return
	}
	for _, cond := range []*expr{q.where, q.having} {
		for _, or := range conjuncts(cond) {
			branches := disjuncts(or)
			if len(branches) < 2 {
				continue
			}
			for i, b := range branches {
				parts := conjuncts(b)
				if len(parts) < 2 {
					continue
				}
				for _, p := range parts {
					key := r.asksGone(p, d.scope)
					if key == "" {
						continue
					}
					other := false
					for k, o := range branches {
						other = other || k != i && strings.Contains(show(o), key)
					}
					if !other {
						r.add(r.askedIn(p, d.scope), 0.65, p.pos, []audit.CWE{672, 783}, "only one branch of the OR asks for %s", key)
					}
				}
			}
		}
	}
}

// asksGone gives what p asks for, where it is one of the things that every branch needs:
// that a row is not deleted ("x.deleted_at IS NULL"), that an outer join found nothing,
// or that a function does not hold.
func (r *reviewer) asksGone(p *expr, sc *scope) string {
	if p.kind == eNot && len(p.args) == 1 {
		if f := strip(p.args[0]); f.kind == eFunc && len(f.name) > 0 && r.s.helpers[f.name[len(f.name)-1]].name != "" {
			return f.name[len(f.name)-1]
		}
		return ""
	}
	if p.kind != eIs || p.op != "null" || p.not {
		return ""
	}
	x := strip(p.args[0])
	if x.kind != eCol {
		return ""
	}
	if in := r.a.instOf(r.a.term(x, sc)); in != nil && in.tab != nil && in.outer && isKeyCol(in.tab, x.name[len(x.name)-1]) && len(x.name) > 1 {
		return x.name[len(x.name)-2] + "."
	}
	if softNameRE.MatchString(x.name[len(x.name)-1]) {
		return show(x)
	}
	return ""
}

// askedIn gives the requirement that a test belongs to: that of its table or function, or
// the one about what is deleted.
func (r *reviewer) askedIn(p *expr, sc *scope) int {
	x := strip(p.args[0])
	if x.kind == eFunc {
		return r.speaksOf(nil, x.name[len(x.name)-1])
	}
	col := x.name[len(x.name)-1]
	if in := r.a.instOf(r.a.term(x, sc)); in != nil && in.tab != nil && !softNameRE.MatchString(col) {
		return r.speaksOf(in.tab)
	}
	for _, q := range r.s.reqs {
		if q.kinds[kSoft] {
			return q.n
		}
	}
	return 0
}

var stoppedRE = regexp.MustCompile(`^(revoked|ended|lifted|withdrawn|released|cancelled|closed|removed|left|voided|suspended)(_at|_on)?$`)

// ending: the column says whether the row still holds.
func ending(c *column) bool {
	return isStateCol(c) || c.isTime() && (stoppedRE.MatchString(c.name) || endsRE.MatchString(c.name) || softNameRE.MatchString(c.name)) || strings.HasSuffix(c.typ, "range")
}

// picked: one row of many is picked first, and only then asked whether it still holds:
// another one that does is passed over.
func (r *reviewer) picked() {
	for _, in := range r.a.insts {
		if in.der == nil || in.der.q == nil || in.der.q.kind != qSelect || in.der.agg {
			continue
		}
		q := in.der.q
		one := q.limit != nil && upper(q.limit, 0) == 1 || len(q.distinctOn) > 0
		if !one || len(q.order) == 0 || in.der.scope == nil {
			continue
		}
		for _, x := range in.der.scope.insts {
			if x.tab == nil || x.der != nil {
				continue
			}
			for _, c := range x.tab.cols {
				if !ending(c) {
					continue
				}
				inside, outside := false, false
				for _, f := range append(tests(in.env), tests(x.env)...) {
					if !f.mentions(x.col(c.name)) {
						continue
					}
					if f.pos >= q.pos && f.pos < q.end {
						inside = true
					} else {
						outside = true
					}
				}
				if outside && !inside {
					r.add(r.speaksOf(x.tab, c.name), 0.6, q.pos, []audit.CWE{863, 841}, "one row of %s is picked, and only then asked about %s", x.table, c.name)
					return
				}
			}
		}
	}
}
