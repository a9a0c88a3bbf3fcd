package auditor

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// A reply is a completion: as it came, or put together from the chunks of a
// stream.
type reply struct {
	model  string
	usage  gjson.Result
	failed bool    // it holds an error
	answer *choice // nil where there is none

	raw      []byte // for messages: the body or, of a stream, the last event
	streamed bool
	whole    bool   // of a stream: it came to its end
	done     bool   // of a stream: nothing follows, not even the usage
	text     []byte // the answer so far
	thought  []byte // the reasoning so far
	written  int    // bytes that the model wrote, its reasoning included
}

// A choice is one answer of a completion. Of a stream, message is what the deltas
// add up to.
type choice struct {
	Message      message
	FinishReason string
}

type message struct {
	Content   string
	Refusal   string
	Thought   string            // its reasoning
	Details   []json.RawMessage // of its reasoning, OpenRouter's: sent back as it came
	ToolCalls []toolCall
	Arguments string // of the one call that there was before there were tools
}

type toolCall struct {
	Index    int    `json:"index,omitempty"` // in a stream: which call a chunk belongs to
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"` // function
	Function struct {
		Name      string    `json:"name,omitempty"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content,omitempty"` // Gemini's signature: sent back as it came
}

// arguments are a call's, as JSON in a string. Some servers give the object itself.
type arguments string

// UnmarshalJSON reads a string, or takes what else stands there as it is.
func (a *arguments) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		*a = arguments(b)
		return nil
	}
	return json.Unmarshal(b, (*string)(a))
}

// readMessage reads a message, or the part of one that a chunk holds.
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

// contentOf gives a message's text. Some servers give it in parts (Mistral's models
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

func (m *message) bytes() int {
	n := len(m.Content) + len(m.Refusal) + len(m.Thought) + len(m.Arguments)
	for _, t := range m.ToolCalls {
		n += len(t.Function.Name) + len(t.Function.Arguments)
	}
	return n
}

var errBroken = errors.New("the stream broke off")

// receive reads a response, whole or as a stream: by what it holds, since servers
// that were asked for a stream may answer in one piece, and not all label it. The
// reply holds what came even where there is an error. alive is called after each
// event of a stream; comments, which keep a connection open, are none.
func receive(res *http.Response, alive func(*reply)) (*reply, error) {
	r := &reply{}
	body := bufio.NewReaderSize(res.Body, 512) // its beginning is looked at, no more
	first, err := firstByte(body)
	switch kind := res.Header.Get("Content-Type"); {
	case err != nil && err != io.EOF:
		return r, err
	case err == io.EOF && !strings.HasPrefix(kind, "text/event-stream"):
		return r, errors.New("the response is empty: expected JSON or a stream of events")
	case first == '{':
		if r.raw, err = io.ReadAll(body); err == nil {
			err = r.read(r.raw)
		}
	case err == nil && first != ':' && !strings.ContainsRune("deir", rune(first)): // data, event, id, retry
		return r, fmt.Errorf("the response is of type %q and begins with %q: expected JSON or a stream of events", kind, first)
	default:
		r.streamed = true
		err = r.follow(body, alive)
	}
	if r.answer != nil {
		r.answer.Message.Content, r.answer.Message.Thought = string(r.text), string(r.thought)
	}
	return r, err
}

// firstByte tells the first byte that is no white space and no byte order mark, and
// leaves it where it is.
func firstByte(r *bufio.Reader) (byte, error) {
	if mark, _ := r.Peek(3); string(mark) == "\ufeff" {
		_, _ = r.Discard(3)
	}
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(" \t\r\n", rune(b)) {
			return b, r.UnreadByte()
		}
	}
}

// unwrap takes a completion out of a gateway's envelope, or reads one in the shape
// of Anthropic's or Ollama's own API.
func (r *reply) unwrap(e gjson.Result) error {
	for _, name := range []string{"data", "result", "response"} {
		if inner := e.Get(name); inner.IsObject() {
			if err := r.take(inner); err != nil || r.answer != nil || r.failed {
				r.raw = []byte(inner.Raw)
				return err
			}
		}
	}
	if e.Get("type").Str == "message" {
		r.answer = &choice{FinishReason: finish(e.Get("stop_reason").Str)}
		r.grow(&message{Content: contentOf(e.Get("content"))})
	} else if said := e.Get("message"); said.IsObject() {
		r.answer = &choice{FinishReason: e.Get("done_reason").Str}
		m, err := readMessage(said)
		r.grow(&m)
		return err
	}
	return nil
}

// finishes are OpenAI's reasons for the end of an answer, by other APIs' words that some
// gateways hand on: Anthropic's, Mistral's and Gemini's.
var finishes = map[string]string{"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "model_length": "length",
	"refusal": "content_filter", "safety": "content_filter", "prohibited_content": "content_filter", "blocklist": "content_filter", "spii": "content_filter"}

func finish(reason string) string { return cmp.Or(finishes[strings.ToLower(reason)], reason) }

func (r *reply) follow(body io.Reader, alive func(*reply)) error {
	var broke error
	for data, err := range eventsOf(body) {
		if data = bytes.TrimSpace(data); err == nil && len(data) == 0 {
			continue
		}
		switch {
		case err != nil:
		case r.done: // nothing that follows counts, nor puts the end off
			continue
		case bytes.HasPrefix(data, []byte("[DONE]")):
			r.whole, r.done = true, true
		default:
			r.raw = append(r.raw[:0], data...)
			err = r.read(data)
		}
		if broke = err; err != nil || r.failed {
			break
		}
		alive(r)
	}
	switch {
	case r.failed, r.whole: // the end had come: what broke then took nothing with it
		return nil
	case broke != nil:
		return fmt.Errorf("%w: %w", errBroken, broke)
	}
	return errBroken
}

func (r *reply) read(data []byte) error {
	what := "the response"
	if r.streamed {
		what = "an event"
	}
	if !json.Valid(data) {
		return fmt.Errorf("%s is no JSON: %w", what, json.Unmarshal(data, new(any)))
	}
	e := gjson.ParseBytes(data)
	err := r.take(e)
	if err == nil && r.answer == nil && !r.failed && !r.streamed {
		err = r.unwrap(e)
	}
	if err != nil {
		return fmt.Errorf("%s is no chat completion: %w", what, err)
	}
	return nil
}

func (r *reply) take(e gjson.Result) (err error) {
	e.ForEach(func(name, v gjson.Result) bool {
		switch name.Str {
		case "model":
			r.model = cmp.Or(v.Str, r.model)
		case "usage":
			if v.IsObject() {
				r.usage = v
			}
		case "error":
			r.failed = r.failed || v.Type != gjson.Null
		case "object":
			r.failed = r.failed || v.Str == "error" // the object itself is the error, as vLLM puts it into a stream
		case "choices":
			for i, c := range v.Array() {
				if c.IsObject() && (c.Get("index").Num == 0 || !r.streamed && i == 0) {
					err = errors.Join(err, r.choose(c))
				}
			}
		}
		return true
	})
	return err
}

// choose adds a choice, or a chunk's part of it, to the answer.
func (r *reply) choose(c gjson.Result) error {
	if r.answer == nil {
		r.answer = &choice{}
	}
	if reason := c.Get("finish_reason").Str; reason != "" {
		r.answer.FinishReason, r.whole = finish(reason), true
	}
	r.failed = r.failed || c.Get("error").Type != gjson.Null
	m, err := readMessage(c.Get("delta"))
	if err == nil && m.bytes() == 0 && r.written == 0 { // a completion that is whole, or a chunk that is one
		m, err = readMessage(c.Get("message"))
	}
	m.Content = cmp.Or(m.Content, c.Get("text").Str) // of the old completions API
	r.grow(&m)
	return err
}

func (r *reply) grow(m *message) {
	have := &r.answer.Message
	r.written += m.bytes()
	r.text, r.thought = append(r.text, m.Content...), append(r.thought, m.Thought...)
	have.Refusal += m.Refusal
	have.Arguments += m.Arguments
	have.Details = append(have.Details, m.Details...)
	if !r.streamed {
		have.ToolCalls = m.ToolCalls
		return
	}
	for _, t := range m.ToolCalls {
		have.growCall(t)
	}
}

// growCall adds a chunk's part of a call. Servers that send each call whole give all
// of them the index 0 (Gemini's, Ollama's): another ID, or another name after whole
// arguments, is another call.
func (m *message) growCall(t toolCall) {
	at := -1
	for i := range m.ToolCalls {
		if have := &m.ToolCalls[i]; have.Index == t.Index {
			at = i
			another := t.ID != "" && have.ID != "" && t.ID != have.ID
			if another || t.ID == "" && t.Function.Name != "" && json.Valid([]byte(have.Function.Arguments)) {
				at = -1
			}
		}
	}
	if at < 0 {
		if len(m.ToolCalls) < maxCalls {
			m.ToolCalls = append(m.ToolCalls, t)
		}
		return
	}
	have := &m.ToolCalls[at]
	have.ID, have.Function.Name = cmp.Or(t.ID, have.ID), cmp.Or(t.Function.Name, have.Function.Name)
	have.Function.Arguments += t.Function.Arguments
	if len(t.Extra) > 0 {
		have.Extra = t.Extra
	}
}

// maxCalls bounds how many calls of functions an answer may hold.
const maxCalls = 64
