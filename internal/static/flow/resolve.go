package flow

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strings"

	"assay/internal/static/lang"
)

// ClassesNamed gives the classes of a name, in all languages.
func (p *Project) ClassesNamed(name string) []*Class { return p.classes[name] }

// Named gives the functions of a language that have a name.
func (p *Project) Named(l lang.Lang, name string) []*Func { return p.byName[l][name] }

func only[T any](all []T, so func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(x T) bool { return !so(x) })
}

// closest gives the classes that a file means of those of a name: its own, else its
// folder's, else all.
func closest(u *Unit, all []*Class) []*Class {
	if own := only(all, func(c *Class) bool { return c.Unit == u }); len(own) > 0 {
		return own
	}
	if near := only(all, func(c *Class) bool { return c.Unit.dir == u.dir }); len(near) > 0 {
		return near
	}
	return all
}

// link finds the classes that the bases of c name, where they are few. A class named as
// its own base is one of a library (each of a hundred migrations is a Migration), and
// no base of it.
func (p *Project) link(c *Class) {
	for _, name := range c.Bases {
		if name == c.Name {
			continue
		}
		if near := closest(c.Unit, p.classes[name]); len(near) <= maxCandidates {
			c.bases = append(c.bases, near...)
		}
	}
}

// line is a class and what it inherits from, its own first.
func (c *Class) line() iter.Seq[*Class] {
	return func(yield func(*Class) bool) { c.walkLine(0, yield) }
}

func (c *Class) walkLine(depth int, yield func(*Class) bool) bool {
	if c == nil || depth > 4 {
		return true
	}
	if !yield(c) {
		return false
	}
	for _, b := range c.bases {
		if !b.walkLine(depth+1, yield) {
			return false
		}
	}
	return true
}

// method looks in a class, its bases, and what implements one of them.
func (p *Project) method(c *Class, name string, nargs int) []*Func {
	own := func(c *Class) []*Func { return withBody(byArity(c.Methods[name], nargs)) }
	for k := range c.line() {
		if fs := own(k); len(fs) > 0 {
			return fs
		}
	}
	for k := range c.line() {
		var fs []*Func
		for _, heir := range p.impl[k.Name] {
			fs = append(fs, own(heir)...)
		}
		if len(fs) > 0 {
			return fs
		}
	}
	return nil
}

// constructors finds the constructors of a class or of its nearest base.
func constructors(c *Class, n int) []*Func {
	for k := range c.line() {
		for _, name := range []string{k.Name, "constructor", "__construct", "__init__"} {
			if fs := withBody(byArity(k.Methods[name], n)); len(fs) > 0 {
				return nearest(k.Unit, fs)
			}
		}
	}
	return nil
}

// field finds the declaration of a field in a class or its bases.
func (c *Class) field(name string) *lang.Node {
	for k := range c.line() {
		if d := k.Fields[name]; d != nil {
			return d
		}
	}
	return nil
}

func withBody(fs []*Func) []*Func {
	return only(fs, func(f *Func) bool { return f.Node.Body != nil })
}

func byArity(fs []*Func, n int) []*Func {
	if len(fs) < 2 {
		return fs
	}
	if out := only(fs, func(f *Func) bool { return len(f.Node.List) == n }); len(out) > 0 {
		return out
	}
	return fs
}

// nearest gives the functions, at most maxCandidates, whose files' paths have most in
// common with that of u.
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

// nearness is the length of the folders that the paths of two files have in common.
func nearness(u, v *Unit) int {
	a, b := u.File.Path+"/", v.File.Path+"/"
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return strings.LastIndexByte(a[:i], '/') + 1
}

// resolve finds what a call may mean: at most maxCandidates functions, or none.
func (p *Project) resolve(f *Func, call *lang.Node, recvType string) []*Func {
	u, n := f.Unit, len(call.List)
	switch {
	case call.Op == "new":
		return constructors(p.classOf(u, call.Name), n)
	case call.Op != "":
		return nil
	case call.X == nil:
		return nearest(u, withBody(p.free(f, call.Name, n)))
	}
	if call.X.Kind == lang.Ident {
		switch x := call.X.Name; x {
		case "this", "self", "super", "parent", "static", "cls":
			if fs := p.method(f.Class, call.Name, n); len(fs) > 0 {
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
				return nearest(u, p.method(c, call.Name, n))
			}
		}
	}
	if recvType != "" {
		if c := p.classOf(u, recvType); c != nil {
			return nearest(u, p.method(c, call.Name, n))
		}
		return nil
	}
	return p.unique(u, call)
}

// unique accepts a method by name alone when the language's files, or else those of
// the folder, know one function of that name, and the name is not one of the
// everyday ones.
func (p *Project) unique(u *Unit, call *lang.Node) []*Func {
	if len(call.Name) < 6 || everyday[strings.ToLower(call.Name)] {
		return nil
	}
	fs := withBody(p.byName[u.File.Lang][call.Name])
	if len(fs) > 1 {
		fs = only(fs, func(fn *Func) bool { return fn.Unit.dir == u.dir })
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
		if fs := p.method(f.Class, name, n); len(fs) > 0 {
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
		for _, v := range p.dirs[u.dir] {
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
		dir := f.Unit.dir
		return f.Class == nil && dir != "." && strings.HasSuffix("/"+imp, "/"+dir)
	})
}

// module finds the unit that an import means, "a.b" for Python, a relative path
// for JavaScript.
func (p *Project) module(u *Unit, mod string) *Unit {
	switch u.File.Lang {
	case lang.Python:
		rel := strings.TrimLeft(mod, ".")
		q := strings.ReplaceAll(rel, ".", "/")
		dir := u.dir
		for i := 1; i < len(mod)-len(rel); i++ {
			dir = path.Dir(dir)
		}
		// "from . import x" is written as one dot more than it goes up.
		for _, base := range []string{dir, u.dir, path.Dir(dir), "."} {
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
		q := path.Join(u.dir, mod)
		for _, try := range []string{q, q + "/index", strings.TrimSuffix(q, path.Ext(q))} {
			if m := p.modules[try]; m != nil {
				return m
			}
		}
	}
	return nil
}

// classOf finds the class that a name means in a unit: of the same file, the
// same folder, the only one of that name, or the one that is imported.
func (p *Project) classOf(u *Unit, name string) *Class {
	name = simple(name)
	all := p.classes[name]
	if len(all) == 0 {
		return nil
	}
	near := closest(u, only(all, func(c *Class) bool { return c.Unit.File.Lang == u.File.Lang }))
	if len(near) == 1 || len(near) > 0 && near[0].Unit.dir == u.dir {
		return near[0]
	}
	full := strings.ReplaceAll(u.Alias[name], ".", "/")
	for _, c := range near {
		if q := c.Unit.File.Path; full != "" && strings.HasSuffix(strings.TrimSuffix(q, path.Ext(q)), full) {
			return c
		}
	}
	return nil
}

func simple(name string) string {
	return name[strings.LastIndexByte(name, '.')+1:]
}
