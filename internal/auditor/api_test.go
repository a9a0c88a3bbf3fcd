package auditor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"assay/audit"
	"assay/internal/run/testdata/mockapi"
)

// asks returns a client for a server that gives these bodies, one after the other, and what the
// server was sent.
func asks(t *testing.T, settings audit.ModelSettings, bodies ...string) (c *client,
	sent func() []gjson.Result) {
	var got []gjson.Result
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			return
		}
		b, _ := io.ReadAll(r.Body)
		got = append(got, gjson.ParseBytes(b))
		_, _ = io.WriteString(w, bodies[min(len(got), len(bodies))-1])
	}))
	t.Cleanup(s.Close)
	c, err := newClient(ChatConfig{Name: "m", Provider: "test", BaseURL: s.URL + "/v1",
		Key: modelKey, Timeout: 10 * time.Second,
		Model: audit.Model{ID: "m", In: 1, Out: 10, Cached: 0.1, Priced: true, Settings: settings}})
	require.NoError(t, err)
	return c, func() []gjson.Result { return got }
}

func sse(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", gjson.Get(e, "type").Str, e)
	}
	return b.String()
}

// TestResponsesConversation: items go back as they came, reasoning with its encrypted content
// among them; cached and reasoning tokens are counted once; settings are sent.
func TestResponsesConversation(t *testing.T) {
	warm := 0.5
	reasoning := `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"I look."}],"encrypted_content":"sealed"}`
	call := `{"type":"function_call","id":"fc_1","call_id":"call_1","name":"list","arguments":"{\"path\":\".\"}","status":"completed"}`
	c, sent := asks(t, audit.ModelSettings{API: "responses", Effort: "high", Temperature: &warm},
		sse(
			`{"type":"response.created","response":{"id":"resp_1","model":"m-2026-01-01","output":[]}}`,
			`{"type":"response.reasoning_summary_text.delta","delta":"I look."}`,
			`{"type":"response.output_item.done","item":`+reasoning+`}`,
			`{"type":"response.function_call_arguments.delta","delta":"{}"}`,
			`{"type":"response.output_item.done","item":`+call+`}`,
			`{"type":"response.completed","response":{"model":"m-2026-01-01","status":"completed","error":null,"output":[],"usage":`+
				`{"input_tokens":1000,"input_tokens_details":{"cached_tokens":600},"output_tokens":100,"output_tokens_details":{"reasoning_tokens":80},"total_tokens":1100}}}`))
	first := c.request(5000, says("user", "Audit."))
	first.tools = sourceTools
	got, a, f := c.exchange(context.Background(), first)
	require.Nil(t, f)
	m := got.answer.Message
	require.Equal(t, "tool_calls", got.answer.FinishReason)
	require.Equal(t, "call_1 list {\"path\":\".\"}", fmt.Sprintf("%s %s %s", m.ToolCalls[0].ID,
		m.ToolCalls[0].Function.Name, m.ToolCalls[0].Function.Arguments))
	require.Equal(t, "I look.", m.Thought)
	require.Equal(t, "m-2026-01-01", a.Model)
	require.Equal(t, []int64{1000, 100}, []int64{a.Usage.TokensIn, a.Usage.TokensOut})
	require.InDelta(t, (400*1+600*0.1+100*10)/1e6, a.Usage.USD, 1e-12)

	result := says("tool", "app.py")
	result.ToolCallID = "call_1"
	_, _, f = c.exchange(context.Background(), c.request(5000, says("user", "Audit."),
		m.again(), result))
	require.Nil(t, f)
	q := sent()
	require.Equal(t, `["high",0.5,5000,false,"reasoning.encrypted_content","list","m"]`,
		"["+strings.Join([]string{q[0].Get("reasoning.effort").Raw, q[0].Get("temperature").Raw,
			q[0].Get("max_output_tokens").Raw,
			q[0].Get("store").Raw, q[0].Get("include.0").Raw, q[0].Get("tools.0.name").Raw,
			q[0].Get("model").Raw}, ",")+"]")
	require.JSONEq(t, `[{"role":"user","content":"Audit."},`+reasoning+`,`+call+
		`,{"type":"function_call_output","call_id":"call_1","output":"app.py"}]`,
		q[1].Get("input").Raw)
}

// TestMessagesConversation: blocks go back as they came, thinking with its signature among them,
// in Anthropic's order; tokens of the cache are counted once, at their price.
func TestMessagesConversation(t *testing.T) {
	c, sent := asks(t, audit.ModelSettings{API: "messages", Effort: "low"}, sse(
		`{"type":"message_start","message":{"model":"m-20260101","usage":{"input_tokens":100,"cache_read_input_tokens":600,"cache_creation_input_tokens":300,"output_tokens":1}}}`,
		`{"type":"ping"}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"I look."}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"list","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\":"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\".\"}"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":100}}`,
		`{"type":"message_stop"}`))
	first := c.request(5000, says("user", "Audit."))
	first.tools = sourceTools
	got, a, f := c.exchange(context.Background(), first)
	require.Nil(t, f)
	m := got.answer.Message
	require.Equal(t, "toolu_1 list {\"path\":\".\"}", fmt.Sprintf("%s %s %s", m.ToolCalls[0].ID,
		m.ToolCalls[0].Function.Name, m.ToolCalls[0].Function.Arguments))
	require.Equal(t, "m-20260101", a.Model)
	require.Equal(t, []int64{1000, 100}, []int64{a.Usage.TokensIn, a.Usage.TokensOut})
	require.InDelta(t, (100*1+600*0.1+300*1.25+100*10)/1e6, a.Usage.USD, 1e-12)

	result := says("tool", "app.py")
	result.ToolCallID = "toolu_1"
	second := c.request(5000, says("user", "Audit."), m.again(), result, says("user", "Go on."))
	second.tools = sourceTools
	_, _, f = c.exchange(context.Background(), second)
	require.Nil(t, f)
	q := sent()
	require.Equal(t, "low", q[0].Get("output_config.effort").Str)
	require.Equal(t, "list", q[0].Get("tools.0.name").Str)
	require.JSONEq(t, `[{"role":"user","content":[{"type":"text","text":"Audit."}]},
		{"role":"assistant","content":[{"type":"thinking","thinking":"I look.","signature":"sig"},{"type":"tool_use","id":"toolu_1","name":"list","input":{"path":"."}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"app.py"},{"type":"text","text":"Go on.","cache_control":{"type":"ephemeral"}}]}]`, q[1].Get("messages").Raw)
}

// TestMessagesPause: an answer that pauses goes on with what was written, and both parts are paid.
func TestMessagesPause(t *testing.T) {
	part := func(text, stop string) string {
		return `{"type":"message","model":"m","content":[{"type":"text","text":"` + text +
			`"}],"stop_reason":"` + stop + `","usage":{"input_tokens":10,"output_tokens":5}}`
	}
	c, sent := asks(t, audit.ModelSettings{API: "messages"}, part("wait", "pause_turn"),
		part("bad", "end_turn"))
	got, a, f := c.exchange(context.Background(), c.request(100, says("user", "Judge.")))
	require.Nil(t, f)
	require.Equal(t, "bad", got.answer.Message.Content)
	require.Equal(t, audit.Usage{TokensIn: 20, TokensOut: 10, USD: 120e-6, Priced: true}, a.Usage)
	require.Equal(t, "assistant", sent()[1].Get("messages.1.role").Str)
	c, sent = asks(t, audit.ModelSettings{API: "messages"}, part("wait", "pause_turn"))
	_, _, f = c.exchange(context.Background(), c.request(100, says("user", "Judge.")))
	require.Nil(t, f)
	require.Len(t, sent(), maxPauses, "not for ever")
}

// TestRefusalsOfEachAPI: how each API says that its model refuses, and why.
func TestRefusalsOfEachAPI(t *testing.T) {
	for _, c := range []struct{ api, body, detail string }{
		{"responses",
			`{"object":"response","model":"m","status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"I can't."}]}]}`, "I can't."},
		{"responses",
			sse(`{"type":"response.failed","response":{"status":"failed","error":{"code":"cyber_policy","message":"flagged for possible cybersecurity risk"}}}`), "the provider turned the input down: error cyber_policy"},
		{"responses",
			`{"object":"response","status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`, "content filter"},
		{"messages",
			`{"type":"message","content":[],"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":"flagged"}}`, `"cyber: flagged"`},
		{"messages", `{"type":"message","content":[],"stop_reason":"refusal"}`, "gives no reason"},
	} {
		client, _ := asks(t, audit.ModelSettings{API: c.api}, c.body)
		r, err := client.Review(context.Background(),
			audit.ReviewTask{Spec: "s", Prompt: "p", Code: "c"})
		require.NoError(t, err)
		require.Equal(t, audit.Refused, r.Status, c.body)
		require.Contains(t, r.Detail, c.detail)
	}
	for api, body := range map[string]string{
		"responses": `{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message","content":[{"type":"output_text","text":"{\"verdict\":\"bad\"}"}]}]}`,
		"messages":  `{"type":"message","content":[{"type":"text","text":"{\"verdict\":\"bad\"}"}],"stop_reason":"model_context_window_exceeded"}`} {
		client, _ := asks(t, audit.ModelSettings{API: api}, body)
		r, err := client.Review(context.Background(),
			audit.ReviewTask{Spec: "s", Prompt: "p", Code: "c"})
		require.NoError(t, err)
		require.Equal(t, audit.Malformed, r.Status, "what is truncated is no answer")
	}
}

// TestFallbackBlocks: a server that answers by another model says so in a block.
func TestFallbackBlocks(t *testing.T) {
	c, _ := asks(t, audit.ModelSettings{API: "messages"},
		`{"type":"message","model":"m","content":[{"type":"fallback","from":{"model":"m"},"to":{"model":"n"}},{"type":"text","text":"bad"}],"stop_reason":"end_turn"}`)
	_, a, f := c.exchange(context.Background(), c.request(100, says("user", "Judge.")))
	require.Nil(t, f)
	require.Equal(t, "n", a.Model)
}

// TestModelAuditsByEachAPI: the agent loop comes to the same end whatever API its model has.
func TestModelAuditsByEachAPI(t *testing.T) {
	for api := range apis {
		t.Run(api, func(t *testing.T) {
			e := sit(t, func(e *exam, r mockapi.Request) mockapi.Reply {
				require.Contains(t, string(r.Body), `"read"`, "the tools are offered")
				switch r.N {
				case 1:
					return calls(listAll,
						mockapi.Call{Name: "search", Arguments: `{"pattern":"return"}`})
				case 2:
					return mockapi.Reply{Status: 529,
						Body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}
				}
				require.Contains(t, string(r.Body), "files below", "the result comes back")
				require.Contains(t, string(r.Body), `call-1-1`)
				return answers(e.report)
			})
			e.config.Model.Settings = audit.ModelSettings{API: api, Effort: "high"}
			run := e.run()
			e.passed(run)
			require.Equal(t, int64(2), run.Usage.Turns)
			require.False(t, run.Unconfirmed)
			require.Contains(t, run.Command[0], "effort=high")
			var whole map[string]any
			require.NoError(t, json.Unmarshal(e.server.Requests()[2].Body, &whole))
		})
	}
}
