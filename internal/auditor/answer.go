package auditor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"assay/audit"
)

// maxReply bounds what ReadReply looks at, in bytes. A reply that is longer is
// malformed: a verdict takes some hundred bytes.
const maxReply = 1 << 20

// ReadReply returns the verdict of a reply: a review that is Answered, Refused or
// Malformed, with the reply in Raw; never Errored.
func ReadReply(reply string) audit.Review {
	r := verdicts.read(strings.ToValidUTF8(reply, "\uFFFD"))
	r.Raw = reply
	return *r
}

// A question is what a task asks, and how its answer is told.
type question struct {
	wanted  string                                       // in messages
	members func(fields) (*audit.Review, string)         // reads an object's own; nil and the reason where they are no answer
	text    func(text string) *audit.Review              // reads what is no object; nil where it holds no answer
	beside  func(text string, answer *audit.Review) bool // reports whether the text beside the objects contradicts them
	open    bool                                         // reasoning that never ends may end in the answer

	clash, clashWithin, none string // why it is malformed: two answers, two in one object, none
}

// read finds the answer in a reply: in a JSON object that gives one or, without such an
// object, in the text. Around it may stand reasoning, prose and code fences, and its
// syntax may be broken in the ways that models break it, but it has to be complete: what
// was cut off is malformed, never guessed.
func (q *question) read(reply string) *audit.Review {
	if len(reply) > maxReply {
		return malformed("the reply has %d bytes: expected a %s", len(reply), q.wanted)
	}
	whole := unquoted(strings.TrimSpace(strings.TrimPrefix(reply, "\ufeff")))
	text, open := withoutReasoning(whole)
	objects, beside, cut := scanObjects(text)
	answer, end, why := q.last(text, objects, open)
	switch {
	case whole == "":
		return malformed("the reply is empty")
	case open && q.open && answer != nil && nothing.MatchString(text[end:]):
		return answer
	case open:
		return malformed("the reply ends within its reasoning: no %s was given", q.wanted)
	case text == "":
		return malformed("the reply holds nothing but reasoning: no %s was given", q.wanted)
	case cut:
		return malformed("the last JSON object is cut off")
	}
	if answer == nil {
		answer = q.text(text)
	}
	switch {
	case answer == nil && refuses(text):
		return declined(text)
	case answer == nil:
		return malformed("%s", cmp.Or(why, q.none+firstLine(text)))
	case answer.Status == audit.Answered && q.beside(beside, answer):
		return malformed("%s", q.clash)
	}
	return answer
}

// nothing matches what may follow an answer: the end of a fence, and tokens that a server
// should have kept to itself.
var nothing = regexp.MustCompile("^(?:[\\s`~]|<\\|\\w+\\|>|</\\w+>)*$")

// last gives the answer in the objects, and where it ends. Of several that say the same
// the last counts; of such that contradict each other, only where the model says between
// them that it changed its mind: else one of them is quoted, and nobody can tell which,
// which is a clash. It gives nil and what is wrong with the last object where none is an
// answer.
func (q *question) last(text string, objects []span, open bool) (answer *audit.Review, end int, problem string) {
	for _, o := range objects[max(0, len(objects)-maxObjects):] {
		mend := objects[len(objects)-1].to-o.from <= maxMended
		a, why := q.object(text[o.from:o.to], mend)
		switch {
		case a == nil:
			problem = why
			continue
		case answer != nil && a.Status == audit.Refused && !open:
			continue // refusal words beside an answer
		case answer != nil && contradict(answer, a) && (open || !changesMind.MatchString(text[end:o.from])):
			return malformed("%s", q.clash), o.to, ""
		}
		answer, end = a, o.to
	}
	return answer, end, problem
}

// object reads an object and, where that gives no answer, those within it; several have
// to agree. It gives nil and the reason where there is no answer.
func (q *question) object(text string, mend bool) (*audit.Review, string) {
	object, err := decode(text, mend)
	if err != nil {
		return nil, fmt.Sprintf("the JSON object cannot be read: %v", err)
	}
	var answer *audit.Review
	for _, a := range q.within(object, 0) {
		if answer != nil && (a.Status != answer.Status || contradict(a, answer)) {
			return malformed("%s", q.clashWithin), ""
		}
		answer = a
	}
	if answer != nil {
		return answer, ""
	}
	own := fold(object)
	if v := own.first(explanationKeys).String(); refuses(v) {
		return declined(v), ""
	}
	return q.members(own)
}

// within gives the answer of an object or, where it has none, of those within it, where
// some wrap it: {"evaluation": {"verdict": ...}}.
func (q *question) within(v gjson.Result, depth int) (found []*audit.Review) {
	if v.IsObject() {
		if a, _ := q.members(fold(v)); a != nil {
			return []*audit.Review{a}
		}
	}
	if depth < maxNesting && (v.IsObject() || v.IsArray()) {
		v.ForEach(func(_, inner gjson.Result) bool {
			found = append(found, q.within(inner, depth+1)...)
			return true
		})
	}
	return found
}

// contradict reports whether two answers say different things.
func contradict(a, b *audit.Review) bool {
	return a.Status == audit.Answered && b.Status == audit.Answered && a.Verdict != b.Verdict
}

// changesMind matches what models write between a draft and their answer.
var changesMind = regexp.MustCompile(`(?i)\b(?:final(?:ly)?|on (?:\w+ )?reflection|wait|correct(?:ion|ed|ing)|actually|revis(?:e|ed|ing|ion)|on second thoughts?|reconsider\w*|changed? my|after all|no,|no:)`)

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
