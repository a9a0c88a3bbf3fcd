package findings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"assay/audit"
)

const (
	head = "=== HEADER START ===\nProject root: /app\nCOVERAGE: 2/10 (Injection, Auth)\nSTATS: see below\n=== HEADER END ===\n\n"
	tail = "\n\n=== SENTINEL: AUDIT COMPLETE ===\n"
)

// brief writes a finding in one line: ID, severity, CWEs, place, function,
// title, and how many further places and steps it has.
func brief(f audit.Finding) string {
	s := fmt.Sprintf("%s %s %s %s", f.ID, f.Severity,
		strings.ReplaceAll(audit.JoinCWEs(f.CWEs), "CWE-", ""), f.File)
	if !f.Lines.IsZero() {
		s += ":" + f.Lines.String()
	}
	if f.Function != "" {
		s += " " + f.Function + "()"
	}
	if f.Title != "" {
		s += " | " + f.Title
	}
	if n := len(f.Others); n > 0 {
		s += fmt.Sprintf(" +%d", n)
	}
	if n := len(f.Trace); n > 0 {
		s += fmt.Sprintf(" ~%d", n)
	}
	return s
}

// TestTextShapes reads what models make of a report. Each shape is constructed
// after a behaviour that is documented: by CommonMark or GFM (named with its
// section), by a tool's output format, or by the report layouts that published
// audit prompts ask for. None is a model's output.
func TestTextShapes(t *testing.T) {
	one := []string{"F-01 HIGH 89 src/A.java:12-18 | SQL injection"}
	for _, tc := range []struct {
		name    string
		body    string
		want    []string
		problem string
	}{
		{"the layout of the package documentation",
			"| ID | Severity | CWE | File | Lines | Title |\n|---|---|---|---|---|---|\n| F-01 | HIGH | CWE-89 | src/A.java | 12-18 | SQL injection |", one, ""},
		{"bold cells and code spans",
			"| **ID** | **Severity** | **CWE** | **File** | **Title** |\n|---|---|---|---|---|\n| **F-01** | **HIGH** | `CWE-89` | `src/A.java:12-18` | **SQL injection** |", one, ""},
		{"file and line as a link with a fragment (code hosts' permalinks)",
			"| ID | Severity | CWE | Location | Title |\n|---|---|---|---|---|\n| F-01 | HIGH | [CWE-89](https://cwe.mitre.org/data/definitions/89.html) | [A.java:12](src/A.java#L12-L18) | SQL injection |", one, ""},
		{"a fence around the report (CommonMark 4.5)",
			"```markdown\n| ID | Severity | CWE | File | Title |\n|---|---|---|---|---|\n| F-01 | HIGH | CWE-89 | src/A.java:12-18 | SQL injection |\n```", one, ""},
		{"code in a fence is passed over (evidence)",
			"### F-01: SQL injection\n- Severity: HIGH\n- CWE: CWE-89\n- File: src/A.java:12-18\n- Evidence:\n```java\n// Severity: LOW\nString q = \"CWE-79\";\n```\n- Fix: bind it", one, ""},
		{"one line a finding",
			"## Findings\n\n- [HIGH] SQL injection (CWE-89) in `src/A.java:12-18`\n- [LOW] Weak hash (CWE-328) in `src/B.java:4`", nil, "belongs to no finding"},
		{"a blank line between rows",
			"| ID | Severity | CWE | File | Title |\n|---|---|---|---|---|\n| F-01 | HIGH | CWE-89 | src/A.java:12-18 | SQL injection |\n\n| F-02 | LOW | CWE-328 | src/B.java:4 | Weak hash |", append(one[:1:1], "F-02 LOW 328 src/B.java:4 | Weak hash"), ""},
		{"text right under a table (GFM 4.10: a row)",
			"| ID | Severity | CWE | File | Title |\n|---|---|---|---|---|\n| F-01 | HIGH | CWE-89 | src/A.java:12-18 | SQL injection |\nTotal: 1 finding", one, ""},
		{"escaped and unescaped pipes in a cell",
			"| ID | Severity | CWE | File | Title |\n|---|---|---|---|---|\n| F-01 | HIGH | CWE-78 | a.sh:1 | sh \\| tee |\n| F-02 | LOW | CWE-78 | b.sh:2 | sh | tee |", []string{"F-01 HIGH 78 a.sh:1 | sh | tee", "F-02 LOW 78 b.sh:2 | sh"}, "the row has 6 cells"},
		{"a CVSS score in place of a severity",
			"| ID | CWE | File | Severity |\n|---|---|---|---|\n| F-1 | 89 | a.c:1 | 9.8 |\n| F-2 | 89 | a.c:2 | CVSS 7.5 |\n| F-3 | 89 | a.c:30 | High (8.1) |", []string{"F-1 CRITICAL 89 a.c:1", "F-2 HIGH 89 a.c:2", "F-3 HIGH 89 a.c:30"}, ""},
		{"false positives are withdrawn, not dropped",
			"| ID | CWE | File | Status |\n|---|---|---|---|\n| F-1 | 89 | a.c:1 | Confirmed |\n| F-2 | 89 | a.c:2 | False positive |", []string{"F-1  89 a.c:1", "F-2  89 a.c:2"}, ""},
		{"chapters are no findings",
			"## 1. Executive summary\n\nCWE-89 is bad.\n\n## 2. Scope\n\nSee src/A.java:12.\n\n## D3 Crypto\n\nNo findings.", nil, "no finding was read"},
		{"columns in another order, further ones between",
			"| Title | File | Effort | CWE | Lines | ID | Severity |\n|:--|:-:|--:|---|---|---|---|\n| SQL injection | src/A.java | 3 | CWE-89 | 12-18 | F-01 | HIGH |", one, ""},
		{"the section of a row",
			"| ID | Severity | CWE | File | Title |\n|---|---|---|---|---|\n| F-01 | HIGH | CWE-89 | src/A.java:12-18 | SQL injection |\n\n### [F-01] SQL injection\n\n**Function:** `login(String)`\n**Description:** pasted", []string{"F-01 HIGH 89 src/A.java:12-18 login() | SQL injection"}, ""},
		{"a section without a row",
			"### F-01: SQL injection\n\n- **Severity:** HIGH\n- **CWE:** CWE-89\n- **File:** `src/A.java:12-18`\n- **Recommendation:** bind it", one, ""},
		{"a section of another place than its row",
			"| ID | CWE | File |\n|---|---|---|\n| F-01 | 89 | a.c:1 |\n\n### [F-01] x\n- File: b.c:2", []string{"F-01  89 a.c:1 | x"}, `the file "b.c:2" cannot be read: expected the one place`},
		{"a method's receiver",
			"| ID | CWE | File | Function |\n|---|---|---|---|\n| F-1 | 1 | a.go:3 | (*Store).Hash |\n| F-2 | 1 | a.go:9 | `(s *Store) Get(id string)` |\n| F-3 | 1 | a.go:20 | func (s Store[K]) Put |", []string{"F-1  1 a.go:3 Hash()", "F-2  1 a.go:9 Get()", "F-3  1 a.go:20 Put()"}, ""},
		{"CWE in five spellings",
			"| ID | CWE | File |\n|---|---|---|\n| F-1 | cwe_89 | a.c:1 |\n| F-2 | CWE 089 | a.c:2 |\n| F-3 | CWE89: SQL | a.c:3 |\n| F-4 | 89 | a.c:4 |\n| F-5 | CWE‑89 / 564 | a.c:5 |", []string{"F-1  89 a.c:1", "F-2  89 a.c:2", "F-3  89 a.c:3", "F-4  89 a.c:4", "F-5  89, 564 a.c:5"}, ""},
		{"lines in five spellings",
			"| ID | CWE | Location |\n|---|---|---|\n| F-1 | 1 | a.c:3-9 |\n| F-2 | 1 | a.c (lines 3–9) |\n| F-3 | 1 | a.c#L3-L9 |\n| F-4 | 1 | a.c, line 3 |\n| F-5 | 1 | a.c:3:17 |", []string{"F-1  1 a.c:3-9", "F-2  1 a.c:3-9", "F-3  1 a.c:3-9", "F-4  1 a.c:3", "F-5  1 a.c:3"}, ""},
		{"several ranges in a cell",
			"| CWE | File | Lines |\n|---|---|---|\n| 1 | a.c | 3, 18-20 |",
			[]string{"#1  1 a.c:3 +1"}, ""},
		{"several places in a cell",
			"| ID | CWE | Location |\n|---|---|---|\n| F-1 | 1 | a.c:3, b.c:9 |",
			[]string{"F-1  1 "}, "a row for each site"},
		{"Windows paths",
			"| ID | CWE | File | Line |\n|---|---|---|---|\n| F-1 | 1 | C:\\app\\src\\a.cs:12 | |\n| F-2 | 1 | `src\\main\\_b.cs` | 7 |", []string{`F-1  1 C:\app\src\a.cs:12`, `F-2  1 src\main\_b.cs:7`}, ""},
		{"underscores are no emphasis in a path",
			"| ID | CWE | File |\n|---|---|---|\n| F-1 | 1 | pkg/__init__.py:3 |\n| F-2 | 1 | my\\_app/db\\_x.py:3 |", []string{"F-1  1 pkg/__init__.py:3", "F-2  1 my_app/db_x.py:3"}, ""},
		{"place in prose alone",
			"### F-01: SQL injection\n\n**Severity:** HIGH\n\nIn `src/A.java:12-18` the parameter is pasted (CWE-89).", nil, "names CWE-89 in prose alone"},
		{"a trace as list",
			"### F-01: SQL injection\n- Severity: HIGH\n- CWE: CWE-89\n- File: src/A.java:12-18\n- Trace:\n  1. `src/W.java:3` parameter q\n  2. src/A.java:18 — executeQuery", []string{one[0] + " ~2"}, ""},
		{"placeholders in empty cells, a row that says none",
			"| ID | Severity | CWE | File | Line | Function | Title |\n|---|---|---|---|---|---|---|\n| F-01 | HIGH | CWE-1104 | pom.xml | N/A | - | Old library |\n| - | - | - | - | - | - | None |", []string{"F-01 HIGH 1104 pom.xml | Old library"}, ""},
		{"a row without a place is kept and told",
			"| ID | Severity | CWE | Title |\n|---|---|---|---|\n| F-01 | HIGH | | No rate limit |",
			[]string{"F-01 HIGH   | No rate limit"}, "names neither a file nor a CWE"},
		{"a table that can hold no finding",
			"| ID | Severity | Title |\n|---|---|---|\n| F-01 | HIGH | No rate limit |", nil,
			"the table is ignored: expected the columns"},
		{"statistics",
			"| Severity | Count |\n|---|---|\n| HIGH | 1 |\n\n| ID | Severity | CWE | File | Title |\n|---|---|---|---|---|\n| F-01 | HIGH | CWE-89 | src/A.java:12-18 | SQL injection |", one, ""},
		{"one ID for two places",
			"| ID | CWE | File |\n|---|---|---|\n| F-1 | 89 | a.c:1 |\n| F-1 | 89 | b.c:2 |",
			[]string{"F-1  89 a.c:1", "F-1  89 b.c:2"}, ""},
		{"values that cannot be read",
			"| ID | Severity | CWE | File | Lines |\n|---|---|---|---|---|\n| F-01 | spicy | CWE-89 | a.c | somewhere |", []string{"F-01  89 a.c"}, `"spicy"`},
		{"escape sequences of a terminal, CRLF",
			"### \x1b[1mF-01: SQL injection\x1b[0m\r\n- Severity: \x1b[31mHIGH\x1b[0m\r\n- CWE: CWE-89\r\n- File: src/A.java:12-18\r\n", one, ""},
		{"rows that are counted, plural headings, numbered sections",
			"| # | ID | Severity | CWE(s) | File(s) | Line(s) |\n|---|---|---|---|---|---|\n| 1 | F-01 | HIGH | CWE-89 | src/A.java | 12-18 |\n\n#### 1. [F-01] SQL injection\n- Trace:\n  - src/W.java:3 in", []string{one[0] + " ~1"}, ""},
		{"another layout", "ID: F-01\nTitle: SQL injection", nil, "belongs to no finding"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rep, err := Read("r.md", strings.NewReader(head+tc.body+tail), ReadOptions{})
			require.NoError(t, err)
			require.Equal(t, Text, rep.Format)
			require.True(t, rep.Header && rep.Sentinel)
			var got []string
			for _, f := range rep.Findings {
				got = append(got, brief(f))
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("(-want +got)\n%s\n%v", d, rep.Problems)
			}
			checkProblem(t, rep, tc.problem)
		})
	}
}
