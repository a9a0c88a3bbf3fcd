package findings

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"assay/audit"
)

// SentinelLine is the last line of a text report.
const SentinelLine = "=== SENTINEL: AUDIT COMPLETE ==="

// A TextReport is the content of a text report.
type TextReport struct {
	Root     string // the project root
	Tool     string // may be empty
	Version  string // may be empty
	Files    int    // number of source files that were read; 0 is left out
	Coverage []audit.Dimension
	Findings []audit.Finding
}

// WriteText writes a text audit report in the grammar of the package documentation: HEADER, a
// table of the findings, a section for each, SENTINEL. [Read] returns the same findings,
// whatever characters their texts contain; findings without an ID are numbered. Invalid values
// are dropped: a range without a start, an unknown dimension, a repeated CWE.
func WriteText(w io.Writer, r TextReport) error {
	b := bufio.NewWriter(w)
	fs := append([]audit.Finding(nil), r.Findings...)
	number(fs)
	textHeader(b, r, fs)
	fmt.Fprint(b, "## Findings\n\n")
	if len(fs) == 0 {
		fmt.Fprint(b, "No findings.\n")
	} else {
		table(b, fs)
	}
	for i := range fs {
		section(b, &fs[i])
	}
	fmt.Fprintf(b, "\n%s\n", SentinelLine)
	return b.Flush()
}

// textHeader writes the HEADER.
func textHeader(b io.Writer, r TextReport, fs []audit.Finding) {
	fmt.Fprintf(b, "=== HEADER START ===\nProject root: %s\n", asValue("", r.Root))
	if r.Tool != "" {
		fmt.Fprintf(b, "Tool: %s\n", asValue("", r.Tool))
	}
	if r.Version != "" {
		fmt.Fprintf(b, "Version: %s\n", asValue("", r.Version))
	}
	names := make([]string, len(r.Coverage))
	for i, d := range r.Coverage {
		names[i] = string(d)
	}
	fmt.Fprintf(b, "COVERAGE: %d/10 (%s)\nSTATS: findings=%d", len(names),
		strings.Join(names, ", "), len(fs))
	count := map[audit.Severity]int{}
	for _, f := range fs {
		count[f.Severity]++
	}
	for s := audit.Critical; s >= audit.Info; s-- {
		fmt.Fprintf(b, " %s=%d", strings.ToLower(s.String()), count[s])
	}
	if r.Files > 0 {
		fmt.Fprintf(b, " files=%d", r.Files)
	}
	fmt.Fprint(b, "\n=== HEADER END ===\n\n")
}

// table writes the table of findings.
func table(b io.Writer, fs []audit.Finding) {
	columns := []field{fID, fSeverity, fCWE, fDimension, fFile, fLines, fFunction, fTitle}
	for _, of := range columns {
		fmt.Fprintf(b, "| %s ", label(of))
	}
	fmt.Fprintf(b, "|\n%s|\n", strings.Repeat("|---", len(columns)))
	for _, f := range fs {
		for _, of := range columns {
			shown := fields[of].show(&f)
			if of == fFile { // the lines are in a column of their own
				shown = asPlace(audit.Step{File: f.File})
			}
			fmt.Fprintf(b, "| %s ", shown)
		}
		fmt.Fprint(b, "|\n")
	}
	fmt.Fprint(b, "\n## Details\n")
}

// section writes the fields of a finding that are not in the table.
func section(b io.Writer, f *audit.Finding) {
	fmt.Fprintf(b, "\n### [%s] %s\n\n", fields[fID].show(f), fields[fTitle].show(f))
	for _, of := range []field{fFile, fRule, fConfidence, fSuppressed, fDescription,
		fTrace, fOthers} {
		shown := fields[of].show(f)
		if shown != "" && !of.list() {
			shown = " " + shown
		}
		if shown != "" {
			fmt.Fprintf(b, "- %s:%s\n", label(of), shown)
		}
	}
}

// label returns the name of a field as it is written.
func label(of field) string { return strings.ToUpper(string(of[:1])) + string(of[1:]) }

// flat returns a text as one line: white space becomes one space, terminal escapes are removed,
// and other control characters are made visible.
func flat(s string) string {
	return audit.OneLine(strings.Join(strings.Fields(ansi.ReplaceAllString(s, "")), " "), 0)
}

// valid returns s as valid UTF-8.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
