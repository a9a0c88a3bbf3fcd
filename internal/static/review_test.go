package static

import (
	"context"
	"testing"

	"assay/audit"

	"github.com/stretchr/testify/require"
)

func TestReview(t *testing.T) {
	tests := []struct {
		name, lang, code string
		want             audit.Label
		cwe              audit.CWE
	}{
		{"js concatenation", "js", "app.get('/notes', async (req, res) => {\n  const rows = await db.query(\"SELECT id, text FROM notes WHERE owner_id = \" + req.user.id + \" AND tag = '\" + req.query.tag + \"' LIMIT 100\");\n  res.json(rows.slice(0, 100));\n});", audit.Bad, 89},
		{"js bound", "js", "app.get('/notes', async (req, res) => {\n  const rows = await db.query('SELECT id, text FROM notes WHERE owner_id = ? LIMIT ?', [req.user.id, Math.min(100, n)]);\n  res.json(rows);\n});", audit.Good, 0},
		{"go method without package", "go", "func (s *Server) note(w http.ResponseWriter, r *http.Request) {\n\trow := s.db.QueryRow(\"SELECT text FROM notes WHERE id = $1 AND owner_id = $2\", r.PathValue(\"id\"), userID(r))\n\t_ = row\n}", audit.Good, 0},
		{"java fragment", "java", "@GetMapping(\"/notes\")\npublic List<Note> notes(@RequestParam String tag, Principal p) {\n  return jdbcTemplate.query(\"SELECT * FROM notes WHERE owner = '\" + p.getName() + \"' AND tag = '\" + tag + \"'\", mapper);\n}", audit.Bad, 89},
		{"js raw answer", "js", "app.get('/x', (req, res) => {\n  res.send('<b>' + req.query.q + '</b>');\n});", audit.Bad, 79},
		{"python order from a request", "python", "def notes(request):\n    order = request.args.get('sort')\n    return db.execute(f'SELECT id FROM notes WHERE owner_id = ? ORDER BY {order} LIMIT 100', (session['user_id'],)).fetchall()\n", audit.Bad, 89},
		{"python order from a list of its own", "python", "SORTS = {'new': 'id DESC', 'old': 'id'}\n\n\ndef notes(request):\n    order = SORTS.get(request.args.get('sort'), 'id')\n    return db.execute(f'SELECT id FROM notes WHERE owner_id = ? ORDER BY {order} LIMIT 100', (session['user_id'],)).fetchall()\n", audit.Good, 0},
		{"php without tag", "php", "$st = $pdo->prepare('SELECT id, text FROM notes WHERE user_id = ?');\n$st->execute([$_SESSION['user_id']]);", audit.Good, 0},
		{"sql has no flow", "sql", "select id, text from notes where owner_id = :user", audit.Good, 0},
		{"sql by its look", "", "update notes set text = :text where id = :id", audit.Good, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rev, err := New(Options{}).Review(context.Background(), audit.ReviewTask{Language: tt.lang, Code: tt.code})
			require.NoError(t, err)
			require.Equal(t, audit.Answered, rev.Status)
			require.Equal(t, tt.want, rev.Verdict, rev.Explanation)
			require.Empty(t, rev.Violates, "it reads no requirements")
			if tt.cwe != 0 {
				require.Contains(t, rev.CWEs, tt.cwe, rev.Explanation)
			}
		})
	}
}

func TestReviewUnknownLanguage(t *testing.T) {
	rev, err := New(Options{}).Review(context.Background(), audit.ReviewTask{Language: "cobol", Code: "MOVE A TO B."})
	require.NoError(t, err)
	require.Equal(t, audit.Malformed, rev.Status)
	require.Contains(t, rev.Detail, "cobol")
}

// FuzzFragment: no fragment and no language makes the reviewer panic.
func FuzzFragment(f *testing.F) {
	for language, file := range fragmentFiles {
		f.Add(language, "func f() { x := \"a\" + b }\n"+file)
	}
	f.Add("", "select 1")
	f.Fuzz(func(t *testing.T, language, code string) {
		if len(code) > 1<<14 {
			return
		}
		rev, err := New(Options{Workers: 1}).Review(context.Background(), audit.ReviewTask{Language: language, Code: code})
		if err != nil {
			t.Fatal(err)
		}
		if rev.Status == audit.Answered && rev.Verdict == "" {
			t.Fatal("answered without a verdict")
		}
	})
}
