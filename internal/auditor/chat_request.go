package auditor

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"assay/audit"
)

// A chatRequest is the body of POST /chat/completions, as far as Assay uses it:
// https://platform.openai.com/docs/api-reference/chat/create, 2026-11-20.
type chatRequest struct {
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

	timeout time.Duration // how long it may take
}

// A chatMessage is one message of a conversation. What a server sent with its
// answer and wants back (reasoning of DeepSeek's, OpenRouter's and Gemini's models,
// without which the next turn is refused) goes back as it came.
type chatMessage struct {
	Role       string            `json:"role"`
	Content    *string           `json:"content"` // null beside tool calls, as servers write it
	Thought    string            `json:"reasoning_content,omitempty"`
	Details    []json.RawMessage `json:"reasoning_details,omitempty"`
	ToolCalls  []toolCall        `json:"tool_calls,omitempty"`
	ToolCallID string            `json:"tool_call_id,omitempty"` // of the call that this is the result of
}

func says(role, text string) chatMessage { return chatMessage{Role: role, Content: &text} }

type tool struct {
	Type     string `json:"type"` // function
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"` // JSON schema
	} `json:"function"`
}

type responseFormat struct {
	Type   string `json:"type"` // json_schema
	Schema struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

type reasoningField struct {
	Effort string `json:"effort"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

func (c *chat) review(task audit.ReviewTask, maxTokens int64) *chatRequest {
	r := c.request(maxTokens, says("user", Prompt(task)))
	asked := schema
	if len(task.Files) > 0 {
		asked, r.timeout = moduleSchema, max(r.timeout, moduleTimeout)
	}
	if !c.plain.Load() {
		r.ResponseFormat = &responseFormat{Type: "json_schema"}
		r.ResponseFormat.Schema.Name, r.ResponseFormat.Schema.Strict, r.ResponseFormat.Schema.Schema = "review", true, asked
	}
	return r
}

func (c *chat) maxTokens(task *audit.ReviewTask) int64 {
	if len(task.Files) > 0 {
		return max(c.config.MaxTokens, moduleMaxTokens)
	}
	return c.config.MaxTokens
}

// request gives the body for a conversation in which the model may now write so many
// tokens, without what the server turned down so far.
func (c *chat) request(maxTokens int64, messages ...chatMessage) *chatRequest {
	r := &chatRequest{Model: c.config.Model.ID, Messages: messages, Stream: !c.unstreamed.Load(), timeout: c.config.Timeout}
	s := c.config.Model.Settings
	if r.Temperature = s.Temperature; s.Effort != "" && c.config.Provider == "openrouter" {
		r.Reasoning = &reasoningField{s.Effort}
	} else {
		r.Effort = s.Effort
	}
	// OpenAI's newer models take max_completion_tokens alone, most other servers
	// know max_tokens alone.
	if (c.config.Provider == "openai") != c.otherLimit.Load() {
		r.MaxCompletionTokens = maxTokens
	} else {
		r.MaxTokens = maxTokens
	}
	if r.Stream && !c.unmetered.Load() {
		r.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	return r
}

// post sends a request. The response's body, capped, is the caller's to close, whatever
// its status.
func (c *chat) post(ctx context.Context, body *chatRequest) (*http.Response, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.config.BaseURL, "/")+"/chat/completions", bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "assay")
	if c.config.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.config.Key)
	}
	if c.config.Provider == "openrouter" {
		req.Header.Set("X-Title", "Assay") // OpenRouter's own: names the application in its logs
	}
	res, err := c.client.Do(req)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, maxResponse)
	}
	return res, err
}

func (r *chatRequest) bytes() int {
	n := 0
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Content != nil {
			n += len(*m.Content)
		}
		n += len(m.Thought)
		for j := range m.ToolCalls {
			n += len(m.ToolCalls[j].Function.Name) + len(m.ToolCalls[j].Function.Arguments)
		}
	}
	for i := range r.Tools {
		n += len(r.Tools[i].Function.Description) + len(r.Tools[i].Function.Parameters)
	}
	return n
}

// eventsOf gives the data of every event of a stream of server-sent events, and last
// the error that cut it off, if any did:
// https://html.spec.whatwg.org/multipage/server-sent-events.html, 9.2.6. An event
// that the end of the stream cuts off is given too: servers forget the last
// empty line. The data is overwritten by that of the next event.
func eventsOf(body io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(body)
		lines.Buffer(make([]byte, 0, 1<<10), maxResponse)
		var data []byte
		some := false
		for lines.Scan() {
			field, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
			switch {
			case string(field) == "data":
				if some {
					data = append(data, '\n')
				}
				data, some = append(data, bytes.TrimPrefix(value, []byte(" "))...), true
			case some && len(lines.Bytes()) == 0: // else a comment, or a field that says nothing here
				if !yield(data, nil) {
					return
				}
				data, some = data[:0], false
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, err)
		} else if some {
			yield(data, nil)
		}
	}
}
