package findings

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"assay/audit"
)

// TestJSON reads the shapes of plain JSON. Those that carry a tool's name are
// constructed after the fields that the tool documents.
func TestJSON(t *testing.T) {
	rules := map[string][]audit.CWE{"security/detect-eval": {95}, "S608": {89},
		"aws-key": {798}, "HS-1": {1}}
	for _, tc := range []struct {
		name, doc, tool string
		want            []string
		problem         string
	}{
		{"our own schema",
			`[{"id": "F-1", "rule": "r", "cwes": [89, 564], "severity": "HIGH", "dimension": "Injection", "file": "a.c", "function": "f", "lines": {"start": 1, "end": 2}, "title": "t", "confidence": 0.5, "trace": [{"file": "b.c", "lines": {"start": 3, "end": 3}, "note": "n"}], "others": [{"file": "c.c"}]}]`, "", []string{"F-1 HIGH 89, 564 a.c:1-2 f() | t +1 ~1"}, ""},
		{"an empty list is whole", `[]`, "", nil, ""},
		{"an object around the list",
			`{"tool": "probe", "version": "3", "root": "/app", "coverage": ["Injection"], "findings": []}`, "probe", nil, ""},
		{"names in other spellings",
			`[{"CWE": "CWE-79", "path": "a.c", "line": 3}, {"cwe_id": 79, "file_path": "a.c", "start_line": "3", "end_line": 4}, {"cwe": ["CWE-79: XSS", "80"], "fileName": "a.c", "lineNumber": 3}, {"cwe": "79", "location": "a.c:3-4"}, {"cwe": 79, "file": "a.c", "lines": "L3-L4"}]`, "",
			[]string{"#1  79 a.c:3", "#2  79 a.c:3-4", "#3  79, 80 a.c:3", "#4  79 a.c:3-4",
				"#5  79 a.c:3-4"}, ""},
		{"bandit", `{"errors": [], "generated_at": "x", "metrics": {"_totals": {"loc": 3}}, "results": [{"code": "12 subprocess.call(x, shell=True)\n", "filename": "./a.py", "issue_confidence": "HIGH", "issue_cwe": {"id": 78, "link": "https://cwe.mitre.org/data/definitions/78.html"}, "issue_severity": "MEDIUM", "issue_text": "shell", "line_number": 12, "line_range": [11, 12, 13], "more_info": "x", "test_id": "B602", "test_name": "subprocess_popen"}]}`, "bandit", []string{"#1 MEDIUM 78 ./a.py:12-13 | subprocess_popen"}, ""},
		{"bandit tells of a file that it could not parse",
			`{"errors": [{"filename": "b.py", "reason": "syntax error"}], "results": []}`, "", nil,
			"b.py syntax error"},
		{"Horusec: CWE in the details",
			`{"version": "v2", "analysisVulnerabilities": [{"vulnerabilityID": "1", "analysisID": "2", "vulnerabilities": {"line": "7", "column": "3", "confidence": "MEDIUM", "file": "a.js", "code": "eval(q)", "details": "(1/1) * Possible vulnerability detected: eval\nSee https://cwe.mitre.org/data/definitions/94.html", "type": "Vulnerability", "severity": "CRITICAL", "rule_id": "HS-JAVASCRIPT-2"}}]}`, "horusec", []string{"#1 CRITICAL 94 a.js:7 | Vulnerability"}, ""},
		{"Horusec without findings", `{"analysisVulnerabilities": null}`, "horusec", nil, ""},
		{"ESLint with a rule map",
			`[{"filePath": "/app/a.js", "messages": [{"ruleId": "security/detect-eval/x", "severity": 2, "message": "eval", "line": 4, "column": 1, "endLine": 6}, {"ruleId": "no-x", "severity": 1, "message": "CWE-22 path", "line": 9}], "source": "eval(x)"}]`, "eslint", []string{"#1 HIGH 95 /app/a.js:4-6", "#2 MEDIUM 22 /app/a.js:9"}, ""},
		{"ESLint could not parse a file",
			`[{"filePath": "/app/a.js", "messages": [{"ruleId": null, "fatal": true, "severity": 2, "message": "Parsing error", "line": 4}]}]`, "eslint", nil, "could not read /app/a.js"},
		{"Ruff: its code is the rule",
			`[{"cell": null, "code": "S608", "end_location": {"column": 9, "row": 5}, "filename": "/app/a.py", "fix": null, "location": {"column": 2, "row": 4}, "message": "SQL", "url": "x"}]`, "ruff", []string{"#1  89 /app/a.py:4-5"}, ""},
		{"withdrawn by its status",
			`[{"file": "a.c", "cwe": 1, "status": "false positive"}, {"file": "b.c", "cwe": 1, "suppressed": true}]`, "", []string{"#1  1 a.c", "#2  1 b.c"}, ""},
		{"nothing that can be used", `[{"colour": "red"}]`, "", nil, "fields: colour"},
		{"places of a shape that nobody promised",
			`[{"location": {"file": "a.c", "line": 3}, "cwe": 1}, {"file": "b.c", "cwe": 1, "lines": [3, 9]}]`, "", []string{"#1  1 ", "#2  1 b.c"}, "the file cannot be read"},
		{"lines of such a shape", `[{"file": "b.c", "cwe": 1, "lines": [3, 9]}]`, "",
			[]string{"#1  1 b.c"}, "the lines cannot be read"},
		{"a CWE of such a shape",
			`[{"file": "b.c", "line": 3, "cwe": {"name": "CWE-79"}}, {"file": "c.c", "line": 3, "cwe": [ ]}]`, "", []string{"#1   b.c:3", "#2   c.c:3"}, "the CWE cannot be read"},
		{"a file and nothing else", `[{"path": "a.py", "check": "x", "begins": 3}]`, "",
			[]string{"#1   a.py"},
			"neither a CWE nor lines: expected one of them, found the fields begins, check, path"},
		{"Semgrep", `{"version": "1.140.0", "results": [
			{"check_id": "python.flask.os-tainted", "path": "a.py", "start": {"line": 3, "col": 1}, "end": {"line": 4, "col": 9},
			 "extra": {"message": "tainted", "severity": "ERROR", "lines": "os.system(q)", "metadata":
			 {"cwe": ["CWE-78: OS Command Injection", "CWE-88"], "confidence": "MEDIUM"}}},
			{"check_id": "b", "path": "b.py", "start": {"line": 9}, "end": {"line": 9}, "extra": {"severity": "WARNING",
			 "is_ignored": true, "metadata": {"cwe": "CWE-22: Path Traversal"}}},
			{"check_id": "c", "path": "c.py", "start": {"line": 1}, "end": {"line": 1}, "extra": {"severity": "INFO"}}],
			"errors": [{"type": "Syntax error", "path": "d.py"}], "paths": {"scanned": ["a.py"]}}`, "semgrep",
			[]string{"#1 HIGH 78, 88 a.py:3-4", "#2 MEDIUM 22 b.py:9", "#3 LOW  c.py:1"},
			"Syntax error"},
		{"codex-security: the root control first", `{"documentType": "codex-security.findings", "findings": [
			{"findingId": "csf_1", "ruleId": "path-traversal.archive", "title": "t", "summary": "s", "severity":
			 {"level": "high", "score": 8.1}, "confidence": {"level": "high", "rationale": "r"}, "taxonomy":
			 {"category": "c", "cwe": ["CWE-22"]}, "locations": [{"path": "b.py", "startLine": 41, "role": "sink"},
			 {"path": "a.py", "startLine": 9, "endLine": 12, "role": "root_control"}, {"path": "c.py", "startLine": 1, "role": "sink"}],
			 "codeEvidence": [{"path": "z.py", "startLine": 1, "code": "os.system(q)"}]}]}`, "codex-security",
			[]string{"csf_1 HIGH 22 a.py:9-12 | t +2"}, ""},
		{"codex-security's standard output", `{"repositoryFindings": [{"id": 1}], "findings": {"findings": [
			{"findingId": "csf_1", "taxonomy": {"cwe": ["CWE-22"]}, "locations": [{"path": "a.py", "startLine": 9}]}]},
			"coverage": {"deferred": [{"id": "x"}]}}`, "codex-security", []string{"csf_1  22 a.py:9"}, "deferred 1 parts"},
		{"no object", `["a", 1, {"file": "a.c"}]`, "", nil, ""},
		{"values that cannot be read",
			`[{"file": "a.c", "severity": "spicy", "cwe": "none of them", "lines": "about here"}]`,
			"", []string{"#1   a.c"}, `"spicy"`},
		{"something after the report", `[{"file": "a.c"}] trailing`, "", []string{"#1   a.c"},
			"goes on after the report"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.name == "no object" {
				_, err := Read("r", strings.NewReader(tc.doc), ReadOptions{Format: JSON})
				require.ErrorContains(t, err, "found text")
				return
			}
			rep, err := Read("r.json", strings.NewReader(tc.doc), ReadOptions{RuleMap: rules})
			require.NoError(t, err)
			require.Equal(t, JSON, rep.Format)
			require.Equal(t, tc.tool, rep.Tool)
			var got []string
			for _, f := range rep.Findings {
				got = append(got, brief(f))
				for _, secret := range []string{"eval(", "AKIA", "shell=True", "os.system"} {
					require.NotContains(t, f.Title+f.Description, secret,
						"a finding holds source text")
				}
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("(-want +got)\n%s\n%v", d, rep.Problems)
			}
			checkProblem(t, rep, tc.problem)
			if strings.HasPrefix(tc.name, "withdrawn") {
				require.NotEmpty(t, rep.Findings[0].Suppressed)
				require.NotEmpty(t, rep.Findings[1].Suppressed)
			}
		})
	}
}

func TestJSONErrors(t *testing.T) {
	for _, tc := range []struct {
		doc, format, want string
		is                error
	}{
		{"", "", "r:1: not an audit report: it is empty", ErrNoReport},
		{" \n\t", "", "it is empty", ErrNoReport},
		{`{}`, "", "r:1: not an audit report: expected an object with a member runs", ErrNoReport},
		{`{"data": [], "count": 0}`, "", "data, count", ErrNoReport},
		{`{"findings": "none"}`, "", "expected an object with a member", ErrNoReport},
		{`{"findings": {"a": {}}, "count": 1}`, "", "found one with findings (no list), a, count",
			ErrNoReport},
		{`[{"file": "a.c"`, "", "r:1", ErrTruncated},
		{`[{"file": "a.c"},`, "", "r:1", ErrTruncated},
		{"{\n\"findings\": [\n{\"file\": \"a", "", "r:3", ErrTruncated},
		{"[\n{\"file\": nope}]", "", "r:2: broken JSON", nil},
		{`{"runs": []}`, JSON, "expected plain JSON", nil},
		{`hello`, "", "r:1: not an audit report: expected SARIF, a JSON array", ErrNoReport},
		{`[INFO] starting`, "", "expected SARIF, a JSON array", ErrNoReport},
		{`hello`, SARIF, "found text", nil},
		{`[]`, "yaml", `unknown format "yaml"`, nil},
	} {
		_, err := Read("r", strings.NewReader(tc.doc), ReadOptions{Format: tc.format})
		require.ErrorContains(t, err, tc.want, "%q", tc.doc)
		if tc.is != nil {
			require.ErrorIs(t, err, tc.is, "%q", tc.doc)
		} else {
			require.False(t, errors.Is(err, ErrTruncated) || errors.Is(err, ErrNoReport), "%v", err)
		}
	}
	_, err := Read("r",
		badReader{io.MultiReader(strings.NewReader(`[`),
			iotest.ErrReader(errors.New("disk on fire")))}, ReadOptions{})
	require.ErrorContains(t, err, "disk on fire")
}

type badReader struct{ io.Reader }

func (badReader) Seek(int64, int) (int64, error) { return 0, nil }

// TestEncodings reads what Windows writes: a UTF-8 mark, and UTF-16 with one.
func TestEncodings(t *testing.T) {
	const doc = `[{"file": "a.c", "title": "漏洞"}]`
	wide := func(order binary.AppendByteOrder) string {
		var b []byte
		for _, u := range utf16.Encode([]rune("\ufeff" + doc)) {
			b = order.AppendUint16(b, u)
		}
		return string(b)
	}
	for _, s := range []string{doc, "\ufeff" + doc, wide(binary.LittleEndian),
		wide(binary.BigEndian), "\n\n  " + doc} {
		rep, err := Read("r", strings.NewReader(s), ReadOptions{})
		require.NoError(t, err)
		require.Equal(t, "漏洞", rep.Findings[0].Title)
	}
}

// TestFrame holds the reader to its strictness on HEADER and SENTINEL.
func TestFrame(t *testing.T) {
	const row = "| ID | CWE | File |\n|---|---|---|\n| F-1 | CWE-1 | a.c:1 |\n"
	const end = "=== SENTINEL: AUDIT COMPLETE ==="
	for _, tc := range []struct {
		name, doc        string
		header, sentinel bool
		truncated        bool
		problem          string
	}{
		{"whole", head + row + tail, true, true, false, ""},
		{"bold, as headings, in backticks",
			strings.ReplaceAll(strings.ReplaceAll(head, "=== HEADER START ===",
				"**=== HEADER START ===**"), "=== HEADER END ===", "## `=== HEADER END ===`") +
				row + "\n### **" + end + "**\n\n", true, true, false, ""},
		{"a fence around all of it", "```\n" + head + row + tail + "```\n", true, true, false, ""},
		{"SENTINEL right under a table", head + row + end, true, true, false, ""},
		{"SENTINEL in words of its own", head + row + "\n[SENTINEL] END", true, true, false, ""},
		{"no HEADER", row + tail, false, true, false, "there is no HEADER"},
		{"HEADER not closed", strings.Replace(head, "=== HEADER END ===", "", 1) + row + tail,
			false, true, false, "not closed"},
		{"END before START", "=== HEADER END ===\nProject root: /a\n=== HEADER START ===\n\n" +
			row + tail, false, true, false, "not closed"},
		{"HEADER in prose is none", "I write HEADER START and HEADER END now.\n\n" + row + tail,
			false, true, false, "there is no HEADER"},
		{"lower case is none", strings.ToLower(head) + row + tail, false, true, false,
			"there is no HEADER"},
		{"no SENTINEL: truncated", head + row, true, false, true, "without a SENTINEL"},
		{"cut in the middle of a row",
			head + "| ID | CWE | File |\n|---|---|---|\n| F-1 | CWE-1 | a.c:1 |\n| F-2 | CW", true,
			false, true, "without a SENTINEL"},
		{"cut in the HEADER", "=== HEADER START ===\nProject root: /a\nCOVERA", false, false, true,
			"without a SENTINEL"},
		{"SENTINEL in lower case", head + row + strings.ToLower(tail), true, false, true,
			"without a SENTINEL"},
		{"words after the SENTINEL", head + row + tail + "\nI have finished the audit.\n", true,
			false, false, "not the last line"},
		{"no COVERAGE", strings.Replace(head, "COVERAGE", "SCOPE", 1) + row + tail, true, true,
			false, "lacks a COVERAGE line"},
		{"no STATS", strings.Replace(head, "STATS: see below\n", "", 1) + row + tail, true, true,
			false, "lacks a STATS line"},
		{"a negative number in STATS", strings.Replace(head, "see below", "findings=-3", 1) + row +
			tail, true, true, false, "STATS says findings=-3: expected numbers from 0 to 999999"},
		{"an absurd number in STATS", strings.Replace(head, "see below",
			"findings=1 high: 99999999999", 1) + row + tail, true, true, false,
			"STATS says high: 99999999999: expected"},
		{"STATS differ", strings.Replace(head, "see below", "findings=7", 1) + row + tail, true,
			true, false, "STATS says 7 findings, 1 were read"},
		{"COVERAGE without names", strings.Replace(head, "2/10 (Injection, Auth)", "2/10", 1) +
			row + tail, true, true, false, "names none"},
		{"two HEADERs", head + row + row + "\n" + head + row + tail, true, true, false,
			"a second HEADER"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rep, err := Read("r.md", strings.NewReader(tc.doc), ReadOptions{})
			require.Equal(t, tc.truncated, errors.Is(err, ErrTruncated), "%v", err)
			if !tc.truncated {
				require.NoError(t, err)
			}
			require.Equal(t, tc.header, rep.Header)
			require.Equal(t, tc.sentinel, rep.Sentinel)
			if tc.name != "cut in the HEADER" {
				require.Len(t, rep.Findings, 1)
			}
			checkProblem(t, rep, tc.problem)
		})
	}
}

func TestCoverage(t *testing.T) {
	all := audit.Dimensions()
	for said, want := range map[string][]audit.Dimension{
		"COVERAGE: 10/10 (" + dimensionNames(", ") + ")": all,
		"COVERAGE: 1/10 (Injection)":                     {audit.Injection},
		"**COVERAGE**: D1 Injection, Authentication":     {audit.Injection, audit.Auth},
		"COVERAGE: all of them":                          nil,
	} {
		doc := "=== HEADER START ===\nProject root: /a\n" + said +
			"\nSTATS: x\n=== HEADER END ===\n=== SENTINEL ==="
		rep, err := Read("r.md", strings.NewReader(doc), ReadOptions{})
		require.NoError(t, err)
		require.Equal(t, want, rep.Coverage, said)
	}
}

func dimensionNames(sep string) string {
	var names []string
	for _, d := range audit.Dimensions() {
		names = append(names, string(d))
	}
	return strings.Join(names, sep)
}
