package flow

import (
	"strings"

	"assay/internal/static/lang"
	"assay/internal/static/rules"
)

// applyAll joins what the functions that a call may mean do with its arguments.
func (f *frame) applyAll(ci *callInfo, fs []*Func) value {
	var v value
	for i, fn := range fs {
		r := f.apply(ci, fn)
		if i == 0 {
			v = r
		} else {
			v = join(v, r)
		}
	}
	if v.typ == "" {
		v.typ = f.s.resultType(f, ci)
	}
	return v
}

// apply uses a function's summary at a call.
func (f *frame) apply(ci *callInfo, fn *Func) value {
	sum := f.s.summarize(fn)
	if sum == nil {
		return value{from: f.unknown(ci)}
	}
	fn.called(f.s)
	shift := 0
	if ps := fn.Node.List; fn.Unit.File.Lang == lang.Python && fn.Class != nil && len(ps) > 0 && (ps[0].Name == "self" || ps[0].Name == "cls") {
		shift = 1
	}
	arg := func(param int16) value {
		if param == recvParam {
			return ci.recv
		}
		i := int(param) - shift
		ps := fn.Node.List
		if int(param) < len(ps) {
			for j, a := range ci.n.List {
				if a.Kind == lang.Pair && a.Name == ps[param].Name && a.Name != "" {
					return ci.args[j]
				}
			}
			if ps[param].Op == "..." {
				var v value
				for j := i; j >= 0 && j < len(ci.args); j++ {
					v.from = union(v.from, ci.args[j].from)
				}
				return v
			}
		}
		if i < 0 || i >= len(ci.args) || ci.n.List[i].Kind == lang.Pair && fn.Unit.File.Lang == lang.Python {
			return value{}
		}
		return ci.args[i]
	}
	for _, r := range sum.reaches {
		f.s.reach(f, ci.n, fn, r, arg(r.param))
	}
	out := value{text: sum.ret.text, typ: sum.ret.typ}
	for _, o := range sum.ret.from {
		if o.kind == fromOutside {
			out.from = union(out.from, []origin{o})
			continue
		}
		a := arg(o.param).cleaned(o.clean, rules.All)
		out.from = union(out.from, a.via(f.file(), ci.n.Start, "through "+fn.Name).from)
	}
	if !out.tainted() {
		out.text = strings.ReplaceAll(out.text, bad, hole)
	}
	return out
}

// argument finds an argument by position or name.
func argument(n *lang.Node, arg string) *lang.Node {
	if i, ok := rules.Position(arg); ok {
		k := 0
		for _, a := range n.List {
			if a.Kind == lang.Pair && a.Name != "" && n.Op != "note" {
				continue
			}
			if k == i {
				return a
			}
			k++
		}
		return nil
	}
	if arg == "recv" {
		return n.X
	}
	for _, a := range n.List {
		if a.Kind == lang.Pair && a.Name == arg {
			return a.Y
		}
	}
	return nil
}
