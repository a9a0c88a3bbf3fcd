package sqlreview

import (
	"regexp"

	"assay/audit"
)

var everyTableRE = regexp.MustCompile(`(every|each|all|any) [^.;]{0,30}(table|join|reference|relation|alias|subquer|side|occurrence|source|row|record|data)|through (a|any) join|including (joined|join|subquer)|even (in|when|inside) (join|subquer)|joined tables`)

// viaRowRE: a row may belong to its tenant by the row that it points at.
var viaRowRE = regexp.MustCompile(`directly or|or (indirectly|through|via|by way of)|(through|via) (the|its) (row|parent|owner)|(by|through|via|over) a (stored |checked )?foreign key|reached (it )?(by|through|from)|showing (that )?one end`)

// tenancy: each row that is read or changed belongs to the caller's tenant.
func (r *reviewer) tenancy(q *requirement) {
	col := r.tenant()
	strict := everyTableRE.MatchString(q.low) && !viaRowRE.MatchString(q.low)
	for _, in := range r.a.insts {
		if in.table == "" || in.tab == nil || in.der != nil || in.role == roleInsert || in.env.isNegated() {
			continue
		}
		if r.a.anti(in) || r.a.lockOnly[in] {
			continue
		}
		owned := in.tab.column(col) != nil
		if !owned && in.table != r.s.root && !r.descends(in.tab, 0) {
			continue
		}
		if r.a.proves(in.env, func(c *closure) bool { return r.scoped(c, in, strict, 0, map[*inst]bool{}) }) {
			continue
		}
		conf := 0.85
		what := "is"
		switch {
		case in.role == roleUpdate:
			what = "changes"
		case in.role == roleDelete:
			what = "deletes"
		}
		if in.table == r.s.root && !owned {
			conf = 0.55
		} else if !owned {
			conf = 0.7
		}
		if in.assert && in.role == roleRead && r.ofActor(in) {
			conf = 0.4 // who acts is looked up among his own rows, to go on from there
		}
		if in.role == roleConflict {
			r.add(q.n, 0.8, in.pos, []audit.CWE{639, 863}, "ON CONFLICT DO UPDATE can change a row of %s that belongs to another tenant: neither the conflict target nor a WHERE holds %s", in.table, col)
			continue
		}
		if what == "is" {
			r.add(q.n, conf, in.pos, []audit.CWE{639, 284}, "%s is read without a condition that ties it to the caller's %s on every path", name(in), col)
		} else {
			r.add(q.n, conf, in.pos, []audit.CWE{639, 284}, "the statement %s rows of %s without a condition that ties them to the caller's %s on every path", what, name(in), col)
		}
	}
	r.tenantWrites(q, col)
}

// ofActor: the row is that of who acts.
func (r *reviewer) ofActor(in *inst) bool {
	return r.a.proves(in.env, func(c *closure) bool {
		for _, p := range r.s.personCols(in.tab) {
			if c.actor(r, in.col(p)) {
				return true
			}
		}
		return false
	})
}

func name(in *inst) string {
	if in.alias != "" && in.alias != in.table {
		return in.table + " (" + in.alias + ")"
	}
	return in.table
}

// anti: a LEFT JOIN whose right side must be missing (b.id IS NULL).
func (a *analysis) anti(in *inst) bool {
	if !in.outer {
		return false
	}
	for _, e := range gather(in.env.parent, map[*env]bool{}, nil) {
		for _, f := range e.facts {
			if f.op == "null" && a.instOf(f.a) == in {
				if c := in.tab.column(f.a.colName()); c != nil && (c.notNull || isKeyCol(in.tab, c.name)) {
					return true
				}
			}
		}
	}
	return false
}

// descends: the table has no tenant column, but points at one that has.
func (r *reviewer) descends(t *table, depth int) bool {
	if depth > 4 {
		return false
	}
	for _, fk := range t.fks {
		ref := r.s.sch.tables[fk.ref]
		if ref == nil || ref == t || r.s.isPerson(ref) {
			continue
		}
		if ref.column(r.tenant()) != nil {
			return true
		}
		if r.descends(ref, depth+1) {
			return true
		}
	}
	return false
}

// scoped reports whether in's rows are tied to the tenant under c: by its own column,
// or by a foreign key to or from an instance that is.
func (r *reviewer) scoped(c *closure, in *inst, strict bool, depth int, seen map[*inst]bool) bool {
	if in == nil || in.tab == nil || seen[in] || depth > 8 {
		return false
	}
	seen[in] = true
	col := r.tenant()
	own := in.tab.column(col) != nil
	if own && r.isTenantTerm(c, in.col(col)) {
		return true
	}
	if r.s.isPerson(in.tab) && len(in.tab.keys) > 0 && c.actor(r, in.col(in.tab.keys[0][0])) { // one's own row
		return true
	}
	if r.agreed(c, in) {
		return true
	}
	if in.table == r.s.root && len(in.tab.keys) > 0 && r.isTenantTerm(c, in.col(in.tab.keys[0][0])) {
		return true
	}
	for _, other := range r.a.insts {
		if other == in || other.tab == nil || other.role == roleInsert && in.role != roleInsert {
			continue
		}
		if (!own || !strict) && r.siblings(c, in, other) && r.scoped(c, other, strict, depth+1, seen) {
			return true
		}
		down := r.linked(c, in, other) // in points at other
		up := !down && r.linked(c, other, in)
		if !down && !up {
			continue
		}
		if own && strict && !r.compositeLink(in, other) {
			continue
		}
		if down && !(other.tab.column(col) != nil || other.table == r.s.root || r.descends(other.tab, 0)) {
			continue // reached from a table that every tenant shares
		}
		if r.scoped(c, other, strict, depth+1, seen) {
			return true
		}
	}
	return false
}

// siblings: the two rows point at one row of a table that belongs to a tenant.
func (r *reviewer) siblings(c *closure, x, y *inst) bool {
	for _, f := range x.tab.fks {
		ref := r.s.sch.tables[f.ref]
		if ref == nil || len(f.cols) != 1 || f.ref == r.s.root || ref.column(r.tenant()) == nil && !r.descends(ref, 0) || r.s.isPerson(ref) {
			continue
		}
		for _, g := range y.tab.fks {
			if g.ref == f.ref && len(g.cols) == 1 && c.same(x.col(f.cols[0]), y.col(g.cols[0])) {
				return true
			}
		}
	}
	return false
}

// isTenantTerm: t equals a parameter that stands for the tenant, or the tenant of the
// acting person's own row.
func (r *reviewer) isTenantTerm(c *closure, t term) bool {
	for _, m := range c.class(t) {
		if m.isParam() && r.s.isScope(m) {
			return true
		}
		if in := r.a.instOf(m); in != nil && in.tab != nil && m.colName() == r.tenant() && (r.s.isPerson(in.tab) || len(r.s.scopeP) == 0 && (permNameRE.MatchString(in.table) || r.s.hasRole(in.tab))) {
			for _, p := range r.s.personCols(in.tab) {
				if x := c.param(in.col(p)); x != "" && r.s.isActor(x) {
					return true
				}
			}
			if r.s.isPerson(in.tab) && len(in.tab.keys) > 0 {
				if x := c.param(in.col(in.tab.keys[0][0])); x != "" && r.s.isActor(x) {
					return true
				}
			}
		}
	}
	return false
}

// linked: a foreign key of child points at parent's row.
func (r *reviewer) linked(c *closure, child, parent *inst) bool {
	for _, fk := range child.tab.fks {
		if fk.ref != parent.table || len(fk.refs) != len(fk.cols) {
			continue
		}
		all := true
		for i := range fk.cols {
			if fk.cols[i] == r.tenant() && len(fk.cols) > 1 {
				continue // (tenant, id): the id alone finds the row, the key does the rest
			}
			all = all && c.same(child.col(fk.cols[i]), parent.col(fk.refs[i]))
		}
		if all {
			return true
		}
	}
	return false
}

// compositeLink: the schema itself ties the two tables' tenants together.
func (r *reviewer) compositeLink(x, y *inst) bool {
	has := func(a, b *inst) bool {
		for _, fk := range a.tab.fks {
			if fk.ref == b.table && len(fk.cols) > 1 && contains(fk.cols, r.tenant()) {
				return true
			}
		}
		return false
	}
	return has(x, y) || has(y, x)
}

// tenantWrites: what is inserted carries the caller's tenant, and points only at rows
// that were found to be the caller's.
func (r *reviewer) tenantWrites(q *requirement, col string) {
	for _, in := range r.a.insts {
		if in.role != roleInsert || in.tab == nil {
			continue
		}
		if in.tab.column(col) != nil {
			ok := r.a.proves(in.env, func(c *closure) bool {
				return r.isTenantTerm(c, in.col(col)) || r.tenantOfScoped(c, in.col(col))
			})
			if !ok {
				r.add(q.n, 0.75, in.pos, []audit.CWE{639, 284}, "rows are inserted into %s whose %s is not the caller's", in.table, col)
				continue
			}
		}
		for _, fk := range in.tab.fks {
			r.foreignWrite(q, in, fk, in.env, in.pos)
		}
	}
	for _, w := range r.a.writes {
		if w.kind != qUpdate || w.in == nil || w.in.tab == nil || w.conf {
			continue
		}
		if w.col == col {
			if t := r.a.term(w.val, w.sc); t.isParam() && !r.s.isScope(t) {
				r.add(q.n, 0.7, w.pos, []audit.CWE{639}, "%s of %s is set to a value that is not the caller's", col, w.in.table)
			}
		}
		t := r.a.term(w.val, w.sc)
		for _, fk := range w.in.tab.fks {
			if len(fk.cols) == 1 && fk.cols[0] == w.col && t.isParam() && !r.names(t, fk.ref) {
				r.reference(q, w.in, fk, t, w.env, w.pos)
			}
		}
	}
}

func (r *reviewer) tenantOfScoped(c *closure, t term) bool {
	for _, m := range c.class(t) {
		in := r.a.instOf(m)
		if in == nil || in.tab == nil || in.role == roleInsert {
			continue
		}
		if (m.colName() == r.tenant() || in.table == r.s.root) && r.scoped(c, in, false, 0, map[*inst]bool{}) {
			return true
		}
	}
	return false
}

func (r *reviewer) foreignWrite(q *requirement, in *inst, fk foreignKey, v *env, pos int) {
	if len(fk.cols) != 1 || fk.cols[0] == r.tenant() {
		return
	}
	for _, w := range r.a.writes {
		if w.in == in && w.col == fk.cols[0] {
			t := r.a.term(w.val, w.sc)
			if t.isParam() && !r.names(t, fk.ref) {
				r.reference(q, in, fk, t, v, w.pos)
			}
			return
		}
	}
}

// reference: a parameter that is stored as a foreign key must have been looked up
// among the caller's rows.
func (r *reviewer) reference(q *requirement, in *inst, fk foreignKey, t term, v *env, pos int) {
	ref := r.s.sch.tables[fk.ref]
	if ref == nil || len(fk.refs) == 0 || ref.column(r.tenant()) == nil && !r.descends(ref, 0) {
		return
	}
	ok := r.a.proves(v, func(c *closure) bool {
		for _, x := range r.a.insts {
			if x.table == fk.ref && x.role != roleInsert && c.same(x.col(fk.refs[0]), t) && r.scoped(c, x, false, 0, map[*inst]bool{}) {
				return true
			}
		}
		return false
	})
	if !ok {
		r.add(q.n, 0.6, pos, []audit.CWE{639, 284}, "%s.%s takes a parameter without looking it up among the caller's %s", in.table, fk.cols[0], fk.ref)
	}
}

// names: the parameter stands for who acts, and the column for a person.
func (r *reviewer) names(t term, ref string) bool {
	p := r.s.sch.tables[ref]
	return p != nil && r.s.isPerson(p) && r.s.isActor(t)
}

// tenant gives the column that says whose a row is, or "" where the SPEC has none.
func (r *reviewer) tenant() string {
	if len(r.s.tenants) == 0 {
		return ""
	}
	return r.s.tenants[0]
}
