package flow

import (
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
	loops int        // nesting of the loop at hand
	node  *lang.Node // the innermost function with a name, for findings
	scope *lang.Node // outside of functions with a name: the outermost one without
}

// clone copies the environment; the cost counts as steps, so that a function of
// ten thousand variables and branches ends in bounded time.
func (f *frame) clone() env { return f.copyOf(f.env) }

func (f *frame) copyOf(e env) env {
	f.step += len(e) / 4
	if f.step > maxSteps {
		return e
	}
	return e.clone()
}

func (f *frame) file() string { return f.u.File.Path }

// block evaluates statements in order and tells whether it always leaves.
func (f *frame) stmts(list []*lang.Node) (leaves bool) {
	for _, n := range list {
		if f.stmt(n) {
			leaves = true
		}
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
		f.switchStmt(n)
	case lang.Try:
		return f.tryStmt(n)
	case lang.Return:
		f.returned(n)
		return n.Op != "yield"
	case lang.Throw:
		if n.X != nil {
			f.eval(n.X)
		}
		return true
	case lang.Jump:
		return true
	case lang.Func:
		if n.Name == "" {
			f.closure(n, value{})
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
	before := f.clone()
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
			item.text = ""
			if item.tainted() {
				item.text = bad
			}
			f.assign(n.Y, item, nil)
		} else if n.X != nil {
			f.guard(n.X, true)
		}
		if n.Z != nil {
			f.eval(n.Z)
			f.guard(n.Z, true)
		}
		f.stmt(n.Body)
	}
	f.env.merge(before)
}

func (f *frame) switchStmt(n *lang.Node) {
	subject := f.eval(n.X)
	before := f.env
	out := f.copyOf(before)
	for _, c := range n.List {
		if c.Kind != lang.Case {
			f.stmt(c)
			continue
		}
		f.env = f.copyOf(before)
		literal := len(c.List) > 0
		for _, l := range c.List {
			f.eval(l)
			if n.X == nil {
				f.guard(l, true)
			}
			literal = literal && (l.Kind == lang.String || l.Kind == lang.Lit)
		}
		if literal && n.X != nil {
			f.env.trust(subject, rules.All, 0, rules.All)
		}
		if !f.stmt(c.Body) || endsInBreak(c.Body) {
			out.merge(f.env)
		}
	}
	f.env = out
}

func endsInBreak(n *lang.Node) bool {
	return n != nil && n.Kind == lang.Block && len(n.List) > 0 && n.List[len(n.List)-1].Kind == lang.Jump
}

func (f *frame) tryStmt(n *lang.Node) bool {
	before := f.clone()
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
	if f.stmt(n.Z) {
		return true
	}
	return all && left
}

// closure evaluates a function without a name where it stands; its first
// parameter is what the call around it hands over.
func (f *frame) closure(n *lang.Node, item value) value {
	outer, ret, node, scope := f.env, f.ret, f.node, f.scope
	f.env, f.ret = f.copyOf(outer), value{}
	if n.Name != "" {
		f.node = n
	} else if f.node == nil && f.scope == nil {
		f.scope = n // a handler written in place is a function of its own
	}
	for i, p := range n.List {
		v := value{typ: p.Type}
		if i == 0 && item.tainted() {
			v = value{from: item.from, text: bad, typ: p.Type}
		}
		if src, ok := f.s.paramSource(f.u, n, p); ok {
			v = src
		}
		f.bindParam(p, v, i)
	}
	f.stmt(n.Body)
	out := f.ret
	inner := f.env
	f.env, f.ret, f.node, f.scope = outer, ret, node, scope
	for k, v := range inner { // writes to captured variables are seen outside
		if old, ok := outer[k]; ok && v.tainted() && !shadowed(n, k) {
			outer[k] = join(old, v)
		}
	}
	return out
}

func shadowed(n *lang.Node, k string) bool {
	k, _, _ = strings.Cut(k, ".")
	for _, p := range n.List {
		if p.Name == k {
			return true
		}
	}
	return false
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
		from := &lang.Node{Kind: lang.Ident, Name: "param", Start: p.Start, End: p.End, Off: p.Off, To: p.To}
		if i == 0 && looksLikeRequest(p.X) {
			from.Name = "req"
		}
		f.assign(p.X, v, from)
	}
}

func looksLikeRequest(pat *lang.Node) bool {
	for _, k := range pat.List {
		switch k.Name {
		case "body", "query", "params", "headers", "cookies":
			return true
		}
	}
	return false
}

// eval gives what is known of an expression, and reports what it does wrong.
func (f *frame) eval(n *lang.Node) value {
	if n == nil {
		return value{}
	}
	if f.step++; f.step > maxSteps {
		return value{}
	}
	switch n.Kind {
	case lang.Ident:
		return f.ident(n)
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
		ret := f.closure(n, value{})
		ret.fn = n
		return value{fn: n, from: nil, text: "", typ: "function"}
	case lang.Array, lang.Dict:
		return f.collection(n)
	case lang.Pair:
		f.s.matchPair(f, n)
		f.eval(n.X)
		return f.eval(n.Y)
	case lang.Spread, lang.Throw:
		return f.eval(n.X)
	case lang.Return:
		f.returned(n)
		return value{}
	case lang.Markup:
		return f.markup(n)
	case lang.Loop:
		return f.comprehension(n)
	case lang.Switch:
		f.switchStmt(n)
		return value{}
	case lang.Class, lang.Import, lang.Jump:
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
	f.assign(n.Y, x, nil)
	if n.Z != nil {
		f.eval(n.Z)
		f.guard(n.Z, true)
	}
	v := f.eval(n.Body)
	f.env = outer
	return value{from: v.from}
}

func (f *frame) ident(n *lang.Node) value {
	f.s.matchIdent(f, n)
	if v, ok := f.env[n.Name]; ok {
		return v
	}
	if v, ok := f.s.identSource(f, n); ok {
		return v
	}
	if f.fn != nil && f.fn.Class != nil && (f.u.File.Lang == lang.Java || f.u.File.Lang == lang.Python) {
		if v, ok := f.fieldValue(n.Name); ok {
			return v
		}
	}
	return f.s.global(f, n.Name)
}

// fieldValue gives what a field's declaration says: a constant, a type.
func (f *frame) fieldValue(name string) (value, bool) {
	d := f.s.p.field(f.fn.Class, name, 0)
	if d == nil {
		return value{}, false
	}
	v := value{typ: simple(lang.TypeName(d.Type))}
	if d.Y != nil && (d.Y.Kind == lang.String || d.Y.Kind == lang.Template || d.Y.Kind == lang.Binary) {
		v.text = constText(d.Y, 0)
	}
	if v.typ == "" && d.Y != nil && d.Y.Kind == lang.Call && d.Y.Op == "new" {
		v.typ = d.Y.Name
	}
	if src, ok := f.s.fieldSource(f, f.fn.Class, d); ok {
		return src, true
	}
	if w, ok := f.s.classField(f.fn.Class, name); ok {
		v.from = w.from
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
	case lang.Template:
		s := ""
		for _, k := range n.List {
			s += constText(k, depth+1)
		}
		return cut(s)
	case lang.Lit:
		return n.Name
	}
	return hole
}

func (f *frame) template(n *lang.Node) value {
	var v value
	var b strings.Builder
	for _, k := range n.List {
		kv := f.eval(k)
		v.from = union(v.from, kv.from)
		if b.Len() < maxSkeleton {
			b.WriteString(kv.piece())
		}
	}
	v.text, v.typ = cut(b.String()), "String"
	return v
}

// key gives the path under which a variable or member is held, "" for none.
func key(n *lang.Node) string {
	for k, d := n, 0; k != nil; d++ {
		if d > 4 {
			return ""
		}
		switch k.Kind {
		case lang.Ident:
			return lang.Dotted(n)
		case lang.Member:
			k = k.X
		default:
			return ""
		}
	}
	return ""
}

func (f *frame) member(n *lang.Node) value {
	if k := key(n); k != "" {
		if v, ok := f.env[k]; ok {
			return v
		}
	}
	if v, ok := f.s.memberSource(f, n); ok {
		return v
	}
	if n.X != nil && n.X.Kind == lang.Ident && (n.X.Name == "this" || n.X.Name == "self") && f.fn != nil && f.fn.Class != nil {
		if v, ok := f.fieldValue(n.Name); ok {
			return v
		}
	}
	x := f.eval(n.X)
	if harmlessMember[n.Name] {
		return value{}
	}
	return value{from: x.from, typ: f.s.fieldType(f, x.typ, n.Name)}
}

var harmlessMember = map[string]bool{"length": true, "size": true, "class": true, "id_": true, "Length": true, "pk": true}

func (f *frame) index(n *lang.Node) value {
	if v, ok := f.s.indexSource(f, n); ok {
		return v
	}
	x := f.eval(n.X)
	f.eval(n.Y)
	if n.Y != nil && n.Y.Kind == lang.String {
		switch n.Y.Name {
		case "tmp_name", "size", "error": // of an upload, chosen by the server
			return value{}
		}
	}
	if n.Op == "slice" {
		return value{from: x.from, typ: x.typ}
	}
	if n.Y != nil && (n.Y.Kind == lang.String || n.Y.Kind == lang.Lit) {
		if k := key(n.X); k != "" {
			if v, ok := f.env[k+"."+n.Y.Name]; ok {
				return v
			}
		}
	}
	return value{from: x.from}
}

func (f *frame) collection(n *lang.Node) value {
	v := value{typ: n.Type}
	for _, k := range n.List {
		if k.Kind == lang.Func || k.Kind == lang.Pair && k.Y != nil && k.Y.Kind == lang.Func {
			f.eval(k)
			continue
		}
		v.from = union(v.from, f.eval(k).from)
	}
	return v
}

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
		v := value{from: union(x.from, y.from)}
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

// format fills Python's "..." % args.
func (f *frame) format(x value, node *lang.Node, y value) value {
	args := []value{y}
	if node != nil && node.Kind == lang.Array {
		args = args[:0]
		for _, k := range node.List {
			args = append(args, f.eval(k))
		}
	}
	return fill(x, args, y.from)
}

// fill puts arguments into a printf-like text, in order.
func fill(x value, args []value, from []origin) value {
	v := value{from: union(x.from, from), typ: "String"}
	var b strings.Builder
	t, i := x.text, 0
	for len(t) > 0 {
		p := strings.IndexByte(t, '%')
		if p < 0 || p+1 >= len(t) {
			break
		}
		b.WriteString(t[:p])
		t = t[p+1:]
		if t[0] == '%' {
			b.WriteByte('%')
			t = t[1:]
			continue
		}
		named := t[0] == '('
		if named {
			if e := strings.IndexByte(t, ')'); e > 0 {
				t = t[e+1:]
			}
		}
		e := strings.IndexFunc(t, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
		if e < 0 {
			break
		}
		verb := t[e]
		t = t[e+1:]
		switch {
		case verb == 'd' || verb == 'f' || verb == 'x' && len(args) <= i:
			b.WriteString(hole)
		case named && len(v.from) > 0:
			b.WriteString(bad)
		case i < len(args):
			b.WriteString(args[i].piece())
		default:
			b.WriteString(hole)
		}
		i++
	}
	b.WriteString(t)
	v.text = cut(b.String())
	return v
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
		f.s.matchAttr(f, n, a, v)
	}
	if n.Body != nil {
		for _, k := range n.Body.List {
			f.eval(k)
		}
	}
	return value{}
}

func (f *frame) assignment(n *lang.Node) value {
	var v value
	if n.Y != nil {
		v = f.eval(n.Y)
	}
	if n.Op != "=" && n.Op != "" { // +=, .=
		old := f.eval(n.X)
		v = value{from: union(old.from, v.from), typ: old.typ, text: cut(old.piece() + v.piece())}
		if n.Op != "+=" && n.Op != ".=" && n.Op != "||=" && n.Op != "??=" {
			v.text = ""
		}
	}
	if n.Type != "" && n.Type != "var" && n.Type != "val" {
		v.typ = simple(n.Type)
		if plainType(n.Type) {
			v.from = nil
		}
	}
	if n.X != nil {
		v = v.via(f.file(), n.Start, "held in "+short(lang.Dotted(n.X)))
		f.s.matchAssign(f, n, v)
		f.assign(n.X, v, n.Y)
	}
	return v
}

func short(s string) string {
	if s == "" {
		return "a variable"
	}
	if len(s) > 40 {
		return s[:40]
	}
	return s
}

// assign binds a target: a variable, a member, an element, or a pattern.
func (f *frame) assign(target *lang.Node, v value, from *lang.Node) {
	if target == nil {
		return
	}
	switch target.Kind {
	case lang.Ident:
		f.env.forget(target.Name)
		f.env[target.Name] = v
		if f.fn != nil && f.fn.Class != nil && f.u.File.Lang == lang.Java && f.fn.Class.Fields[target.Name] != nil {
			f.s.setField(f.fn.Class, target.Name, v)
		}
	case lang.Assign: // "for (const x of y)" keeps a declaration here
		f.assign(target.X, v, from)
	case lang.Member:
		k := key(target)
		if k == "" {
			return
		}
		f.env.forget(k)
		f.env[k] = v
		if target.X != nil && target.X.Kind == lang.Ident {
			if x := target.X.Name; (x == "this" || x == "self") && f.fn != nil && f.fn.Class != nil {
				f.s.setField(f.fn.Class, target.Name, v)
			}
		}
	case lang.Index:
		f.eval(target.Y)
		k := key(target.X)
		if k == "" {
			return
		}
		if target.Y != nil && target.Y.Kind == lang.String {
			f.env[k+"."+target.Y.Name] = v
			return
		}
		if v.tainted() {
			old := f.eval(target.X)
			old.from = union(old.from, v.from)
			f.env[k] = old
		}
	case lang.Array:
		f.spread(target, v, from)
	case lang.Dict:
		for _, k := range target.List {
			f.take(k, v, from)
		}
	case lang.Cond: // a default
		f.assign(target.Y, v, from)
	case lang.Spread:
		f.assign(target.X, v, from)
	case lang.Other, lang.Block:
		for _, k := range target.List {
			f.assign(k, v, from)
		}
	}
}

// spread assigns to several targets at once.
func (f *frame) spread(target *lang.Node, v value, from *lang.Node) {
	if from != nil && from.Kind == lang.Array && len(from.List) == len(target.List) {
		vals := make([]value, len(from.List))
		for i, k := range from.List {
			vals[i] = f.eval(k)
		}
		for i, k := range target.List {
			f.assign(k, vals[i], from.List[i])
		}
		return
	}
	for i, k := range target.List {
		item := v
		if i > 0 && f.u.File.Lang == lang.Go && (k.Name == "err" || k.Name == "ok") {
			item = value{}
		}
		f.assign(k, item, nil)
	}
}

// take binds one key of an object pattern.
func (f *frame) take(k *lang.Node, v value, from *lang.Node) {
	if k.Kind != lang.Pair {
		f.assign(k, v, from)
		return
	}
	item := value{from: v.from}
	if item.tainted() {
		item.text = bad
	}
	if from != nil {
		m := &lang.Node{Kind: lang.Member, X: from, Name: k.Name, Start: k.Start, End: k.End, Off: k.Off, To: k.To}
		if w, ok := f.s.memberSource(f, m); ok {
			item = w
		} else if p := key(m); p != "" {
			if w, ok := f.env[p]; ok {
				item = w
			}
		}
	}
	f.assign(k.Y, item, nil)
}

// plainType tells types that carry no text an attacker could shape.
func plainType(t string) bool {
	switch simple(strings.TrimSpace(t)) {
	case "int", "long", "short", "byte", "double", "float", "boolean", "Integer", "Long", "Short", "Double", "Float",
		"Boolean", "BigDecimal", "BigInteger", "UUID", "LocalDate", "LocalDateTime", "Instant", "Date", "Duration",
		"int32", "int64", "uint", "uint32", "uint64", "float32", "float64", "bool", "int8", "int16", "uint8", "uint16",
		"number", "integer", "Decimal", "datetime", "date", "time", "char", "OffsetDateTime", "ZonedDateTime":
		return true
	}
	return false
}
