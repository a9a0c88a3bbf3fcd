package planted

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"assay/audit"
	"assay/audit/fixture"
)

// complaints collects everything that is wrong while a project is read.
type complaints struct{ errs fixture.Errors }

func (c *complaints) at(pos audit.Pos, format string, args ...any) {
	c.errs = append(c.errs, &fixture.Error{Pos: pos, What: fmt.Sprintf(format, args...)})
}

// err gives what was collected by file and line, or nil.
func (c *complaints) err() error {
	if len(c.errs) == 0 {
		return nil
	}
	slices.SortStableFunc(c.errs, func(a, b *fixture.Error) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line))
	})
	return c.errs
}

// A section is a heading of level 1 with the tables below it.
type section struct {
	title  string
	pos    audit.Pos
	tables []*table
}

// A table is a Markdown table whose columns are found by their headings.
type table struct {
	pos     audit.Pos
	columns map[string]int // folded heading -> index
	rows    []row
}

// A row is one line of a table.
type row struct {
	table *table
	pos   audit.Pos
	cells []string
	c     *complaints
}

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table))

// readSections gives a document's sections of level 1 in order.
func readSections(file string, src []byte, c *complaints) []*section {
	at := func(offset int) audit.Pos {
		return audit.Pos{File: file, Line: 1 + strings.Count(string(src[:offset]), "\n")}
	}
	var all []*section
	root := markdown.Parser().Parse(text.NewReader(src))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 1 && n.Lines().Len() > 0 {
				title := strings.TrimSpace(string(n.Lines().Value(src)))
				all = append(all, &section{title: title, pos: at(n.Lines().At(0).Start)})
			}
		case *tables.Table:
			if len(all) > 0 {
				s := all[len(all)-1]
				s.tables = append(s.tables, readTable(n, src, s.pos, at, c))
			}
		}
	}
	return all
}

func readTable(n *tables.Table, src []byte, fallback audit.Pos, at func(int) audit.Pos, c *complaints) *table {
	t := &table{pos: fallback, columns: map[string]int{}}
	lines := strings.Split(string(src), "\n")
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		var cells []string
		pos := fallback
		for cell := r.FirstChild(); cell != nil; cell = cell.NextSibling() {
			if cell.Lines().Len() > 0 && pos == fallback {
				pos = at(cell.Lines().At(0).Start)
			}
			text := strings.TrimSpace(string(cell.Lines().Value(src)))
			cells = append(cells, strings.ReplaceAll(text, `\|`, "|"))
		}
		if _, head := r.(*tables.TableHeader); head {
			t.pos = pos
			for i, h := range cells {
				t.columns[fold(h)] = i
			}
			continue
		}
		if got := countCells(lines[pos.Line-1]); got != len(t.columns) {
			c.at(pos, `the row has %d cells and the heading %d: expected the same number (a | within a cell is written \|)`, got, len(t.columns))
			continue
		}
		t.rows = append(t.rows, row{t, pos, cells, c})
	}
	return t
}

// countCells counts the cells of a table's line: goldmark drops those that are
// too many and fills up those that lack.
func countCells(line string) int {
	line = strings.TrimSpace(line)
	n := strings.Count(line, "|") - strings.Count(line, `\|`) + 1
	if strings.HasPrefix(line, "|") {
		n--
	}
	if strings.HasSuffix(line, "|") && !strings.HasSuffix(line, `\|`) && len(line) > 1 {
		n--
	}
	return n
}

func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// rows gives the rows of the section's only table, which must have the columns.
func (s *section) rows(c *complaints, columns ...string) []row {
	if len(s.tables) != 1 {
		c.at(s.pos, "the section %q holds %d tables: expected one headed | %s |", "# "+s.title, len(s.tables), strings.Join(columns, " | "))
		return nil
	}
	t := s.tables[0]
	for _, col := range columns {
		if _, ok := t.columns[fold(col)]; !ok {
			c.at(t.pos, "the table lacks the column %s: expected | %s |", col, strings.Join(columns, " | "))
			return nil
		}
	}
	return t.rows
}

// raw gives a cell as it is written.
func (r row) raw(column string) string {
	if i := r.table.columns[fold(column)]; i < len(r.cells) {
		return r.cells[i]
	}
	return ""
}

// get gives a cell without the backticks around it.
func (r row) get(column string) string {
	s := r.raw(column)
	if len(s) >= 2 && s[0] == '`' && s[len(s)-1] == '`' && strings.Count(s, "`") == 2 {
		s = strings.TrimSpace(s[1 : len(s)-1])
	}
	return s
}

// list splits a cell at commas, each item without backticks.
func (r row) list(column string) []string {
	var items []string
	for _, s := range strings.Split(r.raw(column), ",") {
		if s = strings.Trim(strings.TrimSpace(s), "`"); s != "" {
			items = append(items, s)
		}
	}
	return items
}

func (r row) errorf(format string, args ...any) { r.c.at(r.pos, format, args...) }
