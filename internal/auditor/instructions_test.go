package auditor

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// What an agent is told is in its command line, in files of the root, and in the
// folder that becomes its home; a change of any of them is a change of its prompt.
func TestPromptHash(t *testing.T) {
	files := fstest.MapFS{
		"prompts/audit.txt":          {Data: []byte("find flaws")},
		"prompts/skills/sql/note.md": {Data: []byte("look at strings")},
		"README.md":                  {Data: []byte("about")},
	}
	agent := audit.AuditorEntry{Name: "agent", Kind: "agent", Command: "agent audit", Prompt: []string{"prompts/**", "$ASSAY_AGENT_HOME/**"}, Pos: audit.Pos{File: "auditors.md", Line: 7}}
	t.Setenv("ASSAY_AGENT_HOME", "")
	last := map[string]string{}
	differs := func(what string) {
		t.Helper()
		h, err := PromptHash(files, agent)
		require.NoError(t, err)
		require.Len(t, h, 64)
		require.Empty(t, last[h], "%s: as before", what)
		last[h] = what
	}
	differs("first")
	files["prompts/audit.txt"].Data = []byte("find all flaws")
	differs("a file's content")
	files["prompts/audit2.txt"] = files["prompts/audit.txt"]
	delete(files, "prompts/audit.txt")
	differs("a file's name")
	agent.Command = "agent audit --deep"
	differs("the command line")
	agent.Command += ` "$(cat $ASSAY_FORMAT)"`
	differs("the format")
	home := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".claude/skills"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".claude/skills/audit.md"), []byte("carefully"), 0o644))
	t.Setenv("ASSAY_AGENT_HOME", home)
	differs("the agent's home")

	before, err := PromptHash(files, agent)
	require.NoError(t, err)
	files["README.md"].Data = []byte("about it")
	after, err := PromptHash(files, agent)
	require.NoError(t, err)
	require.Equal(t, before, after, "what is no part of it says nothing")

	agent.Prompt = []string{"prompts/none.txt"}
	_, err = PromptHash(files, agent)
	require.EqualError(t, err, "auditors.md:7: agent: its prompt prompts/none.txt: no file matches: expected the files that instruct it")
	tool, err := PromptHash(files, audit.AuditorEntry{Kind: "tool", Command: "bandit ."})
	require.NoError(t, err)
	require.Empty(t, tool)
}
