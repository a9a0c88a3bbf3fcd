// Package flow follows data through the small trees of package lang: within a
// function, through helpers by summaries, and across files of one project by
// declared types, imports and names, with the bounds stated at the constants.
package flow

import (
	"path"
	"slices"
	"strings"
	"sync"

	"assay/internal/static/lang"
	"assay/internal/static/rules"
)

// Bounds of the analysis. What lies beyond one is treated as unknown, which can
// lose a finding and never invents one.
const (
	maxCallDepth  = 200   // calls followed from one function
	maxOrigins    = 16    // origins that one value remembers
	maxSkeleton   = 1500  // bytes of a string's known text
	maxSteps      = 60000 // nodes evaluated in one function
	maxReaches    = 64    // sinks that one summary remembers
	maxTrace      = 10    // steps of a trace
	maxCandidates = 3     // functions that one call may mean: the nearest
	maxCycle      = 40    // functions that call each other, worked out from each of them
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
	dir     string
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
	bases   []*Class // what Bases means
}

// A Project is the index over all units.
type Project struct {
	Units []*Unit
	Funcs []*Func
	Rules *rules.Set

	// Fragment: the code is a piece of a program; parameters of its functions hold
	// what requests bring, save those that name the program's own things.
	Fragment bool
	byName   map[lang.Lang]map[string][]*Func
	classes  map[string][]*Class
	impl     map[string][]*Class // by base
	modules  map[string]*Unit    // path without extension
	dirs     map[string][]*Unit
	Warnings map[*Func]string // what was not followed to its end, and why; set by Analyse
	mu       sync.Mutex
	texts    map[string]bool // memo of project-wide expressions, under mu
}

// NewProject indexes files, in the order of their paths.
func NewProject(set *rules.Set, files []*lang.File) *Project {
	p := &Project{Rules: set, byName: map[lang.Lang]map[string][]*Func{}, classes: map[string][]*Class{},
		impl: map[string][]*Class{}, modules: map[string]*Unit{}, dirs: map[string][]*Unit{}, texts: map[string]bool{}, Warnings: map[*Func]string{}}
	for _, f := range slices.SortedFunc(slices.Values(files), func(a, b *lang.File) int { return strings.Compare(a.Path, b.Path) }) {
		p.addUnit(f)
	}
	for _, u := range p.Units {
		for _, c := range u.Classes {
			p.link(c)
		}
	}
	return p
}

func (p *Project) addUnit(f *lang.File) {
	u := &Unit{File: f, Table: p.Rules.Tables[f.Lang], Alias: map[string]string{}, byName: map[string][]*Func{}, dir: path.Dir(f.Path)}
	p.Units = append(p.Units, u)
	ext := path.Ext(f.Path)
	if lang.Of(f.Path) != "" { // no page with scripts
		p.modules[strings.TrimSuffix(f.Path, ext)] = u
	}
	p.dirs[u.dir] = append(p.dirs[u.dir], u)
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
		if c.Unit.dir == u.dir {
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
	init := n.Here(lang.Node{Kind: lang.Block})
	p.addFunc(u, c, outer, n.Here(lang.Node{Kind: lang.Func, Body: init}))
	for _, m := range n.Body.List {
		c.addFields(m)
		if m.Kind != lang.Func && m.Kind != lang.Class {
			init.List = append(init.List, m)
		}
	}
	p.index(u, c, outer, n.Body)
}

func (c *Class) addFields(m *lang.Node) {
	switch m.Kind {
	case lang.Assign:
		if m.X != nil && m.X.Kind == lang.Ident {
			c.Fields[m.X.Name] = m
		}
	case lang.Block: // several in one declaration
		for _, a := range m.List {
			if a.Kind == lang.Assign {
				c.addFields(a)
			}
		}
	case lang.Func: // parameter properties of TypeScript and PHP constructors
		for _, q := range m.List {
			if q.Op != "" && q.Op != "..." && q.Name != "" && c.Fields[q.Name] == nil {
				c.Fields[q.Name] = &lang.Node{Kind: lang.Assign, Type: q.Type, Start: q.Start, End: q.End}
			}
		}
	}
}

// requireAlias reads "const x = require('m')" and "const {a, b: c} = require('m')".
func (p *Project) requireAlias(u *Unit, a *lang.Node) {
	if u.File.Lang != lang.JS || a.Y == nil || a.X == nil {
		return
	}
	mod, member := requireOf(a.Y)
	if name, ok := strings.CutPrefix(mod, "\x00"); ok {
		if mod = u.Alias[name]; mod == "" || a.Y.Kind == lang.Ident && a.X.Kind != lang.Dict {
			return
		}
	}
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
	case n == nil:
	case n.Kind == lang.Unary && n.Op == "await" && n.X != nil && n.X.Kind == lang.Call:
		return requireOf(n.X)
	case n.Kind == lang.Call && (n.Name == "require" || n.Name == "import") && n.X == nil && len(n.List) == 1 && n.List[0].Kind == lang.String:
		return n.List[0].Name, ""
	case n.Kind == lang.Call && n.Name == "promisify" && len(n.List) == 1: // util.promisify(require('x').y)
		return requireOf(n.List[0])
	case n.Kind == lang.Ident && n.Name != "": // an alias of what was required before
		return "\x00" + n.Name, ""
	case n.Kind == lang.Member && n.X != nil:
		m, sub := requireOf(n.X)
		if m != "" && sub == "" {
			return m, n.Name
		}
	}
	return "", ""
}
