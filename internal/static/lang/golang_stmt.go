package lang

import "go/ast"

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
		return g.of(Return, s, Node{X: g.tuple(s, s.Results)})
	case *ast.IfStmt:
		o := g.node(If, s)
		o.X, o.Y, o.Z = g.expr(s.Cond), g.block(s.Body), g.stmt(s.Else)
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
			o.Y = g.of(Array, s.Key, Node{Op: "tuple", List: each([]ast.Expr{s.Key, s.Value}, g.expr)})
		}
		return o
	case *ast.SwitchStmt:
		return g.with(s.Init, g.of(Switch, s, Node{X: g.expr(s.Tag), List: g.cases(s.Body)}))
	case *ast.TypeSwitchStmt:
		o := g.of(Switch, s, Node{List: g.cases(s.Body)})
		if a, ok := s.Assign.(*ast.AssignStmt); ok {
			return g.with(a, o)
		}
		return o
	case *ast.SelectStmt:
		return g.of(Switch, s, Node{List: g.cases(s.Body)})
	case *ast.GoStmt:
		return g.expr(s.Call)
	case *ast.DeferStmt:
		return g.expr(s.Call)
	case *ast.SendStmt:
		return g.of(Assign, s, Node{Op: "<-", X: g.expr(s.Chan), Y: g.expr(s.Value)})
	case *ast.IncDecStmt:
		return g.expr(s.X)
	case *ast.LabeledStmt:
		return g.stmt(s.Stmt)
	case *ast.BranchStmt:
		return g.of(Jump, s, Node{Op: s.Tok.String()})
	}
	return nil
}

// with puts an initialiser before the statement that it belongs to.
func (g *goBuilder) with(init ast.Stmt, o *Node) *Node {
	if init == nil {
		return o
	}
	b := o.Here(Node{Kind: Block})
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
			o.List, o.Body.List = each(c.List, g.expr), each(c.Body, g.stmt)
		case *ast.CommClause:
			o.Body.List = each(c.Body, g.stmt)
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
	o := g.of(Assign, s, Node{Op: op, X: g.tuple(s, s.Lhs), Y: g.tuple(s, s.Rhs)})
	if len(s.Lhs) > 1 && len(s.Rhs) == 1 {
		if _, call := s.Rhs[0].(*ast.CallExpr); !call && len(o.X.List) > 0 { // v, ok := x[k]: the value is all
			o.X = o.X.List[0]
		}
	}
	return o
}

// tuple is one expression as it is, or several as one.
func (g *goBuilder) tuple(at ast.Node, l []ast.Expr) *Node {
	switch len(l) {
	case 0:
		return nil
	case 1:
		return g.expr(l[0])
	}
	return g.of(Array, at, Node{Op: "tuple", List: each(l, g.expr)})
}
