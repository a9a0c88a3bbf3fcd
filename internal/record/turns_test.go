package record

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// TestTurnsOfKeptTranscripts: they are read from what stands on the disk, and so are the
// errors of tools.
func TestTurnsOfKeptTranscripts(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.txt")
	written := NewTranscript(0, 0, "/src", &audit.AuditRun{Started: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), Duration: 10 * time.Second, Events: []byte(`{"type":"turn","turn":1}
{"type":"result","turn":1,"name":"read","arguments":"{\"path\":\"a.go\"}","text":"package a"}
{"type":"turn","turn":2}
{"type":"result","turn":2,"name":"read","arguments":"{\"path\":\"b.go\"}","text":"error: no such folder"}
`)}, func(b []byte) []byte { return b })
	require.NoError(t, WriteTranscripts(name, []Transcript{written}))
	ts, err := ReadTranscripts(name)
	require.NoError(t, err)
	require.Len(t, ts[0].Turns(), 2)
	require.Equal(t, []string{"turn 2: read b.go: no such folder"}, ts[0].ToolErrors())
	info, err := os.Stat(filepath.Join(TranscriptDir(name), "trial-01", "events.jsonl.gz"))
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077)
}
