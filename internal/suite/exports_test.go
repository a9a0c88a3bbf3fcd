package suite

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// public are the packages that other modules import.
var public = []string{".", "audit", "audit/fixture", "audit/findings", "audit/score"}

// TestNoPublicPackageExportsAnInternalType: whoever imports a public package can
// name every type that its exported names speak of.
func TestNoPublicPackageExportsAnInternalType(t *testing.T) {
	for _, pkg := range public {
		t.Run(pkg, func(t *testing.T) {
			entries, err := os.ReadDir("../../" + pkg)
			require.NoError(t, err)
			for _, e := range entries {
				if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
					continue
				}
				set := token.NewFileSet()
				file, err := parser.ParseFile(set, "../../"+pkg+"/"+e.Name(), nil,
					parser.SkipObjectResolution)
				require.NoError(t, err)
				for _, x := range internalTypes(file) {
					t.Errorf("%s: an exported name has the internal type %s", set.Position(x.Pos()),
						x.X.(*ast.Ident).Name+"."+x.Sel.Name)
				}
			}
		})
	}
}

// internalTypes gives the types of internal packages that stand in the file's
// exported declarations: in signatures, fields of structs, constants, variables.
func internalTypes(file *ast.File) []*ast.SelectorExpr {
	internal := map[string]bool{}
	for _, i := range file.Imports {
		if p := strings.Trim(i.Path.Value, `"`); strings.HasPrefix(p, module+"/internal/") {
			name := p[strings.LastIndex(p, "/")+1:]
			if i.Name != nil {
				name = i.Name.Name
			}
			internal[name] = true
		}
	}
	var found []*ast.SelectorExpr
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if f, ok := n.(*ast.Field); ok && len(f.Names) > 0 && !f.Names[0].IsExported() {
				return false
			}
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && internal[x.Name] {
					found = append(found, s)
				}
			}
			return true
		})
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && exportedReceiver(d) {
				for _, fields := range []*ast.FieldList{d.Type.Params, d.Type.Results} {
					if fields != nil {
						for _, f := range fields.List {
							look(f.Type)
						}
					}
				}
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						look(s.Type)
					}
				case *ast.ValueSpec:
					if s.Names[0].IsExported() && s.Type != nil {
						look(s.Type)
					}
				}
			}
		}
	}
	return found
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if index, ok := t.(*ast.IndexExpr); ok {
		t = index.X
	}
	name, ok := t.(*ast.Ident)
	return !ok || name.IsExported()
}
