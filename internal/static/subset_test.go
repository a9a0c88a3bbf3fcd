package static

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"assay/audit"
	"assay/internal/static/lang"

	"github.com/stretchr/testify/require"
)

// TestMoreFilesTellNoLess: what is found in some files of a tree is found in all of
// them, unless one that came with them defines a name that the finding's files use, or
// calls the function that was taken for one that outsiders call.
func TestMoreFilesTellNoLess(t *testing.T) {
	dirs, err := filepath.Glob("testdata/projects/*/src")
	require.NoError(t, err)
	if dir := os.Getenv("ASSAY_SCAN"); dir != "" {
		dirs = []string{dir}
	}
	require.NotEmpty(t, dirs)
	for _, dir := range dirs {
		t.Run(dir, func(t *testing.T) {
			tree := readTree(t, dir)
			whole := found(t, tree)
			random := rand.New(rand.NewPCG(1, 0))
			for round := range 6 {
				some := map[string]*source{}
				for _, name := range slices.Sorted(maps.Keys(tree)) {
					if random.IntN(10) < 3+round {
						some[name] = tree[name]
					}
				}
				for at, f := range found(t, some) {
					if _, ok := whole[at]; !ok && !related(tree, some, f) {
						t.Errorf("round %d: %s is found in %d files and not in all %d", round, at, len(some), len(tree))
					}
				}
			}
		})
	}
}

// TestFillerHidesNothing: a flow through files that hold no telling word is found
// among many others.
func TestFillerHidesNothing(t *testing.T) {
	tree := fstest.MapFS{
		"src/a.py": {Data: []byte("from b import middle\ndef v(request):\n    middle(request.GET['c'])\n")},
		"src/b.py": {Data: []byte("from c import last\ndef middle(x):\n    last(x + '!')\n")},
		"src/c.py": {Data: []byte("from jinja2 import Template\ndef last(y):\n    Template(y)\n")},
	}
	filler := make([]byte, 0, 32<<10)
	for i := range 100 {
		filler = fmt.Appendf(filler, "def filler_%d(a, b):\n    return a + b * %d\n", i, i)
	}
	for i := range 34 {
		tree[fmt.Sprintf("src/filler%02d.py", i)] = &fstest.MapFile{Data: filler}
	}
	res, err := New(Options{}).Analyse(context.Background(), tree)
	require.NoError(t, err)
	require.Len(t, res.Findings, 1)
	require.Equal(t, "src/c.py", res.Findings[0].File)
}

// trees are the folders that were read: each is parsed once for all tests.
var trees = map[string]map[string]*source{}

func readTree(t *testing.T, dir string) map[string]*source {
	if tree := trees[dir]; tree != nil {
		return tree
	}
	fsys := os.DirFS(dir)
	paths, _, err := list(fsys, &Result{})
	require.NoError(t, err)
	tree := map[string]*source{}
	for _, s := range New(Options{}).read(context.Background(), fsys, paths) {
		tree[s.path] = s
	}
	trees[dir] = tree
	return tree
}

func judged(t *testing.T, tree map[string]*source) Result {
	sources := slices.SortedFunc(maps.Values(tree), func(a, b *source) int { return strings.Compare(a.path, b.path) })
	res, err := New(Options{}).judge(context.Background(), sources, Result{}, false)
	require.NoError(t, err)
	return res
}

func found(t *testing.T, tree map[string]*source) map[string]audit.Finding {
	out := map[string]audit.Finding{}
	for _, f := range judged(t, tree).Findings {
		if len(f.Trace) > 1 { // the others are judged by the line or by the whole application
			out[fmt.Sprintf("%s %s:%s", f.RuleID, f.File, f.Lines)] = f
		}
	}
	return out
}

// related: a file beyond some defines a function or class whose name the finding's
// files use, or calls the finding's function.
func related(tree, some map[string]*source, f audit.Finding) bool {
	uses := map[string]bool{}
	files := []string{f.File}
	for _, s := range f.Trace {
		files = append(files, s.File)
	}
	for _, name := range files {
		if code := tree[name].code; code != nil {
			lang.Walk(code.Root, func(n *lang.Node) bool {
				uses[n.Name], uses[n.Type] = n.Kind == lang.Call || n.Kind == lang.Ident || uses[n.Name], true
				return true
			})
		}
	}
	for name, file := range tree {
		if some[name] != nil || slices.Contains(files, name) || file.code == nil {
			continue
		}
		defines := false
		lang.Walk(file.code.Root, func(n *lang.Node) bool {
			defines = defines || (n.Kind == lang.Func || n.Kind == lang.Class) && n.Name != "" && uses[n.Name] ||
				n.Kind == lang.Call && n.Name != "" && n.Name == f.Function
			return !defines
		})
		if defines {
			return true
		}
	}
	return false
}
