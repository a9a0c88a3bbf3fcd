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
	"assay/internal/auditor/testdata/standin"
	"assay/internal/box"
	"assay/internal/record"
	"assay/internal/run/testdata/mockapi"
)

// agentsFolder returns the folder into which ./check -agents has installed the command lines
// of agents and the SDKs. Everywhere else the test is skipped.
func agentsFolder(t *testing.T) string {
	folder := os.Getenv("ASSAY_AGENTS")
	if folder == "" {
		t.Skip("./check -agents installs the agents and runs this")
	}
	return folder
}

type agentCase struct {
	section   string
	variables map[string]string
	tokens    bool // its events say what it used
	confirmed bool // and, or the proxy sees, who answered
}

// agents are the sections that run against the stand-in, with what each needs. {url} is the
// stand-in's address, {home} a folder with a command, {plugin} one with a plug-in.
var agents = []agentCase{
	{"claude", map[string]string{"ANTHROPIC_API_KEY": "sk-test-000000",
		"ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_MODEL": "claude-opus-5-5", "AGENT_EFFORT": "low"},
		true, true},
	{"claude-skill", map[string]string{"ANTHROPIC_API_KEY": "sk-test-000000",
		"ANTHROPIC_BASE_URL": "{url}", "ASSAY_AGENT_HOME": "{home}"}, true, true},
	{"claude-plugin", map[string]string{"ANTHROPIC_API_KEY": "sk-test-000000",
		"ANTHROPIC_BASE_URL": "{url}", "ASSAY_PLUGIN": "{plugin}", "CLAUDE_SKILL": "plug:audit"},
		true, true},
	{"claude-security-review", map[string]string{"ANTHROPIC_API_KEY": "sk-test-000000",
		"ANTHROPIC_BASE_URL": "{url}"}, true, true},
	{"codex", map[string]string{"CODEX_MODEL": "gpt-5.1-codex", "CODEX_API_KEY": "sk-test-000000",
		"OPENAI_BASE_URL": "{url}/v1", "AGENT_EFFORT": "low"}, true, true},
	{"gemini", map[string]string{"GEMINI_API_KEY": "test-000000", "GEMINI_MODEL": "gemini-2.5-pro",
		"GOOGLE_GEMINI_BASE_URL": "{url}"}, true, true},
	{"opencode",
		map[string]string{"OPENCODE_CONFIG_CONTENT": `{"provider":{"here":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"{url}/v1","apiKey":"sk-test-000000"},"models":{"stand-in":{}}}},"model":"here/stand-in"}`}, true, false},
	{"copilot", map[string]string{"COPILOT_PROVIDER_API_KEY": "sk-test-000000",
		"COPILOT_PROVIDER_BASE_URL": "{url}/v1", "COPILOT_PROVIDER_WIRE_API": "responses",
		"COPILOT_MODEL": "gpt-6-sol", "COPILOT_OFFLINE": "true", "AGENT_EFFORT": "low"}, true,
		false},
	{"qwen-code", map[string]string{"OPENAI_API_KEY": "sk-test-000000",
		"OPENAI_BASE_URL": "{url}/v1", "OPENAI_MODEL": "qwen3.8-max"}, true, true},
	{"kimi-code", map[string]string{"KIMI_MODEL_API_KEY": "sk-test-000000",
		"KIMI_MODEL_BASE_URL": "{url}/v1", "KIMI_MODEL_NAME": "kimi-k3"}, false, true},
}

// An agentRun is one run of a section against a stand-in.
type agentRun struct {
	exam   *exam
	s      *standin.Server
	entry  audit.AuditorEntry
	change bool // the project is one
}

func newAgentRun(t *testing.T, section string, variables map[string]string) *agentRun {
	folder := agentsFolder(t)
	if missing := box.Missing(); missing != "" {
		t.Skip(missing)
	}
	entries, err := fixture.ReadAuditors(os.DirFS("../.."), "fixtures/auditors.md")
	require.NoError(t, err)
	i := slices.IndexFunc(entries, func(e audit.AuditorEntry) bool { return e.Name == section })
	require.GreaterOrEqual(t, i, 0)
	r := &agentRun{exam: sit(t, nil), entry: entries[i]}
	program, _, _ := strings.Cut(r.entry.Version, " ")
	_, err = exec.LookPath(program)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(r.exam.dir, "canary.txt"),
		[]byte("the tree is read 4711\n"), 0o644))
	r.s = newStandIn(t, r.exam.report)
	if r.entry.Network.Provider == "" {
		r.entry.Network.Hosts = append(r.entry.Network.Hosts, r.s.Listener.Addr().String())
	}
	home, plugin := t.TempDir(), t.TempDir()
	script(t, filepath.Join(home, ".claude", "commands", "audit.md"), "Audit the folder.\n")
	script(t, filepath.Join(plugin, ".claude-plugin", "plugin.json"),
		`{"name":"plug","version":"1.0.0"}`)
	script(t, filepath.Join(plugin, "skills", "audit", "SKILL.md"),
		"---\nname: audit\ndescription: Audits a folder.\n---\nAudit the folder.\n")
	require.NoError(t, os.Chmod(home, 0o755))
	require.NoError(t, os.Chmod(plugin, 0o755))
	for _, name := range r.entry.Variables() {
		t.Setenv(name, "")
	}
	for k, v := range variables {
		t.Setenv(k, strings.NewReplacer("{url}", r.s.URL, "{home}", home,
			"{plugin}", plugin).Replace(v))
	}
	r.entry.Reads = append(r.entry.Reads, folder)
	r.entry.Timeout = 5 * time.Minute
	return r
}

// newStandIn returns a stand-in for providers that has the file canary.txt read.
func newStandIn(t *testing.T, report string) *standin.Server {
	s, err := standin.New("canary.txt", "the tree is read 4711",
		func(string) string { return report })
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

func (r *agentRun) run(t *testing.T) audit.AuditRun {
	began := time.Now()
	task := audit.AuditTask{Dir: r.exam.dir, MaxUSD: 3}
	if r.change {
		task.Base, task.Head = changed(t, r.exam.dir)
	}
	run, err := FromEntry(r.entry).Audit(context.Background(), task)
	require.NoError(t, err)
	_, asked, tools := r.s.Seen()
	t.Logf("%s in %.1fs: %s, model %q, %+v, exit %d, asked %v, tools %v, invalid %q, %s",
		r.entry.Name, time.Since(began).Seconds(),
		run.Version, run.Model, run.Usage, run.ExitCode, asked, tools, run.Invalid,
		audit.OneLine(string(run.Stderr), 1000))
	return run
}

// TestAgentsOfTheSections runs each section of auditors.md whose program npm installs, as it
// stands, confined, to the end of an audit.
func TestAgentsOfTheSections(t *testing.T) {
	for _, a := range agents {
		t.Run(a.section, func(t *testing.T) {
			r := newAgentRun(t, a.section, a.variables)
			if a.section == "claude-security-review" {
				changed(t, r.exam.dir)
			}
			run := r.run(t)
			require.Empty(t, run.Invalid)
			saw, _, _ := r.s.Seen()
			require.True(t, saw, "its tools read nothing: %s", run.Events)
			r.exam.passed(run)
			require.Equal(t, a.tokens, run.Usage.TokensIn > 0,
				"what it used is read, where it says so")
			require.Equal(t, a.confirmed, !run.Unconfirmed && run.Model != "")
			kept := record.NewTranscript(0, 0, r.exam.dir, &run, func(b []byte) []byte { return b })
			turns := kept.Turns()
			if a.section == "claude-security-review" { // its prompt holds the change
				require.Len(t, turns, 1)
				return
			}
			require.Len(t, turns, 2, "%s", run.Events)
			require.Contains(t, turns[0].Calls[0].What, "cat canary.txt")
			require.Equal(t, "run", turns[0].Calls[0].Kind)
			require.Contains(t, turns[0].Calls[0].Output, "4711")
			require.Contains(t, turns[1].Said, "SENTINEL")
			require.Empty(t, kept.ToolErrors())
		})
	}
}

// TestAgentsWithoutAServer: a server that is down ends the run, by the agent itself. On a machine
// that is not busy that takes less than a minute, most of which is their start.
func TestAgentsWithoutAServer(t *testing.T) {
	for _, a := range agents {
		t.Run(a.section, func(t *testing.T) {
			r := newAgentRun(t, a.section, a.variables)
			if a.section == "claude-security-review" {
				changed(t, r.exam.dir)
			}
			r.s.Close()
			r.entry.Timeout = 2 * time.Minute
			run := r.run(t)
			require.NotEmpty(t, run.Invalid)
			require.NotContains(t, run.Invalid, "within 2m0s", "it ended by itself")
		})
	}
}

// TestAgentsSwapped: an agent whose events name the model that answered is held to it.
func TestAgentsSwapped(t *testing.T) {
	for _, a := range agents {
		if a.confirmed && a.section != "claude-security-review" {
			t.Run(a.section, func(t *testing.T) {
				r := newAgentRun(t, a.section, a.variables)
				r.s.Model = "another-model"
				require.Contains(t, r.run(t).Invalid, "and another-model answered")
			})
		}
	}
}

// TestAgentsUnasked: what sends no request, or another one than it was told, is INVALID.
func TestAgentsUnasked(t *testing.T) {
	for name, skill := range map[string]string{"claude-security-review": "",
		"claude-plugin": "plug:other"} {
		t.Run(name, func(t *testing.T) {
			i := slices.IndexFunc(agents, func(a agentCase) bool { return a.section == name })
			r := newAgentRun(t, name, agents[i].variables)
			if skill != "" {
				t.Setenv("CLAUDE_SKILL", skill)
			} else {
				changed(t, r.exam.dir)
				require.NoError(t,
					os.RemoveAll(filepath.Join(r.exam.dir, ".git", "refs", "remotes")))
			}
			require.Regexp(t, "no model was asked|is no command or skill", r.run(t).Invalid)
		})
	}
}

// TestAgentMock reads the findings that codex-security writes without a model, of a project and
// of a change.
func TestAgentMock(t *testing.T) {
	for _, change := range []bool{false, true} {
		r := newAgentRun(t, "codex-security", map[string]string{"CODEX_API_KEY": "sk-test-000000",
			"CODEX_SECURITY_FLAGS": "--mock"})
		r.change = change
		run := r.run(t)
		require.Empty(t, run.Invalid)
		require.Len(t, run.Report.Findings, 12)
		require.Equal(t, change, strings.Contains(string(run.Stderr),
			"Running scan: committed changes"), "%s", run.Stderr)
	}
}

// changed makes a folder a repository of two commits, the first of which is origin/HEAD.
func changed(t *testing.T, dir string) (base, head string) {
	git := func(args ...string) string {
		out, err := exec.Command("git",
			append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@localhost"},
				args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	canary := filepath.Join(dir, "canary.txt")
	text, err := os.ReadFile(canary)
	require.NoError(t, err)
	require.NoError(t, os.Remove(canary))
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-qm", "base")
	git("update-ref", "refs/remotes/origin/main", "HEAD")
	git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	require.NoError(t, os.WriteFile(canary, text, 0o644))
	git("checkout", "-qb", "change")
	git("add", "-A")
	git("commit", "-qm", "change")
	return git("rev-parse", "main"), git("rev-parse", "change")
}

// TestSDKsAgainstTheStandIns: the providers' own SDKs complete a conversation with a tool
// against the stand-ins by which Assay's clients and sections are tested.
func TestSDKsAgainstTheStandIns(t *testing.T) {
	folder := agentsFolder(t)
	s := newStandIn(t, "THE REPORT")
	mock := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		if strings.Contains(string(r.Body), "the tree is read 4711") {
			return mockapi.Reply{Content: "THE REPORT"}
		}
		return mockapi.Reply{Calls: []mockapi.Call{{Name: "bash",
			Arguments: `{"command":"cat canary.txt"}`}}}
	})
	t.Cleanup(mock.Close)
	script, err := filepath.Abs("testdata/sdks.mjs")
	require.NoError(t, err)
	for server, url := range map[string]string{"stand-in": s.URL, "mock": mock.URL} {
		for _, api := range []string{"chat", "responses", "messages"} {
			for _, way := range []string{"stream", "whole"} {
				t.Run(server+"/"+api+"/"+way, func(t *testing.T) {
					cmd := exec.Command("node", script, api, way, url+"/v1")
					cmd.Env = append(os.Environ(), "SDKS="+filepath.Join(folder, "cli",
						"node_modules"))
					out, err := cmd.CombinedOutput()
					require.NoError(t, err, "%s", out)
					require.Equal(t, "THE REPORT", strings.TrimSpace(string(out)))
				})
			}
		}
	}
}
