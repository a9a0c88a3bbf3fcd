package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit/fixture"
	"assay/internal/record"
)

// kept gives the newest record and what its runs wrote.
func (h *house) kept(auditor string) []record.Transcript {
	h.t.Helper()
	names, err := filepath.Glob(h.path("records/*-" + auditor + "*.txt"))
	require.NoError(h.t, err)
	require.NotEmpty(h.t, names)
	ts, err := record.ReadTranscripts(names[len(names)-1])
	require.NoError(h.t, err)
	return ts
}

// TestTranscripts: what an auditor wrote stands beside its record, whatever became
// of the run, and without the keys of the environment.
func TestTranscripts(t *testing.T) {
	const secret = "assay-test-7f3a9c1e5b2d8046"
	t.Setenv("ASSAY_TEST_API_KEY", secret)
	h := newHouse(t)
	tree, _, err := manifest(os.DirFS(h.path("smoke-test-fixture")))
	require.NoError(t, err)
	key, err := fixture.ReadSmoke(os.DirFS(h.dir), "fixtures/smoke.md", tree)
	require.NoError(t, err)
	h.agents(key.Project.Vulnerabilities, "stream: -envelope claude-stream -in 400 -out 50 -usd 1.5",
		"fails: -fail -1 -say 'the key is "+secret+"'", "breaks: -truncate")
	for _, name := range []string{"stream", "fails", "breaks"} {
		play(t, "TestSmoke", h.suite("-auditor", name).Smoke)
	}

	play(t, "TestSmoke", h.suite().Smoke) // the embedded analyser

	ts := h.kept("stream")
	require.Len(t, ts, 1)
	require.Contains(t, string(ts[0].Text("events")), `"type":"result"`)
	require.True(t, strings.HasPrefix(string(ts[0].Text("report")), "=== HEADER START ==="),
		"the report is unwrapped")
	require.Equal(t, 1.5, ts[0].Usage.USD)

	ts = h.kept("fails")
	require.NotEmpty(t, ts[0].Invalid)
	all := ts[0].Invalid + string(ts[0].Text("report")) + string(ts[0].Text("stderr"))
	require.Contains(t, all, "the key is [key]")
	require.NotContains(t, all, secret)

	ts = h.kept("breaks")
	require.Len(t, ts, 2, "what ended early was tried once more, and both are kept")
	require.False(t, ts[0].Last)
	require.True(t, ts[1].Last)
	require.NotEmpty(t, ts[0].Text("report"))

	require.Contains(t, string(h.kept("patterns")[0].Text("report")), "SENTINEL")
}
