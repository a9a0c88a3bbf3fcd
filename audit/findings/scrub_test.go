package findings

import (
	"bytes"
	stdcmp "cmp"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

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
		 {"ruleId": "r", "message": {"id": "m", "arguments": ["kept"]}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "b.js"}, "region": {"startLine": 2}}}]},
		 {"ruleId": "q", "message": {"text": "y"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.js", "uriBaseId": "R"}, "region": {"startLine": 12}}}]}]}]}`,
	"bandit": `{"errors": [], "generated_at": "MACHINE", "results": [{"code": "SOURCE", "filename": "/home/u/my app/b.py", "issue_cwe": {"id": 259}, "issue_severity": "LOW", "issue_confidence": "HIGH", "issue_text": "Possible hardcoded password: 'SOURCE'", "line_number": 4, "line_range": [4, 5], "test_id": "B105", "test_name": "pw"},
		{"code": "SOURCE", "filename": "/home/u/my app/a.py", "issue_cwe": {"id": 78}, "issue_severity": "HIGH", "issue_text": "kept: all of it", "line_number": 40, "test_id": "B602"}, {"filename": "/home/u/my app/a.py", "line_number": 5, "test_id": "B602", "issue_text": "x"}]}`,
	"horusec":  `{"version": "v", "id": "MACHINE", "createdAt": "MACHINE", "analysisVulnerabilities": [{"vulnerabilityID": "MACHINE", "analysisID": "MACHINE", "createdAt": "MACHINE", "vulnerabilities": {"vulnerabilityID": "MACHINE", "line": "4", "file": "/home/u/my app/b.js", "code": "SOURCE", "details": "CWE-79", "severity": "LOW", "rule_id": "HS-1", "commitAuthor": "MACHINE"}}]}`,
	"eslint":   `[{"filePath": "/home/u/my app/b.js", "messages": [{"ruleId": "r", "severity": 2, "message": "m CWE-1", "line": 3, "fix": {"range": [1, 2], "text": "SOURCE"}, "suggestions": [{"fix": {"text": "SOURCE"}}]}], "source": "SOURCE", "output": "SOURCE"}, {"filePath": "/home/u/my app/a.js", "messages": []}]`,
	"gitleaks": `[{"RuleID": "k", "Description": "d", "StartLine": 4, "EndLine": 4, "Match": "SOURCE", "Secret": "SOURCE", "File": "/home/u/my app/b", "Line": "SOURCE SOURCE", "Commit": "MACHINE", "Author": "MACHINE", "Email": "MACHINE", "Date": "MACHINE", "Message": "MACHINE"}]`,
	"ruff":     `[{"code": "S608", "filename": "/home/u/my app/a.py", "location": {"row": 4, "column": 1}, "end_location": {"row": 5, "column": 1}, "message": "m", "fix": {"edits": [{"content": "SOURCE"}]}}]`,
	"semgrep":  `{"results": [{"check_id": "a", "path": "/home/u/my app/a.py", "start": {"line": 3}, "end": {"line": 4}, "extra": {"lines": "SOURCE SOURCE", "metavars": {"$X": {"abstract_content": "SOURCE"}}, "fix": "SOURCE", "dataflow_trace": {"taint_source": "SOURCE"}, "message": "m", "severity": "ERROR", "metadata": {"cwe": ["CWE-78"]}}}], "errors": [], "time": "MACHINE"}`,
}

func TestScrub(t *testing.T) {
	for name, doc := range scrubCases {
		t.Run(name, func(t *testing.T) {
			require.True(t, json.Valid([]byte(doc)))
			scrub := func(in string) string {
				var out bytes.Buffer
				require.NoError(t, Scrub(strings.NewReader(in), &out, ScrubOptions{Root: "/home/u/my app"}))
				return out.String()
			}
			got := scrub(doc)
			for _, word := range []string{"SOURCE", "MACHINE", "/home/u"} {
				require.NotContains(t, got, word)
			}
			require.Equal(t, got, scrub(got), "scrubbing again changes nothing")
			require.Equal(t, got, scrub(shuffled(t, doc)), "the order of the results shows")
			if name == "sarif" || name == "bandit" {
				require.Contains(t, got, "kept")
			}

			before, err := Read("r", strings.NewReader(doc), Options{})
			require.NoError(t, err)
			after, err := Read("r", strings.NewReader(got), Options{})
			require.NoError(t, err)
			require.NotEmpty(t, after.Findings)
			require.True(t, slices.IsSortedFunc(after.Findings, func(a, b audit.Finding) int {
				return stdcmp.Or(strings.Compare(a.File, b.File), a.Lines.Start-b.Lines.Start)
			}), "by file and line: %v", after.Findings)
			for i := range before.Findings {
				f := &before.Findings[i]
				f.File = strings.TrimPrefix(f.File, "/home/u/my app/")
				f.Description = strings.ReplaceAll(strings.ReplaceAll(f.Description, "/home/u/my app/", ""), ": 'SOURCE'", "")
			}
			if d := cmp.Diff(before.Findings, after.Findings, noPos, cmpopts.IgnoreFields(audit.Finding{}, "ID"), cmpopts.IgnoreFields(audit.Step{}, "Note"),
				cmpopts.SortSlices(func(a, b audit.Finding) bool { return brief0(a) < brief0(b) })); d != "" {
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
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// The list of rules is sorted, but where a result names a rule by its place.
func TestScrubSortsRules(t *testing.T) {
	for _, tt := range []struct{ why, result, want string }{
		{"by name", `{"ruleId": "b"}`, `"id":"a"},{"id":"b"`},
		{"by place", `{"ruleIndex": 0}`, `"id":"b"},{"id":"a"`},
		{"by a reference's place", `{"rule": {"index": 0}}`, `"id":"b"},{"id":"a"`},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var out, flat bytes.Buffer
			in := `{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t", "rules": [{"id": "b"}, {"id": "a"}]}}, "results": [` + tt.result + `]}]}`
			require.NoError(t, Scrub(strings.NewReader(in), &out, ScrubOptions{}))
			require.NoError(t, json.Compact(&flat, out.Bytes()))
			require.Contains(t, flat.String(), tt.want)
		})
	}
}

func TestScrubPaths(t *testing.T) {
	for in, want := range map[string]string{
		"/app/a.c": "a.c", "file:///app/a.c": "a.c", "/app": "", "/appendix/a.c": "/appendix/a.c", "/x/app/a.c": "/x/app/a.c",
		"see /app/a.c and '/app/b.c'": "see a.c and 'b.c'", "file:/app/a.c": "a.c", "a.c": "a.c",
		`cd /app && make "/app"`: `cd . && make "."`, "/app /app /app/a.c": ". . a.c", "built in /app. See /app.bak": "built in .. See /app.bak",
	} {
		var out bytes.Buffer
		b, _ := json.Marshal([]map[string]string{{"file": in}})
		require.NoError(t, Scrub(bytes.NewReader(b), &out, ScrubOptions{Root: "/app/"}))
		var got []map[string]string
		require.NoError(t, json.Unmarshal(out.Bytes(), &got))
		require.Equal(t, want, got[0]["file"], in)
	}
}

func TestScrubErrors(t *testing.T) {
	var out bytes.Buffer
	require.ErrorIs(t, Scrub(strings.NewReader(`{"runs": [`), &out, ScrubOptions{}), ErrTruncated)
	require.ErrorContains(t, Scrub(strings.NewReader(`{"results": []}{"results": [1]}`), &out, ScrubOptions{}), "would be lost")
	require.ErrorContains(t, Scrub(strings.NewReader(`=== HEADER`), &out, ScrubOptions{}), "only JSON and SARIF")
	require.ErrorContains(t, Scrub(strings.NewReader(`[]`), &out, ScrubOptions{Format: Text}), "cannot be scrubbed")
	require.Zero(t, out.Len())
}
