package auditor_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/auditor"
	"assay/internal/run/testdata/mockapi"

	"github.com/stretchr/testify/require"
)

const canary = "sk-or-v1-canary0123456789abcdef0123456789abcdef"

var task = audit.ReviewTask{Spec: "# A shop\n\n1. Only one's own orders.", Prompt: "Judge.",
	Language: "sql", Code: "SELECT 1"}

func chat(t *testing.T, base string, change ...func(*auditor.ChatConfig)) audit.Reviewer {
	c := auditor.ChatConfig{Name: "m", Provider: "openrouter", BaseURL: base, Key: canary,
		KeyName: "OPENROUTER_API_KEY",
		Model:   audit.Model{Name: "m", ID: "maker/m", In: 1, Out: 2, Priced: true},
		Timeout: 10 * time.Second}
	for _, f := range change {
		f(&c)
	}
	r, err := auditor.Chat(c)
	require.NoError(t, err)
	return r
}

// once starts a mock that always replies the same and asks it once.
func once(t *testing.T, reply mockapi.Reply, change ...func(*auditor.ChatConfig)) (audit.Review,
	*mockapi.Server, error) {
	s := mockapi.New(func(mockapi.Request) mockapi.Reply { return reply })
	t.Cleanup(s.Close)
	r, err := chat(t, s.BaseURL, change...).Review(context.Background(), task)
	noCanary(t, r, err)
	return r, s, err
}

// eachAPI runs a test for each API that a model may be asked by: what a server does wrong, and
// what is made of it, is the same for all of them.
func eachAPI(t *testing.T, test func(t *testing.T, api string)) {
	for _, api := range []string{"chat", "responses", "messages"} {
		t.Run(api, func(t *testing.T) { test(t, api) })
	}
}

func speaks(api string) func(*auditor.ChatConfig) {
	return func(c *auditor.ChatConfig) { c.Model.Settings.API = api }
}

func noCanary(t *testing.T, r audit.Review, err error) {
	require.NotContains(t, fmt.Sprintf("%+v %v", r, err), canary[8:], "the key is nowhere")
}

func TestChatAnswers(t *testing.T) { eachAPI(t, chatAnswers) }

func chatAnswers(t *testing.T, api string) {
	r, s, err := once(t, mockapi.Reply{Cost: 0.0125, Model: "maker/m-2026"}, speaks(api))
	require.NoError(t, err)
	require.Equal(t, audit.Answered, r.Status, r.Detail)
	require.Equal(t, audit.Bad, r.Verdict)
	require.Equal(t, []int{2}, r.Violates)
	require.Len(t, r.Attempts, 1)
	a := r.Attempts[0]
	require.Equal(t, "maker/m-2026", a.Model)
	require.Equal(t, "stop", a.FinishReason)
	require.Equal(t, 200, a.HTTPStatus)
	require.Equal(t, audit.Usage{TokensIn: a.Usage.TokensIn, TokensOut: a.Usage.TokensOut,
		USD: 0.0125, Priced: true}, a.Usage)
	require.Positive(t, a.Usage.TokensIn)
	require.Positive(t, a.Latency)

	sent := s.Requests()
	require.Len(t, sent, 1)
	require.Equal(t, "maker/m", sent[0].Model)
	require.Equal(t, canary, sent[0].Key)
	require.Contains(t, string(sent[0].Body), `"json_schema"`)
	require.Regexp(t, `"max_(output_)?tokens":8192`, string(sent[0].Body))
	require.Equal(t, map[string]string{"chat": "chat/completions"}[api]+
		strings.TrimPrefix(api, "chat"), sent[0].API)
	require.Equal(t, auditor.Prompt(task), sent[0].Prompt)
}

// Cost falls back to the listed price, and is unknown without one.
func TestChatCost(t *testing.T) {
	r, _, _ := once(t, mockapi.Reply{Cost: -1})
	u := r.Attempts[0].Usage
	require.InDelta(t, (float64(u.TokensIn)*1+float64(u.TokensOut)*2)/1e6, u.USD, 1e-12)
	require.True(t, u.Priced)
	unpriced := func(c *auditor.ChatConfig) { c.Model.Priced = false }
	r, _, _ = once(t, mockapi.Reply{Cost: -1}, unpriced)
	require.False(t, r.Attempts[0].Usage.Priced)
	r, _, _ = once(t, mockapi.Reply{Cost: 0.5}, unpriced)
	require.InDelta(t, 0.5, r.Attempts[0].Usage.USD, 1e-12)
	r, _, _ = once(t, mockapi.Reply{Body: `{"model":"m","choices":[{"message":{"content":"bad"},"finish_reason":"stop"}],
		"usage":{"prompt_tokens":1,"completion_tokens":1,"cost":0.01,"is_byok":true,"cost_details":{"upstream_inference_cost":0.2}}}`})
	require.InDelta(t, 0.21, r.Attempts[0].Usage.USD, 1e-12)

	type costed interface {
		Cost(audit.ReviewTask) (float64, float64, bool)
	}
	c := chat(t, "http://localhost:1/v1").(costed)
	expected, most, known := c.Cost(task)
	require.True(t, known)
	require.Greater(t, expected, 0.0)
	require.Greater(t, most, float64(auditor.DefaultMaxTokens)*2/1e6)
}

// errorBody is an error object as OpenAI and OpenRouter write it.
func errorBody(code, message string) string {
	return `{"error":{"code":` + code + `,"message":"` + message + `"}}`
}

func TestChatFailures(t *testing.T) { eachAPI(t, chatFailures) }

func chatFailures(t *testing.T, api string) {
	type want struct {
		status    audit.Status
		transient bool
		after     time.Duration
		fatal     string // part of the error; "": none
		detail    string
	}
	for _, c := range []struct {
		name  string
		reply mockapi.Reply
		want  want
	}{
		{"429", mockapi.Reply{Status: 429, Body: errorBody("429", "slow down")},
			want{audit.Errored, true, 0, "", "slow down"}},
		{"429 with seconds", mockapi.Reply{Status: 429, Body: errorBody("429", "x"),
			Header: map[string]string{"Retry-After": "7"}}, want{audit.Errored, true,
			7 * time.Second, "", "429"}},
		{"429 with date", mockapi.Reply{Status: 429, Body: errorBody("429", "x"),
			Header: map[string]string{
				"Date":        "Mon, 02 Mar 2026 10:00:00 GMT",
				"Retry-After": "Mon, 02 Mar 2026 10:01:30 GMT"}}, want{audit.Errored, true,
			90 * time.Second, "", "429"}},
		{"429 with milliseconds", mockapi.Reply{Status: 429, Body: errorBody("429", "x"),
			Header: map[string]string{"Retry-After-Ms": "250", "Retry-After": "1"}},
			want{audit.Errored, true, 250 * time.Millisecond, "", "429"}},
		{"429 with a time without end", mockapi.Reply{Status: 429, Body: errorBody("429", "x"),
			Header: map[string]string{"Retry-After": "1e300"}}, want{audit.Errored, true,
			longestWait, "", "429"}},
		{"429 without sense", mockapi.Reply{Status: 429, Body: errorBody("429", "x"),
			Header: map[string]string{"Retry-After": "soon"}}, want{audit.Errored,
			true, 0, "", "429"}},
		{"408", mockapi.Reply{Status: 408, Body: "{}"}, want{audit.Errored, true, 0, "", "408"}},
		{"500 in HTML", mockapi.Reply{Status: 500, Body: "<html>oops</html>",
			Header: map[string]string{"Content-Type": "text/html"}}, want{audit.Errored, true,
			0, "", "oops"}},
		{"502 with no body", mockapi.Reply{Status: 502, Body: " "}, want{audit.Errored, true, 0, "",
			"502 Bad Gateway"}},
		{"529", mockapi.Reply{Status: 529, Body: errorBody(`"overloaded_error"`, "Overloaded")},
			want{audit.Errored, true, 0, "", "Overloaded"}},
		{"reset in mid-body", mockapi.Reply{CutAfter: 40}, want{audit.Errored, true, 0, "", ""}},
		{"broken JSON", mockapi.Reply{Body: `{"choices":[{"mess`},
			want{audit.Errored, true, 0, "", "json"}},
		{"HTML with 200", mockapi.Reply{Body: "<html>",
			Header: map[string]string{"Content-Type": "text/html"}}, want{audit.Errored, true, 0,
			"", "text/html"}},
		{"nothing", mockapi.Reply{Body: " "}, want{audit.Errored, true, 0, "",
			"the response is empty"}},
		{"no choices", mockapi.Reply{Body: `{"choices":[]}`},
			want{audit.Errored, true, 0, "", "no choice"}},
		{"error within 200", mockapi.Reply{Body: errorBody("502", "host is down")},
			want{audit.Errored, true, 0, "", "host is down"}},
		{"an error in words within 200", mockapi.Reply{Body: `{"error":"host is down"}`},
			want{audit.Errored, true, 0, "", "host is down"}},
		{"an error in words, as Ollama's",
			mockapi.Reply{Status: 404,
				Body: `{"error":"model 'x' not found, try pulling it first"}`}, want{audit.Errored,
				false, 0, "expected a model", "not found: model 'x' not found, try"}},
		{"an error that is the response, as vLLM's",
			mockapi.Reply{Status: 400,
				Body: `{"object":"error","message":"no such thing","type":"BadRequestError","code":400}`}, want{audit.Errored, false, 0, "", "bad request: no such thing"}},
		{"rate limit within 200", mockapi.Reply{Body: errorBody("429", "busy")},
			want{audit.Errored, true, 0, "", "busy"}},
		{"error within choice",
			mockapi.Reply{Body: `{"choices":[{"error":{"code":502,"message":"broke"},"finish_reason":"error","message":{"content":""}}]}`}, want{audit.Errored, true, 0, "", "broke"}},
		{"finish reason error", mockapi.Reply{Finish: "error"},
			want{audit.Errored, true, 0, "", "broke off"}},
		{"401", mockapi.Reply{Status: 401, Body: errorBody("401", "No auth, got "+canary)},
			want{audit.Errored, false, 0, "the key in OPENROUTER_API_KEY was refused", "HTTP 401"}},
		{"402", mockapi.Reply{Status: 402, Body: errorBody("402", "Insufficient credits")},
			want{audit.Errored, false, 0, "no credit or quota is left", "Insufficient credits"}},
		{"402 for a while", mockapi.Reply{Status: 402, Body: errorBody("402", "held"),
			Header: map[string]string{"Retry-After": "3"}}, want{audit.Errored, true,
			3 * time.Second, "", "held"}},
		{"quota", mockapi.Reply{Status: 429, Body: errorBody(`"insufficient_quota"`,
			"You exceeded your current quota")}, want{audit.Errored, false, 0,
			"no credit or quota", "quota"}},
		{"Anthropic without credit",
			mockapi.Reply{Status: 400, Body: errorBody(`"invalid_request_error"`,
				"Your credit balance is too low")}, want{audit.Errored, false, 0,
				"no credit or quota", "credit"}},
		{"403", mockapi.Reply{Status: 403, Body: errorBody("403", "region")},
			want{audit.Errored, false, 0, "may not do this", "region"}},
		{"403 for the input",
			mockapi.Reply{Status: 403,
				Body: `{"error":{"code":403,"message":"flagged","metadata":{"reasons":["violence"],"flagged_input":"..."}}}`}, want{audit.Refused, false, 0, "", "flagged"}},
		{"content filter of Azure",
			mockapi.Reply{Status: 400, Body: errorBody(`"content_filter"`, "filtered")},
			want{audit.Refused, false, 0, "", "filtered"}},
		{"404", mockapi.Reply{Status: 404, Body: errorBody(`"model_not_found"`, "no such model")},
			want{audit.Errored, false, 0, "expected a model", "no such model"}},
		{"a list, as Gemini's",
			mockapi.Reply{Status: 400,
				Body: `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}]`}, want{audit.Errored, false, 0, "was refused", "Bad Request: API key not valid."}},
		{"400 for the model",
			mockapi.Reply{Status: 400, Body: errorBody("400", "maker/m is not a valid model ID")},
			want{audit.Errored, false, 0, "expected a model", "valid model"}},
		{"400 for this input",
			mockapi.Reply{Status: 400, Body: errorBody(`"context_length_exceeded"`, "too long")},
			want{audit.Errored, false, 0, "", "too long"}},
		{"truncated", mockapi.Reply{Finish: "length"}, want{audit.Malformed, false, 0,
			"", "truncated"}},
		{"truncated, in Mistral's words", mockapi.Reply{Finish: "model_length"},
			want{audit.Malformed, false, 0, "", "truncated"}},
		{"truncated, in Anthropic's words", mockapi.Reply{Finish: "max_tokens"},
			want{audit.Malformed, false, 0, "", "truncated"}},
		{"filtered, in Gemini's words", mockapi.Reply{Finish: "SAFETY"},
			want{audit.Refused, false, 0, "", "filter"}},
		{"filtered", mockapi.Reply{Finish: "content_filter"},
			want{audit.Refused, false, 0, "", "filter"}},
		{"refused", mockapi.Reply{Body: `{"choices":[{"finish_reason":"stop","message":{"content":null,"refusal":"I can't."}}]}`}, want{audit.Refused, false, 0, "", "I can't."}},
		{"empty", mockapi.Reply{Content: " "}, want{audit.Malformed, false, 0, "", "empty"}},
		{"prose", mockapi.Reply{Content: "hm"}, want{audit.Malformed, false, 0, "", "hm"}},
	} {
		if api != "chat" && strings.Contains(c.reply.Body, "choice") {
			continue // a body of chat completions
		}
		t.Run(c.name, func(t *testing.T) {
			r, s, err := once(t, c.reply, speaks(api))
			require.Equal(t, c.want.status, r.Status, r.Detail)
			require.Len(t, s.Requests(), 1, "the client does not try again by itself")
			last := r.Attempts[len(r.Attempts)-1]
			require.Equal(t, c.want.transient, last.Transient)
			require.Equal(t, c.want.after, last.RetryAfter)
			require.Contains(t, strings.ToLower(r.Detail), strings.ToLower(c.want.detail))
			require.NotContains(t, r.Detail, "\n")
			if c.want.fatal == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.want.fatal)
				require.ErrorContains(t, err, "m: ")
			}
		})
	}
}

func TestChatTimeouts(t *testing.T) { eachAPI(t, chatTimeouts) }

func chatTimeouts(t *testing.T, api string) {
	short := func(c *auditor.ChatConfig) { c.Timeout = 500 * time.Millisecond }
	for name, reply := range map[string]mockapi.Reply{"stalls": {Stall: true},
		"stalls in mid-body": {Stall: true, StallAfter: 30}} {
		t.Run(name, func(t *testing.T) {
			r, _, err := once(t, reply, short, speaks(api))
			require.NoError(t, err)
			require.Equal(t, audit.Errored, r.Status)
			require.Contains(t, r.Detail, "no answer within 500ms")
			require.True(t, r.Attempts[0].Transient)
			require.False(t, r.Attempts[0].Usage.Priced, "who knows what it cost")
		})
	}
	s := mockapi.New(func(mockapi.Request) mockapi.Reply { return mockapi.Reply{Stall: true} })
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := chat(t, s.BaseURL, speaks(api)).Review(ctx, task)
	require.NoError(t, err)
	require.Contains(t, r.Detail, "stopped")
	require.False(t, r.Attempts[0].Transient)
}

func TestChatServerGone(t *testing.T) { eachAPI(t, chatServerGone) }

func chatServerGone(t *testing.T, api string) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	r, err := chat(t, s.URL+"/v1", speaks(api)).Review(context.Background(), task)
	require.NoError(t, err)
	require.Equal(t, audit.Errored, r.Status)
	require.True(t, r.Attempts[0].Transient)
	require.True(t, r.Attempts[0].Usage.Priced, "nothing was sent, so nothing is charged")

	tls := httptest.NewUnstartedServer(http.NotFoundHandler())
	tls.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of the client's refusal
	tls.StartTLS()
	defer tls.Close()
	_, err = chat(t, tls.URL+"/v1", speaks(api)).Review(context.Background(), task)
	require.ErrorContains(t, err, "certificate")
}

const longestWait = 1e9 * time.Second // what a duration can hold is ten times that

// A server that is not there, or speaks another protocol, is told as what it is
// after a few tries; one that has answered before may come back.
func TestChatStandstill(t *testing.T) { eachAPI(t, chatStandstill) }

func chatStandstill(t *testing.T, api string) {
	plain := mockapi.New(func(mockapi.Request) mockapi.Reply { return mockapi.Reply{} })
	defer plain.Close()
	tls := httptest.NewUnstartedServer(http.NotFoundHandler())
	tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	tls.StartTLS()
	defer tls.Close()
	page := mockapi.New(func(mockapi.Request) mockapi.Reply {
		return mockapi.Reply{Body: "<html>", Header: map[string]string{"Content-Type": "text/html"}}
	})
	defer page.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	review := func(r audit.Reviewer) error {
		_, err := r.Review(context.Background(), task)
		return err
	}
	for _, c := range []struct {
		name, base, want string
		tries            int
	}{
		{"refused", gone.URL + "/v1", "connection refused (3 times running at " + gone.URL +
			"/v1): expected a server there: check the address", 3},
		{"TLS on a plain port", strings.Replace(plain.BaseURL, "http", "https", 1),
			"server gave HTTP response to HTTPS client (3 times running", 3},
		{"plain on a TLS port", strings.Replace(tls.URL, "https", "http", 1) + "/v1",
			"HTTPS server. (4 times running", 4},
		{"a page", page.BaseURL, "a stream of events (4 times running at " + page.BaseURL +
			"): expected a server that speaks", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := chat(t, c.base, speaks(api))
			for range c.tries - 1 {
				require.NoError(t, review(r))
			}
			require.ErrorContains(t, review(r), c.want)
		})
	}

	at := mockapi.New(func(mockapi.Request) mockapi.Reply { return mockapi.Reply{} })
	r := chat(t, at.URL+"/v1", speaks(api))
	require.NoError(t, review(r))
	at.Close()
	for range 6 {
		require.NoError(t, review(r), "it has answered before")
	}

	for answers, tries := range map[int]int{0: 4, 1: 20} {
		s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
			if r.N <= answers {
				return mockapi.Reply{}
			}
			return mockapi.Reply{CutAfter: 5}
		})
		defer s.Close()
		r := chat(t, s.BaseURL, speaks(api))
		for range answers + tries - 1 {
			require.NoError(t, review(r), "after %d answers", answers)
		}
		require.ErrorContains(t, review(r), fmt.Sprintf("(%d times running", tries))
	}
}

// A server that knows no schema, or no max_tokens, is asked without, at once and
// from then on.
func TestChatAdapts(t *testing.T) { eachAPI(t, chatAdapts) }

func chatAdapts(t *testing.T, api string) {
	s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		switch body := string(r.Body); {
		case strings.Contains(body, "json_schema"):
			return mockapi.Reply{Status: 400,
				Body: errorBody("400", "response_format is not supported by this model")}
		case api == "chat" && strings.Contains(body, `"max_tokens"`):
			return mockapi.Reply{Status: 400, Body: errorBody(`"unsupported_parameter"`,
				"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")}
		}
		return mockapi.Reply{Cost: 0.5}
	})
	defer s.Close()
	c := chat(t, s.BaseURL, speaks(api))
	r, err := c.Review(context.Background(), task)
	require.NoError(t, err)
	require.Equal(t, audit.Bad, r.Verdict, r.Detail)
	asked := map[string]int{"chat": 3, "responses": 2, "messages": 2}[api]
	require.Len(t, r.Attempts, asked, "every request is accounted for")
	_, err = c.Review(context.Background(), task)
	require.NoError(t, err)
	require.Len(t, s.Requests(), asked+1)

	// One that turns down everything is not asked for ever.
	stubborn, all, _ := once(t,
		mockapi.Reply{Status: 400,
			Body: errorBody("400", "unsupported response_format and max_tokens")}, speaks(api))
	require.Equal(t, audit.Errored, stubborn.Status)
	require.LessOrEqual(t, len(all.Requests()), 4)
}

// A model that writes less than is asked for is asked for less, at once and, unless it is
// for its context, from then on.
func TestChatAsksForLess(t *testing.T) {
	for words, asked := range map[string]int{
		// Anthropic
		"max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens": 3,
		// vLLM
		"'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 5096 tokens and your request has 1000 input tokens": 4,
	} {
		most := 4096
		s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
			var body struct {
				Most int `json:"max_tokens"`
			}
			if json.Unmarshal(r.Body, &body) != nil || body.Most > most || body.Most == 0 {
				return mockapi.Reply{Status: 400, Body: errorBody("400", words)}
			}
			return mockapi.Reply{}
		})
		defer s.Close()
		c := chat(t, s.BaseURL)
		for range 2 {
			r, err := c.Review(context.Background(), task)
			require.NoError(t, err)
			require.Equal(t, audit.Bad, r.Verdict, r.Detail)
		}
		require.Len(t, s.Requests(), asked)
		most = 0
		r, err := c.Review(context.Background(), task)
		require.NoError(t, err)
		require.Equal(t, audit.Errored, r.Status)
		require.LessOrEqual(t, len(s.Requests()), asked+4, "it is not asked for ever")
	}
}

// The key in the environment of another client must not reach this server.
func TestChatIgnoresForeignEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-foreign-0123456789abcdef")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/never")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: foreign")
	t.Setenv("OPENAI_ORG_ID", "org-foreign")
	_, s, err := once(t, mockapi.Reply{}, func(c *auditor.ChatConfig) { c.Key = "" })
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprint(s.Requests()[0].Header), "foreign")
	require.Empty(t, s.Requests()[0].Key)
}

func TestChatRefusesNonsense(t *testing.T) {
	for _, base := range []string{"", "localhost:8000", "ftp://x/v1", "http://", "::"} {
		_, err := auditor.Chat(auditor.ChatConfig{Name: "m", Model: audit.Model{ID: "m"},
			BaseURL: base})
		require.ErrorContains(t, err, "base URL", base)
	}
	for _, base := range []string{"https://me:pw@/v1", "me:pw@host/v1", "https:me:pw@host/v1",
		"https://me:pw @host/v1", "https://me:p/w@host/v1"} {
		_, err := auditor.Chat(auditor.ChatConfig{Name: "m", Model: audit.Model{ID: "m"},
			BaseURL: base})
		require.ErrorContains(t, err, "base URL", base)
		require.NotRegexp(t, "pw|p/w", err.Error())
		_, err = auditor.Registry{Getenv: func(string) string { return base }}.Reviewer("m")
		require.Error(t, err)
		require.NotRegexp(t, "pw|p/w", err.Error())
	}
	for _, base := range []string{"http://x/v1/chat/completions", "http://x/v1/chat/completions/",
		"http://x:pw@y/v1?api-version=2024-10-21"} {
		_, err := auditor.Chat(auditor.ChatConfig{Name: "m", Model: audit.Model{ID: "m"},
			BaseURL: base})
		require.ErrorContains(t, err, "without a query, and up to and without /chat/completions",
			base)
		require.NotContains(t, err.Error(), "pw@")
	}
	for _, key := range []string{"sk-a b", "sk-a\nb", "sk-“a”"} {
		_, err := auditor.Chat(auditor.ChatConfig{Name: "m", Model: audit.Model{ID: "m"},
			BaseURL: "http://x/v1", Key: key, KeyName: "A_KEY"})
		require.ErrorContains(t, err,
			"the key in A_KEY holds a space, an end of line or a letter that no key has")
		require.NotContains(t, err.Error(), "sk-")
	}
	_, err := auditor.Chat(auditor.ChatConfig{BaseURL: "http://x/v1"})
	require.ErrorContains(t, err, "needs a name")
}

// A key from a file ends with the end of a line, and a password in the address is as
// secret as a key.
func TestChatKeepsItsSecrets(t *testing.T) {
	page := mockapi.Reply{Status: 404, Body: "404 page not found"}
	_, s, err := once(t, page, func(c *auditor.ChatConfig) {
		c.Key, c.BaseURL = canary+"\n", strings.Replace(c.BaseURL, "http://",
			"http://me:pw-of-mine@", 1)
	})
	require.Equal(t, canary, s.Requests()[0].Key)
	require.ErrorContains(t, err,
		"/v1/chat/completions to be there, and to have the model: check the base URL")
	require.NotContains(t, err.Error(), "pw-of-mine")
	require.Equal(t, "[key]", auditor.Mask(canary, canary+"\n"))
}

func TestDirectory(t *testing.T) {
	env := map[string]string{"OPENROUTER_API_KEY": "k1", "OPENAI_API_KEY": "k2"}
	row := audit.Pos{File: "models.md", Line: 1}
	d := auditor.Registry{Getenv: func(n string) string { return env[n] }, Budget: math.Inf(1),
		Models: []audit.Model{{Name: "small", Provider: "openrouter", ID: "maker/small", In: 1,
			Out: 1, Priced: true, Pos: row},
			{Name: "big", Provider: "maker", ID: "big-1", Aliases: []string{"big.1"}, In: 1, Out: 1,
				Priced: true, Pos: row},
			{Name: "big-high", Provider: "openai", ID: "big-1", Priced: true, Pos: row,
				Settings: audit.ModelSettings{Effort: "high", API: "responses", MaxTokens: 4000}}},
		Auditors: []audit.AuditorEntry{{Name: "my-agent", Kind: "agent", Command: "cat"},
			{Name: "own-patterns", Kind: "patterns"}}}
	type described interface {
		Provider() string
		Settings() string
		Cost(audit.ReviewTask) (float64, float64, bool)
	}
	for _, c := range []struct {
		name, provider, settings string
		priced                   bool
	}{
		{"small", "openrouter", "maker/small at openrouter.ai", true},
		{"openrouter:maker/small", "openrouter", "maker/small at openrouter.ai", true},
		{"maker/unknown:free", "openrouter", "maker/unknown:free at openrouter.ai", false},
		{"openai:gpt-x", "openai", "gpt-x at api.openai.com", false},
		{"openrouter:maker/big.1", "openrouter", "maker/big.1 at openrouter.ai", true},
		{"big-high", "openai", "big-1 at api.openai.com max_tokens 4000 effort=high api=responses",
			true},
		{"ollama:qwen:7b", "ollama", "qwen:7b at localhost:11434", true},
		{"my-agent", "", "cat", true},
	} {
		r, err := d.Reviewer(c.name)
		require.NoError(t, err, c.name)
		require.Equal(t, c.name, r.Name())
		x := r.(described)
		require.Equal(t, c.provider, x.Provider(), c.name)
		require.Contains(t, x.Settings(), c.settings)
		_, _, known := x.Cost(task)
		require.Equal(t, c.priced, known, c.name)
	}
	for _, name := range []string{"patterns", "own-patterns"} {
		r, err := d.Reviewer(name)
		require.NoError(t, err)
		require.Equal(t, "patterns", r.Name())
	}
	_, err := d.Reviewer("anthropic:claude")
	require.ErrorContains(t, err, "ANTHROPIC_API_KEY is not set: put it into .env")
	delete(env, "OPENROUTER_API_KEY")
	_, err = d.Reviewer("my-agnet")
	require.ErrorContains(t, err,
		"my-agnet is neither a section of fixtures/auditors.md nor a row of fixtures/models.md: expected")
	require.ErrorContains(t, err, "| my-agnet | openrouter | maker/my-agnet |")
	_, err = d.Reviewer("small")
	require.ErrorContains(t, err, "OPENROUTER_API_KEY is not set")
	for _, budget := range []float64{0, 5} {
		limited := d
		limited.Budget = budget
		_, err = limited.Reviewer("openai:gpt-x")
		require.ErrorContains(t, err,
			"no price is known for openai:gpt-x, so no budget can hold: add a row to fixtures/models.md, like\n| openai:gpt-x | openai | gpt-x |")
	}
	_, err = d.Reviewer(" ")
	require.ErrorContains(t, err, "no reviewer named")
	for _, name := range []string{"azure:gpt-4o", "vertex:google/gemini", "bedrock:claude"} {
		_, err = d.Reviewer(name)
		require.ErrorContains(t, err,
			`is no provider: expected openrouter, openai, anthropic, google, ollama or own before the colon; every other is asked by ASSAY_BASE_URL`)
	}
	_, err = d.Reviewer("openai:")
	require.ErrorContains(t, err, "openai: names no model")

	s := mockapi.New(func(mockapi.Request) mockapi.Reply { return mockapi.Reply{} })
	defer s.Close()
	env["ASSAY_BASE_URL"] = s.BaseURL
	for _, name := range []string{"small", "openai:gpt-x"} {
		r, err := d.Reviewer(name)
		require.NoError(t, err)
		_, err = r.Review(context.Background(), task)
		require.NoError(t, err)
	}
	_, err = d.Reviewer("big-high")
	require.NoError(t, err)
	env["ASSAY_API_KEY"] = "own"
	r, err := d.Reviewer("small")
	require.NoError(t, err)
	_, err = r.Review(context.Background(), task)
	require.NoError(t, err)
	var sent []string
	for _, q := range s.Requests() {
		sent = append(sent, q.Model+" "+q.Key)
	}
	require.Equal(t, []string{"small ", "gpt-x ", "small own"}, sent,
		"providers' keys go to the providers alone")
	env["ASSAY_BASE_URL"] = "nonsense"
	_, err = d.Reviewer("small")
	require.ErrorContains(t, err, "ASSAY_BASE_URL")
}

// TestPromptOfAChange: each file stands below its path, the change last.
func TestPromptOfAChange(t *testing.T) {
	code := audit.JoinBlocks([]audit.Block{{Path: "a.py", Language: "python", Code: "x = 1\n"},
		{Language: "diff", Code: "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"}})
	p := auditor.Prompt(audit.ReviewTask{Spec: "S", Prompt: "P", Language: "python", Code: code})
	require.Equal(t,
		"S\n\nP\n\n## a.py\n\n```python\nx = 1\n```\n\n## The change\n\n```diff\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n```\n\n", p)
}

func TestPromptHoldsCodeWhole(t *testing.T) {
	nested := task
	nested.Code = "a\n````\nb\n```"
	p := auditor.Prompt(nested)
	require.Contains(t, p, "`````sql\na\n````\nb\n```\n`````\n")
	order := []int{strings.Index(p, "A shop"), strings.Index(p, "Judge."),
		strings.Index(p, "````\nb")}
	require.True(t, slices.IsSorted(order) && order[0] >= 0, "SPEC, prompt, code")
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"key " + canary + " refused":                       "key [key] refused",
		"sk-proj-abcdefghijklmnopqrstuvwx was used":        "[key] was used",
		"Authorization: Bearer abcdefghijklmnopqrstuvwxyz": "Authorization: [key]",
		"a sketch, a task-list and a risk-free query":      "a sketch, a task-list and a risk-free query",
		"hunter2-secret": "[key]",
	} {
		require.Equal(t, want, auditor.Redact(in, canary, "hunter2-secret", "", "ab"))
	}
}

// TestRedactPieces: a key that a stream's events hold in pieces, and one that was
// cut, are found; words that only begin like it stay.
func TestRedactPieces(t *testing.T) {
	const key = "sk-ant-api03-Xy7Qw2Rt9KpLm4Nv"
	for _, size := range []int{1, 2, 3, 7, 11} {
		var stream strings.Builder
		for i := 0; i < len(key); i += size {
			fmt.Fprintf(&stream,
				"data: {\"type\":\"delta\",\"index\":%d,\"delta\":{\"type\":\"text\",\"text\":%q}}\n\n", i, key[i:min(len(key), i+size)])
		}
		got := auditor.Mask("before\n"+stream.String()+"after", key)
		left := ""
		for line := range strings.Lines(got) {
			if _, text, ok := strings.Cut(line, `"text":"`); ok {
				left += strings.TrimSuffix(strings.TrimSpace(text), "\"}}")
			}
		}
		require.Equal(t, strings.Repeat("[key]", (len(key)+size-1)/size), left,
			"in pieces of %d", size)
	}
	require.Equal(t, "[key] is its end", auditor.Mask(key[9:]+" is its end", key))
	require.Equal(t, "it begins [key]", auditor.Mask("it begins "+key[:20], key))
	for _, same := range []string{`the skill "sk-ant" stays "-ap"`, "sk-ant-api", `"s","k","x"`} {
		require.Equal(t, same, auditor.Mask(same, key))
	}
	require.Equal(t, "production", auditor.Mask("production", "production-database-of-ours"),
		"a word of a phrase is no key")
}

// TestRedactWrittenOtherwise: a key is one in whatever letters.
func TestRedactWrittenOtherwise(t *testing.T) {
	key := "hunter2+/secret of \"ours\"&more"
	for name, text := range map[string]string{
		"plain": key, "JSON": fmt.Sprintf("%q", key), "hex": fmt.Sprintf("%x", key),
		"HEX":   fmt.Sprintf("%X", key),
		"query": url.QueryEscape(key), "path": url.PathEscape(key),
		"base64":          base64.StdEncoding.EncodeToString([]byte(key)),
		"base64 for URLs": base64.URLEncoding.EncodeToString([]byte(key)),
		"basic auth":      base64.StdEncoding.EncodeToString([]byte("me:" + key)),
		"basic auth 2":    base64.StdEncoding.EncodeToString([]byte("user:" + key + "\n")),
		"basic auth 3":    base64.StdEncoding.EncodeToString([]byte("joe:" + key + "!!")),
	} {
		got := auditor.Redact("before "+text+" after", key)
		require.Regexp(t, `^before .{0,12}\[key\].{0,5} after$`, got, name)
	}
}

// TestChatSilence: an address that takes connections and says nothing ends the run,
// and nothing is charged.
func TestChatSilence(t *testing.T) { eachAPI(t, chatSilence) }

func chatSilence(t *testing.T, api string) {
	dead, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts, and nobody reads
	require.NoError(t, err)
	t.Cleanup(func() { _ = dead.Close() })
	quick := func(c *auditor.ChatConfig) { c.Silence = 100 * time.Millisecond }
	r, err := chat(t, "http://"+dead.Addr().String()+"/v1",
		quick, speaks(api)).Review(context.Background(), task)
	require.ErrorContains(t, err,
		"takes connections and has sent nothing for 100ms: expected a server there: check the address, its port and http or https")
	require.Equal(t, audit.Errored, r.Status)
	require.True(t, r.Attempts[0].Usage.Priced)
	require.Zero(t, r.Attempts[0].Usage.USD)
}

// TestChatGreetsFirst: a server that serves one request at a time has answered the
// question whether it is there before it thinks, and is not taken for silent.
func TestChatGreetsFirst(t *testing.T) {
	var seen []string
	s := mockapi.New(func(mockapi.Request) mockapi.Reply { return mockapi.Reply{} })
	t.Cleanup(s.Close)
	inner := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, fmt.Sprint(r.Method, " ", r.URL.Path, " ",
			r.Header.Get("Authorization") != ""))
		inner.ServeHTTP(w, r)
	})
	reviewer := chat(t, s.BaseURL)
	for range 2 {
		r, err := reviewer.Review(context.Background(), task)
		require.NoError(t, err)
		require.Equal(t, audit.Answered, r.Status, r.Detail)
	}
	require.Equal(t, []string{"GET /v1/models false", "POST /v1/chat/completions true",
		"POST /v1/chat/completions true"}, seen)
}
