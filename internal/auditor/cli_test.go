package auditor

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/fixture"
)

// answerOfAStandIn is what the stand-ins for providers answer.
const answerOfAStandIn = "The report of a stand-in."

// streams are the shortest answers that the CLIs take, as their providers stream
// them.
var streams = map[string]struct{ base, path, events string }{
	"claude": {"", "/v1/messages", `event: message_start
data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"stand-in","content":[],"usage":{"input_tokens":7,"output_tokens":0}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + answerOfAStandIn + `"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}

event: message_stop
data: {"type":"message_stop"}

`},
	"codex": {"/v1", "/v1/responses", `event: response.created
data: {"type":"response.created","response":{"id":"r"}}

event: response.output_item.done
data: {"type":"response.output_item.done","item":{"type":"message","role":"assistant","id":"m","content":[{"type":"output_text","text":"` + answerOfAStandIn + `"}]}}

event: response.completed
data: {"type":"response.completed","response":{"id":"r","usage":{"input_tokens":7,"output_tokens":5,"total_tokens":12}}}

`},
}

// TestRealAgents runs the sections of auditors.md whose CLI is installed, confined,
// against a stand-in for their provider: it gets the key, the CLI holds a token,
// and its answer is read.
func TestRealAgents(t *testing.T) {
	sections, err := fixture.ReadAuditors(os.DirFS("../.."), "fixtures/auditors.md")
	require.NoError(t, err)
	for name, stream := range streams {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				t.Skipf("the CLI %s is not installed", name)
			}
			l := newLair(t, true)
			const key = "sk-canary-real-7d2e41"
			var asked, without atomic.Int32
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
				r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if !strings.Contains(fmt.Sprint(r.Header["Authorization"], r.Header["X-Api-Key"]),
					key) {
					without.Add(1)
				}
				if r.Header.Get("Upgrade") != "" { // it asks for a WebSocket first
					w.WriteHeader(http.StatusUpgradeRequired)
					return
				}
				if r.URL.Path != stream.path || r.Method != http.MethodPost {
					http.NotFound(w, r)
					return
				}
				asked.Add(1)
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, stream.events)
			}))
			defer provider.Close()
			entry := sections[slices.IndexFunc(sections,
				func(e audit.AuditorEntry) bool { return e.Name == name })]
			t.Setenv(entry.Network.Key, key)
			t.Setenv(entry.Network.BaseURL, provider.URL+stream.base)
			entry.Timeout = 5 * time.Minute
			entry.Command = "env >&2; " + entry.Command
			run := l.run(Command(entry).(*command))
			t.Logf("%s\n%s\n%s\n%+v", run.Version, run.Confined, run.Invalid, run.Network)
			require.Positive(t, asked.Load(), "%s\n%s", run.Raw, run.Stderr)
			require.Contains(t, string(run.Raw), answerOfAStandIn)
			require.Zero(t, without.Load(), "requests without the key")
			require.NotContains(t, string(run.Raw)+string(run.Stderr), key)
			require.Contains(t, string(run.Stderr), entry.Network.Key+"=assay-")
			require.Contains(t, run.Confined, "(the proxy adds "+entry.Network.Key+") alone;")
			require.True(t, slices.ContainsFunc(run.Network, func(n audit.Traffic) bool {
				return "http://"+n.Host == provider.URL && n.Connections > 0 && n.Received > 0
			}), run.Network)
		})
	}
}
