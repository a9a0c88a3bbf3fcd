package events

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// turnsOf gives the turns of a run that began at noon, took ten seconds and wrote these
// events.
func turnsOf(events string) []Turn {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	return Turns([]byte(events), noon, noon.Add(10*time.Second))
}

// streams are runs of each agent in which a file is read, a search finds nothing, a
// tool fails and the report is said, in the words of each.
var streams = map[string]string{
	"claude": `{"type":"system","subtype":"init","model":"m"}
{"type":"assistant","message":{"id":"1","model":"m","content":[{"type":"thinking","thinking":"hm"}],"usage":{"input_tokens":3,"cache_read_input_tokens":7,"output_tokens":1}}}
{"type":"assistant","message":{"id":"1","model":"m","content":[{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"a.go"}}],"usage":{"input_tokens":3,"cache_read_input_tokens":7,"output_tokens":5}}}
{"type":"assistant","message":{"id":"1","model":"m","content":[{"type":"tool_use","id":"b","name":"Bash","input":{"command":"grep x .","description":"look"}}],"usage":{"input_tokens":3,"cache_read_input_tokens":7,"output_tokens":5}}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"b","content":"Exit code 1","is_error":true}]},"timestamp":"2026-01-01T12:00:03Z"}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"package a"}]}]},"timestamp":"2026-01-01T12:00:04Z"}
{"type":"assistant","message":{"id":"2","model":"m","content":[{"type":"tool_use","id":"c","name":"Write","input":{"file_path":"b.go"}}],"usage":{"input_tokens":10,"output_tokens":5}}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"no such folder","is_error":true}]},"timestamp":"2026-01-01T12:00:06Z"}
{"type":"assistant","message":{"id":"3","model":"m","content":[{"type":"text","text":"the report"}],"usage":{"input_tokens":10,"output_tokens":5}}}
{"type":"result","subtype":"success","result":"the report"}`,
	"codex": `{"type":"thread.started","thread_id":"0"}
{"type":"item.completed","item":{"id":"0","type":"reasoning","text":"hm"}}
{"type":"item.started","item":{"id":"1","type":"command_execution","command":"cat a.go","status":"in_progress"}}
{"type":"item.completed","item":{"id":"1","type":"command_execution","command":"cat a.go","aggregated_output":"package a","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"2","type":"command_execution","command":"grep x .","aggregated_output":"","exit_code":1,"status":"failed"}}
{"type":"error","message":"Reconnecting... 1/5"}
{"type":"item.completed","item":{"id":"3","type":"reasoning","text":"well"}}
{"type":"item.completed","item":{"id":"4","type":"command_execution","command":"nope","aggregated_output":"no such folder","exit_code":127,"status":"failed"}}
{"type":"item.completed","item":{"id":"5","type":"agent_message","text":"the report"}}
{"type":"turn.completed","usage":{"input_tokens":30,"output_tokens":15}}`,
	"gemini": `{"type":"init","timestamp":"2026-01-01T12:00:01Z","model":"m"}
{"type":"message","timestamp":"2026-01-01T12:00:01Z","role":"user","content":"audit"}
{"type":"tool_use","timestamp":"2026-01-01T12:00:01Z","tool_name":"read_file","tool_id":"a","parameters":{"absolute_path":"a.go"}}
{"type":"tool_use","timestamp":"2026-01-01T12:00:01Z","tool_name":"grep_search","tool_id":"b","parameters":{"pattern":"x","dir_path":"."}}
{"type":"tool_result","timestamp":"2026-01-01T12:00:02Z","tool_id":"a","status":"success","output":"package a"}
{"type":"tool_result","timestamp":"2026-01-01T12:00:02Z","tool_id":"b","status":"success","output":""}
{"type":"message","timestamp":"2026-01-01T12:00:04Z","role":"assistant","content":"on","delta":true}
{"type":"tool_use","timestamp":"2026-01-01T12:00:05Z","tool_name":"write_file","tool_id":"c","parameters":{"file_path":"b.go"}}
{"type":"tool_result","timestamp":"2026-01-01T12:00:06Z","tool_id":"c","status":"error","error":{"type":"x","message":"no such folder"}}
{"type":"message","timestamp":"2026-01-01T12:00:06Z","role":"assistant","content":"the ","delta":true}
{"type":"message","timestamp":"2026-01-01T12:00:07Z","role":"assistant","content":"report","delta":true}
{"type":"result","timestamp":"2026-01-01T12:00:07Z","status":"success","stats":{"input_tokens":30,"output_tokens":15}}`,
	"opencode": `{"type":"step_start","timestamp":1767268800000,"part":{"messageID":"1"}}
{"type":"reasoning","timestamp":1767268801000,"part":{"messageID":"1","text":"hm"}}
{"type":"tool_use","timestamp":1767268802000,"part":{"messageID":"1","callID":"a","tool":"read","state":{"status":"completed","input":{"filePath":"a.go"},"output":"package a"}}}
{"type":"tool_use","timestamp":1767268802000,"part":{"messageID":"1","callID":"b","tool":"grep","state":{"status":"completed","input":{"pattern":"x","path":"."},"output":"No files found"}}}
{"type":"step_finish","timestamp":1767268803000,"part":{"messageID":"1","cost":0.01,"tokens":{"input":3,"output":4,"reasoning":1,"cache":{"read":7,"write":0}}}}
{"type":"step_start","timestamp":1767268804000,"part":{"messageID":"2"}}
{"type":"tool_use","timestamp":1767268805000,"part":{"messageID":"2","callID":"c","tool":"write","state":{"status":"error","input":{"filePath":"b.go"},"error":"no such folder"}}}
{"type":"step_finish","timestamp":1767268806000,"part":{"messageID":"2","cost":0,"tokens":{"input":10,"output":5}}}
{"type":"step_start","timestamp":1767268806000,"part":{"messageID":"3"}}
{"type":"text","timestamp":1767268807000,"part":{"messageID":"3","text":"the report"}}`,
	"copilot": `{"type":"assistant.turn_start","data":{"turnId":"0"},"timestamp":"2026-01-01T12:00:00Z"}
{"type":"tool.execution_start","data":{"toolCallId":"a","toolName":"view","arguments":{"path":"a.go"}},"timestamp":"2026-01-01T12:00:01Z"}
{"type":"tool.execution_start","data":{"toolCallId":"b","toolName":"grep","arguments":{"pattern":"x","path":"."}},"timestamp":"2026-01-01T12:00:01Z"}
{"type":"tool.execution_complete","data":{"toolCallId":"a","success":true,"result":{"content":"package a"}},"timestamp":"2026-01-01T12:00:02Z"}
{"type":"tool.execution_complete","data":{"toolCallId":"b","success":true,"result":{"content":""}},"timestamp":"2026-01-01T12:00:02Z"}
{"type":"assistant.turn_start","data":{"turnId":"1"},"timestamp":"2026-01-01T12:00:04Z"}
{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"create","arguments":{"path":"b.go"}},"timestamp":"2026-01-01T12:00:05Z"}
{"type":"tool.execution_complete","data":{"toolCallId":"c","success":false,"error":{"message":"no such folder"}},"timestamp":"2026-01-01T12:00:06Z"}
{"type":"assistant.turn_start","data":{"turnId":"2"},"timestamp":"2026-01-01T12:00:06Z"}
{"type":"assistant.message","data":{"content":"the report"},"timestamp":"2026-01-01T12:00:07Z"}`,
	"model": `{"type":"fault","turn":0,"text":"the stream broke off","seconds":1}
{"type":"turn","turn":1,"thought":"hm","seconds":3,"usage":{"TokensIn":10,"TokensOut":5,"USD":0.5,"Priced":true}}
{"type":"result","turn":1,"name":"read","arguments":"{\"path\":\"a.go\"}","text":"package a"}
{"type":"result","turn":1,"name":"search","arguments":"{\"pattern\":\"x\",\"path\":\".\"}","text":"nothing"}
{"type":"turn","turn":2,"seconds":2}
{"type":"result","turn":2,"name":"read","arguments":"{\"path\":\"b.go\"}","text":"error: no such folder"}
{"type":"turn","turn":3,"said":"the report","seconds":4}`,
}

// TestTurns: what each agent's stream tells by turn is the same.
func TestTurns(t *testing.T) {
	for agent, events := range streams {
		turns := turnsOf("a warning, which is no event\n" + events)
		require.Len(t, turns, 3, "%s: %+v", agent, turns)
		first, second, last := turns[0], turns[1], turns[2]
		require.Len(t, first.Calls, 2, agent)
		if agent == "codex" { // it has no tool but the shell
			require.Equal(t, Call{Kind: "run", Tool: "command_execution", What: "cat a.go",
				Output: "package a"}, first.Calls[0])
			require.Equal(t, "grep x .", first.Calls[1].What)
			require.Equal(t, "exit status 127: no such folder", second.Calls[0].Failed)
		} else {
			require.Equal(t, "read a.go package a", first.Calls[0].Kind+" "+first.Calls[0].What+" "+
				first.Calls[0].Output, agent)
			require.Contains(t, map[string]string{"claude": "run grep x ."}[agent]+"search x .",
				first.Calls[1].Kind+" "+first.Calls[1].What, agent)
			require.Equal(t, "no such folder", second.Calls[0].Failed, agent)
		}
		require.Empty(t, first.Calls[0].Failed+first.Calls[1].Failed,
			"%s: a search that found nothing has not failed", agent)
		require.Equal(t, "the report", last.Said, agent)
		require.Equal(t, agent != "gemini" && agent != "copilot", first.Thought == "hm", agent)

		want := map[string][]float64{"claude": {4, 2, 4}, "codex": {0, 0, 0}, "gemini": {3, 2, 4},
			"opencode": {4, 2, 4}, "copilot": {4, 2, 4}, "model": {4, 2, 4}}[agent]
		require.Equal(t, want, []float64{first.Seconds, second.Seconds, last.Seconds}, agent)
		if agent == "claude" || agent == "opencode" || agent == "model" {
			require.Equal(t, []int64{10, 5}, []int64{first.Usage.TokensIn, first.Usage.TokensOut},
				agent)
		} else {
			require.Zero(t, first.Usage, "%s tells the tokens of the whole run alone", agent)
		}
		require.Equal(t, agent == "opencode" || agent == "model", first.Usage.Priced, agent)
		require.False(t, second.Usage.Priced, "%s: a cost that nobody tells is unknown", agent)
	}
	require.Equal(t, []string{"Reconnecting... 1/5"}, turnsOf(streams["codex"])[0].Notes)
	require.Equal(t, []string{"the stream broke off"}, turnsOf(streams["model"])[0].Notes)
}

// TestCodexTools: what codex does by other tools than the shell.
func TestCodexTools(t *testing.T) {
	turns := turnsOf(`{"type":"thread.started"}
{"type":"item.completed","item":{"id":"1","type":"mcp_tool_call","server":"s","tool":"t","arguments":{"a":1},"status":"failed","error":{"message":"no"}}}
{"type":"item.completed","item":{"id":"2","type":"file_change","changes":[{"path":"x"}],"status":"failed","error":{"code":7}}}
{"type":"item.completed","item":{"id":"3","type":"web_search","query":"q"}}
{"type":"item.completed","item":{"id":"4","type":"error","message":"careful"}}
{"type":"turn.failed","error":"quota"}`)
	require.Len(t, turns, 1)
	require.Equal(t, []Call{{Kind: "other", Tool: "s.t", What: `{"a":1}`, Failed: "no"},
		{Kind: "write", Tool: "file_change", What: `[{"path":"x"}]`, Failed: `{"code":7}`},
		{Kind: "other", Tool: "web_search", What: `{"query":"q"}`}}, turns[0].Calls)
	require.Equal(t, []string{"careful", "quota"}, turns[0].Notes)
}

// TestTurnsOfOtherThings: what is no stream has no turns, and what is damaged those
// that can be read.
func TestTurnsOfOtherThings(t *testing.T) {
	for _, s := range []string{"", "=== HEADER START ===", `{"findings":[]}`, "[1,2]",
		`[{"type":"assistant"}]`, `{"type":"result","result":"r"}`,
		`{"version":"2.1.0","runs":[]}`} {
		require.Empty(t, turnsOf(s), s)
	}
	list := "[" + strings.Join(strings.Split(streams["claude"], "\n"), ",") + "]"
	require.Len(t, turnsOf(list), 3, "claude's JSON is an array")
	require.Len(t, turnsOf(streams["claude"][:700]), 1, "cut in the middle")
	long := turnsOf(`{"type":"turn","turn":1}` + "\n" +
		fmt.Sprintf(`{"type":"result","turn":1,"name":"odd","arguments":"{}","text":%q}`,
			strings.Repeat("x", 3*maxCallText)))
	require.Less(t, len(long[0].Calls[0].Output), maxCallText+100)
	require.Equal(t, "other", long[0].Calls[0].Kind)
}

// FuzzTurns: no stream, however odd, is more than turns.
func FuzzTurns(f *testing.F) {
	for _, s := range streams {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, turn := range turnsOf(string(b)) {
			if turn.Seconds < 0 {
				t.Fatalf("%q: %+v", b, turn)
			}
		}
	})
}
