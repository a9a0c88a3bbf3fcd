package score_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

func TestFunctionName(t *testing.T) {
	for in, want := range map[string]string{
		"method": "method", "Class.method": "method", "Class::method": "method",
		"(*T).Method": "Method", "(T).Method": "Method",
		"method(args)": "method", "method(String a, int b)": "method",
		"com.example.Class.method(java.lang.String)": "method",
		"(*T).Method(ctx context.Context)":           "Method", "Class#method": "method",
		`App\Http\Controller::index`:   "index",
		"public void method(String a)": "method", "ns::Class::method() const": "method",
		"pkg.(*T).Method": "Method",
		"$scope.load":     "load", "obj->method": "method", "Class.generic<T>": "generic",
		"Class.<init>": "<init>",
		"  method ":    "method", "": "", "()": "", "`method()`": "method", "_private": "_private",
		"operator": "operator",
	} {
		require.Equal(t, want, score.FunctionName(in), "%q", in)
	}
}

func TestPathRules(t *testing.T) {
	tree := audit.Tree{}
	for _, f := range []string{"index.js", "src/index.js", "src/main/App.java", "a b/c.js",
		"Case/File.php", "case2/x.js", "CASE2/x.js", "100%25.js", "weird\\name.c"} {
		tree[f] = audit.TreeFile{Path: f, Lines: 10}
	}
	roots := []string{"/tmp/export", `C:\work\export`, "export"}
	for in, want := range map[string]string{
		"src/main/App.java":                         "src/main/App.java",
		"./src/main/App.java":                       "src/main/App.java",
		"src//main/../main/App.java":                "src/main/App.java",
		`src\main\App.java`:                         "src/main/App.java",
		`.\src\main\App.java`:                       "src/main/App.java",
		"/tmp/export/src/main/App.java":             "src/main/App.java",
		"/tmp/export/./src/main/App.java":           "src/main/App.java",
		"file:///tmp/export/src/main/App.java":      "src/main/App.java",
		"file:/tmp/export/src/main/App.java":        "src/main/App.java",
		"file://localhost/tmp/export/src/index.js":  "src/index.js",
		"FILE:///tmp/export/src/index.js":           "src/index.js",
		"file:///C:/work/export/src/index.js":       "src/index.js",
		`C:\work\export\src\index.js`:               "src/index.js",
		`c:\Work\export\src\index.js`:               "src/index.js",
		"export/src/index.js":                       "src/index.js",
		"/src/index.js":                             "src/index.js",
		"%SRCROOT%/src/index.js":                    "src/index.js",
		"a%20b/c.js":                                "a b/c.js",
		"file:///tmp/export/a%20b/c.js":             "a b/c.js",
		"100%25.js":                                 "100%25.js",
		"case/file.php":                             "Case/File.php",
		"case2/x.js":                                "case2/x.js",
		"  index.js\n":                              "index.js",
		`weird\name.c`:                              "weird\\name.c",
		"file:///tmp/export/../export/src/index.js": "src/index.js",
	} {
		got, err := score.NewPaths(tree, nil, roots).Resolve(in)
		require.NoError(t, err, "%q", in)
		require.Equal(t, want, got, "%q", in)
	}
	for _, in := range []string{
		"", " ", "main/App.java", "App.java", "other/index.js", "lib/src/index.js",
		"/elsewhere/src/index.js",
		"../index.js", "src/../../index.js", "/tmp/export", "/tmp/exported/src/index.js",
		"D:/work/export/src/index.js",
		"Case2/X.js", ".", "/", "src", "https://example.org/index.js", "file://", "%", "\x00",
	} {
		got, err := score.NewPaths(tree, nil, roots).Resolve(in)
		require.Error(t, err, "%q became %q", in, got)
	}
	got, err := score.NewPaths(nil, nil, nil).Resolve("anything/at/all.c")
	require.NoError(t, err, "without a tree paths are not checked")
	require.Equal(t, "anything/at/all.c", got)
	_, err = score.NewPaths(nil, nil, nil).Resolve("../../etc/passwd")
	require.Error(t, err)
}

func FuzzPath(f *testing.F) {
	f.Add("file:///C:/x%zz/../a.c")
	f.Fuzz(func(t *testing.T, in string) {
		tree := audit.Tree{"a.c": {Path: "a.c", Lines: 1}}
		got, err := score.NewPaths(tree, nil, []string{"/r", in}).Resolve(in)
		if err == nil && got != "a.c" {
			t.Fatalf("%q became %q, which is not in the tree", in, got)
		}
		score.FunctionName(in)
	})
}
