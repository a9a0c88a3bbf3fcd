//go:build unix

package suite

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/internal/fixes"
)

// fix gives the house the table "shop" of a repository with one fix of an injection.
func (h *house) fix() {
	h.t.Helper()
	git := func(args ...string) string {
		out, err := exec.Command("git",
			append([]string{"-C", h.path("shop"), "-c", "user.name=a", "-c", "user.email=a@b.c"},
				args...)...).CombinedOutput()
		require.NoError(h.t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	const before = "def find(name):\n    return db.query(\"select \" + name)\n\n\ndef count():\n    return 1\n"
	h.write("shop/users.py", before)
	git("init", "-q")
	git("config", "uploadpack.allowAnySHA1InWant", "true")
	git("add", "-A")
	git("commit", "-qm", "first")
	h.write("shop/users.py", strings.Replace(before, "\"select \" + name",
		"\"select %s\", name", 1))
	git("commit", "-qam", "Fix SQL injection")
	ctx := context.Background()
	r, err := fixes.Open(ctx, h.path("shop"))
	require.NoError(h.t, err)
	rows, err := fixes.ReadRows("fixes.tsv", "commit\tcwe\n"+git("rev-parse", "HEAD")+"\tCWE-89\n")
	require.NoError(h.t, err)
	table := &fixes.Benchmark{Name: "shop", Repository: "shop"}
	_, _, err = fixes.Add(ctx, table, r, rows, "", nil)
	require.NoError(h.t, err)
	h.write("fixtures/fixes/shop.md", table.Format())
}

// TestFixesWithWorkers: workers audit both trees of a pool, and the pair is told apart.
func TestFixesWithWorkers(t *testing.T) {
	h := newHouse(t)
	t.Setenv("ASSAY_CACHE", t.TempDir())
	h.corpus(1)
	h.fix()
	h.write("fixtures/auditors.md",
		"# Auditors\n\n## grep\n\n| Field | Value |\n|---|---|\n| Kind | tool |\n| Format | json |\n\n```sh\n"+
			"grep -q '+ name' users.py && echo '[{\"file\":\"users.py\",\"line\":2,\"cwe\":\"CWE-89\",\"severity\":\"HIGH\",\"title\":\"x\"}]' || echo '[]'\n```\n")
	dsn := h.postgres()
	h.worker(1, false)
	f := play(t, "TestRegression", h.suite("-auditor", "grep", "-filter", "shop").Regression)
	require.Empty(t, f.complaints())
	require.Equal(t, 2, workersDid(t, dsn))
	texts, err := os.ReadDir(h.path("records"))
	require.NoError(t, err)
	require.Len(t, texts, 6, "of each tree a text, figures and what it wrote")
	require.Equal(t, "100.0 %", f.leaf("TestRegression/shop/grep").attrs["recall"])
	require.Equal(t, "100.0 %", f.leaf("TestRegression/shop.mended/grep").attrs["recall"])
}
