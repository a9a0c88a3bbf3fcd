package hostreview

import (
	"strings"
	"testing"

	"assay/internal/static/lang"

	"github.com/stretchr/testify/require"
)

// shapeSpec has requirements of many words, so that nothing but shapes and proofs is heard.
var shapeSpec = "# Yard\n\nOne program on PostgreSQL.\n\n- `journal(conn, what, id)` writes a line of the journal.\n- `tx(fn)` runs a function in a transaction.\n- `await mustBe(conn, role)` throws 403 unless the user has the role.\n\n## Schema\n\n```sql\n" +
	"CREATE TABLE boats (id bigint PRIMARY KEY, yard_id bigint, name text, status text, asked_by bigint, approved_by bigint, seats int, deleted_at timestamptz);\n" +
	"CREATE TABLE berths (id bigint PRIMARY KEY, yard_id bigint, boat_id bigint, status text);\n" +
	"CREATE TABLE helpers (yard_id bigint, helper_id bigint, owner_id bigint, valid_from timestamptz, valid_until timestamptz, revoked_at timestamptz);\n" +
	"CREATE TABLE links (id bigint PRIMARY KEY, yard_id bigint, token_hash text, expires_at timestamptz);\n```\n\n## Security Requirements\n\n" +
	"1. **Yards.** Rows belong to the acting yard (`yard_id`) and are kept separate" + filler +
	"2. **Simultaneous sessions.** Interleaved requests are locked" + filler +
	"3. **Lists.** A list has at most 50 rows" + filler +
	"4. **Programs.** A shell is not used for programs, and no text is taken for an option" + filler +
	"5. **Signatures.** A message is signed with HMAC" + filler +
	"6. **Logs.** What is logged holds no address" + filler +
	"7. **HTML.** Text is escaped in markup" + filler +
	"8. **Journal.** Changes are recorded in the journal in the same transaction" + filler +
	"9. **Own cause.** Nobody approves for himself" + filler +
	"10. **States.** The status has transitions" + filler +
	"11. **Dead rows.** Deleted rows are absent" + filler +
	"12. **Mandates.** A mandate is in force while valid and not revoked" + filler +
	"13. **Tokens.** Links expire" + filler +
	"14. **Parameters.** Values reach SQL as parameters" + filler +
	"15. **Time zone.** Today is the calendar day of the yard's time zone" + filler +
	"16. **Fields.** Of a body named fields are used" + filler

var filler = "." + strings.Repeat(" Much else goes on here that nobody needs to think of twice, come rain or shine.", 3) + "\n"

// TestShapes pairs code that is right with the same code after one slip.
func TestShapes(t *testing.T) {
	tests := []struct{ kind, file, good, from, to string }{
		{"mixed or", "f.js", "db.query('SELECT id FROM boats WHERE yard_id = $1 AND (name = $2 OR seats = $3)', [req.user.yardId, a, b]);\n", "(name = $2 OR seats = $3)", "name = $2 OR seats = $3"},
		{"counted apart", "f.js", "await c.query('SELECT 1 FROM yards WHERE id = $1 FOR UPDATE', [y]);\nconst n = await c.query('SELECT count(*) AS n FROM boats WHERE yard_id = $1', [y]);\nif (n.rows[0].n > 9) stop(409);\nawait c.query('INSERT INTO boats (yard_id, name) VALUES ($1, $2)', [y, name]);\n", " FOR UPDATE", ""},
		{"parent unlocked", "f.py", "def f(boat_id):\n    row = conn.execute('SELECT id, status FROM boats WHERE id = %s AND yard_id = %s AND deleted_at IS NULL FOR UPDATE', (boat_id, g.user.yard_id)).fetchone()\n    if row['status'] != 'free':\n        abort(409)\n    conn.execute('INSERT INTO berths (yard_id, boat_id) VALUES (%s, %s)', (g.user.yard_id, boat_id))\n", " FOR UPDATE", ""},
		{"no upper bound", "f.js", "const n = Math.min(Number(req.query.n), 50);\ndb.query('SELECT id FROM boats WHERE yard_id = $1 LIMIT $2', [req.user.yardId, n]);\n", "Math.min(Number(req.query.n), 50)", "Math.max(Number(req.query.n), 50)"},
		{"shell", "f.py", "def f(t):\n    subprocess.run(['lpr', '--', t], timeout=5)\n", "['lpr', '--', t]", "f'lpr -- {t}', shell=True"},
		{"bare mac", "f.js", "const signature = crypto.createHmac('sha256', secret).update(body).digest('hex');\n", "createHmac('sha256', secret)", "createHash('sha256').update(secret)"},
		{"logged request", "f.js", "log.info({ id }, 'opened');\n", "{ id }", "{ id, from: req.originalUrl }"},
		{"trusted markup", "f.js", "const text = d.text.length > 3 ? esc(d.text) : '';\n", "esc(d.text)", "d.text.replace(/<[^>]*>/g, '')"},
		{"apart from record", "f.js", "await tx(async (c) => {\n  await c.query('UPDATE boats SET name = $1 WHERE id = $2 AND yard_id = $3', [a, b, y]);\n  await journal(c, 'named', b);\n});\n", "  await journal(c, 'named', b);\n});\n", "});\nawait tx(async (c) => journal(c, 'named', b));\n"},
		{"own cause", "f.js", "db.query(\"UPDATE boats SET approved_by = $1 WHERE id = $2 AND yard_id = $3 AND asked_by <> $1\", [req.user.id, id, req.user.yardId]);\n", " AND asked_by <> $1", ""},
		{"blind move", "f.js", "db.query(\"UPDATE boats SET status = 'gone' WHERE id = $1 AND yard_id = $2 AND status = 'here' AND deleted_at IS NULL\", [id, req.user.yardId]);\n", " AND status = 'here'", ""},
		{"half a term", "f.js", "db.query('SELECT b.id FROM boats b WHERE b.yard_id = $1 AND EXISTS (SELECT 1 FROM helpers h WHERE h.helper_id = $2 AND h.valid_from <= now() AND h.valid_until > now() AND h.revoked_at IS NULL)', [req.user.yardId, req.user.id]);\n", " AND h.revoked_at IS NULL", ""},
		{"endless token", "f.js", "db.query('SELECT id FROM links WHERE token_hash = $1 AND expires_at > now()', [hash]);\n", " AND expires_at > now()", ""},
		{"open order", "f.js", "const dir = req.query.dir === 'asc' ? 'ASC' : 'DESC';\ndb.query(`SELECT id FROM boats WHERE yard_id = $1 ORDER BY name ${dir}`, [req.user.yardId]);\n", "req.query.dir === 'asc' ? 'ASC' : 'DESC'", "String(req.query.dir).toUpperCase()"},
		{"server's day", "f.js", "db.query(\"SELECT (now() AT TIME ZONE $1)::date\", [zone]);\n", "(now() AT TIME ZONE $1)::date", "CURRENT_DATE"},
		{"open fields", "f.js", "for (const k of Object.keys(req.body)) {\n  if (!['name'].includes(k)) stop(400);\n}\n", "!['name'].includes(k)) stop(400)", "['id'].includes(k)) continue"},
		{"gone row", "f.js", "db.query('SELECT name FROM boats WHERE id = $1 AND yard_id = $2 AND deleted_at IS NULL', [req.params.id, req.user.yardId]);\n", " AND deleted_at IS NULL", ""},
		{"tenant missing", "f.js", "db.query('SELECT name FROM boats WHERE id = $1 AND yard_id = $2 AND deleted_at IS NULL', [req.params.id, req.user.yardId]);\n", " AND yard_id = $2", ""},
		{"not awaited", "f.js", "async function f(c) {\n  await mustBe(c, 'head');\n}\n", "await mustBe", "mustBe"},
		{"undone count", "f.js", "await tx(async (c) => {\n  await c.query('UPDATE links SET attempts = attempts + 1 WHERE id = $1', [id]);\n});\nthrow new Error('wrong');\n", "});\nthrow new Error('wrong');\n", "  throw new Error('wrong');\n});\n"},
		{"option", "f.go", "package f\n\nfunc f() {\n\tvar number string\n\ts.DB.QueryRow(`SELECT name FROM boats WHERE id = $1 AND yard_id = $2 AND deleted_at IS NULL`, id, a.YardID).Scan(&number)\n\texec.CommandContext(ctx, bin, \"--\", number).Output()\n}\n", "\"--\", ", ""},
	}
	for _, tt := range tests {
		t.Run(tt.kind, func(t *testing.T) {
			require.Contains(t, tt.good, tt.from)
			require.NotContains(t, shapesIn(t, tt.file, tt.good), tt.kind)
			require.Contains(t, shapesIn(t, tt.file, strings.Replace(tt.good, tt.from, tt.to, 1)), tt.kind)
		})
	}
}

// shapesIn gives the shapes that the code is told to have.
func shapesIn(t *testing.T, file, code string) []string {
	t.Helper()
	f, err := lang.Parse(file, []byte(code))
	require.NoError(t, err)
	v := newView(readBrief(shapeSpec), f)
	var out []string
	for _, s := range shapes {
		if s.find(v) != "" {
			out = append(out, s.kind)
		}
	}
	return out
}
