package flow

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"assay/internal/static/lang"
)

// ClassesNamed gives the classes of a name, in all languages.
func (p *Project) ClassesNamed(name string) []*Class { return p.classes[name] }

// Named gives the functions of a language that have a name.
func (p *Project) Named(l lang.Lang, name string) []*Func { return p.byName[l][name] }

// method looks in a class, its bases, and what implements it.
func (p *Project) method(c *Class, name string, nargs int, depth int) []*Func {
	if c == nil || depth > 4 {
		return nil
	}
	if fs := withBody(byArity(c.Methods[name], nargs)); len(fs) > 0 {
		return fs
	}
	for _, bc := range p.basesOf(c) {
		if fs := p.method(bc, name, nargs, depth+1); len(fs) > 0 {
			return fs
		}
	}
	var out []*Func
	for _, ic := range p.impl[c.Name] {
		if ic != c {
			out = append(out, withBody(byArity(ic.Methods[name], nargs))...)
		}
	}
	return out
}

func withBody(fs []*Func) []*Func {
	return only(fs, func(f *Func) bool { return f.Node.Body != nil })
}

func only(fs []*Func, so func(*Func) bool) []*Func {
	return slices.DeleteFunc(slices.Clone(fs), func(f *Func) bool { return !so(f) })
}

func byArity(fs []*Func, n int) []*Func {
	if len(fs) < 2 || n < 0 {
		return fs
	}
	if out := only(fs, func(f *Func) bool { return len(f.Node.List) == n }); len(out) > 0 {
		return out
	}
	return fs
}

func nearest(u *Unit, fs []*Func) []*Func {
	if len(fs) <= maxCandidates {
		return fs
	}
	fs = slices.Clone(fs)
	slices.SortStableFunc(fs, func(a, b *Func) int {
		return cmp.Or(nearness(u, b.Unit)-nearness(u, a.Unit), strings.Compare(a.Unit.File.Path, b.Unit.File.Path))
	})
	return fs[:maxCandidates]
}

// nearness is the length of what the paths of two files have in common.
func nearness(u, v *Unit) int {
	a, b := u.File.Path, v.File.Path
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) && i == len(b) {
		return i + 1
	}
	return strings.LastIndexByte(a[:i], '/') + 1
}

func (p *Project) field(c *Class, name string, depth int) *lang.Node {
	if c == nil || depth > 4 {
		return nil
	}
	if f := c.Fields[name]; f != nil {
		return f
	}
	for _, bc := range p.basesOf(c) {
		if f := p.field(bc, name, depth+1); f != nil {
			return f
		}
	}
	return nil
}

// basesOf gives the classes that the bases of c name: of its file, else of its
// folder, else all, when they are few. A class named as its own base is one of a
// library (each of a hundred migrations is a Migration), and no base of it.
func (p *Project) basesOf(c *Class) []*Class {
	var out []*Class
	for _, b := range c.Bases {
		if b == c.Name {
			continue
		}
		all := p.classes[b]
		near := all[:0:0]
		for _, same := range []func(*Class) bool{
			func(x *Class) bool { return x.Unit == c.Unit },
			func(x *Class) bool { return path.Dir(x.Unit.File.Path) == path.Dir(c.Unit.File.Path) },
			func(*Class) bool { return len(all) <= maxCandidates },
		} {
			for _, x := range all {
				if x != c && same(x) {
					near = append(near, x)
				}
			}
			if len(near) > 0 {
				break
			}
		}
		if len(near) <= maxCandidates {
			out = append(out, near...)
		}
	}
	return out
}

// resolve finds what a call may mean: at most maxCandidates functions, or none.
func (p *Project) resolve(f *Func, call *lang.Node, recvType string) []*Func {
	u, n := f.Unit, len(call.List)
	switch {
	case call.Op == "new":
		if c := p.classOf(u, call.Name); c != nil {
			for _, name := range []string{call.Name, "constructor", "__construct", "__init__"} {
				if fs := byArity(c.Methods[name], n); len(fs) > 0 {
					return nearest(u, fs)
				}
			}
		}
		return nil
	case call.Op != "" && call.Op != "tagged":
		return nil
	case call.X == nil:
		return nearest(u, withBody(p.free(f, call.Name, n)))
	}
	if call.X.Kind == lang.Ident {
		switch x := call.X.Name; x {
		case "this", "self", "super", "parent", "static", "cls":
			if fs := p.method(f.Class, call.Name, n, 0); len(fs) > 0 {
				return nearest(u, fs)
			}
		default:
			if mod, ok := u.Alias[x]; ok {
				if m := p.module(u, mod); m != nil {
					return nearest(u, byArity(m.byName[call.Name], n))
				}
				if u.File.Lang == lang.Go {
					return nearest(u, p.goPackage(mod, call.Name))
				}
			}
			if c := p.classOf(u, x); c != nil {
				return nearest(u, p.method(c, call.Name, n, 0))
			}
		}
	}
	if recvType != "" {
		if c := p.classOf(u, recvType); c != nil {
			return nearest(u, p.method(c, call.Name, n, 0))
		}
		return nil
	}
	return p.unique(u, call)
}

// unique accepts a method by name alone when the language's files know one
// function of that name, and the name is not one of the everyday ones.
func (p *Project) unique(u *Unit, call *lang.Node) []*Func {
	if len(call.Name) < 6 || everyday[strings.ToLower(call.Name)] {
		return nil
	}
	fs := withBody(p.byName[u.File.Lang][call.Name])
	if len(fs) > 1 { // one in the folder is meant, whatever others are called
		fs = only(fs, func(fn *Func) bool { return path.Dir(fn.Unit.File.Path) == path.Dir(u.File.Path) })
	}
	if len(fs) != 1 || fs[0].Class == nil || len(fs[0].Node.List) < len(call.List) {
		return nil
	}
	return fs
}

// everyday names are those that many classes give to methods.
var everyday = lang.Words(`append create delete update insert remove execute render handle process
	filter findall findone findby getall getname setname getid tostring valueof equals hashcode replace
	format substring contains indexof subscribe foreach length stringify request response connect
	prepare fetchall fetchone commit rollback prepend includes reduce concat encode decode search
	getvalue setvalue getinstance addattribute getattribute setattribute settimeout toarray values`)

func (p *Project) free(f *Func, name string, n int) []*Func {
	u := f.Unit
	if f.Class != nil && u.File.Lang == lang.Java {
		if fs := p.method(f.Class, name, n, 0); len(fs) > 0 {
			return fs
		}
	}
	if fs := u.byName[name]; len(fs) > 0 {
		if u.File.Lang == lang.Go {
			fs = withoutClass(fs)
		}
		if len(fs) > 0 {
			return byArity(fs, n)
		}
	}
	if full, ok := u.Alias[name]; ok {
		if i := strings.LastIndexByte(full, '.'); i > 0 {
			if m := p.module(u, full[:i]); m != nil {
				return byArity(m.byName[full[i+1:]], n)
			}
		}
		if m := p.module(u, full); m != nil { // a default export, by its local name or alone
			if fs := m.byName[name]; len(fs) > 0 {
				return fs
			}
		}
		return nil
	}
	switch u.File.Lang {
	case lang.Go:
		var out []*Func
		for _, v := range p.dirs[path.Dir(u.File.Path)] {
			if v.File.Package == u.File.Package {
				out = append(out, withoutClass(v.byName[name])...)
			}
		}
		return out
	case lang.PHP:
		return withoutClass(p.byName[lang.PHP][name])
	}
	return nil
}

func withoutClass(fs []*Func) []*Func {
	return only(fs, func(f *Func) bool { return f.Class == nil })
}

// goPackage finds a function of the package whose folder ends as the import path.
func (p *Project) goPackage(imp, name string) []*Func {
	return only(p.byName[lang.Go][name], func(f *Func) bool {
		dir := path.Dir(f.Unit.File.Path)
		return f.Class == nil && dir != "." && (imp == dir || strings.HasSuffix(imp, "/"+dir))
	})
}

// module finds the unit that an import means, "a.b" for Python, a relative path
// for JavaScript.
func (p *Project) module(u *Unit, mod string) *Unit {
	switch u.File.Lang {
	case lang.Python:
		rel := strings.TrimLeft(mod, ".")
		q := strings.ReplaceAll(rel, ".", "/")
		dir := path.Dir(u.File.Path)
		for i := 1; i < len(mod)-len(rel); i++ {
			dir = path.Dir(dir)
		}
		// "from . import x" is written as one dot more than it goes up.
		for _, base := range []string{dir, path.Dir(u.File.Path), path.Dir(dir), "."} {
			for _, try := range []string{path.Join(base, q), path.Join(base, q, "__init__")} {
				if m := p.modules[try]; m != nil && m.File.Lang == lang.Python {
					return m
				}
			}
		}
	case lang.JS:
		i := strings.IndexByte(mod, '/')
		if i < 0 || mod[0] != '.' {
			return nil
		}
		q := path.Join(path.Dir(u.File.Path), mod)
		for _, try := range []string{q, q + "/index", strings.TrimSuffix(q, path.Ext(q))} {
			if m := p.modules[try]; m != nil {
				return m
			}
		}
	}
	return nil
}

// classOf finds the class that a name means in a unit: of the same file, the
// same folder, or the only one of that name.
func (p *Project) classOf(u *Unit, name string) *Class {
	name = simple(name)
	cs := p.classes[name]
	var best *Class
	n := 0
	for _, c := range cs {
		if c.Unit.File.Lang != u.File.Lang {
			continue
		}
		if c.Unit == u {
			return c
		}
		n++
		if best == nil || path.Dir(c.Unit.File.Path) == path.Dir(u.File.Path) {
			best = c
		}
	}
	if n > 1 && path.Dir(best.Unit.File.Path) != path.Dir(u.File.Path) {
		return p.importedClass(u, name, cs)
	}
	return best
}

func (p *Project) importedClass(u *Unit, name string, cs []*Class) *Class {
	full := strings.ReplaceAll(u.Alias[name], ".", "/")
	if full == "" {
		return nil
	}
	for _, c := range cs {
		if q := c.Unit.File.Path; strings.HasSuffix(strings.TrimSuffix(q, path.Ext(q)), full) {
			return c
		}
	}
	return nil
}

func simple(name string) string {
	return name[strings.LastIndexByte(name, '.')+1:]
}

// Sorted gives the units by path.
func (p *Project) Sorted() []*Unit {
	return slices.SortedFunc(slices.Values(p.Units), func(a, b *Unit) int { return strings.Compare(a.File.Path, b.File.Path) })
}
