// Package oracle holds the parser of sqlreview against PostgreSQL's own grammar
// (libpg_query, by way of wasilibs/go-pgquery). It is a module of its own because
// that grammar is heavy: go test in this folder runs it.
package oracle

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"assay/internal/static/sqlreview"

	pgquery "github.com/wasilibs/go-pgquery"
)

var (
	markRE  = regexp.MustCompile(`(?m)^--- .*$`)
	namedRE = regexp.MustCompile(`([^:\w])[:@]([a-z_]+)\b`)
)

// statements gives the corpus of this folder and the snippets of the invented
// applications, named parameters turned into numbered ones. Snippets with holes are
// no SQL and left out.
func statements(t *testing.T) []string {
	b, err := os.ReadFile("testdata/corpus.sql")
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Split(string(b), "\n;;\n")
	files, _ := filepath.Glob("../testdata/*/cases.sql")
	if len(files) == 0 {
		t.Fatal("no snippets found in ../testdata/*/cases.sql")
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range markRE.Split(string(b), -1) {
			if strings.TrimSpace(s) != "" && !strings.Contains(s, "${") && !strings.Contains(s, "{{") {
				list = append(list, namedRE.ReplaceAllString(s, "${1}$$1"))
			}
		}
	}
	return list
}

type found struct {
	tables, columns []string
	selects         int
}

// collect walks PostgreSQL's parse tree as JSON.
func collect(v any, f *found) {
	switch x := v.(type) {
	case []any:
		for _, e := range x {
			collect(e, f)
		}
	case map[string]any:
		for k, e := range x {
			m, _ := e.(map[string]any)
			switch k {
			case "RangeVar", "relation":
				if n, ok := m["relname"].(string); ok {
					f.tables = append(f.tables, n)
				}
			case "SelectStmt", "larg", "rarg":
				if _, ok := m["op"]; ok { // joins have arguments of these names too
					f.selects++
				}
			case "ColumnRef":
				fields, _ := m["fields"].([]any)
				if len(fields) > 0 {
					last, _ := fields[len(fields)-1].(map[string]any)
					if s, ok := last["String"].(map[string]any); ok {
						f.columns = append(f.columns, fmt.Sprint(s["sval"]))
					}
				}
			case "CreateFunctionStmt":
				return
			}
			collect(e, f)
		}
	}
}

func TestAgreesWithPostgreSQL(t *testing.T) {
	list := statements(t)
	accept, tables, columns, selects, whole := 0, 0, 0, 0, 0
	for _, s := range list {
		tree, err := pgquery.ParseToJSON(s)
		ours := sqlreview.Parse(s)
		if ours.Whole == (err == nil) {
			accept++
		} else {
			t.Logf("PostgreSQL says %v, we say whole=%v:\n%s", err, ours.Whole, s)
		}
		if err != nil {
			continue
		}
		whole++
		var v any
		if err := json.Unmarshal([]byte(tree), &v); err != nil {
			t.Fatal(err)
		}
		f := &found{}
		collect(v, f)
		sort.Strings(f.tables)
		sort.Strings(f.columns)
		if slices.Equal(f.tables, ours.Tables) {
			tables++
		} else {
			t.Logf("tables: PostgreSQL %v, we %v:\n%s", f.tables, ours.Tables, s)
		}
		if slices.Equal(f.columns, ours.Columns) {
			columns++
		} else {
			t.Logf("columns: PostgreSQL %v, we %v:\n%s", f.columns, ours.Columns, s)
		}
		if f.selects == ours.Selects {
			selects++
		} else {
			t.Logf("selects: PostgreSQL %d, we %d:\n%s", f.selects, ours.Selects, s)
		}
	}
	t.Logf("statements %d: accepted alike %d; of %d legal ones: same tables %d, same columns %d, same queries %d", len(list), accept, whole, tables, columns, selects)
	for name, n := range map[string][2]int{"verdicts": {accept, len(list)}, "tables": {tables, whole}, "columns": {columns, whole}, "queries": {selects, whole}} {
		if n[0]*100 < n[1]*95 {
			t.Errorf("%s agree in %d of %d: less than 95 %%", name, n[0], n[1])
		}
	}
}
