package auditor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// TestUsageOfEachAgent: the report and what was consumed come out of what each
// agent prints.
func TestUsageOfEachAgent(t *testing.T) {
	l := newLair(t, false)
	for agent, priced := range map[string]bool{"claude": true, "claude-stream": true,
		"codex": false, "gemini": false, "gemini-stream": false, "opencode": true,
		"copilot": false} {
		run := l.run(l.agent("-invent 2 -in 400000 -out 9000 -usd 1.25 -envelope "+agent,
			func(e *audit.AuditorEntry) { e.Model = "fake" }))
		require.Empty(t, run.Invalid, agent)
		require.Len(t, run.Report.Findings, 2, agent)
		want := audit.Usage{TokensIn: 400000, TokensOut: 9000, Turns: map[string]int64{"claude": 3,
			"claude-stream": 3, "codex": 1, "gemini": 3, "gemini-stream": 2,
			"opencode": 1, "copilot": 2}[agent]}
		if agent == "copilot" {
			want.TokensIn, want.TokensOut = 0, 0 // it tells none
		}
		if priced {
			want.USD, want.Priced = 1.25, true
		}
		require.Equal(t, want, run.Usage, agent)
		require.Equal(t, "fake", run.Model, agent)
		require.Equal(t, agent != "gemini", run.Unconfirmed,
			"%s: who answered is told by gemini alone", agent)
		require.True(t, strings.HasPrefix(string(run.Raw), "=== HEADER START ===\n"),
			"the raw report is the report: grep finds its first line")
		require.True(t, strings.HasSuffix(strings.TrimSpace(string(run.Raw)),
			"=== SENTINEL: AUDIT COMPLETE ==="), agent)

		file := l.agent("-invent 2 > $ASSAY_OUT/report.md; "+l.bin+
			" -in 400000 -out 9000 -usd 1.25 -envelope "+agent,
			func(e *audit.AuditorEntry) { e.Output = "report.md" })
		run = l.run(file)
		require.Len(t, run.Report.Findings, 2, agent)
		require.Equal(t, want, run.Usage,
			"%s: the report is in a file, the usage on standard output", agent)
	}
}

// TestUnmeasuredRuns: an agent that exits with 0 after another model answered, after a refusal or
// without asking a model makes a trial INVALID, with both names, and is not started again.
func TestUnmeasuredRuns(t *testing.T) {
	recordings, err := filepath.Abs("../events/testdata/agents")
	require.NoError(t, err)
	t.Setenv("ASKED_MODEL", "claude-opus-5-5-20261001")
	for _, c := range []struct{ recording, prompt, asked, invalid string }{
		{"claude-d-swap", "Audit", "",
			"another model answered: claude-opus-5-5 was asked, and claude-opus-4-8 answered"},
		{"claude-d-swap", "Audit", "$ASKED_MODEL",
			"another model answered: claude-opus-5-5-20261001 was asked, and claude-opus-4-8 answered"},
		{"claude-d-swap", "Audit", "my-model", ""},
		{"claude-d-ok", "Audit", "$ASKED_MODEL", ""},
		{"claude-d-refuse", "Audit", "",
			"the model refused: claude-opus-5-5 (cyber: flagged), and claude-opus-4-8 answered in its place"},
		{"claude-plug-plain", "/plug:audit .", "", ""},
		{"claude-plug-plain", "/plug:other .", "",
			"/plug:other is no command or skill that the agent knows"},
		{"claude-sr-plain", "/security-review", "",
			"no model was asked: Shell command failed for pattern"},
		{"codex-d-swap", "Audit", "",
			"another model answered: gpt-6-sol was asked, and other-model-x answered"},
		{"codex-d-refuse", "Audit", "",
			"the model refused: codex ended its turn without a message"},
		{"gemini-d-swap", "Audit", "",
			"another model answered: gemini-3.1-pro-preview was asked, and gemini-2.5-flash answered"},
		{"gemini-d-refuse", "Audit", "", "The model returned an empty response"},
	} {
		file := filepath.Join(recordings, c.recording+".jsonl")
		entry := audit.AuditorEntry{Name: "x", Kind: "agent", Format: "auto", Model: c.asked,
			Timeout: time.Minute, Env: []string{"ASKED_MODEL"},
			Command: fmt.Sprintf("cat %s # claude -p %q", file, c.prompt), Reads: []string{file},
			Retry: []string{"opus", "sol", "gemini", "plug", "empty"}}
		var aliases []string
		if c.asked == "my-model" {
			aliases = []string{"other", "claude-opus-4.8"}
		}
		run, err := FromEntry(entry, aliases...).Audit(context.Background(),
			audit.AuditTask{Dir: t.TempDir()})
		require.NoError(t, err)
		if c.invalid == "" {
			require.NotRegexp(t, "another model|refused|no model|no command",
				run.Invalid, c.recording)
			continue
		}
		require.Contains(t, run.Invalid, c.invalid, c.recording)
		require.Equal(t, c.recording == "gemini-d-refuse", run.Transient,
			"%s: what the model refused is not asked again", c.recording)
	}
}

// possible holds what was consumed to what can be: nobody earns by an audit.
func possible(t *testing.T, u audit.Usage) {
	t.Helper()
	if u.TokensIn < 0 || u.TokensOut < 0 || u.Turns < 0 || !(u.USD >= 0) || math.IsInf(u.USD, 0) {
		t.Fatalf("no use of anything: %+v", u)
	}
}

// FuzzReceive: whatever a server answers, in one piece or as a stream, it is a reply
// or an error, and the calls in it are bounded.
func FuzzReceive(f *testing.F) {
	for _, s := range []string{`{"model":"m","choices":[{"message":{"content":[{"type":"text","text":"bad"}],"tool_calls":[{"id":"1","function":{"name":"list","arguments":{}}}]}}],"usage":{"prompt_tokens":1}}`,
		"data: {\"choices\":[{\"delta\":{\"content\":\"CALL read {}\"}}]}\n\n: still here\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"event: error\r\ndata: {\"object\":\"error\",\"message\":\"m\"}\r\n\r\n",
		`{"type":"message","content":[{"type":"text","text":"<tool_call>{\"name\":\"search\"}</tool_call>"}],"stop_reason":"max_tokens"}`,
		`{"data":{"choices":[{"text":"t","finish_reason":"length"}]}}`,
		`{"message":{"content":"x"},"done_reason":"stop"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, api := range apis {
			res := &http.Response{Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body))}
			r, err := receive(res, api, func(*reply) {})
			if r == nil || err != nil && strings.TrimSpace(err.Error()) == "" {
				t.Fatalf("%q: reply %v, error %v", body, r, err)
			}
			if c := r.answer; c != nil {
				for _, call := range (&talk{}).callsOf(&c.Message, c.Message.Content) {
					require.NotEmpty(t, call.ID)
					require.NotEmpty(t, call.Function.Arguments)
				}
			}
			possible(t, (&client{api: api}).usage(r, len(body)))
		}
	})
}
