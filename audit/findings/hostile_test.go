package findings

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostile are texts of n bytes that make careless readers quadratic.
func hostile(n int) map[string]string {
	rep := func(s string) string { return strings.Repeat(s, n/len(s)) }
	return map[string]string{
		"header ends": rep("=== HEADER END ===\n"), "sentinels": rep("SENTINEL\n"),
		"headings": rep("### F-1 x\n"), "fields": rep("File: a.c:1\n"),
		"brackets": rep("["), "links": rep("[a]("), "backticks": rep("`"), "quotes": rep(">"),
		"bullets": rep("* "), "pipes": rep("|"),
		"one ID":  "| ID | CWE | File |\n|---|---|---|\n" + rep("| F-1 | 1 | a.c:1 |\n"),
		"rows":    "| ID | CWE | File |\n|---|---|---|\n" + rep("| | 1 | a.c:7 |\n"),
		"commas":  "| CWE | File |\n|---|---|\n| 1 | " + rep("a.c:1,") + " |\n",
		"arrows":  "### F-1: x\n- CWE: 1\n- Trace: " + rep("a.c:1 -> "),
		"numbers": "| CWE | File |\n|---|---|\n| " + rep("1/") + " | a.c |\n",
		"escapes": rep("\x1b["), "ids": "### " + rep("A-") + "1\n- CWE: 1\n",
		"tags": rep("<a "), "fences": rep("```\n# x\n"), "indents": rep(" \n  "),
		"words":  "### F-1: x\n- CWE: 1\n\n" + rep("word\n"),
		"places": "### F-1: x\n- CWE: 1\n\n" + rep("a.c:1 "), "values": "Severity: " +
			rep("x - y: z; "), "headers": head + rep("COVERAGE: Auth\n"),
	}
}

// TestHostileText reads each of them: a reader that is quadratic in one does not
// come back before the test's deadline.
func TestHostileText(t *testing.T) {
	n := 32_000
	if testing.Short() {
		n = 4_000
	}
	for name, text := range hostile(n) {
		t.Run(name, func(t *testing.T) {
			rep, err := Read("r.md", strings.NewReader(text), ReadOptions{Format: Text})
			sound(t, []byte(text), rep, err)
			require.Less(t, len(rep.Problems), 1000, "problems of a kind are counted")
		})
	}
}

// TestLongText holds the bounds: a long line and a long description are read, a text
// that is too large is refused.
func TestLongText(t *testing.T) {
	rep, err := Read("r.md",
		strings.NewReader(head+"| ID | CWE | File |\n|---|---|---|\n| F-1 | 1 | a.c:1 |\n\n"+
			strings.Repeat("漏", 16<<10)+tail), ReadOptions{})
	require.NoError(t, err)
	require.Len(t, rep.Findings, 1)

	long := strings.Repeat("some words\n", 3000)
	rep, err = Read("r.md", strings.NewReader(head+"### F-1: x\n- CWE: 1\n- Description: a\n\n"+
		long+tail), ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, "a "+strings.TrimSpace(strings.ReplaceAll(long, "\n", " ")),
		rep.Findings[0].Description)

	_, err = Read("r.md", strings.NewReader(strings.Repeat("text\n", MaxText/5+1)), ReadOptions{})
	require.ErrorContains(t, err, "more than 8 MB")
}

// TestHostileValues reads values that no tool means: none ends the reading, and what
// is read of them can be stored.
func TestHostileValues(t *testing.T) {
	for _, doc := range []string{
		`[{"file": "a.c", "cwe": 1, "trace": ["", " ", {}, 7], "others": [""]}, {"file": "b.c"}]`,
		`[{"file": "a.c", "confidence": "NaN"}, {"file": "b.c", "confidence": -5}]`,
		`[{"file": "a.c", "confidence": "+Inf %"}, {"file": "b.c", "confidence": 250}]`,
		`[{"file": "a.c", "size": 1e999, "line": 1e999, "line_range": [1e999]}, {"file": "b.c"}]`,
		`{"runs": [{"tool": {"driver": {"name": "t"}}, "results": [{"ruleId": "a", "properties": {"confidence": "NaN"}}, {"ruleId": "b", "properties": {"confidence": 1e999}}]}]}`,
	} {
		rep, err := Read("r.json", strings.NewReader(doc), ReadOptions{})
		require.NoError(t, err, doc)
		require.Len(t, rep.Findings, 2, doc)
		for _, f := range rep.Findings {
			require.Zero(t, f.Confidence, doc)
			require.Empty(t, append(f.Trace, f.Others...), doc)
		}
		_, err = json.Marshal(rep.Findings)
		require.NoError(t, err, doc)
	}
}
