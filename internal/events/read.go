// Package events reads what an agent prints of its own run: its last answer, which model
// answered, what it consumed, and its turns. It knows the JSON of claude and qwen (json and
// stream-json), codex (exec --json), gemini (json and stream-json), opencode (run --format
// json), copilot (--output-format json) and kimi (--output-format stream-json), and the events
// of the models that Assay asks itself.
package events

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Read returns the outcome of a run by the agent's output. It returns false for output of no
// known agent, including a report in JSON, and for output that does not begin with JSON,
// because a text report may quote events. If the events have no answer, the agent was stopped:
// its report is empty.
func Read(out []byte) (AgentResult, bool) {
	if text := bytes.TrimSpace(out); len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return AgentResult{}, false
	}
	r := read(out)
	if r.agent == "" || r.agent == ours {
		return AgentResult{}, false
	}
	o := &r.outcome
	if !r.answered && o.Refused == "" {
		o.Stopped = "its output breaks off before its answer"
		o.Failed = strings.TrimSuffix(o.Stopped+": "+o.Failed, ": ")
	}
	if o.Usage.USD >= maxUSD { // as good as not said
		o.Usage.USD, o.Usage.Priced = 0, false
	}
	return *o, true
}

// Turns returns the turns of a run by its events; nil for events of no known agent. Lines that
// are no events are skipped. began and ended are the times of the run and bound those of the
// turns.
//
// codex and gemini do not mark turns: one ends where the model speaks after a tool was used.
// claude states only the times of tool results, so a turn lasts until the next one begins.
func Turns(events []byte, began, ended time.Time) []Turn {
	r := read(events)
	for i := len(r.turns) - 1; i >= 0 && r.timed; i-- {
		if r.began[i].IsZero() {
			r.began[i] = began
		}
		r.turns[i].Seconds = max(0, ended.Sub(r.began[i]).Seconds())
		ended = r.began[i]
	}
	return r.turns
}

// ours is the name of the agent loop of internal/auditor, whose events wrap no answer.
const ours = "assay"

// A reader assembles a run from its events.
type reader struct {
	agent    string // that wrote the events; empty until it is known
	outcome  AgentResult
	answered bool   // its answer has come, or why there is none
	qwen     bool   // claude's events are qwen's
	said     string // of opencode: the message whose text is in the report

	turns []Turn
	began []time.Time // of each turn; zero before the first event with a time
	last  time.Time   // time of an event
	timed bool        // whether any event had a time
	id    string      // of the message that the last turn is
	calls map[string]callAt
}

// read reads events: one object, an array of them (claude's), or one a line. The agent may be
// recognized by a later event than the first.
func read(out []byte) *reader {
	r := &reader{calls: map[string]callAt{}}
	events := eventsOf(out)
	for e := range events {
		if r.agent = agentOf(e); r.agent != "" {
			break
		}
	}
	if r.agent != "" {
		for e := range events {
			r.event(e)
		}
	}
	return r
}

func eventsOf(out []byte) iter.Seq[gjson.Result] {
	if json.Valid(out) {
		all := gjson.ParseBytes(out)
		return func(yield func(gjson.Result) bool) {
			if all.IsObject() {
				yield(all)
			} else if all.IsArray() {
				all.ForEach(func(_, e gjson.Result) bool { return !e.IsObject() || yield(e) })
			}
		}
	}
	return func(yield func(gjson.Result) bool) {
		for line := range bytes.Lines(out) {
			line = bytes.TrimSpace(line)
			if len(line) > 0 && line[0] == '{' && json.Valid(line) &&
				!yield(gjson.ParseBytes(line)) {
				return
			}
		}
	}
}

func (r *reader) event(e gjson.Result) {
	kind := e.Get("type").Str
	r.at(e.Get("timestamp"))
	if kind == "error" || kind == "turn.failed" {
		r.note(why(e, "error", "message", "data"))
	}
	switch r.agent {
	case "claude":
		r.claude(kind, e)
	case "codex":
		r.codex(kind, e)
	case "gemini":
		r.gemini(kind, e)
	case "opencode":
		r.opencode(kind, e)
	case "copilot":
		r.copilot(kind, e)
	case "kimi":
		r.kimi(e)
	case ours:
		r.model(kind, e)
	}
}

// agentOf returns the agent by an event that only this agent writes; "" for any other event.
func agentOf(e gjson.Result) string {
	kind := e.Get("type").Str
	there := func(path string) bool { return e.Get(path).Type != gjson.Null }
	switch {
	case kind == "system" && e.Get("subtype").Str == "init",
		kind == "result" && (e.Get("result").Type == gjson.String ||
			e.Get("total_cost_usd").Type == gjson.Number || e.Get("subtype").Str != ""):
		return "claude"
	case slices.Contains([]string{"thread.started", "turn.started", "item.completed",
		"turn.completed", "turn.failed"}, kind):
		return "codex"
	case kind == "init", e.Get("stats").IsObject() && (e.Get("response").Type == gjson.String ||
		there("error")):
		return "gemini"
	case kind == "assistant.turn_start":
		return "copilot"
	case e.Get("role").Str == "meta" && kind == "system.version":
		return "kimi"
	case e.Get("part").IsObject() &&
		slices.Contains([]string{"text", "step_start", "step_finish"}, kind), kind == "error" &&
		e.Get("sessionID").Str != "":
		return "opencode"
	case e.Get("turn").Type == gjson.Number &&
		slices.Contains([]string{"turn", "fault", "room"}, kind):
		return ours
	}
	return ""
}

// Bounds of plausible figures.
const (
	maxTokens = 1e15
	maxUSD    = 1e9
)

// tokens returns the sum of the numbers at the paths, each within bounds.
func tokens(e gjson.Result, paths ...string) (n int64) {
	for _, p := range paths {
		n += int64(min(max(e.Get(p).Num, 0), maxTokens))
	}
	return n
}

// words returns a text, or the texts of a list of blocks.
func words(e gjson.Result) string {
	said := e.Str
	for _, block := range list(e) {
		said += block.Get("text").Str
	}
	return said
}

// object returns the object at a path. Other values yield an object without members, because
// gjson would search for members in a text.
func object(e gjson.Result, path string) gjson.Result {
	if e = e.Get(path); e.IsObject() {
		return e
	}
	return gjson.Result{}
}

// list returns the objects of a list; nil for another value.
func list(e gjson.Result) []gjson.Result {
	if !e.IsArray() {
		return nil
	}
	return slices.DeleteFunc(e.Array(), func(e gjson.Result) bool { return !e.IsObject() })
}

// names returns the keys of a table, sorted.
func names(table gjson.Result) string {
	return strings.Join(slices.Sorted(maps.Keys(table.Map())), ", ")
}

// why returns the message of an error at the first path that has one, however it is wrapped.
func why(e gjson.Result, paths ...string) string {
	for _, p := range paths {
		at := e.Get(p)
		if at.Type == gjson.Null {
			continue
		}
		for _, in := range []gjson.Result{at, at.Get("data.message"), at.Get("message")} {
			if in.Str != "" {
				return in.Str
			}
		}
		return at.Raw
	}
	return noReason
}

const noReason = "it says no reason"
