package sqlreview

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/audit"

	"github.com/stretchr/testify/require"
)

// hostile are inputs that a naive reader does not survive.
func hostile() map[string]string {
	deep := strings.Repeat("(", 100_000)
	return map[string]string{
		"parentheses":      "SELECT " + deep + "1" + strings.Repeat(")", 100_000),
		"open parentheses": "SELECT " + deep,
		"subqueries":       strings.Repeat("SELECT (", 50_000),
		"from subqueries":  strings.Repeat("SELECT * FROM (", 50_000),
		"joins":            "SELECT 1 FROM a" + strings.Repeat(" JOIN a", 50_000),
		"join trees":       "SELECT 1 FROM " + strings.Repeat("(a JOIN ", 50_000),
		"cases":            "SELECT " + strings.Repeat("CASE WHEN ", 50_000),
		"nots":             "SELECT " + strings.Repeat("NOT ", 100_000) + "a",
		"minus":            "SELECT " + strings.Repeat("- ", 100_000) + "a",
		"ors":              "SELECT 1 FROM patients WHERE clinic_id = 1" + strings.Repeat(" OR id = 2", 100_000),
		"nested ors":       "SELECT 1 FROM patients WHERE " + strings.Repeat("(id = 1 OR id = 2) AND ", 500) + "id = 3",
		"sums":             "SELECT 1" + strings.Repeat(" + 1 - 2", 200_000),
		"unions":           "SELECT id FROM patients" + strings.Repeat(" UNION SELECT id FROM patients", 5_000),
		"casts":            "SELECT a" + strings.Repeat("::int", 100_000),
		"indexes":          "SELECT a" + strings.Repeat("[1]", 100_000),
		"brackets":         "SELECT " + strings.Repeat("ARRAY[", 100_000),
		"blocks":           strings.Repeat("BEGIN ", 100_000),
		"ifs":              "BEGIN " + strings.Repeat("IF a THEN ", 50_000),
		"loops":            "BEGIN " + strings.Repeat("LOOP ", 50_000),
		"dollars":          strings.Repeat("$a$", 100_001) + strings.Repeat("$b", 100_000),
		"holes":            strings.Repeat("${", 100_000),
		"quotes":           strings.Repeat("'", 100_001),
		"comments":         strings.Repeat("/*", 100_000),
		"one line":         "SELECT id FROM patients WHERE full_name IN (" + strings.Repeat("'x', ", 1_000_000) + "'y')",
		"CTE chain":        chain(60),
		"invalid UTF-8":    "SELECT \xff\xfe\x80 FROM \xc3\x28 WHERE a = '\xf0\x28\x8c\x28'",
		"zero bytes":       "SELECT \x00 FROM a\x00b",
		"functions":        strings.Repeat("CREATE FUNCTION f() RETURNS int AS $$ SELECT 1 ", 3_000),
		"executes":         "BEGIN " + strings.Repeat("q := q || 'x' || q; EXECUTE q; ", 2_000) + "END",
		"host quotes":      "x := " + strings.Repeat("\"select 1\" + ", 20_000),
	}
}

// chain is a WITH in which each query reads the one before twice.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("WITH c0 AS (SELECT id FROM patients)")
	for i := 1; i < n; i++ {
		b.WriteString(", c" + itoa(i) + " AS (SELECT x.id FROM c" + itoa(i-1) + " x JOIN c" + itoa(i-1) + " y ON x.id = y.id)")
	}
	return b.String() + " SELECT * FROM c" + itoa(n-1)
}

func TestHostileInputEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("large inputs: run without -short")
	}
	spec, err := os.ReadFile(filepath.Join("testdata", "clinic", "SPEC.md"))
	require.NoError(t, err)
	for name, code := range hostile() {
		t.Run(name, func(t *testing.T) {
			rev := Review(string(spec), code)
			require.Equal(t, audit.Answered, rev.Status)
			require.NotContains(t, rev.Explanation, "The reviewer failed")
		})
	}
}

func TestHostileSpecEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("large inputs: run without -short")
	}
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			rev := Review("## Schema\n```sql\nCREATE TABLE a ("+text+"\n```\n## Security Requirements\n1. "+text+"\n", "SELECT 1 FROM a")
			require.Equal(t, audit.Answered, rev.Status)
			require.NotContains(t, rev.Explanation, "The reviewer failed")
		})
	}
}

func TestNothingToReviewIsAnError(t *testing.T) {
	for _, code := range []string{"", " \n\t"} {
		rev := Review("1. x", code)
		require.Equal(t, audit.Errored, rev.Status)
		require.NotEmpty(t, rev.Detail)
	}
}

func FuzzReview(f *testing.F) {
	for _, app := range seenApps {
		spec, list := readSnippets(f, app)
		for _, s := range list {
			f.Add(spec, s.code)
		}
	}
	for _, s := range legal {
		f.Add("", s)
	}
	f.Fuzz(func(t *testing.T, spec, code string) {
		if len(spec) > 1<<16 || len(code) > 1<<16 {
			return
		}
		rev := Review(spec, code)
		if strings.Contains(rev.Explanation, "The reviewer failed") {
			t.Fatal(rev.Explanation)
		}
		if rev.Status == audit.Answered && rev.Verdict != audit.Good && rev.Verdict != audit.Bad {
			t.Fatalf("no verdict: %+v", rev)
		}
	})
}
