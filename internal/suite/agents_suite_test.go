package suite

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/record"
)

// agents puts the fake agent into the house: a section for each line of
// "name: arguments", which may name $KEY, the findings that it knows.
func (h *house) agents(known []audit.Vulnerability, lines ...string) {
	h.t.Helper()
	agent, err := fakeAgent()
	require.NoError(h.t, err)
	bin := filepath.Join(h.t.TempDir(), "fakeagent")
	require.NoError(h.t, os.Link(agent, bin))
	var fs []audit.Finding
	for _, k := range known {
		f := audit.Finding{ID: k.ID, CWEs: k.CWEs, Severity: k.Severity, File: k.File,
			Lines: k.Lines, Title: k.Title, Dimension: k.Dimension}
		if len(k.Functions) > 0 {
			f.Function = k.Functions[0]
		}
		fs = append(fs, f)
	}
	b, err := json.Marshal(fs)
	require.NoError(h.t, err)
	key := filepath.Join(filepath.Dir(bin), "knows.json")
	require.NoError(h.t, os.WriteFile(key, b, 0o644))
	var md strings.Builder
	md.WriteString("# Auditors\n")
	for _, l := range lines {
		name, args, _ := strings.Cut(l, ": ")
		fmt.Fprintf(&md,
			"\n## %s\n\n| Field | Value |\n|---|---|\n| Kind | agent |\n| Timeout | 1m |\n| Cost | 0.10 USD |\n| Reads | %s |\n\n```sh\n%s -key %s %s\n```\n",
			name, filepath.Dir(bin), bin, key, args)
	}
	h.write("fixtures/auditors.md", md.String())
}

// claudeCall is what claude tells of a command that failed, for sed.
func claudeCall(output string) string {
	return `{"type":"assistant","message":{"id":"0","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"grep x y"}}]}}\` + "\n" +
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"` + strings.ReplaceAll(output, `\`, `\\`) + `"}]}}`
}

// knowing gives the command line of an agent that knows the flaws of the smoke test.
func (h *house) knowing() string {
	tree, _, err := manifest(os.DirFS(h.path("smoke-test-fixture")))
	require.NoError(h.t, err)
	key, err := fixture.ReadSmoke(os.DirFS(h.dir), "fixtures/smoke.md", tree)
	require.NoError(h.t, err)
	h.agents(key.Project.Vulnerabilities, "x: ")
	section, err := os.ReadFile(h.path("fixtures/auditors.md"))
	require.NoError(h.t, err)
	knows := regexp.MustCompile(`(?m)^(/\S+/fakeagent -key \S+)`).FindString(string(section))
	require.NotEmpty(h.t, knows)
	return knows
}

// TestMethodologysOwnCommand: its command line finds the folder that it names, and its
// checks hold on the report that is kept; on that of the embedded analyser too.
func TestMethodologysOwnCommand(t *testing.T) {
	h := newHouse(t)
	knows := h.knowing()
	bin := filepath.Dir(strings.Fields(knows)[0])
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	script := `test "$2" = "Run /audit in quick mode on ./smoke-test-fixture/" && test -f ./smoke-test-fixture/SmokeTestVulnApp.java || exit 64
` + knows + ` | sed 's/SQL injection/SQL Injection/; s:SmokeTestVulnApp.java:./smoke-test-fixture/&:'`
	require.NoError(t, os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\n"+script+"\n"),
		0o755))
	h.write("fixtures/auditors.md",
		"# Auditors\n\n## own\n\n| Field | Value |\n|---|---|\n| Kind | agent |\n| Timeout | 1m |\n| Cost | 1 USD |\n| Reads | "+bin+" |\n\n```sh\n"+
			"claude -p \"Run /audit in quick mode on ./smoke-test-fixture/\" \\\n  --allowedTools 'Bash,Read,Glob,Grep,Write'\n```\n")
	f := play(t, "TestSmoke", h.suite("-auditor", "own").Smoke)
	require.False(t, f.Failed(), f.complaints())
	require.Equal(t, "5/5", f.leaf("TestSmoke/own").attrs["found"])
	play(t, "TestSmoke", h.suite().Smoke)
	for _, auditor := range []string{"own", "patterns"} {
		report := string(h.kept(auditor)[0].Text("report"))
		for _, grep := range []string{"SENTINEL", "SQL.Injection|SQLi", "Deserialization"} {
			require.Regexp(t, grep, report, auditor)
		}
	}
}

// TestSmokeWithALiveAgent: what each agent does is what Smoke says of it.
func TestSmokeWithALiveAgent(t *testing.T) {
	h := newHouse(t)
	tree, _, err := manifest(os.DirFS(h.path("smoke-test-fixture")))
	require.NoError(t, err)
	key, err := fixture.ReadSmoke(os.DirFS(h.dir), "fixtures/smoke.md", tree)
	require.NoError(t, err)
	tests := []struct{ name, args, found, verdict, complaint string }{
		{"whole", "-envelope claude -in 400000 -out 5000 -usd 1.5", "5/5", "PASS", ""},
		{"four", "-find 4", "4/5", "WARN", ""},
		{"three", "-find 3", "3/5", "FAIL", "flaws"},
		{"misplaces", "-misplace 2", "3/5", "FAIL", "flaws"},
		{"invents", "-invent 2", "5/5", "FAIL", "paths"},
		{"repeats", "-same 3", "5/5", "PASS", ""},
		{"breaks off", "-truncate", "0/5", "INVALID", "structure"},
		{"crashes", "-crash", "0/5", "INVALID", "structure"},
		{"says nothing", "-silent", "0/5", "INVALID", "runs"},
		{"as codex", "-envelope codex -in 400000 -out 5000", "5/5", "PASS", ""},
		{"its tool fails", "-envelope claude-stream | sed '1a " +
			claudeCall("Exit code 2\\ngrep: no such file") + "'", "5/5", "FAIL", "runs"},
		{"its search finds nothing", "-envelope claude-stream | sed '1a " +
			claudeCall("Exit code 1") + "'", "5/5", "PASS", ""},
		{"as SARIF", "-format sarif", "5/5", "", ""},
	}
	var lines []string
	for _, tt := range tests {
		lines = append(lines, tt.name+": "+tt.args)
	}
	h.agents(key.Project.Vulnerabilities, lines...)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := play(t, "TestSmoke", h.suite("-auditor", tt.name).Smoke)
			leaf := f.leaf("TestSmoke/" + strings.ReplaceAll(segment(tt.name), " ", "_"))
			require.NotNil(t, leaf)
			require.Equal(t, tt.found, leaf.attrs["found"], f.complaints())
			if tt.verdict == "" {
				return // a report without HEADER: its verdict is the structure's own test
			}
			require.Equal(t, tt.verdict, leaf.attrs["verdict"], f.complaints())
			require.Equal(t, tt.complaint != "", f.Failed(), f.complaints())
			for _, c := range f.complaints() {
				require.Contains(t, c, "/"+tt.complaint+": ")
			}
		})
	}
	rs, err := record.ReadAll(h.path("records"))
	require.NoError(t, err)
	require.Len(t, rs, len(tests))
	for _, r := range rs {
		if r.Auditor == "whole" {
			require.Equal(t, audit.Usage{TokensIn: 400000, TokensOut: 5000, Turns: 3,
				USD: 1.5, Priced: true}, r.Trials[0].Usage)
			require.Contains(t, r.Text(), "400000 tokens read and 5000 written, 3 turns, 1.5 USD")
		}
	}
}

// repository makes a repository of n source files that the project demo is
// pinned to, as a mirror.
func (h *house) repository(n int) {
	h.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		h.t.Skip("git is not installed")
	}
	mirror := h.t.TempDir()
	dir := filepath.Join(mirror, "o", "demo")
	require.NoError(h.t, os.MkdirAll(dir, 0o755))
	git := func(args ...string) string {
		cmd := exec.Command("git",
			append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b.example"},
				args...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(h.t, err, string(out))
		return strings.TrimSpace(string(out))
	}
	git("init", "--quiet")
	for i := range n {
		require.NoError(h.t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%02d.java", i)),
			[]byte(strings.Repeat("x();\n", 1000)), 0o644))
	}
	git("add", ".")
	git("commit", "--quiet", "-m", "one")
	key, tree := demoKey(n)
	tree = strings.ReplaceAll(tree, demoCommit, git("rev-parse", "HEAD:f00.java"))
	h.write("fixtures/projects/demo.md", strings.ReplaceAll(key, demoCommit,
		git("rev-parse", "HEAD")))
	h.write("fixtures/projects/demo.tree.tsv", tree)
	h.t.Setenv("ASSAY_MIRROR", mirror)
	h.t.Setenv("ASSAY_CACHE", h.t.TempDir())
}

// TestRegressionWithALiveAgent: trials run in exports of their own, and the
// record says what they come to together.
func TestRegressionWithALiveAgent(t *testing.T) {
	h := newHouse(t)
	h.repository(20)
	p, err := fixture.ReadProject(os.DirFS(h.dir), "fixtures/projects/demo.md")
	require.NoError(t, err)
	h.agents(p.Vulnerabilities, "steady: -envelope claude -in 1000 -out 50 -usd 0.25", "unsteady: -vary 0.2",
		"half: -find 10", "broken: -truncate", "writes: -write f00.java,new.java")
	h.write("fixtures/baselines/stated/demo.json",
		`[{"auditor":"R1","source":"a test","findings":14,"dimensions":9,"recall":0.7,"tokens":400000,"approximate":["tokens"]}]`)

	run := func(args ...string) (*fake, *record.Record) {
		t.Helper()
		require.NoError(t, os.RemoveAll(h.path("records")))
		f := play(t, "TestRegression", h.suite(args...).Regression)
		rs, err := record.ReadAll(h.path("records"))
		require.NoError(t, err)
		require.Len(t, rs, 1, f.complaints())
		return f, rs[0]
	}

	f, r := run("-auditor", "steady", "-trials", "3", "-change", "a new prompt")
	require.False(t, f.Failed(), f.complaints())
	require.Len(t, r.Trials, 3)
	text := r.Text()
	require.Contains(t, text, "Change: a new prompt\n")
	require.Contains(t, text, "  Recall:    100% (baseline: none)  [PASS]\n")
	require.Contains(t, text, "1000 tokens read and 50 written, 3 turns, 0.25 USD")
	require.Contains(t, text,
		"; 3 trials, entries matched in full: pass@1 100.0 %, pass@3 100.0 % (some trial), pass^3 100.0 % (every trial); ")
	require.Contains(t, text,
		"; stated for R1 (a test; its own key and matching, so beside these figures and not a baseline of them): 14 findings, 9 of 10 dimensions, recall 70 %, about 400K tokens; ")
	require.Equal(t, r.Trials[0].Exposed != "",
		strings.Contains(text, "the auditor was not confined"))
	for i := range 3 {
		raw, err := os.ReadFile(filepath.Join(f.leaf("TestRegression/demo/steady").dir,
			fmt.Sprintf("report-steady-%02d.text", i+1)))
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(raw), "=== HEADER START ==="))
	}

	_, r = run("-auditor", "unsteady", "-trials", "4")
	require.Contains(t, r.Text(), "found by some trials and not by all: D-")
	require.Regexp(t,
		`of 20 vulnerabilities \d+ were found in all trials, \d+ in some, \d+ in their union; findings in all trials: \d+`, r.Text())

	f, _ = run("-auditor", "half")
	require.True(t, f.Failed())
	require.Equal(t, "FAIL", f.attrs["verdict:half/demo"])

	f, r = run("-auditor", "broken", "-trials", "2")
	require.Equal(t, "INVALID", f.attrs["verdict:broken/demo"])
	require.Contains(t, r.Text(), "Verdict: FAIL\n")

	f, r = run("-auditor", "writes", "-trials", "2")
	require.False(t, f.Failed(), "every trial gets an export of its own: %v", f.complaints())
	require.Equal(t, r.Trials[0].Result.Dispositions, r.Trials[1].Result.Dispositions)
}

// TestALiveRunEndsBeforeGoTestDoes: an agent that hangs is stopped in time for its
// record to be written.
func TestALiveRunEndsBeforeGoTestDoes(t *testing.T) {
	for left := time.Second; ; left *= 4 { // a busy machine may not have begun by then
		h := newHouse(t)
		h.agents(nil, "hangs: -hang")
		f := play(t, "TestSmoke", h.suite("-auditor", "hangs").Smoke,
			func(f *fake) { f.deadline = time.Now().Add(lastMinute + left) })
		require.True(t, f.Failed())
		if f.leaf("TestSmoke/hangs").attrs["verdict"] == "" {
			require.Less(t, left, time.Minute, f.complaints())
			continue
		}
		require.Equal(t, "INVALID", f.leaf("TestSmoke/hangs").attrs["verdict"])
		require.Contains(t, strings.Join(f.complaints(), "\n"),
			"stopped: the tests' own time is nearly up (-timeout)")
		rs, err := record.ReadAll(h.path("records"))
		require.NoError(t, err)
		require.Len(t, rs, 1)
		return
	}
}

// TestAnUnsteadyAgentAgainstItsBaseline: one trial of a stochastic agent settles
// no drop; it warns, and fails under -strict.
func TestAnUnsteadyAgentAgainstItsBaseline(t *testing.T) {
	h := newHouse(t)
	h.repository(20)
	p, err := fixture.ReadProject(os.DirFS(h.dir), "fixtures/projects/demo.md")
	require.NoError(t, err)
	h.agents(p.Vulnerabilities, "agent: -find 20")
	require.False(t, play(t, "TestRegression", h.suite("-auditor", "agent").Regression).Failed())
	rs, err := record.ReadAll(h.path("records"))
	require.NoError(t, err)
	_, err = record.WriteBaseline(h.path("fixtures/baselines"), rs[0], false)
	require.NoError(t, err)

	h.agents(p.Vulnerabilities, "agent: -find 17")
	f := play(t, "TestRegression", h.suite("-auditor", "agent").Regression)
	require.False(t, f.Failed(), f.complaints())
	require.Equal(t, "WARN", f.attrs["verdict:agent/demo"])
	strict := h.suite("-auditor", "agent", "-strict")
	f = play(t, "TestRegression", strict.Regression)
	require.True(t, f.Failed())
	require.Contains(t, f.complaints()[0], "may be chance")

	rs, err = record.ReadAll(h.path("records"))
	require.NoError(t, err)
	old, now := rs[0], rs[len(rs)-1]
	require.Len(t, old.Prompt, 64, "an agent's record keeps the hash of what it was told")
	require.NotEqual(t, old.Prompt, now.Prompt)
	require.Contains(t, now.Text(), "; changed since the baseline: command")
	require.NotContains(t, now.Text(), "model changed")
}

// TestFetchesOfOneProject: audits that begin at once, here or in a worker, bring a
// project that is not here yet into one clone.
func TestFetchesOfOneProject(t *testing.T) {
	h := newHouse(t)
	h.repository(20)
	p, err := fixture.ReadProject(os.DirFS(h.dir), "fixtures/projects/demo.md")
	require.NoError(t, err)
	e := newEnv(Settings{}, &root{})
	failed := make(chan error, 8)
	for range cap(failed) {
		go func() {
			_, err := e.fetch(t.Context(), p)
			failed <- err
		}()
	}
	for range cap(failed) {
		require.NoError(t, <-failed)
	}
}
