package findings_test

import (
	"fmt"
	"os"
	"strings"

	"assay/audit"
	"assay/audit/findings"
)

func ExampleWriteText() {
	report := findings.TextReport{
		Root: "/src/shop", Files: 2, Coverage: []audit.Dimension{audit.Injection, audit.Crypto},
		Findings: []audit.Finding{{
			ID: "F-01", Severity: audit.Critical, CWEs: []audit.CWE{89}, Dimension: audit.Injection,
			File: "src/Orders.java", Lines: audit.Range{Start: 40, End: 43}, Function: "find",
			Title:       "SQL injection in the search",
			Description: "The parameter q is concatenated into the statement.",
			Trace: []audit.Step{
				{File: "src/Web.java", Lines: audit.Range{Start: 12, End: 12}, Note: "parameter q"},
				{File: "src/Orders.java", Lines: audit.Range{Start: 43, End: 43},
					Note: "executeQuery"},
			},
		}},
	}
	_ = findings.WriteText(os.Stdout, report)
	// Output:
	// === HEADER START ===
	// Project root: /src/shop
	// COVERAGE: 2/10 (Injection, Crypto)
	// STATS: findings=1 critical=1 high=0 medium=0 low=0 info=0 files=2
	// === HEADER END ===
	//
	// ## Findings
	//
	// | ID | Severity | CWE | Dimension | File | Lines | Function | Title |
	// |---|---|---|---|---|---|---|---|
	// | F-01 | CRITICAL | CWE-89 | Injection | `src/Orders.java` | 40-43 | find | SQL injection in the search |
	//
	// ## Details
	//
	// ### [F-01] SQL injection in the search
	//
	// - File: `src/Orders.java:40-43`
	// - Description: The parameter q is concatenated into the statement.
	// - Trace:
	//   - `src/Web.java:12` parameter q
	//   - `src/Orders.java:43` executeQuery
	//
	// === SENTINEL: AUDIT COMPLETE ===
}

func ExampleRead() {
	const said = `=== HEADER START ===
Project root: /src/shop
COVERAGE: Injection, Crypto
STATS: 1 findings
=== HEADER END ===

| ID | Severity | CWE | File | Title |
|---|---|---|---|---|
| F-01 | HIGH | CWE-89 | src/Orders.java:40-43 | SQL injection |

### [F-01] SQL injection

- **Description:** The parameter q is pasted into the statement.

=== SENTINEL ===
`
	rep, err := findings.Read("report.md", strings.NewReader(said), findings.ReadOptions{})
	f := rep.Findings[0]
	fmt.Println(err, rep.Format, rep.Header, rep.Sentinel, len(rep.Problems))
	fmt.Println(f.ID, f.Severity, f.CWEs, f.File, f.Lines, f.Title)
	// Output:
	// <nil> text true true 0
	// F-01 HIGH [CWE-89] src/Orders.java 40-43 SQL injection
}
