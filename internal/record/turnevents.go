package record

import (
	"encoding/json"
	"fmt"
	"strings"

	"assay/audit"
)

// An event is a line of a stream, or a value in it. Its members are asked by path,
// "message.usage.input_tokens": each agent's stream has members of its own.
type event []byte

// at gives the value that a path leads to; nil for none, and for null.
func (e event) at(path string) event {
	for name := range strings.SplitSeq(path, ".") {
		var members map[string]json.RawMessage
		if json.Unmarshal(e, &members) != nil || string(members[name]) == "null" {
			return nil
		}
		e = event(members[name])
	}
	return e
}

// text gives the text at a path; empty for another value.
func (e event) text(path string) (s string) {
	_ = json.Unmarshal(e.at(path), &s)
	return s
}

// number gives the number at a path; 0 for another value.
func (e event) number(path string) (n float64) {
	_ = json.Unmarshal(e.at(path), &n)
	return n
}

// tokens adds up whole numbers at several paths.
func (e event) tokens(paths ...string) (n int64) {
	for _, p := range paths {
		n += int64(e.number(p))
	}
	return n
}

// list gives the values of the list at a path; nil for another value.
func (e event) list(path string) []event {
	var raw []json.RawMessage
	_ = json.Unmarshal(e.at(path), &raw)
	var values []event
	for _, r := range raw {
		values = append(values, event(r))
	}
	return values
}

// words gives the text at a path, or that of a list of blocks with text in them.
func (e event) words(path string) string {
	said := e.text(path)
	for _, block := range e.list(path) {
		said += block.text("text")
	}
	return said
}

// why gives the words of an error at the first of the paths that leads to one,
// whatever it is wrapped in.
func (e event) why(paths ...string) string {
	for _, p := range paths {
		if e.at(p) == nil {
			continue
		}
		for _, in := range []string{p, p + ".data.message", p + ".message"} {
			if text := e.text(in); text != "" {
				return text
			}
		}
		return string(e.at(p))
	}
	return "it says no reason"
}

func (r *turnReader) line(raw []byte) {
	e := event(raw)
	r.at(e.at("timestamp"))
	kind := e.text("type")
	switch {
	case e.at("data") != nil:
		r.copilot(kind, e.at("data"))
	case e.at("part") != nil:
		r.opencode(kind, e.at("part"))
	case kind == "item.completed":
		r.codex(e.at("item"))
	case kind == "assistant" || kind == "user":
		r.claude(kind, e.at("message"))
	case kind == "message" || kind == "tool_use" || kind == "tool_result":
		r.gemini(kind, e)
	case e.number("turn") > 0 || kind == "fault" || kind == "room":
		r.model(kind, e)
	case kind == "error" || kind == "turn.failed":
		r.note(e.why("error", "message"))
	}
}

// note adds what else a stream tells to the last turn.
func (r *turnReader) note(text string) {
	t := r.current()
	t.Notes = append(t.Notes, text)
}

func (r *turnReader) claude(kind string, m event) {
	blocks := m.list("content")
	for _, b := range blocks {
		if b.text("type") == "tool_result" {
			r.answered(b.text("tool_use_id"), b.words("content"), string(b.at("is_error")) == "true")
		}
	}
	if kind == "user" || blocks == nil {
		return
	}
	t := r.turn(m.text("id"))
	// Each block comes as an event of its own, and the last one tells it all.
	t.Usage = audit.Usage{TokensIn: m.tokens("usage.input_tokens", "usage.cache_creation_input_tokens", "usage.cache_read_input_tokens"),
		TokensOut: max(t.Usage.TokensOut, m.tokens("usage.output_tokens"))}
	for _, b := range blocks {
		switch b.text("type") {
		case "text":
			t.Said += b.text("text")
		case "thinking":
			t.Thought += b.text("thinking")
		case "tool_use":
			r.call(t, b.text("id"), b.text("name"), b.at("input"))
		}
	}
}

// answered keeps what a tool gave back.
func (r *turnReader) answered(id, output string, failed bool) {
	c := r.result(id)
	if c == nil {
		return
	}
	c.Output = clipText(output)
	if failed && strings.TrimSpace(output) != "Exit code 1" { // claude's words for a command that found nothing
		c.Failed = said(output)
	}
}

// said is the text, or words for a failure without any.
func said(text string) string {
	if text = strings.TrimSpace(text); text != "" {
		return clipText(text)
	}
	return "it says no reason"
}

func (r *turnReader) codex(x event) {
	kind, id, failed := x.text("type"), x.text("id"), x.text("status") == "failed"
	switch kind {
	case "agent_message":
		r.next().Said += x.text("text")
	case "reasoning":
		r.next().Thought += x.text("text")
	case "command_execution":
		output, exit := x.text("aggregated_output"), x.at("exit_code")
		c := r.call(r.current(), id, kind, argument("command", x.text("command")))
		c.Output = clipText(output)
		if failed && (string(exit) != "1" || strings.TrimSpace(output) != "") {
			c.Failed = said(output)
			if exit != nil {
				c.Failed = fmt.Sprintf("exit status %s: %s", exit, c.Failed)
			}
		}
	case "file_change", "mcp_tool_call":
		args, tool := x.at("changes"), kind
		if name := x.text("tool"); name != "" {
			args, tool = x.at("arguments"), x.text("server")+"."+name
		}
		if c := r.call(r.current(), id, tool, args); failed {
			c.Failed = x.why("error")
		}
	case "web_search":
		r.call(r.current(), id, kind, argument("query", x.text("query")))
	case "error":
		r.note(x.text("message"))
	}
}

// argument gives arguments of a tool that has but one.
func argument(name, value string) event {
	b, _ := json.Marshal(map[string]string{name: value})
	return b
}

func (r *turnReader) gemini(kind string, e event) {
	switch {
	case kind == "tool_use":
		r.call(r.current(), e.text("tool_id"), e.text("tool_name"), e.at("parameters"))
	case kind == "tool_result":
		output, failed := e.text("output"), e.text("status") == "error"
		if failed && output == "" {
			output = e.why("error")
		}
		r.answered(e.text("tool_id"), output, failed)
	case e.text("role") == "assistant": // a part of what it says
		r.next().Said += e.words("content")
	}
}

func (r *turnReader) opencode(kind string, p event) {
	t := r.turn(p.text("messageID"))
	switch kind {
	case "text":
		t.Said += p.text("text")
	case "reasoning":
		t.Thought += p.text("text")
	case "tool_use":
		c := r.call(t, p.text("callID"), p.text("tool"), p.at("state.input"))
		c.Output = clipText(p.text("state.output"))
		if p.text("state.status") == "error" {
			c.Failed = p.why("state.error")
		}
	case "step_finish":
		if p.at("tokens") != nil {
			t.Usage = audit.Usage{TokensIn: p.tokens("tokens.input", "tokens.cache.read", "tokens.cache.write"), TokensOut: p.tokens("tokens.output", "tokens.reasoning")}
		}
		if cost := p.number("cost"); cost > 0 { // of a model whose price it does not know it says 0
			t.Usage.USD, t.Usage.Priced = cost, true
		}
	}
}

func (r *turnReader) copilot(kind string, d event) {
	switch kind {
	case "assistant.turn_start":
		r.turn(d.text("turnId"))
	case "assistant.message":
		t := r.current()
		t.Said += d.text("content")
	case "tool.execution_start":
		r.call(r.current(), d.text("toolCallId"), d.text("toolName"), d.at("arguments"))
	case "tool.execution_complete":
		output, failed := d.text("result.content"), string(d.at("success")) != "true"
		if failed && d.at("error") != nil {
			output = d.why("error")
		}
		r.answered(d.text("toolCallId"), output, failed)
	case "session.error":
		r.note(d.text("message"))
	}
}

// model reads the events of internal/auditor's own loop, which numbers turns as they
// end: what went wrong before the first, or between two, is the next one's.
func (r *turnReader) model(kind string, e event) {
	turn := e.tokens("turn")
	switch kind {
	case "turn":
		t := r.turn(fmt.Sprint("turn ", turn))
		t.Said, t.Thought, t.Seconds = e.text("said"), e.text("thought"), t.Seconds+e.number("seconds")
		var u audit.Usage
		if json.Unmarshal(e.at("usage"), &u) == nil {
			u.Turns = 0
			t.Usage = t.Usage.Add(u)
			t.Usage.Priced = u.Priced
		}
	case "result":
		c := r.call(r.current(), fmt.Sprint(len(r.calls)), e.text("name"), e.at("arguments"))
		c.Output = clipText(e.text("text"))
		if failed, ok := strings.CutPrefix(e.text("text"), "error: "); ok {
			c.Failed = clipText(failed)
		}
	case "fault":
		t := r.turn(fmt.Sprint("turn ", turn+1))
		t.Seconds += e.number("seconds")
		r.note(e.text("text"))
	case "room":
		r.note("its context was full, and it made notes: " + e.text("text"))
	}
}
