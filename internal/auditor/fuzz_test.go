package auditor_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/auditor"
)

// TestAFlippedRecording: one byte that changed since it was recorded, wherever it
// stands, is an error that says what to do.
func TestAFlippedRecording(t *testing.T) {
	dir := t.TempDir()
	rec := &auditor.Recording{Auditor: "tool", Project: "demo", Commit: "c", Version: "1",
		Date: "2026-01-02", Format: "json"}
	report := []byte(
		`[{"id": "F-1", "cwes": [89], "severity": "HIGH", "file": "a.c", "lines": {"start": 1, "end": 2}, "description": "d"}]`)
	require.NoError(t, rec.Write(dir, report))
	replay := func() (audit.AuditRun, error) {
		rs, err := auditor.Recordings(os.DirFS(dir), ".")
		if err != nil {
			return audit.AuditRun{}, err
		}
		require.Len(t, rs, 1)
		return auditor.Replay(rs[0], os.DirFS(dir), nil).Audit(context.Background(),
			audit.AuditTask{})
	}
	run, err := replay()
	require.NoError(t, err)
	require.Len(t, run.Report.Findings, 1)
	name := filepath.Join(dir, "tool", "demo.json")
	for i := range report {
		flipped := append([]byte{}, report...)
		flipped[i] ^= 1
		require.NoError(t, os.WriteFile(name, flipped, 0o644))
		_, err := replay()
		require.ErrorContains(t, err, "tool/demo.json: its SHA-256 is ", "byte %d", i)
		require.ErrorContains(t, err, "make it again with assay capture")
	}
}

// FuzzRecording: whatever stands in the place of a recording's two files, it is
// replayed, INVALID, or an error.
func FuzzRecording(f *testing.F) {
	f.Add([]byte(
		`{"auditor":"tool","project":"p","commit":"c","version":"1","date":"2026-01-02","format":"json","file":"p.json"}`), []byte(`[]`))
	f.Add([]byte(
		`{"auditor":"tool","project":"p","commit":"c","version":"1","date":"2026-01-02","format":"text","file":"../p.txt","seconds":1e300}`), []byte("=== HEADER START ==="))
	f.Fuzz(func(t *testing.T, provenance, report []byte) {
		fsys := fstest.MapFS{"tool/p.provenance.json": {Data: provenance},
			"tool/p.json": {Data: report}, "tool/p.txt": {Data: report}}
		rs, err := auditor.Recordings(fsys, ".")
		if err == nil && len(rs) == 0 {
			t.Fatal("no recording, and no error")
		}
		for _, r := range rs {
			run, err := auditor.Replay(r, fsys, nil).Audit(context.Background(), audit.AuditTask{})
			if err == nil && run.Invalid == "" && run.Report.Format == "" {
				t.Fatal("a report of no format")
			}
			if err != nil && strings.TrimSpace(err.Error()) == "" {
				t.Fatal("an error that says nothing")
			}
		}
	})
}

// FuzzReaders: whatever stands in the place of a recorded reviewer's replies, they are
// read, each as an answer, or refused with the file's name.
func FuzzReaders(f *testing.F) {
	f.Add([]byte(`{"about":"shop/list-01-bad","request":"r","reply":"{\"verdict\":\"bad\"}"}`+"\n"),
		[]byte(`"model":"m","date":"2026-01-02","asked":"a","had":"h"`))
	f.Add([]byte("{}\n\n{}{}\n[null]\n"),
		[]byte(`"model":"m","date":"d","asked":"a","had":"h","x":[1]`))
	f.Fuzz(func(t *testing.T, replies, about []byte) {
		const file = "bench/who/prompt.jsonl"
		provenance := fmt.Appendf(nil, `{"reader":"who","prompt":"prompt","sha256":"%x",%s}`,
			sha256.Sum256(replies), about)
		readers, err := auditor.RecordedReviewers(fstest.MapFS{file: {Data: replies},
			"bench/who/prompt.provenance.json": {Data: provenance}}, ".")
		if err != nil {
			require.ErrorContains(t, err, "bench/who/prompt.")
			return
		}
		for _, one := range readers[0].Read("prompt").Readings {
			require.True(t, readers[0].Has("prompt", one.About))
		}
	})
}
