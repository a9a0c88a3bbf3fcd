package findings

import (
	"regexp"
	"slices"
	"strings"
)

var (
	delimiter = regexp.MustCompile(`^\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?$`)
	tableID   = regexp.MustCompile(`^[\[#]?[A-Za-z]{0,12}(?:[-_][A-Za-z0-9]{1,12})*[-_]?\d{1,5}\]?$`)
	rowPipe   = regexp.MustCompile(`"(?:[^"\\|]|\\.)*"|\\.|\|`)
)

func isDelimiter(s string) bool {
	return strings.Contains(s, "|") && delimiter.MatchString(strings.TrimSpace(s))
}

// cells cuts a row at the pipes that stand in no literal and have no backslash.
func cells(row string) (out []string) {
	from := 0
	row = strings.TrimPrefix(strings.TrimSpace(row), "|")
	for _, m := range rowPipe.FindAllStringIndex(row, -1) {
		if row[m[0]:m[1]] == "|" {
			out = append(out, strings.TrimSpace(row[from:m[0]]))
			from = m[1]
		}
	}
	if last := strings.TrimSpace(row[from:]); last != "" {
		out = append(out, last)
	}
	return out
}

// row takes a line that belongs to a table, and reports whether it does: it
// starts with a pipe, stands over a line of dashes, or goes on with a table
// whose rows start with none.
func (b *body) row(s, next string, line int) bool {
	piped := strings.HasPrefix(s, "|") && strings.Count(s, "|") > 1
	head := strings.Contains(s, "|") && isDelimiter(next)
	if !piped && !head && !(b.inTable && strings.Contains(s, "|")) {
		b.inTable = false
		return false
	}
	switch row := cells(s); {
	case isDelimiter(s):
	case head || b.columns == nil && !b.inTable:
		b.head(row, next, line)
	case b.columns != nil:
		b.rowOf(row, strings.HasSuffix(s, "|"), line)
	case b.pairs != nil:
		b.pair(row, line)
	}
	b.inTable = true
	return true
}

// head takes a table's heading: of findings, of the fields of one finding, or of
// neither, such as statistics.
func (b *body) head(names []string, next string, line int) {
	b.columns, b.pairs = columnsOf(names), nil
	if b.columns == nil {
		if len(names) == 2 {
			b.pairs = names
		}
		return
	}
	if b.busy() {
		b.close()
	}
	b.tables++
	switch {
	case !isDelimiter(next):
		b.add(line, "the table has no rule under its heading: it is no table in Markdown, and was read by its heading")
	case len(cells(next)) != len(names):
		b.add(line, "the table's heading has %d cells and its rule %d: it is no table in Markdown, and was read by its heading", len(names), len(cells(next)))
	}
}

// columnsOf maps the columns to fields. It is nil for a table that holds no
// findings: one needs a file or a CWE column and a second known one, or an ID
// column with a title and a severity.
func columnsOf(names []string) []field {
	cols := make([]field, len(names))
	seen := map[field]bool{}
	for i, n := range names {
		f := fieldOf(plain(n))
		if f != "" && f != fIgnored && (!seen[f] || f == fFile || f == fDescription) {
			cols[i], seen[f] = f, true
		}
	}
	if (seen[fFile] || seen[fCWE]) && len(seen) >= 2 || seen[fSeverity] && (seen[fTitle] || seen[fKind]) && (seen[fID] || seen[fLines]) {
		return cols
	}
	return nil
}

// pair takes a row of a table of two columns. Its heading is such a row when a
// field stands in it.
func (b *body) pair(row []string, line int) {
	if len(row) < 2 || fieldOf(plain(row[0])) == "" {
		return
	}
	if h := b.pairs; len(h) == 2 {
		b.pairs = []string{}
		if f := fieldOf(plain(h[0])); f != fID && f != fTitle && fieldOf(plain(h[1])) == "" {
			b.pair(h, line)
		}
	}
	if b.cur != nil {
		b.set(b.cur, fieldOf(plain(row[0])), row[1], line)
	}
}

// rowOf makes a draft of a row of a table of findings.
func (b *body) rowOf(row []string, closed bool, line int) {
	if len(row) > len(b.columns) {
		b.add(line, "the row has %d cells, its table %d columns: a | inside a cell is written \\|", len(row), len(b.columns))
	}
	d := &draft{line: line, table: b.tables}
	for _, file := range []bool{true, false} { // the file first: lines are in it
		for i, f := range b.columns {
			if i < len(row) && f != "" && (f == fFile) == file {
				b.set(d, f, row[i], line)
			}
		}
	}
	d.readTitle()
	nowhere := d.File == "" && d.Lines.IsZero() && len(d.CWEs) == 0
	switch {
	case !slices.ContainsFunc(row, func(c string) bool { return filled(plain(c)) != "" }):
	case nowhere && !closed && len(row) < len(b.columns):
		b.add(line, "the row breaks off: it is no finding")
	case nowhere && d.ID == "":
		b.add(line, "the row names neither ID nor file nor CWE: it is no finding")
	default:
		b.keep(d)
	}
}
