package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"

	"assay/audit"
	"assay/audit/findings"
	"assay/audit/fixture"
	"assay/audit/score"
)

// TestImportOfSARIF: results of every kind are read, of which those that are no
// problem become decoys, and reading ends at the limit.
func TestImportOfSARIF(t *testing.T) {
	log := func(results string) *strings.Reader {
		return strings.NewReader(
			"\ufeff" + `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[` +
				strings.TrimSuffix(results, ",") + `]}]}`)
	}
	at := func(line int) string {
		return fmt.Sprintf(
			`"message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.py"},"region":{"startLine":%d}}}]},`, line)
	}
	rows, _, err := sarifRows("log.sarif",
		log(`{"ruleId":"CWE-89",`+at(1)+`{"ruleId":"CWE-89","kind":"fail",`+at(2)+
			`{"ruleId":"CWE-89","kind":"pass",`+at(3)+
			`{"ruleId":"CWE-89","kind":"review",`+at(4)+`{"ruleId":"CWE-89","kind":"open",`+at(5)+
			`{"ruleId":"CWE-89","suppressions":[{"kind":"external","justification":"constant"}],`+
			at(6)+
			`{"ruleId":"CWE-89",`+at(1)+`{"ruleId":"CWE-89","kind":"pass",`+at(1)+
			`{"ruleId":"CWE-90",`+
			at(1)))
	require.NoError(t, err)
	require.Len(t, rows, 8, "a second result at the same lines is the same entry")
	require.Equal(t, "1 CWE-89 false; 1 CWE-90 true", fmt.Sprintf("%s %v %t; %s %v %t",
		rows[6].lines, rows[6].cwes[0], rows[6].vulnerable, rows[7].lines, rows[7].cwes[0],
		rows[7].vulnerable))
	rows = rows[:6]
	var vulnerable []bool
	var why []string
	for i, r := range rows {
		require.Equal(t, fmt.Sprintf("a.py %d CWE-89", i+1), r.path+" "+r.lines+" "+
			r.cwes[0].String())
		vulnerable, why = append(vulnerable, r.vulnerable), append(why, r.why)
	}
	require.Equal(t, []bool{true, true, false, false, false, false}, vulnerable)
	require.Equal(t, []string{"of kind pass", "of kind review", "of kind open", "constant"},
		why[2:])

	_, _, err = sarifRows("log.sarif",
		log(strings.Repeat(`{"ruleId":"r"},`, findings.DefaultMaxFindings+1)))
	require.ErrorContains(t, err, "more than 100000 findings")
	_, _, err = sarifRows("log.sarif",
		strings.NewReader(`{"version":"2.1.0","runs":[{"results":[{]`))
	require.ErrorContains(t, err, "log.sarif:1")
}

// TestImportFindsTheRoot: SpotBugs names its folder of sources, which lies below the root;
// what fits nowhere is told as it was reported.
func TestImportFindsTheRoot(t *testing.T) {
	tree := audit.Tree{"src/java/a/Dao.java": {}, "src/java/Web.java": {}, "Web.java": {}}
	at := func(uri string) string {
		return `{"ruleId":"CWE-89","locations":[{"physicalLocation":{"artifactLocation":{"uri":"` +
			uri + `","uriBaseId":"8736"}}}]}`
	}
	rows, root, err := sarifRows("log.sarif", strings.NewReader(`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"originalUriBaseIds":{"8736":{"uri":"file:///w/shop/src/java/"}},
"results":[`+at("a/Dao.java")+`,
`+at("Web.java")+`,
`+at("Gone.java")+`]}]}`))
	require.NoError(t, err)
	p := &audit.Project{Name: "shop", Tree: tree}
	dims := map[audit.CWE]audit.Dimension{89: audit.Injection}
	known, _, _, err := written(p, dims, pathsUnder(root, rows, tree), rows)
	require.EqualError(t, err,
		`log.sarif:4: "/w/shop/src/java/Gone.java" is no file of the project: expected a path of shop.tree.tsv`)
	require.Len(t, known, 2)
	require.Contains(t, known[0], "| src/java/a/Dao.java |")
	require.Contains(t, known[1], "| src/java/Web.java |")

	paths := pathsUnder("/w/shop", []imported{{path: "/w/shop/urls.py"}},
		audit.Tree{"urls.py": {}, "shop/urls.py": {}})
	file, err := paths.Resolve("/w/shop/urls.py")
	require.NoError(t, err)
	require.Equal(t, "urls.py", file,
		"the root that the report names, where it fits as well as one above")
}

// TestImportOfSpreadsheets: what Excel saves as text, with tabs and in UTF-16, is read; a
// severity that is none is told where it stands.
func TestImportOfSpreadsheets(t *testing.T) {
	p := &audit.Project{Name: "shop", Tree: audit.Tree{"src/a.py": {}}}
	for _, text := range []string{"path\tline\tfunction\tcwe\ttrue\r\nsrc\\a.py\t2\t\t95\tyes\r\n",
		"\n\npath;line;cwe;true\nsrc/a.py; 2; \"95\";yes\n"} {
		for _, order := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
			b, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String(text)
			require.NoError(t, err)
			file := filepath.Join(t.TempDir(), "key.txt")
			require.NoError(t, os.WriteFile(file, []byte(b), 0o600))
			rows, root, err := (&importCmd{File: file}).rows(p)
			require.NoError(t, err)
			known, _, _, err := written(p, map[audit.CWE]audit.Dimension{95: audit.Injection},
				pathsUnder(root, rows, p.Tree), rows)
			require.NoError(t, err)
			require.Len(t, known, 1)
			require.Contains(t, known[0],
				"| SHOP-1 | Injection | CWE-95 | MEDIUM | src/a.py |  | 2 |")
		}
	}
}

func TestAProblemIsToldOnce(t *testing.T) {
	at := func(line int, what string) audit.Problem {
		return audit.Problem{Pos: audit.Pos{File: "log.sarif", Line: line}, What: what}
	}
	var out strings.Builder
	printProblems(&out, []audit.Problem{at(3, "no file"), at(4, "the ID \x1b[2J counts"),
		at(9, "no file"), at(12, "no file")})
	require.Equal(t, `noted: log.sarif:3: no file (and 2 more like it)
noted: log.sarif:4: the ID \u001b[2J counts
`, out.String())
}

// TestImportNumbersAfterTheLast: an entry that was taken out leaves no number that
// stands twice.
func TestImportNumbersAfterTheLast(t *testing.T) {
	p := &audit.Project{Name: "shop", Tree: audit.Tree{"a.py": {Path: "a.py"}},
		Vulnerabilities: []audit.Vulnerability{{ID: "SHOP-4"}, {ID: "SHOP-2"}, {ID: "OTHER-9"}},
		Decoys:          []audit.Decoy{{ID: "SHOP-D2"}}}
	row := imported{path: "a.py", cwes: []audit.CWE{89}, vulnerable: true}
	decoy := row
	decoy.vulnerable = false
	known, decoys, _, err := written(p, map[audit.CWE]audit.Dimension{89: audit.Injection},
		score.NewPaths(p.Tree, nil, nil), []imported{row, decoy, row})
	require.NoError(t, err)
	require.Len(t, known, 2)
	require.Contains(t, known[0], "| SHOP-5 |")
	require.Contains(t, known[1], "| SHOP-6 |")
	require.Contains(t, decoys[0], "| SHOP-D3 |")
}

// TestFetchDoesAllThatItIsAsked: the manifest of functions does not make it forget the
// rest.
func TestFetchDoesAllThatItIsAsked(t *testing.T) {
	s := newShell(t)
	for name, text := range map[string]string{"src/app.py": "def f():\n    pass\n",
		"src/logo.png": "\x89PNG\x00", "key.csv": "path,line,cwe,true\napp.py,1,78,true\n"} {
		require.NoError(t, os.MkdirAll(filepath.Join(s.dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600))
	}
	s.ok("", "new", "project", "shop", "--repository=src", "--language=Python", "--cache=cache")
	s.ok("", "import", "shop", "key.csv")
	out := s.ok("", "fetch", "shop", "export", "--functions", "--others", "--cache=cache")
	require.Contains(t, out, "shop.functions.tsv: 1 functions")
	require.Contains(t, out, "shop.others.txt: ")
	require.Contains(t, out, "exported to")
	require.FileExists(t, filepath.Join(s.dir, "export", "app.py"))
}

// TestCommandsThatAreToldCanBePasted: a shell reads a folder with a blank as one word.
func TestCommandsThatAreToldCanBePasted(t *testing.T) {
	s := newShell(t)
	require.Contains(t, s.ok("", "init", "my cases"),
		"ASSAY_ROOT='"+filepath.Join(s.dir, "my cases")+"' go test")
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, "src"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "src/app.py"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "src/a.py"), []byte("x = 1\n"), 0o600))
	require.Contains(t, s.ok("", "new", "project", "shop", "--repository=src", "--language=Python",
		"--cache=cache", "--root=my cases"), "--root '")
}

// FuzzImport: whatever a CSV holds, each row becomes one of the key's tables, which is
// read back or told.
func FuzzImport(f *testing.F) {
	f.Add([]byte(
		"path,line,function,cwe,true,severity,title,why\na.py,2,f,CWE-89,true,HIGH,a | b,\"c\nd\"\nb,,g,sqli,no,,,\n"))
	f.Add([]byte("name;category;real vulnerability\n\"b\";xss;yes\n"))
	f.Add([]byte("file\tcwe\ttrue\nsrc\\b.py\t89, 564\t1\n"))
	p := &audit.Project{Name: "shop", Tree: audit.Tree{"a.py": {Path: "a.py", Lines: 9},
		"src/b.py": {Path: "src/b.py", Lines: 9}}}
	dims := map[audit.CWE]audit.Dimension{89: audit.Injection, 564: audit.Injection,
		79: audit.Injection, 22: audit.FileOps}
	page := fmt.Sprintf(started("project.md"), "shop", "https://example.org/o/shop",
		strings.Repeat("0", 40), "Python", "MIT")
	f.Fuzz(func(t *testing.T, b []byte) {
		rows, err := csvRows("key.csv", b, p.Tree)
		known, decoys, from, err2 := written(p, dims, pathsUnder("", rows, p.Tree), rows)
		if err != nil || err2 != nil {
			return
		}
		require.Len(t, from, len(rows))
		text, err := addRows(page, "Known Vulnerabilities", known)
		require.NoError(t, err)
		text, err = addRows(text, "Decoys", decoys)
		require.NoError(t, err)
		key, err := fixture.ReadKey(fstest.MapFS{"shop.md": {Data: []byte(text)}}, "shop.md")
		if err == nil {
			require.Len(t, key.Vulnerabilities, len(known))
			require.Len(t, key.Decoys, len(decoys))
		}
	})
}
