package auditor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"assay/audit"
)

// Limits of one request to a model.
const (
	// DefaultMaxTokens is what a model may write, its reasoning included. The
	// reserve of a trial is its price.
	DefaultMaxTokens = 8192
	// DefaultChatTimeout is how long one request may take. Models that reason
	// take minutes.
	DefaultChatTimeout = 5 * time.Minute
	// DefaultChatIdle is how long a stream may stand still once the model has
	// begun to write. Before that nothing can be told from silence: models think,
	// and servers queue.
	DefaultChatIdle = time.Minute
	// lateUsage is how long a server may take to say what an answer that is whole has
	// used, and trailer to close its stream when it has said that it is over.
	lateUsage = 5 * time.Second
	trailer   = time.Second
	// maxResponse caps a response's body, in bytes.
	maxResponse = 16 << 20
)

// A ChatConfig is a model with the server that it is reached at.
type ChatConfig struct {
	Name      string // as in results and subtest paths
	Provider  string // openrouter, openai, anthropic, ollama, or the host of another server
	BaseURL   string // up to and without the API's own path, such as /chat/completions
	Key       string // API key; empty where the server needs none
	KeyName   string // the environment variable that it comes from, for messages
	Model     audit.Model
	MaxTokens int64         // 0: DefaultMaxTokens
	Timeout   time.Duration // 0: DefaultChatTimeout
	Idle      time.Duration // 0: DefaultChatIdle
	Silence   time.Duration // 0: DefaultChatSilence
}

// A client asks a language model through its provider's API, as a reviewer and for the agent
// loop. It makes one request for a review (and another where the server turns a parameter
// down); further attempts are the caller's business.
type client struct {
	config   ChatConfig
	api      api
	http     *http.Client
	masker   masker // of the key
	address  string // the base URL, for messages: without a password
	settings string
	mu       sync.Mutex
	refused  parameters
	most     atomic.Int64 // tokens that the model can write, where the server has said so
	probe    probe
	breaker  circuitBreaker
}

// Chat returns the reviewer for a model, reached by the API of its row. Settings that the row
// does not state are left to the provider's defaults.
func Chat(c ChatConfig) (audit.Reviewer, error) {
	reviewer, err := newClient(c)
	if err != nil {
		return nil, err
	}
	return reviewer, nil
}

// newClient returns the client for a model. An invalid base URL or an unknown API is an error.
func newClient(c ChatConfig) (*client, error) {
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf(
			"%s: the base URL is %q: expected a form like https://openrouter.ai/api/v1", c.Name,
			withoutPassword(c.BaseURL))
	}
	api, known := apis[cmp.Or(c.Model.Settings.API, "chat")]
	if !known {
		return nil, fmt.Errorf("%s: the API is %q: expected chat, responses or messages", c.Name,
			c.Model.Settings.API)
	}
	if u.RawQuery != "" || strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), api.path()) {
		return nil, fmt.Errorf(
			"%s: the base URL is %q: expected it without a query, and up to and "+
				"without %s, which is added", c.Name, u.Redacted(), api.path())
	}
	c.Key = strings.TrimSpace(c.Key) // secrets in files end with the end of a line
	if strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf(
			"%s: the key in %s holds a space, an end of line or a letter that no key has: expected the key and nothing else, as its provider shows it", c.Name, cmp.Or(c.KeyName, "its configuration"))
	}
	if c.Model.ID == "" || c.Name == "" {
		return nil, fmt.Errorf("a chat reviewer needs a name and a model's ID: it has %q and %q",
			c.Name, c.Model.ID)
	}
	c.MaxTokens = cmp.Or(c.Model.Settings.MaxTokens, c.MaxTokens, DefaultMaxTokens)
	c.Timeout = cmp.Or(c.Timeout, DefaultChatTimeout)
	rest := c.Model.Settings
	rest.MaxTokens = 0
	c.Idle, c.Silence = cmp.Or(c.Idle, DefaultChatIdle), cmp.Or(c.Silence, DefaultChatSilence)
	return &client{config: c, api: api, http: &http.Client{Transport: newTransport(),
		CheckRedirect: stay}, masker: newMasker(c.Key), address: u.Redacted(),
		settings: fmt.Sprintf("chat 1 model %s at %s max_tokens %d%s", c.Model.ID, u.Host,
			c.MaxTokens, stated(rest))}, nil
}

// stated returns the settings of a model after a space. Chat completions are the default API
// and are not named.
func stated(s audit.ModelSettings) string {
	if s.API == "chat" {
		s.API = ""
	}
	return strings.TrimRight(" "+s.String(), " ")
}

var userInfo = regexp.MustCompile(`^(?i)([a-z]+:(?://)?)?.*@`)

// withoutPassword returns an address without its password, for a message: it may be none that
// can be parsed.
func withoutPassword(address string) string {
	return userInfo.ReplaceAllString(address,
		"${1}xxxxx@")
}

// Name is as in results.db.
func (c *client) Name() string { return c.config.Name }

// Provider is whose limits the model shares.
func (c *client) Provider() string { return c.config.Provider }

// Longest returns how long one request may take.
func (c *client) Longest() time.Duration { return c.config.Silence + c.config.Timeout }

// Close lets go of idle connections. The reviewer can be used afterwards.
func (c *client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Settings returns what can change answers: model, server and limits. It contains no key.
func (c *client) Settings() string { return c.settings }

// schema is the form of an answer, for servers that support schemas. The explanation comes
// first, so that the verdict can follow from it.
var schema = json.RawMessage(`{"type":"object","properties":{"explanation":{"type":"string"},` +
	`"verdict":{"type":"string","enum":["good","bad"]},` +
	`"violated_requirements":{"type":"array","items":{"type":"integer"}},` +
	`"cwes":{"type":"array","items":{"type":"string"}}},` +
	`"required":["explanation","verdict","violated_requirements","cwes"],"additionalProperties":false}`)

// Review asks the model once, and again where the server turns a parameter down that
// is left out from then on.
func (c *client) Review(ctx context.Context, task audit.ReviewTask) (audit.Review, error) {
	var attempts []audit.Attempt
	limit := c.config.MaxTokens
	for {
		if most := c.most.Load(); most > 0 {
			limit = min(limit, most)
		}
		body := c.review(task, limit)
		got, a, f := c.exchange(ctx, body)
		if f == nil {
			c.breaker.closes()
			r := c.read(got.answer)
			r.Attempts = append(attempts, a)
			return withoutSecrets(r, c.redact), nil
		}
		r := f.review()
		attempts = append(attempts, f.attempt)
		switch {
		case f.writesLess() && limit > leastTokens:
			if limit /= 2; !f.overlong() { // else it is for this prompt that there is no more room
				c.most.Store(limit)
			}
			continue
		case len(attempts) <= maxAdaptions && c.adapts(f, body):
			continue
		}
		c.breakAt(f)
		r.Attempts = attempts
		return withoutSecrets(r, c.redact), c.clean(f.fatal)
	}
}

const (
	maxAdaptions = 4    // parameters that a server may turn down
	leastTokens  = 1024 // what a model has to be able to write
)

// Why we end a request.
var (
	errSlow = errors.New("no answer")
	errIdle = errors.New("the stream stood still")
)

// once makes one request. If the failure is nil, the reply has an answer.
func (c *client) once(parent context.Context, body *request) (*reply, audit.Attempt, *failure) {
	ctx, end := context.WithCancelCause(parent)
	defer end(nil)
	slow := time.AfterFunc(body.timeout,
		func() { end(fmt.Errorf("%w within %s", errSlow, body.timeout)) })
	defer slow.Stop()
	a := audit.Attempt{Started: time.Now()}
	if err := c.preflight(ctx); err != nil {
		a.Latency = time.Since(a.Started)
		return nil, a, c.understand(parent, ctx, err, nil, a, nil)
	}
	a.Started = time.Now()
	got, res, err := c.send(ctx, end, body)
	a.Latency = time.Since(a.Started)
	if res != nil {
		a.HTTPStatus = res.StatusCode
	}
	switch {
	case got != nil:
		a.Model, a.Usage = oneLine(got.model), c.usage(got, body.bytes())
	case unheard(a.HTTPStatus):
		a.Usage = c.usage(&reply{}, body.bytes())
	}
	if m := c.config.Model; m.Priced && !a.Usage.Priced &&
		(got != nil || res == nil || unheard(a.HTTPStatus)) {
		a.Usage.Unsure = price(m, float64(body.bytes())/bytesPerTokenWorst+overheadTokens,
			float64(body.maxTokens))
	}
	if res != nil {
		a.Grant = grant(res.Header, a.Usage, time.Now())
	}
	if err != nil {
		return got, a, c.understand(parent, ctx, err, res, a, got)
	}
	if f := c.embedded(got, a); f != nil {
		return got, a, f
	}
	if got.streamed && !a.Usage.Priced && c.config.Model.Priced {
		// it does not count what it streams
		c.leaveOut(func(p *parameters) *bool { return &p.stream })
	}
	a.FinishReason = oneLine(got.answer.FinishReason)
	return got, a, nil
}

// maxPauses bounds how often a model may pause in the middle of one answer.
const maxPauses = 8

// exchange asks once. Where the model pauses in the middle of its answer (Anthropic's
// pause_turn), what it wrote is sent back, and it goes on.
func (c *client) exchange(ctx context.Context, body *request) (got *reply,
	a audit.Attempt, f *failure) {
	before := audit.Attempt{Usage: audit.Usage{Priced: true}}
	for range maxPauses {
		got, a, f = c.once(ctx, body)
		if f != nil {
			f.attempt.Usage, f.attempt.Latency = before.Usage.Add(f.attempt.Usage), before.Latency+
				f.attempt.Latency
		}
		if before.Usage.TokensIn > 0 {
			a.Started = before.Started
		}
		a.Usage, a.Latency = before.Usage.Add(a.Usage), before.Latency+a.Latency
		if f != nil || got.answer.FinishReason != pauseTurn {
			break
		}
		before = a
		further := *body
		further.messages = append(slices.Clone(body.messages), got.answer.Message.again())
		body = &further
	}
	return got, a, f
}

// send makes the request and reads the response. It asks for a stream if the server supports
// that: a model that stops within its answer is then noticed soon, and what it wrote before is
// known.
func (c *client) send(ctx context.Context, end context.CancelCauseFunc, body *request) (got *reply,
	res *http.Response, err error) {
	if res, err = c.post(ctx, body); err != nil {
		return nil, nil, err
	}
	if res.StatusCode >= 300 {
		return nil, res, errors.New("the server gives no answer")
	}
	defer res.Body.Close()
	still := time.AfterFunc(never, func() { end(errIdle) })
	defer still.Stop()
	got, err = receive(res, c.api, func(r *reply) { still.Reset(r.patience(c.config.Idle)) })
	return got, res, err
}

// read returns the verdict of a choice: what it says about itself counts first. The
// key leaves the text before anything is cut from it, since a part of it could not be
// found any more.
func (c *client) read(choice *choice) audit.Review {
	m := choice.Message
	text := m.Content
	if strings.TrimSpace(text) == "" { // some answer a schema by calling a function
		for _, call := range m.ToolCalls {
			text = string(call.Function.Arguments)
		}
		text = cmp.Or(strings.TrimSpace(text), m.Arguments)
	}
	text = c.redact(text)
	switch whole := choice.FinishReason != "content_filter" && choice.FinishReason != "length"; {
	case m.Refusal != "" && whole && ReadReply(text).Status == audit.Answered: // it declines a part
	case m.Refusal != "":
		return audit.Review{Status: audit.Refused, Detail: "the model declined: " +
			firstLine(c.redact(m.Refusal)), Raw: text}
	case choice.FinishReason == "content_filter":
		return audit.Review{Status: audit.Refused,
			Detail: "the provider's content filter cut the answer off", Raw: text}
	case choice.FinishReason == "length": // whatever is there may be followed by its opposite
		return audit.Review{Status: audit.Malformed,
			Detail: "truncated: the model reached its limit of tokens (finish_reason length)",
			Raw:    text}
	}
	return ReadReply(text)
}

// redact removes the API key from what is kept: servers quote it back in error
// messages.
func (c *client) redact(s string) string { return maskForms(c.masker.mask(s)) }

// clean returns an error without secrets.
func (c *client) clean(err error) error {
	if err == nil || c.redact(err.Error()) == err.Error() {
		return err
	}
	return errors.New(c.redact(err.Error()))
}
