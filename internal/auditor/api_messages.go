package auditor

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// messages is Anthropic's API: https://platform.claude.com/docs/en/api/messages, as of the
// package @anthropic-ai/sdk 1.12.0.
type messages struct{}

// name returns the name of the API for messages.
func (messages) name() string { return "Anthropic's Messages" }

// path returns the path of the API below the base URL.
func (messages) path() string { return "/messages" }

// authorize adds the key to a request.
func (messages) authorize(h http.Header, key string) {
	h.Set("anthropic-version", "2023-06-01")
	if key != "" {
		h.Set("x-api-key", key)
	}
}

type messagesBody struct {
	Model       string         `json:"model"`
	Messages    []messagesTurn `json:"messages"`
	MaxTokens   int64          `json:"max_tokens"`
	Output      *outputConfig  `json:"output_config,omitempty"`
	Temperature *float64       `json:"temperature,omitempty"`
	Tools       []messagesTool `json:"tools,omitempty"`
	Stream      bool           `json:"stream,omitempty"`
}

type outputConfig struct {
	Effort string        `json:"effort,omitempty"`
	Format *schemaFormat `json:"format,omitempty"`
}

type schemaFormat struct {
	Type   string          `json:"type"` // json_schema
	Schema json.RawMessage `json:"schema"`
}

type messagesTurn struct {
	Role    string `json:"role"`
	Content []any  `json:"content"`
}

type messagesTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// body returns the body of a request.
func (messages) body(c *client, r *request) any {
	type object = map[string]any
	s := c.config.Model.Settings
	b := &messagesBody{Model: c.config.Model.ID, MaxTokens: r.maxTokens, Temperature: s.Temperature,
		Stream: !r.without.stream}
	config := outputConfig{Effort: s.Effort}
	if r.schema != nil && !r.without.schema {
		config.Format = &schemaFormat{"json_schema", r.schema}
	}
	if config != (outputConfig{}) {
		b.Output = &config
	}
	for i := range r.tools {
		f := &r.tools[i].Function
		b.Tools = append(b.Tools, messagesTool{f.Name, f.Description, f.Parameters})
	}
	for i := range r.messages {
		role, blocks := messagesBlocks(&r.messages[i])
		if n := len(b.Messages); n > 0 && b.Messages[n-1].Role == role { // turns alternate
			b.Messages[n-1].Content = append(b.Messages[n-1].Content, blocks...)
			continue
		}
		b.Messages = append(b.Messages, messagesTurn{role, blocks})
	}
	// What was said before is read from the cache in the next turn, at a tenth of the price.
	content := b.Messages[len(b.Messages)-1].Content
	if last, ok := content[len(content)-1].(object); ok && len(r.tools) > 0 {
		last["cache_control"] = object{"type": "ephemeral"}
	}
	return b
}

// messagesBlocks returns the role and the blocks of a message.
func messagesBlocks(m *chatMessage) (role string, blocks []any) {
	type object = map[string]any
	if m.Role == "tool" {
		return "user", []any{object{"type": "tool_result", "tool_use_id": m.ToolCallID,
			"content": m.text()}}
	}
	for _, block := range m.Details {
		blocks = append(blocks, block)
	}
	if text := m.text(); len(blocks) == 0 && strings.TrimSpace(text) != "" {
		blocks = append(blocks, object{"type": "text", "text": text})
	}
	for _, c := range m.unsent() {
		blocks = append(blocks, object{"type": "tool_use", "id": c.ID, "name": c.Function.Name,
			"input": json.RawMessage(c.Function.Arguments)})
	}
	if len(blocks) == 0 { // a message may not be empty
		blocks = []any{object{"type": "text", "text": "(nothing)"}}
	}
	return m.Role, blocks
}

// tokens returns the counts of Messages, whose input_tokens exclude cached ones.
func (messages) tokens(r *reply) tokenCount {
	t := tokenCount{cached: r.count("cache_read_input_tokens"),
		stored: r.count("cache_creation_input_tokens"),
		out:    r.count("output_tokens")}
	t.in = r.count("input_tokens") + t.cached + t.stored
	return t
}

// A contentBlock is a block of an answer, as far as it has come.
type contentBlock struct {
	start                            gjson.Result
	text, thinking, signature, input string
}

// read reads an event or a whole response.
func (a messages) read(r *reply, e gjson.Result) error {
	switch e.Get("type").Str {
	case "error":
		r.failed = true
	case "message": // in one piece
		r.model = e.Get("model").Str
		r.uses(e.Get("usage"))
		for _, b := range e.Get("content").Array() {
			r.blocks = append(r.blocks, newBlock(b))
		}
		a.finish(r, e)
	case "message_start":
		r.model = e.Get("message.model").Str
		r.uses(e.Get("message.usage"))
	case "content_block_start":
		if len(r.blocks) < maxBlocks {
			r.blocks = append(r.blocks, newBlock(e.Get("content_block")))
		}
	case "content_block_delta":
		if n := len(r.blocks); n > 0 {
			r.progresses(r.blocks[n-1].grow(e.Get("delta")))
		}
	case "content_block_stop":
		r.between = true
	case "message_delta":
		r.uses(e.Get("usage"))
		if e.Get("delta.stop_reason").Str != "" {
			a.finish(r, e.Get("delta"))
		}
	case "message_stop":
		r.done = r.whole
	}
	return nil
}

// maxBlocks bounds how many blocks an answer may hold.
const maxBlocks = 1000

// newBlock returns the content block that begins with e.
func newBlock(e gjson.Result) *contentBlock {
	b := &contentBlock{start: e, text: e.Get("text").Str, thinking: e.Get("thinking").Str,
		signature: e.Get("signature").Str}
	if input := e.Get("input"); input.IsObject() && len(input.Map()) > 0 {
		b.input = input.Raw
	}
	return b
}

// grow adds a delta to a block and returns how many bytes the model wrote.
func (b *contentBlock) grow(e gjson.Result) int {
	text, thinking, input := e.Get("text").Str, e.Get("thinking").Str, e.Get("partial_json").Str
	b.text, b.thinking, b.input = b.text+text, b.thinking+thinking, b.input+input
	b.signature += e.Get("signature").Str
	return len(text) + len(thinking) + len(input)
}

// raw returns the block as it is sent back; nil for one that the server would refuse.
func (b *contentBlock) raw() json.RawMessage {
	type object = map[string]any
	var block any
	switch kind := b.start.Get("type").Str; kind {
	case "text":
		if strings.TrimSpace(b.text) == "" {
			return nil
		}
		block = object{"type": kind, "text": b.text}
	case "thinking":
		if b.signature == "" { // it was cut off
			return nil
		}
		block = object{"type": kind, "thinking": b.thinking, "signature": b.signature}
	case "tool_use":
		input := json.RawMessage(b.input)
		if !gjson.ValidBytes(input) || !gjson.ParseBytes(input).IsObject() {
			input = json.RawMessage("{}")
		}
		block = object{"type": kind, "id": b.start.Get("id").Str, "name": b.start.Get("name").Str,
			"input": input}
	default:
		return json.RawMessage(b.start.Raw)
	}
	raw, _ := json.Marshal(block)
	return raw
}

// finish reads why an answer ended, from a whole message or the last delta of a stream.
func (messages) finish(r *reply, e gjson.Result) {
	m := message{}
	for _, b := range r.blocks {
		m.Content, m.Thought = m.Content+b.text, m.Thought+b.thinking
		if raw := b.raw(); raw != nil {
			m.Details = append(m.Details, raw)
		}
		switch b.start.Get("type").Str {
		case "tool_use":
			c := toolCall{ID: b.start.Get("id").Str, Type: "function"}
			c.Function.Name, c.Function.Arguments = b.start.Get(
				"name").Str, arguments(cmp.Or(b.input, "{}"))
			m.addCall(c)
		case "fallback": // the server asked another model instead
			r.model = cmp.Or(b.start.Get("to.model").Str, r.model)
		}
	}
	reason := e.Get("stop_reason").Str
	if reason == "refusal" {
		d := e.Get("stop_details")
		m.Refusal = strings.Trim(d.Get("category").Str+": "+d.Get("explanation").Str, ": ")
		m.Refusal = cmp.Or(m.Refusal, "its provider's filter gives no reason")
	}
	r.ends(&m, finish(reason))
}
