package flow

import (
	"regexp"
	"strings"

	"assay/internal/static/lang"
)

type callInfo struct {
	n     *lang.Node
	name  string
	recv  value
	args  []value
	cands []string // what the receiver may be called: its type, text, import
}

// key is the name under which rules know the call.
func (ci *callInfo) key() string {
	if ci.n.Op == "new" {
		return "new " + simple(ci.name)
	}
	return ci.name
}

// info leaves functions among the arguments to its caller.
func (f *frame) info(n *lang.Node) *callInfo {
	ci := &callInfo{n: n, name: n.Name, recv: f.eval(n.X), args: make([]value, len(n.List))}
	for i, a := range n.List {
		if a.Kind == lang.Func {
			ci.args[i] = value{fn: a}
			continue
		}
		ci.args[i] = f.eval(a)
	}
	ci.cands = f.candidates(n.X, ci.recv.typ)
	if n.X == nil {
		if full, ok := f.u.Alias[n.Name]; ok && n.Op != "new" {
			if i := strings.LastIndexByte(full, '.'); i > 0 {
				ci.cands = append(ci.cands, full[:i])
				ci.name = full[i+1:]
			} else {
				ci.cands = append(ci.cands, full)
			}
		}
	}
	return ci
}

func (f *frame) candidates(x *lang.Node, typ string) []string {
	var out []string
	if typ != "" {
		out = append(out, typ)
	}
	if module, member := requireOf(x); module != "" && module[0] != 0 { // require("m").f()
		return append(out, strings.TrimSuffix(strings.TrimPrefix(module, "node:")+"."+member, "."))
	}
	text := lang.Dotted(x)
	if text == "" {
		return out
	}
	out = append(out, text)
	first, rest, _ := strings.Cut(text, ".")
	if full, ok := f.u.Alias[strings.TrimSuffix(first, "()")]; ok {
		if rest != "" {
			full += "." + rest
		}
		out = append(out, full)
	}
	return out
}

func (f *frame) call(n *lang.Node) value {
	if n.X != nil && n.X.Kind == lang.Func && n.Name == "" { // a function that is called where it stands
		var args []value
		for _, a := range n.List {
			args = append(args, f.eval(a))
		}
		return f.closure(n.X, args...)
	}
	ci := f.info(n)
	f.s.matchCall(f, ci)
	f.filled(ci)
	v, known := f.result(ci)
	items := f.items(ci)
	if m, ok := f.mapped(ci, items); ok {
		v.from, v.text = m.from, ""
	}
	for i, a := range n.List {
		if a.Kind == lang.Func {
			item := value{}
			if i < 2 {
				item = items
			}
			switch r := f.closure(a, item); {
			case mapping[ci.name] && returns(a):
				v.from, v.text = r.from, ""
			case !known && ci.recv.tainted():
				v.from = union(v.from, r.from)
			}
		}
	}
	f.dispatched(ci)
	return v
}

// result: known tells that a model or a summary said it.
func (f *frame) result(ci *callInfo) (v value, known bool) {
	t, n, typ := f.u.Table, ci.n, f.s.resultType(f, ci)
	if ms := f.s.models(f, ci, t.Sources); len(ms) > 0 {
		v := f.s.source(f, n, ms[0])
		v.typ = typ
		return v, true
	}
	all := f.joined(ci)
	if ms := f.s.models(f, ci, t.Cleans); len(ms) > 0 {
		out := value{from: f.out(ci, flat(all.from)), typ: typ}
		if out.tainted() {
			out.text = bad
		}
		for _, m := range ms {
			out = out.cleaned(m.Class)
		}
		return out, true
	}
	if fs := f.s.p.resolve(f.fn, n, ci.recv.typ); len(fs) > 0 {
		if v := f.applyAll(ci, fs); n.Op != "new" {
			return v, true
		}
	}
	if v, ok := f.building(ci); ok {
		return v, true
	}
	if len(f.s.models(f, ci, t.Stops)) > 0 && !(plainLookUp[ci.name] && f.factory(ci)) {
		return value{typ: typ}, true
	}
	v.typ = typ
	if c := f.made(n); c != nil {
		if v, ok := f.built(ci, c); ok {
			return v, true
		}
		if n.Op != "new" { // an object of what it was given
			return value{typ: c.Name, from: all.from}, true
		}
	}
	if n.Op == "new" {
		v.typ = simple(n.Name)
		v.from = all.from
		if v.tainted() {
			v.text = all.text
		}
		return v, true
	}
	if known = len(f.s.models(f, ci, t.Passes)) > 0; known {
		v.from, v.text = f.passed(ci, all)
	} else {
		v.from = f.unknown(ci)
	}
	f.absorb(ci)
	return v, known
}

// passed is what a call that passes data on gives of all that it was given.
func (f *frame) passed(ci *callInfo, all value) (from []origin, text string) {
	from = f.out(ci, all.from)
	if looksUp[ci.name] && !f.factory(ci) { // the key chooses, and does not go on
		from = f.accessor(ci)
		for _, a := range ci.args[min(1, len(ci.args)):] {
			from = union(from, a.from)
		}
	}
	switch {
	case len(from) == 0:
	case ci.name == "join":
		for _, a := range append([]value{ci.recv}, ci.args...) {
			if strings.Contains(a.text, bad) {
				text = a.text
			}
		}
	case len(ci.args) == 0:
		text = ci.recv.text
	}
	return from, text
}

// looksUp are the calls that take one element of a collection by its key.
var looksUp = lang.Words("get getOrDefault Get pop at setdefault find")

func returns(fn *lang.Node) bool {
	found := false
	lang.Walk(fn.Body, func(n *lang.Node) bool {
		found = found || n.Kind == lang.Return && n.X != nil
		return !found && n.Kind != lang.Func
	})
	return found
}

// onType: x names a type, and nothing that the program holds.
func (f *frame) onType(x *lang.Node) bool {
	if x == nil || x.Kind != lang.Ident && x.Kind != lang.Member || !typeName(x.Name) {
		return false
	}
	if x.Kind == lang.Member { // java.nio.file.Paths
		return key(x) != "" && strings.ToLower(key(x.X)) == key(x.X) && f.u.File.Lang == lang.Java
	}
	if _, held := f.env[x.Name]; held {
		return false
	}
	_, held := f.s.globalEnv(f.u)[x.Name]
	return !held
}

// stores are types that look things up in what they keep.
var stores = regexp.MustCompile(`(?i)(cache|store|storage|repo|repository|registry|session|config|settings?|db|database|dao|mapper|manager|redis|cookie|cookies|lang|env|environment|system|model|collection|table|index|auth|user|users|route|view|query|log|logger|http|client|service|services|integer|long|boolean|number|math|enum|type|files)$`)

// factory tells calls on a type of a library that make something of what they are
// given, though they sound like a look-up: Paths.get(x), Command.find(x).
func (f *frame) factory(ci *callInfo) bool {
	x := ci.n.X
	return (f.onType(x) || f.u.File.Lang == lang.Go && f.isModule(x)) && !ci.recv.tainted() && len(f.s.p.classes[x.Name]) == 0 &&
		!stores.MatchString(x.Name) && !strings.HasPrefix(f.u.Alias[x.Name], ".") && sounds.MatchString(ci.name)
}

var plainLookUp = lang.Words("get find load lookup fetch")

var sounds = regexp.MustCompile(`^(?i:(get|find|load|look_?up|fetch|query|of|from|for|create|make|new|build|parse|open|with|wrap))($|[A-Z_])`)

func (f *frame) joined(ci *callInfo) value {
	v := value{from: ci.recv.from}
	for i, a := range ci.args {
		v.from = union(v.from, a.from)
		if i == 0 {
			v.text = a.text
		} else if a.tainted() {
			v.text = bad
		}
	}
	return v
}

// unknown is the taint of a call that nothing describes. A method of tainted
// data gives tainted data. A function given tainted data passes it on in the
// languages whose libraries are made of such functions; elsewhere only what the
// rules list does.
func (f *frame) unknown(ci *callInfo) []origin {
	made := f.factory(ci)
	if predicate.MatchString(ci.name) && !made {
		return nil
	}
	from := f.accessor(ci)
	l := f.u.File.Lang
	free := ci.n.X == nil || len(ci.cands) > 0 && f.isModule(ci.n.X)
	if made || free && (l == lang.PHP || l == lang.Python || l == lang.JS) || free && l == lang.Go && ci.n.X != nil {
		for _, a := range ci.args {
			from = union(from, f.out(ci, a.from))
		}
	}
	return from
}

func (f *frame) isModule(x *lang.Node) bool {
	if x == nil || x.Kind != lang.Ident {
		return false
	}
	_, ok := f.u.Alias[x.Name]
	return ok
}

// predicate tells names of calls whose result is a truth, a number or a row that was
// looked up, none of which carries the text that went in.
var predicate = regexp.MustCompile(`^(?i:should|count|exists|compare|equals|size|length|hash|index|find|load|lookup|check|verify|delete|save|insert|update|log|fetch|query|exec|print)` +
	`|^(?i:is|has|can)($|[A-Z_])|^(I(?i:s)|H(?i:as)|C(?i:an))`)

// absorb taints a local collection or builder that is given tainted data.
func (f *frame) absorb(ci *callInfo) {
	k := key(ci.n.X)
	if k == "" || isSelf(ci.n.X) || f.isModule(ci.n.X) {
		return
	}
	own := strings.HasPrefix(k, "this.") || strings.HasPrefix(k, "self.")
	old, ok := f.env[k]
	if !ok && ci.n.X.Kind != lang.Ident && !own || len(ci.args) == 0 {
		return
	}
	if own && !anyTainted(ci.args) {
		return
	}
	at := ""
	switch ci.name {
	case "put", "set", "Set", "setProperty", "setAttribute", "setdefault", "Add":
		if len(ci.args) > 1 && ci.n.List[0].Kind == lang.String {
			f.give(memberKey(k, ci.n.List[0].Name), ci.args[1])
			return
		}
		at = element
	case "add", "append", "push", "unshift", "insert", "offer", "addElement", "addFirst", "addLast":
		at = element
	case "addAll", "putAll", "extend", "update", "write", "WriteString", "Write", "concat":
	default:
		if field := f.fieldAfter(ci.name, "set"); field != "" && len(ci.args) == 1 {
			f.give(memberKey(k, field), ci.args[0])
			return
		}
		if !strings.HasPrefix(ci.name, "set") && !strings.HasPrefix(ci.name, "add") {
			return
		}
		at = element
	}
	for _, a := range ci.args {
		old.from = union(old.from, in(a.from, at))
		if a.tainted() && (ci.name == "push" || ci.name == "append" || ci.name == "add") {
			old.text = cut(strings.TrimPrefix(old.text+" "+a.piece(), " "))
		}
	}
	if own {
		f.give(k, old)
	} else {
		f.env[k] = old
	}
}

// building evaluates the calls that make strings, keeping the known text.
func (f *frame) building(ci *callInfo) (value, bool) {
	n := ci.n
	switch ci.name {
	case "append", "WriteString", "concat":
		if n.X == nil || len(ci.args) == 0 || ci.name == "concat" && f.u.File.Lang == lang.JS && ci.recv.text == "" {
			return value{}, false
		}
		if ci.name == "append" && (f.u.File.Lang == lang.Python || f.u.File.Lang == lang.JS) {
			return value{}, false
		}
		v := value{from: union(ci.recv.from, ci.args[0].from), typ: ci.recv.typ, text: cut(ci.recv.piece() + ci.args[0].piece())}
		if ci.recv.text == "" && ci.recv.from == nil {
			v.text = ci.args[0].piece()
		}
		if root := chainRoot(n); root != "" && ci.name != "concat" {
			f.env[root] = v
		}
		return v, true
	case "format", "Sprintf", "sprintf", "formatted", "vsprintf":
		return f.formatCall(ci)
	case "toString", "String", "trim", "strip", "intern", "stripIndent", "TrimSpace":
		if ci.recv.text != "" && len(ci.args) == 0 {
			return value{from: ci.recv.from, text: ci.recv.text, typ: "String"}, true
		}
	case "StringBuilder", "StringBuffer":
		v := value{typ: n.Name}
		if len(ci.args) > 0 {
			v.from, v.text = ci.args[0].from, ci.args[0].text
		}
		return v, true
	case "valueOf", "encode", "decode", "str", "strval", "Sprint":
		if len(ci.args) == 1 && ci.args[0].text != "" && ci.args[0].typ != "number" {
			return value{from: union(ci.recv.from, ci.args[0].from), text: ci.args[0].text, typ: "String"}, true
		}
	}
	return value{}, false
}
