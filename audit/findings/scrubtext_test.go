package findings

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// TestScrubOfATextReport: what its findings are stays, what they quote of the source
// goes, with what was said around them and the paths of the machine.
func TestScrubOfATextReport(t *testing.T) {
	source := fstest.MapFS{"src/Orders.java": {Data: []byte("class Orders {\n" +
		"    ResultSet rs = st.executeQuery(\"SELECT * FROM orders WHERE id = '\" + id + \"'\");\n    return rs;\n" +
		"    // nobody may see the orders of others\n}\n")},
		"pom.xml": {Data: []byte(
			"  <artifactId>commons-collections4-of-old</artifactId>\nhttps://example.com/a/long/address/of/it\n")}}
	want := []audit.Finding{
		{ID: "F-01", CWEs: []audit.CWE{89}, Severity: audit.High, Dimension: audit.Injection,
			File: "src/Orders.java", Function: "find", Lines: audit.Range{Start: 2, End: 2},
			Title:       "SQL injection in the order search",
			Description: "The id goes into [source] unescaped; see https://example.com/a/long/address/of/it and rs.",
			Trace: []audit.Step{{File: "src/Orders.java", Lines: audit.Range{Start: 2, End: 2},
				Note: "[source]"}}},
		{ID: "F-02", CWEs: []audit.CWE{1395}, Severity: audit.Low, File: "pom.xml",
			Title:       "commons-collections4-of-old is outdated",
			Description: "It says [source], which does not hold."},
	}
	given := append([]audit.Finding(nil), want...)
	given[0].Description = "The id goes into st.executeQuery(\"SELECT * FROM orders WHERE id = '\" + id + \"'\") unescaped; see https://example.com/a/long/address/of/it and rs."
	given[0].File = "/export/src/Orders.java"
	given[0].Trace = []audit.Step{{File: "/export/src/Orders.java",
		Lines: audit.Range{Start: 2, End: 2},
		Note:  "ResultSet  rs = st.executeQuery(\"SELECT * FROM orders WHERE id = '\" + id + \"'\");"}}
	given[1].Description = "It says // nobody may see the orders of others, which does not hold."
	var report, clean, twice bytes.Buffer
	require.NoError(t, WriteText(&report, TextReport{Root: "/export", Tool: "agent",
		Findings: given}))
	opt := ScrubOptions{Format: Text, Root: "/export", Source: source}
	require.NoError(t,
		Scrub(strings.NewReader("I looked at everything in /export.\n"+report.String()), &clean,
			opt))
	rep, err := Read("r", bytes.NewReader(clean.Bytes()), ReadOptions{})
	require.NoError(t, err)
	require.Empty(t, rep.CutShort)
	for i := range rep.Findings {
		rep.Findings[i].Pos = audit.Pos{}
	}
	require.Equal(t, want, rep.Findings)
	require.NotContains(t, clean.String(), "/export")
	require.NotContains(t, clean.String(), "I looked")

	require.NoError(t, Scrub(bytes.NewReader(clean.Bytes()), &twice, opt))
	require.Equal(t, clean.String(), twice.String())
	require.ErrorContains(t, Scrub(bytes.NewReader(report.Bytes()), &twice,
		ScrubOptions{Format: Text}), "expected ScrubOptions.Source")
	require.ErrorIs(t, Scrub(strings.NewReader(clean.String()[:clean.Len()-40]), &twice, opt),
		ErrTruncated)
}
