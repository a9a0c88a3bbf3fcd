package static

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"assay/internal/static/lang"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

var everyExt = []string{"java", "py", "js", "ts", "tsx", "go", "php"}

// TestPathological gives each parser inputs that are made to hurt: each ends in a
// warning with the file's name or in a result, and the file beside it is judged.
func TestPathological(t *testing.T) {
	much := 4
	if testing.Short() {
		much = 1
	}
	nested := strings.Repeat("(", 100000) + strings.Repeat(")", 100000)
	inputs := map[string]string{
		"nested":   "x = " + nested,
		"unclosed": "x = " + strings.Repeat("{[(", 30000),
		"line":     "x = \"" + strings.Repeat("request.args exec Command ", 5<<20/26) + "\"",
		"utf8":     "executeQuery \xff\xfe\x80 eval(\xc3\x28) exec md5\n",
		"nul":      "exec(\x00\x00)\nquery(\x00)",
		"empty":    "",
		"elses":    strings.Repeat("if (a) { exec(a) } else ", 100*much) + "{ }",
		"plus":     "query(" + strings.Repeat("a + ", 1000*much) + "a)",
		"dots":     "a" + strings.Repeat(".exec()", 750*much),
		"lines":    strings.Repeat("exec(query);\n", 1000*much),
		"brackets": strings.Repeat("exec(a[", 290) + strings.Repeat("])", 290),
	}
	for name, text := range inputs {
		t.Run(name, func(t *testing.T) {
			fsys := fstest.MapFS{"src/Ok.java": {Data: []byte(`class Ok { void f(HttpServletRequest r) throws Exception { Runtime.getRuntime().exec(r.getParameter("x")); } }`)}}
			for _, ext := range everyExt {
				head := ""
				switch ext {
				case "go":
					head = "package p\nfunc f() { "
				case "php":
					head = "<?php "
				}
				fsys["src/bad."+ext] = &fstest.MapFile{Data: []byte(head + text)}
			}
			res, err := New(Options{}).Analyse(context.Background(), fsys)
			require.NoError(t, err)
			found := false
			for _, f := range res.Findings {
				found = found || f.File == "src/Ok.java" && f.RuleID == "java.command-injection"
			}
			require.True(t, found, "the sound file was not judged")
			if name == "nested" || name == "line" {
				require.GreaterOrEqual(t, len(res.Warnings), len(everyExt), "each is named in a warning: %v", res.Warnings)
				for _, w := range res.Warnings {
					require.Contains(t, w, "src/bad.")
				}
			}
		})
	}
}

func TestSkippedByName(t *testing.T) {
	fsys := fstest.MapFS{
		"a.min.js":  {Data: []byte("eval(location.hash)")},
		"big.js":    {Data: bytes.Repeat([]byte("eval(x);\n"), lang.MaxFile/8)},
		"wide.js":   {Data: []byte("\xff\xfee\x00v\x00a\x00l\x00")},
		"linked.js": {Data: []byte("../other"), Mode: fs.ModeSymlink},
	}
	res, err := New(Options{}).Analyse(context.Background(), fsys)
	require.NoError(t, err)
	require.Empty(t, res.Findings)
	require.Len(t, res.Warnings, 4)
	require.Equal(t, "linked.js: left out: a symbolic link, which is not followed", res.Warnings[0])
	require.Contains(t, res.Warnings[1], "a.min.js")
	require.Contains(t, res.Warnings[2], "big.js")
	require.Equal(t, "wide.js: text in UTF-16, expected UTF-8: skipped", res.Warnings[3])
}

// TestLongNames: a name that is cut in a trace is cut between letters.
func TestLongNames(t *testing.T) {
	code := "from flask import request\nimport os\ndef f():\n    x = request.args.get('q')\n    %[1]s = x\n    os.system('ls ' + %[1]s)\n"
	res, err := New(Options{}).Analyse(context.Background(), fstest.MapFS{"a.py": {Data: fmt.Appendf(nil, code, "a"+strings.Repeat("é", 50))}})
	require.NoError(t, err)
	require.Len(t, res.Findings, 1)
	require.Equal(t, "held in a"+strings.Repeat("é", 39), res.Findings[0].Trace[1].Note)
}

// TestOddCode: code that is written seldom or is not whole is judged like any other.
func TestOddCode(t *testing.T) {
	for name, text := range map[string]string{
		"method-outside-of-a-class.js": "class Box { fillContent(v) { this.content = v; } }\nrouter.get('/x', function (req, res) { this.fillContent(req.query.q); });\n",
		"target-without-a-name.ts":     "const f = async () => { try { const a = await g({ i:=[{ m: 1,\nBy }] });\n } catch (e) { h(e); }\n};\n",
		"option-without-a-value.js":    "const session = require('express-session');\napp.use(session({ secret: new.target }));\n",
		"member-of-nothing.js":         "router.get('/x', function (req, res) { run(new.target.step, req.query.q); });\n",
		"types-as-variables.go":        "package p\nfunc f(r *http.Request) {\n\tfor k, []string := range r.Form { g(k) }\n\t[]int, []int = r.Form\n}\n",
		"method-in-a-method.java":      "class A { int g(String a) {\n String f(String b, int c) {\n run(a);\n }\n}\n",
		"parameters-alone.php":         "<?php\nfunction f(string $a, $b)\n  g($a);\n}\n",
		"inherited-field.java":         "class A extends ActionSupport { void put(final String name) { } void setName(String n) { } String execute() { return name; } }\n",
	} {
		t.Run(name, func(t *testing.T) {
			res, err := New(Options{}).Analyse(context.Background(), fstest.MapFS{name: {Data: []byte(text)}})
			require.NoError(t, err)
			require.Equal(t, 1, res.Parsed, "%v", res.Warnings)
			require.NotContains(t, fmt.Sprint(res.Warnings), "too long")
		})
	}
}

// TestAfterAMistake: of a file that is not whole the functions behind the mistake are
// analysed, too.
func TestAfterAMistake(t *testing.T) {
	const before = "package p\n\nimport (\n\t\"net/http\"\n\t\"os/exec\"\n)\n\n"
	const sink = "func %s(w http.ResponseWriter, r *http.Request) {\n\texec.Command(\"sh\", \"-c\", r.FormValue(\"q\")).Run()\n}\n"
	const broken = "func %s() {\n\tcase 1:\n}\n"
	text := before + fmt.Sprintf(sink+broken+sink+broken+sink, "a", "b", "c", "d", "e") + "var x = 1\n" + fmt.Sprintf(sink, "f")
	res, err := New(Options{}).Analyse(context.Background(), fstest.MapFS{"a.go": {Data: []byte(text)}})
	require.NoError(t, err)
	var found []string
	for _, f := range res.Findings {
		found = append(found, fmt.Sprintf("%s:%s", f.Function, f.Lines))
	}
	require.Equal(t, []string{"a:9", "c:15", "e:21", "f:25"}, found)
	require.Equal(t, []string{"a.go: 2 places could not be parsed; the rest was analysed"}, res.Warnings)
}

// TestTooLongIsSaid: a function whose end is not followed is named.
func TestTooLongIsSaid(t *testing.T) {
	res, err := New(Options{}).Analyse(context.Background(), fstest.MapFS{"a.go": {Data: []byte("package p\nfunc f(x string) {\n" + strings.Repeat("g(x, 1, 2, 3, 4, 5, 6, 7)\n", 9000) + "}\n")}})
	require.NoError(t, err)
	require.Len(t, res.Warnings, 1)
	require.Contains(t, res.Warnings[0], "a.go:2: f is too long")
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := New(Options{}).Analyse(ctx, fstest.MapFS{"a.py": {Data: []byte("eval(x)")}})
	require.ErrorIs(t, err, context.Canceled)
}

type brokenFS struct{ fstest.MapFS }

func (b brokenFS) ReadFile(name string) ([]byte, error) {
	if name == "bad.py" {
		return nil, fs.ErrPermission
	}
	return b.MapFS.ReadFile(name)
}

func TestUnreadableFileIsAWarning(t *testing.T) {
	res, err := New(Options{}).Analyse(context.Background(), brokenFS{fstest.MapFS{
		"bad.py":  {Data: []byte("eval(x)")},
		"good.py": {Data: []byte("def v(request):\n    render_template_string(request.GET['x'])\n")},
	}})
	require.NoError(t, err)
	require.Len(t, res.Warnings, 1)
	require.Contains(t, res.Warnings[0], "bad.py")
	require.Len(t, res.Findings, 1)
}

// TestSameResult holds that neither the number of workers nor the run changes
// what is found.
func TestSameResult(t *testing.T) {
	fsys := fstest.MapFS{}
	for i, s := range snippets(t) {
		for name, f := range s.files {
			fsys[fmt.Sprintf("p%03d/%s", i, name)] = f
		}
	}
	one, err := New(Options{Workers: 1}).Analyse(context.Background(), fsys)
	require.NoError(t, err)
	require.NotEmpty(t, one.Findings)
	runs := 3
	if testing.Short() {
		runs = 1
	}
	for range runs {
		many, err := New(Options{Workers: 8}).Analyse(context.Background(), fsys)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(one, many))
	}
}

func fuzzParser(f *testing.F, ext string) {
	for _, seed := range []string{"", "x", "class A { void f() { g(1); } }", "def f(a):\n  return a\n", "<?php echo $_GET['a'];", "package p\nfunc f() {}", "const f = async (x) => { await g(`a${x}`) }"} {
		f.Add([]byte(seed))
	}
	a := New(Options{Workers: 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		res, err := a.Analyse(context.Background(), fstest.MapFS{"f." + ext: {Data: b}})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range res.Warnings {
			if strings.Contains(w, "broke") {
				t.Fatal(w)
			}
		}
		lines := bytes.Count(b, []byte("\n")) + 1
		for _, x := range res.Findings {
			if x.Lines.Start < 1 || x.Lines.Start > lines || x.Lines.End < x.Lines.Start {
				t.Fatalf("%s at line %s of %d", x.RuleID, x.Lines, lines)
			}
		}
	})
}

func FuzzJava(f *testing.F)       { fuzzParser(f, "java") }
func FuzzPython(f *testing.F)     { fuzzParser(f, "py") }
func FuzzJavaScript(f *testing.F) { fuzzParser(f, "js") }
func FuzzTypeScript(f *testing.F) { fuzzParser(f, "ts") }
func FuzzGo(f *testing.F)         { fuzzParser(f, "go") }
func FuzzPHP(f *testing.F)        { fuzzParser(f, "php") }

// BenchmarkJava reports files and megabytes a second on made up controllers of
// the size that such files have.
func BenchmarkJava(b *testing.B) { benchmark(b, "java", javaSample) }

// BenchmarkPHP is the same for PHP.
func BenchmarkPHP(b *testing.B) {
	benchmark(b, "php", func(i int) string {
		return "<?php\n" + strings.Repeat(fmt.Sprintf("function list%d($db) { $st = $db->prepare('SELECT * FROM t WHERE id = ?'); $st->execute([$_GET['id']]); return $st->fetchAll(); }\n", i), 20)
	})
}

func javaSample(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package shop.web;\n@RestController\npublic class C%d {\n  private final Repo repo;\n", i)
	for j := range 12 {
		fmt.Fprintf(&b, "  @GetMapping(\"/items%d\")\n  public List<Item> list%d(@RequestParam String name, Principal p) {\n    List<Item> out = new ArrayList<>();\n    for (Item x : repo.findByOwner(p.getName())) {\n      if (x.getName().contains(name)) {\n        out.add(x);\n      }\n    }\n    log.info(\"listed {}\", out.size());\n    return out;\n  }\n", j, j)
	}
	b.WriteString("}\n")
	return b.String()
}

func benchmark(b *testing.B, ext string, sample func(int) string) {
	fsys := fstest.MapFS{}
	size := 0
	for i := range 300 {
		s := sample(i)
		size += len(s)
		fsys[fmt.Sprintf("src/F%d.%s", i, ext)] = &fstest.MapFile{Data: []byte(s)}
	}
	a := New(Options{})
	b.SetBytes(int64(size))
	b.ResetTimer()
	n := 0
	for b.Loop() {
		res, err := a.Analyse(context.Background(), fsys)
		require.NoError(b, err)
		n += res.Files
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "files/s")
}
