package auditor

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"assay/audit"
)

// maxReply bounds what ReadReply looks at, in bytes. A reply that is longer is
// malformed: a verdict takes some hundred bytes.
const maxReply = 1 << 20

// ReadReply reads a reply to a task: a verdict on a case, or the violations of a
// module. It gives a review that is Answered, Refused or Malformed, with the reply in
// Raw; never Errored.
func ReadReply(task *audit.ReviewTask, reply string) audit.Review {
	read := readAnswer
	if len(task.Files) > 0 {
		read = readViolations
	}
	r := read(reply)
	r.Raw = reply
	return *r
}

// A said is a reply in the form in which it is read.
type said struct {
	text    string // behind the reasoning; where that never ends, what stands in it
	open    bool   // the reasoning never ends
	objects []span // complete ones, in order
}

// understand brings a reply into that form, or says why it can hold nothing of what is
// wanted.
func understand(reply, wanted string) (s said, problem string) {
	if len(reply) > maxReply {
		return s, fmt.Sprintf("the reply has %d bytes: expected a %s", len(reply), wanted)
	}
	whole := unquoted(strings.TrimSpace(strings.TrimPrefix(reply, "\ufeff")))
	s.text, s.open = withoutReasoning(whole)
	objects, cut := scanObjects(s.text)
	if !cut {
		s.objects = objects
	}
	switch {
	case whole == "":
		return s, "the reply is empty"
	case s.open:
		return s, "the reply ends within its reasoning: no " + wanted + " was given"
	case s.text == "":
		return s, "the reply holds nothing but reasoning: no " + wanted + " was given"
	case cut:
		return s, "the last JSON object is cut off"
	}
	return s, ""
}

// last gives the answer in the objects, each of which read reads. Of several that say
// the same the last counts; of such that contradict each other, only where the model
// says between them that it changed its mind: else one of them is quoted, and nobody
// can tell which, which is a clash. It gives nil and what is wrong with the last object
// where none is an answer.
func (s *said) last(clash string, read func(object string) (*audit.Review, string)) (answer *audit.Review, problem string) {
	end := 0 // where the last answer ends
	for _, o := range s.objects[max(0, len(s.objects)-maxObjects):] {
		a, why := read(o.of(s.text))
		switch {
		case a == nil:
			problem = why
			continue
		case answer != nil && a.Status == audit.Refused && !s.open:
			continue // refusal words beside an answer
		case answer != nil && contradict(answer, a) && (s.open || !changesMind.MatchString(s.text[end:o.from])):
			return malformed("%s", clash), ""
		}
		answer, end = a, o.to
	}
	return answer, problem
}

// agreed reads an object and those within it. It gives nil where read finds no answer,
// and says where several do not agree.
func agreed(object fields, read func(fields) *audit.Review) (answer *audit.Review, clash bool) {
	collect(object, 0, func(f fields) bool {
		a := read(f)
		if a == nil {
			return false
		}
		clash = clash || answer != nil && (a.Status != answer.Status || contradict(a, answer))
		answer = a
		return true
	})
	return answer, clash
}

// contradict reports whether two answers say different things.
func contradict(a, b *audit.Review) bool {
	return a.Status == audit.Answered && b.Status == audit.Answered &&
		(a.Verdict != b.Verdict || audit.FormatViolations(a.Violations) != audit.FormatViolations(b.Violations))
}

// changesMind matches what models write between a draft and their answer.
var changesMind = regexp.MustCompile(`(?i)\b(?:final(?:ly)?|on (?:\w+ )?reflection|wait|correct(?:ion|ed|ing)|actually|revis(?:e|ed|ing|ion)|on second thoughts?|reconsider\w*|changed? my|after all|no,|no:)`)

// unread tells of a reply that holds no answer: it is a refusal, or malformed.
func (s *said) unread(problem string) *audit.Review {
	if refuses(s.text) {
		return declined(s.text)
	}
	return malformed("%s", problem)
}

func declined(words string) *audit.Review {
	return &audit.Review{Status: audit.Refused, Detail: "the model declined: " + firstLine(words)}
}

func malformed(format string, args ...any) *audit.Review {
	return &audit.Review{Status: audit.Malformed, Detail: fmt.Sprintf(format, args...)}
}

// firstLine quotes the beginning of a text in a message.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 160 {
		s = string(r[:160]) + "..."
	}
	return fmt.Sprintf("%q", s)
}

// unquoted unwraps a reply that is one JSON string, as models give it that were asked
// for JSON and gave JSON of JSON.
func unquoted(text string) string {
	for range maxNesting {
		var inner string
		if !strings.HasPrefix(text, `"`) || json.Unmarshal([]byte(text), &inner) != nil || !strings.Contains(inner, "{") {
			break
		}
		text = strings.TrimSpace(inner)
	}
	return text
}
