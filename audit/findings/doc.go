// Package findings reads what auditors report and writes it: SARIF 2.1.0, plain
// JSON and the text audit report become an [audit.Report]; findings become
// SARIF and text. [Scrub] makes recordings of JSON reports fit to be committed.
//
// # The text audit report
//
// Its layout is made to be told to a model in ten lines:
//
//	Write the report as Markdown. First the lines
//	  === HEADER START ===
//	  Project root: <path>
//	  COVERAGE: <n>/10 (<names of the dimensions that you covered>)
//	  STATS: findings=<n> critical=<n> high=<n> medium=<n> low=<n>
//	  === HEADER END ===
//	Then a table | ID | Severity | CWE | Dimension | File | Lines | Function | Title |,
//	one row a finding, ID F-01, F-02, ..., lines as 12 or 12-18, paths relative to the root.
//	Then for each finding a section "### [F-01] Title" with the list items
//	"- File: `path:12-18`", "- Description: ..." and "- Trace:" with one `path:line` an item.
//	Last line, nothing after it: === SENTINEL: AUDIT COMPLETE ===
//
// [WriteText] writes this layout; its example shows a whole report. The words
// HEADER START, HEADER END, COVERAGE, STATS and SENTINEL stand in lines of their
// own, so that grep finds them in the raw text.
//
// What [Read] insists on: a line HEADER START and a later line HEADER END
// (Report.Header), and a last non-blank line with the word SENTINEL in capitals
// (Report.Sentinel); bold, heading marks, rules around them and a fence around
// the whole report do not matter. A text without any SENTINEL line gives
// [ErrTruncated] together with all that it holds; lines after the SENTINEL give
// a problem. Project root, COVERAGE and STATS that are missing are problems, and
// so is a number of findings in STATS that differs from the number read.
//
// What it puts up with, since models do it: columns in any order and under many
// names, several tables, findings as sections, as "key: value" records, as
// tables of two columns or as list items; key words and severities in English
// and Chinese; CWEs and places in many spellings; a row and a section that
// speak of the same finding, which become one by their ID, or by place where
// one has none. Evidence, code and advice are passed over: a finding never holds
// source text.
//
// Bounds: a text of more than [MaxText] bytes is refused, of a line 16 KB are
// read, of a description 16 KB are held; what is cut is a problem.
//
// # Severity
//
// In text and JSON: the word that is stated, English or Chinese; where there is
// none, a CVSS score, by the bands of CVSS v3.1. In SARIF: security-severity, by
// those bands; else the word in the properties or tags; else the level: error is
// HIGH, warning MEDIUM, note LOW, none INFO. The result's own come before its
// rule's.
//
// # CWEs
//
// A finding's CWEs stand in the order in which they are reported. In SARIF the
// result's own come first (taxa, properties, tags), then its rule's
// (relationships, properties, tags, help address). Where neither names one,
// Options.RuleMap is asked, and after it prose, by one pattern: CWE, up to two
// of hyphen, dash, underscore, space, colon or #, the number; or the address of
// a CWE page at MITRE. In a field that is known to hold CWEs a bare number is
// one as well.
package findings
