package auditor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// What an agent is told is in its command line, in files of the root, and in the
// folder that becomes its home; a change of any of them is a change of its prompt.
func TestPromptHash(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	write("prompts/audit.txt", "find flaws")
	write("prompts/skills/sql/note.md", "look at strings")
	write("README.md", "about")
	agent := audit.AuditorEntry{Name: "agent", Kind: "agent", Command: "agent audit",
		Prompt: []string{"prompts/**", "$ASSAY_AGENT_HOME/**"}, Root: root,
		Pos: audit.Pos{File: "auditors.md", Line: 7}}
	t.Setenv("ASSAY_AGENT_HOME", "")
	last := map[string]string{}
	differs := func(what string) {
		t.Helper()
		h, err := PromptHash(agent)
		require.NoError(t, err)
		require.Len(t, h, 64)
		require.Empty(t, last[h], "%s: as before", what)
		last[h] = what
	}
	differs("first")
	write("prompts/audit.txt", "find all flaws")
	differs("a file's content")
	require.NoError(t, os.Rename(filepath.Join(root, "prompts/audit.txt"),
		filepath.Join(root, "prompts/audit2.txt")))
	differs("a file's name")
	agent.Command = "agent audit --deep"
	differs("the command line")
	agent.Command += ` "$(cat $ASSAY_FORMAT)"`
	differs("the format")
	home := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".claude/skills"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".claude/skills/audit.md"),
		[]byte("carefully"), 0o644))
	t.Setenv("ASSAY_AGENT_HOME", home)
	differs("the agent's home")

	before, err := PromptHash(agent)
	require.NoError(t, err)
	write("README.md", "about it")
	after, err := PromptHash(agent)
	require.NoError(t, err)
	require.Equal(t, before, after, "what is no part of it says nothing")

	agent.Prompt = []string{"prompts/none.txt"}
	_, err = PromptHash(agent)
	require.ErrorContains(t, err,
		"auditors.md:7: agent: Prompt prompts/none.txt: no file matches below ")
	tool, err := PromptHash(audit.AuditorEntry{Kind: "tool", Command: "bandit ."})
	require.NoError(t, err)
	require.Empty(t, tool)
}
