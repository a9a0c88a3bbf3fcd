package record

import (
	"encoding/json"
	"fmt"
	"strings"

	"assay/audit"
)

// A turnEvent is any line of any of the streams; each uses some of the fields.
type turnEvent struct {
	Type      string          `json:"type"`
	Timestamp json.RawMessage `json:"timestamp"` // RFC 3339, of opencode milliseconds

	Message json.RawMessage `json:"message"` // claude: what was said; codex, gemini: why it failed
	Error   json.RawMessage `json:"error"`

	Item *codexItem `json:"item"`

	Part *opencodePart `json:"part"`

	Data *copilotData `json:"data"`

	// gemini
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolName   string          `json:"tool_name"`
	ToolID     string          `json:"tool_id"`
	Parameters json.RawMessage `json:"parameters"`
	Status     string          `json:"status"`
	Output     string          `json:"output"`

	// a model that Assay asks
	Turn      int64           `json:"turn"`
	Said      string          `json:"said"`
	Thought   string          `json:"thought"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Text      string          `json:"text"`
	Seconds   float64         `json:"seconds"`
	Usage     json.RawMessage `json:"usage"`
}

func (r *turnReader) line(raw []byte) {
	var e turnEvent
	if json.Unmarshal(raw, &e) != nil {
		return
	}
	r.at(e.Timestamp)
	switch {
	case e.Data != nil:
		r.copilot(&e)
	case e.Part != nil:
		r.opencode(&e)
	case e.Item != nil:
		r.codex(&e)
	case e.Type == "assistant" || e.Type == "user":
		r.claude(&e)
	case e.Type == "message" || e.Type == "tool_use" || e.Type == "tool_result":
		r.gemini(&e)
	case e.Turn > 0 || e.Type == "fault" || e.Type == "room":
		r.model(&e)
	case e.Type == "error" || e.Type == "turn.failed":
		t := r.current()
		t.Notes = append(t.Notes, why(e.Error, e.Message))
	}
}

// why gives the words of an error, whatever it is wrapped in.
func why(errs ...json.RawMessage) string {
	for _, raw := range errs {
		var text string
		var in struct {
			Message string `json:"message"`
			Data    struct {
				Message string `json:"message"`
			} `json:"data"`
		}
		switch {
		case len(raw) == 0 || string(raw) == "null":
		case json.Unmarshal(raw, &text) == nil:
			return text
		case json.Unmarshal(raw, &in) == nil && in.Data.Message != "":
			return in.Data.Message
		case in.Message != "":
			return in.Message
		default:
			return string(raw)
		}
	}
	return "it says no reason"
}

// words gives a content that is a text, or a list of blocks with text in them.
func words(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &blocks)
	var b strings.Builder
	for _, block := range blocks {
		b.WriteString(block.Text)
	}
	return b.String()
}

func (r *turnReader) claude(e *turnEvent) {
	var m struct {
		ID      string          `json:"id"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
		Usage   struct {
			Input    int64 `json:"input_tokens"`
			Output   int64 `json:"output_tokens"`
			Creation int64 `json:"cache_creation_input_tokens"`
			Read     int64 `json:"cache_read_input_tokens"`
		} `json:"usage"`
	}
	var blocks []struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking string          `json:"thinking"`
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Input    json.RawMessage `json:"input"`
		Call     string          `json:"tool_use_id"`
		Content  json.RawMessage `json:"content"`
		IsError  bool            `json:"is_error"`
	}
	if json.Unmarshal(e.Message, &m) != nil || json.Unmarshal(m.Content, &blocks) != nil {
		return
	}
	for _, b := range blocks {
		if b.Type == "tool_result" {
			r.answered(b.Call, words(b.Content), b.IsError)
		}
	}
	if e.Type == "user" {
		return
	}
	t := r.turn(m.ID)
	t.Model = m.Model
	// Each block comes as an event of its own, and the last one tells it all.
	t.Usage = audit.Usage{TokensIn: m.Usage.Input + m.Usage.Creation + m.Usage.Read, TokensOut: max(t.Usage.TokensOut, m.Usage.Output)}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			t.Said += b.Text
		case "thinking":
			t.Thought += b.Thinking
		case "tool_use":
			r.call(t, b.ID, b.Name, b.Input)
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

type codexItem struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Message   string          `json:"message"`
	Command   string          `json:"command"`
	Output    string          `json:"aggregated_output"`
	Exit      *int            `json:"exit_code"`
	Status    string          `json:"status"`
	Changes   json.RawMessage `json:"changes"`
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Error     json.RawMessage `json:"error"`
	Query     string          `json:"query"`
}

func (r *turnReader) codex(e *turnEvent) {
	x := e.Item
	if e.Type != "item.completed" {
		return
	}
	switch x.Type {
	case "agent_message":
		t := r.next()
		t.Said += x.Text
	case "reasoning":
		t := r.next()
		t.Thought += x.Text
	case "command_execution":
		args, _ := json.Marshal(map[string]string{"command": x.Command})
		c := r.call(r.current(), x.ID, x.Type, args)
		c.Output = clipText(x.Output)
		if exit := x.Exit; x.Status == "failed" && (exit == nil || *exit != 1 || strings.TrimSpace(x.Output) != "") {
			c.Failed = said(x.Output)
			if exit != nil {
				c.Failed = fmt.Sprintf("exit status %d: %s", *exit, c.Failed)
			}
		}
	case "file_change", "mcp_tool_call":
		args, tool := x.Changes, x.Type
		if x.Tool != "" {
			args, tool = x.Arguments, x.Server+"."+x.Tool
		}
		if c := r.call(r.current(), x.ID, tool, args); x.Status == "failed" {
			c.Failed = why(x.Error)
		}
	case "web_search":
		args, _ := json.Marshal(map[string]string{"query": x.Query})
		r.call(r.current(), x.ID, x.Type, args)
	case "error":
		t := r.current()
		t.Notes = append(t.Notes, x.Message)
	}
}

func (r *turnReader) gemini(e *turnEvent) {
	switch {
	case e.Type == "tool_use":
		r.call(r.current(), e.ToolID, e.ToolName, e.Parameters)
	case e.Type == "tool_result":
		output := e.Output
		if e.Status == "error" && output == "" {
			output = why(e.Error)
		}
		r.answered(e.ToolID, output, e.Status == "error")
	case e.Role == "assistant": // a part of what it says
		t := r.next()
		t.Said += words(e.Content)
	}
}

type opencodePart struct {
	MessageID string   `json:"messageID"`
	Text      string   `json:"text"`
	Call      string   `json:"callID"`
	Tool      string   `json:"tool"`
	Cost      *float64 `json:"cost"`
	State     struct {
		Status string          `json:"status"`
		Input  json.RawMessage `json:"input"`
		Output string          `json:"output"`
		Error  json.RawMessage `json:"error"`
	} `json:"state"`
	Tokens *struct {
		Input, Output, Reasoning int64
		Cache                    struct{ Read, Write int64 }
	} `json:"tokens"`
}

func (r *turnReader) opencode(e *turnEvent) {
	p := e.Part
	t := r.turn(p.MessageID)
	switch e.Type {
	case "text":
		t.Said += p.Text
	case "reasoning":
		t.Thought += p.Text
	case "tool_use":
		c := r.call(t, p.Call, p.Tool, p.State.Input)
		c.Output = clipText(p.State.Output)
		if p.State.Status == "error" {
			c.Failed = why(p.State.Error)
		}
	case "step_finish":
		if n := p.Tokens; n != nil {
			t.Usage = audit.Usage{TokensIn: n.Input + n.Cache.Read + n.Cache.Write, TokensOut: n.Output + n.Reasoning}
		}
		if p.Cost != nil && *p.Cost > 0 { // of a model whose price it does not know it says 0
			t.Usage.USD, t.Usage.Priced = *p.Cost, true
		}
	}
}

type copilotData struct {
	Turn      string          `json:"turnId"`
	Content   string          `json:"content"`
	Call      string          `json:"toolCallId"`
	Tool      string          `json:"toolName"`
	Arguments json.RawMessage `json:"arguments"`
	Success   bool            `json:"success"`
	Result    struct {
		Content string `json:"content"`
	} `json:"result"`
	Error   json.RawMessage `json:"error"`
	Message string          `json:"message"`
	Model   string          `json:"model"`
}

func (r *turnReader) copilot(e *turnEvent) {
	d := e.Data
	switch e.Type {
	case "assistant.turn_start":
		r.turn(d.Turn)
	case "assistant.message":
		t := r.current()
		t.Model, t.Said = d.Model, t.Said+d.Content
	case "tool.execution_start":
		r.call(r.current(), d.Call, d.Tool, d.Arguments)
	case "tool.execution_complete":
		output := d.Result.Content
		if !d.Success && len(d.Error) > 0 {
			output = why(d.Error)
		}
		r.answered(d.Call, output, !d.Success)
	case "session.error":
		t := r.current()
		t.Notes = append(t.Notes, d.Message)
	}
}

// model reads the events of internal/auditor's own loop, which numbers turns as they
// end: what went wrong before the first, or between two, is the next one's.
func (r *turnReader) model(e *turnEvent) {
	switch e.Type {
	case "turn":
		t := r.turn(fmt.Sprint("turn ", e.Turn))
		t.Said, t.Thought, t.Seconds = e.Said, e.Thought, t.Seconds+e.Seconds
		var u audit.Usage
		if json.Unmarshal(e.Usage, &u) == nil {
			u.Turns = 0
			t.Usage = t.Usage.Add(u)
			t.Usage.Priced = u.Priced
		}
	case "result":
		c := r.call(r.current(), fmt.Sprint(len(r.calls)), e.Name, e.Arguments)
		c.Output = clipText(e.Text)
		if failed, ok := strings.CutPrefix(e.Text, "error: "); ok {
			c.Failed = clipText(failed)
		}
	case "fault":
		t := r.turn(fmt.Sprint("turn ", e.Turn+1))
		t.Notes, t.Seconds = append(t.Notes, e.Text), t.Seconds+e.Seconds
	case "room":
		t := r.current()
		t.Notes = append(t.Notes, "its context was full, and it made notes: "+e.Text)
	}
}
