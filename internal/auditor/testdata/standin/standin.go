// Package standin is a server for tests that speaks enough of four providers' APIs for their
// agents to come to an end.
package standin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// A Server has the agent's shell print a file, and when it is sent what stands in the file,
// answers with the report.
type Server struct {
	*httptest.Server
	Report       func(request string) string // of a request that holds Canary
	Show, Canary string                      // a file of the tree, and what stands in it
	Model        string                      // that answers; empty: the one that was asked

	mu    sync.Mutex
	saw   bool     // the file's text came back
	asked []string // method and path of what was asked
	tools []string // the tools that were offered, of the last request that offered any
}

// New starts a server, at 127.0.0.2: no program asks 127.0.0.1 by way of a proxy.
func New(show, canary string, report func(request string) string) (*Server, error) {
	s := &Server{Report: report, Show: show, Canary: canary}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		return nil, err
	}
	if err := s.Listener.Close(); err != nil {
		return nil, err
	}
	s.Listener = l
	s.Start()
	return s, nil
}

// Seen returns whether the file's text came back, what was asked, and the tools that were
// offered last.
func (s *Server) Seen() (saw bool, asked, tools []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saw, s.asked, s.tools
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	saw := strings.Contains(string(b), s.Canary)
	s.saw = s.saw || saw
	s.mu.Unlock()
	var body struct {
		Model  string           `json:"model"`
		Stream bool             `json:"stream"`
		Tools  []map[string]any `json:"tools"`
	}
	_ = json.Unmarshal(b, &body)
	names := toolNames(body.Tools)
	if len(names) > 0 {
		s.mu.Lock()
		s.tools = names
		s.mu.Unlock()
	}
	a := s.answer(names, string(b), saw)
	if _, name, ok := strings.Cut(r.URL.Path, "/models/"); ok { // Gemini's
		body.Model, _, _ = strings.Cut(name, ":")
	}
	a.model = cmp.Or(s.Model, body.Model)
	w.Header().Set("Content-Type", "application/json")
	switch p := r.URL.Path; {
	case r.Method != http.MethodPost:
		http.Error(w, `{"error":{"message":"not here"}}`, http.StatusNotFound)
	case strings.HasSuffix(p, "/count_tokens"):
		_, _ = io.WriteString(w, `{"input_tokens":100}`)
	case strings.HasSuffix(p, "/messages"):
		a.anthropic(w, body.Stream)
	case strings.HasSuffix(p, "/responses"):
		a.responses(w, body.Stream)
	case strings.Contains(p, "enerateContent"):
		a.gemini(w, strings.Contains(p, "stream"))
	case strings.HasSuffix(p, "/chat/completions"):
		a.completions(w, body.Stream)
	default:
		http.Error(w, `{"error":{"message":"not here"}}`, http.StatusNotFound)
	}
}

// toolNames gives the names of the tools as the four APIs hold them.
func toolNames(tools []map[string]any) (names []string) {
	for _, t := range tools {
		if f, ok := t["function"].(map[string]any); ok {
			t = f
		}
		if n, ok := t["name"].(string); ok {
			names = append(names, n)
		}
		declared, _ := t["functionDeclarations"].([]any)
		for _, d := range declared {
			if f, ok := d.(map[string]any); ok {
				names = append(names, fmt.Sprint(f["name"]))
			}
		}
	}
	return names
}

// An answer is a text, or the call of a shell.
type answer struct {
	text       string
	tool, args string
	model      string
}

// shells are the tools by which the agents run a command, with their arguments.
var shells = []struct{ tool, args string }{
	{"Bash", `{"command":%q,"description":"look"}`},
	{"bash", `{"command":%q,"description":"look"}`},
	{"exec_command", `{"cmd":%q}`},
	{"shell_command", `{"command":%q}`},
	{"run_shell_command", `{"command":%q,"description":"look","is_background":false}`},
	{"Shell", `{"command":%q}`},
}

func (s *Server) answer(names []string, request string, saw bool) answer {
	if saw {
		return answer{text: s.Report(request)}
	}
	for _, sh := range shells {
		for _, n := range names {
			if n == sh.tool {
				return answer{tool: n, args: fmt.Sprintf(sh.args, "cat "+s.Show)}
			}
		}
	}
	if len(names) == 0 {
		return answer{text: "A title"} // asked for beside the audit
	}
	return answer{text: s.Report(request)}
}

type object = map[string]any

// events writes a stream of server-sent events; named where the API names them.
func sseEvents(w http.ResponseWriter, named bool, list ...object) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range list {
		b, _ := json.Marshal(e)
		if named {
			fmt.Fprintf(w, "event: %s\n", e["type"])
		}
		fmt.Fprintf(w, "data: %s\n\n", b)
	}
}

func (a answer) anthropic(w http.ResponseWriter, stream bool) {
	usage := object{"input_tokens": 1000, "output_tokens": 100}
	block, delta, stop := object{"type": "text", "text": ""}, object{"type": "text_delta",
		"text": a.text}, "end_turn"
	whole := object{"type": "text", "text": a.text}
	if a.tool != "" {
		block, delta, stop = object{"type": "tool_use", "id": "toolu_1", "name": a.tool,
			"input": object{}}, object{"type": "input_json_delta", "partial_json": a.args},
			"tool_use"
		whole = object{"type": "tool_use", "id": "toolu_1", "name": a.tool,
			"input": json.RawMessage(a.args)}
	}
	id := "msg_" + a.tool // each answer is a message of its own
	message := object{"id": id, "type": "message", "role": "assistant", "model": a.model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}
	if !stream {
		message["content"], message["stop_reason"] = []any{whole}, stop
		_ = json.NewEncoder(w).Encode(message)
		return
	}
	sseEvents(w, true, object{"type": "message_start", "message": message},
		object{"type": "content_block_start", "index": 0, "content_block": block},
		object{"type": "content_block_delta", "index": 0, "delta": delta},
		object{"type": "content_block_stop", "index": 0},
		object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil},
			"usage": object{"output_tokens": 100}},
		object{"type": "message_stop"})
}

func (a answer) responses(w http.ResponseWriter, stream bool) {
	item := object{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
		"content": []any{object{"type": "output_text", "text": a.text, "annotations": []any{}}}}
	if a.tool != "" {
		item = object{"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": a.tool,
			"arguments": a.args, "status": "completed"}
	}
	done := object{"id": "resp_1", "object": "response", "created_at": 1, "model": a.model,
		"status": "completed", "output": []any{item},
		"usage": object{"input_tokens": 1000, "input_tokens_details": object{"cached_tokens": 0},
			"output_tokens": 100, "output_tokens_details": object{"reasoning_tokens": 0},
			"total_tokens": 1100}}
	if !stream {
		_ = json.NewEncoder(w).Encode(done)
		return
	}
	sseEvents(w, true, object{"type": "response.created", "response": object{"id": "resp_1",
		"object": "response", "output": []any{}}},
		object{"type": "response.output_item.added", "output_index": 0, "item": item},
		object{"type": "response.output_item.done", "output_index": 0, "item": item},
		object{"type": "response.completed", "response": done})
}

func (a answer) gemini(w http.ResponseWriter, stream bool) {
	part := object{"text": a.text}
	if a.tool != "" {
		part = object{"functionCall": object{"name": a.tool, "args": json.RawMessage(a.args)}}
	}
	answer := object{"candidates": []any{object{"content": object{"role": "model",
		"parts": []any{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": 1000, "candidatesTokenCount": 100,
			"totalTokenCount": 1100}, "modelVersion": a.model}
	if stream {
		sseEvents(w, false, answer)
		return
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (a answer) completions(w http.ResponseWriter, stream bool) {
	message, finish := object{"role": "assistant", "content": a.text}, "stop"
	if a.tool != "" {
		message, finish = object{"role": "assistant", "content": nil,
			"tool_calls": []any{object{"index": 0, "id": "call_1", "type": "function",
				"function": object{"name": a.tool, "arguments": a.args}}}}, "tool_calls"
	}
	usage := object{"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
	head := func(kind string, choice object) object {
		return object{"id": "chat_1", "object": kind, "created": 1, "model": a.model,
			"choices": []any{choice}, "usage": usage}
	}
	if !stream {
		_ = json.NewEncoder(w).Encode(head("chat.completion", object{"index": 0, "message": message,
			"finish_reason": finish}))
		return
	}
	sseEvents(w, false, head("chat.completion.chunk", object{"index": 0, "delta": message,
		"finish_reason": nil}),
		head("chat.completion.chunk", object{"index": 0, "delta": object{},
			"finish_reason": finish}))
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}
