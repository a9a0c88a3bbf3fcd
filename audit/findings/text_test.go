package findings

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"assay/audit"
)

var noPos = cmpopts.IgnoreFields(audit.Finding{}, "Pos")

func TestTextRoundTrip(t *testing.T) {
	want := []audit.Finding{
		{ID: "F-01", RuleID: "sql.concat", CWEs: []audit.CWE{89, 564}, Severity: audit.Critical, Dimension: audit.Injection,
			File: "src/main/A.java", Function: "findByLogin", Lines: audit.Range{Start: 70, End: 74}, Title: "HQL injection | in [login] `x`",
			Description: "The parameter *login* is pasted: CWE-1 is <b>not</b> meant. File: other.java:3", Confidence: 0.8,
			Trace:  []audit.Step{{File: "src/main/C.java", Lines: audit.Range{Start: 3, End: 3}, Note: "source"}, {File: "src/main/A.java", Lines: audit.Range{Start: 70, End: 70}, Note: "sink"}},
			Others: []audit.Step{{File: "src/main/B.java", Lines: audit.Range{Start: 9, End: 11}, Note: "again"}}},
		{ID: "F-02", CWEs: []audit.CWE{502}, Severity: audit.High, File: `C:\app\src\__init__.py`, Lines: audit.Range{Start: 5, End: 5}, Title: "Pickle"},
		{ID: "F-03", CWEs: []audit.CWE{798}, File: "conf/app.yml", Title: "No severity", Suppressed: "test data"},
	}
	var buf bytes.Buffer
	require.NoError(t, WriteText(&buf, TextReport{Root: "/src/app", Tool: "probe", Version: "1.2", Coverage: []audit.Dimension{audit.Injection, audit.DataExposure}, Findings: want}))
	rep, err := Read("r.md", bytes.NewReader(buf.Bytes()), Options{})
	require.NoError(t, err, buf.String())
	if d := cmp.Diff(want, rep.Findings, noPos); d != "" {
		t.Fatalf("(-want +got)\n%s\n%s", d, buf.String())
	}
	require.Empty(t, rep.Problems)
	require.True(t, rep.Header && rep.Sentinel)
	require.Equal(t, "/src/app", rep.Root)
	require.Equal(t, "probe 1.2", rep.Tool+" "+rep.Version)
	require.Equal(t, []audit.Dimension{audit.Injection, audit.DataExposure}, rep.Coverage)
	for _, word := range []string{"HEADER START", "HEADER END", "COVERAGE", "STATS", "SENTINEL"} {
		require.Contains(t, buf.String(), word)
	}
	require.True(t, strings.HasSuffix(buf.String(), SentinelLine+"\n"))
}

// TestTextRoundTripAny writes and reads any findings that have distinct IDs.
func TestTextRoundTripAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(findingGen("(/|[A-Z]:/)?[A-Za-z_]{1,5}(/[A-Za-z0-9_%#?|é-]{0,5}( [a-z])?[a-z_]){0,3}\\.[a-z]{1,4}"), 0, 6).Draw(t, "findings")
		for i := range want {
			want[i].ID = fmt.Sprintf("F-%02d", i+1)
		}
		var buf bytes.Buffer
		require.NoError(t, WriteText(&buf, TextReport{Root: "/app", Coverage: audit.Dimensions(), Findings: want}))
		rep, err := Read("r.md", bytes.NewReader(buf.Bytes()), Options{})
		require.NoError(t, err)
		if d := cmp.Diff(want, append([]audit.Finding{}, rep.Findings...), noPos); d != "" {
			t.Fatalf("(-want +got)\n%s\n%s", d, buf.String())
		}
		require.Empty(t, rep.Problems)
	})
}
