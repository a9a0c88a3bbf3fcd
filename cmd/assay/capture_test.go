package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/findings"
	"assay/internal/auditor"
	"assay/internal/record"
)

// TestCaptureKeepsWhatWasPaidFor: a report that is no recording stays, without keys,
// and the error says where.
func TestCaptureKeepsWhatWasPaidFor(t *testing.T) {
	t.Setenv("ASSAY_TEST_API_KEY", "assay-test-7f3a9c1e5b2d8046")
	c := &captureCmd{source: source{Root: t.TempDir()}, Auditor: "agent", Project: "demo"}
	place, err := c.keep(&audit.AuditRun{Raw: []byte(
		"the report, with assay-test-7f3a9c1e5b2d8046")}, "/src")
	require.NoError(t, err)
	names, globErr := filepath.Glob(filepath.Join(c.Root, "records", "*.transcript"))
	require.NoError(t, globErr)
	require.Len(t, names, 1)
	require.Equal(t, names[0], place)
	ts, err := record.ReadTranscripts(names[0])
	require.NoError(t, err)
	require.Equal(t, "the report, with [key]", string(ts[0].Text("report")))
}

// TestCaptureOfATextAgent: its report is a recording without what it quotes, that
// replays; one that breaks off is none.
func TestCaptureOfATextAgent(t *testing.T) {
	dir := t.TempDir()
	const line = "rows := db.Query(\"SELECT a FROM b WHERE c = \" + c)"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"),
		[]byte("package a\n"+line+"\n"), 0o644))
	f := audit.Finding{ID: "F-1", CWEs: []audit.CWE{89}, Severity: audit.High, File: dir + "/a.go",
		Lines: audit.Range{Start: 2, End: 2}, Title: "SQL injection", Description: "It is " + line +
			"."}
	var report bytes.Buffer
	require.NoError(t,
		findings.WriteText(&report, findings.TextReport{Root: dir, Findings: []audit.Finding{f}}))
	c := &captureCmd{source: source{Root: t.TempDir()}, Auditor: "agent", Project: "demo"}
	entry := audit.AuditorEntry{Name: "agent", Kind: "agent", Format: findings.Text}
	run := &audit.AuditRun{Raw: report.Bytes(), Version: "1",
		Report: audit.Report{Format: findings.Text, Findings: []audit.Finding{f}}}
	p := &audit.Project{Name: "demo", Commit: "0123", KeyHash: "4567"}
	fsys := os.DirFS(c.Root)
	require.NoError(t, c.store(fsys, p, p.KeyHash, &entry, run, dir))
	recs, err := auditor.Recordings(fsys, "fixtures/recordings")
	require.NoError(t, err)
	require.Len(t, recs, 1)
	again, err := auditor.Replay(recs[0], fsys, nil).Audit(t.Context(), audit.AuditTask{})
	require.NoError(t, err)
	require.Empty(t, again.Invalid)
	require.Len(t, again.Report.Findings, 1)
	require.Equal(t, "a.go", again.Report.Findings[0].File)
	require.Equal(t, "It is [source].", again.Report.Findings[0].Description)

	run.EndedEarly = "it has no SENTINEL"
	require.ErrorContains(t, c.store(fsys, p, p.KeyHash, &entry, run, dir), "it has no SENTINEL")

	// where nothing can be kept
	require.NoError(t, os.WriteFile(filepath.Join(c.Root, "records"), nil, 0o644))
	place, err := c.keep(run, dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(filepath.Dir(place))) })
	ts, err := record.ReadTranscripts(place)
	require.NoError(t, err)
	require.Equal(t, report.String(), string(ts[0].Text("report")))
}

// TestCaptureThatFails: the error of a run that is no recording says where what it
// wrote is kept.
func TestCaptureThatFails(t *testing.T) {
	c := &captureCmd{source: source{Root: t.TempDir()}, Auditor: "agent", Project: "marina"}
	require.NoError(t, os.CopyFS(filepath.Join(c.Root, "fixtures/planted/marina"),
		os.DirFS("../../fixtures/planted/marina")))
	require.NoError(t, os.WriteFile(filepath.Join(c.Root, "fixtures/auditors.md"),
		[]byte("# Auditors\n\n## m\n\n| Field | Value |\n|---|---|\n| Kind | model |\n| Model | gpt-4o-mini |\n| Timeout | 1m |\n\n## agent\n\n| Field | Value |\n|---|---|\n| Kind | agent |\n| Format | text |\n| Timeout | 1m |\n| Cost | 0 USD |\n\n```sh\necho no report\n```\n"), 0o644))
	err := c.Run(t.Context())
	require.ErrorContains(t, err, "is not stored as a recording")
	_, place, kept := strings.Cut(err.Error(), "what it wrote is kept in ")
	require.True(t, kept, "%v", err)
	ts, err := record.ReadTranscripts(place)
	require.NoError(t, err)
	require.Equal(t, "no report\n", string(ts[0].Text("report")))

	c.Auditor = "m"
	require.ErrorContains(t, c.Run(t.Context()),
		"fixtures/auditors.md:3: m is a model: expected a program")
}
