package auditor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/findings"
)

// TestReportFormatIsWhatWeRead: the lines that agents are told to write are those
// that our own writer writes, and an agent that copies them is understood.
func TestReportFormatIsWhatWeRead(t *testing.T) {
	var b strings.Builder
	require.NoError(t,
		findings.WriteText(&b, findings.TextReport{Root: ".", Coverage: audit.Dimensions(),
			Findings: []audit.Finding{{CWEs: []audit.CWE{89}, File: "a.go",
				Lines: audit.Range{Start: 3, End: 4}}}}))
	for _, line := range []string{"=== HEADER START ===", "=== HEADER END ===",
		"| ID | Severity | CWE | Dimension | File | Lines | Function | Title |",
		findings.SentinelLine} {
		require.Contains(t, findings.Instructions, "\n"+line+"\n")
		require.Contains(t, b.String(), line+"\n")
	}
	for _, d := range audit.Dimensions() {
		require.Contains(t, strings.ReplaceAll(findings.Instructions, "\n", " "), string(d))
	}
	obeyed := `=== HEADER START ===
Project root: .
COVERAGE: 2/10 (Injection, Auth)
STATS: findings=1 critical=0 high=1 medium=0 low=0
=== HEADER END ===

| ID | Severity | CWE | Dimension | File | Lines | Function | Title |
|---|---|---|---|---|---|---|---|
| F-01 | HIGH | CWE-89 | Injection | src/a.go | 12-18 | find | SQL injection |

### [F-01] SQL injection

- Description: the name goes into the statement
- Trace:
  - src/a.go:12

=== SENTINEL: AUDIT COMPLETE ===
`
	rep, invalid := ReadReport("agent", []byte(obeyed), "text", nil)
	require.Empty(t, invalid)
	require.Empty(t, rep.Problems)
	require.Len(t, rep.Findings, 1)
	require.True(t, rep.Header && rep.Sentinel)
}
