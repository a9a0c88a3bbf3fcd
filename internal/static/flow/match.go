package flow

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/internal/static/lang"
	"assay/internal/static/rules"
)

func (s *shard) matchCall(f *frame, ci *callInfo) {
	for _, p := range f.u.Table.Calls[ci.key()] {
		m := p.Match
		if !receives(p, ci.n.X, ci.cands) || !s.tests(f, m.Where, ci) || !s.scoped(f, m, ci.n) {
			continue
		}
		if len(m.Arg) == 0 {
			s.plain(f, m, ci.n)
			continue
		}
		for _, a := range m.Arg {
			for _, v := range valuesOf(ci, a) {
				s.flows(f, m, ci.n, v)
			}
		}
	}
}

// valuesOf gives the values of an argument by position, name, "recv", or "n+" for all
// from n on.
func valuesOf(ci *callInfo, arg string) []value {
	if from, ok := strings.CutSuffix(arg, "+"); ok {
		n, _ := strconv.Atoi(from)
		return ci.args[min(n, len(ci.args)):]
	}
	if _, v, ok := argValue(ci, arg); ok {
		return []value{v}
	}
	return nil
}

func argValue(ci *callInfo, arg string) (*lang.Node, value, bool) {
	n, i := argument(ci.n, arg)
	switch {
	case n == nil:
		return nil, value{}, false
	case i < 0:
		return n, ci.recv, true
	}
	return n, ci.args[i], true
}

func (s *shard) tests(f *frame, ts []rules.Test, ci *callInfo) bool {
	for _, t := range ts {
		a, v, ok := argValue(ci, t.Arg)
		if !ok { // a key of an options object
			a, ok = optionOf(ci.n, t.Arg)
		}
		if !s.test(f, t, a, v, ok) {
			return false
		}
	}
	return true
}

// optionOf looks into the literal objects among the arguments.
func optionOf(n *lang.Node, name string) (*lang.Node, bool) {
	for _, a := range n.List {
		if a.Kind != lang.Dict && !(a.Kind == lang.Call && a.Op == "new") {
			continue
		}
		for _, k := range a.List {
			if k.Kind == lang.Pair && k.Name == name {
				return k.Y, true
			}
		}
	}
	return nil, false
}

func (s *shard) test(f *frame, t rules.Test, a *lang.Node, v value, ok bool) bool {
	switch t.Kind {
	case "absent":
		return !ok
	case "present":
		return ok
	case "tainted":
		return ok && v.tainted()
	case "const":
		return ok && (v.isConst() || literal(a))
	case "dynamic":
		return ok && !v.isConst() && !literal(a)
	case "match":
		return ok && t.RE.MatchString(textOf(f, a, v))
	case "differ":
		return ok && !t.RE.MatchString(textOf(f, a, v))
	}
	return false
}

func textOf(f *frame, a *lang.Node, v value) string {
	if v.isConst() {
		return v.text
	}
	if literal(a) {
		return a.Name
	}
	return f.u.File.Text(a)
}

// literal tells strings, numbers and other values that are written out. What could not
// be parsed is none.
func literal(n *lang.Node) bool {
	return n != nil && (n.Kind == lang.String || n.Kind == lang.Lit)
}

func (s *shard) scoped(f *frame, m *rules.Match, n *lang.Node) bool {
	has := func(t rules.ScopeTest) bool { return s.scopeHas(f, t, n) }
	return !slices.ContainsFunc(m.Absent, has) && !slices.ContainsFunc(m.Present, func(t rules.ScopeTest) bool { return !has(t) })
}

func (s *shard) scopeHas(f *frame, t rules.ScopeTest, n *lang.Node) bool {
	file := f.u.File
	scope := (*lang.Node)(nil)
	switch t.Scope {
	case "call":
		return t.RE.MatchString(file.Text(n))
	case "function":
		if scope = f.node; scope == nil {
			scope = f.scope
		}
	case "class":
		if f.fn != nil && f.fn.Class != nil { // no function at a class's annotations
			scope = f.fn.Class.Node
		}
	case "project":
		return s.p.has(t)
	}
	if scope == nil {
		scope = file.Root
	}
	k := scopeKey{t.RE, scope}
	has, ok := s.scopes[k]
	if !ok {
		if scope == file.Root {
			has = t.RE.Match(file.Src)
		} else {
			has = t.RE.MatchString(file.Text(scope))
		}
		s.scopes[k] = has
	}
	return has
}

type scopeKey struct {
	re    *regexp.Regexp
	scope *lang.Node
}

func (p *Project) has(t rules.ScopeTest) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := t.RE.String()
	if v, ok := p.texts[k]; ok {
		return v
	}
	p.texts[k] = slices.ContainsFunc(p.Units, func(u *Unit) bool { return t.RE.Match(u.File.Src) })
	return p.texts[k]
}

func (s *shard) matchAssign(f *frame, n *lang.Node, v value) {
	name := ""
	var x *lang.Node
	switch n.X.Kind {
	case lang.Ident:
		name = n.X.Name
	case lang.Member:
		name, x = n.X.Name, n.X.X
	case lang.Index:
		x = n.X.X
		if n.X.Y != nil && n.X.Y.Kind == lang.String {
			name = n.X.Y.Name
		}
	}
	for _, p := range f.u.Table.Assigns[name] {
		if p.Recv == "" && x != nil && n.X.Kind != lang.Index || p.Recv != "" && !receives(p, x, f.candidates(x, "")) {
			continue
		}
		s.valued(f, p.Match, n, n.Y, v)
	}
}

// valued fires a match on something that is given x, whose value is v.
func (s *shard) valued(f *frame, m *rules.Match, n, x *lang.Node, v value) {
	if slices.ContainsFunc(m.Where, func(t rules.Test) bool { return !s.test(f, t, x, v, x != nil) }) || !s.scoped(f, m, n) {
		return
	}
	if len(m.Arg) > 0 {
		s.flows(f, m, n, v)
		return
	}
	s.plain(f, m, n)
}

func (s *shard) matchPair(f *frame, n *lang.Node) {
	pats := f.u.Table.Pairs[n.Name]
	v := value{}
	if len(pats) > 0 && n.Y != nil && n.Y.Kind != lang.Func {
		v = f.quiet(n.Y)
	}
	s.matchNamed(f, pats, n, n.Y, v)
}

func (s *shard) matchNamed(f *frame, pats []rules.Pattern, n, x *lang.Node, v value) {
	for _, p := range pats {
		s.valued(f, p.Match, n, x, v)
	}
}

func (s *shard) returned(f *frame, n *lang.Node, v value) {
	if !v.tainted() {
		return
	}
	for _, m := range f.u.Table.Returns {
		if f.node != f.fn.Node || !m.Return.MatchString(notesText(f)) {
			continue
		}
		if m.Shape == "view-redirect" && n.X != nil && n.X.Kind == lang.Call && len(s.p.resolve(f.fn, n.X, "")) > 0 {
			continue // reported where the helper makes it
		}
		if s.scoped(f, m, n) {
			s.flows(f, m, n, v)
		}
	}
}

// notesText is what a rule's expression on returns is matched against.
func notesText(f *frame) string {
	var b strings.Builder
	notes := func(before string, n *lang.Node) {
		for _, a := range n.Notes {
			b.WriteString(before + strings.TrimPrefix(f.u.File.Text(a), "@") + "\n")
		}
	}
	if c := f.fn.Class; c != nil && c.Node != nil {
		notes("class @", c.Node)
	}
	notes("@", f.fn.Node)
	b.WriteString("returns " + f.fn.Node.Type + "\n")
	return b.String()
}

func (s *shard) notes(u *Unit) {
	if len(u.Table.Notes) == 0 {
		return
	}
	visit := func(fn *Func, n *lang.Node) { // fn is nil at a class and its fields
		f := &frame{s: s, u: u, fn: fn}
		if fn != nil {
			f.node = fn.Node
		}
		for _, a := range n.Notes {
			for _, p := range u.Table.Notes[a.Name] {
				if s.tests(f, p.Match.Where, &callInfo{n: a, args: make([]value, len(a.List))}) && s.scoped(f, p.Match, a) {
					s.plain(f, p.Match, a)
				}
			}
		}
	}
	for _, fn := range u.Funcs {
		visit(fn, fn.Node)
		for _, p := range fn.Node.List {
			visit(fn, p)
		}
	}
	for _, c := range u.Classes {
		visit(nil, c.Node)
		for _, d := range c.Fields {
			visit(nil, d)
		}
	}
}

var streamType = regexp.MustCompile(`(Stream|Reader|Channel)$`)

func (s *shard) flows(f *frame, m *rules.Match, n *lang.Node, v value) {
	if s.mute > 0 {
		return
	}
	r := m.Rule
	if r.Clean == rules.Path && streamType.MatchString(v.typ) {
		return // what is read, not where
	}
	for _, o := range v.from {
		if o.clean&r.Clean != 0 || !fits(m.Shape, v.text, o.kind == fromParam) {
			continue
		}
		h := &Hit{Rule: r, Unit: f.u, Func: f.node, Node: n, Confidence: r.Confidence}
		h.Trace = append(steps(o.trace), place(f.file(), n.Start, r.Title))
		s.arrived(f, o, h, r.Weak != "" && fits(r.Weak, v.text, true))
	}
}
