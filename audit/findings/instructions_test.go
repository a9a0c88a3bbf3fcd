package findings

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// TestInstructions: the lines that models are told to write are those that our
// own writer writes, a model that copies them is understood, and they say what
// is wanted of CWEs and rows.
func TestInstructions(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, WriteText(&b, TextReport{Root: ".", Coverage: audit.Dimensions(),
		Findings: []audit.Finding{{CWEs: []audit.CWE{89}, File: "a.go"}}}))
	for _, line := range []string{"=== HEADER START ===", "Project root: .", "=== HEADER END ===",
		"| ID | Severity | CWE | Dimension | File | Lines | Function | Title |", SentinelLine} {
		require.Contains(t, Instructions, "\n"+line+"\n")
		require.Contains(t, b.String(), line+"\n")
	}
	flat := strings.ReplaceAll(Instructions, "\n", " ")
	for _, d := range audit.Dimensions() {
		require.Contains(t, flat, string(d))
	}
	for _, want := range []string{"base or variant level: the most specific that holds",
		"One row a site"} {
		require.Contains(t, flat, want)
	}
	const obeyed = `=== HEADER START ===
Project root: .
COVERAGE: 2/10 (Injection, Auth)
STATS: findings=2 critical=0 high=2 medium=0 low=0
=== HEADER END ===

| ID | Severity | CWE | Dimension | File | Lines | Function | Title |
|---|---|---|---|---|---|---|---|
| F-01 | HIGH | CWE-89 | Injection | src/a.go | 12-18 | find | SQL injection |
| F-02 | HIGH | CWE-78 | Injection | src/b.go | 3 | run | "a \x7c b" |

### [F-01] SQL injection

- File: src/a.go:12-18
- Description: "the name goes\ninto the statement"
- Trace:
  - src/a.go:12 the name comes in
  - src/type/b.go:18 it is executed

=== SENTINEL: AUDIT COMPLETE ===
`
	rep, err := Read("r.md", strings.NewReader(obeyed), ReadOptions{})
	require.NoError(t, err)
	require.Empty(t, rep.Problems)
	require.Empty(t, rep.CutShort)
	require.Equal(t, []string{"F-01 HIGH 89 src/a.go:12-18 find() | SQL injection ~2",
		"F-02 HIGH 78 src/b.go:3 run() | a | b"}, []string{brief(rep.Findings[0]),
		brief(rep.Findings[1])})
	require.Equal(t, "the name goes\ninto the statement", rep.Findings[0].Description)
	require.Equal(t,
		[]audit.Step{{File: "src/a.go", Lines: lines(12, 12), Note: "the name comes in"},
			{File: "src/type/b.go", Lines: lines(18, 18), Note: "it is executed"}},
		rep.Findings[0].Trace)
}
