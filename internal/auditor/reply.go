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
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// A reply is a completion: as it came, or put together from the chunks of a
// stream.
type reply struct {
	model  string
	usage  []gjson.Result // as it was stated, the last word at the end
	failed bool           // it holds an error
	answer *choice        // nil where there is none

	raw      []byte // for messages: the body or, of a stream, the last event
	streamed bool
	whole    bool   // of a stream: it came to its end
	done     bool   // of a stream: nothing follows, not even the usage
	text     []byte // the answer so far
	thought  []byte // the reasoning so far
	written  int    // bytes that the model wrote, its reasoning included
	between  bool   // of a stream: an item has ended, and the model may think before the next

	items  []json.RawMessage // of Responses: those that are whole
	blocks []*contentBlock   // of Messages: those that have begun
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
	Details   []json.RawMessage // of its reasoning, or of all: sent back as it came
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
	// Gemini's signature: sent back as it came
	Extra json.RawMessage `json:"extra_content,omitempty"`
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
func receive(res *http.Response, api api, alive func(*reply)) (*reply, error) {
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
			err = r.read(api, r.raw)
		}
	case err == nil && first != ':' && !strings.ContainsRune("deir", rune(first)): // data, event, id, retry
		return r, fmt.Errorf(
			"the response is of type %q and begins with %q: expected JSON or a stream of events",
			kind, first)
	default:
		r.streamed = true
		err = r.follow(api, body, alive)
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

// finishes are OpenAI's reasons for the end of an answer, by other APIs' words that some
// gateways hand on: Anthropic's, Mistral's and Gemini's.
var finishes = map[string]string{"end_turn": "stop", "stop_sequence": "stop",
	"max_tokens": "length", "model_length": "length",
	"model_context_window_exceeded": "length", "max_output_tokens": "length",
	"tool_use": "tool_calls", "refusal": "content_filter", "safety": "content_filter",
	"prohibited_content": "content_filter", "blocklist": "content_filter", "spii": "content_filter"}

func finish(reason string) string { return cmp.Or(finishes[strings.ToLower(reason)], reason) }

func (r *reply) follow(api api, body io.Reader, alive func(*reply)) error {
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
			err = r.read(api, data)
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

func (r *reply) read(api api, data []byte) error {
	what := "the response"
	if r.streamed {
		what = "an event"
	}
	if !json.Valid(data) {
		return fmt.Errorf("%s is no JSON: %w", what, json.Unmarshal(data, new(any)))
	}
	e := gjson.ParseBytes(data)
	// An error in the place of an answer; a response of OpenAI's names its error itself.
	r.failed = r.failed || e.Get("error").Type != gjson.Null && e.Get("object").Str != "response"
	if err := api.read(r, e); err != nil {
		return fmt.Errorf("%s is none of %s: %w", what, api.name(), err)
	}
	return nil
}

// pauseTurn is the end of an answer that goes on when it is sent back.
const pauseTurn = "pause_turn"

// uses notes what a response says that it used.
func (r *reply) uses(usage gjson.Result) {
	if usage.IsObject() {
		r.usage = append(r.usage[:min(len(r.usage), 1)], usage) // the first and the last say it all
	}
}

// used returns a member of the usage: the last that was stated.
func (r *reply) used(name string) (v gjson.Result) {
	for _, u := range slices.Backward(r.usage) {
		if v = u.Get(name); v.Exists() {
			return v
		}
	}
	return v
}

func (r *reply) count(name string) int64 { return int64(min(max(r.used(name).Num, 0), 1e15)) }

// progresses notes that a stream wrote so many bytes of an answer.
func (r *reply) progresses(bytes int) {
	r.written += bytes
	r.between = r.between && bytes == 0
}

// ends notes the whole answer, and why it ended.
func (r *reply) ends(m *message, reason string) {
	written := r.written
	r.answer, r.text, r.thought = &choice{FinishReason: reason}, nil, nil
	r.grow(m)
	r.answer.Message.ToolCalls = m.ToolCalls
	r.written, r.whole = max(written, m.bytes()), true
}

// again returns the message as it is sent back with the next turn.
func (m *message) again() chatMessage {
	back := chatMessage{Role: "assistant", Thought: m.Thought, Details: m.Details,
		ToolCalls: slices.Clone(m.ToolCalls)}
	if m.Content != "" || len(m.ToolCalls) == 0 {
		back.Content = &m.Content
	}
	return back
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
