package auditor

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/tidwall/gjson"
)

// chatCompletions is OpenAI's older API, which most servers speak:
// https://platform.openai.com/docs/api-reference/chat/create, 2026-11-20.
type chatCompletions struct{}

// name returns the name of the API for messages.
func (chatCompletions) name() string { return "OpenAI's chat completions" }

// path returns the path of the API below the base URL.
func (chatCompletions) path() string { return "/chat/completions" }

// authorize adds the key to a request.
func (chatCompletions) authorize(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

type chatBody struct {
	Model               string          `json:"model"`
	Messages            []chatMessage   `json:"messages"`
	MaxTokens           int64           `json:"max_tokens,omitempty"`
	MaxCompletionTokens int64           `json:"max_completion_tokens,omitempty"`
	Effort              string          `json:"reasoning_effort,omitempty"`
	Reasoning           *reasoningField `json:"reasoning,omitempty"` // OpenRouter's
	Temperature         *float64        `json:"temperature,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	Tools               []tool          `json:"tools,omitempty"`
	Stream              bool            `json:"stream,omitempty"`
	StreamOptions       *streamOptions  `json:"stream_options,omitempty"`
}

type reasoningField struct {
	Effort string `json:"effort"`
}

type responseFormat struct {
	Type   string      `json:"type"` // json_schema
	Schema namedSchema `json:"json_schema"`
}

type namedSchema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// body returns the body of a request.
func (chatCompletions) body(c *client, r *request) any {
	s := c.config.Model.Settings
	b := &chatBody{Model: c.config.Model.ID, Messages: r.messages, Tools: r.tools,
		Temperature: s.Temperature, Stream: !r.without.stream}
	if s.Effort != "" && c.config.Provider == "openrouter" {
		b.Reasoning = &reasoningField{s.Effort}
	} else {
		b.Effort = s.Effort
	}
	// OpenAI's newer models take max_completion_tokens alone, most other servers know
	// max_tokens alone.
	if (c.config.Provider == "openai") != r.without.limit {
		b.MaxCompletionTokens = r.maxTokens
	} else {
		b.MaxTokens = r.maxTokens
	}
	if b.Stream && !r.without.count {
		b.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if r.schema != nil && !r.without.schema {
		b.ResponseFormat = &responseFormat{"json_schema", namedSchema{"review", true, r.schema}}
	}
	return b
}

// tokens reads the counts of chat completions. Some servers count reasoning in the total alone.
func (chatCompletions) tokens(r *reply) tokenCount {
	in := r.count("prompt_tokens")
	return tokenCount{in: in, cached: r.count("prompt_tokens_details.cached_tokens"),
		out: max(r.count("completion_tokens"), r.count("total_tokens")-in)}
}

// read reads a chunk or a whole response.
func (a chatCompletions) read(r *reply, e gjson.Result) error {
	err := a.take(r, e)
	if err == nil && r.answer == nil && !r.failed && !r.streamed {
		err = a.unwrap(r, e)
	}
	return err
}

// take reads the members of a chunk or response.
func (a chatCompletions) take(r *reply, e gjson.Result) (err error) {
	e.ForEach(func(name, v gjson.Result) bool {
		switch name.Str {
		case "model":
			r.model = cmp.Or(v.Str, r.model)
		case "usage":
			r.uses(v)
		case "object":
			// the object itself is the error, as vLLM puts it into a stream
			r.failed = r.failed || v.Str == "error"
		case "choices":
			for i, c := range v.Array() {
				if c.IsObject() && (c.Get("index").Num == 0 || !r.streamed && i == 0) {
					err = errors.Join(err, a.choose(r, c))
				}
			}
		}
		return true
	})
	return err
}

// choose adds a choice, or a chunk's part of it, to the answer.
func (chatCompletions) choose(r *reply, c gjson.Result) error {
	if r.answer == nil {
		r.answer = &choice{}
	}
	if reason := c.Get("finish_reason").Str; reason != "" {
		r.answer.FinishReason, r.whole = finish(reason), true
	}
	r.failed = r.failed || c.Get("error").Type != gjson.Null
	m, err := readMessage(c.Get("delta"))
	// a completion that is whole, or a chunk that is one
	if err == nil && m.bytes() == 0 && r.written == 0 {
		m, err = readMessage(c.Get("message"))
	}
	m.Content = cmp.Or(m.Content, c.Get("text").Str) // of the old completions API
	r.grow(&m)
	return err
}

// unwrap takes a completion out of a gateway's envelope, or reads one in the shape
// of Anthropic's or Ollama's own API.
func (a chatCompletions) unwrap(r *reply, e gjson.Result) error {
	for _, name := range []string{"data", "result", "response"} {
		if inner := e.Get(name); inner.IsObject() {
			if err := a.take(r, inner); err != nil || r.answer != nil || r.failed {
				r.raw = []byte(inner.Raw)
				return err
			}
		}
	}
	if e.Get("type").Str == "message" {
		return messages{}.read(r, e)
	} else if said := e.Get("message"); said.IsObject() {
		r.answer = &choice{FinishReason: e.Get("done_reason").Str}
		m, err := readMessage(said)
		r.grow(&m)
		return err
	}
	return nil
}

// readMessage reads a message, or the part of one in a chunk.
func readMessage(e gjson.Result) (m message, err error) {
	e.ForEach(func(name, v gjson.Result) bool {
		switch name.Str {
		case "content":
			m.Content = contentOf(v)
		case "refusal":
			m.Refusal = v.Str
		case "reasoning", "reasoning_content": // OpenRouter; DeepSeek, vLLM
			m.Thought += v.Str
		case "reasoning_details":
			err = errors.Join(err, json.Unmarshal([]byte(v.Raw), &m.Details))
		case "tool_calls":
			err = errors.Join(err, json.Unmarshal([]byte(v.Raw), &m.ToolCalls))
		case "function_call":
			if v.IsObject() {
				m.Arguments = v.Get("arguments").Str
			}
		}
		return true
	})
	return m, err
}

// contentOf returns a message's text. Some servers give it in parts (Mistral's models
// that reason do); of these the parts of type text count.
func contentOf(e gjson.Result) string {
	text := e.Str
	if e.IsArray() {
		for _, part := range e.Array() {
			if kind := part.Get("type").Str; part.IsObject() && (kind == "text" || kind == "") {
				text += part.Get("text").Str
			}
		}
	}
	return text
}

// growCall adds a chunk's part of a tool call. Servers that send each call whole give all of
// them the index 0 (Gemini's and Ollama's); another ID, or another name after complete
// arguments, begins another call.
func (m *message) growCall(t toolCall) {
	at := -1
	for i := range m.ToolCalls {
		if have := &m.ToolCalls[i]; have.Index == t.Index {
			at = i
			another := t.ID != "" && have.ID != "" && t.ID != have.ID
			if another || t.ID == "" && t.Function.Name != "" &&
				json.Valid([]byte(have.Function.Arguments)) {
				at = -1
			}
		}
	}
	if at < 0 {
		m.addCall(t)
		return
	}
	have := &m.ToolCalls[at]
	have.ID, have.Function.Name = cmp.Or(t.ID, have.ID), cmp.Or(t.Function.Name, have.Function.Name)
	have.Function.Arguments += t.Function.Arguments
	if len(t.Extra) > 0 {
		have.Extra = t.Extra
	}
}

// addCall adds a call, up to maxCalls.
func (m *message) addCall(c toolCall) {
	if len(m.ToolCalls) < maxCalls {
		m.ToolCalls = append(m.ToolCalls, c)
	}
}

// maxCalls bounds how many calls of functions an answer may hold.
const maxCalls = 64
