package events

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"assay/audit"
)

// Each agent's stream has members of its own: what follows reads one event of each.

// claude reads an event of Claude Code or Qwen Code.
func (r *reader) claude(kind string, e gjson.Result) {
	switch kind {
	case "system":
		r.claudeSystem(e)
	case "assistant", "user":
		m := object(e, "message")
		if kind == "assistant" && e.Get("parent_tool_use_id").Str == "" { // else a subagent's
			r.claudeServed(m)
		}
		r.claudeMessage(kind, m)
	case "result":
		r.claudeResult(e)
	}
}

// claudeSystem reads a system event: the model, the known commands, retries and fallbacks.
func (r *reader) claudeSystem(e gjson.Result) {
	o, subtype := &r.outcome, e.Get("subtype").Str
	switch subtype {
	case "init":
		o.Asked = cmp.Or(e.Get("model").Str, o.Asked)
		r.qwen = e.Get("qwen_code_version").Exists()
		for _, list := range []string{"skills", "slash_commands"} {
			for _, name := range e.Get(list).Array() {
				o.Skills = append(o.Skills, strings.TrimPrefix(name.Str, "/"))
			}
		}
	case "model_refusal_fallback", "model_refusal_no_fallback":
		o.Refused = strings.TrimSpace(e.Get("original_model").Str + " " +
			reasons(e.Get("api_refusal_category").Str, e.Get("api_refusal_explanation").Str))
		if other := e.Get("fallback_model").Str; other != "" {
			o.Refused += ", and " + other + " answered in its place"
		}
		r.note(o.Refused)
	case "api_retry":
		r.note(fmt.Sprintf("attempt %s: %s %s", e.Get("attempt").Raw, e.Get("error_status").Raw,
			e.Get("error").Str))
	}
}

// reasons returns "(category: explanation)" from the texts that are not empty; "" if all are.
func reasons(stated ...string) string {
	stated = slices.DeleteFunc(stated, func(s string) bool { return s == "" })
	if len(stated) == 0 {
		return ""
	}
	return "(" + strings.Join(stated, ": ") + ")"
}

// claudeServed notes the model that wrote a message. Claude's result and all of Qwen's messages
// name the model that was asked instead. Claude's own messages are <synthetic>.
func (r *reader) claudeServed(m gjson.Result) {
	o := &r.outcome
	if model := m.Get("model").Str; model != "<synthetic>" && !r.qwen {
		o.serves(model)
	}
	for _, block := range list(m.Get("content")) {
		if block.Get("type").Str == "fallback" {
			o.serves(block.Get("to.model").Str)
		}
	}
	if m.Get("stop_reason").Str == "refusal" && o.Refused == "" {
		d := m.Get("stop_details")
		o.Refused = strings.TrimSpace(o.Asked + " " + reasons(d.Get("category").Str,
			d.Get("explanation").Str))
	}
}

// claudeUsage returns the tokens of a message or result. Claude counts cached tokens apart;
// Qwen, which states the total, includes them.
func claudeUsage(e gjson.Result) audit.Usage {
	u := audit.Usage{TokensIn: tokens(e, "usage.input_tokens"),
		TokensOut: tokens(e, "usage.output_tokens")}
	if !e.Get("usage.total_tokens").Exists() {
		u.TokensIn += tokens(e, "usage.cache_creation_input_tokens",
			"usage.cache_read_input_tokens")
	}
	return u
}

// claudeMessage reads a message or a part of it. Each block is an event of its own, and the
// last one states the usage. Their sum is the usage of a run that ended before its result.
func (r *reader) claudeMessage(kind string, m gjson.Result) {
	blocks := list(m.Get("content"))
	for _, b := range blocks {
		if b.Get("type").Str == "tool_result" {
			output := words(b.Get("content"))
			// claude's words for a command that found nothing
			nothing := strings.TrimSpace(output) == "Exit code 1"
			r.result(b.Get("tool_use_id").Str).answer(output,
				b.Get("is_error").Type == gjson.True && !nothing)
		}
	}
	id, total := m.Get("id").Str, &r.outcome.Usage
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

// claudeResult reads the final event.
func (r *reader) claudeResult(e gjson.Result) {
	r.answered = true
	o, subtype, models := &r.outcome, e.Get("subtype").Str, e.Get("modelUsage")
	o.Report = cmp.Or(e.Get("result").Str, o.Report)
	o.Asked = cmp.Or(o.Asked, names(models))
	said := cmp.Or(e.Get("error.message").Str, e.Get("errors").Raw)
	switch {
	case subtype != "" && subtype != "success":
		o.fails(subtype + " " + said)
	case e.Get("is_error").Type == gjson.True:
		o.fails(cmp.Or(o.Report, said, "it does not say why"))
	case len(o.Served) == 0 && !r.qwen && o.Skills != nil && e.Get("num_turns").Raw == "0":
		o.Unasked = audit.OneLine(o.Report, 300) // a command of claude's own, which failed
	}
	if stop := e.Get("stop_reason").Str; stop == "refusal" && o.Refused == "" {
		o.Refused = o.Asked
	} else if strings.HasPrefix(subtype, "error_max_") || stop == "max_tokens" {
		o.Stopped = "its model was stopped: " + cmp.Or(strings.TrimPrefix(subtype, "success"), stop)
	}
	total := &o.Usage
	if used := claudeUsage(e); used != (audit.Usage{}) {
		*total = used
	} else if models.IsObject() { // at the end of its budget claude sums up by model alone
		*total = audit.Usage{}
		for _, m := range models.Map() {
			total.TokensIn += tokens(m, "inputTokens", "cacheReadInputTokens",
				"cacheCreationInputTokens")
			total.TokensOut += tokens(m, "outputTokens")
		}
	}
	total.Turns = tokens(e, "num_turns")
	cost := e.Get("total_cost_usd")
	total.USD, total.Priced = max(cost.Num, 0), cost.Type == gjson.Number && cost.Num >= 0
}

// codex reads an event of Codex.
func (r *reader) codex(kind string, e gjson.Result) {
	total := &r.outcome.Usage
	switch kind {
	case "item.completed":
		r.codexItem(object(e, "item"))
	case "turn.completed":
		r.outcome.Failed = "" // a connection that broke and was restored is an error event too
		if !r.answered {
			r.outcome.Refused = "codex ended its turn without a message, as it does where the model refuses"
		}
		total.Turns++
		total.TokensIn += tokens(e, "usage.input_tokens") // cached ones among them
		total.TokensOut += tokens(e, "usage.output_tokens")
	case "turn.failed":
		r.outcome.fails(kind + " " + why(e, "error", "message"))
		r.answered = true
	case "error": // of a connection that may come back
		r.outcome.Failed = kind + " " + why(e, "message", "error")
	}
}

// reroute matches Codex's message that the server's header named another model.
var reroute = regexp.MustCompile(`^model rerouted: (\S+) -> (\S+)`)

// codexItem reads a completed item of Codex.
func (r *reader) codexItem(x gjson.Result) {
	kind, id, failed := x.Get("type").Str, x.Get("id").Str, x.Get("status").Str == "failed"
	switch kind {
	case "agent_message":
		r.outcome.Report, r.answered = x.Get("text").Str, true
		r.next().Said += r.outcome.Report
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
		if m := reroute.FindStringSubmatch(x.Get("message").Str); m != nil {
			r.outcome.Asked = m[1]
			r.outcome.serves(m[2])
		}
	}
}

// gemini reads Gemini's single object, or an event of its stream. Its text after the last tool
// call is the answer.
func (r *reader) gemini(kind string, e gjson.Result) {
	total, failure := &r.outcome.Usage, e.Get("error").Raw
	if failure == "null" {
		failure = ""
	}
	switch kind {
	case "":
		if !e.Get("stats").IsObject() {
			return
		}
		r.answered = true
		r.outcome.Report, r.outcome.Failed = e.Get("response").Str, failure
		r.geminiServed(e.Get("stats.models"), "tokens.candidates")
		for _, m := range e.Get("stats.models").Map() {
			total.Turns += tokens(m, "api.totalRequests")
			total.TokensIn += tokens(m, "tokens.prompt")
			total.TokensOut += tokens(m, "tokens.candidates", "tokens.thoughts")
		}
	case "init":
		r.outcome.Asked = e.Get("model").Str
	case "error":
		r.outcome.fails(why(e, "message", "error"))
	case "tool_use":
		r.call(e.Get("tool_id").Str, e.Get("tool_name").Str, e.Get("parameters"))
	case "tool_result":
		r.outcome.Report = ""
		output, failed := e.Get("output").Str, e.Get("status").Str == "error"
		if failed && output == "" {
			output = why(e, "error")
		}
		r.result(e.Get("tool_id").Str).answer(output, failed)
	case "message": // a part of what it says
		if e.Get("role").Str == "assistant" {
			if r.outcome.Report == "" {
				total.Turns++
			}
			text := words(e.Get("content"))
			r.outcome.Report += text
			r.next().Said += text
		}
	case "result":
		r.answered = true
		if status := e.Get("status").Str; status == "success" {
			r.outcome.Failed = ""
		} else {
			r.outcome.fails(status + " " + cmp.Or(failure, r.outcome.Failed))
		}
		total.TokensIn, total.TokensOut = tokens(e, "stats.input_tokens"), tokens(e,
			"stats.output_tokens")
		r.geminiServed(e.Get("stats.models"), "output_tokens")
	}
}

// geminiServed notes the models that answered. Gemini uses small models on the side, so a model
// that wrote less than a tenth of the tokens is ignored.
func (r *reader) geminiServed(models gjson.Result, written string) {
	all := int64(0)
	for _, m := range models.Map() {
		all += tokens(m, written)
	}
	for _, name := range slices.Sorted(maps.Keys(models.Map())) {
		if n := tokens(models.Map()[name], written); n > 0 && 10*n >= all {
			r.outcome.serves(name)
		}
	}
}

// opencode reads an event of opencode.
func (r *reader) opencode(kind string, e gjson.Result) {
	if kind == "error" {
		r.outcome.fails("error " + why(e, "error"))
		if e.Get("error.name").Str == "ContentFilterError" {
			r.outcome.Refused = why(e, "error")
		}
		r.answered = true
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
			r.outcome.Report, r.said = "", id
		}
		r.outcome.Report, r.answered = r.outcome.Report+text, true
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

// opencodeStep adds the usage of a step. opencode states a cost of 0 for a model whose price it
// does not know.
func (r *reader) opencodeStep(t *Turn, p gjson.Result) {
	if !p.Get("tokens").IsObject() {
		return
	}
	used := audit.Usage{TokensIn: tokens(p, "tokens.input", "tokens.cache.read",
		"tokens.cache.write"), TokensOut: tokens(p, "tokens.output", "tokens.reasoning")}
	if cost := p.Get("cost"); cost.Type == gjson.Number && cost.Num >= 0 {
		used.USD, used.Priced = cost.Num, cost.Num > 0 || used == audit.Usage{}
	}
	r.outcome.Stopped = ""
	if p.Get("reason").Str == "length" {
		r.outcome.Stopped = "its model was stopped at its limit of tokens"
	}
	for _, sum := range []*audit.Usage{&t.Usage, &r.outcome.Usage} {
		sum.Priced = sum.Priced || *sum == audit.Usage{}
		*sum = sum.Add(used)
	}
	r.outcome.Usage.Turns++
}

// copilot reads an event of Copilot, or the usage file that the section's command line prints
// after the events, because events name neither tokens nor the model that answered.
func (r *reader) copilot(kind string, e gjson.Result) {
	d, o := object(e, "data"), &r.outcome
	switch kind {
	case "":
		for _, m := range e.Get("modelMetrics").Map() {
			o.Usage.TokensIn += tokens(m, "usage.inputTokens") // cached ones among them
			o.Usage.TokensOut += tokens(m, "usage.outputTokens")
		}
	case "assistant.turn_start":
		o.Usage.Turns++
		r.turn(d.Get("turnId").Str)
	case "assistant.message":
		o.Report, o.Asked = d.Get("content").Str, cmp.Or(d.Get("model").Str, o.Asked)
		r.current().Said += o.Report
	case "tool.execution_start":
		r.call(d.Get("toolCallId").Str, d.Get("toolName").Str, d.Get("arguments"))
	case "tool.execution_complete":
		output, failed := d.Get("result.content").Str, d.Get("success").Type != gjson.True
		if failed && d.Get("error").Type != gjson.Null {
			output = why(d, "error")
		}
		r.result(d.Get("toolCallId").Str).answer(output, failed)
	case "session.error":
		o.fails(d.Get("message").Str)
		r.note(o.Failed)
	case "result":
		exit := e.Get("exitCode")
		r.answered = r.answered || exit.Type == gjson.Number
		if exit.Raw == "0" {
			o.Failed = ""
		}
	}
}

// kimi reads a chat message of Kimi, which is a turn of its own. Kimi states neither model nor
// usage. Its answer is the last message without tool calls.
func (r *reader) kimi(m gjson.Result) {
	switch m.Get("role").Str {
	case "assistant":
		r.outcome.Usage.Turns++
		r.turn(fmt.Sprint("message ", r.outcome.Usage.Turns)).Said = words(m.Get("content"))
		calls := list(m.Get("tool_calls"))
		for _, c := range calls {
			r.call(c.Get("id").Str, c.Get("function.name").Str, c.Get("function.arguments"))
		}
		r.answered = len(calls) == 0
		if r.outcome.Report = ""; r.answered {
			r.outcome.Report = words(m.Get("content"))
		}
	case "tool":
		r.result(m.Get("tool_call_id").Str).answer(words(m.Get("content")), false)
	}
}

// model reads an event of internal/auditor's agent loop. The loop numbers turns when they end,
// so a note before that belongs to the next turn.
func (r *reader) model(kind string, e gjson.Result) {
	turn := tokens(e, "turn")
	switch kind {
	case "turn":
		t := r.turn(fmt.Sprint("turn ", turn))
		t.Said, t.Thought, t.Seconds = e.Get("said").Str, e.Get("thought").Str, t.Seconds+
			e.Get("seconds").Num
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
