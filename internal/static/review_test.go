package static

import (
	"context"
	"testing"

	"assay/audit"

	"github.com/stretchr/testify/require"
)

const reviewSpec = `# Notes service

Users keep notes.

## Security Requirements

1. All SQL must use bound parameters; nothing from a request may be concatenated into a statement.
2. A user may read only their own notes.
3. Responses must never include the password hash.
4. Tokens must be compared in constant time.
5. At most 100 notes may be returned at once.
`

func TestReviewCode(t *testing.T) {
	tests := []struct {
		name, lang, code string
		want             audit.Label
		violates         []int
	}{
		{"js concatenation", "js", "app.get('/notes', async (req, res) => {\n  const rows = await db.query(\"SELECT id, text FROM notes WHERE owner_id = \" + req.user.id + \" AND tag = '\" + req.query.tag + \"' LIMIT 100\");\n  res.json(rows.slice(0, 100));\n});", audit.Bad, []int{1}},
		{"js safe", "js", "app.get('/notes', async (req, res) => {\n  const rows = await db.query('SELECT id, text FROM notes WHERE owner_id = ? LIMIT ?', [req.user.id, Math.min(100, n)]);\n  res.json(rows);\n});", audit.Good, nil},
		{"python no owner", "python", "def note(id):\n    # the owner was checked by the caller\n    row = db.execute('SELECT id, text FROM notes WHERE id = ?', (id,)).fetchone()\n    return jsonify(row)\n", audit.Bad, []int{2}},
		{"go method without package", "go", "func (s *Server) note(w http.ResponseWriter, r *http.Request) {\n\trow := s.db.QueryRow(\"SELECT text FROM notes WHERE id = $1 AND owner_id = $2\", r.PathValue(\"id\"), userID(r))\n\t_ = row\n}", audit.Good, nil},
		{"go compare", "go", "func check(given, want string) bool {\n\treturn given == want // token\n}\nfunc h(token string) bool { return check(token, secret) }", audit.Bad, []int{4}},
		{"java fragment", "java", "@GetMapping(\"/notes\")\npublic List<Note> notes(@RequestParam String tag, Principal p) {\n  return jdbcTemplate.query(\"SELECT * FROM notes WHERE owner = '\" + p.getName() + \"' AND tag = '\" + tag + \"'\", mapper);\n}", audit.Bad, []int{1}},
		{"js raw answer", "js", "app.get('/x', (req, res) => {\n  res.send('<b>' + req.query.q + '</b>');\n});", audit.Bad, nil},
		{"js raw answer that is no page", "js", "app.get('/x', (req, res) => {\n  res.set({ 'Content-Type': 'application/octet-stream' });\n  res.send('<b>' + req.query.q + '</b>');\n});", audit.Good, nil},
		{"python order from a request", "python", "def notes(request):\n    order = request.args.get('sort')\n    return db.execute(f'SELECT id FROM notes WHERE owner_id = ? ORDER BY {order} LIMIT 100', (session['user_id'],)).fetchall()\n", audit.Bad, []int{1}},
		{"python order from a list of its own", "python", "SORTS = {'new': 'id DESC', 'old': 'id'}\n\n\ndef notes(request):\n    order = SORTS.get(request.args.get('sort'), 'id')\n    return db.execute(f'SELECT id FROM notes WHERE owner_id = ? ORDER BY {order} LIMIT 100', (session['user_id'],)).fetchall()\n", audit.Good, nil},
		{"php without tag", "php", "$st = $pdo->prepare('SELECT id, text FROM notes WHERE user_id = ?');\n$st->execute([$_SESSION['user_id']]);", audit.Good, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rev, err := New(Options{}).ReviewCode(context.Background(), audit.ReviewTask{Spec: reviewSpec, Language: tt.lang, Code: tt.code})
			require.NoError(t, err)
			require.Equal(t, audit.Answered, rev.Status)
			require.Equal(t, tt.want, rev.Verdict, rev.Explanation)
			for _, n := range tt.violates {
				require.Contains(t, rev.Violates, n, rev.Explanation)
			}
		})
	}
}

func TestReviewUnknownLanguage(t *testing.T) {
	rev, err := New(Options{}).ReviewCode(context.Background(), audit.ReviewTask{Language: "cobol", Code: "MOVE A TO B."})
	require.NoError(t, err)
	require.Equal(t, audit.Malformed, rev.Status)
	require.Contains(t, rev.Detail, "cobol")
}
