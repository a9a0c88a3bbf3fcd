package sqlreview

import "strings"

// tied: each thing that the permission is for (its foreign keys, the person apart)
// equals a column of the row that is acted on, or of a row joined to it, or is the
// caller's tenant.
func (r *reviewer) tied(q *requirement, c *closure, act action, x *inst) bool {
	person := r.s.personCols(x.tab)
	if r.s.isPerson(x.tab) {
		if len(r.s.tenants) > 0 && x.tab.column(r.tenant()) != nil {
			return r.isTenantTerm(c, x.col(r.tenant())) || c.same(x.col(r.tenant()), act.in.col(r.tenant()))
		}
		return true
	}
	for _, fk := range x.tab.fks {
		k := fk.cols[len(fk.cols)-1]
		if contains(person, k) {
			continue
		}
		t := x.col(k)
		if fk.ref == r.s.root {
			if !r.isTenantTerm(c, t) && !r.sharedWith(c, t, act.in) {
				return false
			}
			continue
		}
		if want := r.pickedFK(q, act.in, fk.ref); want != "" {
			if !c.same(t, act.in.col(want)) {
				return false
			}
			continue
		}
		if !r.sharedWith(c, t, act.in) {
			if col := x.tab.column(k); col != nil && !col.notNull && !isKeyCol(x.tab, k) && len(x.tab.fks) > 2 {
				continue // an optional narrowing
			}
			return false
		}
	}
	return true
}

// pickedFK: of several columns of the row that point at one table, the one that the
// requirement's words pick (the source depot -> source_depot).
func (r *reviewer) pickedFK(q *requirement, in *inst, ref string) string {
	n, pick := 0, ""
	for _, fk := range in.tab.fks {
		if fk.ref != ref || len(fk.cols) != 1 {
			continue
		}
		n++
		for _, p := range strings.Split(fk.cols[0], "_") {
			if q.stems[stem(p)] && stem(p) != stem(ref) && p != "id" {
				pick = fk.cols[0]
			}
		}
	}
	if n < 2 {
		return ""
	}
	return pick
}

// sharedWith: t equals a column of in, or of an instance whose row is tied to in's.
func (r *reviewer) sharedWith(c *closure, t term, in *inst) bool {
	group := r.tiedRows(c, in)
	for _, m := range c.class(t) {
		y := r.a.instOf(m)
		if y == nil || y.tab == nil {
			continue
		}
		if group[y] && y.env != nil && !(y.assert && y.tab != in.tab && y == r.a.instOf(t)) {
			if y != r.a.instOf(t) {
				return true
			}
		}
	}
	return false
}

// tiedRows gives in and the instances whose rows are tied to its row by keys.
func (r *reviewer) tiedRows(c *closure, in *inst) map[*inst]bool {
	group := map[*inst]bool{in: true}
	for changed := true; changed; {
		changed = false
		for _, y := range r.a.insts {
			if group[y] || y.tab == nil || y.role == roleInsert && y != in {
				continue
			}
			for g := range group {
				if r.linked(c, y, g) || r.linked(c, g, y) || y.table == g.table && len(y.tab.keys) > 0 && c.sameRow(y, g) {
					// A link through the tenant alone ties nothing.
					group[y], changed = true, true
					break
				}
			}
		}
	}
	return group
}
