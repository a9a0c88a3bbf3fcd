package findings

import (
	"bufio"
	"fmt"
	"io"
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

// WriteText writes a text audit report: HEADER, a table of the findings, a
// section for each, SENTINEL. [Read] gives the findings back with every field
// but two: runs of white space become one space, and control characters go.
// A finding without an ID is numbered.
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
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", cell(f.ID), f.Severity, cweList(f.CWEs), f.Dimension,
			codeCell(f.File), f.Lines, codeCell(f.Function), cell(f.Title))
	}
	fmt.Fprint(b, "\n## Details\n")
	for _, f := range fs {
		section(b, f)
	}
	fmt.Fprintf(b, "\n%s\n", SentinelLine)
	return b.Flush()
}

func textHeader(b io.Writer, r TextReport, fs []audit.Finding) {
	fmt.Fprintf(b, "=== HEADER START ===\nProject root: %s\n", flat(r.Root))
	if r.Tool != "" {
		fmt.Fprintf(b, "Tool: %s\n", flat(r.Tool))
	}
	if r.Version != "" {
		fmt.Fprintf(b, "Version: %s\n", flat(r.Version))
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
	fmt.Fprintf(b, "\n### [%s] %s\n\n", cell(f.ID), cell(f.Title))
	item := func(key, val string) {
		if val != "" {
			fmt.Fprintf(b, "- %s: %s\n", key, val)
		}
	}
	place := code(f.File)
	if place != "" && !f.Lines.IsZero() {
		place = code(f.File + ":" + f.Lines.String())
	}
	item("File", place)
	item("Rule", code(f.RuleID))
	if f.Confidence > 0 {
		item("Confidence", fmt.Sprintf("%.4g", f.Confidence))
	}
	item("Status", suppressed(f.Suppressed))
	item("Description", prose(f.Description))
	steps := func(key string, ss []audit.Step) {
		if len(ss) == 0 {
			return
		}
		fmt.Fprintf(b, "- %s:\n", key)
		for _, s := range ss {
			place := s.File
			if !s.Lines.IsZero() {
				place += ":" + s.Lines.String()
			}
			fmt.Fprintf(b, "  - %s\n", strings.TrimSpace(code(place)+" "+prose(s.Note)))
		}
	}
	steps("Trace", f.Trace)
	steps("Other locations", f.Others)
}

func suppressed(s string) string {
	if s == "" {
		return ""
	}
	return "suppressed: " + prose(s)
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

var proseEscape = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "[", `\[`, "]", `\]`, "<", `\<`, "#", `\#`)
var cellEscape = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "[", `\[`, "]", `\]`, "<", `\<`, "#", `\#`, "|", `\|`)

// prose escapes what Markdown would read as its own.
func prose(s string) string { return proseEscape.Replace(flat(s)) }

func cell(s string) string { return cellEscape.Replace(flat(s)) }

// codeCell is code for a table's cell.
func codeCell(s string) string { return strings.ReplaceAll(code(s), "|", `\|`) }

// code puts a name into a code span.
func code(s string) string {
	s = flat(s)
	if s == "" {
		return ""
	}
	if strings.Contains(s, "`") {
		return prose(s)
	}
	return "`" + s + "`"
}
