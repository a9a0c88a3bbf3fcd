package findings

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"assay/audit"
)

// SentinelLine is the last line of a text report that WriteText writes.
const SentinelLine = "=== SENTINEL: AUDIT COMPLETE ==="

// A TextReport is what [WriteText] writes.
type TextReport struct {
	Root     string // the project root
	Tool     string // may be empty
	Version  string // may be empty
	Files    int    // source files that were read; 0 is left out
	Coverage []audit.Dimension
	Findings []audit.Finding
}

// WriteText writes a text audit report in the grammar of the package
// documentation: HEADER, a table of the findings, a section for each, SENTINEL.
// [Read] gives the findings back unchanged, whatever their texts hold; a finding
// without an ID is numbered. What is no value stays none: a range without a
// start, a dimension that is none of the ten, a CWE that stands twice.
func WriteText(w io.Writer, r TextReport) error {
	b := bufio.NewWriter(w)
	fs := append([]audit.Finding(nil), r.Findings...)
	number(fs)
	textHeader(b, r, fs)
	if len(fs) == 0 {
		fmt.Fprintf(b, "## Findings\n\nNo findings.\n\n%s\n", SentinelLine)
		return b.Flush()
	}
	fmt.Fprint(b, "## Findings\n\n| ID | Severity | CWE | Dimension | File | Lines | Function | Title |\n|---|---|---|---|---|---|---|---|\n")
	for _, f := range fs {
		file := ""
		if f.File != "" {
			file = asPlace(audit.Step{File: f.File})
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", asID(f.ID), f.Severity, cweList(f.CWEs), f.Dimension,
			file, f.Lines, asValue(fFunction, f.Function), asValue(fTitle, f.Title))
	}
	fmt.Fprint(b, "\n## Details\n")
	for _, f := range fs {
		section(b, f)
	}
	fmt.Fprintf(b, "\n%s\n", SentinelLine)
	return b.Flush()
}

func textHeader(b io.Writer, r TextReport, fs []audit.Finding) {
	line := func(key, val string) {
		m := headerLine.FindStringSubmatch(key + ": " + val)
		if m == nil || m[2] != val || headerValue(val) != val || !safe(val) || strings.HasPrefix(val, `"`) {
			val = quote(val)
		}
		fmt.Fprintf(b, "%s: %s\n", key, val)
	}
	fmt.Fprint(b, "=== HEADER START ===\n")
	line("Project root", r.Root)
	if r.Tool != "" {
		line("Tool", r.Tool)
	}
	if r.Version != "" {
		line("Version", r.Version)
	}
	names := make([]string, 0, len(r.Coverage))
	for _, d := range r.Coverage {
		names = append(names, string(d))
	}
	fmt.Fprintf(b, "COVERAGE: %d/10 (%s)\nSTATS: findings=%d", len(names), strings.Join(names, ", "), len(fs))
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

// section writes what the table has no room for.
func section(b io.Writer, f audit.Finding) {
	fmt.Fprintf(b, "\n### [%s] %s\n\n", asID(f.ID), asValue(fTitle, f.Title))
	line := func(key, val, written string) {
		if val != "" {
			fmt.Fprintf(b, "- %s: %s\n", key, written)
		}
	}
	line("File", f.File, asPlace(audit.Step{File: f.File, Lines: f.Lines}))
	line("Rule", f.RuleID, asValue(fRule, f.RuleID))
	if f.Confidence > 0 {
		line("Confidence", "-", strconv.FormatFloat(f.Confidence, 'g', -1, 64))
	}
	line("Suppressed", f.Suppressed, asValue(fSuppressed, f.Suppressed))
	line("Description", f.Description, asValue(fDescription, f.Description))
	for _, list := range []struct {
		key   string
		steps []audit.Step
	}{{"Trace", f.Trace}, {"Other locations", f.Others}} {
		if len(list.steps) > 0 {
			fmt.Fprintf(b, "- %s:\n", list.key)
		}
		for _, s := range list.steps {
			fmt.Fprintf(b, "  - %s\n", asStep(s))
		}
	}
}

var shortID = regexp.MustCompile(`^(?:#\d+|[A-Za-z]{0,12}-?\d{1,5})$`)

// asID writes an ID, which also stands in brackets.
func asID(id string) string {
	if shortID.MatchString(id) {
		return id
	}
	return quote(id)
}

func cweList(cs []audit.CWE) string {
	names := make([]string, len(cs))
	for i, c := range cs {
		names[i] = c.String()
	}
	return strings.Join(names, ", ")
}

// flat makes one line of a text: white space becomes one space, control
// characters and the escapes of terminals go.
func flat(s string) string {
	s = strings.ToValidUTF8(ansi.ReplaceAllString(s, ""), "\uFFFD")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
