package lang

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"strconv"
	"strings"
)

var goTable = &table{lang: Go}

// parseGo reads Go with go/parser, which is exact and ten times as fast as the
// grammar.
func parseGo(p string, src []byte) *File {
	g := &goBuilder{fset: token.NewFileSet(), src: src}
	tree, err := g.parse(p, src)
	f := &File{Path: p, Lang: Go, Src: src, Package: tree.Name.Name, Root: g.node(Block, tree)}
	g.addImports(f, tree)
	header := g.fset.Position(tree.Name.End()).Offset
	for {
		next := -1
		if err != nil {
			if f.Errors++; f.Errors < maxMistakes && f.Package != "" {
				next = funcAfter(src, err)
			}
		}
		for _, d := range tree.Decls {
			if k := g.decl(d, true); k != nil && (next < 0 || int(k.Off) < next) {
				f.Root.List = append(f.Root.List, k)
			}
		}
		if next < 0 {
			finish(f)
			return f
		}
		text := bytes.Clone(src)
		blank(text[header:next])
		tree, err = g.parse(p, text)
	}
}

// maxMistakes bounds how often a file is parsed.
const maxMistakes = 20

// parse gives a tree of what could be read: go/parser leaves out all functions from a
// mistake to the next const, type or var.
func (g *goBuilder) parse(p string, src []byte) (*ast.File, error) {
	return parser.ParseFile(g.fset, p, src, parser.SkipObjectResolution)
}

// funcAfter is where the first function behind a mistake begins, -1 for none.
func funcAfter(src []byte, err error) int {
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return -1
	}
	at := list[0].Pos.Offset
	i := bytes.Index(src[at:], []byte("\nfunc "))
	if i < 0 {
		return -1
	}
	return at + i + 1
}

func (g *goBuilder) addImports(f *File, tree *ast.File) {
	for _, im := range tree.Imports {
		name, _ := strconv.Unquote(im.Path.Value)
		local := path.Base(name)
		if len(local) > 1 && local[0] == 'v' && strings.Trim(local[1:], "0123456789") == "" {
			local = path.Base(path.Dir(name))
		}
		local = strings.TrimPrefix(strings.TrimSuffix(local, ".go"), "go-")
		if im.Name != nil {
			local = im.Name.Name
		}
		o := g.of(Import, im, Node{Name: name})
		o.bind(local, name)
		f.Root.List = append(f.Root.List, o)
	}
}

type goBuilder struct {
	fset  *token.FileSet
	src   []byte
	depth int
}

func (g *goBuilder) node(k Kind, n ast.Node) *Node { return g.of(k, n, Node{}) }

// of is a node of a kind at n with the fields of o.
func (g *goBuilder) of(k Kind, n ast.Node, o Node) *Node {
	a, z := g.fset.Position(n.Pos()), g.fset.Position(n.End())
	if z.Line == 0 {
		z = a
	}
	o.Kind, o.Start, o.End = k, int32(a.Line), int32(z.Line)
	o.Off, o.To = int32(a.Offset), int32(min(z.Offset, len(g.src)))
	return &o
}

func (g *goBuilder) decl(d ast.Decl, top bool) *Node {
	switch d := d.(type) {
	case *ast.FuncDecl:
		o := g.function(d, d.Type, d.Body)
		o.Name = d.Name.Name
		if d.Recv != nil && len(d.Recv.List) > 0 {
			r := g.node(Param, d.Recv.List[0])
			r.Type = TypeName(g.typ(d.Recv.List[0].Type))
			if len(d.Recv.List[0].Names) > 0 {
				r.Name = d.Recv.List[0].Names[0].Name
			}
			o.X = r // receiver
		}
		return o
	case *ast.GenDecl:
		out := g.node(Block, d)
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				out.List = append(out.List, g.values(s, top)...)
			case *ast.TypeSpec:
				if k := g.typeDecl(s); k != nil {
					out.List = append(out.List, k)
				}
			}
		}
		return out
	}
	return nil
}

func (g *goBuilder) values(s *ast.ValueSpec, top bool) []*Node {
	var out []*Node
	for i, name := range s.Names {
		a := g.node(Assign, s)
		a.Op, a.X, a.Type = "=", g.ident(name), TypeName(g.typ(s.Type))
		switch {
		case len(s.Values) == len(s.Names):
			a.Y = g.expr(s.Values[i])
		case len(s.Values) == 1 && i == 0:
			a.Y = g.expr(s.Values[0])
		}
		if top {
			a.Name = "field static"
		}
		out = append(out, a)
	}
	return out
}

func (g *goBuilder) typeDecl(s *ast.TypeSpec) *Node {
	o := g.node(Class, s)
	o.Name = s.Name.Name
	o.Body = g.node(Block, s)
	switch t := s.Type.(type) {
	case *ast.StructType:
		o.Op = "struct"
		for _, f := range t.Fields.List {
			typ := TypeName(g.typ(f.Type))
			if len(f.Names) == 0 {
				o.bind(afterLast(typ, '.'), "")
			}
			for _, name := range f.Names {
				o.Body.List = append(o.Body.List, g.of(Assign, f, Node{X: g.ident(name), Type: typ, Op: "=", Name: "field"}))
			}
		}
	case *ast.InterfaceType:
		o.Op = "interface"
	default:
		return nil
	}
	return o
}

func (g *goBuilder) typ(e ast.Expr) string {
	if e == nil {
		return ""
	}
	a, z := g.fset.Position(e.Pos()).Offset, g.fset.Position(e.End()).Offset
	if a < 0 || z > len(g.src) || a > z {
		return ""
	}
	return string(g.src[a:z])
}

func (g *goBuilder) ident(n *ast.Ident) *Node {
	return g.of(Ident, n, Node{Name: n.Name})
}

func (g *goBuilder) function(n ast.Node, t *ast.FuncType, body *ast.BlockStmt) *Node {
	o := g.node(Func, n)
	if t.Params != nil {
		for _, f := range t.Params.List {
			typ := g.typ(f.Type)
			op := ""
			if strings.HasPrefix(typ, "...") {
				op, typ = "...", typ[3:]
			}
			for _, name := range f.Names {
				o.List = append(o.List, g.of(Param, f, Node{Name: name.Name, Type: goParamType(typ), Op: op}))
			}
			if len(f.Names) == 0 {
				o.List = append(o.List, g.of(Param, f, Node{Type: goParamType(typ)}))
			}
		}
	}
	if t.Results != nil {
		o.Type = strings.Trim(g.typ(t.Results.List[0].Type), "()")
	}
	o.Body = g.block(body)
	return o
}

// goParamType keeps slices of bytes and strings apart from other slices.
func goParamType(t string) string {
	if t == "[]byte" || t == "[]string" {
		return t
	}
	return TypeName(t)
}

func (g *goBuilder) block(b *ast.BlockStmt) *Node {
	if b == nil {
		return nil
	}
	return g.of(Block, b, Node{List: each(b.List, g.stmt)})
}
