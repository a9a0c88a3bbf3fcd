package findings

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"assay/audit"
)

// sound holds a report to what every report promises, whatever was read.
func sound(t *testing.T, data []byte, rep audit.Report, err error) {
	t.Helper()
	if err == nil && rep.Format == "" {
		t.Fatal("a report without a format")
	}
	if err != nil && strings.TrimSpace(err.Error()) == "" {
		t.Fatal("an error that says nothing")
	}
	if errors.Is(err, ErrNoReport) && len(rep.Findings) > 0 {
		t.Fatal("no report, and findings")
	}
	end := bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r")) + 1
	for _, f := range rep.Findings {
		if f.ID == "" {
			t.Fatalf("a finding without an ID: %+v", f)
		}
		if f.Lines.Start < 0 || f.Lines.End < f.Lines.Start {
			t.Fatalf("impossible lines: %+v", f.Lines)
		}
		if !(f.Confidence >= 0 && f.Confidence <= 1) || f.Severity < 0 ||
			f.Severity > audit.Critical {
			t.Fatalf("out of range: %+v", f)
		}
		for _, c := range f.CWEs {
			if c < 1 || c > 99999 {
				t.Fatalf("no CWE: %d", c)
			}
		}
		if f.Pos.Line < 1 || f.Pos.Line > end {
			t.Fatalf("line %d of %d", f.Pos.Line, end)
		}
	}
	for _, p := range rep.Problems {
		if p.What == "" || p.Pos.Line < 0 || p.Pos.Line > end {
			t.Fatalf("problem %q at line %d of %d", p.What, p.Pos.Line, end)
		}
	}
}

func FuzzReadText(f *testing.F) {
	f.Add([]byte(head +
		"| ID | CWE | File | Lines |\n|---|---|---|---|\n| F-1 | CWE-89 | `a.c:1-2` | 3 |\n\n### [F-1] x\n- Trace:\n  - a.c:1 → b.c:2\n" + tail))
	f.Add([]byte("```markdown\n" + head + "### 漏洞 1：注入【高危】\n**位置**：[a](src/a.c#L1-L2)\n" + tail +
		"```\n"))
	f.Add([]byte(head +
		"ID: F-1\nSeverity: HIGH\nFile: a.c:1, 2-3; b.c\n---\n1. **x**\n   - CWE: 1/2\n> <details>\n" + tail))
	f.Add([]byte("Here it is:\n```json\n[{\"file\": \"a.c:1\", \"cwe\": \"CWE-1\"}]\n```\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		rep, err := Read("r.md", bytes.NewReader(data), ReadOptions{Format: Text})
		sound(t, data, rep, err)
		if rep.Format == Text && rep.CutShort == "" && err == nil && !rep.Sentinel {
			for _, p := range rep.Problems {
				if strings.Contains(p.What, "SENTINEL") {
					return
				}
			}
			t.Fatal("a text without a SENTINEL at its end passes for whole")
		}
		for i, f := range rep.Findings { // what names no line is no line
			rep.Findings[i].Lines = lineRange(f.Lines.Start, f.Lines.End)
		}
		if rep.Format == Text { // what was read, whatever it was, is written and read again
			roundTrip(t, TextReport{Root: rep.Root, Tool: rep.Tool, Version: rep.Version,
				Coverage: audit.Dimensions(), Findings: append([]audit.Finding{}, rep.Findings...)})
		}
	})
}

// FuzzTextRoundTrip writes a text into every place that holds one.
func FuzzTextRoundTrip(f *testing.F) {
	for _, s := range nastyTexts[:len(nastyTexts)-1] {
		f.Add(s, "plain")
		f.Add("src/a.go", s)
	}
	f.Fuzz(func(t *testing.T, s, s2 string) {
		if len(s)+len(s2) > 1<<12 {
			return
		}
		f := audit.Finding{ID: s, RuleID: s2, File: s, Function: s2, Title: s, Description: s2,
			Suppressed: s, Trace: []audit.Step{{File: s, Note: s2},
				{File: s2, Lines: lines(1, 2), Note: s}}, Others: []audit.Step{{File: s2}}}
		fs := []audit.Finding{f, {ID: s2, Title: s, CWEs: []audit.CWE{1}}}
		number(fs)
		roundTrip(t, TextReport{Root: s, Tool: s2, Version: s,
			Coverage: audit.Dimensions(), Findings: fs})
	})
}

func FuzzReadSARIF(f *testing.F) {
	var buf bytes.Buffer
	_ = WriteSARIF(&buf, "t", "1", []audit.Finding{{ID: "F-1", RuleID: "r", CWEs: []audit.CWE{89},
		Severity: audit.High, File: "a b.js", Function: "f", Lines: lines(1, 2),
		Trace:  []audit.Step{{File: "c.js"}},
		Others: []audit.Step{{File: "d.js", Lines: lines(3, 3)}}, Suppressed: "x",
		Confidence: 0.5}})
	f.Add(buf.Bytes())
	f.Add([]byte(`{"runs":[{"results":[{"ruleIndex":0,"rule":{"index":1,"toolComponent":{"index":0}},"message":{"id":"a","arguments":["x"]},"locations":[{"physicalLocation":{"artifactLocation":{"index":0,"uriBaseId":"R"}},"logicalLocations":[{"index":0}]}],"taxa":[{"index":0,"toolComponent":{"index":0}}]}],
	"tool":{"driver":{"name":"t","rules":[{"id":"r","relationships":[{"target":{"id":"1"}}],"messageStrings":{"a":{"text":"{0}"}}}]},"extensions":[{"rules":[{"id":"q"}]}]},"taxonomies":[{"name":"CWE","taxa":[{"id":"7"}]}],
	"artifacts":[{"location":{"uri":"%zz","uriBaseId":"R"}}],"originalUriBaseIds":{"R":{"uri":"file:///a/"}},"logicalLocations":[{"name":"f"}],"invocations":[{"executionSuccessful":false}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		rep, err := Read("r.sarif", bytes.NewReader(data), ReadOptions{Format: SARIF})
		sound(t, data, rep, err)
		var out bytes.Buffer
		if err := WriteSARIF(&out, rep.Tool, rep.Version, rep.Findings); err != nil {
			t.Fatal(err)
		}
		again, err := Read("r.sarif", bytes.NewReader(out.Bytes()), ReadOptions{Format: SARIF})
		if err != nil || len(again.Findings) != len(rep.Findings) {
			t.Fatalf("%d findings, written and read again %d: %v", len(rep.Findings),
				len(again.Findings), err)
		}
	})
}

func FuzzReadJSON(f *testing.F) {
	for _, s := range jsonSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		rep, err := Read("r.json", bytes.NewReader(data), ReadOptions{Format: JSON})
		sound(t, data, rep, err)
	})
}

// jsonSeeds are reports in the shapes that the JSON reader knows.
var jsonSeeds = []string{
	`[{"id": "F-1", "cwes": [89], "severity": "HIGH", "file": "a.c", "lines": {"start": 1, "end": 2}, "trace": [{"file": "b.c", "lines": {"start": 3}}]}]`,
	`{"findings": [{"CWE": "CWE-79", "path": "a.c", "line": "3-4", "start_line": 1, "location": {"row": 2}}]}`,
	`{"results": [{"filename": "a.py", "line_number": 3, "line_range": [3, 5], "test_id": "B602", "issue_severity": "HIGH", "issue_text": "x", "issue_cwe": {"id": 78}, "code": "secret"}], "errors": []}`,
	`{"analysisVulnerabilities": [{"vulnerabilities": {"file": "a.js", "line": "3", "severity": "CRITICAL", "details": "x CWE-89", "rule_id": "HS-1"}}]}`,
	`[{"filePath": "/a.js", "messages": [{"ruleId": "r", "line": 1, "endLine": 2, "severity": 2, "message": "m"}], "source": "secret"}]`,
	`{"results": [{"check_id": "a.b", "path": "a.py", "start": {"line": 1}, "end": {"line": 2}, "extra": {"message": "m", "severity": "ERROR", "metadata": {"cwe": ["CWE-78: x"]}}}]}`,
	`[{"RuleID": "k", "File": "a", "StartLine": 1, "EndLine": 1, "Match": "secret", "Secret": "secret", "Description": "d"}]`,
	`[{"file": "a.c", "confidence": "NaN", "trace": ["", "b.c:3 x"], "others": [""], "line_range": [1e999]}]`,
	`[{"code": "S608", "filename": "a.py", "location": {"row": 1}, "end_location": {"row": 2}, "message": "m"}]`,
}
