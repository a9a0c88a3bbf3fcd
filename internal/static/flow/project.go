// Package flow follows data through the small trees of package lang: within a
// function, through helpers by summaries, and across files of one project by
// declared types, imports and names, with the bounds stated at the constants.
package flow

import (
	"path"
	"sort"
	"strings"
	"sync"

	"assay/internal/static/lang"
	"assay/internal/static/rules"
)

// Bounds of the analysis. What lies beyond one is treated as unknown, which can
// lose a finding and never invents one.
const (
	maxCallDepth  = 12    // calls followed from one function
	maxOrigins    = 6     // origins that one value remembers
	maxSkeleton   = 1500  // bytes of a string's known text
	maxSteps      = 60000 // nodes evaluated in one function
	maxReaches    = 64    // sinks that one summary remembers
	maxTrace      = 10    // steps of a trace
	maxCandidates = 3     // functions that one call may mean
)

// A Unit is a file of the project in the eyes of the engine.
type Unit struct {
	File    *lang.File
	Table   *rules.Table
	Alias   map[string]string // local name -> what it was imported as, with dots
	Funcs   []*Func
	Classes []*Class
	byName  map[string][]*Func
	top     *Func
}

// A Func is a function, method, or the top level of a file or class.
type Func struct {
	Unit  *Unit
	Class *Class
	Node  *lang.Node
	Name  string
	Index int // in the project, for tables of a shard
	Outer *Func
}

// A Class is a class, struct or trait with its members.
type Class struct {
	Unit    *Unit
	Node    *lang.Node
	Name    string
	Bases   []string
	Fields  map[string]*lang.Node // Assign nodes
	Methods map[string][]*Func
}

// A Project is the index over all units.
type Project struct {
	Units   []*Unit
	Funcs   []*Func
	Rules   *rules.Set
	byName  map[lang.Lang]map[string][]*Func
	classes map[string][]*Class
	impl    map[string][]*Class // by base
	modules map[string]*Unit    // path without extension
	dirs    map[string][]*Unit
	mu      sync.Mutex
	texts   map[string]bool // memo of project-wide expressions, under mu
}

// NewProject indexes files; the order of files decides the order of findings.
func NewProject(set *rules.Set, files []*lang.File) *Project {
	p := &Project{Rules: set, byName: map[lang.Lang]map[string][]*Func{}, classes: map[string][]*Class{},
		impl: map[string][]*Class{}, modules: map[string]*Unit{}, dirs: map[string][]*Unit{}, texts: map[string]bool{}}
	for _, f := range files {
		p.addUnit(f)
	}
	return p
}

func (p *Project) addUnit(f *lang.File) {
	u := &Unit{File: f, Table: p.Rules.Tables[f.Lang], Alias: map[string]string{}, byName: map[string][]*Func{}}
	p.Units = append(p.Units, u)
	ext := path.Ext(f.Path)
	p.modules[strings.TrimSuffix(f.Path, ext)] = u
	p.dirs[path.Dir(f.Path)] = append(p.dirs[path.Dir(f.Path)], u)
	for _, im := range f.Imports {
		for _, n := range im.List {
			u.Alias[n.Name] = strings.TrimPrefix(n.Op, "node:")
		}
	}
	if p.byName[f.Lang] == nil {
		p.byName[f.Lang] = map[string][]*Func{}
	}
	u.top = p.addFunc(u, nil, nil, &lang.Node{Kind: lang.Func, Start: 1, End: f.Root.End, To: int32(len(f.Src)), Body: f.Root})
	p.index(u, nil, u.top, f.Root)
}

func (p *Project) addFunc(u *Unit, c *Class, outer *Func, n *lang.Node) *Func {
	fn := &Func{Unit: u, Class: c, Node: n, Name: n.Name, Index: len(p.Funcs), Outer: outer}
	p.Funcs = append(p.Funcs, fn)
	u.Funcs = append(u.Funcs, fn)
	if fn.Name != "" {
		u.byName[fn.Name] = append(u.byName[fn.Name], fn)
		l := u.File.Lang
		p.byName[l][fn.Name] = append(p.byName[l][fn.Name], fn)
		if c != nil {
			c.Methods[fn.Name] = append(c.Methods[fn.Name], fn)
		}
	}
	return fn
}

// index finds functions and classes below n. Functions without a name belong to
// the function around them and are evaluated there.
func (p *Project) index(u *Unit, c *Class, outer *Func, n *lang.Node) {
	lang.Walk(n, func(k *lang.Node) bool {
		switch k.Kind {
		case lang.Class:
			p.addClass(u, outer, k)
			return false
		case lang.Func:
			if k.Name == "" {
				return true
			}
			owner := c
			if u.File.Lang == lang.Go && k.X != nil {
				owner = p.goClass(u, k.X.Type)
			}
			p.index(u, c, p.addFunc(u, owner, outer, k), k.Body)
			return false
		case lang.Assign:
			p.requireAlias(u, k)
		case lang.Call:
			if k.Body != nil && k.Op == "new" { // an anonymous class
				p.index(u, c, outer, k.Body)
			}
		}
		return true
	})
}

// goClass finds or makes the class that a Go receiver names.
func (p *Project) goClass(u *Unit, name string) *Class {
	for _, c := range p.classes[name] {
		if path.Dir(c.Unit.File.Path) == path.Dir(u.File.Path) {
			return c
		}
	}
	c := &Class{Unit: u, Name: name, Fields: map[string]*lang.Node{}, Methods: map[string][]*Func{}}
	p.classes[name] = append(p.classes[name], c)
	return c
}

func (p *Project) addClass(u *Unit, outer *Func, n *lang.Node) {
	var c *Class
	if u.File.Lang == lang.Go {
		c = p.goClass(u, n.Name)
		c.Node = n
	} else {
		c = &Class{Unit: u, Node: n, Name: n.Name, Fields: map[string]*lang.Node{}, Methods: map[string][]*Func{}}
		p.classes[n.Name] = append(p.classes[n.Name], c)
	}
	u.Classes = append(u.Classes, c)
	for _, b := range n.List {
		c.Bases = append(c.Bases, b.Name)
		p.impl[b.Name] = append(p.impl[b.Name], c)
	}
	if n.Body == nil {
		return
	}
	init := &lang.Node{Kind: lang.Block, Start: n.Start, End: n.End, Off: n.Off, To: n.To}
	p.addFunc(u, c, outer, &lang.Node{Kind: lang.Func, Body: init, Start: n.Start, End: n.End, Off: n.Off, To: n.To})
	for _, m := range n.Body.List {
		list := []*lang.Node{m}
		if m.Kind == lang.Block {
			list = m.List
		}
		for _, a := range list {
			if a.Kind == lang.Assign && a.X != nil && a.X.Kind == lang.Ident {
				c.Fields[a.X.Name] = a
			}
		}
		if m.Kind != lang.Func && m.Kind != lang.Class {
			init.List = append(init.List, m)
		}
		if m.Kind == lang.Func { // parameter properties of TypeScript and PHP constructors
			for _, q := range m.List {
				if q.Op != "" && q.Op != "..." && q.Name != "" && c.Fields[q.Name] == nil {
					c.Fields[q.Name] = &lang.Node{Kind: lang.Assign, Type: q.Type, Start: q.Start, End: q.End}
				}
			}
		}
	}
	p.index(u, c, outer, n.Body)
}

// requireAlias reads "const x = require('m')" and "const {a, b: c} = require('m')".
func (p *Project) requireAlias(u *Unit, a *lang.Node) {
	if u.File.Lang != lang.JS || a.Y == nil || a.X == nil {
		return
	}
	mod, member := requireOf(a.Y)
	if mod == "" {
		return
	}
	mod = strings.TrimPrefix(mod, "node:")
	if member != "" {
		mod += "." + member
	}
	switch a.X.Kind {
	case lang.Ident:
		u.Alias[a.X.Name] = mod
	case lang.Dict:
		for _, k := range a.X.List {
			if k.Kind == lang.Pair && k.Y != nil && k.Y.Kind == lang.Ident {
				u.Alias[k.Y.Name] = mod + "." + k.Name
			}
		}
	}
}

func requireOf(n *lang.Node) (module, member string) {
	switch {
	case n.Kind == lang.Call && n.Name == "require" && n.X == nil && len(n.List) == 1 && n.List[0].Kind == lang.String:
		return n.List[0].Name, ""
	case n.Kind == lang.Call && n.Name == "promisify" && len(n.List) == 1: // util.promisify(require('x').y)
		return requireOf(n.List[0])
	case n.Kind == lang.Member && n.X != nil:
		m, sub := requireOf(n.X)
		if m != "" && sub == "" {
			return m, n.Name
		}
	}
	return "", ""
}

// Classes gives the classes of a name.
func (p *Project) ClassesNamed(name string) []*Class { return p.classes[name] }

// method finds methods of a class or its bases, and of what implements it.
func (p *Project) method(c *Class, name string, nargs int, depth int) []*Func {
	if c == nil || depth > 4 {
		return nil
	}
	if fs := withBody(byArity(c.Methods[name], nargs)); len(fs) > 0 {
		return fs
	}
	for _, b := range c.Bases {
		for _, bc := range p.classes[b] {
			if bc != c {
				if fs := p.method(bc, name, nargs, depth+1); len(fs) > 0 {
					return fs
				}
			}
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
	out := fs[:0:0]
	for _, f := range fs {
		if f.Node.Body != nil {
			out = append(out, f)
		}
	}
	return out
}

func byArity(fs []*Func, n int) []*Func {
	if len(fs) < 2 || n < 0 {
		return fs
	}
	out := fs[:0:0]
	for _, f := range fs {
		if len(f.Node.List) == n {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		return fs
	}
	return out
}

func bounded(fs []*Func) []*Func {
	if len(fs) > maxCandidates {
		return nil
	}
	return fs
}

// field finds a field's declaration in a class or its bases.
func (p *Project) field(c *Class, name string, depth int) *lang.Node {
	if c == nil || depth > 4 {
		return nil
	}
	if f := c.Fields[name]; f != nil {
		return f
	}
	for _, b := range c.Bases {
		for _, bc := range p.classes[b] {
			if bc != c {
				if f := p.field(bc, name, depth+1); f != nil {
					return f
				}
			}
		}
	}
	return nil
}

// resolve finds what a call may mean: at most maxCandidates functions, or none.
func (p *Project) resolve(f *Func, call *lang.Node, recvType string) []*Func {
	u, n := f.Unit, len(call.List)
	switch {
	case call.Op == "new":
		if c := p.classOf(u, call.Name); c != nil {
			for _, name := range []string{call.Name, "constructor", "__construct", "__init__"} {
				if fs := byArity(c.Methods[name], n); len(fs) > 0 {
					return bounded(fs)
				}
			}
		}
		return nil
	case call.Op != "" && call.Op != "tagged":
		return nil
	case call.X == nil:
		return bounded(withBody(p.free(f, call.Name, n)))
	}
	if call.X.Kind == lang.Ident {
		switch x := call.X.Name; x {
		case "this", "self", "super", "parent", "static", "cls":
			if fs := p.method(f.Class, call.Name, n, 0); len(fs) > 0 {
				return bounded(fs)
			}
		default:
			if mod, ok := u.Alias[x]; ok {
				if m := p.module(u, mod); m != nil {
					return bounded(byArity(m.byName[call.Name], n))
				}
				if u.File.Lang == lang.Go {
					return bounded(p.goPackage(mod, call.Name))
				}
			}
			if c := p.classOf(u, x); c != nil {
				return bounded(p.method(c, call.Name, n, 0))
			}
		}
	}
	if recvType != "" {
		if c := p.classOf(u, recvType); c != nil {
			return bounded(p.method(c, call.Name, n, 0))
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
	if len(fs) != 1 || fs[0].Class == nil || len(fs[0].Node.List) < len(call.List) {
		return nil
	}
	return fs
}

var everyday = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`append create delete update insert remove execute render handle process
		filter findall findone findby getall getname setname getid tostring valueof equals hashcode replace
		format substring contains indexof subscribe foreach length stringify request response connect
		prepare fetchall fetchone commit rollback prepend includes reduce concat encode decode search
		getvalue setvalue getinstance addattribute getattribute setattribute settimeout toarray values`) {
		m[w] = true
	}
	return m
}()

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
		i := strings.LastIndexByte(full, '.')
		if i > 0 {
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
	out := fs[:0:0]
	for _, f := range fs {
		if f.Class == nil {
			out = append(out, f)
		}
	}
	return out
}

// goPackage finds a function of the package whose folder ends as the import path.
func (p *Project) goPackage(imp, name string) []*Func {
	var out []*Func
	for _, f := range p.byName[lang.Go][name] {
		dir := path.Dir(f.Unit.File.Path)
		if f.Class == nil && dir != "." && (imp == dir || strings.HasSuffix(imp, "/"+dir)) {
			out = append(out, f)
		}
	}
	return out
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
		for _, base := range []string{dir, path.Dir(dir), "."} {
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
		q := c.Unit.File.Path
		if strings.HasSuffix(strings.TrimSuffix(q, path.Ext(q)), full) {
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
	us := append([]*Unit(nil), p.Units...)
	sort.Slice(us, func(i, j int) bool { return us[i].File.Path < us[j].File.Path })
	return us
}
