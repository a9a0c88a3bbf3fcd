package flow_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"assay/internal/static/flow"
	"assay/internal/static/lang"
	"assay/internal/static/rules"

	"github.com/stretchr/testify/require"
)

// hits analyses files with the embedded rules and gives "rule file:line" of what is
// surely reached from outside.
func hits(t *testing.T, files map[string]string) []string {
	t.Helper()
	set, err := ruleSet()
	require.NoError(t, err)
	var parsed []*lang.File
	for name, src := range files {
		f, err := lang.Parse(name, []byte(src))
		require.NoError(t, err)
		require.Zero(t, f.Errors, "%s: the snippet does not parse", name)
		parsed = append(parsed, f)
	}
	var out []string
	for _, h := range flow.NewProject(set, parsed).Analyse(context.Background(), 2) {
		if !h.Weak {
			out = append(out, fmt.Sprintf("%s %s:%d", h.Rule.ID, h.Unit.File.Path, h.Node.Start))
		}
	}
	return out
}

// ruleSet is the shipped rules with the sinks of these tests.
var ruleSet = sync.OnceValues(func() (*rules.Set, error) {
	all := fstest.MapFS{}
	for _, pattern := range []string{"../rules/*.yaml", "testdata/*.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			return nil, cmp.Or(err, fmt.Errorf("%s: no file", pattern))
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			all[filepath.Base(name)] = &fstest.MapFile{Data: b}
		}
	}
	return rules.Read(all)
})

// TestPropagation follows data along each way that the engine knows, and stops where
// it has to.
func TestPropagation(t *testing.T) {
	tests := []struct {
		name, file, code string
		want             []string
	}{
		{"a variable", "a.py", "def v(request):\n    c = request.GET['c']\n    os.system(c)\n", []string{"py.command-injection a.py:3"}},
		{"text around it", "a.py", "def v(request):\n    c = 'ls ' + request.GET['c'] + ' -l'\n    os.system(f'{c} | wc')\n", []string{"py.command-injection a.py:3"}},
		{"a default beside it", "a.js", "function h(req, res) {\n  const to = req.query.to || '/';\n  res.redirect(to);\n}\n", []string{"js.open-redirect a.js:3"}},
		{"a module where it is used", "a.js", "function h(req, res) {\n  require('child_process').exec(req.query.c);\n}\n", []string{"js.command-injection a.js:2"}},
		{"a module loaded when needed", "a.js", "async function h(req, res) {\n  const cp = await import('node:child_process');\n  cp.exec(req.query.c);\n  (await import('child_process')).exec(req.query.c);\n}\n", []string{"js.command-injection a.js:3", "js.command-injection a.js:4"}},
		{"a list", "a.py", "def v(request):\n    parts = ['ls']\n    parts.append(request.GET['c'])\n    os.system(' '.join(parts))\n", []string{"py.command-injection a.py:4"}},
		{"a map", "a.js", "function h(req, res) {\n  const o = {};\n  o.cmd = req.body.cmd;\n  eval(o.cmd);\n}\n", []string{"js.code-injection a.js:4"}},
		{"another key of the map", "a.js", "function h(req, res) {\n  const o = {};\n  o.cmd = req.body.cmd;\n  o.name = 'x';\n  eval(o.name);\n}\n", nil},
		{"a field of the class", "A.java", "class A extends HttpServlet {\n  String cmd;\n  void doGet(HttpServletRequest r, HttpServletResponse s) { this.cmd = r.getParameter(\"c\"); run(); }\n  void run() throws Exception { Runtime.getRuntime().exec(this.cmd); }\n}\n", []string{"java.command-injection A.java:4"}},
		{"a builder", "A.java", "class A extends HttpServlet {\n  void doGet(HttpServletRequest r, HttpServletResponse s) throws Exception {\n    StringBuilder b = new StringBuilder(\"ls \");\n    b.append(r.getParameter(\"c\"));\n    Runtime.getRuntime().exec(b.toString());\n  }\n}\n", []string{"java.command-injection A.java:5"}},
		{"a helper", "a.php", "<?php\nfunction run($c) { system($c); }\nrun($_GET['c']);\n", []string{"php.command-injection a.php:2"}},
		{"what a helper gives back", "a.php", "<?php\nfunction wrap($c) { return 'ls ' . $c; }\nsystem(wrap($_GET['c']));\n", []string{"php.command-injection a.php:3"}},
		{"a number", "a.php", "<?php\nsystem('kill ' . (int) $_GET['pid']);\n", nil},
		{"cleaned for another place", "a.php", "<?php\nsystem(htmlspecialchars($_GET['c']));\n", []string{"php.command-injection a.php:2"}},
		{"one branch cleans", "a.py", "def v(request):\n    c = request.GET['c']\n    if c == 'x':\n        c = shlex.quote(c)\n    os.system(c)\n", []string{"py.command-injection a.py:5"}},
		{"a fixed set", "a.py", "def v(request):\n    c = request.GET['c']\n    if c not in ('ls', 'df'):\n        return\n    os.system(c)\n", nil},
		{"a part that is checked", "a.go", "package p\n\nimport (\n\t\"net/http\"\n\t\"net/url\"\n)\n\nfunc h(w http.ResponseWriter, r *http.Request) {\n\tu, _ := url.Parse(r.FormValue(\"u\"))\n\tif u.Scheme != \"https\" {\n\t\treturn\n\t}\n\thttp.Get(u.String())\n}\n", []string{"go.ssrf a.go:13"}},
		{"a function that is called where it stands", "a.go", "package p\n\nimport (\n\t\"net/http\"\n\t\"os/exec\"\n)\n\nfunc h(w http.ResponseWriter, r *http.Request) {\n\tgo func(n int, c string) {\n\t\texec.Command(\"sh\", \"-c\", c).Run()\n\t}(1, r.FormValue(\"c\"))\n}\n", []string{"go.command-injection a.go:10"}},
		{"an arrow that is called where it stands", "a.js", "function h(req, res) {\n  ((a, b) => {\n    eval(a);\n    eval(b);\n  })('x', req.query.c);\n}\n", []string{"js.code-injection a.js:4"}},
		{"a method by its name", "a.js", "const cp = require('child_process');\nfunction h(req, res) {\n  cp['exec'](req.query.c);\n}\n", []string{"js.command-injection a.js:3"}},
		{"a part of a module by another name", "a.js", "const cp = require('child_process');\nconst { exec: run } = cp;\nfunction h(req, res) {\n  run(req.query.c);\n}\n", []string{"js.command-injection a.js:4"}},
		{"a name that a test of the type binds", "A.java", "class A extends HttpServlet {\n  void doGet(HttpServletRequest r, HttpServletResponse s) throws Exception {\n    Object o = r.getParameter(\"c\");\n    if (o instanceof String c) Runtime.getRuntime().exec(c);\n    if (o instanceof Integer i) Runtime.getRuntime().exec(\"kill \" + i);\n  }\n}\n", []string{"java.command-injection A.java:4"}},
		{"a name that a case binds", "A.java", "class A extends HttpServlet {\n  void doGet(HttpServletRequest r, HttpServletResponse s) throws Exception {\n    Object o = r.getParameter(\"c\");\n    switch (o) {\n      case Integer i -> Runtime.getRuntime().exec(\"kill \" + i);\n      case String c -> Runtime.getRuntime().exec(c);\n      default -> {}\n    }\n  }\n}\n", []string{"java.command-injection A.java:6"}},
		{"what a switch results in", "A.java", "class A extends HttpServlet {\n  void doGet(HttpServletRequest r, HttpServletResponse s) throws Exception {\n    String a = switch (n) { case 1 -> r.getParameter(\"c\"); default -> \"x\"; };\n    Runtime.getRuntime().exec(a);\n    String b = switch (n) { case 1: yield r.getParameter(\"c\"); default: yield \"x\"; };\n    Runtime.getRuntime().exec(b);\n    String c = switch (n) { case 1 -> \"y\"; default -> \"x\"; };\n    Runtime.getRuntime().exec(c);\n  }\n}\n", []string{"java.command-injection A.java:4", "java.command-injection A.java:6"}},
		{"what a match results in", "a.php", "<?php\n$c = match (true) { $a => 'x', default => $_GET['c'] };\nsystem($c);\n", []string{"php.command-injection a.php:3"}},
		{"a name that a pattern binds", "a.py", "def v(request):\n    match request.GET['c']:\n        case 'ls' | 'df':\n            pass\n        case str(c):\n            os.system(c)\n        case [_, *rest]:\n            os.system(rest)\n", []string{"py.command-injection a.py:6", "py.command-injection a.py:8"}},
		{"one of a few fixed texts", "a.py", "def v(request):\n    c = request.GET['c']\n    match c:\n        case 'ls' | 'df':\n            os.system(c)\n        case x if x in ('id', 'ps'):\n            os.system(x)\n        case _:\n            os.system(c)\n", []string{"py.command-injection a.py:9"}},
		{"what a function within another captures", "a.py", "def v(request):\n    c = request.GET['c']\n    def run(d):\n        os.system(c)\n        os.system(d)\n    run('x')\n", []string{"py.command-injection a.py:4"}},
		{"a parameter of the captured name", "a.js", "function h(req, res) {\n  const c = req.query.c;\n  function run(c) { eval(c); }\n  run('x');\n  function go() { eval(c); }\n}\n", []string{"js.code-injection a.js:5"}},
		{"what a decoder fills", "a.go", "package p\n\nimport (\n\t\"encoding/json\"\n\t\"net/http\"\n\t\"os/exec\"\n)\n\ntype q struct{ Cmd string }\n\nfunc h(w http.ResponseWriter, r *http.Request) {\n\tvar in q\n\tjson.NewDecoder(r.Body).Decode(&in)\n\texec.Command(\"sh\", \"-c\", in.Cmd).Run()\n}\n", []string{"go.command-injection a.go:14"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, hits(t, map[string]string{tt.file: tt.code}))
		})
	}
}

func TestAcrossFiles(t *testing.T) {
	require.Equal(t, []string{"py.command-injection shop/run.py:3"}, hits(t, map[string]string{
		"shop/views.py": "from .run import start\ndef v(request):\n    start(request.GET['c'])\n",
		"shop/run.py":   "import os\ndef start(c):\n    os.system(c)\n",
	}))
	require.Equal(t, []string{"js.command-injection lib/run.js:2"}, hits(t, map[string]string{
		"app.js":     "const { start } = require('./lib/run');\napp.get('/x', (req, res) => { start(req.query.c); });\n",
		"lib/run.js": "const { exec } = require('child_process');\nfunction start(c) { exec(c); }\nmodule.exports = { start };\n",
	}))
}

// TestDepth: a long chain of calls is followed, whichever of them is met first.
func TestDepth(t *testing.T) {
	chain := func(n int) string {
		var b strings.Builder
		b.WriteString("import os\n")
		fmt.Fprintf(&b, "def f%d(c):\n    os.system(c)\n", n)
		for i := n - 1; i >= 0; i-- {
			fmt.Fprintf(&b, "def f%d(c):\n    f%d(c)\n", i, i+1)
		}
		b.WriteString("def v(request):\n    f0(request.GET['c'])\n")
		return b.String()
	}
	require.Len(t, hits(t, map[string]string{"a.py": chain(5)}), 1)
	require.Len(t, hits(t, map[string]string{"a.py": strings.Replace(chain(40), "import os\n", "import os\ndef v0(request):\n    f0(request.GET['c'])\n", 1)}), 1, "whoever is met first")
	require.NotPanics(t, func() { hits(t, map[string]string{"a.py": chain(600)}) })
}

// TestCycle: of functions that call each other, the one that is met first does not
// decide what is found.
func TestCycle(t *testing.T) {
	f := "def f(c, n):\n    if n:\n        g(c, n)\n    os.system(c)\n"
	g := "def g(c, n):\n    f(c, n - 1)\n"
	for _, src := range []string{f + g, g + f} {
		for _, call := range []string{"f", "g"} {
			v := "def v(request):\n    " + call + "(request.GET['c'], 1)\n"
			require.Len(t, hits(t, map[string]string{"a.py": "import os\n" + src + v}), 1)
			require.Len(t, hits(t, map[string]string{"a.py": "import os\n" + v + src}), 1)
		}
	}
}

// TestTreesStay: shards read the same trees at once, so that none may change one.
func TestTreesStay(t *testing.T) {
	src := []byte("async function v(req) { if ((await allowed(req.query.q)).includes(req.query.q)) { send(req.query.q); } }\n")
	read, err := lang.Parse("a.js", src)
	require.NoError(t, err)
	again, err := lang.Parse("a.js", src)
	require.NoError(t, err)
	set, err := ruleSet()
	require.NoError(t, err)
	flow.NewProject(set, []*lang.File{read}).Analyse(context.Background(), 2)
	require.Equal(t, again.Root, read.Root)
}

// TestBrokenFile: a file at which the analysis breaks, here one whose language has no
// rules, is told; those after it are analysed.
func TestBrokenFile(t *testing.T) {
	files := []*lang.File{{Path: "a.cob", Lang: "cobol", Root: &lang.Node{Kind: lang.Block, List: []*lang.Node{{Kind: lang.Call, Name: "f"}}}}}
	for i := range flow.Shards { // the last one by the shard of the first
		sound, err := lang.Parse(fmt.Sprintf("b%d.py", i), []byte("def v(request):\n    render_template_string(request.GET['x'])\n"))
		require.NoError(t, err)
		files = append(files, sound)
	}
	set, err := ruleSet()
	require.NoError(t, err)
	p := flow.NewProject(set, files)
	require.Len(t, p.Analyse(context.Background(), 1), flow.Shards)
	require.Len(t, p.Warnings, 1)
	require.Contains(t, p.Warnings[p.Units[0].Funcs[0]], "a.cob: the analysis broke on this file: ")
}
