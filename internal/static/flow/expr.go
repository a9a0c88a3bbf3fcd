package flow

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"assay/internal/static/lang"
	"assay/internal/static/rules"
)

// eval gives what is known of an expression, and reports what rules say of it.
func (f *frame) eval(n *lang.Node) value {
	if n == nil {
		return value{}
	}
	if f.step++; f.step > maxSteps {
		return value{}
	}
	switch n.Kind {
	case lang.Ident:
		return f.whole(n.Name, f.ident(n))
	case lang.String:
		return value{text: cut(n.Name), typ: "String"}
	case lang.Lit:
		return value{text: cut(n.Name), typ: n.Op}
	case lang.Template:
		return f.template(n)
	case lang.Member:
		return f.member(n)
	case lang.Index:
		return f.index(n)
	case lang.Call:
		return f.call(n)
	case lang.Assign:
		return f.assignment(n)
	case lang.Binary:
		return f.binary(n)
	case lang.Unary:
		return f.unary(n)
	case lang.Cond:
		return f.cond(n)
	case lang.Func:
		if n.Name != "" && n.Op != "lambda" {
			return value{fn: n}
		}
		f.closure(n)
		return value{fn: n, typ: "function"}
	case lang.Array, lang.Dict:
		return f.collection(n)
	case lang.Pair:
		f.s.matchPair(f, n)
		f.eval(n.X)
		return f.eval(n.Y)
	case lang.Spread, lang.Throw:
		return f.eval(n.X)
	case lang.Markup:
		return f.markup(n)
	case lang.Loop:
		return f.comprehension(n)
	case lang.Switch:
		ret := f.ret
		f.ret = value{}
		v := join(f.switched(n), f.ret) // what its blocks yield
		f.ret = join(ret, f.ret)
		return v
	case lang.Class, lang.Import, lang.Jump:
		return value{}
	case lang.Param, lang.Case, lang.Catch: // of broken code, outside of what they belong to
		f.stmt(n.Body)
		return value{}
	case lang.Other:
		var v value
		for _, k := range n.List {
			v.from = union(v.from, f.eval(k).from)
		}
		return v
	}
	f.stmt(n)
	return value{}
}

func (f *frame) comprehension(n *lang.Node) value {
	if n.Op != "comprehension" {
		f.loop(n)
		return value{}
	}
	outer := f.env
	f.env = f.copyOf(outer)
	x := f.eval(n.X)
	if x.tainted() {
		x.text = bad
	}
	f.assign(n.Y, value{from: pick(x.from, elementOf(n)), text: x.text}, nil)
	f.eval(n.Z)
	f.guard(n.Z, true)
	v := f.eval(n.Body)
	f.env = outer
	return value{from: v.from}
}

// elementOf names what a loop takes from a collection, apart from other loops.
func elementOf(n *lang.Node) string { return fmt.Sprintf("[@%d]", n.Off) }

func (f *frame) ident(n *lang.Node) value {
	f.s.matchNamed(f, f.u.Table.Idents[n.Name], n, nil, value{})
	if v, ok := f.env[n.Name]; ok {
		return v
	}
	if v, ok := f.s.identSource(f, n); ok {
		return v
	}
	if f.fn.Class != nil && (f.u.File.Lang == lang.Java || f.u.File.Lang == lang.Python) {
		if v, ok := f.fieldValue(n.Name); ok {
			return v
		}
	}
	if f.fn == f.u.top {
		return value{}
	}
	return f.s.globalEnv(f.u)[n.Name]
}

// fieldValue is what a field of the class at hand holds; false for what is no field.
func (f *frame) fieldValue(name string) (value, bool) {
	d := f.fn.Class.field(name)
	if d == nil {
		return value{}, false
	}
	v := value{typ: simple(lang.TypeName(d.Type))}
	if d.Y != nil && (d.Y.Kind == lang.String || d.Y.Kind == lang.Binary) {
		v.text = constText(d.Y, 0)
	}
	if v.typ == "" && d.Y != nil && d.Y.Kind == lang.Call && d.Y.Op == "new" {
		v.typ = d.Y.Name
	}
	if src, ok := f.s.fieldSource(f, f.fn.Class, d); ok {
		return src, true
	}
	perObject := !strings.Contains(d.Name, "static") || f.u.File.Lang == lang.Python && d.Y == nil
	if perObject && !strings.Contains(d.Name, "const") && (v.text == "" || !strings.Contains(d.Name, "final")) && !upper(name) {
		v.from = union(v.from, f.ownField(name, v.typ))
		if v.tainted() && (v.typ == "" || strings.EqualFold(v.typ, "string")) {
			v.text = bad
		}
	}
	return v, true
}

// constText reads a constant's text without evaluating anything.
func constText(n *lang.Node, depth int) string {
	if n == nil || depth > 20 {
		return hole
	}
	switch n.Kind {
	case lang.String:
		return n.Name
	case lang.Binary:
		if n.Op == "+" || n.Op == "." {
			return cut(constText(n.X, depth+1) + constText(n.Y, depth+1))
		}
	}
	return hole
}

func (f *frame) template(n *lang.Node) value {
	var v value
	var b strings.Builder
	for _, k := range n.List {
		kv := f.eval(k)
		v.from = union(v.from, flat(kv.from))
		if b.Len() < maxSkeleton {
			b.WriteString(kv.piece())
		}
	}
	v.text, v.typ = cut(b.String()), "String"
	return v
}

func (f *frame) member(n *lang.Node) value {
	if k := key(n); k != "" {
		if v, ok := f.env[k]; ok {
			return f.whole(k, v)
		}
	}
	if v, ok := f.s.memberSource(f, n); ok {
		return v
	}
	if isSelf(n.X) && f.fn.Class != nil {
		if v, ok := f.fieldValue(n.Name); ok {
			return v
		}
	}
	var x value
	if n.X != nil && n.X.Kind == lang.Ident { // of its fields, this one alone
		x = f.ident(n.X)
	} else {
		x = f.eval(n.X)
	}
	if harmlessMember[n.Name] && !f.sent(n) || storedNumber(x, n.Name) {
		return value{}
	}
	typ := f.s.fieldType(f, x.typ, n.Name)
	if typ != "" && f.s.p.harmless(f.u, typ) {
		return value{typ: typ}
	}
	return f.whole(key(n), value{from: pick(x.from, n.Name), typ: typ})
}

var harmlessMember = lang.Words("length size class Length pk")

var numberName = regexp.MustCompile(`(?i)(^|_)(id|ids|count|total|num|number|price|cost|amount|qty|quantity|date|time|datetime|at|year|month|day|age|score|rating|rank|position|size|width|height|status|level|hits|views|votes|likes|version|enabled|active)$|[a-z]I[dD]$`)

// storedNumber tells columns of stored rows that hold a number, a time or a word of
// the program.
func storedNumber(x value, name string) bool {
	return x.tainted() && numberName.MatchString(name) && !slices.ContainsFunc(x.from, func(o origin) bool {
		return o.kind != fromOutside || o.clean&rules.Stored != rules.Stored
	})
}

func (f *frame) index(n *lang.Node) value {
	if v, ok := f.s.indexSource(f, n); ok {
		return v
	}
	x := f.eval(n.X)
	f.eval(n.Y)
	if n.Y != nil && n.Y.Kind == lang.String && (ofUpload[n.Y.Name] || storedNumber(x, n.Y.Name)) {
		return value{}
	}
	if n.Op == "slice" {
		part := ":"
		if n.X != nil && n.X.To < n.To {
			part += string(f.u.File.Src[n.X.To:min(n.To, n.X.To+60)])
		}
		return value{from: taken(x.from, part), typ: x.typ}
	}
	v := value{from: pick(x.from, f.partOf(n.Y))}
	k := key(n)
	if w, ok := f.env[k]; ok && k != "" {
		v = w
	}
	return f.whole(k, v)
}

// ofUpload are parts of an uploaded file that the server chooses.
var ofUpload = lang.Words("tmp_name size error")

func (f *frame) binary(n *lang.Node) value {
	x := f.eval(n.X)
	outer := f.env
	if n.Op == "&&" || n.Op == "and" || n.Op == "||" || n.Op == "or" {
		f.env = f.copyOf(outer)
		f.guard(n.X, n.Op == "&&" || n.Op == "and")
	}
	y := f.eval(n.Y)
	f.env = outer
	switch n.Op {
	case "+", ".", "..":
		v := value{from: union(flat(x.from), flat(y.from))}
		if x.text != "" || y.text != "" || v.tainted() {
			v.text = cut(x.piece() + y.piece())
		}
		if x.typ == "String" || y.typ == "String" {
			v.typ = "String"
		}
		return v
	case "%":
		if x.text != "" && f.u.File.Lang == lang.Python {
			return f.format(x, n.Y, y)
		}
		return value{}
	case "||", "??", "or", "?:", "&&", "and":
		return join(x, y)
	case "/":
		if f.u.File.Lang == lang.Python { // pathlib
			return value{from: union(x.from, y.from), typ: x.typ, text: cut(x.piece() + "/" + y.piece())}
		}
	case "|":
		return value{from: union(x.from, y.from)}
	}
	return value{}
}

func (f *frame) unary(n *lang.Node) value {
	v := f.eval(n.X)
	switch n.Op {
	case "cast":
		if plainType(n.Type) {
			return value{typ: n.Type}
		}
		if n.Type != "" && n.Type != "String" && n.Type != "string" {
			v.typ = simple(n.Type)
		}
		return v
	case "await", "*", "&", "<-", "":
		return v
	}
	return value{}
}

func (f *frame) cond(n *lang.Node) value {
	if n.Op != "default" {
		f.eval(n.X)
	}
	outer := f.env
	f.env = f.copyOf(outer)
	f.guard(n.X, true)
	y := f.eval(n.Y)
	f.env = f.copyOf(outer)
	f.guard(n.X, false)
	z := f.eval(n.Z)
	f.env = outer
	return join(y, z)
}

func (f *frame) markup(n *lang.Node) value {
	for _, a := range n.List {
		v := f.eval(a.Y)
		f.s.matchNamed(f, f.u.Table.Attrs[a.Name], a, a.Y, v)
	}
	if n.Body != nil {
		for _, k := range n.Body.List {
			f.eval(k)
		}
	}
	return value{}
}
