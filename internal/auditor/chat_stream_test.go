package auditor_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/auditor"
	"assay/internal/run/testdata/mockapi"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// events makes a stream of chunks.
func events(chunks ...string) mockapi.Reply {
	return mockapi.Reply{Body: "data: " + strings.Join(chunks, "\n\ndata: ") + "\n\n",
		Header: map[string]string{"Content-Type": "text/event-stream"}}
}

const (
	opening = `{"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"{\"verdict\":"},"finish_reason":null}]}`
	closing = `{"model":"m","choices":[{"index":0,"delta":{"content":"\"bad\"}"},"finish_reason":null}]}`
	stop    = `{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	counted = `{"model":"m","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"cost":0.25}}`
)

// Events that differ by their text alone are put together as others are, whatever
// stands in the text and wherever it is cut.
func TestChatStreamsText(t *testing.T) {
	text := "\"content\":\"x\", \\u0041 \\\" \n\t {}[] <&> \"finish_reason\":\"stop\" " +
		strings.Repeat("bad, and why: ", 20)
	for piece := 1; piece < 40; piece++ {
		r, _, err := once(t, mockapi.Reply{Content: text, Piece: piece})
		require.NoError(t, err)
		require.Equal(t, text, r.Raw)
	}
	same := func(content, more string) string {
		return `{"choices":[{"index":0,"delta":{"role":"assistant","content": ` + content + more +
			`}}]}`
	}
	for _, c := range []struct {
		raw, detail string
		events      []string
	}{
		{"abé", "", []string{same(`"a"`, ""), same(`"b"`, ""), same(`null`, ""),
			same(`"\u00e9"`, ""), stop}},
		{"abc", "", []string{same(`"a"`, `,"logprobs":{"content":"a"}`),
			same(`"b"`, `,"logprobs":{"content":"b"}`), same(`"c"`, ""), stop}},
		{"", "no JSON", []string{same(`"a"`, ""), same(`"b" "c"`, ""), stop}},
	} {
		r, _, err := once(t, events(c.events...))
		require.NoError(t, err)
		require.Equal(t, c.raw, r.Raw)
		require.Contains(t, r.Detail, c.detail)
	}
	r, _, err := once(t, events(same(`"a"`, `,"refusal":"No, "`), same(`"b"`, `,"refusal":"No, "`),
		stop))
	require.NoError(t, err)
	require.Equal(t, audit.Refused, r.Status)
	require.Contains(t, r.Detail, "No, No,")
}

// Streams as servers write them.
func TestChatStreams(t *testing.T) {
	for _, c := range []struct {
		name   string
		reply  mockapi.Reply
		status audit.Status
		detail string
		usage  audit.Usage // of an answer; TokensOut 0: some, and nobody knows what it cost
	}{
		{"in pieces", mockapi.Reply{Cost: 0.25, Piece: 1}, audit.Answered, "",
			audit.Usage{TokensIn: -1, TokensOut: -1, USD: 0.25, Priced: true}},
		{"one chunk", mockapi.Reply{Cost: 0.25, Piece: 1000}, audit.Answered, "",
			audit.Usage{TokensIn: -1, TokensOut: -1, USD: 0.25, Priced: true}},
		{"not at all", mockapi.Reply{Cost: 0.25, Whole: true}, audit.Answered, "",
			audit.Usage{TokensIn: -1, TokensOut: -1, USD: 0.25, Priced: true}},
		{"as text/plain", mockapi.Reply{Body: "data: " + opening + "\n\ndata:" + closing +
			"\n\ndata: " + stop + "\n\ndata: " + counted + "\n\n",
			Header: map[string]string{"Content-Type": "text/plain"}}, audit.Answered, "",
			audit.Usage{TokensIn: 10, TokensOut: 5, USD: 0.25, Priced: true}},
		{"with CRLF",
			mockapi.Reply{Body: strings.ReplaceAll(events(opening, closing, stop,
				counted, "[DONE]").Body, "\n", "\r\n")}, audit.Answered, "",
			audit.Usage{TokensIn: 10, TokensOut: 5, USD: 0.25, Priced: true}},
		{"usage in the last chunk with a choice",
			events(opening, closing,
				`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5}}`, "[DONE]"),
			audit.Answered, "", audit.Usage{TokensIn: 10, TokensOut: 5, USD: 20e-6, Priced: true}},
		{"usage in every chunk",
			events(`{"usage":{"prompt_tokens":10,"completion_tokens":1},"choices":[{"index":0,"delta":{"content":"bad"}}]}`,
				`{"usage":{"prompt_tokens":10,"completion_tokens":2},"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`), audit.Answered, "", audit.Usage{TokensIn: 10, TokensOut: 2, USD: 14e-6, Priced: true}},
		{"no choices in the last chunk but null", events(opening, closing, stop,
			strings.Replace(counted, "[]", "null", 1)), audit.Answered, "",
			audit.Usage{TokensIn: 10, TokensOut: 5, USD: 0.25, Priced: true}},
		{"without usage", events(opening, closing, stop, "[DONE]"), audit.Answered, "",
			audit.Usage{}},
		{"a mark of the end and no reason", events(opening, closing, counted, "[DONE]"),
			audit.Answered, "", audit.Usage{TokensIn: 10, TokensOut: 5, USD: 0.25, Priced: true}},
		{"broken after the finish reason", mockapi.Reply{Body: events(opening, closing, stop).Body +
			"data: {\"usa", CutAfter: 5000}, audit.Answered, "", audit.Usage{}},
		{"another choice beside it",
			events(opening, `{"choices":[{"index":1,"delta":{"content":"no"}}]}`, closing,
				stop, counted), audit.Answered, "", audit.Usage{TokensIn: 10, TokensOut: 5,
				USD: 0.25, Priced: true}},
		{"by a function",
			events(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"review","arguments":"{\"verdict\":"}}]}}]}`,
				`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"bad\"}"}}]}}]}`, stop, counted), audit.Answered, "", audit.Usage{TokensIn: 10, TokensOut: 5, USD: 0.25, Priced: true}},
		{"content in parts",
			events(`{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"bad"}]}}]}`, stop, counted), audit.Answered, "", audit.Usage{TokensIn: 10, TokensOut: 5, USD: 0.25, Priced: true}},
		{"a whole completion as its one event",
			events(`{"choices":[{"index":0,"message":{"content":"bad"},"finish_reason":"stop"}]}`,
				counted), audit.Answered, "", audit.Usage{TokensIn: 10, TokensOut: 5,
				USD: 0.25, Priced: true}},

		{"reasoning and no answer",
			events(`{"choices":[{"index":0,"delta":{"reasoning_content":"bad, I think"}}]}`,
				stop, counted), audit.Malformed, "empty", audit.Usage{}},
		{"refused", events(`{"choices":[{"index":0,"delta":{"refusal":"I "}}]}`,
			`{"choices":[{"index":0,"delta":{"refusal":"won't."}}]}`, stop, counted), audit.Refused,
			"I won't.", audit.Usage{}},
		{"cut off by the limit", mockapi.Reply{Finish: "length"}, audit.Malformed, "truncated",
			audit.Usage{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, s, err := once(t, c.reply)
			require.NoError(t, err)
			require.Equal(t, c.status, r.Status, r.Detail)
			require.Contains(t, r.Detail, c.detail)
			require.Len(t, r.Attempts, 1)
			require.Contains(t, string(s.Requests()[0].Body),
				`"stream_options":{"include_usage":true}`)
			got := r.Attempts[0].Usage
			require.Positive(t, got.TokensIn)
			require.Positive(t, got.TokensOut)
			if c.status != audit.Answered {
				return
			}
			require.Equal(t, audit.Bad, r.Verdict)
			require.Equal(t, c.usage.Priced, got.Priced)
			require.InDelta(t, c.usage.USD, got.USD, 1e-12)
			if c.usage.TokensOut > 0 {
				require.Equal(t, c.usage, got)
			}
		})
	}
}

// A stream that does not come to its end is no answer, is tried again, and what it
// wrote is counted, its cost unknown.
func TestChatStreamsBreak(t *testing.T) { eachAPI(t, chatStreamsBreak) }

func chatStreamsBreak(t *testing.T, api string) {
	as := func(*auditor.ChatConfig) {}
	quick := func(c *auditor.ChatConfig) { c.Idle = 100 * time.Millisecond }
	short := func(c *auditor.ChatConfig) { c.Timeout = 300 * time.Millisecond }
	overloaded := `{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"code":"server_error","message":"Provider disconnected"}}`
	for _, c := range []struct {
		name      string
		reply     mockapi.Reply
		change    func(*auditor.ChatConfig)
		detail    string
		transient bool
		written   bool
	}{
		{"reset before the first word", mockapi.Reply{CutAfter: 14}, as, "broke off", true, false},
		{"reset in the middle", mockapi.Reply{CutAfter: 700}, as, "broke off", true, true},
		{"ends in the middle", mockapi.Reply{EndAfter: 700}, as,
			"the stream broke off", true, true},
		{"ends between two events", events(opening, closing), as,
			"the stream broke off (after 17 bytes of an answer", true, true},
		{"ends at once", mockapi.Reply{EndAfter: 1, Body: " ",
			Header: map[string]string{"Content-Type": "text/event-stream"}}, as,
			"broke off", true, false},
		{"stands still in the middle", mockapi.Reply{Stall: true, StallAfter: 700}, quick,
			"the stream stood still for 100ms (after", true, true},
		{"never begins", mockapi.Reply{Stall: true}, short, "no answer within 300ms", true, false},
		{"comments and nothing else", mockapi.Reply{Stall: true, StallAfter: 14}, short,
			"no answer within 300ms", true, false},
		{"breaks off with an error, as OpenRouter tells it", events(opening, overloaded), as,
			"Provider disconnected", true, true},
		{"breaks off with an error, as vLLM tells it",
			events(opening,
				`{"object":"error","message":"out of memory","type":"InternalServerError","code":500}`), as, "out of memory", true, true},
		{"breaks off with an error, as OpenAI tells it",
			events(opening,
				`{"error":{"message":"The server had an error","type":"server_error","code":null}}`), as, "The server had an error", true, true},
		{"an event is no JSON", events(opening, `{"choices":[{`), as,
			"an event is no JSON", true, true},
		{"turned down in the stream", events(`{"error":{"code":429,"message":"busy"}}`), as,
			"busy", true, false},
	} {
		if api != "chat" && strings.Contains(c.reply.Body, "choice") {
			continue // a body of chat completions
		}
		t.Run(c.name, func(t *testing.T) {
			r, _, err := once(t, c.reply, c.change, speaks(api))
			require.NoError(t, err)
			require.Equal(t, audit.Errored, r.Status, r.Detail)
			require.Contains(t, r.Detail, c.detail)
			require.Len(t, r.Attempts, 1)
			a := r.Attempts[0]
			require.Equal(t, c.transient, a.Transient)
			require.Equal(t, c.written, a.Usage.TokensOut > 0, "what was written is counted: %+v",
				a.Usage)
			require.Equal(t, c.name == "turned down in the stream", a.Usage.Priced,
				"nobody knows what it cost")
		})
	}
}

// One that goes on and on is given up at its time, and what it wrote by then is
// counted. A busy machine gets longer for the first word.
func TestChatStreamsThatGoOn(t *testing.T) { eachAPI(t, chatStreamsThatGoOn) }

func chatStreamsThatGoOn(t *testing.T, api string) {
	for limit := 300 * time.Millisecond; ; limit *= 4 {
		r, _, err := once(t, mockapi.Reply{Pause: limit / 7},
			func(c *auditor.ChatConfig) { c.Timeout = limit }, speaks(api))
		require.NoError(t, err)
		require.Equal(t, audit.Errored, r.Status, r.Detail)
		require.Contains(t, r.Detail, "no answer within "+limit.String())
		require.True(t, r.Attempts[0].Transient)
		require.False(t, r.Attempts[0].Usage.Priced, "nobody knows what it cost")
		if r.Attempts[0].Usage.TokensOut > 0 {
			return
		}
		require.Less(t, limit, time.Minute, "what was written is counted")
	}
}

// Silence before the first word is no standstill, and neither is a slow stream.
func TestChatStreamsMayBeSlow(t *testing.T) { eachAPI(t, chatStreamsMayBeSlow) }

func chatStreamsMayBeSlow(t *testing.T, api string) {
	const idle = 1500 * time.Millisecond // far from what a busy machine makes of a pause
	for name, reply := range map[string]mockapi.Reply{"latency": {Latency: idle + idle/2},
		"think": {Think: idle + idle/2}, "pauses": {Pause: idle / 6}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _, err := once(t, reply, func(c *auditor.ChatConfig) { c.Idle = idle }, speaks(api))
			require.NoError(t, err)
			require.Equal(t, audit.Answered, r.Status, r.Detail)
			require.Greater(t, r.Attempts[0].Latency, idle)
		})
	}
}

// A server that does not stream, or does not count what it streams, is asked
// otherwise from then on.
func TestChatWithoutStreams(t *testing.T) {
	for _, c := range []struct {
		name            string
		script          func(mockapi.Request) mockapi.Reply
		attempts        int // of the first review
		stream, counted bool
	}{
		{"not verified", func(r mockapi.Request) mockapi.Reply {
			if r.Stream {
				return mockapi.Reply{Status: 400,
					Body: `{"error":{"message":"Your organization must be verified to stream this model.","type":"invalid_request_error","param":"stream","code":"unsupported_value"}}`}
			}
			return mockapi.Reply{}
		}, 2, false, false},
		{"no streams", func(r mockapi.Request) mockapi.Reply {
			if r.Stream {
				return mockapi.Reply{Status: 422,
					Body: errorBody("422", "streaming is not supported")}
			}
			return mockapi.Reply{}
		}, 2, false, false},
		{"no stream_options", func(r mockapi.Request) mockapi.Reply {
			if strings.Contains(string(r.Body), "stream_options") {
				return mockapi.Reply{Status: 422,
					Body: errorBody("422", "stream_options: Extra inputs are not permitted")}
			}
			return mockapi.Reply{}
		}, 2, true, false},
		{"uncounted",
			func(r mockapi.Request) mockapi.Reply { return mockapi.Reply{Uncounted: r.Stream} },
			1, false, false},
		{"all is well", func(mockapi.Request) mockapi.Reply { return mockapi.Reply{} },
			1, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mockapi.New(c.script)
			defer s.Close()
			m := chat(t, s.BaseURL)
			for i := range 2 {
				r, err := m.Review(context.Background(), task)
				require.NoError(t, err)
				require.Equal(t, audit.Bad, r.Verdict, r.Detail)
				if i == 0 {
					require.Len(t, r.Attempts, c.attempts)
				}
			}
			sent := s.Requests()
			require.Len(t, sent, c.attempts+1)
			last := sent[len(sent)-1]
			require.Equal(t, c.stream, last.Stream)
			require.Equal(t, c.counted, strings.Contains(string(last.Body), "stream_options"))
		})
	}
}

// Requests in flight together, whose streams are turned down together, are all asked
// again.
func TestChatWithoutStreamsTogether(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		if r.Stream {
			both.Done()
			both.Wait()
			return mockapi.Reply{Status: 400, Body: errorBody("400", "streaming is not supported")}
		}
		return mockapi.Reply{}
	})
	defer s.Close()
	m := chat(t, s.BaseURL)
	var reviews sync.WaitGroup
	for range 2 {
		reviews.Go(func() {
			r, err := m.Review(context.Background(), task)
			assert.NoError(t, err)
			assert.Equal(t, audit.Bad, r.Verdict, r.Detail)
		})
	}
	reviews.Wait()
}

// What a response says about its tokens is not always so.
func TestChatUsage(t *testing.T) {
	whole := func(usage string) mockapi.Reply {
		return mockapi.Reply{Body: `{"model":"m","choices":[{"message":{"content":"bad"},"finish_reason":"stop"}],"usage":` + usage + `}`}
	}
	for _, c := range []struct {
		name, usage string
		want        audit.Usage // In 1, Out 2 USD a million; -1: any above 0
	}{
		{"counted", `{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150}`,
			audit.Usage{TokensIn: 100, TokensOut: 50, USD: 200e-6, Priced: true}},
		{"missing", `null`, audit.Usage{TokensIn: -1, TokensOut: -1}},
		{"empty", `{}`, audit.Usage{TokensIn: -1, TokensOut: -1}},
		{"zero", `{"prompt_tokens":0,"completion_tokens":0}`,
			audit.Usage{TokensIn: -1, TokensOut: -1}},
		{"no completion", `{"prompt_tokens":100}`, audit.Usage{TokensIn: 100, TokensOut: -1}},
		{"negative", `{"prompt_tokens":-100,"completion_tokens":-50}`,
			audit.Usage{TokensIn: -1, TokensOut: -1}},
		{"words", `{"prompt_tokens":"many","completion_tokens":"few"}`,
			audit.Usage{TokensIn: -1, TokensOut: -1}},
		{"a list", `[]`, audit.Usage{TokensIn: -1, TokensOut: -1}},
		{"reasoning in the total alone",
			`{"prompt_tokens":100,"completion_tokens":50,"total_tokens":950}`,
			audit.Usage{TokensIn: 100, TokensOut: 850, USD: 1800e-6, Priced: true}},
		{"a negative cost", `{"prompt_tokens":100,"completion_tokens":50,"cost":-1}`,
			audit.Usage{TokensIn: 100, TokensOut: 50, USD: 200e-6, Priced: true}},
		{"a cost in words", `{"prompt_tokens":100,"completion_tokens":50,"cost":"0.5"}`,
			audit.Usage{TokensIn: 100, TokensOut: 50, USD: 200e-6, Priced: true}},
		{"no cost to speak of", `{"prompt_tokens":100,"completion_tokens":50,"cost":0}`,
			audit.Usage{TokensIn: 100, TokensOut: 50, Priced: true}},
		{"a cost alone", `{"cost":0.5}`, audit.Usage{TokensIn: -1, TokensOut: -1,
			USD: 0.5, Priced: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, _, err := once(t, whole(c.usage))
			require.NoError(t, err)
			require.Equal(t, audit.Bad, r.Verdict)
			got := r.Attempts[0].Usage
			if c.want.TokensIn < 0 {
				require.Positive(t, got.TokensIn)
				got.TokensIn = -1
			}
			if c.want.TokensOut < 0 {
				require.Positive(t, got.TokensOut)
				got.TokensOut = -1
			}
			require.InDelta(t, c.want.USD, got.USD, 1e-12)
			got.USD = c.want.USD
			require.Equal(t, !got.Priced, got.Unsure > 0,
				"what is not counted may have cost the request's maximum")
			got.Unsure = 0
			require.Equal(t, c.want, got)
		})
	}
}

// A key that stands where a message is cut leaves no part of itself behind.
func TestAKeyAtTheCutIsGone(t *testing.T) {
	odd := "hunter2-" + strings.Repeat("x", 40) // looks like no provider's
	for n := 100; n < 420; n++ {
		pad := strings.Repeat("a", n)
		for _, reply := range []mockapi.Reply{
			{Status: 500, Body: `{"error":{"message":"` + pad + odd + `"}}`},
			{Status: 500, Body: pad + odd},
			{Body: `{"error":{"code":500,"message":"` + pad + odd + `"}}`},
			{Content: pad + odd},
			{Content: "I'm sorry, but I can't " + pad + odd},
		} {
			if n%40 != 0 && n != 119 && n != 127 && n != 359 && n != 391 { // the cuts, and some
				continue
			}
			r, _, err := once(t, reply, func(c *auditor.ChatConfig) { c.Key = odd })
			require.NoError(t, err)
			require.NotContains(t, r.Detail+r.Raw+r.Attempts[0].Error, "hunter2", n)
		}
	}
}

// A server that sends its callers elsewhere does not send the key there.
func TestChatIsNotRedirected(t *testing.T) {
	other := mockapi.New(func(mockapi.Request) mockapi.Reply { return mockapi.Reply{} })
	defer other.Close()
	for _, status := range []int{301, 302, 307, 308} {
		r, s, err := once(t, mockapi.Reply{Status: status, Body: " ",
			Header: map[string]string{"Location": other.BaseURL + "/chat/completions"}})
		require.Equal(t, audit.Errored, r.Status)
		require.ErrorContains(t, err, "it redirects to http")
		require.Len(t, s.Requests(), 1)
		require.Empty(t, other.Requests(), "nothing reaches the other server")
	}
}

// What a server says of itself is one short line.
func TestChatNamesAreShort(t *testing.T) {
	r, _, err := once(t, mockapi.Reply{Model: strings.Repeat("m\n", 100_000),
		Finish: strings.Repeat("stop\n", 1000)})
	require.NoError(t, err)
	require.Less(t, len(r.Attempts[0].Model), 1000)
	require.Less(t, len(r.Attempts[0].FinishReason), 1000)
	require.NotContains(t, r.Attempts[0].Model+r.Attempts[0].FinishReason, "\n")
}

// A stream whose answer is whole, and that is held open by comments, is an answer: what
// it may still say of its use is not waited for as for a word of the model.
func TestChatStreamsHeldOpen(t *testing.T) {
	for name, end := range map[string]string{"after the finish reason": stop,
		"after the mark of the end": stop + "\n\ndata: [DONE]"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, events(opening, closing, end).Body+": keep-alive\n\n")
				w.(http.Flusher).Flush()
				if _, _ = io.Copy(io.Discard, r.Body); r.Method == http.MethodPost {
					<-r.Context().Done()
				}
			}))
			defer s.Close()
			r, err := chat(t, s.URL+"/v1",
				func(c *auditor.ChatConfig) {
					c.Idle,
						c.Timeout = time.Hour, time.Hour
				}).Review(context.Background(), task)
			require.NoError(t, err)
			require.Equal(t, audit.Bad, r.Verdict, r.Detail)
		})
	}
}
