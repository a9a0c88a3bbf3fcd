package planted

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
)

// complaints collects everything that is wrong while a project is read.
type complaints struct{ errs fixture.Errors }

func (c *complaints) at(pos audit.Pos, format string, args ...any) {
	c.errs = append(c.errs, &fixture.Error{Pos: pos, What: fmt.Sprintf(format, args...)})
}

// add takes what another reader found wrong, at its places or else at pos.
func (c *complaints) add(pos audit.Pos, err error) {
	var all fixture.Errors
	if errors.As(err, &all) {
		c.errs = append(c.errs, all...)
	} else if err != nil {
		c.at(pos, "%v", err)
	}
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

func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// A row is one line of a table of project.md.
type row struct {
	fixture.Row
	c *complaints
}

func (r row) errorf(format string, args ...any) { r.c.at(r.Pos, format, args...) }

// rows gives the rows of a section's only table, which must have the columns.
func (r *reader) rows(s *fixture.Section, columns ...string) []row {
	if len(s.Tables) != 1 {
		r.c.at(s.Pos, "the section %q holds %d tables: expected one headed | %s |", "# "+s.Title, len(s.Tables), strings.Join(columns, " | "))
		return nil
	}
	t := s.Tables[0]
	for _, col := range columns {
		if !t.Has(col) {
			r.c.at(t.Pos, "the table lacks the column %s: expected | %s |", col, strings.Join(columns, " | "))
			return nil
		}
	}
	var rows []row
	for _, one := range t.Rows {
		rows = append(rows, row{one, r.c})
	}
	return rows
}
