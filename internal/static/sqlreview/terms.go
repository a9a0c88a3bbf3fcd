package sqlreview

import "strings"

// term gives the canonical spelling of a value, without analysing subqueries.
func (a *analysis) term(e *expr, sc *scope) term { return a.termAt(e, sc, 0) }

// bounded replaces a spelling that has grown long (q := q || q, again and again) by
// one that equals no other.
func bounded(t term, pos int) term {
	if len(t) > 1000 {
		return term("f:long" + itoa(pos))
	}
	return t
}

func (a *analysis) termAt(e *expr, sc *scope, depth int) term {
	e = strip(e)
	if e == nil {
		return "f:none"
	}
	if depth > 12 {
		return "f:deep"
	}
	switch e.kind {
	case eCol:
		t, _, _ := a.resolve(e, sc)
		if al, ok := sc.aliases[e.name[len(e.name)-1]]; ok && len(e.name) == 1 && t.isParam() {
			return a.termAt(al, nil2(sc), depth+5)
		}
		return t
	case eLit:
		if strings.HasPrefix(e.op, "'") {
			return term("l:" + e.op)
		}
		return term("l:" + e.op)
	case eNull:
		return "l:null"
	case eParam:
		return term("p:" + e.op)
	case eHole:
		return term("h:" + e.op)
	case eFunc:
		return a.funcTerm(e, sc, depth)
	case eIndex, eZone, eUn, eBin, eRow, eArray:
		parts := make([]string, 0, len(e.args))
		for i, x := range e.args {
			if i > 20 {
				break
			}
			parts = append(parts, string(a.termAt(x, sc, depth+1)))
		}
		return bounded(term("f:("+strings.Join(parts, " "+opName(e)+" ")+")"), e.pos)
	case eSub:
		if d := a.subs[e.sub]; d != nil && len(d.cols) > 0 && !d.agg {
			t, _, _ := a.outTerm(d.cols[0])
			return t
		}
		return term("f:query" + itoa(e.pos))
	}
	t := term("f:" + show(e))
	if e.kind == eCase {
		t = term("f:case" + show(e))
	}
	if vals := caseLits(e); e.kind == eCase && len(vals) > 0 {
		if a.caseVals == nil {
			a.caseVals = map[term][]string{}
		}
		a.caseVals[t] = vals
	}
	return t
}

// caseLits gives the values of a CASE whose branches are all literals.
func caseLits(e *expr) []string {
	args := e.args
	if e.op == "operand" && len(args) > 0 {
		args = args[1:]
	}
	var out []string
	for i, x := range args {
		if i%2 == 0 && (i < len(args)-1 || !e.hasElse) {
			continue
		}
		if x = strip(x); x.kind != eLit {
			return nil
		}
		out = append(out, strings.Trim(x.op, "'"))
	}
	return out
}

func nil2(sc *scope) *scope { return sc }

func opName(e *expr) string {
	switch e.kind {
	case eZone:
		return "at time zone"
	case eIndex:
		return "[]"
	}
	return e.op
}

// isRange: t is a column of a range, of which lower() and upper() are the ends.
func (a *analysis) isRange(t term) bool {
	in := a.instOf(t)
	if in == nil || in.tab == nil {
		return false
	}
	c := in.tab.column(t.colName())
	return c != nil && strings.HasSuffix(c.typ, "range")
}

func (a *analysis) funcTerm(e *expr, sc *scope, depth int) term {
	name := ""
	if len(e.name) > 0 {
		name = e.name[len(e.name)-1]
	}
	switch name {
	case "now", "current_timestamp", "transaction_timestamp", "statement_timestamp", "clock_timestamp", "localtimestamp":
		return "now"
	case "current_date":
		return "today"
	case "current_setting":
		if len(e.args) > 0 {
			return term("p:" + strings.ToLower(strings.Trim(strip(e.args[0]).op, "'")))
		}
	case "nullif":
		if len(e.args) == 2 && strip(e.args[0]).isCall("current_setting") {
			return a.funcTerm(strip(e.args[0]), sc, depth)
		}
	case "lower", "upper", "trim", "btrim":
		if len(e.args) == 1 {
			if t := a.termAt(e.args[0], sc, depth+1); !a.isRange(t) {
				return t
			}
		}
	}
	if len(e.args) == 0 && e.over == nil && (strings.HasPrefix(name, "current_") || strings.Contains(name, "tenant") || name == "uid" || a.sch.session[name]) {
		return term("p:" + name + "()") // app.current_tenant(), auth.uid()
	}
	parts := make([]string, 0, len(e.args))
	for i, x := range e.args {
		if i > 20 {
			break
		}
		parts = append(parts, string(a.termAt(x, sc, depth+1)))
	}
	return bounded(term("f:"+name+"("+strings.Join(parts, ", ")+")"), e.pos)
}

// value analyses the subqueries of e and gives its term. A scalar subquery whose
// value passes a comparison has a row: its facts hold in v (pos).
func (a *analysis) value(e *expr, sc *scope, v *env, pos bool) term {
	e = strip(e)
	if e != nil && e.kind == eSub && e.sub != nil && e.sub.kind == qSelect && pos {
		var d *derived
		a.evidence++
		if hasAggregate(e.sub) {
			d = a.query(e.sub, sc, &env{parent: v})
		} else {
			d = a.sub(e.sub, sc, v)
		}
		a.evidence--
		if len(d.cols) > 0 && !d.agg {
			t, _, _ := a.outTerm(d.cols[0])
			return t
		}
		return term("f:query" + itoa(e.pos))
	}
	a.visit(e, sc, v)
	return a.term(e, sc)
}

func (a *analysis) visitAll(es []*expr, sc *scope, v *env) {
	for _, e := range es {
		a.visit(e, sc, v)
	}
}

// visit analyses what is inside an expression that asserts nothing: subqueries see
// the facts of v and give none back. It also notes holes, calls and zone traps.
func (a *analysis) visit(e *expr, sc *scope, v *env) {
	if e == nil {
		return
	}
	a.exprScope = append(a.exprScope, scopedExpr{e, sc})
	e.walk(func(x *expr) bool {
		if x.sub != nil {
			if _, done := a.subs[x.sub]; !done || x.kind != eSub {
				if x.kind == eExists || x.kind == eIn {
					a.evidence++
					a.query(x.sub, sc, &env{parent: v})
					a.evidence--
				} else {
					a.query(x.sub, sc, &env{parent: v})
				}
			}
		}
		switch x.kind {
		case eCase:
			a.visitCase(x, sc, v)
			return false
		case eFunc:
			a.calls = append(a.calls, x)
		}
		if x.filter != nil {
			a.visitFilter(x, sc, v)
		}
		return true
	})
}

// visitFilter: count(*) FILTER (WHERE c) sees only rows with c.
func (a *analysis) visitFilter(x *expr, sc *scope, v *env) {
	a.assume(x.filter, sc, &env{parent: v}, true)
}

// visitCase: the result of a branch is computed where its condition holds.
func (a *analysis) visitCase(e *expr, sc *scope, v *env) {
	args := e.args
	if e.op == "operand" && len(args) > 0 {
		a.visit(args[0], sc, v)
		args = args[1:]
		for _, x := range args {
			a.visit(x, sc, v)
		}
		return
	}
	for len(args) >= 2 {
		b := &env{parent: v}
		a.assume(args[0], sc, b, true)
		a.visit(args[1], sc, b)
		args = args[2:]
	}
	for _, x := range args {
		a.visit(x, sc, v)
	}
}
