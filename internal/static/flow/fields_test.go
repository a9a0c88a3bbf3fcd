package flow_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFields follows data through the fields of objects, and keeps it to the fields
// that hold it.
func TestFields(t *testing.T) {
	tests := []struct {
		name, file, code string
		want             []string
	}{
		{"a constructor", "a.py", "class Job:\n    def __init__(self, cmd, n):\n        self.cmd = cmd\n        self.n = n\n    def run(self):\n        os.system(self.cmd)\n    def count(self):\n        os.system(self.n)\ndef v(request):\n    j = Job(request.GET['c'], 'x')\n    j.run()\n    j.count()\n", []string{"py.command-injection a.py:6"}},
		{"a data class", "a.py", "@dataclass\nclass Job:\n    cmd: str\n    name: str = 'x'\ndef run(j: Job):\n    os.system(j.cmd)\n    os.system(j.name)\ndef v(request):\n    run(Job(cmd=request.GET['c'], name='y'))\n", []string{"py.command-injection a.py:6", "py.command-injection a.py:7"}},
		{"a record", "A.java", "record Job(String cmd, String name, int n) {}\nclass A extends HttpServlet {\n  void doGet(HttpServletRequest r, HttpServletResponse s) throws Exception { run(new Job(r.getParameter(\"c\"), \"x\", 1)); }\n  void run(Job j) throws Exception {\n    Runtime.getRuntime().exec(j.cmd());\n    Runtime.getRuntime().exec(j.name());\n  }\n}\n", []string{"java.command-injection A.java:5", "java.command-injection A.java:6"}},
		{"a builder", "A.java", "class Line {\n  private String cmd, name;\n  Line cmd(String c) { this.cmd = c; return this; }\n  Line name(String n) { this.name = n; return this; }\n  void run() throws Exception { Runtime.getRuntime().exec(this.cmd); }\n  void say() throws Exception { Runtime.getRuntime().exec(this.name); }\n}\nclass A extends HttpServlet {\n  void doGet(HttpServletRequest r, HttpServletResponse s) throws Exception {\n    Line l = new Line().cmd(r.getParameter(\"c\")).name(\"x\");\n    l.run();\n    l.say();\n  }\n}\n", []string{"java.command-injection A.java:5"}},
		{"a setter", "a.php", "<?php\nclass Job {\n  private $c;\n  function set($c) { $this->c = $c; }\n  function run() { system($this->c); }\n}\n$j = new Job();\n$j->set($_GET['c']);\n$j->run();\n", []string{"php.command-injection a.php:5"}},
		{"promoted parameters", "a.php", "<?php\nclass Job {\n  function __construct(public readonly string $c, public readonly string $n) {}\n}\nfunction run(Job $j) {\n  system($j->c);\n  system($j->n);\n}\nrun(new Job($_GET['c'], 'x'));\n", []string{"php.command-injection a.php:6"}},
		{"a literal object", "a.js", "function run(o) {\n  eval(o.code);\n  eval(o.name);\n}\nfunction h(req, res) {\n  run({ code: req.body.code, name: 'x' });\n}\n", []string{"js.code-injection a.js:2"}},
		{"fields set one by one", "a.js", "function run(o) {\n  eval(o.code);\n  eval(o.name);\n}\nfunction h(req, res) {\n  const o = { name: 'x' };\n  o.code = req.body.code;\n  run(o);\n}\n", []string{"js.code-injection a.js:2"}},
		{"a field that was checked", "a.js", "function run(o) {\n  eval(o.code);\n  eval(o.other);\n}\nfunction h(req, res) {\n  const o = req.body;\n  if (!['a', 'b'].includes(o.code)) return;\n  run(o);\n}\n", []string{"js.code-injection a.js:3"}},
		{"a function that is handed on", "a.py", "def run(cmd, name):\n    os.system(cmd)\n    os.system(name)\ndef v(request):\n    pool.submit(run, request.GET['c'], 'x')\n", []string{"py.command-injection a.py:2"}},
		{"what each element becomes", "a.js", "function h(req, res) {\n  const ids = req.query.ids;\n  db.query(`select a from t where id in (${ids.map(() => '?').join(',')})`, ids);\n  db.query(`select a from t where id in (${ids.map((i) => `'${i}'`).join(',')})`);\n}\n", []string{"js.sql-injection a.js:4"}},
		{"a key of a fixed map", "a.py", "def v(request):\n    os.system(COMMANDS.get(request.GET['c'], 'ls'))\n    os.system(COMMANDS.get('x', request.GET['c']))\n", []string{"py.command-injection a.py:3"}},
		{"a generic function", "a.go", "package p\n\nimport (\n\t\"encoding/json\"\n\t\"net/http\"\n\t\"os/exec\"\n)\n\ntype q struct{ Cmd string }\n\nfunc decode[T any](r *http.Request) T {\n\tvar v T\n\tjson.NewDecoder(r.Body).Decode(&v)\n\treturn v\n}\n\nfunc h(w http.ResponseWriter, r *http.Request) {\n\tin := decode[q](r)\n\texec.Command(\"sh\", \"-c\", in.Cmd).Run()\n}\n", []string{"go.command-injection a.go:19"}},
		{"a number within a text", "a.go", "package p\n\nimport (\n\t\"database/sql\"\n\t\"fmt\"\n\t\"net/http\"\n)\n\nfunc h(db *sql.DB, r *http.Request) {\n\tfor i := range r.Form[\"t\"] {\n\t\tdb.Query(\"select a from t where b = \" + fmt.Sprintf(\"$%d\", i+1))\n\t}\n}\n", nil},
		{"an enumeration", "a.py", "class Sort(str, Enum):\n    name = 'name'\n@router.get('/x')\ndef v(sort: Sort):\n    os.system(sort.value)\n", nil},
		{"one way that leaves the address open", "a.py", "def v(request):\n    to = request.GET['to']\n    return redirect(to if '://' in to else f'/x{to}')\n", []string{"py.open-redirect a.py:3"}},
		{"a part that proves nothing of the rest", "a.php", "<?php\n$p = parse_url($_GET['u']);\nif (in_array($p['scheme'] ?? '', ['http', 'https'], true)) {\n  curl_init($_GET['u']);\n}\n", []string{"php.ssrf a.php:4"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := hits(t, map[string]string{tt.file: tt.code})
			require.ElementsMatch(t, tt.want, got)
		})
	}
}
