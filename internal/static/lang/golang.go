package lang

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
)

// parseGo reads Go with go/parser, which is exact and ten times as fast as the
// grammar.
func parseGo(p string, src []byte) (*File, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, p, src, parser.SkipObjectResolution)
	if tree == nil {
		return nil, fmt.Errorf("%s: cannot be parsed: %w", p, err)
	}
	f := &File{Path: p, Lang: Go, Src: src, Package: tree.Name.Name}
	if err != nil {
		f.Errors = 1
	}
	g := &goBuilder{fset: fset, src: src}
	f.Root = g.node(Block, tree)
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
		o := g.node(Import, im)
		o.Name = name
		o.List = []*Node{{Kind: Ident, Name: local, Op: name, Start: o.Start, End: o.End}}
		f.Root.List = append(f.Root.List, o)
	}
	for _, d := range tree.Decls {
		if k := g.decl(d, true); k != nil {
			f.Root.List = append(f.Root.List, k)
		}
	}
	finish(f)
	return f, nil
}

type goBuilder struct {
	fset  *token.FileSet
	src   []byte
	depth int
}

func (g *goBuilder) node(k Kind, n ast.Node) *Node {
	a, z := g.fset.Position(n.Pos()), g.fset.Position(n.End())
	if z.Line == 0 {
		z = a
	}
	return &Node{Kind: k, Start: int32(a.Line), End: int32(z.Line), Off: int32(a.Offset), To: int32(min(z.Offset, len(g.src)))}
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
		a.Name = "local"
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
				o.List = append(o.List, &Node{Kind: Ident, Name: typ[strings.LastIndexByte(typ, '.')+1:]})
			}
			for _, name := range f.Names {
				a := g.node(Assign, f)
				a.X, a.Type, a.Op, a.Name = g.ident(name), typ, "=", "field"
				o.Body.List = append(o.Body.List, a)
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
	o := g.node(Ident, n)
	o.Name = n.Name
	return o
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
				p := g.node(Param, f)
				p.Name, p.Type, p.Op = name.Name, goParamType(typ), op
				o.List = append(o.List, p)
			}
			if len(f.Names) == 0 {
				p := g.node(Param, f)
				p.Type = goParamType(typ)
				o.List = append(o.List, p)
			}
		}
	}
	if t.Results != nil {
		o.Type = strings.Trim(g.typ(t.Results.List[0].Type), "()")
	}
	if body != nil {
		o.Body = g.block(body)
	}
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
	o := g.node(Block, b)
	o.List = g.stmts(b.List)
	return o
}

func (g *goBuilder) stmts(l []ast.Stmt) []*Node {
	var out []*Node
	for _, s := range l {
		if k := g.stmt(s); k != nil {
			out = append(out, k)
		}
	}
	return out
}

func (g *goBuilder) stmt(s ast.Stmt) *Node {
	if g.depth++; g.depth > maxDepth {
		g.depth--
		return nil
	}
	defer func() { g.depth-- }()
	switch s := s.(type) {
	case *ast.ExprStmt:
		return g.expr(s.X)
	case *ast.AssignStmt:
		return g.assign(s)
	case *ast.DeclStmt:
		return g.decl(s.Decl, false)
	case *ast.ReturnStmt:
		o := g.node(Return, s)
		switch len(s.Results) {
		case 0:
		case 1:
			o.X = g.expr(s.Results[0])
		default:
			o.X = g.node(Array, s)
			o.X.Op, o.X.List = "tuple", g.exprs(s.Results)
		}
		return o
	case *ast.IfStmt:
		o := g.node(If, s)
		o.X, o.Y = g.expr(s.Cond), g.block(s.Body)
		if s.Else != nil {
			o.Z = g.stmt(s.Else)
		}
		return g.with(s.Init, o)
	case *ast.BlockStmt:
		return g.block(s)
	case *ast.ForStmt:
		o := g.node(Loop, s)
		if s.Init != nil {
			o.List = []*Node{g.stmt(s.Init)}
		}
		o.X, o.Body = g.expr(s.Cond), g.block(s.Body)
		if s.Post != nil && o.Body != nil {
			o.Body.List = append(o.Body.List, g.stmt(s.Post))
		}
		return o
	case *ast.RangeStmt:
		o := g.node(Loop, s)
		o.X, o.Body = g.expr(s.X), g.block(s.Body)
		if s.Key != nil {
			o.Y = g.node(Array, s.Key)
			o.Y.Op, o.Y.List = "tuple", []*Node{g.expr(s.Key)}
			if s.Value != nil {
				o.Y.List = append(o.Y.List, g.expr(s.Value))
			}
		}
		return o
	case *ast.SwitchStmt:
		o := g.node(Switch, s)
		o.X, o.List = g.expr(s.Tag), g.cases(s.Body)
		return g.with(s.Init, o)
	case *ast.TypeSwitchStmt:
		o := g.node(Switch, s)
		if a, ok := s.Assign.(*ast.AssignStmt); ok {
			return g.with(a, func() *Node { o.List = g.cases(s.Body); return o }())
		}
		o.List = g.cases(s.Body)
		return o
	case *ast.SelectStmt:
		o := g.node(Switch, s)
		o.List = g.cases(s.Body)
		return o
	case *ast.GoStmt:
		return g.expr(s.Call)
	case *ast.DeferStmt:
		return g.expr(s.Call)
	case *ast.SendStmt:
		o := g.node(Assign, s)
		o.Op, o.X, o.Y = "+=", g.expr(s.Chan), g.expr(s.Value)
		return o
	case *ast.IncDecStmt:
		return g.expr(s.X)
	case *ast.LabeledStmt:
		return g.stmt(s.Stmt)
	case *ast.BranchStmt:
		o := g.node(Jump, s)
		o.Op = s.Tok.String()
		return o
	}
	return nil
}

// with puts an initialiser before the statement that it belongs to.
func (g *goBuilder) with(init ast.Stmt, o *Node) *Node {
	if init == nil {
		return o
	}
	b := &Node{Kind: Block, Start: o.Start, End: o.End, Off: o.Off, To: o.To}
	if k := g.stmt(init); k != nil {
		b.List = append(b.List, k)
	}
	b.List = append(b.List, o)
	return b
}

func (g *goBuilder) cases(b *ast.BlockStmt) []*Node {
	var out []*Node
	for _, s := range b.List {
		o := g.node(Case, s)
		o.Body = g.node(Block, s)
		switch c := s.(type) {
		case *ast.CaseClause:
			o.List, o.Body.List = g.exprs(c.List), g.stmts(c.Body)
		case *ast.CommClause:
			o.Body.List = g.stmts(c.Body)
			if c.Comm != nil {
				o.Body.List = append([]*Node{g.stmt(c.Comm)}, o.Body.List...)
			}
		}
		out = append(out, o)
	}
	return out
}

func (g *goBuilder) assign(s *ast.AssignStmt) *Node {
	op := s.Tok.String()
	if op == ":=" {
		op = "="
	}
	if len(s.Lhs) == 1 && len(s.Rhs) == 1 {
		o := g.node(Assign, s)
		o.Op, o.X, o.Y = op, g.expr(s.Lhs[0]), g.expr(s.Rhs[0])
		return o
	}
	o := g.node(Assign, s)
	o.Op = op
	o.X = g.node(Array, s)
	o.X.Op, o.X.List = "tuple", g.exprs(s.Lhs)
	if len(s.Rhs) == 1 {
		o.Y = g.expr(s.Rhs[0])
		if _, call := s.Rhs[0].(*ast.CallExpr); !call { // v, ok := x[k]: the value is all
			o.X = o.X.List[0]
		}
		return o
	}
	o.Y = g.node(Array, s)
	o.Y.Op, o.Y.List = "tuple", g.exprs(s.Rhs)
	return o
}

func (g *goBuilder) exprs(l []ast.Expr) []*Node {
	var out []*Node
	for _, e := range l {
		if k := g.expr(e); k != nil {
			out = append(out, k)
		}
	}
	return out
}

func (g *goBuilder) expr(e ast.Expr) *Node {
	if e == nil {
		return nil
	}
	if g.depth++; g.depth > maxDepth {
		g.depth--
		return nil
	}
	defer func() { g.depth-- }()
	switch e := e.(type) {
	case *ast.Ident:
		return g.goIdent(e)
	case *ast.BasicLit:
		o := g.node(Lit, e)
		o.Op, o.Name = "number", e.Value
		if e.Kind == token.STRING || e.Kind == token.CHAR {
			o.Kind, o.Op = String, ""
			o.Name, _ = strconv.Unquote(e.Value)
		}
		return o
	case *ast.SelectorExpr:
		o := g.node(Member, e)
		o.X, o.Name = g.expr(e.X), e.Sel.Name
		return o
	case *ast.IndexExpr:
		o := g.node(Index, e)
		o.X, o.Y = g.expr(e.X), g.expr(e.Index)
		return o
	case *ast.SliceExpr:
		o := g.node(Index, e)
		o.Op, o.X = "slice", g.expr(e.X)
		return o
	case *ast.IndexListExpr:
		return g.expr(e.X)
	case *ast.CallExpr:
		return g.call(e)
	case *ast.BinaryExpr:
		o := g.node(Binary, e)
		o.Op, o.X, o.Y = e.Op.String(), g.expr(e.X), g.expr(e.Y)
		return o
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return g.expr(e.X)
		}
		o := g.node(Unary, e)
		o.Op, o.X = e.Op.String(), g.expr(e.X)
		return o
	case *ast.StarExpr:
		return g.expr(e.X)
	case *ast.ParenExpr:
		return g.expr(e.X)
	case *ast.TypeAssertExpr:
		o := g.node(Unary, e)
		o.Op, o.X, o.Type = "cast", g.expr(e.X), TypeName(g.typ(e.Type))
		return o
	case *ast.FuncLit:
		o := g.function(e, e.Type, e.Body)
		o.Op = "lambda"
		return o
	case *ast.CompositeLit:
		return g.composite(e)
	}
	return nil
}

func (g *goBuilder) goIdent(e *ast.Ident) *Node {
	switch e.Name {
	case "true", "false":
		o := g.node(Lit, e)
		o.Op, o.Name = "bool", e.Name
		return o
	case "nil":
		o := g.node(Lit, e)
		o.Op, o.Name = "null", e.Name
		return o
	}
	return g.ident(e)
}

func (g *goBuilder) call(e *ast.CallExpr) *Node {
	o := g.node(Call, e)
	switch f := e.Fun.(type) {
	case *ast.ArrayType: // []byte(x)
		o.Kind, o.Op, o.Type = Unary, "cast", g.typ(f)
		if len(e.Args) > 0 {
			o.X = g.expr(e.Args[0])
		}
		return o
	case *ast.ParenExpr, *ast.FuncLit:
		o.X = g.expr(f)
	default:
		switch k := g.expr(f); {
		case k == nil:
		case k.Kind == Ident:
			o.Name = k.Name
		case k.Kind == Member:
			o.X, o.Name = k.X, k.Name
		default:
			o.X = k
		}
	}
	o.List = g.exprs(e.Args)
	return o
}

// composite gives a struct literal as a construction with named arguments, so
// that rules meet "new" in each language alike; maps and slices stay collections.
func (g *goBuilder) composite(e *ast.CompositeLit) *Node {
	o := g.node(Array, e)
	keyed := false
	for _, x := range e.Elts {
		kv, ok := x.(*ast.KeyValueExpr)
		if !ok {
			if k := g.expr(x); k != nil {
				o.List = append(o.List, k)
			}
			continue
		}
		keyed = true
		p := g.node(Pair, kv)
		p.Y = g.expr(kv.Value)
		if id, ok := kv.Key.(*ast.Ident); ok {
			p.Name = id.Name
		} else {
			p.X = g.expr(kv.Key)
			nameKey(p)
		}
		o.List = append(o.List, p)
	}
	switch t := e.Type.(type) {
	case *ast.Ident, *ast.SelectorExpr:
		o.Kind, o.Op, o.Type = Call, "new", g.typ(t)
		if s, ok := t.(*ast.SelectorExpr); ok {
			o.X, o.Name = g.expr(s.X), s.Sel.Name
		} else {
			o.Name = o.Type
		}
		return o
	}
	if keyed {
		o.Kind = Dict
	}
	o.Type = g.typ(e.Type)
	return o
}
