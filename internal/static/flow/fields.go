package flow

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"assay/internal/static/lang"
)

// bindThis gives methods their object: what they read of it is the receiver's.
func (f *frame) bindThis(fn *Func) {
	c := fn.Class
	if c == nil || fn.Name == "" || strings.Contains(fn.Node.Op, "static") || fn.Unit.File.Lang == lang.Go {
		return
	}
	name, typ := "this", c.Name
	if fn.Unit.File.Lang == lang.Python {
		if len(fn.Node.List) == 0 || fn.Node.List[0].Name != "self" {
			return
		}
		name, typ = "self", "self"
	}
	f.env[name] = value{typ: typ, from: []origin{{kind: fromParam, param: recvParam, src: fn.Node}}}
	for _, p := range fn.Node.List { // constructors whose parameters are fields
		if p.Op != "" && p.Op != "..." && p.Name != "" {
			if v := f.env[p.Name]; v.tainted() {
				f.give(name+"."+p.Name, v)
			}
		}
	}
}

// given are the fields that a function sets on its object.
func (f *frame) given(fn *Func) map[string][]origin {
	if fn.Class == nil {
		return nil
	}
	self := "this."
	switch {
	case fn.Unit.File.Lang == lang.Python:
		self = "self."
	case fn.Unit.File.Lang == lang.Go:
		if r := fn.Node.X; r == nil || r.Name == "" {
			return nil
		}
		self = fn.Node.X.Name + "."
	}
	var out map[string][]origin
	for k, v := range f.env {
		name, ok := strings.CutPrefix(k, self)
		if !ok && fn.Unit.File.Lang == lang.Java && fn.Class.Fields[k] != nil && !hasParam(fn.Node, k) {
			name, ok = k, true
		}
		if !ok || !v.tainted() || strings.Contains(name, "\x00") {
			continue
		}
		name, deep, _ := strings.Cut(name, ".")
		var from []origin
		for _, o := range v.from {
			if o.kind == fromParam && o.param == recvParam && o.sel == joinPaths(name, deep) {
				continue // the field as it was
			}
			from = append(from, o)
		}
		if len(from) == 0 {
			continue
		}
		if out == nil {
			out = map[string][]origin{}
		}
		out[name] = union(out[name], in(from, deep))
	}
	return out
}

func hasParam(fn *lang.Node, name string) bool {
	return slices.ContainsFunc(fn.List, func(p *lang.Node) bool { return p.Name == name })
}

// ownField is the data that a method reads from its own object.
func (f *frame) ownField(name, typ string) []origin {
	if f.fn.Name == "" || machinery.MatchString(name) || typ != "" && (plainType(typ) || machinery.MatchString(typ)) {
		return nil
	}
	self, ok := f.env["this"]
	if !ok {
		self = f.env["self"]
	}
	return pick(self.from, name)
}

// machinery are things that a class works with, not data that it holds.
var machinery = regexp.MustCompile(`(?i)^_?(db|em|log|http|app|server|dao|jdbc|lock|pool|conn|twig|cursor|session|cache)$|(pdo|pool|connection|client|repo|repository|repositories|service|services|logger|entitymanager|jdbctemplate|resttemplate|mapper|cursor|executor|factory|handler|mailer|router|encoder|validator|publisher|producer|gateway|clock|mutex|semaphore)$`)

// built is the object that a class's constructor makes of its arguments, when the
// project says which fields it fills.
func (f *frame) built(ci *callInfo, c *Class) (value, bool) {
	v, known := value{typ: c.Name}, false
	for _, fn := range constructors(c, len(ci.args)) {
		sum := f.s.summarize(fn)
		if sum == nil {
			return v, false
		}
		known = known || len(sum.fields) > 0
		for name, from := range sum.fields {
			for _, o := range from {
				v.from = union(v.from, in(f.carried(ci, fn, o), name))
			}
		}
	}
	return v, known
}

func (f *frame) carried(ci *callInfo, fn *Func, o origin) []origin {
	if o.kind == fromOutside {
		return []origin{o}
	}
	return o.through(f.argOf(ci, fn, o.param))
}

// made is the class that a call makes an object of, nil for no class of the project.
func (f *frame) made(n *lang.Node) *Class {
	name := simple(n.Name)
	switch {
	case n.Op == "new":
		if name == "self" || name == "static" {
			return f.fn.Class
		}
	case f.u.File.Lang == lang.Python && n.Op == "" && name != "" && name[0] >= 'A' && name[0] <= 'Z':
		if n.X != nil && !f.isModule(n.X) {
			return nil
		}
	case f.u.File.Lang == lang.Python && n.X == nil && name == "cls":
		return f.fn.Class
	default:
		return nil
	}
	return f.s.p.classOf(f.u, name)
}

func isSelf(n *lang.Node) bool {
	return n != nil && n.Kind == lang.Ident && (n.Name == "this" || n.Name == "self")
}

// accessor narrows an object to the field that an accessor names: getName, isOpen,
// name, get("name").
func (f *frame) accessor(ci *callInfo) []origin {
	from, name := ci.recv.from, ci.name
	if len(from) == 0 {
		return nil
	}
	if c := f.s.p.classOf(f.u, ci.recv.typ); c != nil && len(ci.args) == 0 { // a number or one of a few
		field := name
		if strings.HasPrefix(name, "get") && len(name) > 3 {
			field = strings.ToLower(name[3:4]) + name[4:]
		}
		if d := c.field(field); d != nil && f.s.p.harmless(f.u, d.Type) {
			return nil
		}
	}
	switch {
	case kept(ci):
		return from
	case len(ci.args) > 0 && looksUp[name]:
		return pick(from, f.partOf(ci.n.List[0]))
	case len(ci.args) > 0 && !isSelf(ci.n.X):
		return taken(from, f.taking(ci.n))
	}
	if field := cmp.Or(f.fieldAfter(name, "get"), f.fieldAfter(name, "is")); field != "" {
		return pick(from, field)
	}
	if c := f.s.p.classOf(f.u, ci.recv.typ); c.field(name) != nil { // a record's
		return pick(from, name)
	}
	for _, o := range from {
		if first, _, _ := strings.Cut(o.path, "."); first == name {
			return pick(from, name)
		}
	}
	if isSelf(ci.n.X) {
		return nil // of all that an object holds, a method that nobody knows gives nothing
	}
	return taken(from, f.taking(ci.n))
}

var enums = lang.Words("Enum StrEnum IntEnum TextChoices IntegerChoices")

// harmless tells types whose values an attacker cannot shape: numbers, and the
// enumerations of the project.
func (p *Project) harmless(u *Unit, typ string) bool {
	if plainType(typ) {
		return true
	}
	c := p.classOf(u, lang.TypeName(typ))
	if c == nil || c.Node == nil {
		return false
	}
	return strings.Contains(c.Node.Op, "enum") || slices.ContainsFunc(c.Bases, func(b string) bool { return enums[b] })
}
