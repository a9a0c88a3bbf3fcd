package flow

import (
	"maps"
	"slices"
	"strings"

	"assay/internal/static/lang"
	"assay/internal/static/rules"
)

// A frame is one run over one function.
type frame struct {
	s     *shard
	u     *Unit
	fn    *Func
	env   env
	ret   value
	sum   *summary
	step  int
	loops int             // nesting of the loop at hand
	parts map[string]bool // variables whose fields were set one by one
	node  *lang.Node      // the innermost function with a name, for findings
	scope *lang.Node      // outside of functions with a name: the outermost one without
}

// copyOf copies an environment; the cost counts as steps, so that a function of ten
// thousand variables and branches ends in bounded time.
func (f *frame) copyOf(e env) env {
	f.step += len(e) / 4
	if f.step > maxSteps {
		return e
	}
	out := make(env, len(e)+4)
	maps.Copy(out, e)
	return out
}

func (f *frame) file() string { return f.u.File.Path }

// stmts tells whether one of the statements always leaves.
func (f *frame) stmts(list []*lang.Node) (leaves bool) {
	for _, n := range list {
		leaves = f.stmt(n) || leaves
	}
	return leaves
}

// stmt evaluates a statement and tells whether control never goes past it.
func (f *frame) stmt(n *lang.Node) (leaves bool) {
	if n == nil || f.step > maxSteps {
		return false
	}
	switch n.Kind {
	case lang.Block:
		return f.stmts(n.List)
	case lang.If:
		return f.ifStmt(n)
	case lang.Loop:
		f.loop(n)
	case lang.Switch:
		f.switched(n)
	case lang.Try:
		return f.tryStmt(n)
	case lang.Return:
		f.returned(n)
		return n.Op != "yield"
	case lang.Throw:
		f.eval(n.X)
		return true
	case lang.Jump:
		return true
	case lang.Func:
		if n.Name == "" || f.captured(n) {
			f.closure(n)
		}
	case lang.Class, lang.Import:
	case lang.Call:
		f.eval(n)
		return exits(n)
	default:
		f.eval(n)
	}
	return false
}

func exits(n *lang.Node) bool {
	switch n.Name {
	case "exit", "die", "abort", "Fatal", "Fatalf", "panic", "Exit", "wp_die", "fail":
		return n.X == nil || n.Name == "exit" || strings.HasPrefix(n.Name, "Fatal") || n.Name == "Exit"
	}
	return false
}

func (f *frame) returned(n *lang.Node) {
	if n.X == nil {
		return
	}
	v := f.eval(n.X)
	f.s.returned(f, n, v)
	f.ret = join(f.ret, v)
}

func (f *frame) ifStmt(n *lang.Node) bool {
	f.eval(n.X)
	before := f.env
	yes := f.copyOf(before)
	f.env = yes
	f.guard(n.X, true)
	leftYes := f.stmt(n.Y)
	yes = f.env
	f.env = before
	f.guard(n.X, false)
	leftNo := f.stmt(n.Z)
	switch {
	case leftYes && leftNo:
		return true
	case leftYes:
	case leftNo:
		f.env = yes
	default:
		f.env.merge(yes)
	}
	return false
}

func (f *frame) loop(n *lang.Node) {
	f.stmts(n.List)
	before := f.copyOf(f.env)
	// The second pass carries what the first one left in variables; deeper
	// loops get one, since passes multiply.
	passes := 2
	if f.loops++; f.loops > 2 {
		passes = 1
	}
	defer func() { f.loops-- }()
	for range passes {
		x := f.eval(n.X)
		if n.Y != nil {
			item := x
			item.from, item.text = pick(x.from, elementOf(n)), ""
			if item.tainted() {
				item.text = bad
			}
			f.assign(n.Y, item, nil)
		} else if n.X != nil {
			f.guard(n.X, true)
		}
		f.stmt(n.Body)
	}
	f.env.merge(before)
}

// switched gives what the branch that is taken results in, where it is an expression.
func (f *frame) switched(n *lang.Node) (v value) {
	subject := f.eval(n.X)
	before := f.env
	out := f.copyOf(before)
	for _, c := range n.List {
		if c.Kind != lang.Case {
			f.stmt(c)
			continue
		}
		f.env = f.copyOf(before)
		fixed := len(c.List) > 0
		for _, l := range c.List {
			f.eval(l)
			f.capture(l, subject)
			f.guard(l, true)
			fixed = fixed && written(l)
		}
		if fixed && n.X != nil {
			f.env.trust(subject, rules.All, 0)
		}
		result, leaves := f.branch(c.Body)
		if v = join(v, result); !leaves || endsInBreak(c.Body) {
			out.merge(f.env)
		}
	}
	f.env = out
	return v
}

// branch runs the body of a case; one expression alone is what the switch results in.
func (f *frame) branch(body *lang.Node) (v value, leaves bool) {
	if body != nil && body.Kind == lang.Block && len(body.List) == 1 {
		body = body.List[0]
	}
	if body == nil || !results[body.Kind] {
		return value{}, f.stmt(body)
	}
	return f.eval(body), body.Kind == lang.Call && exits(body)
}

// results are the kinds of expressions that a switch may result in.
var results = map[lang.Kind]bool{lang.Call: true, lang.Member: true, lang.Index: true, lang.Ident: true, lang.String: true, lang.Template: true,
	lang.Binary: true, lang.Unary: true, lang.Cond: true, lang.Switch: true, lang.Array: true, lang.Dict: true}

// capture binds the names within a pattern to what it is held against, or to parts of it.
func (f *frame) capture(pattern *lang.Node, subject value) {
	lang.Walk(pattern, func(n *lang.Node) bool {
		if n.Kind == lang.Assign {
			v := subject
			if n != pattern {
				v = value{from: pick(subject.from, elementOf(n))}
			}
			if v.typ = simple(n.Type); plainType(n.Type) {
				v.from = nil
			}
			if v.text = ""; v.tainted() {
				v.text = bad
			}
			f.assign(n.X, v, nil)
		}
		return true
	})
}

// written tells labels that are written out, and alternatives of such.
func written(n *lang.Node) bool {
	if n.Kind == lang.Other && len(n.List) > 0 {
		return !slices.ContainsFunc(n.List, func(k *lang.Node) bool { return !literal(k) })
	}
	return literal(n)
}

func endsInBreak(n *lang.Node) bool {
	return n != nil && n.Kind == lang.Block && len(n.List) > 0 && n.List[len(n.List)-1].Kind == lang.Jump
}

func (f *frame) tryStmt(n *lang.Node) bool {
	before := f.copyOf(f.env)
	left := f.stmt(n.Body)
	after := f.env
	caught := before
	caught.merge(after)
	out := after
	all := left
	for _, c := range n.List {
		f.env = f.copyOf(caught)
		if c.Y != nil && c.Y.Kind == lang.Ident {
			f.env[c.Y.Name] = value{typ: "exception"}
		}
		if f.stmt(c.Body) {
			continue
		}
		if all {
			out = f.env
			all = false
		} else {
			out.merge(f.env)
		}
	}
	f.env = out
	return f.stmt(n.Z) || all && left
}

// closure evaluates a function where it stands, with what it is handed.
func (f *frame) closure(n *lang.Node, args ...value) value {
	outer, ret, node, scope := f.env, f.ret, f.node, f.scope
	f.env, f.ret = f.copyOf(outer), value{}
	if n.Name != "" {
		f.node = n
	} else if f.node == nil && f.scope == nil {
		f.scope = n // a handler written in place is a function of its own
	}
	for i, p := range n.List {
		v := value{typ: p.Type}
		if i < len(args) && args[i].tainted() {
			v = value{from: args[i].from, text: bad, typ: p.Type}
		}
		f.bindParam(p, v, i)
	}
	f.stmt(n.Body)
	out := f.ret
	inner := f.env
	f.env, f.ret, f.node, f.scope = outer, ret, node, scope
	for k, v := range inner { // writes to captured variables are seen outside
		name, _, _ := strings.Cut(k, ".")
		if old, ok := outer[k]; ok && v.tainted() && !hasParam(n, name) {
			outer[k] = join(old, v)
		}
	}
	return out
}

// captured: a function within another uses what the outer one holds.
func (f *frame) captured(fn *lang.Node) bool {
	found := false
	lang.Walk(fn.Body, func(n *lang.Node) bool {
		found = found || n.Kind == lang.Ident && f.env[n.Name].tainted() && !hasParam(fn, n.Name)
		return !found
	})
	return found
}

// bindParam gives a parameter its value; a pattern takes members of a value
// named after the position, so that ({query}, res) reads a request's query.
func (f *frame) bindParam(p *lang.Node, v value, i int) {
	if p.Name != "" {
		f.env.forget(p.Name)
		f.env[p.Name] = v
		return
	}
	if p.X != nil {
		from := p.Here(lang.Node{Kind: lang.Ident, Name: "param"})
		if i == 0 && looksLikeRequest(p.X) {
			from.Name = "req"
		}
		f.assign(p.X, v, from)
	}
}

var requestParts = lang.Words("body query params headers cookies")

func looksLikeRequest(pat *lang.Node) bool {
	return slices.ContainsFunc(pat.List, func(k *lang.Node) bool { return requestParts[k.Name] })
}
