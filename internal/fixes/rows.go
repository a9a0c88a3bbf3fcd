package fixes

import (
	"fmt"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
)

// Columns are those of the table that find writes and add reads.
var Columns = []string{"commit", "cwe", "id", "title", "severity", "advisory", "place",
	"introduced", "twin"}

// A TSVRow is one line of that table.
type TSVRow struct {
	Pos    audit.Pos
	fields map[string]string
}

// Get returns a column's text.
func (r TSVRow) Get(column string) string { return r.fields[column] }

// ReadRows reads the table of candidates: tab-separated values with a heading.
func ReadRows(file, text string) ([]TSVRow, error) {
	c := &fixture.Complaints{}
	var rows []TSVRow
	var head []string
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	for i, line := range splitLines(text) {
		pos := audit.Pos{File: file, Line: i + 1}
		cells := strings.Split(line, "\t")
		for j := range cells {
			cells[j] = strings.TrimSpace(cells[j])
		}
		switch {
		case strings.TrimSpace(line) == "":
		case head == nil:
			head = cells
			for j, name := range head {
				head[j] = strings.ToLower(name)
				if !slices.Contains(Columns, head[j]) || slices.Contains(head[:j], head[j]) {
					c.Errorf(pos, "the column %q: expected each once of %s, separated by tabs",
						name, strings.Join(Columns, ", "))
				}
			}
			if !slices.Contains(head, "commit") || !slices.Contains(head, "cwe") {
				c.Errorf(pos,
					"the columns commit and cwe are not both there: expected a heading that names them")
			}
		case len(cells) > len(head):
			c.Errorf(pos, "%d columns, and the heading has %d", len(cells), len(head))
		default:
			r := TSVRow{pos, map[string]string{}}
			for j, cell := range cells {
				r.fields[head[j]] = cell
			}
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 && c.Err() == nil {
		c.Errorf(audit.Pos{File: file},
			"holds no row: expected a heading with commit and cwe, and a fix a line")
	}
	return rows, c.Err()
}

// FormatRows returns candidates as the text of a table.
func FormatRows(rows []TSVRow) string {
	var b strings.Builder
	b.WriteString(strings.Join(Columns, "\t") + "\n")
	for _, r := range rows {
		cells := make([]string, len(Columns))
		for i, c := range Columns {
			cells[i] = audit.OneLine(strings.ReplaceAll(r.Get(c), "\t", " "), 0)
		}
		b.WriteString(strings.Join(cells, "\t") + "\n")
	}
	return b.String()
}

// places reads the column place: "file:function" or "file:40-44", by comma.
func (r TSVRow) places() (places []audit.Place, err error) {
	for _, one := range strings.Split(r.Get("place"), ",") {
		one = strings.TrimSpace(one)
		if one == "" {
			continue
		}
		i := strings.LastIndexByte(one, ':')
		if i <= 0 || i == len(one)-1 {
			return nil, fmt.Errorf("the place is %q: expected file:function or file:40-44", one)
		}
		p := audit.Place{File: one[:i]}
		a, b, two := strings.Cut(one[i+1:], "-")
		if strings.Trim(a+b, "0123456789") != "" || a == "" {
			p.Function = one[i+1:]
		} else {
			p.Lines.Start, p.Lines.End = number(a), number(a)
			if two {
				p.Lines.End = number(b)
			}
			if p.Lines.Start < 1 || p.Lines.End < p.Lines.Start {
				return nil, fmt.Errorf("the place is %q: expected lines like 40-44", one)
			}
		}
		places = append(places, p)
	}
	return places, nil
}
