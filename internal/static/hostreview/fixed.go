package hostreview

import "assay/internal/static/lang"

// FixedHoles: everything that the fragment pastes into a statement is one of a few texts
// of its own, whatever a request says: a name that a map of constants gave, one of two
// literals, the number of a placeholder.
func FixedHoles(f *lang.File) bool {
	v := newView(readBrief(""), f)
	some := false
	fixed := true
	lang.Walk(f.Root, func(n *lang.Node) bool {
		if n.Kind != lang.Template || !sqlWord.MatchString(v.sqlText(n, 0)) {
			return true
		}
		for _, p := range n.List {
			if p.Kind != lang.String {
				some = true
				fixed = fixed && v.constant(p, 0)
			}
		}
		return true
	})
	return some && fixed
}

// constant: the expression gives one of a few texts of the code.
func (v *view) constant(n *lang.Node, depth int) bool {
	if n == nil || depth > 6 {
		return false
	}
	switch n.Kind {
	case lang.String, lang.Lit:
		return true
	case lang.Cond:
		return v.constant(n.Y, depth+1) && v.constant(n.Z, depth+1)
	case lang.Binary:
		return v.constant(n.X, depth+1) && v.constant(n.Y, depth+1)
	case lang.Template:
		for _, p := range n.List {
			if !v.constant(p, depth+1) {
				return false
			}
		}
		return true
	case lang.Member:
		return n.Name == "length"
	case lang.Index:
		return v.texts(n.X)
	case lang.Call:
		return v.fixedReturns(n, depth) || n.Name == "get" && n.X != nil && v.texts(n.X) && (len(n.List) < 2 || v.constant(n.List[1], depth+1)) || n.Name == "len"
	case lang.Ident:
		vs := v.values[n.Name]
		for _, y := range append(vs, v.plus[n.Name]...) {
			if !v.constant(y, depth+1) {
				return false
			}
		}
		return len(vs) > 0
	}
	return false
}

// texts: a map whose values are all texts of the code.
func (v *view) texts(n *lang.Node) bool {
	x := v.resolve(n)
	if x != nil && x.Kind == lang.Call && x.Name == "Map" && len(x.List) == 1 { // new Map([['a', 'b']])
		for _, p := range x.List[0].List {
			if p.Kind != lang.Array || len(p.List) != 2 || p.List[1].Kind != lang.String {
				return false
			}
		}
		return len(x.List[0].List) > 0
	}
	if x == nil || x.Kind != lang.Dict || len(x.List) == 0 {
		return false
	}
	for _, p := range x.List {
		if p.Kind != lang.Pair || p.Y == nil || p.Y.Kind != lang.String {
			return false
		}
	}
	return true
}

// fixedReturns: the call is of a function of the fragment that returns nothing but
// texts of the code.
func (v *view) fixedReturns(c *lang.Node, depth int) bool {
	if c.X != nil {
		return false
	}
	some, fixed := false, true
	lang.Walk(v.f.Root, func(n *lang.Node) bool {
		if n.Kind != lang.Func || n.Name != c.Name || n.Body == nil {
			return true
		}
		lang.Walk(n.Body, func(r *lang.Node) bool {
			if r.Kind == lang.Return && r.X != nil {
				some, fixed = true, fixed && v.constant(r.X, depth+1)
			}
			return r.Kind != lang.Func
		})
		return false
	})
	return some && fixed
}
