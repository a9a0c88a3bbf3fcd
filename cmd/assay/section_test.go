package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/fixture"
)

// sectionOf returns the section that is written for a command line in a root with these files.
func sectionOf(t *testing.T, what string, files map[string]string) (audit.AuditorEntry, section) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o755))
	}
	flags := auditorFlags{Cost: "0.50", Reaches: []string{"api.example.com"},
		Environment: []string{"MY_API_KEY", "REGION"}, Format: "auto", Timeout: "30m"}
	s, err := flags.section(root, "", what)
	require.NoError(t, err)
	text, err := withSection(root, s)
	require.NoError(t, err)
	require.NotContains(t, text, root, "no path of this machine")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "fixtures"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "fixtures/auditors.md"),
		[]byte(text), 0o644))
	all, err := fixture.ReadAuditors(os.DirFS(root), "fixtures/auditors.md")
	require.NoError(t, err)
	return all[len(all)-1], s
}

// TestSections: what a command line, a model or the folder of a skill becomes.
func TestSections(t *testing.T) {
	e, s := sectionOf(t, "sh agent/agent.sh --depth 2",
		map[string]string{"agent/agent.sh": "python3 agent.py", "agent/agent.py": ""})
	require.Equal(t, "agent", e.Name)
	require.Equal(t, `sh "$ASSAY_FILES/agent/agent.sh" --depth 2`, e.Command)
	require.Equal(t, []string{"agent/**"}, e.Files)
	require.Equal(t, []string{"MY_API_KEY"}, e.Needs, "the secrets among its variables")
	require.Equal(t, []string{"api.example.com"}, e.Network.Hosts)
	require.Equal(t, []string{"agent"}, s.paths)

	e, s = sectionOf(t, "sh ./scan.sh", map[string]string{"scan.sh": "python3 rules.py",
		"rules.py": "import other", "else.py": ""})
	require.Equal(t, []string{"rules.py", "scan.sh"}, e.Files, "and what it names")
	require.Equal(t, "scan", e.Name)
	require.Equal(t, []string{"rules.py", "scan.sh"}, s.paths)

	e, s = sectionOf(t, ".venv/bin/python agent/main.py .",
		map[string]string{".venv/pyvenv.cfg": "", ".venv/bin/python": "", "agent/main.py": "",
			"requirements.txt": "x==1"})
	require.Equal(t, `"$ASSAY_FILES/.venv/bin/python" "$ASSAY_FILES/agent/main.py" .`, e.Command)
	require.Equal(t, []string{"agent/**", "requirements.txt"}, e.Files)
	require.Equal(t, []string{".venv"}, e.Reads)
	require.Equal(t, "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt", s.setup)

	e, s = sectionOf(t, "skills/audit",
		map[string]string{"skills/audit/SKILL.md": "---\nname: audit\n---\nAudit.\n"})
	require.Equal(t, []string{"skills/audit/**"}, e.Skill)
	require.NotEmpty(t, e.Bare)
	require.Contains(t, e.Command, `cp -r "$ASSAY_FILES/skills/audit" "$HOME/.claude/skills/"`)
	require.Contains(t, strings.Join(s.variables, " "), "ANTHROPIC_API_KEY")

	e, _ = sectionOf(t, "openai:gpt-6-sol", nil)
	require.Equal(t, "model", e.Kind)
	require.Equal(t, "openai-gpt-6-sol", e.Name)

	outside := filepath.Join(t.TempDir(), "agent.sh")
	require.NoError(t, os.WriteFile(outside, nil, 0o755))
	t.Chdir(filepath.Dir(outside))
	_, err := (&auditorFlags{}).section(t.TempDir(), "", "sh ./agent.sh")
	require.ErrorContains(t, err, "lies outside of")
}
