package findings

import (
	"bytes"
	stdcmp "cmp"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"assay/audit"
)

// scrubCases are reports in which every field that holds source text holds the
// word SOURCE, every one that names the machine MACHINE, and all paths lie
// under /home/u/my app.
var scrubCases = map[string]string{
	"sarif": `{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t", "rules": [{"id": "r", "guid": "0", "help": {"text": "CWE-89"}}]}},
		"originalUriBaseIds": {"R": {"uri": "file:///home/u/my%20app/"}},
		"invocations": [{"executionSuccessful": true, "commandLine": "MACHINE", "startTimeUtc": "MACHINE", "account": "MACHINE", "environmentVariables": {"X": "MACHINE"}, "arguments": ["MACHINE"], "workingDirectory": {"uri": "file:///home/u/my%20app"}}],
		"automationDetails": {"guid": "MACHINE"}, "versionControlProvenance": [{"repositoryUri": "MACHINE"}],
		"artifacts": [{"location": {"uri": "a.js"}, "contents": {"text": "SOURCE"}}],
		"results": [
		 {"ruleId": "r", "guid": "MACHINE", "message": {"text": "x in /home/u/my app/b.js", "markdown": "SOURCE"}, "fixes": [{"x": "SOURCE"}],
		  "locations": [{"physicalLocation": {"artifactLocation": {"uri": "file:///home/u/my%20app/b.js"}, "region": {"startLine": 12, "snippet": {"text": "SOURCE"}}, "contextRegion": {"startLine": 1, "snippet": {"text": "SOURCE"}}}}],
		  "codeFlows": [{"threadFlows": [{"locations": [{"state": {"q": {"text": "SOURCE"}}, "location": {"message": {"text": "SOURCE"}, "physicalLocation": {"artifactLocation": {"uri": "b.js"}, "region": {"startLine": 3, "snippet": {"text": "SOURCE"}}}}}]}]}]},
		 {"ruleId": "r", "message": {"text": "kept"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "b.js"}, "region": {"startLine": 2}}}]},
		 {"ruleId": "q", "message": {"text": "y in let q = \"y at the order's own line of source\""}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.js", "uriBaseId": "R"}, "region": {"startLine": 12}}}]}]}]}`,
	"bandit": `{"errors": [], "generated_at": "MACHINE", "results": [{"code": "SOURCE", "filename": "/home/u/my app/b.py", "issue_cwe": {"id": 259}, "issue_severity": "LOW", "issue_confidence": "HIGH", "issue_text": "Possible hardcoded password: 'SOURCE'", "line_number": 4, "line_range": [4, 5], "test_id": "B105", "test_name": "pw"},
		{"code": "SOURCE", "filename": "/home/u/my app/a.py", "issue_cwe": {"id": 78}, "issue_severity": "HIGH", "issue_text": "kept: all of it", "line_number": 40, "test_id": "B602"}, {"filename": "/home/u/my app/a.py", "line_number": 5, "test_id": "B602", "issue_text": "x"}]}`,
	"horusec":  `{"version": "v", "id": "MACHINE", "createdAt": "MACHINE", "analysisVulnerabilities": [{"vulnerabilityID": "MACHINE", "analysisID": "MACHINE", "createdAt": "MACHINE", "vulnerabilities": {"vulnerabilityID": "MACHINE", "line": "4", "file": "/home/u/my app/b.js", "code": "SOURCE", "details": "CWE-79", "severity": "LOW", "rule_id": "HS-1", "commitAuthor": "MACHINE"}}]}`,
	"eslint":   `[{"filePath": "/home/u/my app/b.js", "messages": [{"ruleId": "r", "severity": 2, "message": "m CWE-1", "line": 3, "fix": {"range": [1, 2], "text": "SOURCE"}, "suggestions": [{"fix": {"text": "SOURCE"}}]}], "source": "SOURCE", "output": "SOURCE"}, {"filePath": "/home/u/my app/a.js", "messages": []}]`,
	"gitleaks": `[{"RuleID": "k", "Description": "d", "StartLine": 4, "EndLine": 4, "Match": "SOURCE", "Secret": "SOURCE", "File": "/home/u/my app/b", "Line": "SOURCE SOURCE", "Commit": "MACHINE", "Author": "MACHINE", "Email": "MACHINE", "Date": "MACHINE", "Message": "MACHINE"}]`,
	"ruff":     `[{"code": "S608", "filename": "/home/u/my app/a.py", "location": {"row": 4, "column": 1}, "end_location": {"row": 5, "column": 1}, "message": "m", "fix": {"edits": [{"content": "SOURCE"}]}}]`,
}

// TestScrub: a tool's report is written anew as SARIF, by place and rule, and reads as
// before.
func TestScrub(t *testing.T) {
	for name, doc := range scrubCases {
		t.Run(name, func(t *testing.T) {
			require.True(t, json.Valid([]byte(doc)))
			opt := ScrubOptions{Root: "/home/u/my app",
				Source: fstest.MapFS{"a.js": {Data: []byte(
					"let q = \"y at the order's own line of source\"\n")}}}
			scrub := func(in string) string {
				var out bytes.Buffer
				require.NoError(t, Scrub(strings.NewReader(in), &out, opt))
				return out.String()
			}
			got := scrub(doc)
			for _, word := range []string{"SOURCE", "MACHINE", "/home/u", "own line"} {
				require.NotContains(t, got, word)
			}
			require.Equal(t, got, scrub(got), "scrubbing again changes nothing")
			require.Equal(t, got, scrub(shuffled(t, doc)), "the order of the results shows")
			if name == "sarif" || name == "bandit" {
				require.Contains(t, got, "kept")
			}

			before, err := Read("r", strings.NewReader(doc), ReadOptions{})
			require.NoError(t, err)
			after, err := Read("r", strings.NewReader(got), ReadOptions{Format: SARIF})
			require.NoError(t, err)
			require.NotEmpty(t, after.Findings)
			require.Equal(t, stdcmp.Or(before.Tool, "unknown")+" "+before.Version,
				after.Tool+" "+after.Version)
			require.True(t, slices.IsSortedFunc(after.Findings, func(a, b audit.Finding) int {
				return stdcmp.Or(strings.Compare(a.File, b.File), a.Lines.Start-b.Lines.Start)
			}), "by file and line: %v", after.Findings)
			for i := range before.Findings {
				f := &before.Findings[i]
				f.File = strings.TrimPrefix(f.File, "/home/u/my app/")
				f.Description = strings.ReplaceAll(strings.ReplaceAll(f.Description,
					"/home/u/my app/", ""), ": 'SOURCE'", "")
				f.Description = strings.ReplaceAll(f.Description,
					"let q = \"y at the order's own line of source\"", cutMark)
			}
			if d := cmp.Diff(before.Findings, after.Findings, noPos,
				cmpopts.IgnoreFields(audit.Finding{}, "ID"),
				cmpopts.IgnoreFields(audit.Step{}, "Note"),
				cmpopts.SortSlices(func(a,
					b audit.Finding) bool {
					return brief0(a) < brief0(b)
				})); d != "" {
				t.Errorf("scrubbing changes findings (-before +after)\n%s", d)
			}
		})
	}
}

func brief0(f audit.Finding) string { f.ID = ""; return brief(f) }

// shuffled puts the results of a report into another order.
func shuffled(t *testing.T, doc string) string {
	var v any
	require.NoError(t, json.Unmarshal([]byte(doc), &v))
	list, _ := v.([]any)
	if m, ok := v.(map[string]any); ok {
		if runs, ok := m["runs"].([]any); ok {
			m = runs[0].(map[string]any)
		}
		for _, n := range []string{"results", "analysisVulnerabilities"} {
			if l, ok := m[n].([]any); ok {
				list = l
			}
		}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(list),
		func(i, j int) { list[i], list[j] = list[j], list[i] })
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

func TestScrubPaths(t *testing.T) {
	for in, want := range map[string]string{
		"/app/a.c": "a.c", "/app": "", "/appendix/a.c": "/appendix/a.c", "/x/app/a.c": "/x/app/a.c",
		"file:/app/a.c":               "a.c",
		"see /app/a.c and '/app/b.c'": "see a.c and 'b.c'", "file:///app/a.c": "a.c", "a.c": "a.c",
		`cd /app && make "/app"`: `cd . && make "."`, "/app /app /app/a.c": ". . a.c",
		"built in /app. See /app.bak": "built in .. See /app.bak",
	} {
		require.Equal(t, want, newRootPattern("/app/").remove(in), in)
	}
}

func TestScrubErrors(t *testing.T) {
	var out bytes.Buffer
	opt := ScrubOptions{Source: fstest.MapFS{}}
	require.ErrorIs(t, Scrub(strings.NewReader(`{"runs": [`), &out, opt), ErrTruncated)
	require.ErrorIs(t, Scrub(strings.NewReader(`hello`), &out, opt), ErrNoReport)
	require.ErrorContains(t, Scrub(strings.NewReader(`[]`), &out, ScrubOptions{}),
		"expected ScrubOptions.Source")
	require.Zero(t, out.Len())
}
