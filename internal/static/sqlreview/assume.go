package sqlreview

import (
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// assume adds to v what follows from e being true (or from NOT e, when pos is false).
func (a *analysis) assume(e *expr, sc *scope, v *env, pos bool) {
	if e == nil {
		return
	}
	a.exprScope = append(a.exprScope, scopedExpr{e, sc})
	switch e.kind {
	case eAnd, eOr:
		if (e.kind == eAnd) == pos {
			for _, x := range e.args {
				a.assume(x, sc, v, pos)
			}
			return
		}
		a.branches(e.args, sc, v, pos)
	case eNot:
		a.assume(e.args[0], sc, v, !pos)
	case eBin:
		a.assumeBin(e, sc, v, pos)
	case eIn:
		a.assumeIn(e, sc, v, pos)
	case eQuant:
		a.assumeQuant(e, sc, v, pos)
	case eIs:
		a.assumeIs(e, sc, v, pos)
	case eIsDist:
		a.compare("=", e.args[0], e.args[1], sc, v, e.not == pos, e.pos)
	case eBetween:
		if e.not != pos {
			a.compare(">=", e.args[0], e.args[1], sc, v, true, e.pos)
			a.compare("<=", e.args[0], e.args[2], sc, v, true, e.pos)
			return
		}
		a.visitAll(e.args, sc, v)
	case eExists:
		a.assumeExists(e, sc, v, pos)
	case eCase:
		a.assumeCase(e, sc, v, pos)
	case eLit:
		if e.op == "false" && pos || e.op == "true" && !pos {
			v.add(fact{op: "never", pos: e.pos})
		}
	case eCast:
		a.assume(e.args[0], sc, v, pos)
	case eCol, eParam:
		if e.kind == eCol && len(e.name) == 1 && e.name[0] == "found" && a.plpgsql {
			if pos && a.found != nil {
				v.imports = append(v.imports, a.found)
			}
			return
		}
		op := "true"
		if !pos {
			op = "false"
		}
		v.add(fact{op: op, a: a.term(e, sc), pos: e.pos})
	case eFunc:
		a.assumeFunc(e, sc, v, pos)
	case eSub:
		if pos && a.assumeTarget(e, sc, v) {
			return
		}
		t := a.value(e, sc, v, pos)
		if pos {
			v.add(fact{op: "true", a: t, pos: e.pos})
		}
	default:
		a.opaqueFact(e, sc, v)
	}
}

// assumeTarget reads (SELECT condition FROM ...) as a condition: there is a row, and
// it holds there.
func (a *analysis) assumeTarget(e *expr, sc *scope, v *env) bool {
	q := e.sub
	if q == nil || q.kind != qSelect || len(q.targets) != 1 || len(q.group) > 0 {
		return false
	}
	x := strip(q.targets[0].e)
	if x.kind == eBin && len(x.args) == 2 && strip(x.args[0]).isCall("count") { // (SELECT count(*) > 0 ...)
		c := *q
		c.targets = []target{{e: x.args[0]}}
		return a.countExists(x.op, &expr{kind: eSub, sub: &c, pos: e.pos}, strip(x.args[1]), sc, v, true)
	}
	if hasAggregate(q) && !x.isCall("bool_or", "bool_and", "every") || x.kind == eCol || x.kind == eLit {
		return false
	}
	a.evidence++
	defer func() { a.evidence-- }()
	d := a.sub(q, sc, v)
	a.assume(x, d.scope, v, true)
	return true
}

func (a *analysis) opaqueFact(e *expr, sc *scope, v *env) {
	a.visit(e, sc, v)
	f := fact{op: "opaque", pos: e.pos, text: show(e)}
	e.walk(func(x *expr) bool {
		if x.kind == eCol && len(f.cols) < 50 {
			t, _, _ := a.resolve(x, sc)
			f.cols = append(f.cols, t)
		}
		if x.kind == eParam && len(f.cols) < 50 {
			f.cols = append(f.cols, a.term(x, sc))
		}
		return true
	})
	v.add(f)
}

func (a *analysis) branches(es []*expr, sc *scope, v *env, pos bool) {
	var or []*env
	for _, x := range es {
		if x.kind == eLit && x.op == "false" && pos {
			continue
		}
		b := &env{parent: v}
		a.assume(x, sc, b, pos)
		or = append(or, b)
	}
	v.ors = append(v.ors, or)
}

func (a *analysis) assumeFunc(e *expr, sc *scope, v *env, pos bool) {
	if e.isCall("coalesce") && len(e.args) == 2 { // coalesce(flag, false)
		d := strip(e.args[1])
		if d.kind == eLit && (d.op == "false") == pos {
			a.assume(e.args[0], sc, v, pos)
			return
		}
		if x := strip(e.args[0]); d.kind == eLit && d.op == "true" && pos && x.kind == eBin && len(x.args) == 2 { // coalesce(a > b, true)
			or := []*env{{parent: v}}
			a.assume(x, sc, or[0], true)
			for _, y := range x.args {
				if t := a.term(y, sc); t.isCol() {
					or = append(or, &env{parent: v, facts: []fact{{op: "null", a: t, pos: e.pos}}})
				}
			}
			v.ors = append(v.ors, or)
			return
		}
	}
	if pos && e.isCall("bool_or", "bool_and", "every") && len(e.args) == 1 {
		a.assume(e.args[0], sc, v, pos)
		return
	}
	if pos && len(e.name) > 0 {
		f := fact{op: "call", text: e.name[len(e.name)-1], pos: e.pos}
		for _, x := range e.args {
			f.cols = append(f.cols, a.argTerms(x, sc)...)
		}
		v.add(f)
	}
	a.opaqueFact(e, sc, v)
}

func (a *analysis) assumeCase(e *expr, sc *scope, v *env, pos bool) {
	args := e.args
	var operand *expr
	if e.op == "operand" && len(args) > 0 {
		operand, args = args[0], args[1:]
	}
	var or []*env
	var before []*expr
	for len(args) >= 2 {
		cond := args[0]
		if operand != nil {
			cond = &expr{kind: eBin, op: "=", args: []*expr{operand, args[0]}, pos: args[0].pos}
		}
		b := &env{parent: v}
		for _, x := range before {
			a.assume(x, sc, b, false)
		}
		a.assume(cond, sc, b, true)
		a.assume(args[1], sc, b, pos)
		or = append(or, b)
		before = append(before, cond)
		args = args[2:]
		if len(before) > 12 {
			break
		}
	}
	if len(args) == 1 && e.hasElse {
		b := &env{parent: v}
		for _, x := range before {
			a.assume(x, sc, b, false)
		}
		a.assume(args[0], sc, b, pos)
		or = append(or, b)
	}
	v.ors = append(v.ors, or)
}

func (a *analysis) assumeExists(e *expr, sc *scope, v *env, pos bool) {
	a.evidence++
	defer func() { a.evidence-- }()
	if pos {
		a.sub(e.sub, sc, v)
		return
	}
	a.query(e.sub, sc, &env{parent: v, negated: true})
}

func (a *analysis) assumeIs(e *expr, sc *scope, v *env, pos bool) {
	is := e.not != pos // IS x, asserted
	x := strip(e.args[0])
	switch e.op {
	case "null":
		op := "null"
		if !is {
			op = "notnull"
		}
		v.add(fact{op: op, a: a.value(x, sc, v, !is), pos: e.pos})
		if !is {
			a.present(x, v)
		}
	case "true", "false":
		want := e.op == "true"
		if is {
			a.assume(x, sc, v, want)
			return
		}
		// IS NOT TRUE lets NULL pass: it says no more than "not true".
		if t := a.term(x, sc); t.isCol() {
			op := "false"
			if !want {
				op = "opaque"
			}
			v.add(fact{op: op, a: t, pos: e.pos, cols: []term{t}})
			return
		}
		a.assume(x, sc, v, !want)
	default:
		a.opaqueFact(e, sc, v)
	}
}

func (a *analysis) assumeBin(e *expr, sc *scope, v *env, pos bool) {
	l, r := e.args[0], e.args[len(e.args)-1]
	switch e.op {
	case "=", "<>", "!=", "<", "<=", ">", ">=":
		if len(e.args) == 2 {
			a.compare(e.op, l, r, sc, v, pos, e.pos)
			return
		}
	case "@>", "<@":
		if e.op == "<@" {
			l, r = r, l
		}
		if pos && a.rangeHas(l, r, sc, v, e.pos) {
			return
		}
		if pos && strip(l).kind == eArray { // ARRAY[..] @> ARRAY[x]
			break
		}
	case "&&":
		if pos && a.rangesMeet(l, r, sc, v, e.pos) {
			return
		}
	}
	a.opaqueFact(e, sc, v)
}

var negation = map[string]string{"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}

// compare adds l op r, or its negation.
func (a *analysis) compare(op string, l, r *expr, sc *scope, v *env, pos bool, at int) {
	if op == "!=" {
		op = "<>"
	}
	l, r = strip(l), strip(r)
	if op == "=" && pos && l.kind == eRow && r.kind == eRow && len(l.args) == len(r.args) {
		for i := range l.args {
			a.compare("=", l.args[i], r.args[i], sc, v, true, at)
		}
		return
	}
	if a.countExists(op, l, r, sc, v, pos) || a.countExists(flip(op), r, l, sc, v, pos) {
		return
	}
	if pos { // NULL would not pass: the variables' rows are there
		a.present(l, v)
		a.present(r, v)
	} else {
		op = negation[op]
	}
	if op == "=" && r.kind == eLit && (r.op == "true" || r.op == "false") {
		a.assume(l, sc, v, r.op == "true")
		return
	}
	if op == "<>" && r.kind == eLit && (r.op == "true" || r.op == "false") {
		a.assume(l, sc, v, r.op != "true")
		return
	}
	if l.kind == eRow && r.kind == eSub && op == "=" {
		d := a.query(r.sub, sc, v)
		a.rowEquals(l, d, sc, v, at)
		return
	}
	if a.caseCompare(op, l, r, sc, v, at) || a.caseCompare(flip(op), r, l, sc, v, at) {
		return
	}
	lt, rt := a.value(l, sc, v, true), a.value(r, sc, v, true)
	if op == "=" && lt == rt && lt.isCol() { // t.x = t.x says only that x is not null
		v.add(fact{op: "notnull", a: lt, pos: at, text: "self"})
		return
	}
	v.add(fact{op: op, a: lt, b: rt, pos: at})
	if op == "=" && (l.kind == eHole || r.kind == eHole) {
		return
	}
}

func (a *analysis) rowEquals(l *expr, d *derived, sc *scope, v *env, at int) {
	for i, x := range l.args {
		if i < len(d.cols) {
			t, _, _ := a.outTerm(d.cols[i])
			v.add(fact{op: "=", a: a.term(x, sc), b: t, pos: at})
		}
	}
}

// caseCompare splits coalesce(x, y) op z and CASE ... END op z into their cases.
func (a *analysis) caseCompare(op string, l, r *expr, sc *scope, v *env, at int) bool {
	if l.isCall("coalesce") && len(l.args) == 2 {
		x, n := &env{parent: v}, &env{parent: v}
		x.add(fact{op: "notnull", a: a.term(l.args[0], sc), pos: at})
		a.compare(op, l.args[0], r, sc, x, true, at)
		n.add(fact{op: "null", a: a.term(l.args[0], sc), pos: at})
		d := strip(l.args[1])
		if d.kind == eLit && strings.Contains(d.op, "infinity") {
			// infinity is after every instant: the comparison is true or never.
			if neg := strings.Contains(d.op, "-"); (op == ">" || op == ">=") == neg {
				n.add(fact{op: "never", pos: at})
			}
		} else {
			a.compare(op, l.args[1], r, sc, n, true, at)
		}
		v.ors = append(v.ors, []*env{x, n})
		return true
	}
	if l.kind == eCase && (r.kind == eLit || r.kind == eParam || r.kind == eCol) && op == "=" {
		a.visit(l, sc, v)
		return false
	}
	return false
}

// countExists reads (SELECT count(*) FROM ...) > 0 as EXISTS, and = 0 as NOT EXISTS.
func (a *analysis) countExists(op string, l, r *expr, sc *scope, v *env, pos bool) bool {
	if l.kind != eSub || l.sub == nil || l.sub.kind != qSelect || len(l.sub.targets) != 1 || len(l.sub.group) > 0 {
		return false
	}
	c := strip(l.sub.targets[0].e)
	if !c.isCall("count") || c.filter != nil || r.kind != eLit {
		return false
	}
	n, err := strconv.Atoi(r.op)
	if err != nil {
		return false
	}
	var some bool
	switch {
	case op == ">" && n >= 0, op == ">=" && n >= 1, op == "=" && n >= 1, op == "<>" && n == 0:
		some = true
	case op == "=" && n == 0, op == "<" && n <= 1, op == "<=" && n == 0:
		some = false
	default:
		return false
	}
	a.assumeExists(&expr{kind: eExists, sub: l.sub, pos: l.pos}, sc, v, some == pos)
	return true
}
