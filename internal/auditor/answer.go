package auditor

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/kaptinlin/jsonrepair"
	"github.com/tidwall/gjson"

	"assay/audit"
)

// Bounds of what is looked at in one reply.
const (
	maxReply   = 1 << 20 // bytes: a verdict takes some hundred
	maxObjects = 64      // objects, from the last
	// bytes to the end of the last object: repairing takes time by the square of its text
	maxMended = 32 << 10
	// braces that stand open: looking for the end of each costs a pass over the rest
	maxStray   = 64
	maxNesting = 4   // how deep an answer is looked for
	maxListed  = 100 // requirements or weaknesses that an answer may name
)

// ReadReply returns the verdict of a reply: a review that is Answered, Refused or Malformed, with
// the reply in Raw; never Errored. It reads JSON, JSON that can be repaired, a line "Verdict: bad"
// and a reply of one word. A reply that was cut off, and one that gives several verdicts that
// differ, is Malformed.
func ReadReply(reply string) audit.Review {
	r := readReply(strings.ToValidUTF8(reply, "\uFFFD"))
	r.Raw = reply
	return *r
}

func readReply(reply string) *audit.Review {
	if len(reply) > maxReply {
		return malformed("the reply has %d bytes: expected a verdict", len(reply))
	}
	reply = strings.TrimSpace(strings.TrimPrefix(reply, "\ufeff"))
	text, open := withoutReasoning(reply)
	objects, beside, truncated := scanObjects(text)
	switch {
	case reply == "":
		return malformed("the reply is empty")
	case open:
		return malformed("the reply ends within its reasoning: no verdict was given")
	case text == "":
		return malformed("the reply holds nothing but reasoning: no verdict was given")
	case truncated:
		return malformed("the last JSON object is cut off")
	}
	answer, problem := readObjects(text, objects)
	if answer == nil {
		answer = readText(text)
	}
	switch {
	case answer == nil && refuses(text):
		return declined(text)
	case answer == nil:
		return malformed("%s", cmp.Or(problem, "no JSON object and no verdict line: "+
			firstLine(text)))
	case answer.Status == audit.Answered && otherVerdict(beside, answer.Verdict):
		return malformed("it gives two verdicts that contradict each other")
	}
	return answer
}

// readObjects returns the answer that the objects of a text agree on. If none of them holds one,
// it returns nil and what is wrong with the last of them.
func readObjects(text string, objects []span) (answer *audit.Review, problem string) {
	for _, o := range objects[max(0, len(objects)-maxObjects):] {
		mend := objects[len(objects)-1].to-o.from <= maxMended
		switch a, why := readObject(text[o.from:o.to], mend); {
		case a == nil:
			problem = why
		case answer != nil && a.Status == audit.Refused: // refusal words beside an answer
		case answer != nil && contradict(answer, a):
			return malformed("it gives two verdicts that contradict each other"), ""
		default:
			answer = a
		}
	}
	return answer, problem
}

// readObject returns the answer of an object or, if it has none, of the objects within it.
// Several have to agree. If there is none, it returns nil and the reason.
func readObject(text string, mend bool) (answer *audit.Review, problem string) {
	object, err := decode(text, mend)
	if err != nil {
		return nil, fmt.Sprintf("the JSON object cannot be read: %v", err)
	}
	for _, a := range answersIn(object, 0) {
		if answer != nil && (a.Status != answer.Status || contradict(a, answer)) {
			return malformed("the JSON object holds several verdicts that contradict one another"),
				""
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
	return readVerdict(own)
}

// answersIn returns the answer of an object or, if it has none, those of the objects within it:
// {"evaluation": {"verdict": ...}}.
func answersIn(v gjson.Result, depth int) (found []*audit.Review) {
	if v.IsObject() {
		if a, _ := readVerdict(fold(v)); a != nil {
			return []*audit.Review{a}
		}
	}
	if depth < maxNesting && (v.IsObject() || v.IsArray()) {
		v.ForEach(func(_, inner gjson.Result) bool {
			found = append(found, answersIn(inner, depth+1)...)
			return true
		})
	}
	return found
}

// contradict reports whether two answers give different verdicts.
func contradict(a, b *audit.Review) bool {
	return a.Status == audit.Answered && b.Status == audit.Answered && a.Verdict != b.Verdict
}

func declined(words string) *audit.Review {
	return &audit.Review{Status: audit.Refused, Detail: "the model declined: " + firstLine(words)}
}

func malformed(format string, args ...any) *audit.Review {
	return &audit.Review{Status: audit.Malformed, Detail: fmt.Sprintf(format, args...)}
}

// firstLine returns the beginning of a text, quoted, for a message.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 160 {
		s = string(r[:160]) + "..."
	}
	return fmt.Sprintf("%q", s)
}

// Marks of reasoning before an answer. Other marks are replaced by the first of them.
var (
	otherMarks = strings.NewReplacer("[THINK]", "<think>", "[/THINK]", "</think>",
		"◁think▷", "<think>", "◁/think▷", "</think>",
		"<|START_THINKING|>", "<think>", "<|END_THINKING|>", "</think>",
		"<seed:think>", "<think>", "</seed:think>", "</think>",
		"<|begin_of_thought|>", "<think>", "<|end_of_thought|>", "</think>",
		"<|channel|>analysis<|message|>", "<think>", "<|channel|>final<|message|>", "</think>")
	otherNames = regexp.MustCompile(
		`(?i)<(/?)(?:think|thinking|thought|reason|reasoning|reflection|scratchpad)>`)
	reasoning = regexp.MustCompile(`(?s)<think>.*?</think>`)
)

// withoutReasoning returns a reply without the reasoning before its answer. open reports whether
// the reasoning never came to its end.
func withoutReasoning(reply string) (rest string, open bool) {
	if gjson.Valid(reply) { // marks in it are quoted
		return reply, false
	}
	marked := otherNames.ReplaceAllString(otherMarks.Replace(reply), "<${1}think>")
	marked = reasoning.ReplaceAllString(marked, "")
	// some templates put the opening mark into the prompt
	if i := strings.LastIndex(marked, "</think>"); i >= 0 {
		marked = marked[i+len("</think>"):]
	}
	return strings.TrimSpace(marked), strings.Contains(marked, "<think>")
}

type span struct{ from, to int }

// scanObjects returns the complete objects of a text, from outermost brace to outermost brace, in
// order, and the text beside them. truncated reports whether an object that looks like an answer
// breaks off: it may have been the one that counts.
func scanObjects(text string) (objects []span, beside string, truncated bool) {
	var rest strings.Builder
	done, stray := 0, 0
	for i := 0; stray <= maxStray; {
		open := strings.IndexByte(text[i:], '{')
		if open < 0 {
			break
		}
		open += i
		end := closing(text[open:])
		switch {
		case end > 0:
			i = open + end
			objects = append(objects, span{open, i})
			rest.WriteString(text[done:open] + "\n")
			done = i
		case beginning.MatchString(text[open:]):
			return nil, text, true
		default: // a brace in prose or in quoted code
			stray++
			i = open + 1
		}
	}
	return objects, rest.String() + text[done:], false
}

// beginning matches how an object begins: with the name of a field and a colon, or cut
// off before the colon. Code and prose rarely do.
var beginning = regexp.MustCompile(
	`^\{\s*(?:$|\w{1,40}\s*:|["“][\w -]{0,40}(?:$|["”]\s*(?:$|:))|'[\w -]{0,40}(?:$|'\s*(?:$|:)))`)

// closing returns the length of the object at the beginning of s, or -1. Braces
// within strings do not count. An object whose first name is in single quotes is
// one as Python prints it: there a single quote closes a string when what may
// follow a string follows it, so that an apostrophe does not.
func closing(s string) int {
	python := strings.HasPrefix(strings.TrimLeft(s[1:], " \t\r\n"), "'")
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote == '\'' && c == '\'':
			if next := strings.TrimLeft(s[i+1:min(len(s), i+40)], " \t\r\n"); next != "" &&
				strings.IndexByte(",:}]", next[0]) >= 0 {
				quote = 0
			}
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || python && c == '\'':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// decode parses an object. If mend is set, its syntax may be broken in the ways that models break
// it. A name that occurs twice is an error.
func decode(text string, mend bool) (gjson.Result, error) {
	valid := func(text string) error {
		var object map[string]any
		return json.Unmarshal([]byte(text), &object, jsontext.AllowInvalidUTF8(true))
	}
	err := valid(text)
	if err != nil && mend {
		if mended, mendErr := jsonrepair.Repair(text); mendErr == nil {
			text, err = mended, valid(mended)
		}
	}
	if err != nil {
		return gjson.Result{}, err
	}
	return gjson.Parse(text), nil
}
