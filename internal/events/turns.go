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

// A Turn is one round of an agent with its model: what the model wrote, and the tool calls that
// followed.
type Turn struct {
	Thought string      // reasoning, as far as the stream shows it
	Said    string      // text to the user
	Calls   []Call      // of tools, in order
	Notes   []string    // other events: a broken connection, a refused request, a compacted context
	Usage   audit.Usage // zero if the stream states only the whole run's; its Turns is 0
	// wall time, with that of its tools if the stream does not separate them; 0 without times
	Seconds float64
}

// A Call is one use of a tool.
type Call struct {
	Kind string // "read", "search", "run", "write", or "other": a tool that is none of these
	Tool string // as the agent names it
	// the file that it read or wrote, the pattern or the command line; else its arguments, as
	// JSON
	What   string
	Output string // up to maxCallText bytes
	// why the tool failed, in its words; empty when it did not, and for a command that ended
	// with status 1 and no word, as a search does that found nothing
	Failed string
}

// maxCallText is the number of bytes of a tool's input and output that a Call keeps.
const maxCallText = 4000

// A callAt is the position of a call.
type callAt struct{ turn, call int }

// turn returns the turn with this ID: the last one, or a new one.
func (r *reader) turn(id string) *Turn {
	if len(r.turns) == 0 || id != r.id {
		r.turns, r.began, r.id = append(r.turns, Turn{}), append(r.began, r.last), id
	}
	return &r.turns[len(r.turns)-1]
}

// current returns the last turn.
func (r *reader) current() *Turn { return r.turn(r.id) }

// next returns the last turn, or a new one if the last has used a tool already.
func (r *reader) next() *Turn {
	if n := len(r.turns); n > 0 && len(r.turns[n-1].Calls) > 0 {
		return r.turn(fmt.Sprint("after turn ", n))
	}
	return r.current()
}

// note adds a note to the last turn.
func (r *reader) note(text string) {
	t := r.current()
	t.Notes = append(t.Notes, text)
}

// call adds a tool call to the last turn, with the arguments that say what it is about.
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

// answer stores the tool's output; failed means that the output is the reason for a failure.
func (c *Call) answer(output string, failed bool) {
	c.Output = clip(output)
	if failed {
		c.Failed = cmp.Or(clip(strings.TrimSpace(output)), noReason)
	}
}

// result returns the call with this ID; a discarded one if there is none.
func (r *reader) result(id string) *Call {
	at, ok := r.calls[id]
	if !ok {
		return &Call{}
	}
	return &r.turns[at.turn].Calls[at.call]
}

// at stores the time of an event: RFC 3339, or milliseconds since 1970.
func (r *reader) at(e gjson.Result) {
	if t, err := time.Parse(time.RFC3339Nano, e.Str); err == nil {
		r.last, r.timed = t, true
	} else if ms := int64(e.Num); ms > 0 {
		r.last, r.timed = time.UnixMilli(ms), true
	}
}

// argumentsOf are the arguments that say what a call is about, by kind.
var argumentsOf = map[string][]string{
	"read": {"file_path", "filePath", "absolute_path", "path", "notebook_path",
		"dir_path", "file"},
	"search": {"pattern", "query", "path", "dir_path", "glob"},
	"run":    {"command", "cmd"},
	"write":  {"file_path", "filePath", "path"},
}

// kinds maps the tools of agents, in lower case without separators, to kinds of calls.
var kinds = map[string]string{
	"read": "read", "readfile": "read", "readmanyfiles": "read", "view": "read", "list": "read",
	"ls": "read", "listdirectory": "read", "notebookread": "read",
	"grep": "search", "glob": "search", "search": "search", "grepsearch": "search",
	"searchfilecontent": "search", "rg": "search",
	"bash": "run", "shell": "run", "runshellcommand": "run", "execcommand": "run",
	"shellcommand": "run", "commandexecution": "run", "powershell": "run",
	"write": "write", "edit": "write", "multiedit": "write", "writefile": "write",
	"replace": "write", "patch": "write", "applypatch": "write", "create": "write",
	"strreplace": "write", "filechange": "write",
}

// kindOf returns the kind of a tool.
func kindOf(tool string) string {
	return cmp.Or(kinds[strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(tool))],
		"other")
}

// clip returns the first bytes of s as valid UTF-8.
func clip(s string) string {
	return strings.ToValidUTF8(string(audit.Clip([]byte(s), maxCallText)), "")
}
