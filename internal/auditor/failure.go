package auditor

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"assay/audit"
)

type failure struct {
	attempt  audit.Attempt
	status   int    // HTTP, or as the body says
	code     string // the server's own
	text     string // one line
	body     string // lower case, for what only the wording tells
	declined bool   // the input was turned down for what it is
	lost     bool   // there is no such host
	within   bool   // a response that says 200
	fault    string // what it has in common with others that waiting does not mend; see standstill
	fatal    error
	provider *client
}

// review returns the outcome of a review that failed.
func (f *failure) review() audit.Review {
	f.attempt.Error = f.text
	r := audit.Review{Status: audit.Errored, Detail: f.text}
	if f.declined {
		r.Status, r.Detail = audit.Refused, "the provider turned the input down: "+f.text
	}
	return r
}

// understand says what a failure means: whether the same request may succeed
// later, never, or no request at all. got is what came of the answer; nil where
// nothing did.
func (c *client) understand(parent, ctx context.Context, err error, res *http.Response,
	a audit.Attempt, got *reply) *failure {
	f := &failure{attempt: a, provider: c}
	if res != nil && res.StatusCode >= 300 && got == nil {
		f.status = res.StatusCode
		b, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
		_ = res.Body.Close()
		f.fill(b)
		f.text = strings.TrimSpace(fmt.Sprintf("HTTP %d %s: %s", f.status,
			http.StatusText(f.status), f.text))
		if to := res.Header.Get("Location"); to != "" {
			f.text += " (it redirects to " + oneLine(c.redact(to)) + ")"
		}
		f.attempt.RetryAfter = retryAfter(res.Header, time.Now())
		f.judge()
		if f.status < 500 && !f.attempt.Transient && !f.declined && !f.overlong() {
			f.fault = fmt.Sprint("HTTP ", f.status, f.code)
		}
		return f
	}
	f.text = oneLine(c.redact(err.Error()))
	var dial *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case parent.Err() != nil:
		f.text = "stopped: " + context.Cause(parent).Error()
	case errors.Is(context.Cause(ctx), errSlow):
		f.text = context.Cause(ctx).Error()
		f.attempt.Transient = true
	case err == errSilent:
		f.text = fmt.Sprintf("%s takes connections and has sent nothing for %s", c.address,
			c.config.Silence)
		f.attempt.Usage.Priced = true // there is nobody who could charge
		f.fatal = fmt.Errorf(
			"%s: %s: expected a server there: check the address, its port and http or https",
			c.config.Name, f.text)
	case context.Cause(ctx) == errIdle:
		f.text = fmt.Sprintf("the stream stood still for %s", c.config.Idle)
		f.attempt.Transient = true
	case errors.As(err, &certificate):
		f.fatal = fmt.Errorf("%s: %s: its certificate does not hold: %s", c.config.Name,
			c.address, f.text)
	case errors.As(err, &dial) && dial.Op == "dial":
		var unknown *net.DNSError
		f.lost = errors.As(err, &unknown)
		// nothing was sent, so nothing is charged
		f.attempt.Transient, f.attempt.Usage = true, audit.Usage{Priced: true}
		f.fault = unreached
	default: // reset, broken off in mid-body, no JSON
		f.attempt.Transient = true
		switch {
		case res == nil:
			f.fault = unreached
		case errors.Is(err, errBroken), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &dial):
			f.fault = brokenOff
		default:
			f.fault = "no chat completion"
		}
	}
	if got != nil && got.written > 0 {
		f.fault = ""
		f.text += fmt.Sprintf(" (after %d bytes of an answer, which may be charged)", got.written)
	}
	return f
}

// unheard reports whether a gateway gave up waiting for a server that had got the
// request: the model may have answered, and be charged.
func unheard(status int) bool {
	// 52x: Cloudflare's
	return status == http.StatusGatewayTimeout || status >= 520 && status <= 524
}

// fill takes what a server says of what went wrong, in the words of the APIs that are
// there; where it says nothing, the whole response: a proxy answers in HTML.
func (f *failure) fill(response []byte) {
	// before anything is cut: a part of a key is not found
	whole := f.provider.redact(string(response))
	f.body = strings.ToLower(whole)
	e := gjson.Parse(whole) // which is the error itself, as vLLM's
	// OpenAI's, and OpenRouter's within an answer, and Gemini's in a list.
	for _, path := range []string{"error", "choices.0.error", "0.error"} {
		if in := e.Get(path); in.Str != "" || in.Get("message").Exists() ||
			in.Get("code").Exists() {
			e = in
			break
		}
	}
	f.code = cmp.Or(e.Get("code").String(), e.Get("type").Str)
	f.text = oneLine(cmp.Or(e.Str, e.Get("message").Str))
	// OpenRouter hands on what the model's host said
	if raw := e.Get("metadata.raw").Str; raw != "" {
		f.text += ": " + oneLine(raw)
	}
	f.text = cmp.Or(f.text, oneLine(whole))
}

// embedded finds the failure in a response that says 200: OpenRouter and others
// put it into the body once the model has begun.
func (c *client) embedded(got *reply, a audit.Attempt) *failure {
	f := &failure{attempt: a, status: http.StatusBadGateway, provider: c}
	switch {
	case got.failed:
	case got.answer == nil:
		f.text = "the response holds no choice: " + oneLine(c.redact(string(got.raw)))
		f.attempt.Transient, f.fault = true, "no chat completion"
		return f
	case got.answer.FinishReason == "error":
		f.text = "the model's host broke off (finish_reason error)"
		f.attempt.Transient = true
		return f
	default:
		return nil
	}
	f.fill(got.raw)
	f.within = true
	if n, err := strconv.Atoi(f.code); err == nil && n >= 400 && n < 600 {
		f.status = n
	}
	f.status = cmp.Or(errorStatus[f.code], f.status)
	f.attempt.HTTPStatus = f.status
	f.text = fmt.Sprintf("error %s within the response: %s", f.code, f.text)
	f.judge()
	// Turned down before the model began: free. Else nobody knows.
	f.attempt.Usage.Priced = f.attempt.Usage.Priced || f.status < 500 && got.written == 0
	return f
}

// errorStatus are the statuses that Anthropic and OpenAI document for the types and codes of
// errors.
var errorStatus = map[string]int{"rate_limit_exceeded": 429, "rate_limit_error": 429,
	"overloaded_error":     529,
	"authentication_error": 401, "permission_error": 403, "billing_error": 402,
	"not_found_error":       404,
	"invalid_request_error": 400, "timeout_error": 504, "api_error": 500, "server_error": 500}

var (
	moderated = regexp.MustCompile(
		`content_policy|content_filter|content management policy|(?:cyber|bio)_policy|misalignment_policy|"invalid_prompt"|flagged for possible|"flagged_input"|requires moderation|input was flagged|"reasons"|guardrail|responsibleaipolicy`)
	noQuota = regexp.MustCompile(
		`insufficient_quota|billing_hard_limit|exceeded your current quota|credit balance is too low|free-models-per-day`)
	noModel = regexp.MustCompile(
		`model_not_found|not a valid model|model .{0,80}(?:does not exist|not found)|invalid model|no endpoints found`)
)

// judge decides whether to try again, and what advice to give.
func (f *failure) judge() {
	stop := func(advice string) {
		f.fatal = fmt.Errorf("%s: %s: %s", f.provider.config.Name,
			f.text, advice)
	}
	switch s := f.status; {
	case s < 400:
		stop("expected an answer: name the address that it redirects to as the base URL, if it is to be trusted")
	case (s == 400 || s == 403 || s == 422 || f.within) && moderated.MatchString(f.body):
		f.declined = true
	case s == 401, s == 400 && strings.Contains(f.body, "api key not valid"): // Gemini's
		stop(f.provider.keyAdvice())
	case s == 402 && f.attempt.RetryAfter > 0: // OpenRouter: credit is held by requests in flight
		f.attempt.Transient = true
	case s == 402, s == 429 && noQuota.MatchString(f.body), s == 400 &&
		strings.Contains(f.body, "credit balance is too low"):
		// no credit, whatever number the provider gives it
		f.attempt.HTTPStatus = max(f.attempt.HTTPStatus, 402)
		stop("no credit or quota is left: add some, then run the same command again, which asks only what has no answer yet")
	case s == 403:
		stop("the key may not do this: check its rights, the model's terms and the region")
	case s == 404 && !noModel.MatchString(f.body):
		stop(fmt.Sprintf(
			"expected %s%s to be there, and to have the model: check the base URL, which ends in /v1 as a rule, the name, and the ID in fixtures/models.md", strings.TrimSuffix(f.provider.address, "/"), f.provider.api.path()))
	case s == 404, s == 400 && noModel.MatchString(f.body):
		stop("expected a model that the provider has: check the name, and the ID in fixtures/models.md")
	case s == 408, s == 409, s == 425, s == 429, s >= 500:
		f.attempt.Transient = true
	}
}

// keyAdvice returns what to do about a refused key.
func (c *client) keyAdvice() string {
	if c.config.KeyName == "" {
		return "the key was refused"
	}
	if c.config.Key == "" {
		return "no key was sent: set " + c.config.KeyName
	}
	return "the key in " + c.config.KeyName + " was refused: it may be mistyped or revoked"
}

var (
	aboutSchema = regexp.MustCompile(
		`response_format|json_schema|json schema|structured output|structured_output|text\.format|output_config\.format|output_format`)
	aboutLimit  = regexp.MustCompile(`max_tokens|max_completion_tokens|max_output_tokens`)
	aboutSealed = regexp.MustCompile(`encrypted_content|encrypted content`)
	// aboutSetting names what a row of models.md may state.
	aboutSetting = regexp.MustCompile(`\beffort\b|reasoning_effort|\btemperature\b`)
	// What a server says that cannot write so many tokens.
	tooMany    = regexp.MustCompile(`too large|too high|at most|maximum|exceed|less than|>`)
	aboutUsage = regexp.MustCompile(`stream_options|include_usage|stream options`)
	// Ollama, OpenRouter, vLLM, llama.cpp, in this order.
	aboutTools = regexp.MustCompile(
		`does not support tools|support tool use|tool choice requires|tool_choice|tools param requires|\btools?\b.{0,40}not supported|not support.{0,30}\btool`)
	// OpenAI (a request that its rate alone forbids among it), Anthropic, vLLM, llama.cpp, Gemini.
	overlong = regexp.MustCompile(
		`context_length_exceeded|maximum context|context (?:length|window|size)|prompt is too long|input is too long|too many (?:input )?tokens|exceeds the maximum number of tokens|request too large|input token count`)
	// OpenAI asks for a verified organisation before it streams some models.
	aboutStream = regexp.MustCompile(
		`verified to stream|"param":\s*"stream"|\bstream(?:ing)?\b.{0,40}(?:not|un)[ -]?(?:supported|available|allowed)|not support.{0,20}\bstream`)
)

// adapts leaves out a parameter that the server refused, where that does not change what is
// measured. Tools, and settings of the model's row, are never left out: the failure says then
// what to do.
func (c *client) adapts(f *failure, sent *request) bool {
	if f.status != 400 && f.status != 404 && f.status != 422 || f.declined ||
		overlong.MatchString(f.body) {
		return false
	}
	settings := c.config.Model.Settings
	set := settings.Effort != "" || settings.Temperature != nil
	switch where := c.config.Name + ": " + f.text; {
	case len(sent.tools) > 0 && aboutTools.MatchString(f.body) &&
		strings.Contains(f.body, "/v1/responses"):
		f.fatal = fmt.Errorf(
			"%s: the server refuses tools: set api=responses under Settings of its row in fixtures/models.md", where)
		return false
	case len(sent.tools) > 0 && aboutTools.MatchString(f.body):
		f.fatal = fmt.Errorf(
			"%s: the server refuses tools, without which nothing is audited: set tools=text under "+
				"Settings of its row in fixtures/models.md, and they are offered in prose, or name another model", where)
		return false
	case set && aboutSetting.MatchString(f.body):
		f.fatal = fmt.Errorf(
			"%s: the server refuses a setting (%s): change Settings of its row in fixtures/models.md", where, settings)
		return false
	}
	for _, p := range []struct {
		about *regexp.Regexp
		of    func(*parameters) *bool
	}{{aboutSealed, func(p *parameters) *bool { return &p.sealed }}, {aboutUsage,
		func(p *parameters) *bool { return &p.count }},
		{aboutStream, func(p *parameters) *bool { return &p.stream }},
		{aboutSchema, func(p *parameters) *bool { return &p.schema }},
		{aboutLimit, func(p *parameters) *bool { return &p.limit }}} {
		unsupported := p.about != aboutLimit || strings.Contains(f.body, "unsupported")
		if !*p.of(&sent.without) && unsupported && p.about.MatchString(f.body) {
			c.leaveOut(p.of)
			return true
		}
	}
	return false
}

// leaveOut leaves a parameter out of all further requests.
func (c *client) leaveOut(parameter func(*parameters) *bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*parameter(&c.refused) = true
}

// writesLess reports whether the requested output exceeds the model's limit.
func (f *failure) writesLess() bool {
	return (f.status == http.StatusBadRequest || f.status == http.StatusUnprocessableEntity) &&
		aboutLimit.MatchString(f.body) && tooMany.MatchString(f.body)
}

// maxRetryAfter is the longest delay in seconds that a server can state.
const maxRetryAfter = 1e9

// retryAfter returns the delay of Retry-After, in seconds or as a date, or of the more precise
// retry-after-ms of OpenAI and Azure. A date is relative to the server's clock if it states
// that.
func retryAfter(h http.Header, now time.Time) time.Duration {
	wait := func(seconds float64) time.Duration {
		return time.Duration(min(max(seconds, 0), maxRetryAfter) * float64(time.Second))
	}
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return wait(ms / 1000)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s == s {
		return wait(s)
	}
	t, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	if there, err := http.ParseTime(h.Get("Date")); err == nil {
		now = there
	}
	return wait(t.Sub(now).Seconds())
}

// oneLine returns the first 400 characters of a text as one line.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 400 {
		s = string(r[:400]) + "..."
	}
	return s
}
