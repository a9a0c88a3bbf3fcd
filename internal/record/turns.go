package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"assay/audit"
)

// A Turn is one round of an agent with its model: what the model said, and what the
// agent did for it.
type Turn struct {
	Thought string      // reasoning, as far as the stream shows it
	Said    string      // to whoever asked
	Calls   []Call      // of tools, in order
	Notes   []string    // what else the stream tells: a broken connection, a refused request, room made in its context
	Usage   audit.Usage // zero where the stream tells it for the whole run alone, which is Transcript.Usage; Turns is 0
	Seconds float64     // wall time, its tools' included where the stream does not tell them apart; 0 where it holds no times
}

// A Call is one use of a tool.
type Call struct {
	Kind   string // "read", "search", "run", "write", or "other": a tool that is none of these
	Tool   string // as the agent names it
	What   string // the file that it read or wrote, the pattern or the command line; else its arguments, as JSON
	Output string // up to maxCallText bytes
	Failed string // why the tool failed, in its words; empty when it did not, and for a command that ended with status 1 and no word, as a search does that found nothing
}

// maxCallText is how much of what a tool was given and gave back a call holds, in
// bytes.
const maxCallText = 4000

// Turns reads the run's event stream: that of claude (stream-json, or its JSON
// array), codex (exec --json), gemini (stream-json), opencode (run --format json),
// copilot (--output-format json), and of the models that Assay asks itself. It gives
// nil where nothing was kept, or of none of these. Lines that are no event are passed
// over, the mark of a cut among them: Stream.Cut tells of one.
//
// codex and gemini name no turns: a turn of theirs ends where the model speaks after
// a tool was used. claude tells the time of its tools' answers alone: a turn of it
// goes on until the next one.
func (t *Transcript) Turns() []Turn {
	b := t.Text("events")
	r := turnReader{calls: map[string]callAt{}, last: t.Started}
	var list []json.RawMessage
	if json.Unmarshal(b, &list) == nil {
		for _, raw := range list {
			r.line(raw)
		}
	} else {
		for line := range bytes.Lines(b) {
			r.line(line)
		}
	}
	return r.end(t.Started.Add(time.Duration(t.Seconds * float64(time.Second))))
}

// ToolErrors gives the calls of the run's tools that failed, a line each.
func (t *Transcript) ToolErrors() []string {
	var errs []string
	for i, turn := range t.Turns() {
		for _, c := range turn.Calls {
			if c.Failed != "" {
				errs = append(errs, fmt.Sprintf("turn %d: %s %s: %s", i+1, c.Tool, audit.OneLine(c.What, 200), audit.OneLine(c.Failed, 200)))
			}
		}
	}
	return errs
}

// callAt is where a call stands whose result is to come.
type callAt struct{ turn, call int }

// A turnReader puts turns together from events.
type turnReader struct {
	turns []Turn
	began []time.Time // of each turn
	last  time.Time   // that an event told
	timed bool        // some event told one
	id    string      // of the message that the last turn is
	calls map[string]callAt
}

// turn gives the turn of a message; a new one for an ID that is not the last one's.
func (r *turnReader) turn(id string) *Turn {
	if len(r.turns) == 0 || id != r.id {
		r.turns, r.began, r.id = append(r.turns, Turn{}), append(r.began, r.last), id
	}
	return &r.turns[len(r.turns)-1]
}

// current gives the last turn, for what has no message of its own.
func (r *turnReader) current() *Turn { return r.turn(r.id) }

// next gives the last turn, or a new one where that has used a tool already: what
// comes now was said after the tool's answer.
func (r *turnReader) next() *Turn {
	if n := len(r.turns); n > 0 && len(r.turns[n-1].Calls) > 0 {
		return r.turn(fmt.Sprint("after turn ", n))
	}
	return r.current()
}

// call adds a use of a tool to the last turn.
func (r *turnReader) call(t *Turn, id, tool string, args event) *Call {
	r.calls[id] = callAt{len(r.turns) - 1, len(t.Calls)}
	t.Calls = append(t.Calls, newCall(tool, args))
	return &t.Calls[len(t.Calls)-1]
}

// result finds the call of this ID; nil where there is none.
func (r *turnReader) result(id string) *Call {
	at, ok := r.calls[id]
	if !ok {
		return nil
	}
	return &r.turns[at.turn].Calls[at.call]
}

// end gives the turns with their times; the last one goes on until the run's end.
func (r *turnReader) end(until time.Time) []Turn {
	for i := len(r.turns) - 1; i >= 0 && r.timed; i-- {
		r.turns[i].Seconds = max(0, until.Sub(r.began[i]).Seconds())
		until = r.began[i]
	}
	return r.turns
}

// at keeps the time of an event.
func (r *turnReader) at(raw event) {
	var text string
	var ms int64
	switch {
	case json.Unmarshal(raw, &text) == nil:
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			r.last, r.timed = t, true
		}
	case json.Unmarshal(raw, &ms) == nil && ms > 0:
		r.last, r.timed = time.UnixMilli(ms), true
	}
}

// newCall says in words what a tool was asked for.
func newCall(tool string, args event) Call {
	c := Call{Tool: tool, Kind: kindOf(tool)}
	var given map[string]any
	if json.Unmarshal(args, &given) != nil {
		var text string // a model's arguments are JSON in a string
		if json.Unmarshal(args, &text) == nil {
			args = event(text)
			_ = json.Unmarshal(args, &given)
		}
	}
	for _, name := range argumentsOf[c.Kind] {
		if v, ok := given[name].(string); ok && v != "" {
			c.What = strings.TrimSpace(c.What + " " + v)
		}
	}
	c.What = clipText(cmp.Or(c.What, string(args)))
	return c
}

// argumentsOf are the arguments that say what a call is about, by kind.
var argumentsOf = map[string][]string{
	"read":   {"file_path", "filePath", "absolute_path", "path", "notebook_path", "dir_path", "file"},
	"search": {"pattern", "query", "path", "dir_path", "glob"},
	"run":    {"command", "cmd"},
	"write":  {"file_path", "filePath", "path"},
}

// kinds are the tools of the agents, in lower case without separators, by kind.
var kinds = map[string]string{
	"read": "read", "readfile": "read", "readmanyfiles": "read", "view": "read", "list": "read", "ls": "read", "listdirectory": "read", "notebookread": "read",
	"grep": "search", "glob": "search", "search": "search", "grepsearch": "search", "searchfilecontent": "search", "rg": "search",
	"bash": "run", "shell": "run", "runshellcommand": "run", "execcommand": "run", "shellcommand": "run", "commandexecution": "run", "powershell": "run",
	"write": "write", "edit": "write", "multiedit": "write", "writefile": "write", "replace": "write", "patch": "write", "applypatch": "write", "create": "write", "strreplace": "write", "filechange": "write",
}

func kindOf(tool string) string {
	return cmp.Or(kinds[strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(tool))], "other")
}

func clipText(s string) string {
	return strings.ToValidUTF8(string(audit.Clip([]byte(s), maxCallText)), "")
}
