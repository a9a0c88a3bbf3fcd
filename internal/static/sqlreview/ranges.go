package sqlreview

import "strings"

// rangeParts takes tstzrange(a, b, '[)') apart.
func rangeParts(e *expr) (lo, hi *expr, bounds string, ok bool) {
	e = strip(e)
	if e == nil || !e.isCall("tstzrange", "tsrange", "daterange", "int4range", "int8range", "numrange") || len(e.args) < 2 {
		return nil, nil, "", false
	}
	bounds = "[)"
	if len(e.args) > 2 {
		bounds = strings.Trim(strip(e.args[2]).op, "'")
	}
	if len(bounds) != 2 {
		bounds = "[)"
	}
	return e.args[0], e.args[1], bounds, true
}

// rangeHas: range @> x is lo <= x and x < hi, an absent bound being no bound.
func (a *analysis) rangeHas(r, x *expr, sc *scope, v *env, pos int) bool {
	lo, hi, b, ok := rangeParts(r)
	if !ok {
		return false
	}
	lop, hop := "<=", ">"
	if b[0] == '(' {
		lop = "<"
	}
	if b[1] == ']' {
		hop = ">="
	}
	a.orNull(lop, lo, x, sc, v, pos)
	a.orNull(hop, hi, x, sc, v, pos)
	return true
}

func (a *analysis) orNull(op string, l, r *expr, sc *scope, v *env, pos int) {
	t := a.term(l, sc)
	n, c := &env{parent: v}, &env{parent: v}
	n.add(fact{op: "null", a: t, pos: pos})
	a.compare(op, l, r, sc, c, true, pos)
	v.ors = append(v.ors, []*env{n, c})
}

func (a *analysis) rangesMeet(l, r *expr, sc *scope, v *env, pos int) bool {
	llo, lhi, lb, ok1 := rangeParts(l)
	rlo, rhi, rb, ok2 := rangeParts(r)
	if !ok1 || !ok2 {
		return false
	}
	op := func(closed bool) string {
		if closed {
			return "<="
		}
		return "<"
	}
	a.compare(op(lb[0] == '[' && rb[1] == ']'), llo, rhi, sc, v, true, pos)
	a.compare(op(rb[0] == '[' && lb[1] == ']'), rlo, lhi, sc, v, true, pos)
	return true
}
