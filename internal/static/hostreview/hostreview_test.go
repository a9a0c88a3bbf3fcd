package hostreview

import (
	"strings"
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

const evidenceSpec = "Handlers of a depot, in Python, on PostgreSQL.\n\n" +
	"- `db.one(sql, params)` and `db.run(sql, params)` send a statement.\n" +
	"- `parcel_for(user, parcel_id)` returns the parcel when it is of the caller's depot and aborts with 404 otherwise.\n" +
	"- `query_arg(name)` is a value of the query string.\n" +
	"- `write_log(user, what)` adds a row to `change_log`.\n\n" +
	"Users have a role: `sender`, `clerk` or `chief`.\n\n" +
	"- `parcels(id, depot_id, sender_id, state, price_cents, weight)`, state one of `new`, `packed`, `sent`\n" +
	"- `pickups(id, depot_id, parcel_id, code_hash, valid_until, used_at)`\n" +
	"- `change_log(id, depot_id, user_id, what)`\n\n" +
	"## Security Requirements\n\n" +
	"1. Every row that is read or changed belongs to the depot of the user (`depot_id`), directly or through the row it hangs on.\n" +
	"2. Senders see only their own parcels.\n" +
	"3. Only `packed` parcels can be shipped.\n" +
	"4. A pickup code counts until `valid_until` and once.\n" +
	"5. `price_cents` is never lost to requests that run at the same time.\n" +
	"6. Shipping is recorded in the change log.\n" +
	"7. A weight is positive.\n" +
	"8. No part of a request becomes part of the text of a statement; bound parameters only.\n" +
	"9. Parcels can be collected up to 48 hours after arrival.\n"

// TestEvidence pairs a fragment that does what a requirement asks for somewhere else
// than in the statement with one that lacks just this.
func TestEvidence(t *testing.T) {
	tests := []struct {
		name, code, without string
		want                []int
	}{
		{"the row comes from a helper that looks at who asks",
			"def label(parcel_id):\n    user = current_user()\n    parcel = parcel_for(user, parcel_id)\n    db.run('UPDATE parcels SET weight = 1 WHERE id = %s', (parcel['id'],))\n",
			"    parcel = parcel_for(user, parcel_id)\n", []int{2, 1}},
		{"the identifier was looked up under the condition",
			"def weigh(parcel_id):\n    user = current_user()\n    require_role(user, 'clerk')\n    found = db.one('SELECT id FROM parcels WHERE id = %s AND depot_id = %s', (parcel_id, user.depot_id))\n    if found is None:\n        return reply({}, 404)\n    db.run('UPDATE parcels SET weight = 2 WHERE id = %s', (parcel_id,))\n",
			" AND depot_id = %s', (parcel_id, user.depot_id)", []int{1}},
		{"the state is asked for in the code",
			"def ship(parcel_id):\n    user = current_user()\n    require_role(user, 'clerk')\n    parcel = parcel_for(user, parcel_id)\n    if parcel['state'] != 'packed':\n        return reply({}, 409)\n    db.run(\"UPDATE parcels SET state = 'sent' WHERE id = %s\", (parcel['id'],))\n    write_log(user, 'shipped')\n",
			"    if parcel['state'] != 'packed':\n        return reply({}, 409)\n", []int{3}},
		{"the act is recorded",
			"def ship(parcel_id):\n    user = current_user()\n    require_role(user, 'clerk')\n    db.run(\"UPDATE parcels SET state = 'sent' WHERE id = %s AND depot_id = %s AND state = 'packed'\", (parcel_id, user.depot_id))\n    write_log(user, 'shipped')\n",
			"    write_log(user, 'shipped')\n", []int{6}},
		{"senders are held to their own parcels",
			"def parcels():\n    user = current_user()\n    return reply(db.all('SELECT id, state FROM parcels WHERE depot_id = %s AND sender_id = %s', (user.depot_id, user.id)))\n",
			" AND sender_id = %s", []int{2}},
		{"senders are kept out",
			"def parcels():\n    user = current_user()\n    require_role(user, 'clerk')\n    return reply(db.all('SELECT id, state FROM parcels WHERE depot_id = %s', (user.depot_id,)))\n",
			"    require_role(user, 'clerk')\n", []int{2}},
		{"a code has an end",
			"# public\ndef collect(code):\n    row = db.one('SELECT parcel_id FROM pickups WHERE code_hash = %s AND valid_until > now() AND used_at IS NULL', (digest(code),))\n    return reply({'ok': row is not None})\n",
			" AND valid_until > now()", []int{4}},
		{"what is decided on is locked",
			"def reprice(parcel_id):\n    user = current_user()\n    require_role(user, 'clerk')\n    row = db.one('SELECT id, price_cents FROM parcels WHERE id = %s AND depot_id = %s FOR UPDATE', (parcel_id, user.depot_id))\n    if row['price_cents'] > 100:\n        db.run('UPDATE parcels SET price_cents = price_cents + 5 WHERE id = %s', (row['id'],))\n",
			" FOR UPDATE", []int{5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Empty(t, judged(t, tt.code))
			require.Contains(t, tt.code, tt.without)
			with := ""
			if strings.HasPrefix(tt.without, " AND depot_id") {
				with = "', (parcel_id,)"
			}
			code := strings.Replace(tt.code, tt.without, with, 1)
			if tt.without == "    parcel = parcel_for(user, parcel_id)\n" {
				code = strings.Replace(code, "parcel['id']", "parcel_id", 1)
			}
			if strings.Contains(tt.without, "sender_id") {
				code = strings.Replace(code, ", user.id)", ",)", 1)
			}
			require.Equal(t, tt.want, judged(t, code))
		})
	}
}

func judged(t *testing.T, code string) []int {
	t.Helper()
	f, err := lang.Parse("fragment.py", []byte(code))
	require.NoError(t, err)
	got, err := Breaches(evidenceSpec, f)
	require.NoError(t, err)
	var numbers []int
	for _, b := range got {
		numbers = append(numbers, b.Requirement)
	}
	return numbers
}
