// Package findings reads and writes the reports of auditors. [Read] parses SARIF 2.1.0, plain
// JSON and the text audit report into an [audit.Report]; [WriteSARIF] and [WriteText] write
// findings. [Scrub] removes source text from reports, so that they can be committed as recordings.
//
// # The text audit report
//
// [Instructions] is the part of a prompt that asks for it. [WriteText] writes this grammar; a
// line ends in LF, and blank lines are allowed between all parts:
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
//	text     = value { LF indent value }                 the lines are joined by spaces
//	step     = place [ " " value ]                       where, and what happens there
//	place    = "`" path [ ":" lines ] "`" | literal [ ":" lines ]
//	lines    = number [ "-" number ]
//	value    = plain | "`" plain "`" | literal
//	plain    = printable characters without marks of Markdown
//	literal  = a Go string literal in double quotes, which may hold any text
//	sentinel = "=== SENTINEL: AUDIT COMPLETE ===" LF     the last line
//
// A value that would not be read back exactly (with a pipe, a line end, a backtick, a control
// character, or a placeholder for an empty cell) is written as a literal. [Read] therefore returns
// what WriteText wrote, whatever the texts contain. A row and a section with the same ID are one
// finding: the n-th section of an ID belongs to its n-th row. A section without a row is a finding
// if it has an item with its file or CWE.
//
// Read accepts the usual variations of models: additional columns, another order and usual names
// (Location, Path, Line, Method, Category, Vulnerability); bold, code spans and links; a fence
// around the report; headings like "F-01: Title"; places and lines like "a.c#L12-L18" and "lines
// 12 to 18". It does not guess: a place or a CWE in prose alone, several places in one cell, and
// items outside of a section are problems with their line. Text before the last HEADER is a draft
// and is ignored, and so are fenced blocks and other items (Evidence, Fix): a finding never holds
// source text.
//
// Report.Header and Report.Sentinel say whether these parts are complete. For a text without a
// SENTINEL line Read returns [ErrTruncated] with all findings before the break. If STATS and the
// number of findings differ, Report.CutShort says so. A text of more than [MaxText] bytes is an
// error, and so is a report of any format with more findings than Options.MaxFindings.
//
// # Plain JSON
//
// A list of objects, or an object with the members findings, tool, version, root and
// coverage. A finding has id, rule, cwes, severity, dimension, file, function, lines
// (a number, a text like "12-18", or an object with start and end), title,
// description, confidence, trace and others (lists of file, lines, note), suppressed
// and status. Case, _ and - in names do not matter. profiles.go describes how the JSON of
// ESLint, Horusec, bandit, Ruff, Semgrep and codex-security (findings.json, or its standard
// output) differs.
//
// # SARIF
//
// Read uses what tools write: results with their rules, by ID or by index in the driver;
// locations with a URI and base, logical locations, the first code flow followed by related
// locations, taxa by ID, suppressions, kinds, and failed invocations. Other references (to an
// artifact, a message or a taxon by its index or GUID alone), external files, and overrides of
// rules' levels are counted among the problems.
//
// # Severity
//
// In text and JSON: the stated word; without one, a CVSS score by the bands of CVSS v3.1. In
// SARIF: security-severity by these bands; else the word in the properties or tags; else the
// level: error is HIGH, warning MEDIUM, note LOW, none INFO. The result's values take precedence
// over its rule's.
//
// # CWEs
//
// A finding's CWEs are in the order of the report. In SARIF those of the result come first (taxa,
// properties, tags), then those of its rule (relationships, properties, tags, help address). If
// there is none, Read uses Options.RuleMap and then, in SARIF and JSON, the prose, by one pattern:
// CWE, up to two of hyphen, dash, underscore, space, colon or #, the number; or the address of a
// CWE page at MITRE. In a field for CWEs bare numbers count too.
package findings

// Instructions is the part of a prompt that describes the text audit report.
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
