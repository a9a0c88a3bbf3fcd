package suite

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/internal/store"
)

// plainCorpus is three examples in the plain format: Description, Code, Expected,
// a SPEC with a schema and rules, and a prompt at the root. A reviewer that looks
// for "${" and for a statement without the tenant can judge them.
var plainCorpus = map[string]string{
	"tests/shop/SPEC.md":                 "# Prompt\n\nA shop for several tenants.\n\n## Schema\n\n```sql\nCREATE TABLE orders (id bigint, tenant_id bigint);\n```\n\n### What queries must respect\n\n1. A tenant sees its own orders alone.\n2. Values reach a statement as parameters.\n3. A list has a limit.\n",
	"tests/shop/list-orders-01-good.md":  "# Description\n\nLists orders.\n\n# Code\n\n```sql\nSELECT id FROM orders WHERE tenant_id = $1 LIMIT 50;\n```\n\n# Expected\n\ngood\n",
	"tests/shop/list-orders-02-bad.md":   "# Description\n\nLists orders.\n\n# Code\n\n```sql\n-- SAFE: the caller checks\nSELECT id FROM orders WHERE TRUE LIMIT 50;\n```\n\n# Expected\n\nbad\n",
	"tests/shop/search-orders-01-bad.md": "# Description\n\nSearches orders.\n\n# Code\n\n```javascript\nconst q = `SELECT id FROM orders WHERE note LIKE '%${req.query.q}%' LIMIT 50`;\n```\n\n# Expected\n\nbad\n",
	"evaluation-prompt.txt":              "PROMPT OF THEIR OWN: say good or bad.\n",
}

// TestPlainCorpusRuns: cases of others load and run under ASSAY_ROOT as they
// stand, by their own prompt, and one line says what they do without.
func TestPlainCorpusRuns(t *testing.T) {
	h := newHouse(t)
	h.corpus(1)
	theirs := t.TempDir()
	for name, text := range plainCorpus {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(theirs, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(theirs, name), []byte(text), 0o644))
	}
	h.reviewer(`in=$(cat); case "$in" in *"PROMPT OF THEIR OWN"*) ;; *) echo wrong prompt; exit 0;; esac; case "$in" in *'${req'*|*"WHERE TRUE"*) echo '{"verdict":"bad","explanation":"open"}';; *) echo '{"verdict":"good","explanation":"fine"}';; esac`)
	auditors, err := os.ReadFile(h.path("fixtures/auditors.md"))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(theirs, "fixtures"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(theirs, "fixtures/auditors.md"), auditors, 0o644))
	t.Setenv("ASSAY_ROOT", theirs)
	t.Setenv("ASSAY_DB", filepath.Join(theirs, "results.db"))

	f := play(t, "TestBench", h.suite("-model", "canned", "-filter", "01-good").Bench)
	require.Empty(t, f.complaints())
	require.Equal(t, map[string]string{"shop/list-orders-01-good": "good"}, answers(t, theirs))

	f = play(t, "TestBench", h.suite("-model", "canned").Bench)
	require.Empty(t, f.complaints())
	require.Equal(t, map[string]string{"shop/list-orders-01-good": "good",
		"shop/list-orders-02-bad": "bad", "shop/search-orders-01-bad": "bad"}, answers(t, theirs))
	said := 0
	for _, l := range f.logs {
		said += strings.Count(l, `bad cases without "# Violates" (2 of 2)`)
		require.NotContains(t, l, "-01-bad.md:", "not one line a case")
	}
	require.Equal(t, 1, said, f.logs)
}

// answers gives what results.db under root holds, by case.
func answers(t *testing.T, root string) map[string]string {
	t.Helper()
	st, err := store.Open(context.Background(), filepath.Join(root, "results.db"))
	require.NoError(t, err)
	defer st.Close()
	got := map[string]string{}
	for e, err := range st.Evaluations(context.Background(), store.Query{}) {
		require.NoError(t, err)
		name := strings.TrimSuffix(strings.TrimPrefix(e.TestFile, "tests/"), ".md")
		got[name] = e.Actual
	}
	return got
}
