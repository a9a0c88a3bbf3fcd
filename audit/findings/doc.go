// Package findings reads what auditors report and writes it: SARIF 2.1.0, plain
// JSON and the text audit report become an [audit.Report]; findings become
// SARIF and text. [Scrub] makes reports fit to be committed as recordings.
//
// # The text audit report
//
// [Instructions] tells a model how to write it. Its grammar, which [WriteText]
// writes, is this; a line ends in LF, blank lines may stand between all parts:
//
//	report   = header { table } { section } sentinel
//	header   = "=== HEADER START ===" LF
//	           "Project root: " value LF
//	           [ "Tool: " value LF ] [ "Version: " value LF ]
//	           "COVERAGE: " number "/10 (" dimension { ", " dimension } ")" LF
//	           "STATS: findings=" number { " " word "=" number } LF
//	           "=== HEADER END ===" LF
//	table    = row(column names) row("---") { row(cells) }
//	row      = "| " cell { " | " cell } " |" LF
//	columns  = ID Severity CWE Dimension File Lines Function Title
//	section  = "### [" value "] " value LF { item }      ID and title
//	item     = "- " key ": " text LF
//	         | "- " list ":" LF { "  - " step LF }
//	key      = "File" | "Rule" | "Confidence" | "Suppressed" | "Description"
//	list     = "Trace" | "Other locations"
//	text     = value { LF indent value }                 read as joined by spaces
//	step     = place [ " " value ]                       where, and what happens there
//	place    = "`" path [ ":" lines ] "`" | literal [ ":" lines ]
//	lines    = number [ "-" number ]
//	value    = plain | "`" plain "`" | literal
//	plain    = printable characters that no mark of Markdown is among
//	literal  = a Go string literal in double quotes, which may hold any text
//	sentinel = "=== SENTINEL: AUDIT COMPLETE ===" LF     the last line
//
// Escaping is one thing: whatever a plain value would not give back exactly (a
// pipe, a line end, a backtick, a control character, a word that stands for
// nothing) is written as a literal. So what WriteText writes [Read] reads back
// unchanged, whatever the texts hold. A row and a section are one finding by their
// ID: the n-th section of an ID belongs to its n-th row. A section without a row is
// a finding when items under the columns' names give its file or CWE.
//
// What models who know the grammar vary all the same is read too: other columns
// between, in another order and under usual names (Location, Path, Line, Method,
// Category, Vulnerability); bold, code spans and links; a fence around it all;
// headings like "F-01: Title"; places and lines like "a.c#L12-L18" and "lines 12 to
// 18". Nothing is guessed: a place or a CWE that stands in prose alone, several
// places in one cell, items that belong to no section are problems with their line.
// What stands before the last HEADER is a draft and is not read. Fences, and items
// under other names (Evidence, Fix), are passed over: a finding never holds source
// text.
//
// Report.Header and Report.Sentinel say whether the frame is whole. A text
// without any SENTINEL line gives [ErrTruncated] together with all that it
// holds; a number of findings in STATS that differs from the number read is in
// Report.CutShort. A text of more than [MaxText] bytes is refused, and so is a
// report of any format with more findings than Options.MaxFindings.
//
// # Plain JSON
//
// A list of objects, or an object with the members findings, tool, version, root and
// coverage. A finding has id, rule, cwes, severity, dimension, file, function, lines
// (a number, a text like "12-18", or an object with start and end), title,
// description, confidence, trace and others (lists of file, lines, note), suppressed
// and status. Names are read in any case and with or without _ and -. The JSON of ESLint,
// Horusec, bandit, Ruff, Semgrep and codex-security (findings.json, or what it prints) is
// read by the profiles of profiles.go.
//
// # SARIF
//
// Read is what tools write: results with their rules, by ID or by place in the driver;
// locations with a URI and base, logical locations, the first code flow, with related
// locations behind it, taxa by ID,
// suppressions, kinds, failed invocations. What refers to another table in other ways
// (an artifact, a message or a taxon by its index or GUID alone), and what stands in
// other files or overrides the levels of rules, is counted among the problems.
//
// # Severity
//
// In text and JSON: the word that is stated; where there is none, a CVSS score, by
// the bands of CVSS v3.1. In SARIF: security-severity, by those bands; else the word
// in the properties or tags; else the level: error is HIGH, warning MEDIUM, note LOW,
// none INFO. The result's own come before its rule's.
//
// # CWEs
//
// A finding's CWEs stand in the order in which they are reported. In SARIF the
// result's own come first (taxa, properties, tags), then its rule's
// (relationships, properties, tags, help address). Where neither names one,
// Options.RuleMap is asked, and after it, in SARIF and JSON, prose, by one
// pattern: CWE, up to two of hyphen, dash, underscore, space, colon or #, the
// number; or the address of a CWE page at MITRE. In a field that is known to
// hold CWEs a bare number is one as well.
package findings

// Instructions tells a model how to write the text audit report.
const Instructions = `Write the report as Markdown. First these lines, filled in:

=== HEADER START ===
Project root: .
COVERAGE: <n>/10 (<names of the dimensions that you covered>)
STATS: findings=<n> critical=<n> high=<n> medium=<n> low=<n>
=== HEADER END ===

Then one table, one row a finding, with these columns:

| ID | Severity | CWE | Dimension | File | Lines | Function | Title |

The ID is F-01, F-02 and so on; the severity CRITICAL, HIGH, MEDIUM or LOW; the file
a path relative to the root; lines like 12 or 12-18. The dimension is one of
Injection, Auth, Crypto, Data Exposure, Deserialization, SSRF, File Ops, Business
Logic, Configuration, Supply Chain.

The CWE is one like CWE-89, at base or variant level: the most specific that holds
(CWE-89, not CWE-74 or CWE-20; no category). A second one only where the same lines
are a second weakness.

One row a site: each place in the code that has to be changed is a row of its own,
with the lines of that place, also where the same mistake stands in several files or
functions. Do not sum up several sites in one row, and do not report a site twice.

A text in which a | stands, or a line end, goes between double quotes, with \x7c for
the | and \n for the line end.

Then for each finding a section "### [F-01] Title" with the items "- File: path:12-18",
"- Description:" and "- Trace:", under it one step a line, indented: "  - path:12 what
happens there". STATS states the number of rows. The last line, with nothing after
it, is:

=== SENTINEL: AUDIT COMPLETE ===
`
