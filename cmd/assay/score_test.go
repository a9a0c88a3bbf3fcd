package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/internal/suite"
	"assay/internal/workflow"
)

// A report that exists is scored, kept as a record, compared with, and scored again.
func TestScoreReports(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(root, "fixtures"), os.DirFS("../../fixtures")))
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		return file
	}
	semgrep := func(results ...string) string {
		return `{"results": [` +
			strings.Join(results, ",\n") + `]}`
	}
	debug := `{"check_id": "debug", "path": "app.py", "start": {"line": 17}, "end": {"line": 17},
		"extra": {"severity": "ERROR", "metadata": {"cwe": ["CWE-489", "CWE-94", "CWE-215"]}}}`
	sql := `{"check_id": "sql", "path": "models/user_model.py", "start": {"line": 72}, "end": {"line": 72},
		"extra": {"severity": "ERROR", "metadata": {"cwe": "CWE-89: SQL Injection"}}}`
	run := func(c suite.ScoreReports) (string, error) {
		c.Root = root
		var out bytes.Buffer
		err := c.Run(&out)
		return out.String(), err
	}
	first, second := write("1.json", semgrep(debug, sql)), write("2.json", semgrep(sql))
	out, err := run(suite.ScoreReports{Project: "vampi", Reports: []string{first, second},
		Record: "mine"})
	require.ErrorContains(t, err, "FAIL", "a recall of a few entries is below the goal")
	for _, want := range []string{"mine     vampi    2", "recall ", "in their union",
		"FAIL: recall", "record: "} {
		require.Contains(t, out, want)
	}
	records, err := filepath.Glob(filepath.Join(root, "records", "*.json"))
	require.NoError(t, err)
	require.Len(t, records, 1)

	out, _ = run(suite.ScoreReports{Project: "vampi", Reports: []string{second},
		Baseline: records[0]})
	require.Contains(t, out, "points", "the row says how far recall moved, or a reason does")
	out, err = run(suite.ScoreReports{Reports: records})
	require.ErrorContains(t, err, "FAIL")
	require.Contains(t, out, "unchanged: FAIL")

	for _, c := range []struct{ project, file, want string }{
		{"vampi", write("bad.json", "{\"results\": [\n{"), "bad.json:2: the report is truncated"},
		{"vampi", write("text.txt", "no report at all"), "not an audit report"},
		{"nowhere", first, `there is no project "nowhere"`},
		{"", write("other.json", "{}"), "for reports say --project NAME"},
	} {
		_, err := run(suite.ScoreReports{Project: c.project, Reports: []string{c.file}})
		require.ErrorContains(t, err, c.want)
	}
}

// Two recorded agents are compared in a fresh clone, where neither has a record.
func TestComparePublishedAgents(t *testing.T) {
	was := stdout
	t.Cleanup(func() { stdout = was })
	var out bytes.Buffer
	stdout = &workflow.Writer{To: &out}
	require.NoError(t, (&compareCmd{Root: "../..", DB: filepath.Join(t.TempDir(), "none.db"),
		Format: "text", FailIf: "never",
		A: "gpt-5.5-agentic-v1", B: "claude-haiku-4-5-agentic-v1"}).Run(t.Context()))
	require.Contains(t, out.String(), "over 13 projects, ")
	require.Regexp(t,
		`by runs, as the gate compares .*: FAIL: recall [\d.]+ %, was [\d.]+ %: \d+ points less\. Chance does this to`, out.String())
}
