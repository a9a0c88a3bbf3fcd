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
	s := fmt.Sprintf("%s %s %s %s", f.ID, f.Severity, strings.ReplaceAll(cweList(f.CWEs), "CWE-", ""), f.File)
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
		{"the layout of the package documentation", "| ID | Severity | CWE | File | Lines | Title |\n|---|---|---|---|---|---|\n| F-01 | HIGH | CWE-89 | src/A.java | 12-18 | SQL injection |", one, ""},
		{"columns reordered, alignment colons, no outer pipes (GFM 4.10)", "Title | File | CWE | Lines | ID | Severity\n:--|:-:|--:|---|---|---\nSQL injection | src/A.java | CWE-89 | 12-18 | F-01 | HIGH", one, ""},
		{"bold cells and code spans", "| **ID** | **Severity** | **CWE** | **File** | **Title** |\n|---|---|---|---|---|\n| **F-01** | **HIGH** | `CWE-89` | `src/A.java:12-18` | **SQL injection** |", one, ""},
		{"file and line as a link with a fragment (code hosts' permalinks)", "| ID | Severity | CWE | Location | Title |\n|---|---|---|---|---|\n| F-01 | HIGH | [CWE-89](https://cwe.mitre.org/data/definitions/89.html) | [A.java:12](src/A.java#L12-L18) | SQL injection |", []string{"F-01 HIGH 89 src/A.java:12 | SQL injection"}, ""},
		{"link with an idle label to a code host's page", "| ID | Severity | CWE | Location | Title |\n|---|---|---|---|---|\n| F-01 | HIGH | 89 | [link](https://github.com/o/r/blob/0123abc/src/A.java#L12-L18) | SQL injection |", one, ""},
		{"a fence around the report (CommonMark 4.5)", "```markdown\n| ID | Severity | CWE | File | Title |\n|---|---|---|---|---|\n| F-01 | HIGH | CWE-89 | src/A.java:12-18 | SQL injection |\n```", one, ""},
		{"a fence without language around sections", "```\n### F-01: SQL injection\nSeverity: HIGH\nCWE: CWE-89\nFile: src/A.java:12-18\n```", one, ""},
		{"code in a fence is passed over (evidence)", "### F-01: SQL injection\n- Severity: HIGH\n- CWE: CWE-89\n- File: src/A.java:12-18\n- Evidence:\n```java\n// Severity: LOW\nString q = \"CWE-79\";\n```\n- Fix: bind it", one, ""},
		{"table and section of one finding, by ID", "| ID | Severity | CWE | File | Title |\n|---|---|---|---|---|\n| F-01 | HIGH | CWE-89 | src/A.java:12-18 | SQL injection |\n\n### [F-01] SQL injection\n\n**Function:** `login(String)`\n**Description:** pasted", []string{"F-01 HIGH 89 src/A.java:12-18 login() | SQL injection"}, ""},
		{"IDs spelled in two ways", "| ID | Severity | CWE | File | Title |\n|---|---|---|---|---|\n| F-01 | HIGH | CWE-89 | src/A.java:12-18 | SQL injection |\n\n### F1 - SQL injection\n- CWE: CWE-564", []string{"F-01 HIGH 89, 564 src/A.java:12-18 | SQL injection"}, ""},
		{"table with IDs, sections with titles alone", "| ID | Severity | CWE | File | Title |\n|---|---|---|---|---|\n| F-01 | HIGH | CWE-89 | src/A.java:12-18 | SQL injection |\n\n### SQL injection\n\n- **File:** src/A.java:12-18\n- **CWE:** CWE-89", one, ""},
		{"a table a severity, severity in the heading", "## High Severity (1)\n\n| ID | CWE | File | Title |\n|---|---|---|---|\n| F-01 | CWE-89 | src/A.java:12-18 | SQL injection |\n\n## Low\n\n| ID | CWE | File | Title |\n|---|---|---|---|\n| F-02 | CWE-209 | src/B.java:3 | Stack trace |", append(one[:1:1], "F-02 LOW 209 src/B.java:3 | Stack trace"), ""},
		{"numbers start anew in each table", "## Critical\n\n| # | CWE | File | Title |\n|---|---|---|---|\n| 1 | CWE-89 | a.py:1 | One |\n\n## High\n\n| # | CWE | File | Title |\n|---|---|---|---|\n| 1 | CWE-78 | b.py:2 | Two |", []string{"1 CRITICAL 89 a.py:1 | One", "1 HIGH 78 b.py:2 | Two"}, ""},
		{"numbers start anew in each table, in one file", "## Critical\n\n| # | CWE | File | Title |\n|---|---|---|---|\n| 1 | CWE-89 | a.py:1 | One |\n\n## High\n\n| # | CWE | File | Title |\n|---|---|---|---|\n| 1 | CWE-78 | a.py:200 | Two |", []string{"1 CRITICAL 89 a.py:1 | One", "1 HIGH 78 a.py:200 | Two"}, ""},
		{"a table a dimension, statistics beside it", "## Summary\n\n| Severity | Count |\n|---|---|\n| HIGH | 1 |\n\n## D1 Injection\n\n| ID | Severity | CWE | File | Title |\n|---|---|---|---|---|\n| F-01 | HIGH | CWE-89 | src/A.java:12-18 | SQL injection |", one, ""},
		{"CWE in six spellings", "| ID | CWE | File |\n|---|---|---|\n| F-1 | cwe_89 | a.c:1 |\n| F-2 | CWE 089 | a.c:2 |\n| F-3 | CWE89: SQL | a.c:3 |\n| F-4 | 89 | a.c:4 |\n| F-5 | CWE‑89 / 564 | a.c:5 |\n| F-6 | CWE：89、CWE-79 | a.c:6 |", []string{"F-1  89 a.c:1", "F-2  89 a.c:2", "F-3  89 a.c:3", "F-4  89 a.c:4", "F-5  89, 564 a.c:5", "F-6  89, 79 a.c:6"}, ""},
		{"lines in many spellings", "| ID | CWE | Location |\n|---|---|---|\n| F-1 | 1 | a.c:3-9 |\n| F-2 | 1 | a.c (lines 3–9) |\n| F-3 | 1 | a.c#L3-L9 |\n| F-4 | 1 | a.c, line 3 |\n| F-5 | 1 | a.c:3:17 |\n| F-6 | 1 | a.c L3~L9 |\n| F-7 | 1 | a.c(3) |\n| F-8 | 1 | a.c 第 3-9 行 |\n| F-9 | 1 | `a.c`:3 to 9 |", []string{"F-1  1 a.c:3-9", "F-2  1 a.c:3-9", "F-3  1 a.c:3-9", "F-4  1 a.c:3", "F-5  1 a.c:3", "F-6  1 a.c:3-9", "F-7  1 a.c:3", "F-8  1 a.c:3-9", "F-9  1 a.c:3-9"}, ""},
		{"several places in a cell, with a break", "| ID | CWE | Location |\n|---|---|---|\n| F-1 | 1 | a.c:3, b.c:9 |\n| F-2 | 1 | a.c:3, 18-20 |\n| F-3 | 1 | `a.c:3`<br>`b.c:9` |", []string{"F-1  1 a.c:3 +1", "F-2  1 a.c:3 +1", "F-3  1 a.c:3 +1"}, ""},
		{"Windows paths", "| ID | CWE | File | Line |\n|---|---|---|---|\n| F-1 | 1 | C:\\app\\src\\a.cs:12 | |\n| F-2 | 1 | `src\\main\\_b.cs` | 7 |\n\n### F-3: x\n- File: D:\\w\\c.cs:4-5\n- CWE: 2", []string{`F-1  1 C:\app\src\a.cs:12`, `F-2  1 src\main\_b.cs:7`, `F-3  2 D:\w\c.cs:4-5 | x`}, ""},
		{"underscores are no emphasis in a path", "| ID | CWE | File |\n|---|---|---|\n| F-1 | 1 | pkg/__init__.py:3 |\n| F-2 | 1 | my\\_app/db\\_x.py:3 |", []string{"F-1  1 pkg/__init__.py:3", "F-2  1 my_app/db_x.py:3"}, ""},
		{"Chinese columns and severities", "## 漏洞列表\n\n| 编号 | 严重程度 | 漏洞类型 | CWE编号 | 文件路径 | 行号 | 函数 |\n|---|---|---|---|---|---|---|\n| V-1 | 严重 | SQL注入 | CWE-89 | a.php | 3 | find |\n| V-2 | 高危 | 反序列化漏洞 | CWE-502 | b.php | 4-5 | |\n| V-3 | 中危 | 弱哈希 | CWE-327 | c.php | 第6行 | |\n| V-4 | 低危 | 信息泄露 | CWE-200 | d.php | 7、9 | |", []string{"V-1 CRITICAL 89 a.php:3 find() | SQL注入", "V-2 HIGH 502 b.php:4-5 | 反序列化漏洞", "V-3 MEDIUM 327 c.php:6 | 弱哈希", "V-4 LOW 200 d.php:7 | 信息泄露 +1"}, ""},
		{"Chinese sections with full-width marks", "### 漏洞 1：登录处 SQL 注入【高危】\n\n**漏洞位置**：`src/A.java:12-18`\n**CWE**：CWE-89\n**漏洞描述**：拼接\n**修复建议**：使用参数化查询 CWE-1", []string{"1 HIGH 89 src/A.java:12-18 | 登录处 SQL 注入"}, ""},
		{"bold paragraph in place of a heading", "**F-01: SQL injection**\n\nSeverity: **HIGH**\nCWE: CWE-89\nFile: src/A.java:12-18\n\n**F-02: Weak hash**\n\nSeverity: LOW\nCWE: CWE-328\nFile: src/B.java:4", append(one[:1:1], "F-02 LOW 328 src/B.java:4 | Weak hash"), ""},
		{"severity in the heading, no ID", "### [HIGH] SQL injection (CWE-89)\n\n- **Location:** `src/A.java:12-18`\n\n### [LOW] Weak hash (CWE-328)\n\n- **Location:** `src/B.java:4`", []string{"#1 HIGH 89 src/A.java:12-18 | SQL injection", "#2 LOW 328 src/B.java:4 | Weak hash"}, ""},
		{"coloured dots and numbers in the headings", "### 🔴 1. SQL injection\n\n| Field | Value |\n|---|---|\n| Severity | 🔴 Critical |\n| CWE | CWE-89 |\n| File | src/A.java:12 |\n\n### 🟡 2. CSRF\n\n| Field | Value |\n|---|---|\n| Severity | 🟡 |\n| CWE | CWE-352 |\n| File | src/B.java:9 |", []string{"1 CRITICAL 89 src/A.java:12 | SQL injection", "2 MEDIUM 352 src/B.java:9 | CSRF"}, ""},
		{"several fields in a line", "#### F-01 SQL injection\n\n**Severity:** HIGH | **CWE:** CWE-89 | **File:** `src/A.java:12-18`\n\nThe parameter is pasted.", one, ""},
		{"sub-headings as fields", "### F-01 SQL injection\n\n#### Severity\nHIGH\n\n#### CWE\nCWE-89\n\n#### Location\n`src/A.java:12-18`\n\n#### Proof of concept\nGET /x?CWE-79 in b.js:3", one, ""},
		{"a record of key: value lines, rules between", "ID: F-01\nTitle: SQL injection\nSeverity: HIGH\nCWE: CWE-89\nFile: src/A.java\nLines: 12-18\n\n---\n\nID: F-02\nTitle: Weak hash\nSeverity: LOW\nCWE: CWE-328\nFile: src/B.java\nLines: 4", append(one[:1:1], "F-02 LOW 328 src/B.java:4 | Weak hash"), ""},
		{"a rule right under a field makes a heading (CommonMark 4.3)", "ID: F-01\nTitle: SQL injection\nSeverity: HIGH\nCWE: CWE-89\nFile: src/A.java:12-18\n---\nID: F-02\nTitle: Weak hash\nSeverity: LOW\nCWE: CWE-328\nFile: src/B.java:4\n---", append(one[:1:1], "F-02 LOW 328 src/B.java:4 | Weak hash"), ""},
		{"indented fields are no code (CommonMark 4.4)", "F-01: SQL injection\n\n    Severity: HIGH\n    CWE: CWE-89\n    File: src/A.java:12-18", one, ""},
		{"nested list", "1. **SQL injection**\n   - Severity: HIGH\n   - CWE: CWE-89\n   - File: `src/A.java:12-18`\n2. **Weak hash**\n   - Severity: LOW\n   - CWE: CWE-328\n   - File: `src/B.java:4`", nil, "belongs to none"},
		{"one line a finding", "## Findings\n\n- [HIGH] SQL injection (CWE-89) in `src/A.java:12-18`\n- [LOW] Weak hash (CWE-328) in `src/B.java:4`", nil, "belongs to none"},
		{"place in prose alone", "### F-01: SQL injection\n\n**Severity:** HIGH\n\nIn `src/A.java:12-18` the parameter is pasted (CWE-89).", []string{"F-01 HIGH   | SQL injection"}, "names CWE-89 in its prose alone"},
		{"a trace as list and as arrows", "### F-01: SQL injection\n- Severity: HIGH\n- CWE: CWE-89\n- File: src/A.java:12-18\n- Trace:\n  1. `src/W.java:3` parameter q\n  2. `src/A.java:18` executeQuery\n\n### F-02: x\n- CWE: 79\n- File: b.js:1\n- Data flow: `req.query.q` (b.js:1) → `res.send` (b.js:4)", []string{one[0] + " ~2", "F-02  79 b.js:1 | x ~2"}, ""},
		{"a table whose rule has too few cells (GFM 4.10: no table)", "| ID | Severity | CWE | File | Title |\n|---|---|---|---|\n| F-01 | HIGH | CWE-89 | `src/A.java:12-18` | **SQL injection** |", one, "no table in Markdown"},
		{"a table without its rule", "| ID | Severity | CWE | File | Title |\n| F-01 | HIGH | CWE-89 | src/A.java:12-18 | SQL injection |", one, "has no rule"},
		{"a blank line between rows", "| ID | Severity | CWE | File | Title |\n|---|---|---|---|---|\n| F-01 | HIGH | CWE-89 | src/A.java:12-18 | SQL injection |\n\n| F-02 | LOW | CWE-328 | src/B.java:4 | Weak hash |", append(one[:1:1], "F-02 LOW 328 src/B.java:4 | Weak hash"), ""},
		{"text right under a table (GFM 4.10: a row)", "| ID | Severity | CWE | File | Title |\n|---|---|---|---|---|\n| F-01 | HIGH | CWE-89 | src/A.java:12-18 | SQL injection |\nTotal: 1 finding", one, ""},
		{"escaped and unescaped pipes in a cell", "| ID | Severity | CWE | File | Title |\n|---|---|---|---|---|\n| F-01 | HIGH | CWE-78 | a.sh:1 | sh \\| tee |\n| F-02 | LOW | CWE-78 | b.sh:2 | sh | tee |", []string{"F-01 HIGH 78 a.sh:1 | sh | tee", "F-02 LOW 78 b.sh:2 | sh"}, "the row has 6 cells"},
		{"placeholders in empty cells, a row that says none", "| ID | Severity | CWE | File | Line | Function | Title |\n|---|---|---|---|---|---|---|\n| F-01 | HIGH | CWE-1104 | pom.xml | N/A | - | Old library |\n| - | - | - | - | - | - | None |", []string{"F-01 HIGH 1104 pom.xml | Old library"}, ""},
		{"details and summary tags", "<details>\n<summary>F-01: SQL injection</summary>\n\n- Severity: HIGH\n- CWE: CWE-89\n- File: src/A.java:12-18\n\n</details>", one, ""},
		{"a quoted section", "> ### F-01: SQL injection\n> - Severity: HIGH\n> - CWE: CWE-89\n> - File: src/A.java:12-18", one, ""},
		{"a CVSS score in place of a severity", "| ID | CWE | File | Severity |\n|---|---|---|---|\n| F-1 | 89 | a.c:1 | 9.8 |\n| F-2 | 89 | a.c:2 | CVSS 7.5 |\n| F-3 | 89 | a.c:30 | High (8.1) |", []string{"F-1 CRITICAL 89 a.c:1", "F-2 HIGH 89 a.c:2", "F-3 HIGH 89 a.c:30"}, ""},
		{"false positives are withdrawn, not dropped", "| ID | CWE | File | Status |\n|---|---|---|---|\n| F-1 | 89 | a.c:1 | Confirmed |\n| F-2 | 89 | a.c:2 | False positive |", []string{"F-1  89 a.c:1", "F-2  89 a.c:2"}, ""},
		{"a finding without a place is kept and told", "| ID | Severity | Title |\n|---|---|---|\n| F-01 | HIGH | No rate limit |", []string{"F-01 HIGH   | No rate limit"}, "names neither file nor CWE"},
		{"one ID for two places", "| ID | CWE | File |\n|---|---|---|\n| F-1 | 89 | a.c:1 |\n| F-1 | 89 | b.c:2 |", []string{"F-1  89 a.c:1", "F-1  89 b.c:2"}, "taken as two findings"},
		{"values that cannot be read", "| ID | Severity | CWE | File | Lines |\n|---|---|---|---|---|\n| F-01 | spicy | CWE-89 | a.c | somewhere |", []string{"F-01  89 a.c"}, `"spicy"`},
		{"chapters are no findings", "## 1. Executive summary\n\nCWE-89 is bad.\n\n## 2. Scope\n\nSee src/A.java:12.\n\n## Findings\n\nNo findings.", nil, ""},
		{"escape sequences of a terminal, a BOM inside", "### \x1b[1mF-01: SQL injection\x1b[0m\n- Severity: \x1b[31mHIGH\x1b[0m\n- \ufeffCWE: CWE-89\n- File: src/A.java:12-18", one, ""},
		{"CRLF line ends", "### F-01: SQL injection\r\n- Severity: HIGH\r\n- CWE: CWE-89\r\n- File: src/A.java:12-18\r\n", one, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rep, err := Read("r.md", strings.NewReader(head+tc.body+tail), Options{})
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
