package auditor

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"assay/audit/findings"
)

// The texts of the loop that a model is sent in addition to its prompt. Other texts make
// another auditor, so modelVersion must change with them.
const (
	goOn        = "Your answer was cut off at the limit of its length. Go on exactly where it stopped; repeat nothing."
	writeReport = "If you have read what you need, write the whole report now, from HEADER START to the SENTINEL, in the format above, and nothing else. If not, call a tool."
	closeNow    = "Your limit is nearly reached: no tool can be called any more. Write the whole report now, with what you have found, from HEADER START to the SENTINEL, in the format above, and nothing else."
	noToolLeft  = "error: no tool can be called any more: write the report now, with what you have found"
	takeNotes   = "Your context is nearly full: all above except the instructions is about to be removed. Call no tool now. Write notes for yourself: which files you have read, each finding so far with file, lines, function, CWE, severity, what is wrong and its trace, what you found to be safe, and what is still to be read."
	leftOut     = "[a result of %d bytes is left out to make room: call again, for less, if it is needed]"
	yourNotes   = "\n\nYou have worked on this before. Your notes:\n\n"
	youHave     = "\n\nThe project is in the folder . and you can only read it, by the tools list, read and search; you can call several at once. When you have read what you need, your last answer is the report and nothing else.\n\n"
)

// plainTools returns how a model asks for a tool in prose, for a server without function calls.
func plainTools() string {
	var b strings.Builder
	b.WriteString(
		"You ask for a tool by a line of this form, alone on its line, the arguments as one JSON object; several such lines ask for several. End your answer after them: the results come with the next message.\n\n")
	b.WriteString(
		"CALL read {\"path\": \"src/main.go\", \"from\": 1, \"lines\": 200}\n\nThe tools:\n")
	for _, t := range sourceTools {
		fmt.Fprintf(&b, "\n%s: %s\nIts arguments, as a JSON schema: %s\n", t.Function.Name,
			t.Function.Description, t.Function.Parameters)
	}
	return b.String()
}

// instructions returns the first message.
func (t *talk) instructions() string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(t.prompt) + t.assignment + youHave)
	if t.client.config.Model.Settings.TextTools {
		b.WriteString(plainTools() + "\n")
	}
	b.WriteString(findings.Instructions)
	if t.notes != "" {
		b.WriteString(yourNotes + t.notes)
	}
	return b.String()
}

// request returns the body of the next turn: the conversation so far, in tool messages
// or in plain text, as the server takes it.
func (t *talk) request() *request {
	plain := t.client.config.Model.Settings.TextTools
	messages := []chatMessage{says("user", t.instructions())}
	user := func(text string) { // servers want turns to alternate
		if last := &messages[len(messages)-1]; last.Role == "user" {
			joined := *last.Content + "\n\n" + text
			last.Content = &joined
			return
		}
		messages = append(messages, says("user", text))
	}
	for i := range t.steps {
		s := &t.steps[i]
		if plain {
			messages = append(messages, says("assistant", s.plainText()))
			for j, c := range s.calls {
				user(fmt.Sprintf("RESULT of %s %s:\n%s", c.Function.Name,
					c.Function.Arguments, s.results[j]))
			}
		} else {
			messages = append(messages, s.message())
			for j, c := range s.calls {
				result := says("tool", s.results[j])
				result.ToolCallID = c.ID
				messages = append(messages, result)
			}
		}
		if s.then != "" {
			user(s.then)
		}
	}
	if t.closing {
		user(closeNow)
	}
	r := t.client.request(t.maxTokens, messages...)
	if !plain {
		r.tools = sourceTools
	}
	return r
}

// message returns the model's message with its tool calls.
func (s *step) message() chatMessage {
	m := s.said.again()
	m.ToolCalls = slices.Clone(s.calls)
	for i := range m.ToolCalls {
		if a := &m.ToolCalls[i].Function.Arguments; !json.Valid([]byte(*a)) {
			*a = "{}" // servers refuse such a conversation; the result says what was wrong
		}
	}
	if len(s.calls) > 0 && s.said.Content == "" {
		m.Content = nil
	}
	return m
}

// plainText returns what the model said, for a server without tools.
func (s *step) plainText() string {
	return s.said.Content
}

func (f *failure) overlong() bool {
	return f.status >= 400 && f.status < 600 && f.status != 401 && overlong.MatchString(f.body)
}

var (
	// plainCall is a call as plainTools states it; marks of Markdown are passed over.
	plainCall = regexp.MustCompile(
		"(?m)^[\\s>*`-]*CALL[ \\t]+`?([A-Za-z_]\\w*)`?[ \\t]*(\\{.*\\})?[\\s`*]*$")
	// taggedCall is a call as models are trained to write it where the server reads none.
	taggedCall = regexp.MustCompile(`(?s)<tool_call>\s*(\{.*?\})\s*</tool_call>`)
)

// callsOf returns the calls of an answer: those that the server read, else those in its
// text. Each has an ID.
func (t *talk) callsOf(m *message, text string) []toolCall {
	calls := append([]toolCall(nil), m.ToolCalls...)
	if len(calls) == 0 {
		calls = textCalls(text)
	}
	calls = calls[:min(len(calls), maxCalls)]
	for i := range calls {
		c := &calls[i]
		c.Index, c.Type = 0, "function"
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d_%d", t.usage.Turns, i)
		}
		if strings.TrimSpace(string(c.Function.Arguments)) == "" {
			c.Function.Arguments = "{}"
		}
	}
	return calls
}

// textCalls returns the tool calls in a text.
func textCalls(text string) (calls []toolCall) {
	add := func(name, args string) {
		var c toolCall
		c.Function.Name, c.Function.Arguments = name, arguments(args)
		calls = append(calls, c)
	}
	for _, m := range plainCall.FindAllStringSubmatch(text, -1) {
		add(m[1], m[2])
	}
	for _, m := range taggedCall.FindAllStringSubmatch(text, -1) {
		var c struct {
			Name      string    `json:"name"`
			Arguments arguments `json:"arguments"`
		}
		if json.Unmarshal([]byte(m[1]), &c) == nil && c.Name != "" {
			add(c.Name, string(c.Arguments))
		}
	}
	return calls
}

// afterThought returns an answer without the reasoning that some models write into it.
func afterThought(text string) string {
	if i := strings.LastIndex(text, "</think>"); i >= 0 {
		return strings.TrimLeft(text[i+len("</think>"):], "\n")
	}
	return text
}

// whole reports whether a text contains a complete report.
func whole(text string) bool {
	return strings.Contains(text, "HEADER START") && strings.Contains(text, "SENTINEL")
}
