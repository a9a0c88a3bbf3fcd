package static

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// TestAcrossFiles follows data from the file where it enters to the file where it
// does harm, in each language, with a safe path beside it.
func TestAcrossFiles(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		rule  string
		at    string // "file:line" of the one finding of the rule
		trace []string
	}{
		{"java service and dao", map[string]string{
			"src/web/Desk.java": `package web;
@RestController
class Desk {
  private final Lookup lookup;
  @GetMapping("/a") List<Row> a(@RequestParam String q) { return lookup.search(q.trim()); }
  @GetMapping("/b") List<Row> b(@RequestParam String q) { return lookup.exact(q); }
}`,
			"src/core/Lookup.java": `package core;
interface Lookup { List<Row> search(String q); List<Row> exact(String q); }`,
			"src/core/JdbcLookup.java": `package core;
class JdbcLookup implements Lookup {
  private JdbcTemplate jdbc;
  public List<Row> search(String q) {
    String where = clause(q);
    return jdbc.query("SELECT * FROM rows " + where, mapper);
  }
  public List<Row> exact(String q) { return jdbc.query("SELECT * FROM rows WHERE name = ?", mapper, q); }
  private String clause(String q) { return "WHERE name LIKE '%" + q + "%'"; }
}`}, "java.sql-injection", "src/core/JdbcLookup.java:6", []string{"src/web/Desk.java", "src/core/JdbcLookup.java"}},
		{"python module", map[string]string{
			"shop/views.py": `from flask import request
from shop import store
@app.route("/r")
def report():
    return store.build(request.args["name"])
@app.route("/s")
def safe():
    return store.build("daily")
`,
			"shop/store.py": `from flask import render_template_string
def build(name):
    text = "Dear " + name
    return show(text)
def show(text):
    return render_template_string("<p>" + text)
`}, "py.template-injection", "shop/store.py:6", []string{"shop/views.py", "shop/store.py"}},
		{"js require", map[string]string{
			"api/items.js": `const files = require('../lib/files');
router.get('/i/:name', (req, res) => {
  const { name } = req.params;
  files.read(name, (e, b) => res.json(b));
});`,
			"lib/files.js": `const fs = require('fs');
const dir = '/srv/items/';
function read(name, cb) {
  fs.readFile(dir + name, cb);
}
module.exports = { read };`}, "js.path-traversal", "lib/files.js:4", []string{"api/items.js", "lib/files.js"}},
		{"go package", map[string]string{
			"web/h.go": `package web
import "net/http"
type server struct{ st *store }
func (s *server) get(w http.ResponseWriter, r *http.Request) {
	s.st.byName(r.FormValue("n"))
}`,
			"web/st.go": `package web
import "database/sql"
type store struct{ db *sql.DB }
func (s *store) byName(n string) {
	q := "SELECT id FROM t WHERE n = '"
	q += n + "'"
	s.db.Query(q)
}`}, "go.sql-injection", "web/st.go:7", []string{"web/h.go", "web/st.go"}},
		{"php class", map[string]string{
			"page.php": `<?php
require 'Repo.php';
$repo = new Repo($db);
$repo->byName($_GET['n']);
`,
			"Repo.php": `<?php
class Repo {
  private $db;
  public function byName($n) {
    $path = "/srv/rows/{$n}";
    return file_get_contents($path);
  }
}`}, "php.path-traversal", "Repo.php:6", []string{"page.php", "Repo.php"}},
		{"ts class field", map[string]string{
			"src/a.ts": `import { Runner } from './b';
export class Ctl {
  constructor(private runner: Runner) {}
  @Get('/x') x(@Query('host') host: string) { return this.runner.ping(host); }
}`,
			"src/b.ts": `import * as fs from 'fs';
export class Runner {
  ping(h: string) {
    fs.readFile('/srv/hosts/' + h, () => {});
  }
}`}, "js.path-traversal", "src/b.ts:4", []string{"src/a.ts", "src/b.ts"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for p, s := range tt.files {
				fsys[p] = &fstest.MapFile{Data: []byte(s)}
			}
			res, err := New(Options{}).Analyse(context.Background(), fsys)
			require.NoError(t, err)
			var at, through []string
			for _, f := range res.Findings {
				if f.RuleID != tt.rule {
					continue
				}
				at = append(at, f.File+":"+f.Lines.String())
				for _, s := range f.Trace {
					if len(through) == 0 || through[len(through)-1] != s.File {
						through = append(through, s.File)
					}
				}
				require.GreaterOrEqual(t, f.Confidence, 0.7, "the source was seen")
			}
			require.Equal(t, []string{tt.at}, at)
			require.Equal(t, tt.trace[0], through[0])
			require.Equal(t, tt.trace[1], through[len(through)-1])
		})
	}
}
