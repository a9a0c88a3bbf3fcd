package flow

import (
	"regexp"
	"slices"
	"strings"

	"assay/internal/static/lang"
	"assay/internal/static/rules"
)

// outside is data that src brings.
func outside(src *lang.Node, file, note string, clean rules.Classes) []origin {
	return []origin{{kind: fromOutside, src: src, clean: clean, trace: &step{file: file, line: src.Start, note: note, n: 1}}}
}

func (s *shard) source(f *frame, n *lang.Node, m *rules.Model) value {
	// The same expression written twice is the same data: what was checked once
	// stays checked. The environment holds it under its text.
	text := ""
	if n.To-n.Off < 120 && n.Kind != lang.Ident {
		text = "\x00" + f.u.File.Text(n)
		if v, ok := f.env[text]; ok && len(text) > 1 {
			return v
		}
	}
	v := value{text: bad, from: outside(n, f.file(), m.Note, m.Class)}
	if len(text) > 1 {
		f.env[text] = v
	}
	return v
}

func (s *shard) identSource(f *frame, n *lang.Node) (value, bool) {
	for _, p := range f.u.Table.SourceIdents[n.Name] {
		return s.source(f, n, p.Model), true
	}
	return value{}, false
}

func (s *shard) memberSource(f *frame, n *lang.Node) (value, bool) {
	pats := f.u.Table.SourceMembers[n.Name]
	if any := f.u.Table.SourceMembers["*"]; len(any) > 0 {
		pats = append(pats[:len(pats):len(pats)], any...)
	}
	if len(pats) == 0 || isSelf(n.X) {
		return value{}, false // an object's own field is what the object was given
	}
	cands := f.candidates(n.X, f.quietType(n.X))
	for _, p := range pats {
		if receives(p, n.X, cands) {
			return s.source(f, n, p.Model), true
		}
	}
	return value{}, false
}

// quietType finds a receiver's type without evaluating calls.
func (f *frame) quietType(n *lang.Node) string {
	if n == nil {
		return ""
	}
	k := key(n)
	if v, ok := f.env[k]; ok && k != "" {
		return v.typ
	}
	if n.Kind == lang.Member {
		return f.s.fieldType(f, f.quietType(n.X), n.Name)
	}
	return ""
}

// indexSource reads sources that need a key, such as $_SERVER['HTTP_HOST']: the
// model's where tests the key as "0".
func (s *shard) indexSource(f *frame, n *lang.Node) (value, bool) {
	if n.X == nil || n.X.Kind != lang.Ident {
		return value{}, false
	}
	if _, held := f.env[n.X.Name]; !held && n.Op != "slice" {
		for _, p := range f.u.Table.SourceIdents[n.X.Name] {
			return s.source(f, n, p.Model), true
		}
	}
	for _, p := range f.u.Table.SourceIdents[n.X.Name+"[]"] {
		other := func(t rules.Test) bool { return t.RE == nil || t.RE.MatchString(n.Y.Name) != (t.Kind == "match") }
		if n.Y != nil && !slices.ContainsFunc(p.Model.Where, other) {
			return s.source(f, n, p.Model), true
		}
	}
	return value{}, false
}

// paramSource goes by the parameter's annotations.
func (s *shard) paramSource(u *Unit, p *lang.Node) (value, bool) {
	for _, m := range u.Table.Params {
		for _, a := range p.Notes {
			if m.Param.MatchString(a.Name) {
				return s.fromParam(u, p, m), true
			}
		}
	}
	return value{}, false
}

func (s *shard) fromParam(u *Unit, p *lang.Node, m *rules.Model) value {
	return value{text: bad, typ: simple(p.Type), from: outside(p, u.File.Path, m.Note+": parameter "+p.Name, m.Class)}
}

// entrySource goes by the annotations of the function, which a framework calls.
func (s *shard) entrySource(f *frame, fn *Func, p *lang.Node) (value, bool) {
	for _, m := range f.u.Table.Entries {
		if m.Except.Regexp != nil && (m.Except.MatchString(p.Type) || m.Except.MatchString(p.Name)) {
			continue
		}
		if len(m.Where) > 0 && !entryTests(f, fn, m, p) {
			continue
		}
		for _, a := range fn.Node.Notes {
			if m.Entry.MatchString(noteName(a)) {
				return s.fromParam(f.u, p, m), true
			}
		}
	}
	return value{}, false
}

// entryTests reads conditions on an entry: "path" tests the text of its annotations,
// "type" the parameter's type.
func entryTests(f *frame, fn *Func, m *rules.Model, p *lang.Node) bool {
	for _, t := range m.Where {
		subject := ""
		switch t.Arg {
		case "path":
			for _, a := range fn.Node.Notes {
				subject += f.u.File.Text(a) + "\n"
			}
		case "type":
			subject = p.Type
		}
		if t.RE == nil || t.RE.MatchString(subject) != (t.Kind == "match") {
			return false
		}
	}
	return true
}

func noteName(a *lang.Node) string {
	if a.X == nil {
		return a.Name
	}
	return lang.Dotted(a.X) + "." + a.Name
}

// fieldSource tells fields that a framework fills from a request: the model's
// entry tests "field of <base class>".
func (s *shard) fieldSource(f *frame, c *Class, d *lang.Node) (value, bool) {
	if d.X == nil || plainType(d.Type) || strings.Contains(d.Name, "static") || strings.Contains(d.Name, "final") || d.Y != nil && d.Y.Kind == lang.String {
		return value{}, false
	}
	for _, m := range f.u.Table.Entries {
		for _, b := range c.Bases {
			if m.Entry.MatchString("field of "+b) && formType.MatchString(d.Type) && !m.Except.MatchString(d.Type) {
				setter := "set" + strings.ToUpper(d.X.Name[:1]) + d.X.Name[1:]
				if len(c.Methods[setter]) > 0 {
					return value{text: bad, typ: simple(d.Type), from: outside(d, f.file(), "request data: property "+d.X.Name, 0)}, true
				}
			}
		}
	}
	return value{}, false
}

// formType are the types that a form fills by itself; objects of the program are
// brought by it.
var formType = regexp.MustCompile(`^(String|String\[\]|(List|Set|Collection)<String>|Map\b.*|File|File\[\]|\w*(Bean|Form|Dto|DTO|Request|Command))$`)

func (s *shard) models(f *frame, ci *callInfo, table map[string][]rules.Pattern) []*rules.Model {
	var out []*rules.Model
	for _, p := range table[ci.key()] {
		if receives(p, ci.n.X, ci.cands) && s.tests(f, p.Model.Where, ci) {
			out = append(out, p.Model)
		}
	}
	return out
}

// receives tests a pattern's receiver against the names that it may have.
func receives(p rules.Pattern, x *lang.Node, cands []string) bool {
	switch p.Recv {
	case "":
		return x == nil
	case "*":
		return x != nil || len(cands) > 0
	case "?":
		return true
	case "/":
		return slices.ContainsFunc(cands, p.RecvRE.MatchString)
	}
	return slices.ContainsFunc(cands, func(c string) bool {
		before, ends := strings.CutSuffix(c, p.Recv)
		return strings.EqualFold(c, p.Recv) || ends && (strings.HasSuffix(before, ".") || strings.HasSuffix(before, "/"))
	})
}
