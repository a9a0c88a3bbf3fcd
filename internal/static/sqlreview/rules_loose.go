package sqlreview

import (
	"strings"

	"assay/audit"
)

// outerOr: a row that an outer join adds, one of several, is asked to be missing or
// harmless: the harmless one lets pass what another forbids.
func (r *reviewer) outerOr() {
	for _, q := range r.a.stmts {
		eachQuery(q, func(x *query, _ bool) {
			d := r.a.subs[x]
			if d == nil {
				return
			}
			for _, or := range conjuncts(x.where) {
				branches := disjuncts(or)
				if len(branches) < 2 {
					continue
				}
				for _, b := range branches {
					if b.kind != eIs || b.op != "null" || b.not || strip(b.args[0]).kind != eCol {
						continue
					}
					t := r.a.term(strip(b.args[0]), d.scope)
					in := r.a.instOf(t)
					if in == nil || in.tab == nil || !in.outer || in.scope != d.scope || in.tab.column(t.colName()) == nil || !in.tab.column(t.colName()).notNull && !isKeyCol(in.tab, t.colName()) {
						continue
					}
					for _, o := range branches {
						if o != b && strings.Contains(show(o), in.alias+".") && !r.single(in) {
							r.add(r.speaksOf(in.tab, t.colName()), 0.7, b.pos, []audit.CWE{863, 841}, "a row of %s may be missing or harmless: one that is lets pass what another forbids", name(in))
							return
						}
					}
				}
			}
		})
	}
}

// single: the join's condition finds in by a key.
func (r *reviewer) single(in *inst) bool {
	c := r.a.close(gather(in.env, map[*env]bool{}, nil))
	for _, key := range in.tab.keys {
		all := len(key) > 0
		for _, k := range key {
			all = all && len(c.class(in.col(k))) > 1
		}
		if all {
			return true
		}
	}
	return false
}

// defaults: who acts is taken only where the client names nobody else.
func (r *reviewer) defaults() {
	for _, x := range r.a.exprScope {
		x.e.walk(func(e *expr) bool {
			if !e.isCall("coalesce") || len(e.args) < 2 {
				return true
			}
			first, last := r.a.term(e.args[0], x.sc), r.a.term(e.args[len(e.args)-1], x.sc)
			if first.isParam() && last.isParam() && r.s.isActor(last) && !r.s.isActor(first) && !r.s.isScope(last) {
				r.add(r.authorRequirement(), 0.75, e.pos, []audit.CWE{639, 290}, "%s is taken in place of who acts", show(strip(e.args[0])))
			}
			return true
		})
	}
}

// authorRequirement gives the requirement about who is written down as the author.
func (r *reviewer) authorRequirement() int {
	for _, k := range []kindOf{kAuthor, kSelf, kPerm} {
		for _, q := range r.s.reqs {
			if q.kinds[k] {
				return q.n
			}
		}
	}
	return 0
}

// wholeRows: a row is given out whole, but for what is taken from it by name: what the
// schema will have tomorrow is given out too, and mostly something of today.
func (r *reviewer) wholeRows() {
	for _, x := range r.a.exprScope {
		x.e.walk(func(e *expr) bool {
			if e.kind != eBin || e.op != "-" || len(e.args) != 2 {
				return true
			}
			c := strip(e.args[0])
			for c != nil && c.kind == eBin && c.op == "-" && len(c.args) == 2 {
				c = strip(c.args[0])
			}
			if c == nil || !c.isCall("to_jsonb", "to_json", "row_to_json") || len(c.args) != 1 || strip(c.args[0]).kind != eCol || x.sc == nil {
				return true
			}
			n := strip(c.args[0]).name
			if in := x.sc.byAlias(n[len(n)-1]); in != nil && in.tab != nil && in.der == nil {
				r.add(r.secretRequirement(in.tab), 0.7, e.pos, []audit.CWE{200, 359}, "the whole row of %s is given out but for some columns", in.table)
			}
			return false
		})
	}
}

// secretRequirement gives the requirement that keeps most columns of the table back.
func (r *reviewer) secretRequirement(t *table) int {
	best, at := 0, 0
	for _, q := range r.s.reqs {
		n := 0
		if q.kinds[kSecret] {
			n = 1
		}
		for _, c := range r.s.secretCols(q) {
			if c.table == t.name || c.table == "" && t.column(c.col) != nil {
				n += 2
			}
		}
		if n > best {
			best, at = n, q.n
		}
	}
	return at
}

// strayRights: a function is asked about a row that the client names, and the row that
// is acted on need not be that row's.
func (r *reviewer) strayRights() {
	if r.a.executes > 0 { // what the text's numbers stand for is not followed
		return
	}
	for _, act := range r.actions() {
		if act.kind == "insert" || act.in.role == roleConflict {
			continue
		}
		c := r.a.close(gather(act.env, map[*env]bool{}, nil))
		group := r.tiedRows(c, act.in)
		for _, p := range append(r.permits(c), r.weighed(c)...) {
			for _, t := range p.args {
				if ref := r.strayKey(c, t, group); ref != "" {
					r.add(r.rightRequirement(act), 0.7, act.pos, []audit.CWE{863, 639}, "%s is asked about a row of %s that the client names, which need not be that of the row of %s", p.h.name, ref, act.in.table)
				}
			}
		}
	}
}

// strayKey gives the table of which t names a row of the client's, where rows of the
// group point at that table, and none at that row.
func (r *reviewer) strayKey(c *closure, t term, group map[*inst]bool) string {
	for _, m := range c.class(t) {
		if group[r.a.instOf(m)] {
			return ""
		}
	}
	ref := ""
	for x := range group {
		for _, fk := range x.tab.fks {
			col, key := r.ownPart(fk)
			if to := r.s.sch.tables[fk.ref]; col != "" && fk.ref != r.s.root && to != nil && !r.s.isPerson(to) && r.clientKey(c, t, fk.ref, col, key) {
				if c.same(t, x.col(col)) {
					return ""
				}
				ref = max(ref, fk.ref)
			}
		}
	}
	return ref
}

// weighed gives the calls of helpers whose values are compared with something.
func (r *reviewer) weighed(c *closure) []permit {
	var out []permit
	for _, f := range c.facts {
		for _, t := range []term{f.a, f.b} {
			s := string(t)
			i := strings.IndexByte(s, '(')
			if i < 2 || !strings.HasPrefix(s, "f:") || !strings.HasSuffix(s, ")") {
				continue
			}
			h := r.s.helpers[s[2:i]]
			if h.name == "" || strings.Contains(s[i+1:], "(") {
				continue
			}
			p := permit{h: h}
			for _, x := range strings.Split(s[i+1:len(s)-1], ", ") {
				p.args = append(p.args, term(x))
			}
			out = append(out, p)
		}
	}
	return out
}

// ownPart gives the column of a foreign key, and the one it points at, the tenant's apart.
func (r *reviewer) ownPart(fk foreignKey) (col, ref string) {
	for i, x := range fk.cols {
		if x == r.tenant() && len(fk.cols) > 1 || i >= len(fk.refs) {
			continue
		}
		if col != "" {
			return "", ""
		}
		col, ref = x, fk.refs[i]
	}
	return col, ref
}

// clientKey: t is a parameter of the client that names a row of the table, of which col
// is a foreign key and key the key.
func (r *reviewer) clientKey(c *closure, t term, table, col, key string) bool {
	client, of := false, false
	for _, m := range c.class(t) {
		if m.isParam() {
			client = client || !r.s.isActor(m) && !r.s.isScope(m)
			n := strings.TrimPrefix(string(m), "p:")
			of = of || baseName(n) == baseName(col) || hasRun(stemsOf(n), table)
		}
		if in := r.a.instOf(m); in != nil && in.table == table && m.colName() == key {
			of = true
		}
	}
	return client && of
}

// rightRequirement gives the requirement about permissions that speaks of the act.
func (r *reviewer) rightRequirement(act action) int {
	best, at := 0.0, 0
	for _, q := range r.s.reqs {
		if q.kinds[kPerm] {
			if n := r.applies(q, act, nil) + 0.1; n > best {
				best, at = n, q.n
			}
		}
	}
	return at
}

// loose: EXISTS asks whether a part of the statement has any row, and that part tells
// for which things who acts has the right: any of them will do.
func (r *reviewer) loose() {
	for _, x := range r.a.exprScope {
		x.e.walk(func(e *expr) bool {
			if e.kind != eExists || e.sub == nil || e.sub.kind != qSelect || e.sub.where != nil || len(e.sub.from) != 1 || e.sub.from[0].kind != fTable || x.sc == nil {
				return true
			}
			def := x.sc.cte(e.sub.from[0].name)
			if def == nil || def.c.q.kind != qSelect || len(def.c.q.targets) != 1 {
				return true
			}
			t := strip(def.c.q.targets[0].e)
			d := r.a.subs[def.c.q]
			if d == nil || t.kind != eCol || !strings.HasSuffix(t.name[len(t.name)-1], "_id") {
				return true
			}
			u := r.a.term(t, d.scope)
			if in := r.a.instOf(u); in != nil && in.tab != nil && !contains(r.s.personCols(in.tab), u.colName()) && u.colName() != r.tenant() {
				r.add(r.speaksOf(nil, t.name[len(t.name)-1]), 0.6, e.pos, []audit.CWE{863, 639}, "any %s of %s will do: EXISTS does not ask for that of the row", t.name[len(t.name)-1], def.c.name)
			}
			return true
		})
	}
}

// lateFilters: a function of the SPEC is asked about rows after a window has counted or
// ranked them: what it hides still shows in the figures of the others.
func (r *reviewer) lateFilters(q *query) {
	d := r.a.subs[q]
	if d == nil || q.kind != qSelect {
		return
	}
	for _, p := range conjuncts(q.where) {
		p.walk(func(e *expr) bool {
			if e.kind != eFunc || len(e.name) == 0 || r.s.helpers[e.name[len(e.name)-1]].name == "" {
				return true
			}
			for _, x := range e.args {
				if x = strip(x); x.kind != eCol {
					continue
				}
				in := d.scope.owner(x.name[len(x.name)-1])
				if len(x.name) > 1 {
					in = d.scope.byAlias(x.name[len(x.name)-2])
				}
				if in != nil && in.der != nil && in.der.q != nil && in.der.q.kind == qSelect && hasWindow(in.der.q) {
					n := e.name[len(e.name)-1]
					r.add(r.speaksOf(nil, n), 0.65, e.pos, []audit.CWE{200, 841}, "%s is asked only after a window has looked at the rows", n)
				}
			}
			return true
		})
	}
}
