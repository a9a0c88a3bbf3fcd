package auditor

// ReportFormat tells a model how to write the text audit report that
// audit/findings reads. An agent finds it in the file that $ASSAY_FORMAT names.
const ReportFormat = `Write the report as Markdown. First these lines, filled in:

=== HEADER START ===
Project root: .
COVERAGE: <n>/10 (<names of the dimensions that you covered>)
STATS: findings=<n> critical=<n> high=<n> medium=<n> low=<n>
=== HEADER END ===

Then a table, one row a finding, with these columns:

| ID | Severity | CWE | Dimension | File | Lines | Function | Title |

The ID is F-01, F-02 and so on; the severity CRITICAL, HIGH, MEDIUM or LOW; the CWE
like CWE-89; the file a path relative to the root; lines like 12 or 12-18. The
dimension is one of Injection, Auth, Crypto, Data Exposure, Deserialization, SSRF,
File Ops, Business Logic, Configuration, Supply Chain.

Then for each finding a section "### [F-01] Title" with the items "- Description:"
and "- Trace:". The last line, with nothing after it, is:

=== SENTINEL: AUDIT COMPLETE ===
`
