package events

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"assay/audit"
)

// A Turn is one round of an agent with its model: what the model said, and what the
// agent did for it.
type Turn struct {
	Thought string      // reasoning, as far as the stream shows it
	Said    string      // to whoever asked
	Calls   []Call      // of tools, in order
	Notes   []string    // what else the stream tells: a broken connection, a refused request, room made in its context
	Usage   audit.Usage // zero where the stream tells it for the whole run alone, which is Envelope.Usage; Turns is 0
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

type callAt struct{ turn, call int }

// turn gives the turn of a message; a new one for an ID that is not the last one's.
func (r *reader) turn(id string) *Turn {
	if len(r.turns) == 0 || id != r.id {
		r.turns, r.began, r.id = append(r.turns, Turn{}), append(r.began, r.last), id
	}
	return &r.turns[len(r.turns)-1]
}

// current gives the last turn, for what has no message of its own.
func (r *reader) current() *Turn { return r.turn(r.id) }

// next gives the last turn, or a new one where that has used a tool already: what
// comes now was said after the tool's answer.
func (r *reader) next() *Turn {
	if n := len(r.turns); n > 0 && len(r.turns[n-1].Calls) > 0 {
		return r.turn(fmt.Sprint("after turn ", n))
	}
	return r.current()
}

func (r *reader) note(text string) {
	t := r.current()
	t.Notes = append(t.Notes, text)
}

// call adds a use of a tool to the last turn, in words that say what it was asked for.
func (r *reader) call(id, tool string, args gjson.Result) *Call {
	t := r.current()
	r.calls[id] = callAt{len(r.turns) - 1, len(t.Calls)}
	c := Call{Tool: tool, Kind: kindOf(tool)}
	raw := args.Raw
	if args.Type == gjson.String { // a model's arguments are JSON in a string
		raw = args.Str
	}
	if json.Valid([]byte(raw)) {
		for _, name := range argumentsOf[c.Kind] {
			c.What = strings.TrimSpace(c.What + " " + gjson.Get(raw, name).Str)
		}
	}
	c.What = clip(cmp.Or(c.What, raw))
	t.Calls = append(t.Calls, c)
	return &t.Calls[len(t.Calls)-1]
}

// answer keeps what a tool gave back; failed says that it has no better words for why
// it failed.
func (c *Call) answer(output string, failed bool) {
	c.Output = clip(output)
	if failed {
		c.Failed = cmp.Or(clip(strings.TrimSpace(output)), noReason)
	}
}

// result finds the call of this ID; one that nobody keeps where there is none.
func (r *reader) result(id string) *Call {
	at, ok := r.calls[id]
	if !ok {
		return &Call{}
	}
	return &r.turns[at.turn].Calls[at.call]
}

// at keeps the time of an event: an instant, or milliseconds since 1970.
func (r *reader) at(e gjson.Result) {
	if t, err := time.Parse(time.RFC3339Nano, e.Str); err == nil {
		r.last, r.timed = t, true
	} else if ms := int64(e.Num); ms > 0 {
		r.last, r.timed = time.UnixMilli(ms), true
	}
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

func clip(s string) string {
	return strings.ToValidUTF8(string(audit.Clip([]byte(s), maxCallText)), "")
}
