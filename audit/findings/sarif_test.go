package findings

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"assay/audit"
)

func lines(a, b int) audit.Range { return audit.Range{Start: a, End: b} }

// place is a SARIF location.
func sarifPlaceJSON(uri string, start string) string {
	return `{"physicalLocation": {"artifactLocation": {"uri": "` + uri +
		`"}, "region": {"startLine": ` + start + `}}}`
}

// TestSARIF reads one run a case; the members are what stands in the run beside
// a driver named probe. Where a case is constructed after a tool's documented
// output, its name says so.
func TestSARIF(t *testing.T) {
	at := `"locations": [` + sarifPlaceJSON("a.js", "3") + `]`
	f := func(change func(*audit.Finding)) []audit.Finding {
		x := audit.Finding{ID: "#1", RuleID: "r", Severity: audit.Medium, File: "a.js",
			Lines: lines(3, 3), Description: "m"}
		change(&x)
		return []audit.Finding{x}
	}
	none := func(*audit.Finding) {}
	for _, tc := range []struct {
		name    string
		run     string // members of the run
		rules   string // elements of driver.rules
		want    []audit.Finding
		problem string // a part of a problem; "" where there must be none
	}{
		{"level absent, no rule: warning by 3.27.10",
			`"results": [{"ruleId": "r", "message": {"text": "m"}, ` + at + `}]`, ``, f(none), ""},
		{"level error", `"results": [{"ruleId": "r", "level": "error", "message": {"text": "m"}, ` +
			at + `}]`, ``, f(func(x *audit.Finding) { x.Severity = audit.High }), ""},
		{"level from the rule's configuration, rule by ID",
			`"results": [{"ruleId": "r", "message": {"text": "m"}, ` + at + `}]`,
			`{"id": "q", "defaultConfiguration": {"level": "error"}}, {"id": "r", "defaultConfiguration": {"level": "note"}}`, f(func(x *audit.Finding) { x.Severity = audit.Low }), ""},
		{"an absent ruleIndex is not 0", `"results": [{"message": {"text": "m"}, ` + at + `}]`,
			`{"id": "q", "properties": {"cwe": 1}}`, f(func(x *audit.Finding) { x.RuleID = "" }),
			""},
		{"ruleIndex 0, no ruleId", `"results": [{"ruleIndex": 0, "message": {"text": "m"}, ` + at +
			`}]`, `{"id": "r", "properties": {"cwe": "CWE-1"}}`,
			f(func(x *audit.Finding) { x.CWEs = []audit.CWE{1} }), ""},
		{"a rule reference by ID alone",
			`"results": [{"rule": {"id": "r"}, "message": {"text": "m"}, ` + at + `}]`,
			`{"id": "q", "properties": {"cwe": 1}}, {"id": "r", "properties": {"cwe": 2}}`,
			f(func(x *audit.Finding) { x.CWEs = []audit.CWE{2} }), ""},
		{"ruleIndex against ruleId",
			`"results": [{"ruleId": "r", "ruleIndex": 0, "message": {"text": "m"}, ` + at + `}]`,
			`{"id": "q", "properties": {"cwe": 1}}, {"id": "r", "properties": {"cwe": 2}}`,
			f(func(x *audit.Finding) { x.CWEs = []audit.CWE{2} }), "ruleIndex 0 is rule"},
		{"CodeQL: tags and security-severity",
			`"results": [{"ruleId": "r", "ruleIndex": 0, "level": "note", "message": {"text": "m"}, ` + at + `}]`, `{"id": "r", "properties": {"tags": ["security", "external/cwe/cwe-079", "external/cwe/cwe-116"], "security-severity": "9.8", "problem.severity": "error"}}`, f(func(x *audit.Finding) { x.CWEs = []audit.CWE{79, 116}; x.Severity = audit.Critical }), ""},
		{"CodeQL: rules in an extension, two rules of one index",
			`"results": [{"ruleId": "r", "ruleIndex": 1, "rule": {"id": "r", "index": 1, "toolComponent": {"index": 0}}, "message": {"text": "m"}, ` + at + `}], "x": 0`, `{"id": "d0"}, {"id": "d1"}`, f(func(x *audit.Finding) { x.CWEs = []audit.CWE{22}; x.Title = "short" }), ""},
		{"Semgrep: tags with names", `"results": [{"ruleId": "r", "message": {"text": "m"}, ` + at +
			`}]`, `{"id": "r", "shortDescription": {"text": "short"}, "properties": {"precision": "very-high", "tags": ["CWE-89: Improper Neutralization", "OWASP-A03:2021", "security"]}}`, f(func(x *audit.Finding) { x.CWEs = []audit.CWE{89}; x.Title = "short" }), ""},
		{"gosec: relationships to a taxonomy by name",
			`"taxonomies": [{"name": "CWE", "taxa": [{"id": "327"}]}], "results": [{"ruleId": "r", "message": {"text": "m"}, ` + at + `}]`, `{"id": "r", "relationships": [{"target": {"id": "327", "toolComponent": {"name": "CWE"}}, "kinds": ["superset"]}]}`, f(func(x *audit.Finding) { x.CWEs = []audit.CWE{327} }), ""},
		{"a taxonomy by its place, told later",
			`"results": [{"ruleId": "r", "taxa": [{"id": "78", "toolComponent": {"index": 0}}], "message": {"text": "m"}, ` + at + `}], "taxonomies": [{"name": "CWE", "taxa": [{"id": "20"}, {"id": "78"}]}]`, ``, f(func(x *audit.Finding) { x.CWEs = []audit.CWE{78} }), ""},
		{"a taxon by its place alone is told",
			`"results": [{"ruleId": "r", "taxa": [{"index": 1, "toolComponent": {"name": "CWE"}}], "message": {"text": "m"}, ` + at + `}]`, ``, f(none), "1 references to a taxon without its ID"},
		{"a number in another taxonomy is no CWE",
			`"results": [{"ruleId": "r", "taxa": [{"id": "89", "toolComponent": {"name": "OWASP"}}], "message": {"text": "m"}, ` + at + `}]`, ``, f(none), ""},
		{"a taxonomy that no list has is the one that is named",
			`"results": [{"ruleId": "r", "taxa": [{"id": "327", "toolComponent": {"name": "CWE", "index": 0}}], "message": {"text": "m"}, ` + at + `}]`, ``, f(func(x *audit.Finding) { x.CWEs = []audit.CWE{327} }), ""},
		{"a result's own CWEs come before its rule's",
			`"results": [{"ruleId": "r", "properties": {"cwe": ["CWE-3", "CWE-1"]}, "message": {"text": "m"}, ` + at + `}]`, `{"id": "r", "properties": {"tags": ["CWE-1", "CWE-2"]}}`, f(func(x *audit.Finding) { x.CWEs = []audit.CWE{3, 1, 2} }), ""},
		{"bandit: help address at MITRE",
			`"results": [{"ruleId": "r", "properties": {"issue_confidence": "HIGH", "issue_severity": "LOW"}, "message": {"text": "m"}, ` + at + `}]`, `{"id": "r", "helpUri": "https://cwe.mitre.org/data/definitions/78.html"}`, f(func(x *audit.Finding) { x.CWEs = []audit.CWE{78}; x.Severity = audit.Low; x.Confidence = 0.9 }), ""},
		{"Trivy: severity among the tags",
			`"results": [{"ruleId": "r", "level": "error", "message": {"text": "m"}, ` + at + `}]`,
			`{"id": "r", "properties": {"tags": ["vulnerability", "security", "CRITICAL"]}}`,
			f(func(x *audit.Finding) { x.Severity = audit.Critical }), ""},
		{"CWE in the message alone",
			`"results": [{"ruleId": "r", "message": {"text": "see CWE 611"}, ` + at + `}]`, ``,
			f(func(x *audit.Finding) { x.CWEs = []audit.CWE{611}; x.Description = "see CWE 611" }),
			""},
		{"rule map for a tool without CWEs, hierarchical rule",
			`"results": [{"ruleId": "mapped/one", "message": {"text": "m CWE-5"}, ` + at + `}]`, ``,
			f(func(x *audit.Finding) { x.RuleID = "mapped/one"; x.CWEs = []audit.CWE{94}; x.Description = "m CWE-5" }), ""},
		{"links in a message",
			`"results": [{"ruleId": "r", "message": {"text": "x meets [y](1)"}, ` + at + `}]`, ``,
			f(func(x *audit.Finding) { x.Description = "x meets y" }), ""},
		{"message by ID is told",
			`"results": [{"ruleId": "r", "message": {"id": "bad", "arguments": ["x"]}, ` + at +
				`}]`, `{"id": "r", "messageStrings": {"bad": {"text": "{0}"}}}`,
			f(func(x *audit.Finding) { x.Description = "" }), "1 messages by the ID"},
		{"kind pass is not a finding",
			`"results": [{"ruleId": "r", "kind": "pass", "message": {"text": "m"}}]`, ``, nil,
			"1 results of kind pass"},
		{"kind notApplicable is not a finding",
			`"results": [{"ruleId": "r", "kind": "notApplicable", "message": {"text": "m"}}]`, ``,
			nil, "notApplicable"},
		{"kind review is a finding, level none by 3.27.10",
			`"results": [{"ruleId": "r", "kind": "review", "message": {"text": "m"}, ` + at + `}]`,
			``, f(func(x *audit.Finding) { x.Severity = audit.Info }), ""},
		{"kind open is withdrawn",
			`"results": [{"ruleId": "r", "kind": "open", "level": "warning", "message": {"text": "m"}, ` + at + `}]`, ``, f(func(x *audit.Finding) { x.Suppressed = "kind open: the tool could not decide" }), ""},
		{"baselineState absent",
			`"results": [{"ruleId": "r", "baselineState": "absent", "message": {"text": "m"}, ` +
				at + `}]`, ``, nil, "no longer found"},
		{"suppressed in source",
			`"results": [{"ruleId": "r", "suppressions": [{"kind": "inSource"}], "message": {"text": "m"}, ` + at + `}]`, ``, f(func(x *audit.Finding) { x.Suppressed = "inSource" }), ""},
		{"suppression rejected or under review",
			`"results": [{"ruleId": "r", "suppressions": [{"kind": "external", "status": "rejected"}, {"kind": "external", "status": "underReview"}], "message": {"text": "m"}, ` + at + `}]`, ``, f(none), ""},
		{"one suppression accepted",
			`"results": [{"ruleId": "r", "suppressions": [{"kind": "external", "status": "rejected"}, {"kind": "external", "status": "accepted", "justification": "test code"}], "message": {"text": "m"}, ` + at + `}]`, ``, f(func(x *audit.Finding) { x.Suppressed = "test code" }), ""},
		{"empty suppressions suppress nothing",
			`"results": [{"ruleId": "r", "suppressions": [], "message": {"text": "m"}, ` + at +
				`}]`, ``, f(none), ""},
		{"several locations, related ones, snippets",
			`"results": [{"ruleId": "r", "message": {"text": "m"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.js"}, "region": {"startLine": 3, "snippet": {"text": "eval(x)"}}, "contextRegion": {"startLine": 1, "snippet": {"text": "secret"}}}}, ` + sarifPlaceJSON("b.js", `4, "endLine": 6`) + `], "relatedLocations": [` + sarifPlaceJSON("c.js", "9") + `]}]`, ``,
			f(func(x *audit.Finding) {
				x.Others = []audit.Step{{File: "b.js", Lines: lines(4, 6)}}
				x.Trace = []audit.Step{{File: "c.js", Lines: lines(9, 9), Note: "related:"}}
			}), ""},
		{"code flow, the first of two", `"results": [{"ruleId": "r", "message": {"text": "m"}, ` +
			at + `, "codeFlows": [{"threadFlows": [{"locations": [{"location": {"physicalLocation": {"artifactLocation": {"uri": "s.js"}, "region": {"startLine": 1}}, "message": {"text": "source"}}}, {"location": ` + sarifPlaceJSON("a.js", "3") + `}]}]}, {"threadFlows": []}]}]`, ``,
			f(func(x *audit.Finding) {
				x.Trace = []audit.Step{{File: "s.js", Lines: lines(1, 1), Note: "source"},
					{File: "a.js", Lines: lines(3, 3)}}
			}), "further code flows"},
		{"function from a logical location",
			`"results": [{"ruleId": "r", "message": {"text": "m"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.js"}, "region": {"startLine": 3}}, "logicalLocations": [{"kind": "type", "name": "C"}, {"fullyQualifiedName": "p.C.run(String)", "kind": "function"}]}]}]`, ``, f(func(x *audit.Finding) { x.Function = "run" }), ""},
		{"an artifact by index alone is told",
			`"results": [{"ruleId": "r", "message": {"text": "m"}, "locations": [{"physicalLocation": {"artifactLocation": {"index": 1}, "region": {"startLine": 3}}}]}], "artifacts": [{"location": {"uri": "z.js"}}, {"location": {"uri": "a.js"}}]`, ``, f(func(x *audit.Finding) { x.File = "" }), "1 locations by the index of an artifact"},
		{"a negative index is none",
			`"results": [{"ruleId": "r", "ruleIndex": -7, "message": {"text": "m"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.js", "index": -1}, "region": {"startLine": 3}}}]}]`, ``, f(none), ""},
		{"a rule by its place among an extension's",
			`"results": [{"ruleIndex": 0, "rule": {"index": 0, "toolComponent": {"index": 0}}, "message": {"text": "m"}, ` + at + `}]`, `{"id": "r", "properties": {"cwe": "CWE-1"}}`, f(func(x *audit.Finding) { x.RuleID = "" }), "expected a ruleId"},
		{"a rule by a place that no rule has",
			`"results": [{"ruleIndex": 7, "message": {"text": "m"}, ` + at + `}]`, ``,
			f(func(x *audit.Finding) { x.RuleID = "" }), "(0 rules)"},
		{"percent-encoding, file URI",
			`"results": [{"ruleId": "r", "message": {"text": "m"}, "locations": [` + sarifPlaceJSON(
				"file:///home/u/my%20app/%E4%B8%AD.js", "3") + `]}]`, ``,
			f(func(x *audit.Finding) { x.File = "/home/u/my app/中.js" }), ""},
		{"file URI with a drive letter",
			`"results": [{"ruleId": "r", "message": {"text": "m"}, "locations": [` + sarifPlaceJSON(
				"file:///C:/app/a.js", "3") + `]}]`, ``,
			f(func(x *audit.Finding) { x.File = "C:/app/a.js" }), ""},
		{"broken percent-encoding",
			`"results": [{"ruleId": "r", "message": {"text": "m"}, "locations": [` + sarifPlaceJSON(
				"100%.js", "3") + `]}]`, ``, f(func(x *audit.Finding) { x.File = "100%.js" }),
			"broken percent-encoding"},
		{"unknown uriBaseId: relative stays relative",
			`"results": [{"ruleId": "r", "message": {"text": "m"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.js", "uriBaseId": "%SRCROOT%"}, "region": {"startLine": 3}}}]}]`, ``, f(none), ""},
		{"startLine 0 and charOffset give no lines",
			`"results": [{"ruleId": "r", "message": {"text": "m"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.js"}, "region": {"charOffset": 4, "charLength": 2}}}]}]`, ``, f(func(x *audit.Finding) { x.Lines = audit.Range{} }), "offset alone"},
		{"a line that is no number",
			`"results": [{"ruleId": "r", "message": {"text": "m"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.js"}, "region": {"startLine": "twelve"}}}]}]`, ``, f(func(x *audit.Finding) { x.Lines = audit.Range{} }), `the startLine "twelve" is no line: expected a whole number from 1`},
		{"an unknown level",
			`"results": [{"ruleId": "r", "level": "spicy", "message": {"text": "m"}, ` + at + `}]`,
			``, f(func(x *audit.Finding) { x.Severity = audit.SeverityUnknown }), `"spicy"`},
		{"a configuration override is told",
			`"invocations": [{"executionSuccessful": true, "ruleConfigurationOverrides": [{"descriptor": {"id": "r"}, "configuration": {"level": "error"}}]}], "results": [{"ruleId": "r", "message": {"text": "m"}, ` + at + `}]`, ``, f(none), "ruleConfigurationOverrides"},
		{"a notification of the tool",
			`"invocations": [{"executionSuccessful": true, "toolExecutionNotifications": [{"level": "error", "message": {"text": "cannot parse b.js"}}]}], "results": []`, ``, nil, "cannot parse b.js"},
		{"members of the wrong type",
			`"results": [{"ruleId": 7, "message": "m", "locations": {}, "properties": [], "taxa": 3, "suppressions": null}, null]`, ``, []audit.Finding{{ID: "#1", RuleID: "7", Severity: audit.Medium}}, "empty or not an object"},
		{"properties alone are no finding", `"results": [{"properties": {"cwe": 1}}]`, ``, nil,
			"empty or not an object"},
		{"parts in other files", `"externalPropertyFileReferences": {}, "results": []`, ``, nil,
			"other files"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			doc := `{"version": "2.1.0", "runs": [{` + tc.run +
				`, "tool": {"driver": {"name": "probe", "version": "1", "rules": [` + tc.rules +
				`]}, "extensions": [{"name": "pack", "rules": [{"id": "x"}, {"id": "r", "shortDescription": {"text": "short"}, "properties": {"tags": ["external/cwe/cwe-022"]}}]}]}}]}`
			if !strings.Contains(tc.name, "extension") {
				doc = strings.Replace(doc,
					`"id": "r", "shortDescription": {"text": "short"}, "properties": {"tags": ["external/cwe/cwe-022"]}`, `"id": "y"`, 1)
			}
			require.True(t, json.Valid([]byte(doc)), doc)
			rep, err := Read("r.sarif", strings.NewReader(doc),
				ReadOptions{RuleMap: map[string][]audit.CWE{"mapped": {94}}})
			require.NoError(t, err)
			require.Equal(t, SARIF, rep.Format)
			require.Equal(t, "probe 1", rep.Tool+" "+rep.Version)
			if d := cmp.Diff(tc.want, rep.Findings, noPos); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			checkProblem(t, rep, tc.problem)
		})
	}
}

func checkProblem(t *testing.T, rep audit.Report, want string) {
	t.Helper()
	if want == "" {
		require.Empty(t, rep.Problems)
		return
	}
	for _, p := range rep.Problems {
		if strings.Contains(p.What, want) {
			return
		}
	}
	t.Errorf("no problem says %q: %v", want, rep.Problems)
}

func TestSARIFBases(t *testing.T) {
	const doc = `{"runs": [{
  "tool": {"driver": {"name": "t"}},
  "originalUriBaseIds": {
    "PROJECTROOT": {"uri": "file:///home/u/app/"},
    "SRC": {"uri": "src%20main/", "uriBaseId": "PROJECTROOT"},
    "JDK": {"uri": "file:///usr/lib/jdk/"},
    "LOOP": {"uri": "l/", "uriBaseId": "LOOP"}
  },
  "results": [
    {"message": {"text": "m"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "A.java", "uriBaseId": "SRC"}}}]},
    {"message": {"text": "m"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "B.java", "uriBaseId": "PROJECTROOT"}}}]},
    {"message": {"text": "m"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "C.java", "uriBaseId": "JDK"}}}]},
    {"message": {"text": "m"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "file:///home/u/app/D.java"}}}]},
    {"message": {"text": "m"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "E.java", "uriBaseId": "LOOP"}}}]}
  ]}]}`
	rep, err := Read("r.sarif", strings.NewReader(doc), ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, "/home/u/app", rep.Root)
	var files []string
	for _, f := range rep.Findings {
		files = append(files, f.File)
	}
	require.Equal(t, []string{"src main/A.java", "B.java", "/usr/lib/jdk/C.java",
		"/home/u/app/D.java"}, files[:4])
	require.Equal(t, []int{10, 11}, []int{rep.Findings[0].Pos.Line, rep.Findings[1].Pos.Line})
}

// TestSARIFSourcePath: SpotBugs names a folder of sources, which need not be the root, by a number.
func TestSARIFSourcePath(t *testing.T) {
	const doc = `{"runs": [{"tool": {"driver": {"name": "SpotBugs"}}, "originalUriBaseIds": {"8736793520": {"uri": "file:///w/app/src/main/java/"}},
		"results": [{"ruleId": "r", "locations": [{"physicalLocation": {"artifactLocation": {"uri": "com/acme/Dao.java", "uriBaseId": "8736793520"}}}]}]}]}`
	rep, err := Read("r.sarif", strings.NewReader(doc), ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, "/w/app/src/main/java", rep.Root)
	require.Equal(t, "/w/app/src/main/java/com/acme/Dao.java", rep.Findings[0].File)
}

func TestSARIFRuns(t *testing.T) {
	read := func(doc string) (audit.Report,
		error) {
		return Read("r.sarif", strings.NewReader(doc), ReadOptions{})
	}

	rep, err := read(`{"runs": [{"tool": {"driver": {"name": "a", "version": "1", "rules": [{"id": "x", "properties": {"cwe": 1}}]}}, "results": [{"ruleId": "x", "message": {"text": ""}}]},
		{"tool": {"driver": {"name": "b", "version": "2", "rules": [{"id": "x", "properties": {"cwe": 2}}]}}, "results": [{"ruleId": "x", "message": {"text": ""}}]}]}`)
	require.NoError(t, err)
	require.Equal(t, "a, b / 1, 2", rep.Tool+" / "+rep.Version)
	require.Equal(t, []audit.CWE{1}, rep.Findings[0].CWEs, "each run has its own rules")
	require.Equal(t, []audit.CWE{2}, rep.Findings[1].CWEs)

	rep, err = read(`{"runs": [{"tool": {"driver": {"name": "a"}}, "results": []}]}`)
	require.NoError(t, err, "whole and without findings")
	require.Empty(t, rep.Findings)
	require.Empty(t, rep.Problems)
	require.Empty(t, rep.Failed)

	rep, err = read(
		`{"runs": [{"tool": {"driver": {"name": "a"}}, "invocations": [{"executionSuccessful": false, "exitCode": 2}], "results": []}]}`)
	require.NoError(t, err)
	require.Equal(t, "executionSuccessful is false, exit code 2", rep.Failed)
	checkProblem(t, rep, "its run failed")

	for _, doc := range []string{`{"version": "2.0.0", "runs": [{"tool": {"driver": {"name": "a"}}, "results": []}]}`, `{"runs": [{"tool": {"driver": {"name": "a"}}, "results": []}], "version": "2.0.0"}`} {
		rep, err = read(doc)
		require.NoError(t, err)
		checkProblem(t, rep, `the SARIF version is "2.0.0": expected 2.1.0`)
	}
	rep, err = read(`{"version": "2.1.0", "runs": [{"tool": {"driver": {}}, "results": []}]}`)
	require.NoError(t, err)
	require.Empty(t, rep.Problems)
	require.Empty(t, rep.Version, "SARIF's version is none of a tool")

	for _, doc := range []string{`{"runs": [{"tool": {"driver": {"name": "a"}}}]}`, `{"runs": []}`,
		`{"runs": [{"tool": {"driver": {"name": "a"}}, "results": null}]}`} {
		rep, err = read(doc)
		require.NoError(t, err)
		require.NotEmpty(t, rep.Failed, doc)
		require.NotEmpty(t, rep.Problems, doc)
	}
}

// TestSARIFTruncated cuts a report at every byte: none of the pieces may pass.
func TestSARIFTruncated(t *testing.T) {
	var buf bytes.Buffer
	require.NoError(t,
		WriteSARIF(&buf, "t", "1",
			[]audit.Finding{{CWEs: []audit.CWE{89}, File: "ä b.js", Lines: lines(1, 2),
				Description: "x\ny"}, {File: "c.js"}}))
	whole := bytes.TrimSpace(buf.Bytes())
	for n := 1; n < len(whole); n++ {
		_, err := Read("r.sarif", bytes.NewReader(whole[:n]), ReadOptions{})
		if !errors.Is(err, ErrTruncated) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
	_, err := Read("r.sarif", strings.NewReader(`{"runs": [{"results": [}`), ReadOptions{})
	require.ErrorContains(t, err, "r.sarif:1: broken JSON")
	require.NotErrorIs(t, err, ErrTruncated)
	_, err = Read("r.json", strings.NewReader(`[]`), ReadOptions{Format: SARIF})
	require.ErrorContains(t, err, "expected SARIF")
}

// findingGen makes findings in the form in which reading gives them back.
func findingGen(path string) *rapid.Generator[audit.Finding] {
	word := rapid.StringMatching(`W[A-Za-z_]{0,8}( [a-z|*<>\[\]&"#é漏]{1,6}[a-z]){0,3}`)
	file := rapid.StringMatching(path)
	span := rapid.Custom(func(t *rapid.T) audit.Range {
		a := rapid.IntRange(0, 900).Draw(t, "start")
		if a == 0 {
			return audit.Range{}
		}
		return lines(a, a+rapid.IntRange(0, 40).Draw(t, "more"))
	})
	step := rapid.Custom(func(t *rapid.T) audit.Step {
		return audit.Step{File: file.Draw(t, "file"),
			Lines: lines(rapid.IntRange(1, 900).Draw(t, "line"), 0), Note: word.Draw(t, "note")}
	})
	return rapid.Custom(func(t *rapid.T) audit.Finding {
		f := audit.Finding{
			RuleID:    rapid.StringMatching(`r[a-z]{1,8}([-.][a-z0-9]{1,5}){0,2}`).Draw(t, "rule"),
			Severity:  audit.Severity(rapid.IntRange(0, 5).Draw(t, "severity")),
			Dimension: rapid.SampledFrom(append(audit.Dimensions(), "")).Draw(t, "dimension"),
			File:      file.Draw(t, "path"),
			Function:  rapid.StringMatching(`(f[A-Za-z]{0,9})?`).Draw(t, "function"),
			Lines:     span.Draw(t, "lines"),
			Title:     word.Draw(t, "title"), Description: word.Draw(t, "description"),
			Confidence: float64(rapid.IntRange(0, 100).Draw(t, "confidence")) / 100,
			Suppressed: rapid.StringMatching(`(s[a-z]{3,9})?`).Draw(t, "suppressed"),
		}
		for _, c := range rapid.SliceOfNDistinct(rapid.IntRange(1, 1400),
			1, 4, rapid.ID).Draw(t, "cwes") {
			f.CWEs = append(f.CWEs, audit.CWE(c))
		}
		for _, s := range rapid.SliceOfN(step, 0, 3).Draw(t, "trace") {
			s.Lines.End = s.Lines.Start
			f.Trace = append(f.Trace, s)
		}
		return f
	})
}

func TestSARIFRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(findingGen(
			`(/|C:/)?[A-Za-z]{1,5}(/[A-Za-z0-9_ %#?:é-]{0,6}[a-z]){0,3}\.[a-z]{1,4}`), 0, 5).Draw(t,
			"findings")
		number(want)
		var buf bytes.Buffer
		require.NoError(t, WriteSARIF(&buf, "t", "1", want))
		rep, err := Read("r.sarif", bytes.NewReader(buf.Bytes()), ReadOptions{})
		require.NoError(t, err)
		require.Empty(t, rep.Problems)
		if d := cmp.Diff(want, append([]audit.Finding{}, rep.Findings...), noPos); d != "" {
			t.Fatalf("(-want +got)\n%s", d)
		}
	})
}

// TestSARIFSchema holds our SARIF to the standard. The standard's own JSON
// schema is not ours to commit: ASSAY_SARIF_SCHEMA names a copy of it, and the
// output is validated against that. Without it, the structure that the schema
// requires of the members that we write is checked by hand.
func TestSARIFSchema(t *testing.T) {
	var buf bytes.Buffer
	fs := []audit.Finding{
		{ID: "F-1", RuleID: "r", CWEs: []audit.CWE{89, 564}, Severity: audit.Critical,
			Dimension: audit.Injection, File: "src/my file#1.js", Function: "f", Lines: lines(1, 2),
			Title: "t", Description: "d", Confidence: 0.5, Suppressed: "s",
			Trace: []audit.Step{{File: "/a/b.js", Lines: lines(3, 3), Note: "n"},
				{Note: "nowhere"}}, Others: []audit.Step{{File: `C:\x\y.cs`}}},
		{}, {Function: "only"}, {File: "http://h/p?q=1", Lines: audit.Range{Start: 5, End: 2}},
		{Title: "bad \xff bytes"},
	}
	for _, set := range [][]audit.Finding{fs, nil} {
		buf.Reset()
		require.NoError(t, WriteSARIF(&buf, "", "", set))
		var doc map[string]any
		require.NoError(t, json.Unmarshal(buf.Bytes(), &doc))
		if path := os.Getenv("ASSAY_SARIF_SCHEMA"); path != "" {
			schema, err := jsonschema.NewCompiler().Compile(path)
			require.NoError(t, err)
			require.NoError(t, schema.Validate(doc))
		}
		require.Equal(t, "2.1.0", doc["version"])
		run := doc["runs"].([]any)[0].(map[string]any)
		driver := run["tool"].(map[string]any)["driver"].(map[string]any)
		require.NotEmpty(t, driver["name"])
		rules, _ := driver["rules"].([]any)
		for _, r := range run["results"].([]any) {
			r := r.(map[string]any)
			require.NotEmpty(t, r["message"].(map[string]any)["text"])
			require.Less(t, int(r["ruleIndex"].(float64)), len(rules))
			require.Contains(t, []any{"error", "warning", "note"}, r["level"])
		}
	}
}

// codex-security says the same in its own JSON, of which this is real output (scan --mock),
// and in SARIF.
func TestCodexSecurity(t *testing.T) {
	f, err := os.Open("testdata/codex-security-0.4.0.json")
	require.NoError(t, err)
	defer f.Close()
	rep, err := Read("findings.json", f, ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, "codex-security", rep.Tool)
	require.Empty(t, rep.Problems)
	require.Len(t, rep.Findings, 12)
	require.Equal(t, "csf_5c99a9a4ffbedf0cc6342cdb CRITICAL 78 mock/command-injection.ts:10"+
		" | [Mock] Export filename reaches a shell command", brief(rep.Findings[0]))
	for _, f := range rep.Findings {
		require.NotEmpty(t, f.CWEs, f.ID)
		require.NotZero(t, f.Lines, f.ID)
		require.NotZero(t, f.Severity, f.ID)
	}
}
