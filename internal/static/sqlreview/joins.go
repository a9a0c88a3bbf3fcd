package sqlreview

// from analyses an item of a FROM list.
func (a *analysis) from(f *from, sc *scope, v *env) {
	if len(a.insts) > maxInsts {
		a.opaque = true
		return
	}
	switch f.kind {
	case fJoin:
		a.joinFrom(f, sc, v)
	case fTable:
		if f.hole {
			a.holes = append(a.holes, hole{text: f.name, pos: f.pos, in: "identifier"})
		}
		if def := sc.cte(f.name); def != nil {
			a.derivedInst(f, a.useCTE(def, v), def.c.cols, sc, v)
			return
		}
		a.baseInst(f.name, f.alias, sc, v, f.pos)
	case fSub:
		if f.lateral { // run for each row on its left: what holds there holds inside
			a.derivedInst(f, a.query(f.sub, sc, v), nil, sc, v)
			return
		}
		a.derivedInst(f, a.sub(f.sub, sc, v), nil, sc, v)
	case fFunc:
		if f.fn != nil {
			a.visit(f.fn, sc, v)
		}
		alias := f.alias
		if alias == "" {
			alias = f.name
		}
		in := a.newInst(alias, sc, v, f.pos)
		in.der = &derived{scope: sc, env: v}
		cols := f.cols
		if len(cols) == 0 {
			cols = []string{alias}
		}
		for _, c := range cols {
			in.der.cols = append(in.der.cols, outCol{name: c, e: &expr{kind: eFunc, name: []string{"from_" + f.name}, pos: f.pos}, scope: sc})
		}
	}
}

func (a *analysis) derivedInst(f *from, d *derived, names []string, sc *scope, v *env) {
	alias := f.alias
	if alias == "" {
		alias = f.name
	}
	if len(f.cols) > 0 {
		names = f.cols
	}
	if len(names) > 0 && len(d.cols) > 0 {
		c := *d
		c.cols = append([]outCol{}, d.cols...)
		for i := range c.cols {
			if i < len(names) {
				c.cols[i].name = names[i]
			}
		}
		d = &c
	}
	in := a.newInst(alias, sc, v, f.pos)
	in.der = d
	if len(d.arms) > 0 {
		a.linkArms(in, d, v)
	}
}

// linkArms says that each row of a UNION is a row of one of its arms.
func (a *analysis) linkArms(in *inst, d *derived, v *env) {
	var branches []*env
	for _, arm := range flatArms(d) {
		b := &env{parent: v, imports: []*env{arm.env}}
		for i, c := range d.cols {
			if i < len(arm.cols) {
				t, _, _ := a.outTerm(arm.cols[i])
				b.add(fact{op: "=", a: in.col(c.name), b: t})
			}
		}
		if !hasWindow(arm.q) { // a filter on the union reaches the rows of each arm
			arm.env.facts = append(arm.env.facts, b.facts...)
		}
		branches = append(branches, b)
	}
	v.ors = append(v.ors, branches)
}

func flatArms(d *derived) []*derived {
	if len(d.arms) == 0 {
		return []*derived{d}
	}
	var out []*derived
	for _, x := range d.arms {
		out = append(out, flatArms(x)...)
	}
	return out
}

func (a *analysis) setOp(q *query, sc *scope, v *env, d *derived) {
	le := &env{parent: v}
	l := a.query(q.l, sc, le)
	l.env = le
	re := &env{parent: v, negated: q.op == "except"}
	r := a.query(q.r, sc, re)
	r.env = re
	d.cols, d.stars = l.cols, l.stars
	switch q.op {
	case "union":
		d.arms = []*derived{l, r}
	default:
		v.imports = append(v.imports, le)
		if q.op == "intersect" {
			v.imports = append(v.imports, re)
		}
	}
}

func (a *analysis) joinFrom(f *from, sc *scope, v *env) {
	le, re := v, v
	switch f.join {
	case "left":
		re = &env{parent: v}
	case "right":
		le = &env{parent: v}
	case "full":
		le, re = &env{parent: v}, &env{parent: v}
	}
	k0 := len(sc.insts)
	a.from(f.l, sc, le)
	k1 := len(sc.insts)
	a.from(f.r, sc, re)
	for i, in := range sc.insts[k0:] {
		left := k0+i < k1
		if left && le != v || !left && re != v {
			in.outer = true
		}
	}
	on := re
	if f.join == "right" {
		on = le
	}
	if f.join == "full" {
		on = &env{parent: v}
	}
	if f.on != nil {
		a.assume(f.on, sc, on, true)
	}
	cols := f.using
	if f.natural {
		cols = common(sc.insts[k0:k1], sc.insts[k1:])
	}
	for _, c := range cols {
		l, r := ownerIn(sc.insts[k0:k1], c), ownerIn(sc.insts[k1:], c)
		if l != nil && r != nil {
			lt, _, _ := a.colTerm(l, c)
			rt, _, _ := a.colTerm(r, c)
			on.add(fact{op: "=", a: lt, b: rt, pos: f.pos})
		}
	}
}

func ownerIn(list []*inst, col string) *inst {
	for _, in := range list {
		if in.has(col) == 1 {
			return in
		}
	}
	for _, in := range list {
		if in.has(col) == -1 {
			return in
		}
	}
	return nil
}

func common(l, r []*inst) []string {
	var out []string
	for _, x := range l {
		if x.tab == nil {
			continue
		}
		for _, c := range x.tab.cols {
			if in := ownerIn(r, c.name); in != nil && in.has(c.name) == 1 {
				out = append(out, c.name)
			}
		}
	}
	return out
}

// promote: a WHERE that no missing row can pass makes an outer join an inner one.
func (a *analysis) promote(sc *scope, v *env) {
	for _, in := range sc.insts {
		if !in.outer || in.env == v {
			continue
		}
		for _, f := range v.facts {
			if f.op == "null" || f.op == "opaque" {
				continue
			}
			x, y := a.instOf(f.a), a.instOf(f.b)
			if x != nil && x.env == in.env || y != nil && y.env == in.env {
				v.imports = append(v.imports, in.env)
				in.outer = false
				break
			}
		}
	}
}
