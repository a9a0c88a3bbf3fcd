package main

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/record"
)

// TestCaptureKeepsWhatWasPaidFor: a report that is no recording stays, without keys,
// and the error says where.
func TestCaptureKeepsWhatWasPaidFor(t *testing.T) {
	t.Setenv("ASSAY_TEST_API_KEY", "assay-test-7f3a9c1e5b2d8046")
	c := &captureCmd{source: source{Root: t.TempDir()}, Auditor: "agent", Project: "demo"}
	why := errors.New("it cannot be scrubbed")
	err := c.keep(&audit.AuditRun{Raw: []byte("the report, with assay-test-7f3a9c1e5b2d8046")}, "/src", why)
	require.ErrorIs(t, err, why)
	names, globErr := filepath.Glob(filepath.Join(c.Root, "records", "*.transcript"))
	require.NoError(t, globErr)
	require.Len(t, names, 1)
	require.ErrorContains(t, err, names[0])
	ts, err := record.ReadTranscripts(names[0])
	require.NoError(t, err)
	require.Equal(t, "the report, with [key]", string(ts[0].Text("report")))
}
