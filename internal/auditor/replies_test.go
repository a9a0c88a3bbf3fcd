package auditor_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/auditor"
)

const (
	asked = `{"explanation": "Requirement 1 is violated.", "verdict": "bad", "violated_requirements": [1], "cwes": ["CWE-639"]}`
	fine  = `{"explanation": "No requirement is violated.", "verdict": "good", "violated_requirements": [], "cwes": []}`
)

// with gives the answer that was asked for, edited.
func with(old, new string) string {
	if !strings.Contains(asked, old) {
		panic("the test edits nothing: " + old)
	}
	return strings.Replace(asked, old, new, 1)
}

// A served is one reply of a server: a message that is streamed in one chunk, or
// what a handler writes.
type served struct {
	content any // of the message: a text, parts or nil
	fields  map[string]any
	finish  string // "": stop
	handler func(w *wire)
}

func text(content any) served { return served{content: content} }

func field(content any, name string, value any, finish string) served {
	return served{content, map[string]any{name: value}, finish, nil}
}

// A wire writes one response.
type wire struct {
	http.ResponseWriter
	sent map[string]any // the request
}

func (w *wire) body(status int, contentType, text string) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

func (w *wire) events(pieces ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, p := range pieces {
		_, _ = io.WriteString(w, p)
		w.ResponseWriter.(http.Flusher).Flush()
	}
}

func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

type object = map[string]any

var tokens = object{"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}

// chunk gives an event; finish nil: the stream goes on.
func chunk(delta object, finish any, more ...any) string {
	o := object{"id": "x", "object": "chat.completion.chunk",
		"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}}}
	if finish != nil {
		o["usage"] = tokens
	}
	for i := 0; i+1 < len(more); i += 2 {
		o[more[i].(string)] = more[i+1]
	}
	return "data: " + encoded(o) + "\n\n"
}

func says(s string) object { return object{"role": "assistant", "content": s} }

func completion() object {
	return object{"id": "x", "object": "chat.completion",
		"choices": []any{object{"index": 0, "finish_reason": "stop", "message": says(asked)}},
		"usage":   tokens}
}

const (
	done    = "data: [DONE]\n\n"
	failure = "errored"
)

// stream sends events one by one; whole, one body of JSON.
func stream(pieces ...string) served {
	return served{handler: func(w *wire) { w.events(pieces...) }}
}

func whole(v any) served {
	return served{handler: func(w *wire) { w.body(200, "application/json", encoded(v)) }}
}

// turnsDown refuses a parameter of the request, and answers without it.
func turnsDown(parameter, message string) served {
	return served{handler: func(w *wire) {
		if _, ok := w.sent[parameter]; ok {
			w.body(400, "application/json",
				encoded(object{"error": object{"message": message, "param": parameter,
					"code": "unsupported_parameter"}}))
			return
		}
		w.events(chunk(says(asked), nil), chunk(object{}, "stop"), done)
	}}
}

func letters(s string) (pieces []string) {
	for i := range len(s) {
		pieces = append(pieces, s[i:i+1])
	}
	return pieces
}

// replies are what models and gateways send, with what it means: a verdict, or
// the status of a reply without one.
var replies = []struct {
	name, want string
	served
}{
	{"fence json", bad, text("```json\n" + strings.ReplaceAll(asked, ", \"", ",\n  \"") + "\n```")},
	{"fence bare", bad, text("```\n" + asked + "\n```")},
	{"fence, prose before and after", bad,
		text("Here is my review:\n\n```json\n" + asked + "\n```\n\nLet me know if you need more.")},
	{"prose before, with braces", bad, text("The fragment uses ${sort} and {name} in SQL.\n" +
		asked)},
	{"prose after", bad, text(asked + "\n\nIn summary, the code is good practice otherwise.")},
	{"two objects, the same", bad, text(asked + "\n" + asked)},
	{"draft good, then final bad", rarely + bad,
		text("First thought:\n" + fine + "\nOn reflection:\n" + asked)},
	{"draft bad, then final good", rarely + good,
		text("Draft:\n" + asked + "\nWait, the join ties the row. Final answer:\n" + fine)},
	{"two verdicts, no word between them", no, text(fine + "\n" + asked)},
	{"the answer, then a quoted one", no,
		text(asked + "\n\nThe test in the fragment expects:\n\n```json\n" + fine + "\n```")},
	{"the answer, then a line that says otherwise", no, text(asked + "\n\n**Verdict:** good")},
	{"template, then answer", bad,
		text(`{"explanation": "...", "verdict": "good" or "bad", "violated_requirements": [], "cwes": []}` + "\n" + asked)},
	{"Bad.", bad, text(with(`"bad"`, `"Bad."`))},
	{"BAD", bad, text(with(`"bad"`, `"BAD"`))},
	{"**bad**", bad, text(with(`"bad"`, `"**bad**"`))},
	{"bad - violates 1", bad, text(with(`"bad"`, `"bad - violates requirement 1"`))},
	{"bad (requirement 1)", bad, text(with(`"bad"`, `"bad (requirement 1)"`))},
	{"bad: not safe", bad, text(with(`"bad"`, `"bad: this is not safe"`))},
	{"good - nothing violated", good,
		text(strings.Replace(fine, `"good"`, `"Good - no requirement is violated."`, 1))},
	{"good, but", no,
		text(strings.Replace(fine, `"good"`, `"good, but the page is unlimited"`, 1))},
	{"good - violates 1", no,
		text(strings.Replace(fine, `"good"`, `"good - violates requirement 1"`, 1))},
	{"not good", bad, text(with(`"bad"`, `"not good"`))},
	{"not bad", no, text(with(`"bad"`, `"not bad"`))},
	{"vulnerable", bad, text(with(`"bad"`, `"vulnerable"`))},
	{"insecure", bad, text(with(`"bad"`, `"insecure"`))},
	{"good, and violates", no, text(with(`"bad"`, `"good"`))},
	{"good, and what is satisfied", good,
		text(strings.Replace(fine, `[]`, `["Requirement 1: satisfied", "2 is not violated"]`, 1))},
	{"bad without requirements", bad, text(with(`[1]`, `[]`))},
	{"Verdict", bad, text(with(`"verdict"`, `"Verdict"`))},
	{"assessment", bad, text(`{"explanation":"leaks","assessment":"bad"}`)},
	{"in review", bad, text(`{"review": ` + asked + `}`)},
	{"in data", bad, text(`{"data": ` + asked + `}`)},
	{"in an array", bad, text("[" + asked + "]")},
	{"vulnerable: true", bad,
		text(`{"explanation":"x","vulnerable":true,"violated_requirements":[1],"cwes":["CWE-89"]}`)},
	{"requirements as texts", bad, text(with(`[1]`, `["1"]`))},
	{"requirements with titles", bad, text(with(`[1]`, `["1. Tenants"]`))},
	{"requirements in one text", bad, text(with(`[1]`, `"1, 4"`))},
	{"a weakness as a number", bad, text(with(`["CWE-639"]`, `[639]`))},
	{"a weakness with its name", bad,
		text(with(`"CWE-639"`, `"CWE-639: Authorization Bypass Through User-Controlled Key"`))},
	{"weaknesses in one text", bad, text(with(`["CWE-639"]`, `"CWE-639, CWE-863"`))},
	{"an object in the reasoning", bad, text("<think>If it were fine I would say " + fine +
		" but it is not.</think>\n" + asked)},
	{"reasoning not closed, then the object", rarely + bad,
		text("<think>Let me look. The tenant is missing.\n\n" + asked)},
	{"reasoning not closed, two objects", no, text("<think>It may be " + fine + " or it is\n" +
		asked)},
	{"reasoning not closed, the object amid it", no,
		text("<think>I could say " + fine + " but the tenant is missing.")},
	{"reasoning alone, cut", no,
		served{content: `<think>Let me look at requirement 1. The verdict would be "bad" if`,
			finish: "length"}},
	{"reasoning without a beginning", bad, text("maybe " + fine + "\n</think>\n" + asked)},
	{"reasoning beside", bad, field(asked, "reasoning_content",
		`I first thought "verdict": "good".`, "")},
	{"the object in the reasoning alone", rarely + bad, field("", "reasoning_content", asked, "")},
	{"the object in OpenRouter's reasoning alone", rarely + bad,
		field("", "reasoning", "I look.\n"+asked, "")},
	{"reasoning alone, no object", no, field("", "reasoning_content", "The fragment is bad.", "")},
	{"cut in the explanation", no,
		served{content: `{"explanation": "The statement joins purchase_orders without a condition on org_id and so`, finish: "length"}},
	{"cut after the verdict", no,
		served{content: `{"explanation": "x", "verdict": "bad", "violated_req`, finish: "length"}},
	{"trailing commas", bad,
		text(`{"explanation":"x","verdict":"bad","violated_requirements":[1,],"cwes":["CWE-639"],}`)},
	{"as Python", bad,
		text(`{'explanation': 'x', 'verdict': 'bad', 'violated_requirements': [1], 'cwes': ['CWE-639']}`)},
	{"a line end in a text", bad,
		text("{\"explanation\":\"line one\nline two\",\"verdict\":\"bad\",\"violated_requirements\":[1],\"cwes\":[\"CWE-639\"]}")},
	{"quotes in a text", bad,
		text(`{"explanation":"the alias "p" is free","verdict":"bad","violated_requirements":[1],"cwes":["CWE-639"]}`)},
	{"a wrong escape", bad,
		text(`{"explanation":"column org\_id","verdict":"bad","violated_requirements":[1],"cwes":["CWE-639"]}`)},
	{"a comment", bad,
		text("{\n  // my view\n  \"explanation\":\"x\",\n  \"verdict\":\"bad\",\n  \"violated_requirements\":[1],\n  \"cwes\":[\"CWE-639\"]\n}")},
	{"typographic quotes", bad, text(strings.ReplaceAll(asked, `"`, "“"))},
	{"BOM", bad, text("\ufeff" + asked)},
	{"YAML", bad,
		text("explanation: x\nverdict: bad\nviolated_requirements: [1]\ncwes: [CWE-639]")},
	{"YAML in a list", bad,
		text("```yaml\nverdict: bad\nviolated_requirements:\n  - 1\ncwes:\n  - CWE-639\n```")},
	{"YAML, good", good,
		text("explanation: x\nverdict: good\nviolated_requirements: []\ncwes: []")},
	{"YAML, good, and violates", no, text("verdict: good\nviolated_requirements: [1]\n")},
	{"Markdown", bad,
		text("**Explanation:** the root is not held.\n\n**Verdict:** bad\n\n**Violated requirements:** 1\n\n**CWEs:** CWE-639")},
	{"Markdown headings", bad,
		text("## Verdict\n\nbad\n\n## Violated requirements\n\n- 1: tenants (CWE-639)\n")},
	{"a sentence", rarely + bad, text("The verdict is bad: requirement 1 is violated (CWE-639).")},
	{"the fragment is bad", rarely + bad,
		text("The fragment is bad. It violates requirement 1 (CWE-639).")},
	{"the fragment is not good", rarely + bad,
		text("The fragment is not good; requirement 1 is violated, CWE-639.")},
	{"if the fragment is good", no, text("If the fragment is good, the tenant is held elsewhere.")},
	{"both words", no,
		text("A good developer would see that this is bad in places and good in others.")},
	{"a sentence within another", no, text("It says that the fragment is good.")},
	{"a sentence that hedges", no, text("The fragment is good if the tenant is held elsewhere.")},
	{"two sentences that contradict", no,
		text("The fragment is good. Then again, the fragment is bad.")},
	{"cannot find anything bad", rarely + good,
		text("I cannot find anything bad here; the fragment is good.")},
	{"cannot see, no verdict", no,
		text(`{"explanation":"I cannot see where the tenant is held."}`)},
	{"refusal words in the explanation", bad,
		text(with("Requirement 1 is violated.",
			"I can't help but notice that requirement 1 is violated."))},
	{"refusal words beside the verdict", bad,
		text("I'm sorry, but I can't help with exploits. My review:\n" + asked)},
	{"refusal field beside the verdict", bad,
		field(asked, "refusal", "I cannot help with exploits.", "")},
	{"not refused", bad, text(with(`"verdict"`, `"refused": false, "verdict"`))},
	{"refusal", not, text("I'm sorry, but I can't assist with that request.")},
	{"refusal, typographic", not,
		text("I can’t help with identifying vulnerabilities in this code.")},
	{"refusal field", not, field(nil, "refusal", "I cannot help with this.", "")},
	{"content filter", not, served{content: "", finish: "content_filter"}},
	{"a call of a tool", bad,
		field(nil, "tool_calls",
			[]any{object{"index": 0, "id": "c1", "type": "function",
				"function": object{"name": "review", "arguments": asked}}}, "tool_calls")},
	{"a call of a function, the old way", bad,
		field(nil, "function_call", object{"name": "review", "arguments": asked}, "function_call")},
	{"parts", bad, text([]any{object{"type": "text", "text": asked}})},
	{"empty", no, text("")},
	{"null", no, text(nil)},
	{"white space", no, text("   \n")},
	{"JSON in JSON", rarely + bad, text(encoded(asked))},
	{"an element", bad, text("<answer>" + asked + "</answer>")},
	{"Chinese prose", bad, text("以下是我的评审：\n" + asked)},
	{"schlecht", no, text(with(`"bad"`, `"schlecht"`))},
	{"the verdict twice", no,
		text(`{"explanation":"x","verdict":"good","violated_requirements":[1],"cwes":[],"verdict":"bad"}`)},
	{"the explanation quotes an object", bad,
		text(with("Requirement 1 is violated.",
			`A naive reader would say {\"verdict\":\"good\"} here.`))},
	{"null for lists", good,
		text(`{"explanation":"x","verdict":"good","violated_requirements":null,"cwes":null}`)},
	{"a requirement that is none", bad, text(with("[1]", "[99]"))},
	{"a requirement with a fraction", bad, text(with("[1]", "[1.0]"))},
	{"an open fence", bad, text("```json\n" + asked)},
	{"two fences", bad, text("```sql\nSELECT 1\n```\n```json\n" + asked + "\n```")},
	{"ends with a mark", bad, text(asked + "<|im_end|>")},
	{"harmony", bad, text("<|channel|>analysis<|message|>It might be " + fine +
		"<|end|><|start|>assistant<|channel|>final<|message|>" + asked)},

	// How it is sent.
	{"a gateway's data", bad, whole(object{"code": 0, "data": completion()})},
	{"a gateway's result", bad, whole(object{"result": completion(), "success": true})},
	{"a gateway's error in data", failure,
		whole(object{"data": object{"error": object{"message": "upstream overloaded",
			"code": 502}}})},
	{"an error with 200", failure,
		whole(object{"error": object{"message": "upstream overloaded", "code": 502}})},
	{"an error in a stream", failure,
		stream("data: " +
			encoded(object{"error": object{"message": "upstream overloaded", "code": 502}}) +
			"\n\n")},
	{"an error in mid-stream", failure, stream(chunk(says(asked[:40]), nil),
		chunk(says(""), "error", "error", object{"message": "provider disconnected", "code": 502}),
		done)},
	{"no DONE", bad, stream(chunk(says(asked), nil), chunk(object{}, "stop"))},
	// it may have been cut: what follows is unknown
	{"neither an end nor DONE", failure, stream(chunk(says(asked), nil))},
	{"cut in the middle", failure, stream(chunk(says(asked[:60]), nil))},
	{"CRLF and comments", bad,
		stream(": keepalive\r\n\r\n", strings.ReplaceAll(chunk(says(asked), nil), "\n", "\r\n"),
			": PROCESSING\r\n\r\n", strings.ReplaceAll(chunk(object{}, "stop"), "\n", "\r\n"),
			"data: [DONE]\r\n\r\n")},
	{"no space", bad,
		stream(strings.ReplaceAll(chunk(says(asked), nil)+chunk(object{}, "stop")+done,
			"data: ", "data:"))},
	{"byte by byte", bad,
		stream(letters(chunk(says(with("Requirement", "Anforderung ü中")), "stop") + done)...)},
	{"a letter a chunk", bad, served{handler: func(w *wire) {
		for _, l := range letters(asked) {
			w.events(chunk(object{"content": l}, nil))
		}
		w.events(chunk(object{}, "stop"), done)
	}}},
	{"two choices", bad,
		stream("data: "+
			encoded(object{"choices": []any{object{"index": 1, "delta": says(fine),
				"finish_reason": "stop"}, object{"index": 0, "delta": says(asked),
				"finish_reason": "stop"}}})+"\n\n", done)},
	{"usage first", bad, stream("data: "+encoded(object{"choices": []any{}, "usage": tokens})+
		"\n\n", chunk(says(asked), nil), chunk(object{}, "stop"), done)},
	{"the end repeats it all", bad, stream(chunk(says(asked[:30]), nil),
		chunk(says(asked[30:]), nil), "data: "+
			encoded(object{"choices": []any{object{"index": 0, "delta": object{},
				"message": says(asked), "finish_reason": "stop"}}})+"\n\n", done)},
	{"data on several lines", bad,
		stream("data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":"+encoded(asked)+
			"},\"finish_reason\":\"stop\"}]}\n\n", done)},
	{"no stream", bad, whole(completion())},
	{"no stream, with a BOM", bad,
		served{handler: func(w *wire) {
			w.body(200, "application/json",
				"\ufeff"+encoded(completion()))
		}}},
	{"a stream with a BOM", bad, stream("\ufeff"+chunk(says(asked), nil),
		chunk(object{}, "stop"), done)},
	{"no stream, as text", bad,
		served{handler: func(w *wire) { w.body(200, "text/plain", encoded(completion())) }}},
	{"a page", failure, served{handler: func(w *wire) {
		w.body(200, "text/html", "<!doctype html><html><body>Login</body></html>")
	}}},
	{"no body", failure, served{handler: func(w *wire) { w.body(200, "application/json", "") }}},
	{"no choices", failure, whole(object{"id": "x", "choices": []any{}, "usage": tokens})},
	{"choices null", failure, whole(object{"id": "x", "choices": nil})},
	{"text, the old way", bad,
		whole(object{"choices": []any{object{"index": 0, "text": asked,
			"finish_reason": "stop"}}})},
	{"text, the old way, streamed", bad,
		stream("data: "+
			encoded(object{"choices": []any{object{"index": 0, "text": asked,
				"finish_reason": "stop"}}})+"\n\n", done)},
	{"as Anthropic", bad,
		whole(object{"type": "message", "role": "assistant",
			"content": []any{object{"type": "text", "text": asked}}, "stop_reason": "end_turn"})},
	{"as Ollama", bad, whole(object{"model": "m", "message": says(asked), "done": true})},
	{"as Anthropic, cut", no,
		whole(object{"type": "message", "content": []any{object{"type": "text", "text": asked}},
			"stop_reason": "max_tokens"})},
	{"overloaded", failure, served{handler: func(w *wire) {
		w.body(529, "application/json",
			encoded(object{"type": "error", "error": object{"type": "overloaded_error",
				"message": "Overloaded"}}))
	}}},
	{"no response_format", bad,
		turnsDown("response_format",
			"Unsupported parameter: 'response_format' of type 'json_schema' is not supported with this model.")},
	{"no max_tokens", bad,
		turnsDown("max_tokens",
			"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")},
	{"no stream_options", bad,
		turnsDown("stream_options", "stream_options: Extra inputs are not permitted")},
}

// means reports whether a verdict or status is the one that is wanted.
func means(want, got string) bool {
	verdict, rare := strings.CutPrefix(want, rarely)
	return got == verdict || rare && got == no
}

// TestReplies asks a server for each, over HTTP, as a run does.
func TestReplies(t *testing.T) {
	require.GreaterOrEqual(t, len(replies), 103)
	seen := map[string]bool{}
	for _, tt := range replies {
		require.False(t, seen[tt.name], tt.name)
		seen[tt.name] = true
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter,
				req *http.Request) {
				w := &wire{ResponseWriter: rw}
				if json.NewDecoder(req.Body).Decode(&w.sent) != nil {
					return
				}
				if tt.handler != nil {
					tt.handler(w)
					return
				}
				message := object{"role": "assistant", "content": tt.content}
				for k, v := range tt.fields {
					message[k] = v
				}
				finish := tt.finish
				if finish == "" {
					finish = "stop"
				}
				w.events(chunk(message, nil), chunk(object{}, finish), done)
			}))
			defer server.Close()
			r, err := chat(t, server.URL,
				func(c *auditor.ChatConfig) { c.Provider = "local" }).Review(context.Background(),
				task)
			require.NoError(t, err)
			got := string(r.Status)
			if r.Status == audit.Answered {
				got = string(r.Verdict)
			} else {
				require.NotEmpty(t, r.Detail)
			}
			require.True(t, means(tt.want, got), fmt.Sprintf("want %s, got %s: ", tt.want, got)+
				fmt.Sprintf("%s\n%s", r.Detail, r.Raw))
			unread := []string{"bad without requirements", "a requirement that is none"}
			if got == bad && strings.Contains(r.Raw, "639") && !slices.Contains(unread, tt.name) {
				require.Contains(t, r.Violates, 1)
				require.Contains(t, r.CWEs, audit.CWE(639))
			}
			if got == good {
				require.Empty(t, r.Violates)
			}
		})
	}
}
