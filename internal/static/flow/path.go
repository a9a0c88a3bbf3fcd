package flow

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/static/lang"
	"assay/internal/static/rules"
)

// Values are followed by access path. A path is parts joined by dots: the name of a
// field or key, "[0]" for an element, "[i]" for one that an expression chooses, "*"
// for an element that nobody knows, ":[:2]" for a slice, and the text of a call for
// what it takes out of a value: "split(':')". An origin has two:
//
//	path  where in the value at hand the data lies, "" for all of it
//	sel   which part of the source it is, "" for the source itself
//
// A check proves something of the part that it looks at and of what lies below;
// what is given to a field is in that field alone.

// maxParts is the depth to which paths are told apart. What lies deeper counts as
// unproved: the path ends in deeper, which equals nothing.
const (
	maxParts = 4
	deeper   = "\x03"
	element  = "*"
)

func below(p, part string) string {
	if strings.HasSuffix(p, deeper) || part == "" {
		return p
	}
	part = strings.ReplaceAll(part, ".", "\x02")
	switch {
	case p == "":
		return part
	case strings.Count(p, ".") >= maxParts-1:
		return p + "." + deeper
	}
	return p + "." + part
}

// covers: q is p or a part of it.
func covers(p, q string) bool {
	return !strings.HasSuffix(p, deeper) && (p == "" || strings.HasPrefix(q, p) && (len(q) == len(p) || q[len(p)] == '.'))
}

// rest is what q has beyond p, which covers it.
func rest(p, q string) string {
	if p == "" {
		return q
	}
	return strings.TrimPrefix(q[len(p):], ".")
}

func joinPaths(p, q string) string {
	for _, part := range strings.Split(q, ".") {
		p = below(p, part)
	}
	return p
}

func isElement(part string) bool { return part == element || strings.HasPrefix(part, "[") }

// checked is a part of the source that was checked, with what that proved.
type checked struct {
	path string
	bits rules.Classes
}

// selected is o narrowed to a part of its source; ok is false when nothing harmful
// is left.
func (o origin) selected(part string) (origin, bool) {
	o.sel = below(o.sel, part)
	for _, c := range o.safe {
		if covers(c.path, o.sel) {
			o.clean |= c.bits
		}
	}
	return o, o.harmful()
}

// pick gives what a field or element of an object holds.
func pick(from []origin, part string) []origin {
	if len(from) == 0 || part == "" {
		return from
	}
	out := make([]origin, 0, len(from))
	for _, o := range from {
		if o.path == "" {
			if o, ok := o.selected(part); ok {
				out = append(out, o)
			}
			continue
		}
		first, beyond, _ := strings.Cut(o.path, ".")
		fixed := !isElement(part) || len(part) > 2 && part[1] >= '0' && part[1] <= '9'
		switch {
		case first == strings.ReplaceAll(part, ".", "\x02"), first == element, !fixed:
			o.path = beyond
		case isElement(part) && !isElement(first): // the elements have these fields
		default:
			continue
		}
		out = append(out, o)
	}
	return out
}

// taken gives what a call takes out of a value: some part of the text, or the object
// in another form.
func taken(from []origin, call string) []origin {
	if len(from) == 0 {
		return nil
	}
	out := make([]origin, 0, len(from))
	for _, o := range from {
		if o.path == "" {
			var ok bool
			if o, ok = o.selected(call); !ok {
				continue
			}
		} else if first, beyond, _ := strings.Cut(o.path, "."); isElement(first) {
			o.path = joinPaths(element, beyond)
		}
		out = append(out, o)
	}
	return out
}

func along(from []origin, sel string) []origin {
	if sel == "" {
		return from
	}
	for _, part := range strings.Split(sel, ".") {
		if part[0] == ':' || part[0] != '[' && strings.Contains(part, "(") {
			from = taken(from, part)
		} else {
			from = pick(from, part)
		}
	}
	return from
}

// in puts all of a value into a part of an object.
func in(from []origin, at string) []origin {
	if len(from) == 0 || at == "" {
		return from
	}
	out := make([]origin, len(from))
	for i, o := range from {
		if o.path = joinPaths(at, o.path); strings.HasSuffix(o.path, deeper) {
			o.path = o.path[:len(o.path)-len(deeper)-1]
		}
		out[i] = o
	}
	return out
}

// without is an object of which a part was assigned anew.
func without(from []origin, part string) []origin {
	out := make([]origin, 0, len(from))
	for _, o := range from {
		switch {
		case covers(part, o.path):
			continue
		case covers(o.path, part):
			o.safe = append(slices.Clip(o.safe), checked{joinPaths(o.sel, rest(o.path, part)), rules.All})
		}
		out = append(out, o)
	}
	return out
}

// flat is what is left of an object that became part of a text.
func flat(from []origin) []origin {
	for i := range from {
		if from[i].path == "" {
			continue
		}
		var out []origin
		for _, o := range from {
			o.path = ""
			out = union(out, []origin{o})
		}
		return out
	}
	return from
}

// through gives what an origin of a summary is at a call whose argument is a.
func (o origin) through(a value) []origin {
	from := along(a.from, o.sel)
	out := make([]origin, 0, len(from))
	for _, x := range from {
		if x.clean |= o.clean; !x.harmful() {
			continue
		}
		for _, c := range o.safe { // parts that the function checked
			if x.path == "" && covers(o.sel, c.path) {
				x.safe = append(slices.Clip(x.safe), checked{joinPaths(x.sel, rest(o.sel, c.path)), c.bits})
			}
		}
		x.path = joinPaths(o.path, x.path)
		out = append(out, x)
	}
	return out
}

// key is the path under which a variable, a member or an element is held, "" for what
// has none: a.b, a["b"], a[0].
func key(n *lang.Node) string {
	switch {
	case n == nil:
	case n.Kind == lang.Ident:
		return n.Name
	case n.Kind == lang.Member:
		return memberKey(key(n.X), n.Name)
	case n.Kind != lang.Index || n.Op == "slice" || n.Y == nil:
	case n.Y.Kind == lang.String:
		return memberKey(key(n.X), n.Y.Name)
	case n.Y.Kind == lang.Lit:
		return memberKey(key(n.X), "["+n.Y.Name+"]")
	}
	return ""
}

func memberKey(k, part string) string {
	if k == "" || part == "" || strings.Count(k, ".") > maxParts {
		return ""
	}
	return k + "." + strings.ReplaceAll(part, ".", "\x02")
}

// partOf names the element that an index or the argument of a look-up chooses.
func (f *frame) partOf(y *lang.Node) string {
	switch {
	case y == nil:
		return element
	case y.Kind == lang.String:
		return y.Name
	case y.Kind == lang.Lit && y.Op != "bool":
		return "[" + y.Name + "]"
	}
	return "[" + f.brief(y) + "]"
}

func (f *frame) brief(n *lang.Node) string {
	t := f.u.File.Text(n)
	if t == "" || len(t) > 60 {
		return fmt.Sprintf("@%s %d", f.u.File.Path, n.Off)
	}
	return t
}

// taking is the text of a call, without what it is called on, as part of a path.
func (f *frame) taking(n *lang.Node) string {
	t := n.Name + "("
	for _, a := range n.List {
		t += f.brief(a) + ","
	}
	return t
}

// whole adds to a variable what its parts were given one by one.
func (f *frame) whole(k string, v value) value {
	if !f.parts[k] {
		return v
	}
	pre := k + "."
	f.step += len(f.env) / 8
	var set []string
	for p := range f.env {
		if strings.HasPrefix(p, pre) {
			set = append(set, p)
		}
	}
	slices.Sort(set) // what lies deeper was assigned later
	for _, p := range set {
		part := p[len(pre):]
		v.from = union(without(v.from, part), in(f.env[p].from, part))
	}
	return v
}

// give assigns a part of a variable.
func (f *frame) give(k string, v value) {
	f.env.forget(k)
	f.env[k] = v
	if f.parts == nil {
		f.parts = map[string]bool{}
	}
	for i := strings.LastIndexByte(k, '.'); i > 0; i = strings.LastIndexByte(k, '.') {
		k = k[:i]
		f.parts[k] = true
	}
}

// fieldAfter names the field that a method of an object sets or gives, "" for none: of
// setName, set_name and SetName the one after "set".
func (f *frame) fieldAfter(name, verb string) string {
	if len(name) <= len(verb) || !strings.EqualFold(name[:len(verb)], verb) {
		return ""
	}
	switch s := name[len(verb):]; {
	case s[0] == '_' && len(s) > 1:
		return s[1:]
	case s[0] < 'A' || s[0] > 'Z':
		return ""
	case f.u.File.Lang == lang.Go:
		return s
	default:
		return strings.ToLower(s[:1]) + s[1:]
	}
}

// keeps are the calls whose result is the value itself in another writing: what is
// proved of it is proved of the value.
var keeps = lang.Words(`trim strip lstrip rstrip ltrim rtrim lower upper toLowerCase toUpperCase toLower toUpper strtolower
	strtoupper mb_strtolower mb_strtoupper casefold capitalize title intern toString String str string strval valueOf repr bytes bytearray
	getBytes Bytes decode encode decodeURIComponent decodeURI unescape unquote unquote_plus urldecode rawurldecode normalize normpath realpath
	abspath resolve toRealPath getCanonicalPath getCanonicalFile getAbsolutePath getAbsoluteFile toAbsolutePath getPath toPath toFile toURI toUri
	toURL Clean Abs EvalSymlinks FromSlash ToSlash TrimSpace ToLower ToUpper parse Parse ParseRequestURI urlparse urlsplit parse_url create of
	ofNullable orElse orElseThrow requireNonNull copy clone deepcopy structuredClone cloneDeep list tuple set sorted iter stream collect toList
	toArray array from asList relative Rel relativize relpath relative_to loads json_decode readValue Path PurePath URL URI File quote escape Quote expanduser fspath JSON Text Duplicate
	QueryUnescape PathUnescape iterator aiter freeze unmodifiableList then`)

func kept(ci *callInfo) bool {
	x := ci.n.X
	return keeps[ci.name] || ci.n.Op == "new" || ci.name == "get" && (len(ci.args) == 0 || x != nil && x.Kind == lang.Ident && typeName(x.Name))
}

func typeName(s string) bool {
	return len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && s != strings.ToUpper(s)
}

// out is what a call of a library gives of from.
func (f *frame) out(ci *callInfo, from []origin) []origin {
	if kept(ci) {
		return from
	}
	return taken(from, f.taking(ci.n))
}
