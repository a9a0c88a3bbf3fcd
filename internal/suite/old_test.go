package suite

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOldResultsAreReadOrRefused: testdata/old is a root as Assay left it with version 2 of the
// score: records, baselines and a database whose tables are two versions behind. What can be
// read is read; what was scored by other rules is refused with commands that mend it.
func TestOldResultsAreReadOrRefused(t *testing.T) {
	suites, assay := commands(t)
	root, mirror := filepath.Join(t.TempDir(), "old"), t.TempDir()
	require.NoError(t, os.CopyFS(root, os.DirFS("testdata/old")))
	goals, database := filepath.Join(root, "fixtures", "goals.md"), filepath.Join(root, "results.db")
	text, err := os.ReadFile(filepath.Join(root, "results.sql"))
	require.NoError(t, err)
	db, err := sql.Open("sqlite", database)
	require.NoError(t, err)
	_, err = db.Exec(string(text))
	require.NoError(t, err)
	require.NoError(t, db.Close())
	env := append(os.Environ(), "ASSAY_ROOT="+root, "ASSAY_DB="+database, "ASSAY_MIRROR="+mirror,
		"ASSAY_CACHE="+t.TempDir(), "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z",
		"GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	run := func(dir, name string, args ...string) (string, int) {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, env
		out, _ := cmd.CombinedOutput()
		return strings.Join(strings.Fields(string(out)), " "), cmd.ProcessState.ExitCode()
	}
	// the repository to which demo.md is pinned
	repository := filepath.Join(mirror, "o", "demo")
	require.NoError(t, os.MkdirAll(repository, 0o755))
	for i := range 20 {
		require.NoError(t, os.WriteFile(filepath.Join(repository, fmt.Sprintf("f%02d.java", i)),
			[]byte(strings.Repeat("x();\n", 1000)), 0o644))
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c",
		"user.email=a@b.c", "commit", "-qm", "one"}} {
		out, code := run(repository, "git", args...)
		require.Zero(t, code, out)
	}
	work, err := filepath.Abs("../..")
	require.NoError(t, err)
	regression := func() (string, int) {
		return run(work, suites, "-test.run", "Regression", "-auditor", "canned")
	}
	records, err := filepath.Glob(filepath.Join(root, "records", "*.json"))
	require.NoError(t, err)
	require.Len(t, records, 1)
	elsewhere := t.TempDir() // no auditor reads the folder of the keys
	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "report.txt"), []byte(found(15)),
		0o644))
	section, err := os.ReadFile(filepath.Join(root, "fixtures", "auditors.md"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "fixtures", "auditors.md"),
		[]byte(strings.ReplaceAll(string(section), "/tmp/old", elsewhere)), 0o644))

	// goals for an auditor that is gone
	out, code := regression()
	require.Equal(t, 1, code, out)
	require.Contains(t, out, `goals for "static": static was removed: patterns is the embedded `+
		`auditor and reviewer: give the section that name, or delete it`)
	b, err := os.ReadFile(goals)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(goals, []byte(strings.ReplaceAll(string(b), ": static",
		": patterns")), 0o644))

	// a baseline, and a record, by other rules
	out, code = regression()
	require.Equal(t, 1, code, out)
	require.Contains(t, out, "fixtures/baselines/canned/demo.json:1: the baseline was judged by "+
		"score version 2, and this is 3: score its record again (assay score RECORD)")
	require.Contains(t, out, "nothing was started and nothing spent")
	out, code = run(work, suites, "-test.run", "Bench", "-model", "control-words")
	require.Equal(t, 1, code, out)
	require.Contains(t, out, "made by score version 2, and this is 3: ask again and make a new "+
		"baseline")
	// what the messages say
	out, code = run(work, assay, "score", records[0], "--root", root)
	require.Zero(t, code, out)
	require.Contains(t, out, "PASS, was PASS")
	again := strings.TrimSuffix(records[0], ".json") + "-2.json"
	out, code = run(work, assay, "baseline", again, "--root", root)
	require.Zero(t, code, out)
	require.Contains(t, out, "canned on demo: baseline of 2 trials")
	out, code = regression()
	require.Zero(t, code, out)
	require.Contains(t, out, "recall 75.0 %, was 75.0 %")

	// the answers of the old database
	out, code = run(work, assay, "report", "-o", "text", "--root", root)
	require.Zero(t, code, out)
	require.Contains(t, out, "control-words evaluation-prompt all 33.3 (0.0 to 100.0)")
	require.Contains(t, out, "static evaluation-prompt all 66.7")
}
