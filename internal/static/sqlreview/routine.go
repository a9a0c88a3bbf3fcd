package sqlreview

import (
	"strings"
)

// analyse runs through the statements of a piece of code.
func analyse(sch *schema, code string, stmts []*stmt) *analysis {
	a := &analysis{sch: sch, code: code, varEnv: map[string]*env{}, outVars: map[string]bool{}, subs: map[*query]*derived{}}
	sc := newScope(nil)
	sc.vars, sc.rows = map[string]term{}, map[string]*derived{}
	a.base = &env{}
	for _, s := range stmts {
		switch s.kind {
		case sIf, sLoop, sBlock, sReturn, sReturnQuery, sAssign, sExecute, sRaise:
			a.plpgsql = true
		}
		if len(queryInto(s.q)) > 0 || s.perf {
			a.plpgsql = true
		}
	}
	a.statements(stmts, sc, a.base)
	return a
}

func (a *analysis) statements(list []*stmt, sc *scope, v *env) {
	for _, s := range list {
		if len(a.insts) > maxInsts {
			a.opaque = true
			return
		}
		a.base = v
		a.statement(s, sc, v)
	}
}

func (a *analysis) statement(s *stmt, sc *scope, v *env) {
	a.stmtNo++
	if s.q != nil {
		a.stmts = append(a.stmts, s.q)
	}
	switch s.kind {
	case sQuery:
		a.queryStmt(s, sc, v)
	case sReturnQuery:
		a.top(s.q, sc, &env{parent: v}, false)
	case sFunction:
		a.functionStmt(s, sc)
	case sBlock:
		for _, n := range s.fn.vars {
			sc.vars[n] = term("p:" + n)
		}
		a.statements(s.body, sc, v)
		a.statements(s.handle, sc, &env{parent: v})
	case sIf:
		a.ifStmt(s, sc, v)
	case sLoop:
		a.loopStmt(s, sc, v)
	case sReturn:
		a.returnStmt(s, sc, v)
	case sAssign:
		a.assign(s, sc, v)
	case sExecute:
		a.execute(s, sc, v)
	case sRaise:
		if s.level == "exception" {
			a.raises++
		}
	case sOther:
		if s.e != nil { // a fragment of a WHERE clause
			a.assume(s.e, sc, v, true)
			a.opaque = true
		}
	}
}

func (a *analysis) functionStmt(s *stmt, outer *scope) {
	sc := newScope(outer)
	sc.vars, sc.rows = map[string]term{}, map[string]*derived{}
	for i, n := range s.fn.params {
		sc.vars[n] = term("p:" + n)
		sc.vars["$"+itoa(i+1)] = term("p:" + n)
	}
	for _, n := range s.fn.vars {
		sc.vars[n] = term("p:" + n)
		a.outVars[n] = true
	}
	was := a.plpgsql
	a.plpgsql, a.fn = s.fn.lang == "plpgsql", s.fn
	a.statements(s.fn.body, sc, &env{})
	a.plpgsql = was
}

func (a *analysis) queryStmt(s *stmt, sc *scope, v *env) {
	e := &env{parent: v}
	q := s.q
	into := q.into
	if len(into) == 0 && q.kind == qSetOp && q.l != nil {
		into = q.l.into
	}
	a.evidenceIf(a.plpgsql && q.kind == qSelect, func() {
		if len(into) == 0 && !s.perf && (!a.plpgsql || q.kind != qSelect) {
			n := len(a.insts)
			a.top(q, sc, e, false)
			a.noteLock(q, n)
			return
		}
		d := a.query(q, sc, e)
		a.bind(into, d, sc, e)
	})
	a.found = e
	if q.strict {
		v.imports = append(v.imports, e)
	}
}

// noteLock: SELECT id ... FOR UPDATE, before other statements, is there for its lock.
func (a *analysis) noteLock(q *query, from int) {
	if q.kind != qSelect || q.lock == "" || len(q.targets) != 1 || strip(q.targets[0].e).kind == eStar {
		return
	}
	if a.lockOnly == nil {
		a.lockOnly = map[*inst]bool{}
	}
	for _, in := range a.insts[from:] {
		a.lockOnly[in] = true
	}
}

func (a *analysis) evidenceIf(on bool, f func()) {
	if on {
		a.evidence++
		defer func() { a.evidence-- }()
	}
	f()
}

// bind gives the variables of an INTO the values of the query's columns.
func (a *analysis) bind(into []string, d *derived, sc *scope, e *env) {
	for i, n := range into {
		a.varEnv[n] = e
		if len(into) == 1 && (len(d.cols) != 1 || len(d.stars) > 0) {
			a.rowVar(sc, n, d)
		}
		if i >= len(d.cols) {
			continue
		}
		if len(into) > 1 || len(d.cols) == 1 {
			t, _, _ := a.outTerm(d.cols[i])
			a.setVar(sc, n, t)
			if len(d.cols) == 1 {
				a.rowVar(sc, n, d)
			}
		}
		if a.outVars[n] {
			c := d.cols[i]
			a.outputs = append(a.outputs, a.outputOf(c, d, e))
		}
	}
}

func (a *analysis) outputOf(c outCol, d *derived, e *env) output {
	o := output{e: c.e, sc: c.scope, name: c.name, env: e, in: c.in, src: c.src, pos: d.q.pos}
	if c.e != nil {
		o.pos = c.e.pos
	}
	return o
}

func (a *analysis) setVar(sc *scope, n string, t term) {
	for s := sc; s != nil; s = s.parent {
		if _, ok := s.vars[n]; ok {
			s.vars[n] = t
			return
		}
	}
	for s := sc; s != nil; s = s.parent {
		if s.vars != nil {
			s.vars[n] = t
			return
		}
	}
}

func (a *analysis) rowVar(sc *scope, n string, d *derived) {
	for s := sc; s != nil; s = s.parent {
		if s.rows != nil {
			s.rows[n] = d
			return
		}
	}
}

// present: the variable x is known not to be NULL, so the row it was read from exists.
func (a *analysis) present(x *expr, v *env) {
	if x = strip(x); x == nil || x.kind != eCol || len(a.varEnv) == 0 {
		return
	}
	if e := a.varEnv[x.name[0]]; e != nil {
		v.imports = append(v.imports, e)
	}
}

func ends(body []*stmt) bool {
	for _, s := range body {
		switch s.kind {
		case sRaise:
			if s.level == "exception" {
				return true
			}
		case sReturn:
			if s.name != "next" {
				return true
			}
		case sOther:
			if strings.HasPrefix(s.text, "continue") || strings.HasPrefix(s.text, "exit") || strings.HasPrefix(s.text, "rollback") {
				return true
			}
		case sIf:
			all := len(s.arms) > 0 && s.arms[len(s.arms)-1].cond == nil
			for _, arm := range s.arms {
				all = all && ends(arm.body)
			}
			if all {
				return true
			}
		}
	}
	return false
}

func (a *analysis) ifStmt(s *stmt, sc *scope, v *env) {
	after := v
	found := a.found
	a.noteGuards(s, sc)
	for _, arm := range s.arms {
		if !ends(arm.body) && len(s.arms) < 6 {
			a.ifEach(s, sc, v)
			return
		}
	}
	for _, arm := range s.arms {
		b := &env{parent: after}
		a.found = found
		if arm.cond != nil {
			a.assume(arm.cond, sc, b, true)
		}
		a.statements(arm.body, sc, b)
		a.base = v
		a.found = found
		if arm.cond == nil {
			break
		}
		if ends(arm.body) && after == v {
			a.assume(arm.cond, sc, v, false)
			continue
		}
		next := &env{parent: after} // the later arms know that this one was not taken
		a.assume(arm.cond, sc, next, false)
		after = next
	}
}

// ifEach: after an IF one of its arms was taken, and its body did not refuse, or none.
func (a *analysis) ifEach(s *stmt, sc *scope, v *env) {
	found := a.found
	var or []*env
	before := func(b *env, n int) {
		for _, arm := range s.arms[:n] {
			a.assume(arm.cond, sc, b, false)
		}
	}
	whole := false
	for i, arm := range s.arms {
		b := &env{parent: v}
		before(b, i)
		a.found = found
		if whole = arm.cond == nil; !whole {
			a.assume(arm.cond, sc, b, true)
		}
		a.statements(arm.body, sc, b)
		a.base = v
		if !ends(arm.body) {
			or = append(or, b)
		}
		if whole {
			break
		}
	}
	a.found = found
	if !whole {
		b := &env{parent: v}
		before(b, len(s.arms))
		or = append(or, b)
	}
	v.ors = append(v.ors, or)
}

func (a *analysis) loopStmt(s *stmt, sc *scope, v *env) {
	b := &env{parent: v}
	if s.q != nil {
		e := &env{parent: v}
		d := a.query(s.q, sc, e)
		b.imports = append(b.imports, e)
		a.bind(s.into, d, sc, e)
	} else {
		for _, n := range s.into {
			a.setVar(sc, n, term("p:"+n))
		}
	}
	if s.e != nil {
		a.visit(s.e, sc, v)
	}
	a.statements(s.body, sc, b)
}

func (a *analysis) returnStmt(s *stmt, sc *scope, v *env) {
	if s.e == nil {
		return
	}
	e := strip(s.e)
	if e.kind == eSub && e.sub != nil {
		a.top(e.sub, sc, &env{parent: v}, true)
		return
	}
	a.visit(e, sc, v)
	if e.kind == eCol && len(e.name) == 1 {
		if d := sc.row(e.name[0]); d != nil {
			for _, c := range d.cols {
				a.outputs = append(a.outputs, a.outputOf(c, d, v))
			}
			for _, in := range d.stars {
				a.outputs = append(a.outputs, output{in: in, src: "*", env: v, pos: e.pos})
			}
			return
		}
	}
	a.outputs = append(a.outputs, output{e: e, sc: sc, pos: e.pos, env: v})
}

func (a *analysis) assign(s *stmt, sc *scope, v *env) {
	e := strip(s.e)
	if e.kind == eSub && e.sub != nil {
		b := &env{parent: v}
		a.evidenceIf(true, func() {
			d := a.query(e.sub, sc, b)
			a.bind([]string{s.name}, d, sc, b)
		})
		return
	}
	if e.kind == eExists { // v_ok := EXISTS (...): told where it is tested
		b := &env{}
		a.assume(e, sc, b, true)
		a.varEnv[s.name] = b
		return
	}
	if e.kind == eBin && e.op == "||" || e.isCall("format", "concat") || e.kind == eLit || e.kind == eCase {
		if a.built == nil {
			a.built = map[string]*expr{}
		}
		if old := a.built[s.name]; old != nil && e.kind == eBin { // v := v || '...'
			c := *e
			c.args = append([]*expr{}, e.args...)
			for i, x := range c.args {
				if x.kind == eCol && x.name[0] == s.name {
					c.args[i] = old
				}
			}
			e = &c
		}
		a.built[s.name] = e
	}
	a.setVar(sc, s.name, a.value(e, sc, v, false))
	delete(a.varEnv, s.name)
}

// top analyses a query whose rows leave the code.
func (a *analysis) top(q *query, sc *scope, e *env, one bool) {
	d := a.query(q, sc, e)
	ret := q.kind == qInsert || q.kind == qUpdate || q.kind == qDelete || q.kind == qMerge
	if len(d.cols) == 0 && len(d.stars) == 0 && ret {
		return
	}
	a.tops = append(a.tops, top{q: q, d: d, env: e, ret: ret, one: one})
	for _, arm := range flatArms(d) {
		for _, c := range arm.cols {
			a.outputs = append(a.outputs, a.outputOf(c, arm, e))
		}
		for _, in := range arm.stars {
			a.outputs = append(a.outputs, output{in: in, src: "*", env: e, pos: arm.q.pos})
		}
	}
}
