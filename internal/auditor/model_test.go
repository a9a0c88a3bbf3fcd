package auditor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/findings"
	"assay/internal/planted"
	"assay/internal/run/testdata/mockapi"
)

const modelKey = "sk-canary0123456789abcdef0123456789"

// An exam is a model that follows a script, on a real sealed project.
type exam struct {
	t      *testing.T
	dir    string
	report string // with all that the key holds
	found  int
	server *mockapi.Server
	pauses []time.Duration

	entry  audit.AuditorEntry
	config ChatConfig
	budget float64
}

var drawn = sync.OnceValues(func() (*planted.Export, error) {
	p, err := planted.Read(os.DirFS("../.."), "fixtures/planted/workshop")
	if err != nil {
		return nil, err
	}
	return p.Draw(3).Render(), nil
})

// sit exports a planted project and starts a server that plays the model.
func sit(t *testing.T, play func(e *exam, r mockapi.Request) mockapi.Reply) *exam {
	target, err := drawn()
	require.NoError(t, err)
	e := &exam{t: t, dir: filepath.Join(t.TempDir(), "src"), budget: math.Inf(1),
		entry: audit.AuditorEntry{Name: "m"}}
	require.NoError(t, target.Write(e.dir))
	var fs []audit.Finding
	for _, k := range target.Project().Vulnerabilities {
		fs = append(fs, audit.Finding{ID: k.ID, CWEs: k.CWEs, Severity: k.Severity, File: k.File,
			Lines: k.Lines, Title: k.Title, Dimension: k.Dimension})
	}
	require.NotEmpty(t, fs)
	var b bytes.Buffer
	require.NoError(t,
		findings.WriteText(&b, findings.TextReport{Root: ".",
			Coverage: audit.Dimensions(), Findings: fs}))
	e.report, e.found = b.String(), len(fs)
	e.server = mockapi.New(func(r mockapi.Request) mockapi.Reply { return play(e, r) })
	t.Cleanup(e.server.Close)
	e.config = ChatConfig{Provider: "test", BaseURL: e.server.BaseURL, Key: modelKey,
		KeyName: "TEST_KEY", Timeout: 30 * time.Second,
		Model: audit.Model{Name: "m", ID: "maker/m", In: 1, Out: 2, Priced: true}}
	return e
}

// run audits, without waiting before another try.
func (e *exam) run() audit.AuditRun {
	e.t.Helper()
	m, err := newModel(e.entry, e.config, "Audit this.", e.budget)
	require.NoError(e.t, err)
	m.pause = func(ctx context.Context, d time.Duration) error {
		e.pauses = append(e.pauses, d)
		return ctx.Err()
	}
	run, err := m.Audit(context.Background(), audit.AuditTask{Dir: e.dir})
	require.NoError(e.t, err)
	require.False(e.t, strings.Contains(fmt.Sprintf("%s %s %+v", run.Raw, run.Events, run),
		modelKey[3:]), "the key is nowhere")
	return run
}

// passed holds a run to be the whole report.
func (e *exam) passed(run audit.AuditRun) {
	e.t.Helper()
	require.Empty(e.t, run.Invalid)
	require.Empty(e.t, run.Report.CutShort)
	require.Len(e.t, run.Report.Findings, e.found)
	require.Equal(e.t, strings.TrimSpace(e.report), strings.TrimSpace(string(run.Raw)))
}

// A sent is a message as the server got it.
type sent struct {
	Role       string
	Content    *string
	ToolCalls  []toolCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
	Thought    string     `json:"reasoning_content"`
}

// conversation gives what a request holds.
func conversation(t *testing.T, r mockapi.Request) (messages []sent, tools int) {
	var body struct {
		Messages []sent
		Tools    []tool
	}
	require.NoError(t, json.Unmarshal(r.Body, &body))
	return body.Messages, len(body.Tools)
}

// last gives the text of the last message of a request.
func last(t *testing.T, r mockapi.Request) string {
	m, _ := conversation(t, r)
	require.NotNil(t, m[len(m)-1].Content)
	return *m[len(m)-1].Content
}

func calls(c ...mockapi.Call) mockapi.Reply { return mockapi.Reply{Calls: c, Cost: -1} }

// holds says no more of a long text than what it lacks.
func holds(t *testing.T, text, part string) {
	t.Helper()
	require.True(t, strings.Contains(text, part), "%q is not in %s", part, audit.OneLine(text, 300))
}

func answers(text string) mockapi.Reply { return mockapi.Reply{Content: text, Cost: -1} }

var listAll = mockapi.Call{Name: "list", Arguments: `{"path":"."}`}

// TestModelAudits: the model lists, reads, searches, several calls a turn, and writes
// its report; what it used is counted.
func TestModelAudits(t *testing.T) {
	var source string
	e := sit(t, func(e *exam, r mockapi.Request) mockapi.Reply {
		messages, tools := conversation(e.t, r)
		switch r.N {
		case 1:
			require.Equal(e.t, 3, tools)
			holds(e.t, *messages[0].Content, "Audit this.")
			holds(e.t, *messages[0].Content, findings.Instructions)
			return calls(listAll)
		case 2:
			require.Equal(e.t, "tool", messages[2].Role)
			for line := range strings.Lines(*messages[2].Content) {
				if name, _, _ := strings.Cut(line, "\t"); strings.HasSuffix(name, ".ts") ||
					strings.HasSuffix(name, ".py") || strings.HasSuffix(name, ".go") ||
					strings.HasSuffix(name, ".java") || strings.HasSuffix(name, ".php") ||
					strings.HasSuffix(name, ".js") {
					source = name
				}
			}
			require.NotEmpty(e.t, source, *messages[2].Content)
			return calls(mockapi.Call{Name: "read", Arguments: `{"path":"` + source +
				`","lines":3}`}, mockapi.Call{Name: "search",
				Arguments: `{"pattern":"(?i)select|function|return"}`})
		case 3:
			require.Len(e.t, messages[3].ToolCalls, 2)
			require.Nil(e.t, messages[3].Content, "null beside calls")
			require.Equal(e.t, messages[3].ToolCalls[1].ID, messages[5].ToolCallID)
			holds(e.t, *messages[4].Content, source+", lines 1-3 of ")
			holds(e.t, *messages[5].Content, ":")
			return mockapi.Reply{Content: "<think>SENTINEL? HEADER START?</think>\n" + e.report,
				Cost: 0.5, Calls: []mockapi.Call{listAll}}
		}
		return mockapi.Reply{Status: 500}
	})
	run := e.run()
	e.passed(run)
	require.Equal(t, int64(3), run.Usage.Turns)
	require.True(t, run.Usage.Priced)
	require.Greater(t, run.Usage.USD, 0.5)
	require.Positive(t, run.Usage.TokensIn*run.Usage.TokensOut)
	require.Equal(t, "maker/m", run.Model)
	holds(t, string(run.Events), `"name":"search"`)
	require.Contains(t, run.Command[0], "maker/m at 127.0.0.1")
}

// TestModelWithoutToolCalling: with tools=text a model is offered its tools in prose.
func TestModelWithoutToolCalling(t *testing.T) {
	for name, call := range map[string]string{
		"plain":  "I look.\n\nCALL list {\"path\": \".\"}\n`CALL search {\"pattern\": \"scrypt\"}`\n",
		"tagged": "<tool_call>\n{\"name\": \"list\", \"arguments\": {\"path\": \".\"}}\n</tool_call><tool_call>{\"name\": \"search\", \"arguments\": {\"pattern\": \"scrypt\"}}</tool_call>",
	} {
		t.Run(name, func(t *testing.T) {
			e := sit(t, func(e *exam, r mockapi.Request) mockapi.Reply {
				messages, tools := conversation(e.t, r)
				switch {
				case tools > 0:
					return mockapi.Reply{Status: 500}
				case len(messages) == 1:
					holds(e.t, *messages[0].Content, "CALL read")
					return answers(call)
				}
				require.Len(e.t, messages, 3)
				require.Equal(e.t, "user", messages[2].Role)
				holds(e.t, *messages[2].Content, "RESULT of list")
				holds(e.t, *messages[2].Content, "lines in ")
				return answers(e.report)
			})
			e.config.Model.Settings.TextTools = true
			run := e.run()
			e.passed(run)
			require.Equal(t, int64(2), run.Usage.Turns)
			require.Contains(t, run.Command[0], "tools=text")
		})
	}
}

// TestModelRefusedTools: a server that refuses tools or a setting makes the trial INVALID, and
// the message says what to change. Nothing is asked without them.
func TestModelRefusedTools(t *testing.T) {
	for _, c := range []struct{ said, advice string }{
		{"registry.ollama.ai/library/m does not support tools",
			"set tools=text under Settings of its row"},
		{"Function tools with reasoning_effort are not supported for gpt-6-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.", "set api=responses under Settings of its row in fixtures/models.md"},
		{"Unsupported value: 'reasoning_effort' does not support 'high' with this model.",
			"refuses a setting (effort=high temperature=0): change Settings"},
		{"Unsupported parameter: 'temperature' is not supported with this model.",
			"refuses a setting (effort=high temperature=0): change Settings"},
	} {
		e := sit(t, func(*exam, mockapi.Request) mockapi.Reply {
			return mockapi.Reply{Status: 400, Body: `{"error":{"message":"` + c.said +
				`","type":"invalid_request_error"}}`}
		})
		e.config.Model.Settings = audit.ModelSettings{Effort: "high", Temperature: new(float64)}
		run := e.run()
		require.Contains(t, run.Invalid, c.advice)
		require.Len(t, e.server.Requests(), 1)
	}
}

// TestModelSwapped: an answer of another model ends the audit, with both names.
func TestModelSwapped(t *testing.T) {
	play := func(e *exam, r mockapi.Request) mockapi.Reply {
		if r.N == 1 {
			return calls(listAll)
		}
		return mockapi.Reply{Content: e.report, Model: "other/m-mini", Cost: -1}
	}
	e := sit(t, play)
	run := e.run()
	require.Contains(t, run.Invalid,
		"another model answered: maker/m was asked, and other/m-mini answered")
	require.Positive(t, run.Usage.TokensIn)
	e = sit(t, play)
	e.config.Model.Aliases = []string{"m-mini"}
	e.passed(e.run())
}

// TestModelMistakes: what is wrong with a call is told to the model, and it goes on.
func TestModelMistakes(t *testing.T) {
	wrong := []struct{ name, args, told string }{
		{"write", `{"path":"x"}`, `there is no tool "write": expected list, read or search`},
		{"read", `{"path":`, "the arguments of read cannot be read"},
		{"read", `["a"]`,
			"cannot unmarshal array into Go value of type auditor.toolArguments): expected one JSON object"},
		{"read", `{"path":"../key.md"}`, "is outside of the project"},
		{"read", `{"path":"/etc/passwd"}`, "is outside of the project"},
		{"read", `{"path":"out"}`, "escapes"},
		{"read", `{"path":"nowhere.ts"}`, "there is no file or folder nowhere.ts: list shows"},
		{"search", `{"pattern":"x","path":"nowhere"}`,
			"there is no file or folder nowhere: list shows"},
		{"list", `{"path":"nowhere"}`, "there is no file or folder nowhere: list shows"},
		{"read", `{"path":"."}`, "is a folder"},
		{"read", `{"path":"giant.txt","from":1000000}`, "has no line 1000000: it has 500000"},
		{"read", `{"path":"giant.txt"}`, "lines 1-400 of 500000"},
		{"read", `{"path":"long.txt"}`, "more bytes of this line"},
		{"read", `{"path":"image.png"}`, "is a binary file"},
		{"search", `{"pattern":"(?=x)"}`, "no look-around"},
		{"search", `{"pattern":".","path":"odd","glob":"odd/*.{ts,js}"}`, "odd/a.js:1: x"},
		{"search", `{"pattern":".","glob":"*.{ts"}`, "cannot be read: expected one like *.java"},
		{"search", `{"pattern":""}`, "the pattern is empty"},
		{"search", `{"pattern":"x","path":"giant.txt"}`, "not searched, larger than 4 MB"},
		{"search", `{"pattern":"."}`, "name a deeper path, or a narrower pattern"},
		{"list", `{"path":"many"}`, "500 files below many, too many to list"},
	}
	e := sit(t, func(e *exam, r mockapi.Request) mockapi.Reply {
		if r.N <= len(wrong) {
			return calls(mockapi.Call{Name: wrong[r.N-1].name, Arguments: wrong[r.N-1].args})
		}
		messages, _ := conversation(e.t, r)
		for i, w := range wrong {
			result := *messages[2+2*i].Content
			holds(e.t, result, w.told)
			require.LessOrEqual(e.t, len(result), maxShown+4<<10, w.args)
			require.True(e.t, json.Valid([]byte(messages[1+2*i].ToolCalls[0].Function.Arguments)),
				"no server takes broken arguments back")
		}
		return answers(e.report)
	})
	write := func(name string, b []byte) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(e.dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(e.dir, name), b, 0o644))
	}
	write("giant.txt", bytes.Repeat([]byte("all work and no play\n"), 500_000))
	write("long.txt", bytes.Repeat([]byte("x"), 100_000))
	write("odd/a.js", []byte("x\n"))
	write("image.png", []byte("\x89PNG\x00\x00"))
	for i := range 500 {
		write(fmt.Sprintf("many/d%d/f.txt", i%50+i/50*1000), nil)
	}
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(e.dir), "key.md"),
		[]byte("the answers"), 0o644))
	require.NoError(t, os.Symlink("../key.md", filepath.Join(e.dir, "out")))
	e.passed(e.run())
}

// TestModelFaults: what breaks in the middle is tried again, and nothing is lost.
func TestModelFaults(t *testing.T) {
	tests := []struct {
		name    string
		fault   mockapi.Reply
		times   int
		invalid string // "": the report comes
		pauses  int
	}{
		{"429", mockapi.Reply{Status: 429, Header: map[string]string{"Retry-After": "7"},
			Body: `{"error":{"message":"slow down"}}`}, 3, "", 3},
		{"overloaded", mockapi.Reply{Status: 529, Body: `{"error":{"message":"overloaded"}}`}, 2,
			"", 2},
		{"broken body", mockapi.Reply{Body: `{"choices":[{"mess`}, 1, "", 1},
		{"broken stream", mockapi.Reply{Content: strings.Repeat("word ", 50), EndAfter: 300}, 1, "",
			1},
		{"reset", mockapi.Reply{Content: strings.Repeat("word ", 50), CutAfter: 300}, 1, "", 1},
		{"broken for good", mockapi.Reply{Body: `{"choices":[{"mess`}, 99, "9 times in a row", 8},
		{"no credit", mockapi.Reply{Status: 402, Body: `{"error":{"message":"pay"}}`}, 99,
			"no credit or quota is left", 0},
		{"declined",
			mockapi.Reply{Status: 403,
				Body: `{"error":{"message":"flagged","code":"content_policy"}}`}, 99,
			"the provider turned the input down", 0},
		{"filtered", mockapi.Reply{Content: "I", Finish: "content_filter"}, 99,
			"content filter cut the answer off", 0},
		{"one that quotes the key", mockapi.Reply{Status: 400, Body: `{"error":{"message":"bad ` +
			modelKey + `"}}`}, 99, "bad [key]", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := sit(t, func(e *exam, r mockapi.Request) mockapi.Reply {
				switch {
				case r.N == 1:
					return calls(listAll)
				case r.N <= 1+tt.times:
					return tt.fault
				}
				m, _ := conversation(e.t, r)
				require.Len(e.t, m, 3, "the conversation goes on where it was")
				return answers(e.report)
			})
			run := e.run()
			require.Len(t, e.pauses, tt.pauses)
			// the model may have answered
			if strings.HasPrefix(tt.name, "broken") || tt.name == "reset" {
				require.False(t, run.Usage.Priced)
				most := float64(DefaultMaxTokens)*2e-6 + 25000*1e-6 // what it may write, and read
				require.Greater(t, run.Usage.Unsure, float64(tt.pauses)*DefaultMaxTokens*2e-6)
				require.Less(t, run.Usage.Unsure, float64(tt.pauses+1)*most,
					"each request is charged with its own maximum")
			}
			if tt.invalid == "" {
				e.passed(run)
				return
			}
			require.Contains(t, run.Invalid, tt.invalid)
			require.Positive(t, run.Usage.TokensIn, "what was used until then is known")
		})
	}
}

// TestModelProviderFails: a provider that never answered ends the audit at once,
// with its cause.
func TestModelProviderFails(t *testing.T) {
	refuse := func(*exam, mockapi.Request) mockapi.Reply {
		return mockapi.Reply{Status: 401, Body: `{"error":{"message":"no such key"}}`}
	}
	tests := map[string]struct {
		base    string
		invalid string
		pauses  int
	}{
		"401":          {"", "the key in TEST_KEY was refused", 0},
		"unknown host": {"http://nowhere.invalid/v1", "nowhere.invalid", 0},
		"refused":      {"http://127.0.0.1:1/v1", "refused", 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := sit(t, refuse)
			e.config.BaseURL = cmp.Or(tt.base, e.config.BaseURL)
			run := e.run()
			require.Contains(t, run.Invalid, tt.invalid)
			require.Len(t, e.pauses, tt.pauses)
			require.Equal(t, audit.Usage{Priced: true}, run.Usage, "nothing was charged")
			total := time.Duration(0)
			for _, p := range e.pauses {
				total += p
			}
			require.Less(t, total, 10*time.Second)
		})
	}
}

// TestModelReport: one ask for a report, then the run is INVALID; a report that is
// cut at the length of an answer is put together.
func TestModelReport(t *testing.T) {
	t.Run("asked once", func(t *testing.T) {
		e := sit(t, func(e *exam, r mockapi.Request) mockapi.Reply {
			if r.N == 1 {
				return answers("I shall begin by looking at the code.")
			}
			holds(e.t, last(e.t, r), "That is no report")
			return answers(e.report)
		})
		e.passed(e.run())
	})
	t.Run("none", func(t *testing.T) {
		e := sit(t, func(*exam, mockapi.Request) mockapi.Reply { return answers("All is well.") })
		run := e.run()
		require.Contains(t, run.Invalid, "not an audit report")
		require.Equal(t, int64(2), run.Usage.Turns)
	})
	t.Run("declined", func(t *testing.T) {
		e := sit(t, func(*exam, mockapi.Request) mockapi.Reply {
			return answers("I'm sorry, but I can't help with finding exploits.")
		})
		run := e.run()
		require.Contains(t, run.Invalid,
			`it declines: "I'm sorry, but I can't help with finding exploits.": expected an audit report`)
		require.Equal(t, int64(2), run.Usage.Turns, "it is asked once more")
	})
	t.Run("STATS are wrong", func(t *testing.T) {
		e := sit(t, func(e *exam, r mockapi.Request) mockapi.Reply {
			return answers(strings.Replace(e.report, "findings=", "findings=9", 1))
		})
		run := e.run()
		require.Empty(t, run.Invalid)
		require.Contains(t, run.Report.CutShort, "STATS")
		require.Equal(t, int64(2), run.Usage.Turns)
	})
	t.Run("in parts", func(t *testing.T) {
		e := sit(t, func(e *exam, r mockapi.Request) mockapi.Reply {
			third := len(e.report) / 3
			switch r.N {
			case 1:
				return mockapi.Reply{Content: e.report[:third], Finish: "length"}
			case 2:
				require.Equal(e.t, goOn, last(e.t, r))
				return mockapi.Reply{Content: e.report[third : 2*third], Finish: "length"}
			}
			return answers(e.report[2*third:])
		})
		e.passed(e.run())
	})
	t.Run("shorter answers", func(t *testing.T) {
		e := sit(t, func(e *exam, r mockapi.Request) mockapi.Reply {
			var body struct {
				Most int `json:"max_tokens"`
			}
			require.NoError(e.t, json.Unmarshal(r.Body, &body))
			if body.Most > 4096 {
				return mockapi.Reply{Status: 400,
					Body: `{"error":{"message":"max_tokens: 16384 > 4096, which is the maximum allowed"}}`}
			}
			return answers(e.report)
		})
		e.passed(e.run())
		require.Len(t, e.server.Requests(), 3)
	})
}

// TestModelLimits: a model that goes on for ever is asked for its report when a limit
// is near, and ends INVALID where it writes none.
func TestModelLimits(t *testing.T) {
	endless := func(obeys bool) func(*exam, mockapi.Request) mockapi.Reply {
		return func(e *exam, r mockapi.Request) mockapi.Reply {
			if obeys && strings.Contains(last(e.t, r), closeNow) {
				return answers(e.report)
			}
			return calls(listAll)
		}
	}
	limits := map[string]struct {
		limits audit.Limits
		budget float64
		said   string
	}{
		"turns": {audit.Limits{Turns: 5}, math.Inf(1), "no report within its limit of 5 turns"},
		"tokens": {audit.Limits{Tokens: 90_000}, math.Inf(1),
			"no report within its limit of 90000 tokens"},
		"USD":    {audit.Limits{USD: 0.2}, math.Inf(1), "no report within its limit of 0.2 USD"},
		"budget": {audit.Limits{}, 0.15, "no report within its limit of 0.15 USD"},
	}
	for name, tt := range limits {
		t.Run(name, func(t *testing.T) {
			for _, obeys := range []bool{true, false} {
				e := sit(t, endless(obeys))
				e.entry.Limits, e.budget = tt.limits, tt.budget
				run := e.run()
				if obeys {
					e.passed(run)
				} else {
					require.Contains(t, run.Invalid, tt.said)
					holds(t, string(run.Events), noToolLeft)
				}
				require.Greater(t, run.Usage.Turns, int64(2))
				most := e.entry.Limits
				if most.USD > 0 {
					require.LessOrEqual(t, run.Usage.USD, most.USD)
				}
				if most.Tokens > 0 {
					require.LessOrEqual(t, run.Usage.TokensIn+run.Usage.TokensOut, most.Tokens)
				}
				require.LessOrEqual(t, run.Usage.USD, e.budget)
			}
		})
	}
	t.Run("no budget", func(t *testing.T) {
		e := sit(t, endless(true))
		e.budget = 0
		require.Contains(t, e.run().Invalid, "no report within its limit of 0 USD")
		require.Empty(t, e.server.Requests(), "nothing is sent")
	})
	t.Run("time", func(t *testing.T) {
		e := sit(t, func(*exam,
			mockapi.Request) mockapi.Reply {
			return mockapi.Reply{Stall: true}
		})
		e.entry.Timeout = 50 * time.Millisecond
		require.Contains(t, e.run().Invalid, "no report within 50ms")
	})
	t.Run("no price", func(t *testing.T) {
		e := sit(t, endless(true))
		e.config.Model.Priced = false
		_, err := newModel(e.entry, e.config, "Audit this.", 5)
		require.ErrorContains(t, err, "no price is known for m, so no budget can hold")
	})
}

// TestModelContext: what does not fit is left out, and notes take the place of what
// was said.
func TestModelContext(t *testing.T) {
	window := 0 // bytes that the server takes
	noted := false
	play := func(e *exam, r mockapi.Request) mockapi.Reply {
		m, _ := conversation(e.t, r)
		size := 0
		for _, x := range m {
			if x.Content != nil {
				size += len(*x.Content)
			}
		}
		switch {
		case window > 0 && size > window:
			return mockapi.Reply{Status: http.StatusBadRequest,
				Body: `{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 20000 tokens."}}`}
		case strings.Contains(last(e.t, r), takeNotes):
			noted = true
			return answers("I have read everything twice; the flaws are in the routes.")
		case noted:
			holds(e.t, *m[0].Content, "the flaws are in the routes")
			require.Len(e.t, m, 1, "what was said before is gone")
			return answers(e.report)
		}
		return calls(mockapi.Call{Name: "search", Arguments: `{"pattern":"."}`})
	}
	t.Run("known", func(t *testing.T) {
		window, noted = 0, false
		e := sit(t, play)
		e.entry.Limits.Context = 20_000
		run := e.run()
		e.passed(run)
		require.True(t, noted)
		holds(t, string(run.Events), `"type":"room"`)
	})
	t.Run("told by the server", func(t *testing.T) {
		window, noted = 60_000, false
		e := sit(t, play)
		run := e.run()
		e.passed(run)
		require.True(t, noted, "it is believed")
	})
	t.Run("hopeless", func(t *testing.T) {
		window, noted = 1000, false
		require.Contains(t, sit(t, play).run().Invalid, "the context of the model is too small")
	})
}

// TestUsualLimitsAreStated: auditors.md tells the limits of a model without a section.
func TestUsualLimitsAreStated(t *testing.T) {
	b, err := os.ReadFile("../../fixtures/auditors.md")
	require.NoError(t, err)
	text := strings.Join(strings.Fields(string(b)), " ")
	require.Equal(t, "200 20000000 5 128000 1h0m0s", fmt.Sprint(DefaultAuditTurns,
		DefaultAuditTokens, DefaultAuditUSD, DefaultAuditContext, DefaultAuditTimeout))
	holds(t, text,
		"at most 200 turns, 20,000,000 tokens and 5 USD (and never more than `-budget`), 128,000 tokens of context, where it makes notes before they are full, and one hour")
}

// TestAFailureNamesTheTimeThatItHad: the error states the timeout of its request.
func TestAFailureNamesTheTimeThatItHad(t *testing.T) {
	s := mockapi.New(func(mockapi.Request) mockapi.Reply { return mockapi.Reply{Stall: true} })
	t.Cleanup(s.Close)
	c, err := newClient(ChatConfig{Name: "m", BaseURL: s.BaseURL, Model: audit.Model{ID: "m"},
		Timeout: 50 * time.Millisecond})
	require.NoError(t, err)
	r := c.review(audit.ReviewTask{}, 1)
	r.timeout = 100 * time.Millisecond
	_, _, f := c.exchange(t.Context(), r)
	require.Equal(t, "no answer within 100ms", f.text)
}
