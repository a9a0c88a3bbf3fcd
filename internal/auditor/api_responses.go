package auditor

import (
	"cmp"
	"encoding/json"

	"github.com/tidwall/gjson"
)

// responses is OpenAI's API for models that reason and call tools:
// https://platform.openai.com/docs/api-reference/responses, as of the package openai 7.57.0.
// Nothing is stored at OpenAI: reasoning comes encrypted and goes back with the next turn.
type responses struct{ chatCompletions }

// name returns the name of the API for messages.
func (responses) name() string { return "OpenAI's Responses" }

// path returns the path of the API below the base URL.
func (responses) path() string { return "/responses" }

type responsesBody struct {
	Model       string          `json:"model"`
	Input       []any           `json:"input"`
	MaxTokens   int64           `json:"max_output_tokens,omitempty"`
	Reasoning   *reasoningField `json:"reasoning,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	Text        *textFormat     `json:"text,omitempty"`
	Tools       []responsesTool `json:"tools,omitempty"`
	Include     []string        `json:"include,omitempty"`
	Stream      bool            `json:"stream,omitempty"`
	Store       bool            `json:"store"`
}

type responsesTool struct {
	Type        string          `json:"type"` // function
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

type textFormat struct {
	Format struct {
		Type string `json:"type"` // json_schema
		namedSchema
	} `json:"format"`
}

// body returns the body of a request.
func (responses) body(c *client, r *request) any {
	s := c.config.Model.Settings
	b := &responsesBody{Model: c.config.Model.ID, MaxTokens: r.maxTokens,
		Temperature: s.Temperature,
		Stream:      !r.without.stream}
	if s.Effort != "" {
		b.Reasoning = &reasoningField{s.Effort}
	}
	if !r.without.sealed {
		b.Include = []string{"reasoning.encrypted_content"}
	}
	if r.schema != nil && !r.without.schema {
		b.Text = &textFormat{}
		b.Text.Format.Type, b.Text.Format.namedSchema = "json_schema", namedSchema{"review",
			true, r.schema}
	}
	for i := range r.tools {
		f := &r.tools[i].Function
		b.Tools = append(b.Tools, responsesTool{"function", f.Name, f.Description,
			f.Parameters, false})
	}
	for i := range r.messages {
		b.Input = append(b.Input, responsesInput(&r.messages[i])...)
	}
	return b
}

// responsesInput returns the items of a message. Reasoning without its encrypted content is
// left out: OpenAI has not stored it, and would look for it.
func responsesInput(m *chatMessage) (items []any) {
	type object = map[string]any
	if m.Role == "tool" {
		return []any{object{"type": "function_call_output", "call_id": m.ToolCallID,
			"output": m.text()}}
	}
	for _, item := range m.Details {
		e := gjson.ParseBytes(item)
		if e.Get("type").Str != "reasoning" || e.Get("encrypted_content").Str != "" {
			items = append(items, item)
		}
	}
	if len(items) == 0 && m.Content != nil {
		items = append(items, object{"role": m.Role, "content": m.text()})
	}
	for _, c := range m.unsent() {
		items = append(items, object{"type": "function_call", "call_id": c.ID,
			"name":      c.Function.Name,
			"arguments": string(c.Function.Arguments)})
	}
	return items
}

// tokens returns the counts of Responses.
func (responses) tokens(r *reply) tokenCount {
	return tokenCount{in: r.count("input_tokens"), out: r.count("output_tokens"),
		cached: r.count("input_tokens_details.cached_tokens"),
		stored: r.count("input_tokens_details.cache_write_tokens")}
}

// read reads an event or a whole response.
func (a responses) read(r *reply, e gjson.Result) error {
	switch e.Get("type").Str {
	case "response.output_text.delta", "response.refusal.delta",
		"response.function_call_arguments.delta",
		"response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		r.progresses(len(e.Get("delta").Str))
	case "response.output_item.done":
		r.between = true
		r.items = append(r.items, json.RawMessage(e.Get("item").Raw))
	case "response.completed", "response.incomplete", "response.failed":
		a.finish(r, e.Get("response"))
	case "error":
		r.failed = true
	case "": // in one piece
		if e.Get("output").IsArray() {
			a.finish(r, e)
		}
	}
	return nil
}

// finish reads a whole response.
func (responses) finish(r *reply, e gjson.Result) {
	r.model = cmp.Or(e.Get("model").Str, r.model)
	r.uses(e.Get("usage"))
	if failure := e.Get("error"); e.Get("status").Str == "failed" {
		r.failed, r.raw = true, []byte(`{"error":`+cmp.Or(failure.Raw, `"the response failed"`)+`}`)
		return
	}
	m := message{}
	if output := e.Get("output").Array(); len(output) > 0 {
		r.items = nil
		for _, item := range output {
			r.items = append(r.items, json.RawMessage(item.Raw))
		}
	}
	for _, raw := range r.items {
		item := gjson.ParseBytes(raw)
		switch item.Get("type").Str {
		case "message":
			for _, part := range item.Get("content").Array() {
				m.Content += part.Get("text").Str
				m.Refusal += part.Get("refusal").Str
			}
		case "reasoning":
			for _, part := range item.Get("summary").Array() {
				m.Thought += part.Get("text").Str
			}
		case "function_call":
			c := toolCall{ID: item.Get("call_id").Str, Type: "function"}
			c.Function.Name = item.Get("name").Str
			c.Function.Arguments = arguments(item.Get("arguments").Str)
			m.addCall(c)
		}
	}
	m.Details = r.items
	reason := "stop"
	if len(m.ToolCalls) > 0 {
		reason = "tool_calls"
	}
	if e.Get("status").Str == "incomplete" {
		reason = finish(cmp.Or(e.Get("incomplete_details.reason").Str, "length"))
	}
	r.ends(&m, reason)
}
