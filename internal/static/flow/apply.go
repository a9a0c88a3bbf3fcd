package flow

import (
	"fmt"
	"strconv"
	"strings"

	"assay/internal/static/lang"
)

// applyAll joins what each of the functions that a call may mean does; fs is not empty.
func (f *frame) applyAll(ci *callInfo, fs []*Func) value {
	v := f.apply(ci, fs[0])
	for _, fn := range fs[1:] {
		v = join(v, f.apply(ci, fn))
	}
	if v.typ == "" {
		v.typ = f.s.resultType(f, ci)
	}
	return v
}

func (f *frame) apply(ci *callInfo, fn *Func) value {
	sum := f.s.summarize(fn)
	if sum == nil {
		return value{from: f.unknown(ci)}
	}
	f.s.calls[fn.Index] = true
	for _, r := range sum.reaches {
		f.s.reach(f, ci.n, fn, r, f.argOf(ci, fn, r.param))
	}
	f.filledBy(ci, fn, sum)
	out := value{text: sum.ret.text, typ: sum.ret.typ}
	if out.typ == "self" && fn.Class != nil {
		out.typ = fn.Class.Name
	}
	for _, o := range sum.ret.from {
		a := value{from: f.carried(ci, fn, o)}
		if o.kind != fromOutside {
			a = a.via(f.file(), ci.n.Start, "through "+fn.Name)
		}
		out.from = union(out.from, a.from)
	}
	if !out.tainted() {
		out.text = strings.ReplaceAll(out.text, bad, hole)
	}
	return out
}

func (f *frame) argOf(ci *callInfo, fn *Func, param int16) value {
	if param == recvParam {
		return f.receiver(ci, fn)
	}
	shift := 0
	ps := fn.Node.List
	if fn.Unit.File.Lang == lang.Python && fn.Class != nil && len(ps) > 0 && (ps[0].Name == "self" || ps[0].Name == "cls") {
		shift = 1
	}
	i := int(param) - shift
	if int(param) < len(ps) {
		for j, a := range ci.n.List {
			if a.Kind == lang.Pair && a.Name == ps[param].Name && a.Name != "" {
				return ci.args[j]
			}
		}
		if ps[param].Op == "..." {
			var v value
			for j := i; j >= 0 && j < len(ci.args); j++ {
				v.from = union(v.from, in(ci.args[j].from, fmt.Sprintf("[%d]", j-i)))
			}
			return v
		}
	}
	if i < 0 || i >= len(ci.args) || ci.n.List[i].Kind == lang.Pair && fn.Unit.File.Lang == lang.Python {
		return value{}
	}
	return ci.args[i]
}

// receiver is the object that a call is made on: a call without one within a
// class means the class's own.
func (f *frame) receiver(ci *callInfo, fn *Func) value {
	if ci.n.X == nil && fn.Class != nil && f.fn.Class != nil {
		return f.whole("this", f.env["this"])
	}
	return ci.recv
}

func (f *frame) filledBy(ci *callInfo, fn *Func, sum *summary) {
	if len(sum.fields) == 0 || ci.n.Op == "new" {
		return
	}
	k := key(ci.n.X)
	if ci.n.X == nil && f.fn.Class != nil || k == "super" || k == "parent" {
		k = "this"
		if f.u.File.Lang == lang.Python {
			k = "self"
		}
	}
	if k == "" {
		return
	}
	for name, from := range sum.fields {
		var v value
		for _, o := range from {
			v.from = union(v.from, f.carried(ci, fn, o))
		}
		if !v.tainted() {
			continue
		}
		old := f.env[k+"."+name]
		v.from, v.typ, v.text = union(old.from, v.from), old.typ, bad
		f.give(k+"."+name, v)
	}
}

// argument finds an argument by position among those without a name, by name, or as
// "recv"; i is its place in the list, -1 for the receiver.
func argument(n *lang.Node, arg string) (x *lang.Node, i int) {
	if arg == "recv" {
		return n.X, -1
	}
	position, err := strconv.Atoi(arg)
	for i, a := range n.List {
		switch named := a.Kind == lang.Pair; {
		case err != nil && named && a.Name == arg:
			return a.Y, i
		case err != nil || named && a.Name != "" && n.Op != "note":
		case position == 0:
			return a, i
		default:
			position--
		}
	}
	return nil, -1
}
