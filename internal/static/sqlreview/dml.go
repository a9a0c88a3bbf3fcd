package sqlreview

func (a *analysis) dml(q *query, sc *scope, v *env, d *derived) {
	a.stmtNo++
	switch q.kind {
	case qInsert:
		a.insert(q, sc, v)
	case qUpdate, qDelete:
		in := a.baseInst(q.table.name, q.table.alias, sc, v, q.table.pos)
		in.role = roleUpdate
		if q.kind == qDelete {
			in.role = roleDelete
		}
		if q.table.hole {
			a.holes = append(a.holes, hole{text: q.table.name, pos: q.table.pos, in: "identifier"})
		}
		for _, f := range q.from {
			a.from(f, sc, v)
		}
		if q.where != nil {
			a.assume(q.where, sc, v, true)
		}
		a.promote(sc, v)
		a.set(in, q.sets, sc, v, q.kind, false)
	case qMerge:
		a.mergeInto(q, sc, v)
	}
	for _, t := range q.returning {
		a.visit(t.e, sc, v)
	}
	d.cols, d.stars = a.expand(q.returning, sc)
	a.returned(q, sc, d)
}

// returned: RETURNING gives the values that the statement has set, not those that
// were there before.
func (a *analysis) returned(q *query, sc *scope, d *derived) {
	if q.kind != qUpdate && q.kind != qInsert {
		return
	}
	for i, c := range d.cols {
		in, name := c.in, c.src
		if e := strip(c.e); in == nil && e != nil && e.kind == eCol {
			_, in, name = a.resolve(e, sc)
		}
		if in == nil || in.role != roleUpdate && in.role != roleInsert {
			continue
		}
		for _, w := range a.writes {
			if w.in == in && w.col == name && strip(w.val).kind != eDefault && (q.source == nil || q.source.kind != qValues || len(q.source.rows) == 1) {
				d.cols[i] = outCol{name: c.name, e: w.val, scope: w.sc}
			}
		}
	}
}

func (a *analysis) set(in *inst, sets []setItem, sc *scope, v *env, k queryKind, conf bool) {
	for _, s := range sets {
		val := strip(s.val)
		if len(s.cols) == 1 {
			a.visit(s.val, sc, v)
			a.writes = append(a.writes, write{in: in, col: s.cols[0], val: s.val, sc: sc, env: v, pos: s.pos, kind: k, conf: conf})
			continue
		}
		a.visit(s.val, sc, v)
		for i, c := range s.cols {
			x := s.val
			if val.kind == eRow && i < len(val.args) {
				x = val.args[i]
			} else if val.kind == eSub && val.sub != nil && i < len(val.sub.targets) {
				x = val.sub.targets[i].e
				if sd := a.subs[val.sub]; sd != nil {
					a.writes = append(a.writes, write{in: in, col: c, val: x, sc: sd.scope, env: v, pos: s.pos, kind: k, conf: conf})
					continue
				}
			}
			a.writes = append(a.writes, write{in: in, col: c, val: x, sc: sc, env: v, pos: s.pos, kind: k, conf: conf})
		}
	}
}

func (a *analysis) insert(q *query, sc *scope, v *env) {
	ie := &env{parent: v}
	in := a.baseInst(q.table.name, q.table.alias, sc, ie, q.table.pos)
	in.role = roleInsert
	cols := q.cols
	if len(cols) == 0 && in.tab != nil {
		for _, c := range in.tab.cols {
			cols = append(cols, c.name)
		}
	}
	if q.source != nil {
		a.insertSource(q, cols, in, sc, v, ie)
	}
	if q.conflict == nil || !q.conflict.update {
		return
	}
	ce := &env{parent: v}
	csc := newScope(sc.parent)
	csc.ctes = sc.ctes
	old := a.baseInst(q.table.name, q.table.alias, csc, ce, q.conflict.pos)
	old.role = roleConflict
	old.src = in
	ex := *in
	ex.alias = "excluded"
	csc.insts = append(csc.insts, &ex)
	ce.imports = append(ce.imports, ie)
	keys := q.conflict.cols
	for _, c := range keys {
		ce.add(fact{op: "=", a: old.col(c), b: in.col(c), pos: q.conflict.pos})
	}
	if q.conflict.where != nil {
		a.assume(q.conflict.where, csc, ce, true)
	}
	a.set(old, q.conflict.sets, csc, ce, qUpdate, true)
}

func (a *analysis) insertSource(q *query, cols []string, in *inst, sc *scope, v, ie *env) {
	src := q.source
	if src.kind == qValues && len(src.with) == 0 {
		var or []*env
		for n, row := range src.rows {
			if n > 8 {
				break
			}
			b := ie
			if len(src.rows) > 1 {
				b = &env{parent: ie}
				or = append(or, b)
			}
			for i, e := range row {
				a.visit(e, sc.parent, v)
				if i < len(cols) {
					if strip(e).kind != eDefault {
						b.add(fact{op: "=", a: in.col(cols[i]), b: a.value(e, sc, b, true), pos: e.pos})
					}
					a.writes = append(a.writes, write{in: in, col: cols[i], val: e, sc: sc, env: b, pos: e.pos, kind: qInsert})
				}
			}
		}
		if len(or) > 0 {
			ie.ors = append(ie.ors, or)
		}
		return
	}
	hide := sc.insts
	sc.insts = nil // the source does not see the target
	se := &env{parent: v}
	d := a.query(src, sc, se)
	d.env = se
	sc.insts = hide
	if len(d.arms) > 0 {
		tmp := a.newInst("", nil, ie, src.pos)
		tmp.der = d
		a.linkArms(tmp, d, ie)
		for i, c := range d.cols {
			if i < len(cols) {
				ie.add(fact{op: "=", a: in.col(cols[i]), b: tmp.col(c.name), pos: src.pos})
			}
		}
	} else {
		ie.imports = append(ie.imports, se)
		v.imports = append(v.imports, se) // RETURNING gives rows only where the source has one
	}
	for i, c := range d.cols {
		if i >= len(cols) {
			break
		}
		t, _, _ := a.outTerm(c)
		if len(d.arms) == 0 {
			ie.add(fact{op: "=", a: in.col(cols[i]), b: t, pos: src.pos})
		}
		e, csc := c.e, c.scope
		if e == nil {
			e, csc = &expr{kind: eCol, name: []string{c.in.alias, c.src}, pos: src.pos}, d.scope
		}
		a.writes = append(a.writes, write{in: in, col: cols[i], val: e, sc: csc, env: ie, pos: e.pos, kind: qInsert})
	}
}

func (a *analysis) mergeInto(q *query, sc *scope, v *env) {
	a.from(q.from[0], sc, v)
	sources := append([]*inst{}, sc.insts...)
	for _, w := range q.whens {
		if !w.matched && w.act == "insert" {
			ie := &env{parent: v}
			if w.cond != nil {
				a.assume(w.cond, sc, ie, true)
			}
			isc := newScope(sc.parent)
			isc.insts, isc.ctes = sources, sc.ctes
			in := a.baseInst(q.table.name, " target", nil, ie, w.pos)
			in.role = roleInsert
			for i, e := range w.vals {
				if i < len(w.cols) {
					ie.add(fact{op: "=", a: in.col(w.cols[i]), b: a.value(e, isc, ie, true), pos: e.pos})
					a.writes = append(a.writes, write{in: in, col: w.cols[i], val: e, sc: isc, env: ie, pos: e.pos, kind: qInsert})
				}
			}
			continue
		}
		if w.act != "update" && w.act != "delete" {
			continue
		}
		ue := &env{parent: v}
		usc := newScope(sc.parent)
		usc.insts, usc.ctes = append([]*inst{}, sources...), sc.ctes
		in := a.baseInst(q.table.name, q.table.alias, usc, ue, w.pos)
		in.role = roleUpdate
		if w.act == "delete" {
			in.role = roleDelete
		}
		a.assume(q.on, usc, ue, true)
		if w.cond != nil {
			a.assume(w.cond, usc, ue, true)
		}
		a.set(in, w.sets, usc, ue, qUpdate, false)
	}
	// RETURNING and bare names
	t := a.baseInst(q.table.name, q.table.alias, sc, v, q.table.pos)
	t.assert = true
	a.assume(q.on, sc, v, true)
}
