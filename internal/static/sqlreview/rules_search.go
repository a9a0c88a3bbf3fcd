package sqlreview

import (
	"regexp"
	"strings"

	"assay/audit"
)

var (
	literalRE = regexp.MustCompile("like_escape|escap|literally|`%`|`_`|wildcard|\\blike\\b.{0,20}pattern|pattern.{0,30}\\blike\\b")
	cleanRE   = regexp.MustCompile(`escap|replace|quote|sanit`)
	totalRE   = regexp.MustCompile(`order[^.;]{0,80}(total|unique|same on every|deterministic|stable|tie|last word|well[- ]defined)|(total|unique|deterministic|stable)[^.;]{0,40}order`)
)

// patterns: what a client typed reaches LIKE with its wildcards escaped.
func (r *reviewer) patterns(q *requirement) {
	for _, x := range r.a.exprScope {
		x.e.walk(func(e *expr) bool {
			if e.kind == eBin && (e.op == "like" || e.op == "ilike") && len(e.args) > 1 && r.rawPattern(e.args[1], x.sc) {
				r.add(q.n, 0.75, e.pos, []audit.CWE{155, 943}, "client text is part of a LIKE pattern with its wildcards as they are")
				return false
			}
			return true
		})
	}
}

// rawPattern: a parameter of the client is part of the pattern, and no function between.
func (r *reviewer) rawPattern(e *expr, sc *scope) bool {
	e = strip(e)
	switch e.kind {
	case eParam, eCol:
		t := r.a.term(e, sc)
		if cleanRE.MatchString(string(t)) {
			return false
		}
		return t.isParam() && !r.s.isScope(t) && !r.s.isActor(t)
	case eFunc:
		if len(e.name) == 0 || cleanRE.MatchString(e.name[len(e.name)-1]) {
			return false
		}
	case eBin, eCase:
	default:
		return false
	}
	for _, x := range e.args {
		if r.rawPattern(x, sc) {
			return true
		}
	}
	return false
}

// orders: a page is cut from an order that a unique key ends.
func (r *reviewer) orders(q *requirement) {
	for _, t := range r.a.tops {
		if t.ret || t.q.kind != qSelect || t.q.limit == nil || r.a.joined(t.d, 0) <= 1 {
			continue
		}
		if len(t.q.order) == 0 {
			r.add(q.n, 0.7, t.q.pos, []audit.CWE{840}, "a page is cut from rows in no order")
			continue
		}
		if !r.endsUnique(t) {
			r.add(q.n, 0.65, t.q.order[0].pos, []audit.CWE{840}, "the order of the page does not end on a unique column")
		}
	}
}

// endsUnique: some column of the order is a key, or all that the rows are grouped by is
// in it. What cannot be seen through counts as unique.
func (r *reviewer) endsUnique(t top) bool {
	var shown []string
	for _, e := range t.q.order {
		x := strip(e)
		if x.kind == eHole || x.kind == eLit {
			return true
		}
		if x.kind == eCol {
			n := x.name[len(x.name)-1]
			if n == "id" || strings.HasSuffix(n, "_id") || strings.HasSuffix(n, "_no") {
				return true
			}
			shown = append(shown, n)
			if in := r.a.instOf(r.a.term(x, t.d.scope)); in == nil || in.tab == nil || r.partOfKey(in.tab, r.a.term(x, t.d.scope).colName()) {
				return true
			}
			if a := t.d.scope.aliases[n]; a != nil && len(x.name) == 1 && strip(a).kind == eCol {
				tt := r.a.term(a, t.d.scope)
				if in := r.a.instOf(tt); in == nil || in.tab == nil || r.partOfKey(in.tab, tt.colName()) {
					return true
				}
			}
		}
	}
	return len(t.q.group) > 0 && len(shown) >= len(t.q.group)
}

// partOfKey: the column is in the primary key or in a unique one.
func (r *reviewer) partOfKey(t *table, col string) bool {
	for _, k := range t.keys {
		if contains(k, col) {
			return true
		}
	}
	return false
}
