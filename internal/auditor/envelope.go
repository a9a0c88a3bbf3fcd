package auditor

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"assay/audit"
)

// An Envelope is what an agent's own JSON output holds beside its work.
type Envelope struct {
	Report  string // the agent's last answer
	Model   string // as served; several joined by a comma; empty where the agent does not say
	Failed  string // why the agent says that its run failed; empty when it does not
	Stopped string // why its model was stopped before it had finished; empty where it was not
	Usage   audit.Usage
}

// Unwrap reads what an agent wraps its answer in: claude's --output-format json
// and stream-json, codex's exec --json, gemini's --output-format json and
// opencode's run --format json. It returns false for everything else, a report in
// JSON among it, and output that begins otherwise; between the events, lines that
// are no JSON (warnings) are passed over.
//
// TokensIn counts everything that the model read, cached or not.
func Unwrap(out []byte) (Envelope, bool) {
	var u unwrapper
	text := bytes.TrimSpace(out)
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return Envelope{}, false // a text report may quote such lines
	}
	var list []json.RawMessage
	switch {
	case json.Unmarshal(text, &list) == nil: // claude --verbose --output-format json
		for _, raw := range list {
			u.event(raw)
		}
	case json.Valid(text):
		u.event(text)
	default:
		for line := range bytes.Lines(text) {
			u.event(bytes.TrimSpace(line))
		}
	}
	return u.envelope()
}

// An event is any line of any of the agents; each uses some of the fields.
type event struct {
	Type string `json:"type"`

	// claude: the event "system" of subtype "init"
	Model string `json:"model"`

	// claude: the event "result"
	Subtype string                     `json:"subtype"`
	IsError bool                       `json:"is_error"`
	Result  *string                    `json:"result"`
	Cost    *float64                   `json:"total_cost_usd"`
	Turns   int64                      `json:"num_turns"`
	Stop    string                     `json:"stop_reason"`
	Usage   *reported                  `json:"usage"` // codex too, with "turn.completed"
	Errors  json.RawMessage            `json:"errors"`
	Models  map[string]json.RawMessage `json:"modelUsage"`

	// codex: "item.completed", "turn.failed", "error"
	Item    *item           `json:"item"`
	Message json.RawMessage `json:"message"`
	Error   json.RawMessage `json:"error"` // gemini too

	// gemini: its one object; of its stream "init", "message", "tool_result" and "result"
	Response *string      `json:"response"`
	Stats    *geminiStats `json:"stats"`
	Role     string       `json:"role"`
	Content  string       `json:"content"`
	Status   string       `json:"status"`

	// opencode: "text", "step_finish"; "error"
	Part    *part  `json:"part"`
	Session string `json:"sessionID"`

	// copilot: "assistant.turn_start", "assistant.message", "session.error"; "result"
	Data *struct {
		Model   string `json:"model"`
		Content string `json:"content"`
		Message string `json:"message"`
	} `json:"data"`
	Exit *int `json:"exitCode"`
}

// geminiStats holds what gemini used: in its one object by model, in its stream the
// sums.
type geminiStats struct {
	Models map[string]struct {
		Tokens struct{ Prompt, Candidates, Thoughts int64 } `json:"tokens"`
		API    struct{ TotalRequests int64 }                `json:"api"`
	} `json:"models"`
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
}

type item struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type part struct {
	MessageID string   `json:"messageID"`
	Reason    string   `json:"reason"`
	Text      string   `json:"text"`
	Cost      *float64 `json:"cost"`
	Tokens    *struct {
		Input, Output, Reasoning int64
		Cache                    struct{ Read, Write int64 }
	} `json:"tokens"`
}

type reported struct {
	Input         int64 `json:"input_tokens"`
	Output        int64 `json:"output_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"` // claude: beside Input
	CacheRead     int64 `json:"cache_read_input_tokens"`     // claude: beside Input; codex counts cached ones in Input
}

func (r *reported) claudeRead() int64 { return r.Input + r.CacheCreation + r.CacheRead }

// An unwrapper collects what the events of one run say.
type unwrapper struct {
	env    Envelope
	began  string // the agent whose events came, before its answer has
	answer bool
	said   string // the message that came last: of opencode the one whose text is in the report
	priced bool
	spent  float64
}

func (u *unwrapper) event(line []byte) {
	if len(line) == 0 || line[0] != '{' {
		return
	}
	var e event
	if json.Unmarshal(line, &e) != nil {
		return
	}
	switch {
	case e.Type == "result" && (e.Result != nil || e.Cost != nil || e.Subtype != ""):
		u.claude(&e)
	case e.Type == "system" && e.Subtype == "init":
		u.began, u.env.Model = "claude", e.Model
	case e.Type == "assistant" && u.began == "claude":
		u.claudeMessage(e.Message)
	case e.Type == "thread.started" || e.Type == "turn.started":
		u.began = "codex"
	case e.Type == "item.completed" || e.Type == "turn.completed" || e.Type == "turn.failed" || e.Type == "error" && u.began == "codex":
		u.codex(&e)
	case e.Stats != nil && (e.Response != nil || e.Error != nil):
		u.gemini(&e)
	case e.Type == "init" || u.began == "gemini" && (e.Type == "message" || e.Type == "tool_result" || e.Type == "result"):
		u.geminiStream(&e)
	case e.Type == "assistant.turn_start" || u.began == "copilot":
		u.copilot(&e)
	case e.Part != nil && (e.Type == "text" || e.Type == "step_start" || e.Type == "step_finish"), e.Type == "error" && (u.began == "opencode" || u.began == "" && e.Session != ""):
		u.opencode(&e)
	}
}

func (u *unwrapper) claude(e *event) {
	u.began, u.answer = "claude", true
	if e.Result != nil {
		u.env.Report = *e.Result
	}
	if len(e.Models) > 0 {
		u.env.Model = names(e.Models)
	}
	if e.IsError || e.Subtype != "" && e.Subtype != "success" {
		u.env.Failed = strings.TrimSpace(e.Subtype + " " + string(e.Errors))
		if e.Subtype == "success" {
			u.env.Failed = cmp.Or(u.env.Report, "it does not say why")
		}
	}
	if e.Subtype == "error_max_turns" || e.Stop == "max_tokens" {
		u.env.Stopped = "its model was stopped: " + cmp.Or(strings.TrimPrefix(e.Subtype, "success"), e.Stop)
	}
	u.env.Usage.Turns = e.Turns
	if e.Usage != nil {
		u.env.Usage.TokensIn = e.Usage.claudeRead()
		u.env.Usage.TokensOut = e.Usage.Output
	}
	if e.Cost != nil {
		u.priced, u.spent = true, *e.Cost
	}
}

// claudeMessage counts what a message used, for a run that ends before its result
// says it of them all. A message comes in several events, each with the whole.
func (u *unwrapper) claudeMessage(raw json.RawMessage) {
	var m struct {
		ID    string    `json:"id"`
		Usage *reported `json:"usage"`
	}
	if json.Unmarshal(raw, &m) != nil || m.Usage == nil || m.ID == "" || m.ID == u.said {
		return
	}
	u.said = m.ID
	u.env.Usage.Turns++
	u.env.Usage.TokensIn += m.Usage.claudeRead()
	u.env.Usage.TokensOut += m.Usage.Output
}

func (u *unwrapper) codex(e *event) {
	u.began = "codex"
	switch e.Type {
	case "item.completed":
		if e.Item != nil && e.Item.Type == "agent_message" {
			u.env.Report, u.answer = e.Item.Text, true
		}
	case "turn.completed":
		u.env.Failed = "" // a connection that broke and came back is told as an error too
		u.env.Usage.Turns++
		if e.Usage != nil {
			u.env.Usage.TokensIn += e.Usage.Input
			u.env.Usage.TokensOut += e.Usage.Output
		}
	default:
		u.env.Failed, u.answer = e.Type+" "+string(e.Error)+string(e.Message), true
	}
}

func (u *unwrapper) gemini(e *event) {
	u.began, u.answer = "gemini", true
	if e.Response != nil {
		u.env.Report = *e.Response
	}
	if len(e.Error) > 0 && string(e.Error) != "null" {
		u.env.Failed = string(e.Error)
	}
	u.env.Model = names(e.Stats.Models)
	for _, m := range e.Stats.Models {
		u.env.Usage.Turns += m.API.TotalRequests
		u.env.Usage.TokensIn += m.Tokens.Prompt
		u.env.Usage.TokensOut += m.Tokens.Candidates + m.Tokens.Thoughts
	}
}

// geminiStream reads an event. What it says after it used a tool, and to the end, is
// its answer.
func (u *unwrapper) geminiStream(e *event) {
	u.began = "gemini"
	switch e.Type {
	case "init":
		u.env.Model = e.Model
	case "tool_result":
		u.env.Report = ""
	case "message":
		if e.Role != "assistant" {
			return
		}
		if u.env.Report == "" {
			u.env.Usage.Turns++
		}
		u.env.Report += e.Content
	case "result":
		u.answer = true
		if e.Status != "success" {
			u.env.Failed = e.Status + " " + string(e.Error)
		}
		if s := e.Stats; s != nil {
			u.env.Usage.TokensIn, u.env.Usage.TokensOut = s.Input, s.Output
			u.env.Model = cmp.Or(names(s.Models), u.env.Model)
		}
	}
}

// copilot reads an event; it tells neither tokens nor cost.
func (u *unwrapper) copilot(e *event) {
	u.began = "copilot"
	switch {
	case e.Type == "result" && e.Exit != nil:
		u.answer = true
		if *e.Exit == 0 {
			u.env.Failed = ""
		}
	case e.Data == nil:
	case e.Type == "assistant.turn_start":
		u.env.Usage.Turns++
	case e.Type == "assistant.message":
		u.env.Report, u.env.Model = e.Data.Content, cmp.Or(e.Data.Model, u.env.Model)
	case e.Type == "session.error":
		u.env.Failed = e.Data.Message
	}
}

// names gives the models of a table, sorted.
func names[V any](models map[string]V) string { return strings.Join(sortedKeys(models), ", ") }

func (u *unwrapper) opencode(e *event) {
	u.began = "opencode"
	switch {
	case e.Type == "error":
		var said struct{ Data struct{ Message string } }
		_ = json.Unmarshal(e.Error, &said)
		u.env.Failed, u.answer = "error "+cmp.Or(said.Data.Message, string(e.Error)), true
	case e.Type == "text":
		if e.Part.MessageID != u.said || !u.answer {
			u.env.Report, u.said = "", e.Part.MessageID
		}
		u.env.Report, u.answer = u.env.Report+e.Part.Text, true
	case e.Part.Tokens != nil:
		t := e.Part.Tokens
		u.env.Usage.Turns++
		u.env.Stopped = ""
		if e.Part.Reason == "length" {
			u.env.Stopped = "its model was stopped at its limit of tokens"
		}
		u.env.Usage.TokensIn += t.Input + t.Cache.Read + t.Cache.Write
		u.env.Usage.TokensOut += t.Output + t.Reasoning
		if e.Part.Cost != nil { // 0 for a model whose price it does not know
			known := *e.Part.Cost > 0 || t.Input+t.Output+t.Reasoning+t.Cache.Read+t.Cache.Write == 0
			u.priced, u.spent = known && (u.priced || u.env.Usage.Turns == 1), u.spent+*e.Part.Cost
		}
	}
}

// envelope gives what was read. An agent whose events came and whose answer did
// not was cut off: its report is empty.
func (u *unwrapper) envelope() (Envelope, bool) {
	if u.began == "" {
		return Envelope{}, false
	}
	if !u.answer {
		u.env.Failed = "its output breaks off before its answer"
		u.env.Stopped = u.env.Failed
	}
	// A figure that cannot be is as good as not said: nobody earns by an audit.
	if u.spent >= 0 && u.spent < 1e9 {
		u.env.Usage.USD, u.env.Usage.Priced = u.spent, u.priced
	}
	for _, n := range []*int64{&u.env.Usage.TokensIn, &u.env.Usage.TokensOut, &u.env.Usage.Turns} {
		*n = max(0, *n)
	}
	return u.env, true
}
