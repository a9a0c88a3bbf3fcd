package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/record"
	"assay/internal/report"

	"github.com/stretchr/testify/require"
)

// new findings of a project that its key does not hold, in real files of its tree.
func offKey(t *testing.T, p *audit.Project) []audit.Finding {
	t.Helper()
	var fs []audit.Finding
	for i, file := range []string{"cmd/chi/app.go", "cmd/std/app.go"} {
		require.Contains(t, p.Tree, file)
		fs = append(fs, audit.Finding{File: file, Lines: audit.Range{Start: 2 + i, End: 2 + i}, CWEs: []audit.CWE{611}, Severity: audit.High, Title: "new | thing\n<!-- true 000000000000000000000000 -->", Function: "main"})
	}
	return fs
}

func TestTriageWritesRowsThatAKeyTakes(t *testing.T) {
	p, dims, goals := project(t, "go-test-bench")
	found := offKey(t, p)
	a := recordOf(t, "one", day, p, dims, goals, found)
	b := recordOf(t, "two", day.Add(time.Hour), p, dims, goals, found[:1])
	cs := report.Candidates([]*record.Record{a, b})
	require.Len(t, cs, 2, "a claim of two auditors is looked at once")
	require.Equal(t, cs, report.Candidates([]*record.Record{b, a}), "the order is nobody's choice")
	require.NotContains(t, report.Show(&cs[0]), "one")

	text := report.KeyRow(&cs[0], p, dims) + report.DecoyRow(&cs[1], p, dims, "a | constant")
	reviews := report.ReadReviews(text)
	require.Equal(t, map[string]bool{cs[0].Fingerprint: true, cs[1].Fingerprint: false}, reviews, "what an auditor wrote is no review")

	again, err := report.Rereview(a, p, dims, reviews)
	require.NoError(t, err)
	require.Zero(t, again.Trials[0].Result.Metrics.OffKey.Open)
	require.Equal(t, score.Of(0.5), again.Trials[0].Result.Metrics.Precision.Low)
	require.Equal(t, score.Of(0.5), again.Trials[0].Result.Metrics.Precision.High)

	// Merged by hand, the key reads.
	dir := t.TempDir()
	src, err := os.ReadFile("../../fixtures/projects/go-test-bench.md")
	require.NoError(t, err)
	lines := strings.Split(text, "\n")
	key := strings.Replace(lines[1], "-NEW", "-99", 1) + "\n"
	decoy := strings.Replace(lines[3], "-DNEW", "-D99", 1) + "\n"
	merged := insert(insert(string(src), "# Known Vulnerabilities", key), "# Decoys", decoy)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go-test-bench.md"), []byte(merged), 0o644))
	tree, err := os.ReadFile("../../fixtures/projects/go-test-bench.tree.tsv")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go-test-bench.tree.tsv"), tree, 0o644))
	q, err := fixture.ReadProject(os.DirFS(dir), "go-test-bench.md")
	require.NoError(t, err)
	require.Len(t, q.Known, len(p.Known)+1)
	require.Len(t, q.Decoys, len(p.Decoys)+1)
}

// insert puts a row behind the head of the table that follows a heading.
func insert(s, heading, row string) string {
	at := strings.Index(s, "\n"+heading)
	at += strings.Index(s[at:], "\n|---")
	at += 1 + strings.Index(s[at+1:], "\n") + 1
	return s[:at] + row + s[at:]
}

func TestAroundMarksTheLines(t *testing.T) {
	src := strings.Repeat("line\n", 30)
	out := report.Around(src, audit.Range{Start: 10, End: 11})
	require.Equal(t, 18, strings.Count(out, "\n"))
	require.Equal(t, 2, strings.Count(out, ">"))
	require.Empty(t, report.Around(src, audit.Range{}))
	require.Empty(t, report.Around(src, audit.Range{Start: 500, End: 501}))
}
