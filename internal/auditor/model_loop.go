package auditor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/findings"
	"assay/internal/events"
)

// A talk is one audit by a model, as it goes on.
type talk struct {
	*modelAuditor
	client   *client
	view     sourceView
	findings int     // how many a report may hold
	most     float64 // USD that it may cost; +Inf where nobody knows its price

	assignment string // what it is told of its task beside the prompt

	steps   []step // since the last notes
	notes   string // of the model, on what it did before its steps
	closing bool   // its limits are near, and it was told so
	asked   bool   // for a report, or for a better one

	maxTokens int64   // of one turn
	context   int64   // tokens that fit into one turn
	perToken  float64 // bytes, as the server counted the last turn

	usage  audit.Usage
	spent  float64 // USD, estimated where the server does not say
	served string

	text   string // the report, as far as it is written
	whole  bool   // the model has said all that it was asked for
	report audit.Report
	events bytes.Buffer
}

// A step is one turn, and what came of it.
type step struct {
	said    message
	calls   []toolCall
	results []string
	then    string // what we said after it
}

type talkEvent struct {
	Type      string       `json:"type"` // turn, result, fault, room
	Turn      int64        `json:"turn"`
	Said      string       `json:"said,omitempty"`
	Thought   string       `json:"thought,omitempty"`
	Name      string       `json:"name,omitempty"` // of the tool
	Arguments string       `json:"arguments,omitempty"`
	Bytes     int          `json:"bytes,omitempty"` // of the result, of which Text is the beginning
	Text      string       `json:"text,omitempty"`
	Finish    string       `json:"finish,omitempty"`
	Seconds   float64      `json:"seconds,omitempty"`
	Usage     *audit.Usage `json:"usage,omitempty"`
}

// maxEventText is the number of bytes of a result that its event keeps.
const maxEventText = 2000

// tell adds an event.
func (t *talk) tell(e talkEvent) {
	e.Turn = t.usage.Turns
	e.Said, e.Thought, e.Arguments = t.client.redact(e.Said), t.client.redact(e.Thought), t.client.redact(e.Arguments)
	e.Text = t.client.redact(e.Text)
	e.Text = strings.ToValidUTF8(e.Text[:min(len(e.Text), maxEventText)], "")
	b, err := json.Marshal(e)
	if err == nil {
		t.events.Write(append(b, '\n'))
	}
}

// audit asks the model until its report is there, and says why there is none.
func (t *talk) audit(ctx context.Context) (invalid string) {
	for {
		why, last := t.limit()
		if why != "" {
			return "no report within " + why
		}
		t.closing = t.closing || last
		if !t.closing && t.text == "" && t.tokens(t.request().bytes())+t.maxTokens > t.context {
			if err := t.compact(ctx); err != nil {
				return err.Error()
			}
			continue
		}
		answer, err := t.turn(ctx)
		if err != nil {
			return err.Error()
		}
		if done, invalid := t.take(ctx, answer); done {
			return invalid
		}
	}
}

// take handles an answer: it runs the tool calls, or takes the report. It returns whether the
// audit is done and why it is invalid.
func (t *talk) take(ctx context.Context, answer *choice) (done bool, invalid string) {
	said := answer.Message
	text := afterThought(said.Content)
	s := step{said: said, calls: t.callsOf(&said, text)}
	switch {
	case said.Refusal != "" && len(s.calls) == 0:
		return true, "the model declined: " + firstLine(said.Refusal)
	case answer.FinishReason == "content_filter":
		return true, "the provider's content filter cut the answer off"
	case len(s.calls) > 0 && !whole(text):
		t.asked, t.text = false, ""
		for i := range s.calls {
			s.results = append(s.results, t.result(ctx, &s.calls[i]))
		}
	case answer.FinishReason == "length" && !whole(text):
		t.text += text
		s.then = goOn
	default:
		t.text += text
		invalid := t.read()
		why := cmp.Or(invalid, t.report.CutShort)
		if why == "" || t.asked { // one that ended early again counts as any agent's that does
			t.whole = true
			return true, invalid
		}
		t.asked, t.text = true, ""
		s.then = "That is no report that can be read: " + audit.OneLine(why, 500) + ".\n" +
			writeReport
	}
	t.steps = append(t.steps, s)
	return false, ""
}

// read parses the report.
func (t *talk) read() (invalid string) {
	t.text = t.client.redact(t.text)
	t.report, invalid = readReport(t.entry.Name, []byte(t.text), findings.Text, nil, t.findings)
	return invalid
}

// result runs one tool call and returns its result.
func (t *talk) result(ctx context.Context, c *toolCall) string {
	text := noToolLeft
	if !t.closing {
		text = t.view.call(ctx, c.Function.Name, string(c.Function.Arguments))
	}
	t.tell(talkEvent{Type: "result", Name: c.Function.Name, Arguments: string(c.Function.Arguments),
		Bytes: len(text), Text: text})
	return text
}

// tokens estimates the tokens of so many bytes.
func (t *talk) tokens(bytes int) int64 { return int64(float64(bytes)/t.perToken) + overheadTokens }

// limit says which limit leaves no further turn, if one does, and whether the next
// turn is one of the last: then there is room for a report, and for little else.
func (t *talk) limit() (why string, last bool) {
	l, used := t.entry.Limits, t.usage
	in := t.tokens(t.request().bytes())
	next := in + t.maxTokens
	usd := price(t.chat.Model, float64(in), float64(t.maxTokens))
	switch {
	case used.Turns >= int64(l.Turns):
		return fmt.Sprintf("its limit of %d turns", l.Turns), true
	case used.TokensIn+used.TokensOut+next > l.Tokens:
		return fmt.Sprintf("its limit of %d tokens: it used %d, and the next turn may take %d",
			l.Tokens, used.TokensIn+used.TokensOut, next), true
	case t.spent+usd > t.most:
		return fmt.Sprintf("its limit of %g USD: it spent %.4f, and the next turn may cost %.4f",
			t.most, t.spent, usd), true
	}
	return "", used.Turns >= int64(l.Turns)-2 || used.TokensIn+used.TokensOut+3*next > l.Tokens ||
		t.spent+3*usd > t.most
}

// How often a turn is tried again after a fault, once the model has answered and
// before it ever has: what never worked is more likely wrong than ill.
const (
	maxFaults      = 8
	maxFirstFaults = 2
	maxPause       = time.Minute
)

// turn asks the model once. What broke off, or was put off by the server, is tried
// again: nothing of the audit is lost.
func (t *talk) turn(ctx context.Context) (*choice, error) {
	faults, adapted := 0, 0
	for {
		body := t.request()
		got, a, f := t.client.exchange(ctx, body)
		if f != nil {
			a = f.attempt
		}
		t.count(&a)
		if f == nil {
			return t.answered(got, &a, body.bytes())
		}
		t.tell(talkEvent{Type: "fault", Text: f.text, Seconds: a.Latency.Seconds()})
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, errLate):
			return nil, fmt.Errorf("no report within %s", t.entry.Timeout)
		case cause != nil:
			return nil, fmt.Errorf("stopped: %w", cause)
		case f.overlong():
			if !t.shrink(body.bytes()) {
				return nil, fmt.Errorf(
					"the context of the model is too small for its instructions and one result: %s",
					f.text)
			}
			continue
		case f.writesLess() && t.maxTokens > leastTokens:
			t.maxTokens /= 2
			continue
		case adapted < maxAdaptions && t.client.adapts(f, body):
			adapted++
			continue
		case f.fatal != nil:
			return nil, f.fatal
		case f.declined:
			return nil, fmt.Errorf("the provider turned the input down: %s", f.text)
		case !f.attempt.Transient || t.usage.Turns == 0 && f.lost:
			return nil, errors.New(f.text)
		}
		faults++
		most := maxFaults
		if asked := f.status == http.StatusTooManyRequests ||
			f.attempt.RetryAfter > 0; t.usage.Turns == 0 && !asked {
			most = maxFirstFaults
		}
		if faults > most {
			return nil, fmt.Errorf("%s (%d times in a row)", f.text, faults)
		}
		wait := min(time.Second<<(faults-1), maxPause)
		if err := t.pause(ctx, max(wait, f.attempt.RetryAfter)); err != nil {
			return nil, fmt.Errorf("%s: %w", f.text, err)
		}
	}
}

// answered checks a reply and updates the usage.
func (t *talk) answered(got *reply, a *audit.Attempt, sent int) (*choice, error) {
	t.usage.Turns++
	model := &t.chat.Model
	if served := t.client.redact(a.Model); served != "" {
		t.served = served
		if !events.SameModel(model.ID, served, append(model.Aliases, model.Name)) {
			return nil, fmt.Errorf(
				"another model answered: %s was asked, and %s answered; where both are one "+
					"model, name it under Aliases of its row in fixtures/models.md",
				model.ID, served)
		}
	}
	// some count cached tokens elsewhere: the estimate stays a sane one
	if n := a.Usage.TokensIn; n > 0 {
		t.perToken = min(max(float64(sent)/float64(n), bytesPerTokenWorst), 2*bytesPerToken)
	}
	c := got.answer
	u := a.Usage
	t.tell(talkEvent{Type: "turn", Said: c.Message.Content, Thought: c.Message.Thought,
		Finish: c.FinishReason, Seconds: a.Latency.Seconds(), Usage: &u})
	return c, nil
}

// count adds what an attempt consumed. What the server turned down costs nothing. If the
// connection broke, the most that the request can have cost counts against the limit.
func (t *talk) count(a *audit.Attempt) {
	u := a.Usage
	u.Priced = u.Priced || a.HTTPStatus >= 400 && u == audit.Usage{}
	t.usage = t.usage.Add(u)
	t.spent += u.USD
	if !u.Priced {
		t.spent += u.Unsure
	}
}

// shrink leaves results out after the server has said that so many bytes are too
// much.
func (t *talk) shrink(sent int) bool {
	t.context = min(t.context, t.tokens(sent)) * 3 / 4
	t.maxTokens = min(t.maxTokens, max(t.context/4, 256))
	return t.leaveOut(t.context / 2)
}

// leaveOut leaves results out, the oldest first, until no more than so many tokens
// are sent. It reports whether it found any.
func (t *talk) leaveOut(tokens int64) (some bool) {
	for i := range t.steps {
		for j, r := range t.steps[i].results {
			if t.tokens(t.request().bytes()) <= tokens {
				return some
			}
			if gone := fmt.Sprintf(leftOut, len(r)); len(gone) < len(r) {
				t.steps[i].results[j], some = gone, true
			}
		}
	}
	return some
}

// compact makes room: the model writes notes, which take the place of all that was
// said before.
func (t *talk) compact(ctx context.Context) error {
	before := t.tokens(t.request().bytes())
	t.leaveOut(t.context / 2)
	if len(t.steps) == 0 {
		return fmt.Errorf(
			"the context of %d tokens is too small: the instructions alone take %d, and an answer may take %d", t.context, before, t.maxTokens)
	}
	t.steps[len(t.steps)-1].then = takeNotes
	answer, err := t.turn(ctx)
	if err != nil {
		return err
	}
	t.steps[len(t.steps)-1].then = ""
	if notes := strings.TrimSpace(afterThought(answer.Message.Content)); notes != "" {
		t.notes, t.steps = t.client.redact(notes), nil
	}
	now := t.tokens(t.request().bytes())
	t.tell(talkEvent{Type: "room", Text: fmt.Sprintf("%d tokens became %d", before, now)})
	if now+t.maxTokens > t.context {
		return fmt.Errorf(
			"the context of %d tokens is too small for the model's notes: they and the instructions take %d", t.context, now)
	}
	return nil
}
