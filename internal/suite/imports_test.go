package suite

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// imports says which of our packages each of our packages may import. The house
// has one direction; a new room gets a line here.
var imports = map[string][]string{
	".":              {"audit", "internal/suite", "internal/workflow"},
	"audit":          {},
	"audit/fixture":  {"audit", "internal/cwe"},
	"audit/findings": {"audit"},
	"audit/score":    {"audit", "internal/cwe", "internal/stat"},
	"internal/auditor": {"audit", "audit/findings", "internal/patterns", "internal/box",
		"internal/events"},
	"internal/box":      {"audit"},
	"internal/events":   {"audit"},
	"internal/cwe":      {},
	"internal/cwe/gen":  {},
	"internal/stat":     {},
	"internal/workflow": {},
	"internal/patterns": {"audit", "audit/findings"},
	"internal/seal":     {"audit"},
	"internal/proof":    {"audit", "internal/box"},
	"internal/planted":  {"audit", "audit/fixture", "internal/box", "internal/seal"},
	"internal/store":    {"audit"},
	"internal/fixes": {"audit", "audit/fixture", "audit/score", "internal/box", "internal/cwe",
		"internal/seal", "internal/stat"},
	"internal/postgres":  {"internal/box"},
	"internal/run":       {"audit", "internal/store"},
	"internal/run/river": {"audit", "internal/run", "internal/store"},
	"internal/record":    {"audit", "audit/score", "internal/events", "internal/stat"},
	"internal/report": {"audit", "audit/findings", "audit/score", "internal/store",
		"internal/record", "internal/events"},
}

// wires are the packages that put everything together.
var wires = []string{"internal/suite", "cmd/assay"}

// drivers are the SQL drivers and the packages that may load one.
var drivers = map[string][]string{
	"modernc.org/sqlite": {"internal/store"},
	"github.com/jackc/pgx": {"internal/store", "internal/postgres", "internal/proof",
		"internal/run/river"},
	"github.com/mattn/go-sqlite": {},
}

const module = "assay"

// TestImportsRunOneWay holds every package that is built to the table. Tests of a
// package may import what they like.
func TestImportsRunOneWay(t *testing.T) {
	repository := os.DirFS("../..")
	used := map[string]bool{}
	err := fs.WalkDir(repository, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skip := d.Name(); name != "." && (strings.HasPrefix(skip, ".") ||
				skip == "testdata" || skip == "tests" || skip == "fixtures" ||
				skip == "node_modules") {
				return fs.SkipDir
			}
			if _, err := fs.Stat(repository, path.Join(name, "go.mod")); err == nil && name != "." {
				return fs.SkipDir // a module of its own
			}
			return nil
		}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			checkImports(t, repository, name, used)
		}
		return nil
	})
	require.NoError(t, err)
	for pkg, allowed := range imports {
		for _, ours := range allowed {
			if !used[pkg+" "+ours] {
				t.Errorf("the table lets %s import %s, and nothing there does: take the permission away", pkg, ours)
			}
		}
	}
}

func checkImports(t *testing.T, repository fs.FS, file string, used map[string]bool) {
	src, err := fs.ReadFile(repository, file)
	require.NoError(t, err)
	parsed, err := parser.ParseFile(token.NewFileSet(), file, src, parser.ImportsOnly)
	require.NoError(t, err)
	pkg := path.Dir(file)
	allowed, known := imports[pkg]
	wired := false
	for _, w := range wires {
		wired = wired || pkg == w
	}
	if !known && !wired && !strings.HasPrefix(pkg, "internal/") {
		t.Errorf("%s: the package is not in the table of imports: add it", pkg)
	}
	for _, spec := range parsed.Imports {
		what, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		if what == "testing" && pkg != "." {
			t.Errorf("%s imports testing: outside of tests only the root package may", file)
		}
		if pkg == "audit" && strings.Contains(what, ".") {
			t.Errorf("%s imports %s: audit takes the standard library alone", file, what)
		}
		for driver, may := range drivers {
			if strings.HasPrefix(what, driver) && !slices.Contains(may, pkg) {
				t.Errorf("%s imports the SQL driver %s: only %v may", file, what, may)
			}
		}
		ours, is := strings.CutPrefix(what, module+"/")
		if !is || wired {
			continue
		}
		if !slices.Contains(allowed, ours) {
			t.Errorf("%s imports %s: expected one of %v", file, ours, allowed)
		}
		used[pkg+" "+ours] = true
	}
}
