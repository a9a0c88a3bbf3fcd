package events

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestRecordedOutcomes holds the outcomes of recorded runs against testdata/outcomes.golden. A
// recording is named for its agent, its settings, and what its server did: ok, swap (another
// model answers), refuse, auth (401), limit (429), down.
func TestRecordedOutcomes(t *testing.T) {
	files, err := filepath.Glob("testdata/agents/*.jsonl")
	require.NoError(t, err)
	require.Greater(t, len(files), 40)
	var got strings.Builder
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		o, ok := Read(b)
		require.True(t, ok, file)
		fmt.Fprintf(&got, "%s\n", strings.TrimSuffix(filepath.Base(file), ".jsonl"))
		say := func(name, value string) {
			if value != "" {
				fmt.Fprintf(&got, "\t%s: %s\n", name, strings.ReplaceAll(value, "\n", " "))
			}
		}
		say("asked", o.Asked)
		say("served", strings.Join(o.Served, ", "))
		say("refused", o.Refused)
		say("unasked", o.Unasked)
		say("failed", o.Failed)
		say("stopped", o.Stopped)
		say("unmeasured", o.Unmeasured("", nil))
		say("report", o.Report)
		say("usage", fmt.Sprintf("%+v", o.Usage))
	}
	if *update {
		require.NoError(t, os.WriteFile("testdata/outcomes.golden", []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile("testdata/outcomes.golden")
	require.NoError(t, err)
	require.Equal(t, string(want), got.String())
}

// TestUnmeasured: the caller's name of the model that was asked holds before the agent's.
func TestUnmeasured(t *testing.T) {
	o := AgentResult{Asked: "claude-opus-5-5", Served: []string{"claude-opus-5-5-20261001"}}
	require.Empty(t, o.Unmeasured("", nil))
	require.Empty(t, o.Unmeasured("opus", []string{"claude-opus-5-5"}))
	require.Equal(t,
		"another model answered: claude-sonnet-5-5 was asked, and claude-opus-5-5-20261001 answered",
		o.Unmeasured("claude-sonnet-5-5", nil))
	o.Served = nil
	require.Empty(t, o.Unmeasured("anything", nil), "nothing says who answered")
}

// TestUnknownCommand: claude sends a command that it does not know to the model as text.
func TestUnknownCommand(t *testing.T) {
	b, err := os.ReadFile("testdata/agents/claude-plug-plain.jsonl")
	require.NoError(t, err)
	o, _ := Read(b)
	for prompt, unknown := range map[string]string{"/plug:audit .": "", "/security-review": "",
		"Audit this":    "",
		"/plug:other .": "/plug:other", "/audit": "/audit", "/ a path": ""} {
		require.Equal(t, unknown, o.UnknownCommand(prompt), prompt)
	}
	require.Empty(t, (&AgentResult{}).UnknownCommand("/audit"),
		"other agents do not list what they know")
}

// TestKimiTurns: each of kimi's messages is a turn, with its calls and their results.
func TestKimiTurns(t *testing.T) {
	b, err := os.ReadFile("testdata/agents/kimi-d-ok.jsonl")
	require.NoError(t, err)
	turns := turnsOf(string(b))
	require.Len(t, turns, 2)
	require.Equal(t, "Read", turns[0].Calls[0].Tool)
	require.Contains(t, turns[0].Calls[0].What, "app.py")
	require.Contains(t, turns[0].Calls[0].Output, "sqlite3")
	require.Contains(t, turns[1].Said, "F-1")
}
