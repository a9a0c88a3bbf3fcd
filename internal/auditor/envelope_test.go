package auditor

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// TestUsageOfEachAgent: the report and what was consumed come out of what each
// agent prints.
func TestUsageOfEachAgent(t *testing.T) {
	l := newLair(t, false)
	for agent, priced := range map[string]bool{"claude": true, "claude-stream": true, "codex": false, "gemini": false, "gemini-stream": false, "opencode": true, "copilot": false} {
		run := l.run(l.agent("-invent 2 -in 400000 -out 9000 -usd 1.25 -envelope "+agent, func(e *audit.AuditorEntry) { e.Model = "stated" }))
		require.Empty(t, run.Invalid, agent)
		require.Len(t, run.Report.Findings, 2, agent)
		want := audit.Usage{TokensIn: 400000, TokensOut: 9000, Turns: map[string]int64{"claude": 3, "claude-stream": 3, "codex": 1, "gemini": 3, "gemini-stream": 2, "opencode": 1, "copilot": 2}[agent]}
		if agent == "copilot" {
			want.TokensIn, want.TokensOut = 0, 0 // it tells none
		}
		if priced {
			want.USD, want.Priced = 1.25, true
		}
		require.Equal(t, want, run.Usage, agent)
		require.Equal(t, map[string]string{"claude-stream": "fake", "gemini": "fake", "gemini-stream": "fake", "copilot": "fake"}[agent], strings.TrimPrefix(run.Model, "stated"), agent)
		require.True(t, strings.HasPrefix(string(run.Raw), "=== HEADER START ===\n"), "the raw report is the report: grep finds its first line")
		require.True(t, strings.HasSuffix(strings.TrimSpace(string(run.Raw)), "=== SENTINEL: AUDIT COMPLETE ==="), agent)

		file := l.agent("-invent 2 > $ASSAY_OUT/report.md; "+l.bin+" -in 400000 -out 9000 -usd 1.25 -envelope "+agent, func(e *audit.AuditorEntry) { e.Output = "report.md" })
		run = l.run(file)
		require.Len(t, run.Report.Findings, 2, agent)
		require.Equal(t, want, run.Usage, "%s: the report is in a file, the usage on standard output", agent)
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
		"event: error\r\ndata: {\"object\":\"error\",\"message\":\"m\"}\r\n\r\n", `{"type":"message","content":[{"type":"text","text":"<tool_call>{\"name\":\"search\"}</tool_call>"}],"stop_reason":"max_tokens"}`,
		`{"data":{"choices":[{"text":"t","finish_reason":"length"}]}}`, `{"message":{"content":"x"},"done_reason":"stop"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		res := &http.Response{Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body))}
		r, err := receive(res, func(*reply) {})
		if r == nil || err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Fatalf("%q: reply %v, error %v", body, r, err)
		}
		if c := r.answer; c != nil {
			for _, call := range (&talk{}).callsOf(&c.Message, c.Message.Content) {
				require.NotEmpty(t, call.ID)
				require.NotEmpty(t, call.Function.Arguments)
			}
		}
		possible(t, (&chat{}).usage(r, len(body)))
	})
}
