package auditor

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/box"
	"assay/internal/record"
)

// TestAgentsOfTheSections runs each agent of auditors.md that is installed here, as
// its section says, confined, against a stand-in for its provider. Each is skipped by
// its name where it is not installed.
func TestAgentsOfTheSections(t *testing.T) {
	if _, missing := box.Bubblewrap(); missing != "" {
		t.Skip(missing)
	}
	entries, err := fixture.ReadAuditors(os.DirFS("../.."), "fixtures/auditors.md")
	require.NoError(t, err)
	for name, variables := range map[string]map[string]string{
		"claude":       {"ANTHROPIC_API_KEY": "sk-test-000000", "ANTHROPIC_BASE_URL": "{url}"},
		"claude-skill": {"ANTHROPIC_API_KEY": "sk-test-000000", "ANTHROPIC_BASE_URL": "{url}", "ASSAY_AGENT_HOME": "{home}"},
		"codex":        {"CODEX_MODEL": "gpt-5.1-codex", "CODEX_API_KEY": "sk-test-000000", "OPENAI_BASE_URL": "{url}/v1"},
		"gemini":       {"GEMINI_API_KEY": "test-000000", "GEMINI_MODEL": "gemini-2.5-pro", "GOOGLE_GEMINI_BASE_URL": "{url}"},
		"opencode":     {"OPENCODE_CONFIG_CONTENT": `{"provider":{"here":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"{url}/v1","apiKey":"sk-test-000000"},"models":{"stand-in":{}}}},"model":"here/stand-in"}`},
		"copilot":      {"COPILOT_PROVIDER_API_KEY": "sk-test-000000", "COPILOT_PROVIDER_BASE_URL": "{url}/v1", "COPILOT_MODEL": "stand-in", "COPILOT_OFFLINE": "true"},
	} {
		t.Run(name, func(t *testing.T) {
			i := slices.IndexFunc(entries, func(e audit.AuditorEntry) bool { return e.Name == name })
			require.GreaterOrEqual(t, i, 0)
			entry := entries[i]
			program, _, _ := strings.Cut(entry.Version, " ")
			if _, err := exec.LookPath(program); err != nil {
				t.Skip(program + " is not installed")
			}
			e := sit(t, nil)
			require.NoError(t, os.WriteFile(filepath.Join(e.dir, "canary.txt"), []byte("the tree is read 4711\n"), 0o644))
			s := newStandIn(t, e.report, "canary.txt", "the tree is read 4711")
			if entry.Network.Provider == "" {
				entry.Network.Hosts = append(entry.Network.Hosts, s.Listener.Addr().String())
			}
			home := t.TempDir()
			script(t, filepath.Join(home, ".claude", "commands", "audit.md"), "Audit the folder.\n")
			require.NoError(t, os.Chmod(home, 0o755))
			for k, v := range variables {
				t.Setenv(k, strings.NewReplacer("{url}", s.URL, "{home}", home).Replace(v))
			}
			entry.Timeout = 5 * time.Minute
			run, err := Command(entry).Audit(context.Background(), audit.AuditTask{Dir: e.dir})
			require.NoError(t, err)
			require.Empty(t, run.Invalid, "asked %v, tools %v: %s", s.asked, s.tools, run.Stderr)
			require.True(t, s.saw, "its tools read nothing: asked %v, tools %v: %s", s.asked, s.tools, run.Stderr)
			e.passed(run)
			require.Equal(t, name != "copilot", run.Usage.TokensIn > 0, "what it used is read, where it says so")
			kept := record.NewTranscript(0, 0, e.dir, &run, func(b []byte) []byte { return b })
			turns := kept.Turns()
			require.Len(t, turns, 2, "%s", run.Events)
			require.Contains(t, turns[0].Calls[0].What, "cat canary.txt")
			require.Equal(t, "run", turns[0].Calls[0].Kind)
			require.Contains(t, turns[0].Calls[0].Output, "4711")
			require.Contains(t, turns[1].Said, "SENTINEL")
			require.Empty(t, kept.ToolErrors())
			t.Logf("%s: %s, model %q, %+v, %s", name, run.Version, run.Model, run.Usage, run.Confined)
		})
	}
}
