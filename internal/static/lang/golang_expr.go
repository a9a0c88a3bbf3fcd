package lang

import (
	"go/ast"
	"go/token"
	"strconv"
)

// each gives what the elements of a list become, without those that become nothing.
func each[T any](list []T, become func(T) *Node) []*Node {
	var out []*Node
	for _, e := range list {
		if k := become(e); k != nil {
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
		return g.of(Member, e, Node{X: g.expr(e.X), Name: e.Sel.Name})
	case *ast.IndexExpr:
		return g.of(Index, e, Node{X: g.expr(e.X), Y: g.expr(e.Index)})
	case *ast.SliceExpr:
		return g.of(Index, e, Node{Op: "slice", X: g.expr(e.X)})
	case *ast.IndexListExpr:
		return g.expr(e.X)
	case *ast.CallExpr:
		return g.call(e)
	case *ast.BinaryExpr:
		return g.of(Binary, e, Node{Op: e.Op.String(), X: g.expr(e.X), Y: g.expr(e.Y)})
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return g.expr(e.X)
		}
		return g.of(Unary, e, Node{Op: e.Op.String(), X: g.expr(e.X)})
	case *ast.StarExpr:
		return g.expr(e.X)
	case *ast.ParenExpr:
		return g.expr(e.X)
	case *ast.TypeAssertExpr:
		return g.of(Unary, e, Node{Op: "cast", X: g.expr(e.X), Type: TypeName(g.typ(e.Type))})
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
		return g.of(Lit, e, Node{Op: "bool", Name: e.Name})
	case "nil":
		return g.of(Lit, e, Node{Op: "null", Name: e.Name})
	}
	return g.ident(e)
}

func (g *goBuilder) call(e *ast.CallExpr) *Node {
	o := g.node(Call, e)
	fun := e.Fun
	switch f := fun.(type) { // decode[T](r)
	case *ast.IndexExpr:
		if typeLike(f.X) && typeLike(f.Index) {
			fun = f.X
		}
	case *ast.IndexListExpr:
		fun = f.X
	}
	switch f := fun.(type) {
	case *ast.ArrayType: // []byte(x)
		o.Kind, o.Op, o.Type = Unary, "cast", g.typ(f)
		if len(e.Args) > 0 {
			o.X = g.expr(e.Args[0])
		}
		return o
	case *ast.ParenExpr, *ast.FuncLit:
		o.X = g.expr(f)
	default:
		o.setCallee(g.expr(f))
	}
	o.List = each(e.Args, g.expr)
	return o
}

// typeLike tells an expression that may be a type: a function that stands in a
// collection is indexed by other things than a bare name.
func typeLike(e ast.Expr) bool {
	switch e.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.StarExpr, *ast.ArrayType, *ast.MapType, *ast.StructType:
		return true
	}
	return false
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
