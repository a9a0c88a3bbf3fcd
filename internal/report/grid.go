package report

import (
	"encoding/json"

	"assay/audit"
)

// A grid is a long table as data: the page's script makes its rows as they are
// shown, filters and sorts them, and writes them as CSV, JSON or SARIF. Texts stand
// once, however many cells hold them.
type grid struct {
	Columns []gridColumn      `json:"columns"`
	Rows    [][]any           `json:"rows"` // of a num column a number or nil, of all others an index into Texts
	Texts   texts             `json:"texts"`
	ID      string            `json:"id,omitempty"` // the column that names rows, for links
	Badges  map[string]string `json:"badges"`
}

// A gridColumn says what a column's cells are: text, code, badge, num, share (right
// answers of those given, as "2/3"), words (shown when the row is opened), source
// (lines with their marks, likewise).
type gridColumn struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind,omitempty"`
	Pick   bool     `json:"pick,omitempty"`   // rows are chosen by it; a cell of several parts them by |
	Order  []string `json:"order,omitempty"`  // of the choices; else by name
	Hidden bool     `json:"hidden,omitempty"` // for links, choices and files alone
	Link   string   `json:"link,omitempty"`   // the column with what its cells link to
	Note   string   `json:"note,omitempty"`   // the column that stands below its cells
	By     string   `json:"by,omitempty"`     // the num column that it sorts by
	Opens  bool     `json:"opens,omitempty"`  // where words and source are opened
}

// texts are strings that data refers to by their place; the first is empty.
type texts struct {
	all []string
	at  map[string]int
}

func (t *texts) put(s string) int {
	if t.at == nil {
		t.at, t.all = map[string]int{"": 0}, []string{""}
	}
	i, ok := t.at[s]
	if !ok {
		i = len(t.all)
		t.at[s] = i
		t.all = append(t.all, s)
	}
	return i
}

func (t *texts) longest() (n int) {
	for _, s := range t.all {
		n = max(n, len(s))
	}
	return n
}

func (t *texts) cut(most int) {
	for i, s := range t.all {
		t.all[i] = clipWords(s, most)
	}
}

func (t texts) MarshalJSON() ([]byte, error) {
	if t.all == nil {
		return []byte(`[""]`), nil
	}
	return json.Marshal(t.all)
}

func newGrid(id string, columns ...gridColumn) *grid {
	return &grid{Columns: columns, ID: id, Rows: [][]any{}, Badges: map[string]string{}}
}

func (g *grid) add(cells ...any) {
	for i, c := range cells {
		switch c := c.(type) {
		case string:
			if _, ok := g.Badges[c]; g.Columns[i].Kind == "badge" && !ok {
				g.Badges[c] = badge(c)
			}
			cells[i] = g.Texts.put(c)
		case audit.Range:
			cells[i] = g.Texts.put(c.String())
		}
	}
	g.Rows = append(g.Rows, cells)
}
