package sqlreview

import (
	"regexp"
	"strconv"
	"strings"
)

// rows gives the largest number of rows that d can have, as far as LIMITs, keys and
// aggregation say.
func (a *analysis) rows(d *derived, depth int) int {
	if d == nil || d.q == nil || depth > 12 {
		return unbounded
	}
	if n, ok := a.rowsOf[d]; ok {
		return n
	}
	if a.rowsOf == nil {
		a.rowsOf = map[*derived]int{}
	}
	a.rowsOf[d] = unbounded // while it is being worked out
	n := a.count(d, depth)
	a.rowsOf[d] = n
	return n
}

func (a *analysis) count(d *derived, depth int) int {
	q := d.q
	n := unbounded
	if q.limit != nil && !q.ties {
		n = upper(q.limit, 0)
	}
	switch q.kind {
	case qSetOp:
		if len(d.arms) == 2 {
			return min(n, min(unbounded, a.rows(d.arms[0], depth+1)+a.rows(d.arms[1], depth+1)))
		}
		if l := a.subs[q.l]; l != nil {
			return min(n, a.rows(l, depth+1))
		}
	case qValues:
		return min(n, len(q.rows))
	case qInsert, qUpdate, qDelete, qMerge:
		return 1 // what a change gives back is no list
	case qSelect:
		if len(q.from) == 0 || d.agg && len(q.group) == 0 {
			return min(n, 1)
		}
		return min(n, a.joined(d, depth))
	}
	return n
}

// joined multiplies what the parts of a FROM can give; an instance whose key is
// fixed by the others, or by a parameter, gives one row.
func (a *analysis) joined(d *derived, depth int) int {
	c := a.close(gather(d.env, map[*env]bool{}, nil))
	local := map[*inst]bool{}
	for _, in := range d.scope.insts {
		local[in] = true
	}
	fixed := map[*inst]bool{}
	for changed := true; changed; {
		changed = false
		for in := range local {
			if !fixed[in] && a.keyed(c, in, local, fixed, depth) {
				fixed[in], changed = true, true
			}
		}
	}
	n := 1
	for _, in := range d.scope.insts {
		switch {
		case fixed[in]:
		case in.der != nil && in.der.q == nil: // a function
		case in.der != nil:
			n = mul(n, a.rows(in.der, depth+1))
		default:
			n = unbounded
		}
	}
	// Joined from the other side: the many side being bounded, the one side follows.
	if n >= unbounded {
		n = min(n, a.drivenBy(c, d, depth))
	}
	if g := a.groups(c, d, local, fixed); g < n {
		n = g
	}
	return min(n, a.numbered(c, d))
}

// drivenBy starts from one bounded derived table and adds what its rows fix.
func (a *analysis) drivenBy(c *closure, d *derived, depth int) int {
	best := unbounded
	for _, start := range d.scope.insts {
		if start.der == nil || start.der.q == nil {
			continue
		}
		n := a.rows(start.der, depth+1)
		if n >= best {
			continue
		}
		fixed := map[*inst]bool{start: true}
		local := map[*inst]bool{}
		for _, in := range d.scope.insts {
			local[in] = true
		}
		for changed := true; changed; {
			changed = false
			for in := range local {
				if !fixed[in] && a.keyedBy(c, in, local, fixed, depth) {
					fixed[in], changed = true, true
				}
			}
		}
		if len(fixed) == len(local) {
			best = n
		}
	}
	return best
}

func (a *analysis) keyed(c *closure, in *inst, local, fixed map[*inst]bool, depth int) bool {
	return a.keyedBy(c, in, local, fixed, depth)
}

// keyedBy reports whether a key of in equals parameters, literals, outer columns or
// columns of instances that are fixed.
func (a *analysis) keyedBy(c *closure, in *inst, local, fixed map[*inst]bool, depth int) bool {
	if in.der != nil {
		if in.der.q == nil {
			return false
		}
		return a.rows(in.der, depth+1) <= 1 || a.groupedBy(c, in, local, fixed)
	}
	if in.tab == nil {
		return false
	}
	for _, key := range in.tab.keys {
		ok := len(key) > 0
		for _, k := range key {
			ok = ok && a.known(c, in.col(k), in, local, fixed)
		}
		if ok {
			return true
		}
	}
	return false
}

func (a *analysis) known(c *closure, t term, in *inst, local, fixed map[*inst]bool) bool {
	for _, m := range c.class(t) {
		if m.isParam() || m.isLit() || strings.HasPrefix(string(m), "f:query") || strings.HasPrefix(string(m), "f:case") {
			return true
		}
		x := a.instOf(m)
		if x == nil || x == in || x.der != nil && a.holds(x.der, in, 0) { // itself, or what it is part of
			continue
		}
		if fixed[x] || a.below(x, fixed) {
			return true
		}
		if !local[x] && !a.below(x, local) && !a.siblingOf(x, in) {
			return true
		}
	}
	return false
}

// below: x stands inside one of the derived tables in set.
func (a *analysis) below(x *inst, set map[*inst]bool) bool {
	for in := range set {
		if in.der != nil && a.holds(in.der, x, 0) {
			return true
		}
	}
	return false
}

func (a *analysis) holds(d *derived, x *inst, depth int) bool {
	if d == nil || d.scope == nil || depth > 8 {
		return false
	}
	for _, arm := range flatArms(d) {
		for _, in := range arm.scope.insts {
			if in == x || in.der != nil && in.der != d && a.holds(in.der, x, depth+1) {
				return true
			}
		}
	}
	return false
}

// siblingOf: x was made beside in by EXISTS or IN: it is no outer row.
func (a *analysis) siblingOf(x, in *inst) bool { return x.assert }

// groupedBy: in is a derived table with one row per group, and its group is fixed.
func (a *analysis) groupedBy(c *closure, in *inst, local, fixed map[*inst]bool) bool {
	q := in.der.q
	by := q.group
	if len(q.distinctOn) > 0 {
		by = q.distinctOn
	}
	if len(by) == 0 {
		return false
	}
	for _, g := range by {
		if !a.known(c, a.term(g, in.der.scope), in, local, fixed) {
			return false
		}
	}
	return true
}

// groups bounds GROUP BY over enums and booleans.
func (a *analysis) groups(c *closure, d *derived, local, fixed map[*inst]bool) int {
	by := d.q.group
	if len(by) == 0 {
		by = d.q.distinctOn
	}
	if len(by) == 0 {
		return unbounded
	}
	n := 1
	for _, g := range by {
		t := a.term(g, d.scope)
		if a.known(c, t, nil, local, fixed) { // one value: no further groups
			continue
		}
		in := a.instOf(t)
		if in == nil || in.tab == nil {
			return unbounded
		}
		col := in.tab.column(t.colName())
		switch {
		case col != nil && col.isBool():
			n = mul(n, 3)
		case col != nil && len(col.enum) > 0:
			n = mul(n, len(col.enum)+1)
		default:
			return unbounded
		}
	}
	return n
}

var litNumRE = regexp.MustCompile(`l:(\d+)`)

// numbered: WHERE rn <= 100, rn being row_number() over everything.
func (a *analysis) numbered(c *closure, d *derived) int {
	best := unbounded
	for _, in := range d.scope.insts {
		if in.der == nil {
			continue
		}
		for _, col := range in.der.cols {
			e := strip(col.e)
			if e == nil || !e.isCall("row_number") || e.over == nil {
				continue
			}
			if len(e.over.partition) > 0 || e.over.name != "" {
				continue
			}
			for _, f := range c.about(a.term(e, col.scope)) {
				if f.op != "<=" && f.op != "<" && f.op != "=" {
					continue
				}
				if m := litNumRE.FindStringSubmatch(string(f.b)); m != nil && (f.b.isLit() || strings.HasPrefix(string(f.b), "f:least(")) {
					n, _ := strconv.Atoi(m[1])
					best = min(best, n)
				}
			}
		}
	}
	return best
}
