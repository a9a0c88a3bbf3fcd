package hostreview

import (
	"testing"

	"assay/internal/static/lang"

	"github.com/stretchr/testify/require"
)

const spec = "Handlers of a library, in Python.\n\n" +
	"- `find_book(book_id)` returns a `Book`, by id only, no checks.\n" +
	"- `may_lend(user, book)` is true when the book may be lent by the user.\n" +
	"- `note(user, what)` writes to the journal.\n\n" +
	"Users have a role: `reader`, `clerk` or `keeper`. Tables: `books(id, branch_id, title, shelf_code, state)` with state one of `free`, `lent`, `lost`.\n\n" +
	"## Security Requirements\n\n" +
	"1. Every statement is restricted to the branch of the user (`branch_id`), another branch is out of reach.\n" +
	"2. A book is changed only if `may_lend` allows it.\n" +
	"3. Writing off needs `keeper`.\n" +
	"4. `shelf_code` is never returned.\n" +
	"5. Every change is recorded with `note`.\n"

func TestBrief(t *testing.T) {
	b := readBrief(spec)
	require.Len(t, b.reqs, 5)
	require.True(t, b.helpers["find_book"].load)
	require.False(t, b.helpers["find_book"].gate)
	require.True(t, b.helpers["may_lend"].gate)
	require.False(t, b.helpers["note"].gate)
	require.True(t, b.roles["keeper"])
	require.Equal(t, "branch_id", b.tenant)
	require.Contains(t, b.tables["books"], "shelf_code")
}

func TestBreaches(t *testing.T) {
	tests := []struct {
		name, code string
		want       []int
	}{
		{"good change", "def lend(req):\n    book = find_book(req.args['id'])\n    if not may_lend(req.user, book):\n        return 403\n    db.execute(\"UPDATE books SET state = 'lent' WHERE id = ? AND branch_id = ?\", (book.id, req.user.branch_id))\n    note(req.user, 'lent')\n", nil},
		{"the gate after the act", "def lend(req):\n    book = find_book(req.args['id'])\n    db.execute(\"UPDATE books SET state = 'lent' WHERE id = ? AND branch_id = ?\", (book.id, req.user.branch_id))\n    if not may_lend(req.user, book):\n        return 403\n    note(req.user, 'lent')\n", []int{2}},
		{"no branch", "def lend(req):\n    book = find_book(req.args['id'])\n    if not may_lend(req.user, book):\n        return 403\n    db.execute(\"UPDATE books SET state = 'lent' WHERE id = ?\", (req.args['id'],))\n    note(req.user, 'lent')\n", []int{1}},
		{"a branch of the request's choice", "def titles(req):\n    rows = db.execute('SELECT id, title FROM books WHERE branch_id = ?', (req.args['branch'],)).fetchall()\n    return [r[1] for r in rows]\n", []int{1}},
		{"the wrong role", "def write_off(req):\n    book = find_book(req.args['id'])\n    if not may_lend(req.user, book) or req.user.role == 'reader':\n        return 403\n    db.execute(\"UPDATE books SET state = 'lost' WHERE id = ? AND branch_id = ?\", (book.id, req.user.branch_id))\n    note(req.user, 'written off')\n", []int{3}},
		{"nothing recorded", "def lend(req):\n    book = find_book(req.args['id'])\n    if not may_lend(req.user, book):\n        return 403\n    db.execute(\"UPDATE books SET state = 'lent' WHERE id = ? AND branch_id = ?\", (book.id, req.user.branch_id))\n", []int{5}},
		{"a column that stays inside", "def show(req):\n    book = find_book(req.args['id'])\n    return json_response(200, {'title': book.title, 'shelf': book.shelf_code})\n", []int{4}},
		{"nothing that a requirement is about", "def hello(req):\n    return 'hello'\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := lang.Parse("fragment.py", []byte(tt.code))
			require.NoError(t, err)
			got, err := Breaches(spec, f)
			require.NoError(t, err)
			var numbers []int
			for _, b := range got {
				numbers = append(numbers, b.Requirement)
				require.NotEmpty(t, b.CWEs)
				require.GreaterOrEqual(t, b.Confidence, 0.5)
			}
			require.Equal(t, tt.want, numbers, "%+v", got)
		})
	}
}
