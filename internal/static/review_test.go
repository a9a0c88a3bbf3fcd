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
		{"js path", "js", "app.get('/notes', async (req, res) => {\n  res.send(fs.readFileSync('/srv/notes/' + req.query.name));\n});", audit.Bad, 22},
		{"js bound", "js", "app.get('/notes', async (req, res) => {\n  const rows = await db.query('SELECT id, text FROM notes WHERE owner_id = ? LIMIT ?', [req.user.id, Math.min(100, n)]);\n  res.json(rows);\n});", audit.Good, 0},
		{"go method without package", "go", "func (s *Server) note(w http.ResponseWriter, r *http.Request) {\n\trow := s.db.QueryRow(\"SELECT text FROM notes WHERE id = $1 AND owner_id = $2\", r.PathValue(\"id\"), userID(r))\n\t_ = row\n}", audit.Good, 0},
		{"java fragment", "java", "@GetMapping(\"/notes\")\npublic List<Note> notes(@RequestParam String tag, Principal p) {\n  return jdbcTemplate.query(\"SELECT * FROM notes WHERE owner = '\" + p.getName() + \"' AND tag = '\" + tag + \"'\", mapper);\n}", audit.Bad, 89},
		{"go order from a request", "go", "func (s *Server) notes(w http.ResponseWriter, r *http.Request) {\n\ts.db.Query(\"SELECT id FROM notes WHERE owner_id = $1 ORDER BY \"+r.FormValue(\"sort\"), userID(r))\n}", audit.Bad, 89},
		{"php without tag", "php", "$st = $pdo->prepare('SELECT id, text FROM notes WHERE user_id = ?');\n$st->execute([$_SESSION['user_id']]);", audit.Good, 0},
		{"sql has no flow", "sql", "select id, text from notes where owner_id = :user", audit.Good, 0},
		{"a change makes it bad", "python", audit.JoinBlocks([]audit.Block{
			{Path: "notes.py", Code: "def note(request):\n    name = request.GET['name']\n    return len(name)\n"},
			{Language: "diff", Code: "--- a/notes.py\n+++ b/notes.py\n@@ -2,2 +2,2 @@\n     name = request.GET['name']\n-    return len(name)\n+    return HttpResponse(os.popen('ls ' + name))\n"}}), audit.Bad, 78},
		{"a change makes it good", "python", audit.JoinBlocks([]audit.Block{
			{Path: "notes.py", Code: "def note(request):\n    name = request.GET['name']\n    return HttpResponse(os.popen('ls ' + name))\n"},
			{Language: "diff", Code: "--- a/notes.py\n+++ b/notes.py\n@@ -2,2 +2,2 @@\n     name = request.GET['name']\n-    return HttpResponse(os.popen('ls ' + name))\n+    return len(name)\n"}}), audit.Good, 0},
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
