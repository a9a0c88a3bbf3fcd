package sqlreview

import (
	"strings"
)

func (a *analysis) assumeIn(e *expr, sc *scope, v *env, pos bool) {
	in := e.not != pos
	l := strip(e.args[0])
	if e.sub != nil {
		a.evidence++
		defer func() { a.evidence-- }()
		if !in {
			n := &env{parent: v, negated: true}
			d := a.query(e.sub, sc, n)
			if e.not && len(d.cols) == 1 {
				if t, inst, col := a.outTerm(d.cols[0]); inst != nil && inst.tab != nil {
					if c := inst.tab.column(col); c != nil && !c.notNull && !isKeyCol(inst.tab, col) {
						a.notIn = append(a.notIn, nullTrap{e.pos, t, n})
					}
				}
			}
			return
		}
		d := a.sub(e.sub, sc, v)
		if l.kind == eRow {
			a.rowEquals(l, d, sc, v, e.pos)
		} else if len(d.arms) > 0 {
			src := a.newInst("", nil, v, e.pos)
			src.der = d
			a.linkArms(src, d, v)
			if len(d.cols) > 0 {
				v.add(fact{op: "=", a: a.value(l, sc, v, true), b: src.col(d.cols[0].name), pos: e.pos})
			}
		} else if len(d.cols) > 0 {
			t, _, _ := a.outTerm(d.cols[0])
			v.add(fact{op: "=", a: a.value(l, sc, v, true), b: t, pos: e.pos})
		} else if len(d.stars) > 0 {
			a.opaqueFact(l, sc, v)
		}
		return
	}
	a.memberOf(l, e.args[1:], sc, v, in, e.pos)
}

func isKeyCol(t *table, col string) bool {
	for _, k := range t.keys[:min(1, len(t.keys))] {
		if contains(k, col) {
			return true
		}
	}
	return false
}

// memberOf adds l IN (list) or l NOT IN (list).
func (a *analysis) memberOf(l *expr, list []*expr, sc *scope, v *env, in bool, at int) {
	var set []string
	lits := true
	for _, x := range list {
		x = strip(x)
		if x.kind == eLit {
			set = append(set, strings.Trim(x.op, "'"))
		} else {
			lits = false
		}
	}
	if l.kind == eRow && in {
		var or []*env
		for _, x := range list {
			b := &env{parent: v}
			a.compare("=", l, x, sc, b, true, at)
			or = append(or, b)
		}
		v.ors = append(v.ors, or)
		return
	}
	t := a.value(l, sc, v, true)
	switch {
	case lits && in && len(set) == 1:
		v.add(fact{op: "=", a: t, b: term("l:'" + set[0] + "'"), pos: at})
	case lits && in:
		v.add(fact{op: "in", a: t, set: set, pos: at})
	case lits:
		v.add(fact{op: "notin", a: t, set: set, pos: at})
	case in:
		var or []*env
		for _, x := range list {
			b := &env{parent: v}
			a.compare("=", l, x, sc, b, true, at)
			or = append(or, b)
		}
		v.ors = append(v.ors, or)
	default:
		for _, x := range list {
			a.compare("<>", l, x, sc, v, true, at)
		}
	}
}

func (a *analysis) assumeQuant(e *expr, sc *scope, v *env, pos bool) {
	any := len(e.name) > 0 && e.name[0] != "all"
	l := strip(e.args[0])
	if e.sub != nil {
		in := e.op == "=" && any
		out := (e.op == "<>" || e.op == "!=") && !any
		if in || out {
			a.assumeIn(&expr{kind: eIn, args: []*expr{l}, sub: e.sub, not: out, pos: e.pos}, sc, v, pos)
			return
		}
		a.visit(l, sc, v)
		a.query(e.sub, sc, &env{parent: v})
		return
	}
	if len(e.args) < 2 {
		return
	}
	r := strip(e.args[1])
	var list []*expr
	switch {
	case r.kind == eArray && r.sub == nil:
		list = r.args
	case r.kind == eArray && r.sub != nil:
		a.assumeIn(&expr{kind: eIn, args: []*expr{l}, sub: r.sub, not: !any, pos: e.pos}, sc, v, pos)
		return
	case r.kind == eLit && strings.HasPrefix(strings.Trim(r.op, "'"), "{"):
		for _, w := range strings.Split(strings.Trim(r.op, "'{}"), ",") {
			list = append(list, &expr{kind: eLit, op: "'" + strings.Trim(w, ` "`) + "'"})
		}
	}
	if list == nil {
		if e.op == "=" && any && pos {
			v.add(fact{op: "member", a: a.value(l, sc, v, true), b: a.value(r, sc, v, true), pos: e.pos})
			return
		}
		a.opaqueFact(e, sc, v)
		return
	}
	switch {
	case e.op == "=" && any:
		a.memberOf(l, list, sc, v, pos, e.pos)
	case (e.op == "<>" || e.op == "!=") && !any:
		a.memberOf(l, list, sc, v, !pos, e.pos)
	default:
		a.opaqueFact(e, sc, v)
	}
}
