package auditor_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/auditor"

	"github.com/stretchr/testify/require"
)

func TestCommandReviewer(t *testing.T) {
	t.Setenv("OPENROUTER_API_KEY", canary)
	t.Setenv("AGENT_TOKEN", "let-through")
	answer := `echo '{"verdict":"bad","explanation":"because","violates":[2]}'`
	for _, c := range []struct {
		name, command, output string
		status                audit.Status
		detail                string // of the review; of an answer, its explanation
		fatal                 string
	}{
		{"answers", answer, "", audit.Answered, "because", ""},
		{"reads the prompt from standard input", `read -r first; test "$first" = "# A shop" && ` +
			answer, "", audit.Answered, "because", ""},
		{"reads the prompt from a file", `grep -q "SELECT 1" "$ASSAY_PROMPT" && ` + answer, "",
			audit.Answered, "because", ""},
		{"answers in a file", `echo noise; ` + answer + ` > "$ASSAY_OUT/answer.json"`,
			"answer.json", audit.Answered, "because", ""},
		{"answers in no file", answer, "answer.json", audit.Errored, "wrote no report", ""},
		{"answers nothing", "true", "", audit.Malformed, "empty", ""},
		{"answers nothing, and says why", "echo not logged in >&2", "", audit.Malformed,
			"the reply is empty; it ended with: not logged in", ""},
		{"refuses", `echo "I'm sorry, but I can't help with that."`, "", audit.Refused,
			"declined", ""},
		{"fails", "echo out of luck >&2; exit 3", "", audit.Errored,
			"exit status 3: out of luck", ""},
		{"is killed", "kill -9 $$", "", audit.Errored, "killed by a signal (killed)", ""},
		{"is not there", "no-such-program-here", "", audit.Errored, "cannot be run",
			"exit status 127"},
		{"ends in its time", "sleep 60", "", audit.Errored, "no answer within 300ms", ""},
		{"gets no key", `test -z "$OPENROUTER_API_KEY" && ` + answer, "", audit.Answered,
			"because", ""},
		{"gets what it is allowed", `test "$AGENT_TOKEN" = let-through && ` + answer, "",
			audit.Answered, "because", ""},
		{"does not read standard input", "exec 0<&-; " + answer, "", audit.Answered, "because", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := audit.AuditorEntry{Name: "agent", Kind: "agent", Command: c.command,
				Output: c.output, Timeout: 5 * time.Minute,
				Env: []string{"AGENT_TOKEN"}, Pos: audit.Pos{File: "auditors.md", Line: 3}}
			if c.name == "ends in its time" {
				e.Timeout = 300 * time.Millisecond
			}
			r, err := auditor.CommandReviewer(e).Review(context.Background(), task)
			require.Equal(t, c.status, r.Status, r.Detail)
			require.Contains(t, r.Detail+r.Explanation, c.detail)
			require.Len(t, r.Attempts, 1)
			if c.fatal == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.fatal)
			require.ErrorContains(t, err, "auditors.md:3")
		})
	}
}

func TestCommandReviewerStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := auditor.CommandReviewer(audit.AuditorEntry{Name: "a",
		Command: "sleep 60"}).Review(ctx, task)
	require.NoError(t, err)
	require.Equal(t, audit.Errored, r.Status)
	require.Contains(t, r.Detail, "stopped")
}

// An edited program is another reviewer: its answers are not taken for the old one's.
func TestCommandSettingsFollowTheProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "review.sh")
	settings := func() string {
		r := auditor.CommandReviewer(audit.AuditorEntry{Name: "a", Command: "sh " + program +
			" --fast"})
		return r.(interface{ Settings() string }).Settings()
	}
	none := settings()
	require.NoError(t, os.WriteFile(program, []byte("echo good"), 0o600))
	first := settings()
	require.NoError(t, os.WriteFile(program, []byte("echo bad"), 0o600))
	require.NotEqual(t, none, first)
	require.NotEqual(t, first, settings())
}

func TestEmbeddedReviewer(t *testing.T) {
	s, err := auditor.Registry{}.Reviewer("patterns")
	require.NoError(t, err)
	require.Equal(t, "patterns", s.Name())
	r, err := s.Review(context.Background(), task)
	require.NoError(t, err)
	require.Equal(t, audit.Good, r.Verdict)
	pasted := task
	pasted.Language, pasted.Code = "python", `def find(request, cur): cur.execute("SELECT * FROM t WHERE n = '" + request.GET["n"] + "'")`
	r, err = s.Review(context.Background(), pasted)
	require.NoError(t, err)
	require.Equal(t, audit.Bad, r.Verdict)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err = s.Review(ctx, task)
	require.NoError(t, err)
	require.Equal(t, audit.Errored, r.Status)
}
