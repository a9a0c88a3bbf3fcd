package auditor

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// TestAChangeIsShown runs a program on a repository of two commits: git works there, and the
// variables say what to review.
func TestAChangeIsShown(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "src")
	require.NoError(t, os.Mkdir(dir, 0o755))
	git := func(args ...string) string {
		out, err := exec.Command("git",
			append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com"},
				args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	for _, text := range []string{"one\n", "two\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o644))
		git("add", "-A")
		git("commit", "-q", "-m", text)
	}
	task := audit.AuditTask{Dir: dir, Base: git("rev-parse", "HEAD^"),
		Head: git("rev-parse", "HEAD"), Scope: []string{"src", "lib"},
		Diff: "-one\n+two\n"}
	entry := audit.AuditorEntry{Name: "x", Kind: "tool", Format: "text", Timeout: time.Minute,
		Command: `git diff --stat "$ASSAY_BASE" "$ASSAY_HEAD" && git status --porcelain && cat "$ASSAY_DIFF" && echo "$ASSAY_SCOPE"`}
	run, err := Command(entry).Audit(context.Background(), task)
	require.NoError(t, err)
	require.Contains(t, string(run.Raw), "a.txt | 2 +-", "%s %s", run.Invalid, run.Stderr)
	require.Contains(t, string(run.Raw), "-one\n+two\nsrc\nlib\n", "%s", run.Stderr)
	require.NotContains(t, run.Exposed, "changed the source")

	told := assignment(task)
	require.Contains(t, told, "Audit these folders; what is outside of them you may read: src, lib")
	require.Contains(t, told, "Review this change")
	require.Contains(t, told, "-one\n+two\n")
	require.Empty(t, assignment(audit.AuditTask{Dir: dir}))
}
