package findings

import (
	"bufio"
	"fmt"
	"io"
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
	shared := map[string]int{} // how many findings have the ID
	for _, f := range fs {
		shared[idKey(f.ID)]++
	}
	textHeader(b, r, fs)
	if len(fs) == 0 {
		fmt.Fprintf(b, "## Findings\n\nNo findings.\n\n%s\n", SentinelLine)
		return b.Flush()
	}
	fmt.Fprint(b, "## Findings\n\n| ID | Severity | CWE | Dimension | File | Lines | Function | Title |\n|---|---|---|---|---|---|---|---|\n")
	for _, f := range fs {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", asID(f.ID, shared), f.Severity, cweList(f.CWEs), f.Dimension,
			orNone(f.File, asPlace(audit.Step{File: f.File})), f.Lines, orNone(f.Function, asName(fFunction, f.Function)), orNone(f.Title, asTitle(f.Title)))
	}
	fmt.Fprint(b, "\n## Details\n")
	for _, f := range fs {
		section(b, f, shared)
	}
	fmt.Fprintf(b, "\n%s\n", SentinelLine)
	return b.Flush()
}

func textHeader(b io.Writer, r TextReport, fs []audit.Finding) {
	line := func(key, val string, read func(string) string) {
		if _, got := headerField(key + ": " + val); got != val || read(val) != val || !safe(val) || strings.HasPrefix(val, `"`) {
			val = quote(val)
		}
		fmt.Fprintf(b, "%s: %s\n", key, val)
	}
	fmt.Fprint(b, "=== HEADER START ===\n")
	line("Project root", r.Root, cleanPath)
	if r.Tool != "" {
		line("Tool", r.Tool, plainWord)
	}
	if r.Version != "" {
		line("Version", r.Version, plainWord)
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
func section(b io.Writer, f audit.Finding, shared map[string]int) {
	fmt.Fprintf(b, "\n### [%s] %s\n\n", asID(f.ID, shared), orNone(f.Title, asTitle(f.Title)))
	line := func(key, written, val string) {
		if val != "" {
			fmt.Fprintf(b, "- %s\n", item(key, written, val))
		}
	}
	lines := ""
	if !f.Lines.IsZero() {
		lines = ":" + f.Lines.String()
	}
	if place := item("File", asPlace(audit.Step{File: f.File, Lines: f.Lines}), f.File); f.File != "" {
		fmt.Fprintf(b, "- %s%s\n", place, strings.Repeat(lines, strings.Count(place[len(place)-1:], `"`)))
	}
	line("Rule", asName(fRule, f.RuleID), f.RuleID)
	if f.Confidence > 0 {
		line("Confidence", strconv.FormatFloat(f.Confidence, 'g', -1, 64), "-")
	}
	line("Suppressed", asValue(fSuppressed, f.Suppressed), f.Suppressed)
	line("Description", asValue(fDescription, f.Description), f.Description)
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

func orNone(v, written string) string {
	if v == "" {
		return ""
	}
	return written
}

// asID writes an ID, which also stands in brackets. A number that several findings
// have is quoted: a section without a line would be taken for a chapter, and the next
// one of this number for that of its row.
func asID(id string, shared map[string]int) string {
	if isDigits(id) && shared[idKey(id)] > 1 {
		return quote(id)
	}
	if s := sectionHead.FindStringSubmatch("[" + id + "]"); s != nil && s[1] == id && (tableID.MatchString(id) || numbered.MatchString(id)) {
		return asValue(fID, id)
	}
	return quote(id)
}

// asTitle writes a title: plain when nothing but words is read out of it.
func asTitle(s string) string {
	if t := parseTitle(s); t.id != "" || t.sev != 0 || t.cwes != nil || t.text != s || strings.HasSuffix(s, "#") {
		return quote(s)
	}
	return asValue(fTitle, s)
}

// asName writes a name as a code span where it can.
func asName(f field, s string) string {
	span := "`" + s + "`"
	if got, _ := value(f, span); got == s && safe(s) && !strings.Contains(s, "`") {
		return span
	}
	return quote(s)
}

// item writes "Key: value", the value quoted where the line would be read as
// more than one field.
func item(key, written, val string) string {
	if line := key + ": " + written; len(fieldsIn(line)) == 1 {
		return line
	}
	return key + ": " + quote(val)
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
