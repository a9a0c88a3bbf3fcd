package auditor

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"assay/audit"
)

// An api is a provider's API as far as Assay uses it: chat completions, Responses or Messages.
// What is asked and what is answered has one form for all of them.
type api interface {
	name() string // for messages
	path() string // below the base URL
	authorize(h http.Header, key string)

	// body returns what is sent.
	body(c *client, r *request) any

	// read adds an event of a stream, or a whole response, to a reply.
	read(r *reply, e gjson.Result) error

	// tokens returns what a reply says that it used.
	tokens(r *reply) tokenCount
}

// apis are the values of the setting api.
var apis = map[string]api{"chat": chatCompletions{}, "responses": responses{},
	"messages": messages{}}

// A tokenCount is what a reply used. In counts all input, out all output, reasoning included.
// cached: read from the cache; stored: written to it
type tokenCount struct{ in, cached, stored, out int64 }

// parameters are those that a request leaves out, as the server refused them before. None of
// them changes what is measured.
type parameters struct {
	schema bool // of the answer
	limit  bool // of chat completions: the usual one of max_tokens and max_completion_tokens
	count  bool // stream_options
	stream bool
	sealed bool // the reasoning, encrypted, of Responses
}

// A request is one turn of a conversation with a model.
type request struct {
	messages  []chatMessage
	tools     []tool
	schema    json.RawMessage // of the answer; nil for none
	maxTokens int64           // that the model may write
	timeout   time.Duration
	without   parameters // set when it is sent
}

// A chatMessage is one message of a conversation, in the form of chat completions. What a
// server sent with its answer and wants back (reasoning of DeepSeek's, OpenRouter's and
// Gemini's models; of Responses and Messages all items or blocks) goes back as it came.
type chatMessage struct {
	Role      string            `json:"role"`
	Content   *string           `json:"content"` // null beside tool calls, as servers write it
	Thought   string            `json:"reasoning_content,omitempty"`
	Details   []json.RawMessage `json:"reasoning_details,omitempty"`
	ToolCalls []toolCall        `json:"tool_calls,omitempty"`
	// of the call that this is the result of
	ToolCallID string `json:"tool_call_id,omitempty"`
}

func says(role, text string) chatMessage { return chatMessage{Role: role, Content: &text} }

// text returns the content of a message, empty where there is none.
func (m *chatMessage) text() string {
	if m.Content == nil {
		return ""
	}
	return *m.Content
}

// unsent returns the calls of a message that are not among its details: those that the model
// wrote into its text.
func (m *chatMessage) unsent() (calls []toolCall) {
	for _, c := range m.ToolCalls {
		named := func(d json.RawMessage) bool {
			id := gjson.GetManyBytes(d, "call_id", "id")
			return id[0].Str == c.ID || id[1].Str == c.ID
		}
		if !slices.ContainsFunc(m.Details, named) {
			calls = append(calls, c)
		}
	}
	return calls
}

type tool struct {
	Type     string `json:"type"` // function
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"` // JSON schema
	} `json:"function"`
}

func (c *client) review(task audit.ReviewTask, maxTokens int64) *request {
	r := c.request(maxTokens, says("user", Prompt(task)))
	r.schema = schema
	return r
}

func (c *client) request(maxTokens int64, messages ...chatMessage) *request {
	return &request{messages: messages, maxTokens: maxTokens, timeout: c.config.Timeout}
}

// post sends a request. The response's body, capped, is the caller's to close, whatever
// its status.
func (c *client) post(ctx context.Context, r *request) (*http.Response, error) {
	c.mu.Lock()
	r.without = c.refused
	c.mu.Unlock()
	b, err := json.Marshal(c.api.body(c, r))
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost,
		strings.TrimSuffix(c.config.BaseURL, "/")+c.api.path(), bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "assay")
	c.api.authorize(req.Header, c.config.Key)
	if c.config.Provider == "openrouter" {
		req.Header.Set("X-Title", "Assay") // OpenRouter's own: names the application in its logs
	}
	res, err := c.http.Do(req)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, maxResponse)
	}
	return res, err
}

// bytes returns how long the request's texts are.
func (r *request) bytes() int {
	n := 0
	for i := range r.messages {
		m := &r.messages[i]
		n += len(m.text()) + len(m.Thought)
		for j := range m.ToolCalls {
			n += len(m.ToolCalls[j].Function.Name) + len(m.ToolCalls[j].Function.Arguments)
		}
	}
	for i := range r.tools {
		n += len(r.tools[i].Function.Description) + len(r.tools[i].Function.Parameters)
	}
	return n
}

// eventsOf returns the data of every event of a stream of server-sent events, and last the
// error that cut it off, if any did:
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
