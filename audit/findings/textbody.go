package findings

import (
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

// A body is the part between HEADER and SENTINEL: tables, and sections with details on their
// rows.
type body struct {
	rows     []*audit.Finding
	sections []*audit.Finding            // sections without a row
	waiting  map[string][]*audit.Finding // rows whose section has not come yet, by ID
	columns  []field                     // columns of the last table; nil before the first
	open     *audit.Finding              // finding whose section is being read
	at       field                       // field that a line without a key continues
}

var (
	fence   = regexp.MustCompile("^\\s*(```+|~~~+)\\s*([\\w-]*)\\s*$")
	heading = regexp.MustCompile(`^#{1,6}\s+(.*)$`)
	// sectionHead matches "[F-01] Title" and "F-01: Title", after a number or not.
	sectionHead = regexp.MustCompile(`^(?:\d{1,3}[.)]\s+)?` +
		`(?:\[("(?:[^"\\]|\\.)*"|[^\[\]"]{1,40})\]|([A-Z]{1,12}-\d{1,5})(?:[\s:.–—-]+|$))\s*(.*)$`)
	bullet   = regexp.MustCompile(`^(?:[-*+]|\d{1,3}[.)])\s+(.*)$`)
	keyValue = regexp.MustCompile(`^[*_]*([A-Z][A-Za-z]*(?: [A-Za-z]+)?)[*_]*:[*_]*(?:\s+(.*))?$`)
	rule     = regexp.MustCompile(`^\|(?:\s*:?-+:?\s*\|)+$`)
	cell     = regexp.MustCompile(`((?:[^|\\]|\\.)*)\|`)
)

// readBody reads the lines from..to-1. It skips fenced blocks, which hold evidence.
func (t *textReader) readBody(from, to int) {
	t.waiting = map[string][]*audit.Finding{}
	unwrap(t.lines[from:to])
	mark, opened := "", 0
	for i := from; i < to; i++ {
		s := strings.TrimSpace(t.lines[i])
		m, head := fence.FindStringSubmatch(s), heading.FindStringSubmatch(s)
		switch {
		case mark != "":
			if m != nil && m[2] == "" && strings.HasPrefix(m[1], mark) {
				mark = ""
			}
		case m != nil:
			mark, opened = m[1], i+1
		case strings.HasPrefix(s, "|"):
			next := ""
			if i+1 < to {
				next = strings.TrimSpace(t.lines[i+1])
			}
			t.tableLine(s, next, i+1)
		case head != nil:
			t.section(head[1], i+1)
		case strings.Trim(s, "-=*_ ") != "":
			t.line(s, t.lines[i][0] == ' ' || t.lines[i][0] == '\t', i+1)
		}
	}
	if mark != "" {
		t.add(opened, "the fence is not closed: expected its end; nothing after it is read")
	}
}

// unwrap removes a fence around the whole body.
func unwrap(body []string) {
	first := slices.IndexFunc(body, func(l string) bool { return strings.TrimSpace(l) != "" })
	if first < 0 {
		return
	}
	m := fence.FindStringSubmatch(body[first])
	if m == nil || !slices.Contains([]string{"", "markdown", "md", "text"}, m[2]) {
		return
	}
	body[first] = ""
	for i, l := range slices.Backward(body) {
		if fence.MatchString(l) {
			body[i] = ""
			return
		}
	}
}

// tableLine reads a line of a table.
func (t *textReader) tableLine(s, next string, line int) {
	var row []string // the cells, between the pipes without a backslash
	for _, m := range cell.FindAllStringSubmatch(s[1:], -1) {
		row = append(row, strings.TrimSpace(m[1]))
	}
	switch {
	case rule.MatchString(s):
	case rule.MatchString(next) || t.columns == nil:
		t.columns = columnsOf(row)
		if !holdsFindings(t.columns) && (slices.Contains(t.columns, fID) ||
			slices.Contains(t.columns, fTitle)) {
			t.add(line, "the table is ignored: expected the columns ID, Severity, CWE, Dimension, File, Lines, Function, Title, at least File or CWE")
		}
	case !holdsFindings(t.columns):
	case !strings.HasSuffix(s, "|"):
		t.add(line, "the row is incomplete and not a finding: expected a | at its end")
	default:
		t.row(row, line)
	}
}

// holdsFindings reports whether a table with these columns holds findings.
func holdsFindings(columns []field) bool {
	return slices.Contains(columns, fFile) || slices.Contains(columns, fCWE)
}

// columnsOf returns the fields of columns, each once: the first column of a field, but the last
// ID, since rows may be numbered before it.
func columnsOf(names []string) []field {
	cols := make([]field, len(names))
	for i, n := range names {
		f := fieldOf(n)
		if before := slices.Index(cols, f); before < 0 {
			cols[i] = f
		} else if f == fID {
			cols[before], cols[i] = "", f
		}
	}
	return cols
}

// row reads a row as a finding.
func (t *textReader) row(row []string, line int) {
	if len(row) > len(t.columns) {
		t.add(line, "the row has %d cells, its table %d columns: write a | inside a cell as \\|",
			len(row), len(t.columns))
	}
	f := &audit.Finding{Pos: audit.Pos{File: t.name, Line: line}}
	// the file first, as the Lines column replaces its lines
	for _, file := range []bool{true, false} {
		for i, of := range t.columns[:min(len(row), len(t.columns))] {
			if (of == fFile) == file {
				t.set(f, of, row[i], line)
			}
		}
	}
	if f.ID == "" && f.File == "" && len(f.CWEs) == 0 {
		if slices.ContainsFunc(row, func(c string) bool { return filled(c) != "" }) {
			t.add(line, "the row names neither ID nor file nor CWE: it is not a finding")
		}
		return
	}
	t.rows = append(t.rows, f)
	t.waiting[f.ID] = append(t.waiting[f.ID], f)
}

// section opens the section of a heading: the n-th section of an ID belongs to its n-th row. A
// heading without an ID opens none.
func (t *textReader) section(text string, line int) {
	m := sectionHead.FindStringSubmatch(text)
	t.open, t.at = nil, fDescription
	if m == nil {
		return
	}
	id := value(fID, m[1]+m[2])
	if rows := t.waiting[id]; len(rows) > 0 {
		t.open, t.waiting[id] = rows[0], rows[1:]
	} else {
		t.open = &audit.Finding{ID: id, Pos: audit.Pos{File: t.name, Line: line}}
		t.sections = append(t.sections, t.open)
	}
	t.set(t.open, fTitle, m[3], line)
}

// line reads an item, a step of a list, or a further line of a description. Other items, such
// as Evidence and Fix, are skipped with their lines.
func (t *textReader) line(s string, indented bool, line int) {
	text := s
	point := bullet.FindStringSubmatch(s)
	if point != nil {
		text = point[1]
	}
	item := keyValue.FindStringSubmatch(text)
	known := item != nil && fieldOf(item[1]) != ""
	switch {
	case t.open == nil:
		if known || point != nil && cwesInProse(s) != nil {
			t.add(line, "the line belongs to no finding: expected a row of a table, or a section with a heading like ### [F-01] Title")
		}
	case indented && point != nil && t.at.list():
		t.set(t.open, t.at, text, line)
	case known:
		t.at = fieldOf(item[1])
		t.set(t.open, t.at, item[2], line)
		if item[2] != "" && !t.at.list() {
			t.at = fDescription
		}
	case item != nil || point != nil && !indented:
		t.at = ""
	case t.at != "" && !t.at.list():
		t.set(t.open, t.at, s, line)
		t.at = fDescription
	}
}
