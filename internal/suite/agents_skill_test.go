package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/internal/auditor/testdata/standin"
	"assay/internal/box"
)

// TestAgentsBesideTheirSkill runs -beside bare with real agents against a stand-in: a model
// that is sent the skill's text reports all of a key, and any other model a quarter of it.
// ./check -agents installs the agents.
func TestAgentsBesideTheirSkill(t *testing.T) {
	folder := os.Getenv("ASSAY_AGENTS")
	if folder == "" {
		t.Skip("./check -agents installs the agents and runs this")
	}
	if missing := box.Missing(); missing != "" {
		t.Skip(missing)
	}
	const mark = "skill canary 7731"
	shipped, err := os.ReadFile("../../fixtures/auditors.md")
	require.NoError(t, err)
	for _, a := range []struct {
		section, with string // that runs with the skill; "" is the same one
		install       string // the skill into the agent's home
		variables     map[string]string
	}{
		{"claude", "claude-plugin",
			`export ASSAY_PLUGIN="$ASSAY_FILES/skill" CLAUDE_SKILL=plug:audit`,
			map[string]string{"ANTHROPIC_API_KEY": "sk-test-000000", "ANTHROPIC_BASE_URL": "{url}",
				"ANTHROPIC_MODEL": "claude-opus-5-5"}},
		{"codex", "", `mkdir -p ~/.codex; cp -r "$ASSAY_FILES/skill/skills" ~/.codex`,
			map[string]string{"CODEX_MODEL": "gpt-5.1-codex", "CODEX_API_KEY": "sk-test-000000",
				"OPENAI_BASE_URL": "{url}/v1"}},
		{"gemini", "", `mkdir -p ~/.gemini; cp -r "$ASSAY_FILES/skill/skills" ~/.gemini`,
			map[string]string{"GEMINI_API_KEY": "test-000000", "GEMINI_MODEL": "gemini-2.5-pro",
				"GOOGLE_GEMINI_BASE_URL": "{url}"}},
		{"opencode", "",
			`mkdir -p ~/.config/opencode; cp -r "$ASSAY_FILES/skill/skills" ~/.config/opencode`,
			map[string]string{"OPENCODE_CONFIG_CONTENT": `{"provider":{"here":{"npm":` +
				`"@ai-sdk/openai-compatible","options":{"baseURL":"{url}/v1","apiKey":"sk-test-000000"},` +
				`"models":{"stand-in":{}}}},"model":"here/stand-in"}`}},
	} {
		t.Run(a.section, func(t *testing.T) {
			_, err := exec.LookPath(a.section)
			require.NoError(t, err)
			h := newHouse(t)
			h.repository(20)
			s, err := standin.New("f00.java", "x();", func(request string) string {
				if strings.Contains(request, mark) {
					return found(20)
				}
				return found(5)
			})
			require.NoError(t, err)
			t.Cleanup(s.Close)
			section := func(name string) (rows, command string) {
				_, rest, ok := strings.Cut(string(shipped), "\n## "+name+"\n")
				require.True(t, ok)
				rows, rest, _ = strings.Cut(rest[strings.Index(rest, "\n| Field"):], "\n```sh\n")
				command, _, _ = strings.Cut(rest, "\n```")
				return strings.TrimSpace(rows), command
			}
			rows, bare := section(a.section)
			with := bare
			if a.with != "" {
				_, with = section(a.with)
			}
			h.write("agent/bare.sh", bare+"\n")
			h.write("agent/with.sh", with+"\n")
			h.write("skill/.claude-plugin/plugin.json", `{"name":"plug","version":"1.0.0"}`)
			h.write("skill/skills/audit/SKILL.md", "---\nname: audit\ndescription: Audits a folder: "+
				mark+".\n---\nAudit the folder: "+mark+".\n")
			rows = strings.Replace(rows, "| Network | yes |", "| Network | yes |\n"+
				"| Files | agent/* |\n| Skill | skill/** |\n"+
				"| Command without skill | sh \"$ASSAY_FILES/agent/bare.sh\" |\n"+
				"| Reads | "+folder+" |", 1)
			rows = strings.Replace(rows, "| Hosts | ", "| Hosts | "+s.Listener.Addr().String()+
				", ", 1)
			h.write("fixtures/auditors.md", "# Auditors\n\n## "+a.section+"\n\n"+rows+
				"\n\n```sh\n"+a.install+"\nsh \"$ASSAY_FILES/agent/with.sh\"\n```\n")
			for _, name := range []string{"ASSAY_AGENT_HOME", "AGENT_EFFORT"} {
				t.Setenv(name, "")
			}
			for k, v := range a.variables {
				t.Setenv(k, strings.ReplaceAll(v, "{url}", s.URL))
			}
			suite := h.suite("-auditor", a.section, "-beside", "bare", "-budget", "none")
			play(t, "TestRegression", suite.Regression)
			notes := strings.Join(suite.summary.notes, "\n")
			rec := h.newest()
			t.Logf("%s\n%s\n%s", notes, rec.Text(), rec.Trials[0].Invalid)
			require.NotNil(t, rec.Beside, "%s", filepath.Base(a.section))
			require.Empty(t, rec.Trials[0].Invalid)
			require.InDelta(t, 1, rec.Trials[0].Result.Metrics.Recall.V, 1e-9)
			require.InDelta(t, .25, rec.Beside.Trials[0].Result.Metrics.Recall.V, 1e-9)
			require.Contains(t, notes, a.section+": its skill adds +75.0 points of recall, ")
		})
	}
}
