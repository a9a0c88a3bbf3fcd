package events

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"assay/audit"
)

// Each agent's stream has members of its own: what follows reads one event of each.

func (r *reader) claude(kind string, e gjson.Result) {
	switch kind {
	case "system":
		r.env.Model = cmp.Or(e.Get("model").Str, r.env.Model)
	case "assistant", "user":
		r.claudeMessage(kind, object(e, "message"))
	case "result":
		r.claudeResult(e)
	}
}

func claudeUsage(e gjson.Result) audit.Usage {
	return audit.Usage{TokensIn: tokens(e, "usage.input_tokens", "usage.cache_creation_input_tokens", "usage.cache_read_input_tokens"), TokensOut: tokens(e, "usage.output_tokens")}
}

// claudeMessage reads a message, or a part of it: each block comes as an event of its
// own, and the last one tells what the message used. The sum of them is what a run used
// that ended before its result said it.
func (r *reader) claudeMessage(kind string, m gjson.Result) {
	blocks := list(m.Get("content"))
	for _, b := range blocks {
		if b.Get("type").Str == "tool_result" {
			output := words(b.Get("content"))
			nothing := strings.TrimSpace(output) == "Exit code 1" // claude's words for a command that found nothing
			r.result(b.Get("tool_use_id").Str).answer(output, b.Get("is_error").Type == gjson.True && !nothing)
		}
	}
	id, total := m.Get("id").Str, &r.env.Usage
	if kind == "user" || blocks == nil && id == "" {
		return
	}
	if len(r.turns) == 0 || id != r.id {
		total.Turns++
	}
	t, used := r.turn(id), claudeUsage(m)
	used.TokensOut = max(used.TokensOut, t.Usage.TokensOut)
	total.TokensIn += used.TokensIn - t.Usage.TokensIn
	total.TokensOut += used.TokensOut - t.Usage.TokensOut
	t.Usage = used
	for _, b := range blocks {
		switch b.Get("type").Str {
		case "text":
			t.Said += b.Get("text").Str
		case "thinking":
			t.Thought += b.Get("thinking").Str
		case "tool_use":
			r.call(b.Get("id").Str, b.Get("name").Str, b.Get("input"))
		}
	}
}

func (r *reader) claudeResult(e gjson.Result) {
	r.answered = true
	subtype, total := e.Get("subtype").Str, &r.env.Usage
	r.env.Report = cmp.Or(e.Get("result").Str, r.env.Report)
	r.env.Model = cmp.Or(names(e.Get("modelUsage")), r.env.Model)
	switch {
	case subtype != "" && subtype != "success":
		r.env.Failed = strings.TrimSpace(subtype + " " + e.Get("errors").Raw)
	case e.Get("is_error").Type == gjson.True:
		r.env.Failed = cmp.Or(r.env.Report, e.Get("errors").Raw, "it does not say why")
	}
	if stop := e.Get("stop_reason").Str; subtype == "error_max_turns" || stop == "max_tokens" {
		r.env.Stopped = "its model was stopped: " + cmp.Or(strings.TrimPrefix(subtype, "success"), stop)
	}
	if e.Get("usage").IsObject() {
		*total = claudeUsage(e)
	}
	total.Turns = tokens(e, "num_turns")
	cost := e.Get("total_cost_usd")
	total.USD, total.Priced = max(cost.Num, 0), cost.Type == gjson.Number && cost.Num >= 0
}

func (r *reader) codex(kind string, e gjson.Result) {
	total := &r.env.Usage
	switch kind {
	case "item.completed":
		r.codexItem(object(e, "item"))
	case "turn.completed":
		r.env.Failed = "" // a connection that broke and came back is told as an error too
		total.Turns++
		total.TokensIn += tokens(e, "usage.input_tokens") // cached ones among them
		total.TokensOut += tokens(e, "usage.output_tokens")
	case "error", "turn.failed":
		r.env.Failed, r.answered = kind+" "+e.Get("error").Raw+e.Get("message").Raw, true
	}
}

func (r *reader) codexItem(x gjson.Result) {
	kind, id, failed := x.Get("type").Str, x.Get("id").Str, x.Get("status").Str == "failed"
	switch kind {
	case "agent_message":
		r.env.Report, r.answered = x.Get("text").Str, true
		r.next().Said += r.env.Report
	case "reasoning":
		r.next().Thought += x.Get("text").Str
	case "command_execution":
		output, exit := x.Get("aggregated_output").Str, x.Get("exit_code").Raw
		failed = failed && (exit != "1" || strings.TrimSpace(output) != "")
		c := r.call(id, kind, x)
		c.answer(output, failed)
		if failed && exit != "" {
			c.Failed = fmt.Sprintf("exit status %s: %s", exit, c.Failed)
		}
	case "file_change", "mcp_tool_call":
		args, tool := x.Get("changes"), kind
		if name := x.Get("tool").Str; name != "" {
			args, tool = x.Get("arguments"), x.Get("server").Str+"."+name
		}
		if c := r.call(id, tool, args); failed {
			c.Failed = why(x, "error")
		}
	case "web_search":
		r.call(id, kind, gjson.Parse(fmt.Sprintf(`{"query":%s}`, cmp.Or(x.Get("query").Raw, `""`))))
	case "error":
		r.note(x.Get("message").Str)
	}
}

// gemini reads its one object, or an event of its stream. What it says there after it
// used a tool, and to the end, is its answer.
func (r *reader) gemini(kind string, e gjson.Result) {
	total, failure := &r.env.Usage, e.Get("error").Raw
	if failure == "null" {
		failure = ""
	}
	switch kind {
	case "":
		if !e.Get("stats").IsObject() {
			return
		}
		r.answered = true
		r.env.Report, r.env.Failed, r.env.Model = e.Get("response").Str, failure, names(e.Get("stats.models"))
		for _, m := range e.Get("stats.models").Map() {
			total.Turns += tokens(m, "api.totalRequests")
			total.TokensIn += tokens(m, "tokens.prompt")
			total.TokensOut += tokens(m, "tokens.candidates", "tokens.thoughts")
		}
	case "init":
		r.env.Model = e.Get("model").Str
	case "tool_use":
		r.call(e.Get("tool_id").Str, e.Get("tool_name").Str, e.Get("parameters"))
	case "tool_result":
		r.env.Report = ""
		output, failed := e.Get("output").Str, e.Get("status").Str == "error"
		if failed && output == "" {
			output = why(e, "error")
		}
		r.result(e.Get("tool_id").Str).answer(output, failed)
	case "message": // a part of what it says
		if e.Get("role").Str == "assistant" {
			if r.env.Report == "" {
				total.Turns++
			}
			text := words(e.Get("content"))
			r.env.Report += text
			r.next().Said += text
		}
	case "result":
		r.answered = true
		if status := e.Get("status").Str; status != "success" {
			r.env.Failed = status + " " + failure
		}
		total.TokensIn, total.TokensOut = tokens(e, "stats.input_tokens"), tokens(e, "stats.output_tokens")
		r.env.Model = cmp.Or(names(e.Get("stats.models")), r.env.Model)
	}
}

func (r *reader) opencode(kind string, e gjson.Result) {
	if kind == "error" {
		r.env.Failed, r.answered = "error "+why(e, "error"), true
	}
	p := object(e, "part")
	if p.Raw == "" {
		return
	}
	id, text := p.Get("messageID").Str, p.Get("text").Str
	t := r.turn(id)
	switch kind {
	case "text":
		if id != r.said || !r.answered {
			r.env.Report, r.said = "", id
		}
		r.env.Report, r.answered = r.env.Report+text, true
		t.Said += text
	case "reasoning":
		t.Thought += text
	case "tool_use":
		c := r.call(p.Get("callID").Str, p.Get("tool").Str, p.Get("state.input"))
		c.Output = clip(p.Get("state.output").Str)
		if p.Get("state.status").Str == "error" {
			c.Failed = why(p, "state.error")
		}
	case "step_finish":
		r.opencodeStep(t, p)
	}
}

// opencodeStep counts what a step used. It says a cost of 0 for a model whose price it
// does not know.
func (r *reader) opencodeStep(t *Turn, p gjson.Result) {
	if !p.Get("tokens").IsObject() {
		return
	}
	used := audit.Usage{TokensIn: tokens(p, "tokens.input", "tokens.cache.read", "tokens.cache.write"), TokensOut: tokens(p, "tokens.output", "tokens.reasoning")}
	if cost := p.Get("cost"); cost.Type == gjson.Number && cost.Num >= 0 {
		used.USD, used.Priced = cost.Num, cost.Num > 0 || used == audit.Usage{}
	}
	r.env.Stopped = ""
	if p.Get("reason").Str == "length" {
		r.env.Stopped = "its model was stopped at its limit of tokens"
	}
	for _, sum := range []*audit.Usage{&t.Usage, &r.env.Usage} {
		sum.Priced = sum.Priced || *sum == audit.Usage{}
		*sum = sum.Add(used)
	}
	r.env.Usage.Turns++
}

// copilot reads an event; it tells neither tokens nor cost.
func (r *reader) copilot(kind string, d, exit gjson.Result) {
	switch kind {
	case "assistant.turn_start":
		r.env.Usage.Turns++
		r.turn(d.Get("turnId").Str)
	case "assistant.message":
		r.env.Report, r.env.Model = d.Get("content").Str, cmp.Or(d.Get("model").Str, r.env.Model)
		r.current().Said += r.env.Report
	case "tool.execution_start":
		r.call(d.Get("toolCallId").Str, d.Get("toolName").Str, d.Get("arguments"))
	case "tool.execution_complete":
		output, failed := d.Get("result.content").Str, d.Get("success").Type != gjson.True
		if failed && d.Get("error").Type != gjson.Null {
			output = why(d, "error")
		}
		r.result(d.Get("toolCallId").Str).answer(output, failed)
	case "session.error":
		r.env.Failed = d.Get("message").Str
		r.note(r.env.Failed)
	case "result":
		r.answered = r.answered || exit.Type == gjson.Number
		if exit.Raw == "0" {
			r.env.Failed = ""
		}
	}
}

// model reads the events of internal/auditor's own loop, which numbers turns as they
// end: what went wrong before the first, or between two, is the next one's.
func (r *reader) model(kind string, e gjson.Result) {
	turn := tokens(e, "turn")
	switch kind {
	case "turn":
		t := r.turn(fmt.Sprint("turn ", turn))
		t.Said, t.Thought, t.Seconds = e.Get("said").Str, e.Get("thought").Str, t.Seconds+e.Get("seconds").Num
		var u audit.Usage
		if json.Unmarshal([]byte(e.Get("usage").Raw), &u) == nil {
			u.Turns = 0
			t.Usage = t.Usage.Add(u)
			t.Usage.Priced = u.Priced
		}
	case "result":
		text := e.Get("text").Str
		c := r.call(fmt.Sprint(len(r.calls)), e.Get("name").Str, e.Get("arguments"))
		c.Output = clip(text)
		if failed, ok := strings.CutPrefix(text, "error: "); ok {
			c.Failed = clip(failed)
		}
	case "fault":
		t := r.turn(fmt.Sprint("turn ", turn+1))
		t.Seconds += e.Get("seconds").Num
		r.note(e.Get("text").Str)
	case "room":
		r.note("its context was full, and it made notes: " + e.Get("text").Str)
	}
}
