package flow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A twin is a body in which RUN(x) is a command that must be reported where the line
// says "harm", and must not be where it says "safe". SRC is data from outside.
type twin struct{ name, body string }

// spoken are the languages: the file, what stands around a body, how a command is run
// and where data comes from.
var spoken = map[string]struct{ file, head, run, src, tail, rule string }{
	"java":   {"A.java", "class A extends HttpServlet {\n  void doGet(HttpServletRequest r, HttpServletResponse s) throws Exception {\n", "Runtime.getRuntime().exec(%s);", "r.getParameter(\"q\")", "  }\n}\n", "java.command-injection"},
	"python": {"a.py", "def v(request):\n", "os.system(%s)", "request.GET['q']", "", "py.command-injection"},
	"js":     {"a.js", "const cp = require('child_process');\napp.get('/x', (req, res) => {\n", "cp.exec(%s);", "req.query.q", "});\n", "js.command-injection"},
	"ts":     {"a.ts", "import * as cp from 'child_process';\nexport function h(req: Request, res: Response): void {\n", "cp.exec(%s);", "req.query.q", "}\n", "js.command-injection"},
	"go":     {"a.go", "package p\n\nimport (\n\t\"lib/other\"\n\t\"net/http\"\n\t\"os/exec\"\n\t\"strings\"\n)\n\nfunc h(w http.ResponseWriter, r *http.Request) {\n", "exec.Command(\"sh\", \"-c\", %s).Run()", "r.FormValue(\"q\")", "}\n", "go.command-injection"},
	"php":    {"a.php", "<?php\n", "system(%s);", "$_GET['q']", "", "php.command-injection"},
}

// TestChecksOfParts: a check of one part proves nothing of the others, and what it
// looks at is proved.
func TestChecksOfParts(t *testing.T) {
	twins := map[string][]twin{
		"java": {
			{"a prefix", "String p = SRC;\nif (p.substring(0, 2).equals(\"ab\")) {\nRUN(p) // harm\n}\nif (p.equals(\"ab\")) {\nRUN(p) // safe\n}"},
			{"an element", "String[] p = SRC.split(\":\");\nif (p[0].equals(\"a\")) {\nRUN(p[1]) // harm\nRUN(p[0]) // safe\n}"},
			{"a key", "Map<String, String> it = Objects.requireNonNull(SRC);\nif (it.get(\"kind\").equals(\"a\")) {\nRUN(it.get(\"target\")) // harm\nRUN(it.get(\"kind\")) // safe\n}"},
			{"a field", "Job it = Objects.requireNonNull(SRC);\nif (it.getKind().equals(\"a\")) {\nRUN(it.getTarget()) // harm\nRUN(it.getKind()) // safe\n}"},
			{"a deeper field", "Job it = Objects.requireNonNull(SRC);\nif (it.getHead().getKind().equals(\"a\")) {\nRUN(it.getHead().getTarget()) // harm\nRUN(it.getHead().getKind()) // safe\n}"},
			{"a switch", "Job it = Objects.requireNonNull(SRC);\nswitch (it.getKind()) {\ncase \"a\":\nRUN(it.getTarget()) // harm\nRUN(it.getKind()) // safe\n}"},
		},
		"python": {
			{"a slice", "p = SRC\nif p[:2] == 'ab':\n    RUN(p) # harm\nif p == 'ab':\n    RUN(p) # safe"},
			{"an element", "p = SRC.split(':')\nif p[0] == 'a':\n    RUN(p[1]) # harm\n    RUN(p[0]) # safe"},
			{"two names", "a, b = SRC.split(':')\nif a in ('x', 'y'):\n    RUN(b) # harm\n    RUN(a) # safe"},
			{"a key", "it = json.loads(SRC)\nif it['kind'] == 'a':\n    RUN(it['target']) # harm\n    RUN(it['kind']) # safe"},
			{"a key of an element", "for it in json.loads(SRC)['jobs']:\n    if it['kind'] == 'a':\n        RUN(it['target']) # harm\n        RUN(it['kind']) # safe"},
			{"a look-up", "it = json.loads(SRC)\nif it.get('kind') in ('a', 'b'):\n    RUN(it.get('target')) # harm\n    RUN(it.get('kind')) # safe"},
			{"another element", "a = json.loads(SRC)\nfor i in range(3):\n    if a[i] in ('x', 'y'):\n        RUN(a[0]) # harm\n        RUN(a[i]) # safe"},
			{"a start that an expression tells", "p = SRC\nif re.match('^ab', p):\n    RUN(p) # harm\nif re.match('^[a-z]+$', p):\n    RUN(p) # safe"},
		},
		"js": {
			{"a slice", "const p = SRC;\nif (p.slice(0, 2) === 'ab') {\nRUN(p) // harm\n}\nif (p === 'ab') {\nRUN(p) // safe\n}"},
			{"an element", "const p = SRC.split(':');\nif (p[0] === 'a') {\nRUN(p[1]) // harm\nRUN(p[0]) // safe\n}"},
			{"two names", "const [a, b] = SRC.split(':');\nif (['x', 'y'].includes(a)) {\nRUN(b) // harm\nRUN(a) // safe\n}"},
			{"a key", "const it = JSON.parse(SRC);\nif (it.kind === 'a') {\nRUN(it.target) // harm\nRUN(it['kind']) // safe\n}"},
			{"a pattern", "const { kind, target } = JSON.parse(SRC);\nif (kind === 'a') {\nRUN(target) // harm\nRUN(kind) // safe\n}"},
			{"each element", "JSON.parse(SRC).forEach((it) => {\nif (it.kind === 'a') {\nRUN(it.target) // harm\nRUN(it.kind) // safe\n}\n});"},
			{"a start that an expression tells", "const p = SRC;\nif (/^ab/.test(p)) {\nRUN(p) // harm\n}\nif (/^[a-z]+$/.test(p)) {\nRUN(p) // safe\n}"},
		},
		"ts": {
			{"a slice", "const p: string = SRC;\nif (p.substring(0, 2) === 'ab') {\nRUN(p) // harm\n}\nif (p === 'ab') {\nRUN(p) // safe\n}"},
			{"an element", "const p = SRC.split(':');\nif (p[0] === 'a') {\nRUN(p[1]) // harm\nRUN(p[0]) // safe\n}"},
			{"a key", "const it = JSON.parse(SRC) as Job;\nif (it.kind === 'a') {\nRUN(it.target) // harm\nRUN(it.kind) // safe\n}"},
			{"a switch", "const it = JSON.parse(SRC) as Job;\nswitch (it.kind) {\ncase 'a':\nRUN(it.target) // harm\nRUN(it.kind) // safe\n}"},
		},
		"go": {
			{"a slice", "p := SRC\nif p[:2] == \"ab\" {\nRUN(p) // harm\n}\nif p == \"ab\" {\nRUN(p) // safe\n}"},
			{"an element", "p := strings.Split(SRC, \":\")\nif p[0] == \"a\" {\nRUN(p[1]) // harm\nRUN(p[0]) // safe\n}"},
			{"two names", "a, b, _ := strings.Cut(SRC, \":\")\nif a == \"x\" {\nRUN(b) // harm\nRUN(a) // safe\n}"},
			{"a field", "var it job\njson.NewDecoder(r.Body).Decode(&it)\nif it.Kind == \"a\" {\nRUN(it.Target) // harm\nRUN(it.Kind) // safe\n}"},
			{"a key", "it := map[string]string{}\njson.NewDecoder(r.Body).Decode(&it)\nif it[\"kind\"] == \"a\" {\nRUN(it[\"target\"]) // harm\nRUN(it[\"kind\"]) // safe\n}"},
		},
		"php": {
			{"a slice", "$p = SRC;\nif (substr($p, 0, 2) === 'ab') {\nRUN($p) // harm\n}\nif ($p === 'ab') {\nRUN($p) // safe\n}"},
			{"an element", "$p = explode(':', SRC);\nif ($p[0] === 'a') {\nRUN($p[1]) // harm\nRUN($p[0]) // safe\n}"},
			{"two names", "list($a, $b) = explode(':', SRC);\nif (in_array($a, ['x', 'y'], true)) {\nRUN($b) // harm\nRUN($a) // safe\n}"},
			{"a key", "$it = json_decode(SRC, true);\nif ($it['kind'] === 'a') {\nRUN($it['target']) // harm\nRUN($it['kind']) // safe\n}"},
			{"a field", "$it = json_decode(SRC);\nif ($it->kind === 'a') {\nRUN($it->target) // harm\nRUN($it->kind) // safe\n}"},
		},
	}
	judge(t, twins)
}

// TestFieldsOfUnknownObjects: what a setter is given is in its field, also where the
// type is not known; and what is cleaned or assigned anew is clean.
func TestFieldsOfUnknownObjects(t *testing.T) {
	twins := map[string][]twin{
		"java": {
			{"a setter", "Job o = Jobs.next();\no.setName(SRC);\nRUN(o.getTitle()) // safe\nRUN(o.getName()) // harm"},
			{"a key", "Map<String, String> o = Jobs.next();\no.put(\"name\", SRC);\nRUN(o.get(\"title\")) // safe\nRUN(o.get(\"name\")) // harm"},
			{"a list", "List<String> o = Jobs.next();\no.add(SRC);\nRUN(o.get(0)) // harm"},
		},
		"python": {
			{"a setter", "o = jobs.next()\no.set_name(SRC)\nRUN(o.get_title()) # safe\nRUN(o.get_name()) # harm"},
			{"a field", "o = jobs.next()\no.name = SRC\nRUN(o.title) # safe\nRUN(o.name) # harm"},
			{"a field given anew", "o = json.loads(SRC)\no['name'] = 'x'\nRUN(o['name']) # safe\nRUN(o['title']) # harm"},
			{"given anew on one way", "o = json.loads(SRC)\nif debug:\n    o['name'] = 'x'\nRUN(o['name']) # harm"},
			{"a deeper field", "o = {}\no['a'] = {}\no['a']['b'] = SRC\nRUN(o['a']['c']) # safe\nRUN(o['a']['b']) # harm"},
		},
		"js": {
			{"a setter", "const o = jobs.next();\no.setName(SRC);\nRUN(o.getTitle()) // safe\nRUN(o.getName()) // harm"},
			{"a field", "const o = jobs.next();\no.head.name = SRC;\nRUN(o.head.title) // safe\nRUN(o.head.name) // harm"},
			{"a field that was cleaned", "const o = JSON.parse(SRC);\no.n = parseInt(o.n);\nRUN(o.n) // safe\nRUN(o.m) // harm"},
		},
		"ts": {
			{"a setter", "const o: Job = jobs.next();\no.setName(SRC);\nRUN(o.getTitle()) // safe\nRUN(o.getName()) // harm"},
			{"an element of a literal", "const o: string[] = ['x', SRC];\nRUN(o[0]) // safe\nRUN(o[1]) // harm"},
		},
		"go": {
			{"a setter", "o := other.Next()\no.SetName(SRC)\nRUN(o.GetTitle()) // safe\nRUN(o.GetName()) // harm"},
			{"a field", "o := other.Next()\no.Name = SRC\nRUN(o.Title) // safe\nRUN(o.Name) // harm"},
		},
		"php": {
			{"a setter", "$o = Jobs::next();\n$o->setName(SRC);\nRUN($o->getTitle()) // safe\nRUN($o->getName()) // harm"},
			{"a key", "$o = ['name' => SRC, 'title' => 'x'];\nRUN($o['title']) // safe\nRUN($o['name']) // harm"},
		},
	}
	judge(t, twins)
}

// TestFactories: a factory whose name sounds like a look-up keeps what it is given, a
// look-up does not.
func TestFactories(t *testing.T) {
	twins := map[string][]twin{
		"java":   {{"get", "RUN(Paths.get(SRC).toString()) // harm\nRUN(Cache.get(SRC).toString()) // safe"}, {"find", "RUN(Command.find(SRC).text()) // harm\nRUN(UserRepository.find(SRC).text()) // safe"}},
		"python": {{"find", "RUN(Command.find(SRC)) # harm\nRUN(UserStore.find(SRC)) # safe"}, {"lookup", "RUN(Command.lookup(SRC)) # harm\nRUN(users.lookup(SRC)) # safe"}},
		"js":     {{"find", "RUN(Command.find(SRC)) // harm\nRUN(UserModel.find(SRC)) // safe"}, {"fetch", "RUN(Command.fetchFrom(SRC)) // harm\nRUN(users.fetchFrom(SRC)) // safe"}},
		"ts":     {{"load", "RUN(Command.load(SRC)) // harm\nRUN(CommandCache.load(SRC)) // safe"}},
		"php":    {{"find", "RUN(Command::find(SRC)) // harm\nRUN(Cache::find(SRC)) // safe"}},
		"go":     {{"find", "RUN(other.FindCommand(SRC)) // harm\nRUN(store.FindCommand(SRC)) // safe"}},
	}
	judge(t, twins)
	require.Equal(t, []string{"php.command-injection a.php:6"}, hits(t, map[string]string{"a.php": "<?php\nclass Cmd {\n  public $c;\n  function __construct($c) { $this->c = $c; }\n  static function find($c) { return new Cmd($c); }\n  function run() { system($this->c); }\n}\n$j = Cmd::find($_GET['c']);\n$j->run();\n"}))
	require.Equal(t, []string{"java.command-injection A.java:4"}, hits(t, map[string]string{"A.java": "class Cmd {\n  private final String c; Cmd(String c) { this.c = c; }\n  static Cmd lookup(String c) { return new Cmd(c); }\n  void run() throws Exception { Runtime.getRuntime().exec(this.c); }\n}\nclass A extends HttpServlet {\n  void doGet(HttpServletRequest r, HttpServletResponse s) throws Exception { Cmd.lookup(r.getParameter(\"c\")).run(); }\n}\n"}))
}

func judge(t *testing.T, twins map[string][]twin) {
	for l, s := range spoken {
		require.NotEmpty(t, twins[l], "no twin in %s", l)
		for _, tt := range twins[l] {
			t.Run(l+"/"+tt.name, func(t *testing.T) {
				body := strings.ReplaceAll(tt.body, "SRC", s.src)
				var want []string
				lines := strings.Split(s.head+indent(l, body)+"\n"+s.tail, "\n")
				for i, line := range lines {
					if a, rest, ok := strings.Cut(line, "RUN("); ok {
						arg, note, _ := strings.Cut(rest, ") // ")
						if l == "python" {
							arg, note, _ = strings.Cut(rest, ") # ")
						}
						lines[i] = a + fmt.Sprintf(s.run, arg)
						if note == "harm" {
							want = append(want, fmt.Sprintf("%s %s:%d", s.rule, s.file, i+1))
						}
					}
				}
				require.ElementsMatch(t, want, hits(t, map[string]string{s.file: strings.Join(lines, "\n")}), strings.Join(lines, "\n"))
			})
		}
	}
}

func indent(l, body string) string {
	if l != "python" {
		return body
	}
	return "    " + strings.ReplaceAll(body, "\n", "\n    ")
}
