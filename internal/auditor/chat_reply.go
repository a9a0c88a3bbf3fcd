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
)

// A reply is a completion: as it came, or put together from the chunks of a
// stream.
type reply struct {
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Object  string          `json:"object"` // "error": the object itself is the error, as vLLM puts it into a stream

	raw      []byte // for messages: the body or, of a stream, the last event
	streamed bool
	whole    bool   // of a stream: it came to its end
	done     bool   // of a stream: nothing follows, not even the usage
	text     []byte // of a stream: the answer so far
	thought  []byte // of a stream: the reasoning so far
	written  int    // bytes that the model wrote, its reasoning included
	before   []byte // of a stream: what stood before the text of the last event and
	after    []byte // behind it, where it held nothing else of its own
}

// A choice is one answer of a completion. Of a stream, message is what the deltas
// add up to.
type choice struct {
	Index        int             `json:"index"`
	Message      message         `json:"message"`
	Delta        message         `json:"delta"`
	Text         string          `json:"text"` // of the old completions API
	FinishReason string          `json:"finish_reason"`
	Error        json.RawMessage `json:"error"`
}

type message struct {
	Content   content           `json:"content"`
	Refusal   string            `json:"refusal"`
	Reasoning string            `json:"reasoning"`         // OpenRouter
	Thought   string            `json:"reasoning_content"` // DeepSeek, vLLM
	Details   []json.RawMessage `json:"reasoning_details"` // OpenRouter: sent back as it came
	ToolCalls []toolCall        `json:"tool_calls"`
	Call      struct {
		Arguments string `json:"arguments"`
	} `json:"function_call"` // before there were tools
}

// A toolCall is one call of a function.
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

// A content is a message's text. Some servers give it in parts (Mistral's models
// that reason do); of these the parts of type text count.
type content string

// UnmarshalJSON reads a string, null, or a list of parts.
func (c *content) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '[' {
		return json.Unmarshal(b, (*string)(c))
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Type == "text" || p.Type == "" {
			*c += content(p.Text)
		}
	}
	return nil
}

// failed reports whether a field named error says something.
func failed(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null"
}

// answer gives the choice that is the answer; nil where there is none.
func (r *reply) answer() *choice {
	if len(r.Choices) == 0 {
		return nil
	}
	return &r.Choices[0]
}

// bytes gives how much the model wrote into a message.
func (m *message) bytes() int {
	n := len(m.Content) + len(m.Refusal) + len(m.Reasoning) + len(m.Thought) + len(m.Call.Arguments)
	for _, t := range m.ToolCalls {
		n += len(t.Function.Name) + len(t.Function.Arguments)
	}
	return n
}

// errBroken says that a stream ended before its end.
var errBroken = errors.New("the stream broke off")

// receive reads a response, whole or as a stream: by what it holds, since servers
// that were asked for a stream may answer in one piece, and not all label it. The
// reply holds what came even where there is an error. alive is called after each
// event of a stream; comments, which keep a connection open, are none.
func receive(res *http.Response, alive func(*reply)) (*reply, error) {
	r := &reply{}
	body := bufio.NewReader(res.Body)
	first, err := firstByte(body)
	switch {
	case err != nil && err != io.EOF:
		return r, err
	case first == '{':
		if r.raw, err = io.ReadAll(body); err != nil {
			return r, err
		}
		if err := json.Unmarshal(r.raw, r); err != nil {
			return r, fmt.Errorf("the response is no JSON: %w", err)
		}
		if len(r.Choices) == 0 && !failed(r.Error) {
			r.unwrap()
		}
		for i := range r.Choices {
			r.written += r.Choices[i].Message.bytes() + len(r.Choices[i].Text)
		}
		return r, nil
	case err == nil && first != ':' && !strings.ContainsRune("deir", rune(first)): // data, event, id, retry
		return r, fmt.Errorf("the response is of type %q and begins with %q: expected JSON or a stream of events", res.Header.Get("Content-Type"), first)
	}
	r.streamed = true
	err = r.follow(body, alive)
	if c := r.answer(); c != nil {
		c.Message.Content, c.Message.Thought = content(r.text), string(r.thought)
	}
	return r, err
}

// firstByte tells the first byte that is no white space, and leaves it where it is.
func firstByte(r *bufio.Reader) (byte, error) {
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
func (r *reply) unwrap() {
	var e struct {
		Data, Result, Response json.RawMessage
		Type                   string
		Content                json.RawMessage
		StopReason             string `json:"stop_reason"`
		Message                json.RawMessage
		DoneReason             string `json:"done_reason"`
	}
	if json.Unmarshal(r.raw, &e) != nil {
		return
	}
	for _, inner := range []json.RawMessage{e.Data, e.Result, e.Response} {
		in := reply{}
		if json.Unmarshal(inner, &in) == nil && (len(in.Choices) > 0 || failed(in.Error)) {
			r.Choices, r.Usage, r.Error, r.Model, r.raw = in.Choices, in.Usage, in.Error, in.Model, inner
			return
		}
	}
	var m message
	switch {
	case e.Type == "message" && json.Unmarshal(e.Content, &m.Content) == nil:
		finish := map[string]string{"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "refusal": "content_filter"}[e.StopReason]
		r.Choices = []choice{{Message: m, FinishReason: finish}}
	case bytes.HasPrefix(e.Message, []byte("{")) && json.Unmarshal(e.Message, &m) == nil:
		r.Choices = []choice{{Message: m, FinishReason: e.DoneReason}}
	}
}

// follow takes the events of a stream to its end.
func (r *reply) follow(body io.Reader, alive func(*reply)) error {
	var broke error
	for data, err := range eventsOf(body) {
		if data = bytes.TrimSpace(data); err == nil && len(data) == 0 {
			continue
		}
		if err == nil {
			err = r.add(data)
		}
		if broke = err; err != nil || failed(r.Error) {
			break
		}
		alive(r)
	}
	switch {
	case failed(r.Error), r.whole: // the end had come: what broke then took nothing with it
		return nil
	case broke != nil:
		return fmt.Errorf("%w: %w", errBroken, broke)
	}
	return errBroken
}

// add takes one event of a stream.
func (r *reply) add(data []byte) error {
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		r.whole, r.done = true, true
		return nil
	}
	r.raw = append(r.raw[:0], data...)
	if more, ok := r.more(data); ok {
		r.text = append(r.text, more...)
		r.written += len(more)
		return nil
	}
	var c reply
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("an event is no JSON: %w", err)
	}
	if c.Object == "error" {
		c.Error = append(json.RawMessage(nil), data...)
	}
	r.Error = c.Error
	if c.Model != "" {
		r.Model = c.Model
	}
	if failed(c.Usage) {
		r.Usage = c.Usage
	}
	for i := range c.Choices {
		if c.Choices[i].Index == 0 {
			r.grow(&c.Choices[i])
		}
	}
	r.remember(data, &c)
	return nil
}

// more reads an event that differs from the one before it by its text alone. An answer
// has hundreds of them, and to read each whole costs more than all the rest of it.
func (r *reply) more(data []byte) (text string, ok bool) {
	n := len(data) - len(r.after)
	if r.before == nil || n < len(r.before) || !bytes.HasPrefix(data, r.before) || !bytes.HasSuffix(data, r.after) {
		return "", false
	}
	return text, json.Unmarshal(data[len(r.before):n], &text) == nil
}

// remember keeps what stands around the text of an event that holds no more than that.
func (r *reply) remember(data []byte, c *reply) {
	r.before, r.after = nil, nil
	key := []byte(`"content":`)
	if len(c.Choices) != 1 || c.Choices[0].Index != 0 || c.Choices[0].Text != "" || bytes.Count(data, key) != 1 {
		return
	}
	m := &c.Choices[0].Delta
	if m.Content == "" || m.bytes() > len(m.Content) || len(m.Details)+len(m.ToolCalls) > 0 {
		return
	}
	from := bytes.Index(data, key) + len(key)
	for from < len(data) && data[from] == ' ' {
		from++
	}
	to := from + 1
	for to < len(data) && data[to] != '"' {
		if data[to] == '\\' {
			to++
		}
		to++
	}
	text := ""
	if to < len(data) && json.Unmarshal(data[from:to+1], &text) == nil && text == string(m.Content) {
		r.before, r.after = bytes.Clone(data[:from]), bytes.Clone(data[to+1:])
	}
}

// grow adds a chunk's choice to the answer.
func (r *reply) grow(c *choice) {
	if len(r.Choices) == 0 {
		r.Choices = make([]choice, 1)
	}
	have := &r.Choices[0]
	if c.FinishReason != "" {
		have.FinishReason, r.whole = c.FinishReason, true
	}
	if failed(c.Error) {
		have.Error = c.Error
	}
	m := &c.Delta
	if m.bytes() == 0 && r.written == 0 {
		m = &c.Message // one chunk that is a whole completion
	}
	r.written += m.bytes()
	r.text = append(r.text, m.Content...)
	if m.Content == "" {
		r.text = append(r.text, c.Text...)
		r.written += len(c.Text)
	}
	r.thought = append(append(r.thought, m.Thought...), m.Reasoning...)
	have.Message.Refusal += m.Refusal
	have.Message.Call.Arguments += m.Call.Arguments
	have.Message.Details = append(have.Message.Details, m.Details...)
	for _, t := range m.ToolCalls {
		have.Message.growCall(t)
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
