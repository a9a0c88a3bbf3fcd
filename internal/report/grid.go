package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"assay/audit"
)

// A grid is a long table as data. The page's script makes its rows as they are shown,
// filters and sorts them, and writes them as CSV, JSON or SARIF.
type grid struct {
	Columns []gridColumn
	Rows    [][]any           // of a num column a number or nil, of all others a string
	ID      string            // the column that names rows, for links
	Badges  map[string]string // classes of the texts of badge columns
	Cut     string            // what is left out for want of room
	words   int               // bytes of a cell of a words column
	all     int               // rows before any were left out
}

// A gridColumn says what a column's cells are: text, code, badge, num, share (a count of
// several, as "2/3"), words (shown when the row is opened), source (lines with their marks,
// likewise).
type gridColumn struct {
	Name string `json:"name"`
	Kind string `json:"kind,omitempty"`
	// rows are chosen by it; a cell of several parts them by |
	Pick   bool     `json:"pick,omitempty"`
	Order  []string `json:"order,omitempty"`  // of the choices; else by name
	Hidden bool     `json:"hidden,omitempty"` // for links, choices and files alone
	Link   string   `json:"link,omitempty"`   // the column with what its cells link to
	Note   string   `json:"note,omitempty"`   // the column that stands below its cells
	By     string   `json:"by,omitempty"`     // the num column that it sorts by
	Opens  bool     `json:"opens,omitempty"`  // where words and source are opened
	// of the glossary that its head means; by Name where it is empty
	Term  string `json:"term,omitempty"`
	Means string `json:"means,omitempty"` // its definition
	Class string `json:"class,omitempty"` // the colour of the variant that it is about
}

// newGrid returns an empty grid.
func newGrid(id string, columns ...gridColumn) *grid {
	for i := range columns {
		c := &columns[i]
		if t := define(cmp.Or(c.Term, c.Name)); t != nil && !c.Hidden {
			c.Term, c.Means = t.ID, t.Means
		}
	}
	return &grid{Columns: columns, ID: id, Rows: [][]any{}, Badges: map[string]string{},
		words: wordsMost}
}

// add adds a row.
func (g *grid) add(cells ...any) {
	for i, c := range cells {
		switch c := c.(type) {
		case string:
			if _, ok := g.Badges[c]; g.Columns[i].Kind == "badge" && !ok {
				g.Badges[c] = badge(c)
			}
		case audit.Range:
			cells[i] = c.String()
		}
	}
	g.Rows = append(g.Rows, cells)
}

// MarshalJSON writes each text once, however many cells hold it. A cell holds the index of
// its text.
func (g *grid) MarshalJSON() ([]byte, error) {
	texts, at := []string{""}, map[string]int{"": 0}
	rows := make([][]any, len(g.Rows))
	for r, row := range g.Rows {
		rows[r] = slices.Clone(row)
		for i, c := range row {
			text, ok := c.(string)
			if !ok {
				continue
			}
			if g.Columns[i].Kind == "words" {
				text = clipWords(text, g.words)
			}
			n, ok := at[text]
			if !ok {
				n = len(texts)
				at[text], texts = n, append(texts, text)
			}
			rows[r][i] = n
		}
	}
	return json.Marshal(map[string]any{"columns": g.Columns, "rows": rows, "texts": texts,
		"id": g.ID, "badges": g.Badges})
}

// shorter cuts what rows say when they are opened, then leaves out rows, and notes that in
// Cut. It returns false where hardly any row is left.
func (g *grid) shorter() bool {
	const wordsLeast, rowsLeast = 60, 20
	g.all = max(g.all, len(g.Rows))
	opens := slices.ContainsFunc(g.Columns, func(c gridColumn) bool { return c.Kind == "words" })
	if opens && g.words > wordsLeast {
		g.words = max(wordsLeast, g.words/2)
	} else {
		g.Rows = g.Rows[:len(g.Rows)*3/4]
	}
	g.Cut = ""
	if g.words < wordsMost {
		g.Cut = fmt.Sprintf("What rows say when they are opened is cut after %d bytes. ", g.words)
	}
	if len(g.Rows) < g.all {
		g.Cut += fmt.Sprintf("The first %d of %d rows are shown. ", len(g.Rows), g.all)
	}
	g.Cut += "Records and results have all of it."
	return len(g.Rows) > rowsLeast
}
