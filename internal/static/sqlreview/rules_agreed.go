package sqlreview

// agreed: the row's tenant is named by a row that ties two tenants together (an
// agreement, a partnership), of which the other one is the caller's.
func (r *reviewer) agreed(c *closure, in *inst) bool {
	if r.s.root == "" {
		return false
	}
	key := in.col(r.tenant())
	if in.table == r.s.root && len(in.tab.keys) > 0 {
		key = in.col(in.tab.keys[0][0])
	} else if in.tab.column(r.tenant()) == nil {
		return false
	}
	for _, x := range r.a.insts {
		if x.tab == nil || x.role == roleInsert || x.env.isNegated() {
			continue
		}
		own, other := false, false
		for _, fk := range x.tab.fks {
			if fk.ref == r.s.root && len(fk.cols) == 1 {
				t := x.col(fk.cols[0])
				own = own || r.isTenantTerm(c, t)
				other = other || !r.isTenantTerm(c, t) && c.same(t, key)
			}
		}
		if own && other {
			return true
		}
	}
	return false
}
