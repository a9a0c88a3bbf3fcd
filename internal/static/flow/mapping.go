package flow

import "assay/internal/static/lang"

// mapping are the calls whose result is what the function given to them returns.
var mapping = lang.Words("map flatMap mapToObj thenApply thenCompose thenApplyAsync then transform mapValues array_map mapNotNull supplyAsync fromCallable")

// numeric are functions that give numbers and other harmless values when each item
// of a collection goes through them.
var numeric = lang.Words(`int float Number parseInt parseFloat BigInt Boolean intval floatval boolval parseLong parseDouble fromString Decimal UUID
	toInt toLong longValue intValue ObjectId abs`)

// items is what a call hands to the functions among its arguments: the receiver's
// elements, or those of the other arguments.
func (f *frame) items(ci *callInfo) value {
	if ci.recv.tainted() {
		return value{from: pick(ci.recv.from, elementOf(ci.n)), typ: ci.recv.typ, text: ci.recv.text}
	}
	var v value
	if ci.n.X == nil || f.isModule(ci.n.X) {
		for i, a := range ci.n.List {
			if a.Kind != lang.Func {
				v.from = union(v.from, ci.args[i].from)
			}
		}
	}
	return v
}

// mapped is the result of a call that a named function is given to, known if it
// says more than the call itself.
func (f *frame) mapped(ci *callInfo, item value) (v value, known bool) {
	if !mapping[ci.name] || len(ci.n.List) == 0 {
		return value{}, false
	}
	a := ci.n.List[0]
	name := a.Name
	if a.Kind != lang.Ident && a.Kind != lang.Member && a.Kind != lang.String {
		return value{}, false
	}
	if numeric[name] {
		return value{}, true
	}
	fs := f.named(a, []*lang.Node{a})
	if len(fs) == 0 || !item.tainted() {
		return value{}, false
	}
	return f.applyAll(f.handed(ci, a, []*lang.Node{a}, []value{item}), fs), true
}

// named finds the functions of the project that a name without a call means.
func (f *frame) named(a *lang.Node, args []*lang.Node) []*Func {
	switch a.Kind {
	case lang.Ident:
		if v, ok := f.env[a.Name]; ok && v.fn == nil {
			return nil
		}
		if len(a.Name) < 3 {
			return nil
		}
		return nearest(f.u, withBody(f.s.p.free(f.fn, a.Name, len(args))))
	case lang.Member:
		return f.s.p.resolve(f.fn, a.Here(lang.Node{Kind: lang.Call, X: a.X, Name: a.Name, List: args}), f.quietType(a.X))
	}
	return nil
}

// handed is the call that a dispatcher makes of a function with the arguments that
// stand behind it.
func (f *frame) handed(ci *callInfo, fn *lang.Node, list []*lang.Node, args []value) *callInfo {
	out := &callInfo{n: ci.n.Here(lang.Node{Kind: lang.Call, X: fn.X, Name: fn.Name, List: list}), name: fn.Name, args: args}
	if fn.X != nil {
		out.recv = f.quiet(fn.X)
	}
	return out
}

// dispatched follows functions that are handed on with their arguments, to be
// called later: add_task(run, x), submit(self.run, x), run.delay(x).
func (f *frame) dispatched(ci *callInfo) {
	n := ci.n
	if !anyTainted(ci.args) || mapping[ci.name] {
		return
	}
	switch ci.name {
	case "delay", "apply_async", "defer", "send", "enqueue", "s", "si", "call", "apply", "bind", "kiq":
		if n.X != nil && (n.X.Kind == lang.Ident || n.X.Kind == lang.Member) {
			f.later(ci, n.X, n.List, ci.args)
		}
	}
	for i, a := range n.List {
		if a.Kind == lang.Ident || a.Kind == lang.Member && (a.Op == "ref" || f.u.File.Lang != lang.Go || a.X != nil) {
			f.later(ci, a, n.List[i+1:], ci.args[i+1:])
		}
	}
}

// later applies a function to the arguments that it will be called with.
func (f *frame) later(ci *callInfo, fn *lang.Node, list []*lang.Node, args []value) {
	if !anyTainted(args) {
		return
	}
	if fs := f.named(fn, list); len(fs) > 0 {
		f.applyAll(f.handed(ci, fn, list, args), fs)
	}
}
