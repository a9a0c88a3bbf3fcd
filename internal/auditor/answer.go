package auditor

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"assay/audit"

	"github.com/kaptinlin/jsonrepair"
)

// maxReply bounds what ReadAnswer looks at, in bytes. A reply that is longer is
// malformed: a verdict takes some hundred bytes.
const maxReply = 1 << 20

// ReadAnswer reads a reviewer's reply. It gives a review that is Answered,
// Refused or Malformed, with the reply in Raw; never Errored.
//
// A reply answers when it holds a JSON object with a verdict that is one of the
// words of verdictWords. Of several that say the same the last counts; that
// contradict each other, only where the model says between them that it changed
// its mind: else one of them is quoted, and nobody can tell which. Around it may
// stand reasoning, prose and code fences, and its syntax may be broken in the ways
// that models break it, but it has to be complete: what was cut off is malformed,
// never guessed. Without any object, a line "Verdict: bad", a <verdict> element, a
// sentence "The fragment is bad." or a reply of that one word answers too. A verdict
// good that names requirements that are violated is malformed.
func ReadAnswer(reply string) audit.Review {
	r := readAnswer(reply)
	r.Raw = reply
	return r
}

func readAnswer(reply string) audit.Review {
	if len(reply) > maxReply {
		return malformed("the reply has %d bytes: expected a verdict with an explanation", len(reply))
	}
	text := strings.TrimSpace(strings.TrimPrefix(reply, "\ufeff"))
	if text == "" {
		return malformed("the reply is empty")
	}
	text, open := withoutReasoning(unquoted(text))
	switch {
	case open:
		if a := readOpen(text); a != nil {
			return *a
		}
		return malformed("the reply ends within its reasoning: no verdict was given")
	case text == "":
		return malformed("the reply holds nothing but reasoning: no verdict was given")
	}
	objects, cut := scanObjects(text)
	if cut {
		return malformed("the last JSON object is cut off")
	}
	a, problem := readObjects(text, objects)
	if a != nil {
		return *a
	}
	if a := readLines(text); a != nil {
		return *a
	}
	if refuses(text) {
		return audit.Review{Status: audit.Refused, Detail: "the model declined: " + firstLine(text)}
	}
	if problem == "" {
		problem = "no JSON object and no verdict line: " + firstLine(text)
	}
	return malformed("%s", problem)
}

// readObjects reads the objects of a text. It gives nil and what is wrong with the
// last where none is an answer.
func readObjects(text string, objects []span) (answer *audit.Review, problem string) {
	contradiction := malformed("it gives two verdicts that contradict each other")
	end := 0 // where the last answer ends
	for _, o := range lastObjects(objects) {
		a, why := readObject(o.of(text))
		switch {
		case a == nil:
			problem = why
			continue
		case answer != nil && a.Status == audit.Refused:
			continue // refusal words beside an answer
		case contradict(answer, a) && !changesMind.MatchString(text[end:o.from]):
			return &contradiction, ""
		}
		answer, end = a, o.to
	}
	if answer == nil || answer.Status != audit.Answered {
		return answer, problem
	}
	for _, m := range outsideLine.FindAllStringSubmatch(without(text, objects), -1) {
		if l := verdictPhrase(m[1]); l != "" && l != answer.Verdict {
			return &contradiction, ""
		}
	}
	return answer, ""
}

func contradict(a, b *audit.Review) bool {
	return a != nil && a.Status == audit.Answered && b.Status == audit.Answered && a.Verdict != b.Verdict
}

// changesMind matches what models write between a draft and their answer.
var changesMind = regexp.MustCompile(`(?i)\b(?:final(?:ly)?|on (?:\w+ )?reflection|wait|correct(?:ion|ed|ing)|actually|revis(?:e|ed|ing|ion)|on second thoughts?|reconsider\w*|changed? my|after all|no,|no:)`)

// readOpen reads reasoning that never came to its end: an answer is there when it
// ends with an object, and no other object in it says otherwise.
func readOpen(text string) *audit.Review {
	objects, cut := scanObjects(text)
	if cut || len(objects) == 0 || len(objects) > maxObjects {
		return nil
	}
	end := objects[len(objects)-1]
	if strings.Trim(endMarks.ReplaceAllString(text[end.to:], ""), " \t\r\n`~") != "" {
		return nil
	}
	answer, _ := readObject(end.of(text))
	for _, o := range objects {
		if a, _ := readObject(o.of(text)); answer == nil || a != nil && contradict(a, answer) {
			return nil
		}
	}
	return answer
}

// endMarks are tokens that a server should have kept to itself.
var endMarks = regexp.MustCompile(`<\|\w+\|>|</\w+>`)

func malformed(format string, args ...any) audit.Review {
	return audit.Review{Status: audit.Malformed, Detail: fmt.Sprintf(format, args...)}
}

// firstLine quotes the beginning of a text in a message.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 160 {
		s = string(r[:160]) + "..."
	}
	return fmt.Sprintf("%q", s)
}

// escapedObject finds an object whose very quotes are escaped; unescape takes one level
// of escapes back.
var (
	escapedObject = regexp.MustCompile(`\{\s*(?:\\n\s*)*\\"`)
	plainObject   = regexp.MustCompile(`\{\s*"`)
	unescape      = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r")
)

// unquoted unwraps a reply that is one JSON string, or what such a string holds,
// as models give it that were asked for JSON and gave JSON of JSON.
func unquoted(text string) string {
	for range maxNesting {
		var inner string
		if !strings.HasPrefix(text, `"`) || json.Unmarshal([]byte(text), &inner) != nil || !strings.Contains(inner, "{") {
			break
		}
		text = strings.TrimSpace(inner)
	}
	if escapedObject.MatchString(text) && !plainObject.MatchString(text) {
		return unescape.Replace(text)
	}
	return text
}

// readObject reads one complete object. It gives nil and the reason when the
// object is no answer.
func readObject(text string) (*audit.Review, string) {
	fields, err := decode(text)
	if err != nil {
		return nil, fmt.Sprintf("the JSON object cannot be read: %v", err)
	}
	if r := readFields(fields); r != nil {
		return r, ""
	}
	// Some wrap the answer: {"evaluation": {"verdict": ...}}.
	var inner []*audit.Review
	collect(fields, 0, &inner)
	for _, r := range inner {
		if r.Verdict != inner[0].Verdict || r.Status != inner[0].Status {
			return nil, "the JSON object holds several verdicts that contradict one another"
		}
	}
	if len(inner) > 0 {
		return inner[len(inner)-1], ""
	}
	if v, ok := textOf(fields, explanationKeys); ok && refuses(v) {
		return &audit.Review{Status: audit.Refused, Detail: "the model declined: " + firstLine(v)}, ""
	}
	if v, ok := textOf(fields, verdictKeys); ok {
		return nil, fmt.Sprintf("the verdict %s is none of the words %s", firstLine(v), strings.Join(slices.Concat(sortedKeys(verdictWords[audit.Good]), sortedKeys(verdictWords[audit.Bad])), ", "))
	}
	return nil, "the JSON object holds no verdict"
}

// maxNesting bounds how deep an answer is looked for.
const maxNesting = 4

func collect(v any, depth int, out *[]*audit.Review) {
	if depth > maxNesting {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if depth > 0 {
			if r := readFields(v); r != nil {
				*out = append(*out, r)
				return
			}
		}
		for _, k := range sortedKeys(v) {
			if text, ok := v[k].(string); ok {
				collectText(k, text, depth+1, out)
				continue
			}
			collect(v[k], depth+1, out)
		}
	case []any:
		for _, e := range v {
			collect(e, depth+1, out)
		}
	}
}

// collectText looks into a text that holds an object, as models give it that
// encode a field twice. What an explanation quotes is not looked into.
func collectText(key, text string, depth int, out *[]*audit.Review) {
	if explanationKeys[normalKey(key)] || !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return
	}
	objects, cut := scanObjects(text)
	if cut || len(objects) != 1 {
		return
	}
	if fields, err := decode(objects[0].of(text)); err == nil {
		collect(fields, depth, out)
	}
}

// Bounds of what is mended: the time that it takes grows with the square of the
// text, and a reply made for it would hold a run up for minutes.
const (
	maxMended  = 32 << 10 // bytes of an object
	maxDepth   = 64       // of brackets within brackets
	maxObjects = 64       // of a reply, from the last
)

// deepest gives how deep brackets stand within brackets; those in strings count
// too.
func deepest(text string) int {
	depth, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '{', '[':
			depth++
			most = max(most, depth)
		case '}', ']':
			depth--
		}
	}
	return most
}

// decode reads an object, mended where it has to be. Mending never completes: the
// text is known to be complete.
func decode(text string) (map[string]any, error) {
	fields, err := decodeStrict(text)
	if err == nil {
		return fields, nil
	}
	if len(text) > maxMended || deepest(text) > maxDepth {
		return nil, err
	}
	mended, mendErr := jsonrepair.Repair(text)
	if mendErr != nil {
		return nil, err
	}
	return decodeStrict(mended)
}

func decodeStrict(text string) (map[string]any, error) {
	var fields map[string]any
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return nil, err
	}
	if contradicts(text) {
		return nil, fmt.Errorf("it gives the verdict twice, and not the same")
	}
	return fields, nil
}

// contradicts reports whether an object's own verdict key stands there twice
// with different values: encoding/json would take the last without a word.
func contradicts(text string) bool {
	var members map[member]json.RawMessage
	if json.Unmarshal([]byte(text), &members) != nil {
		return false
	}
	seen := map[string]string{}
	for m, value := range members {
		k := normalKey(*m.name)
		if !verdictKeys[k] {
			continue
		}
		if old, ok := seen[k]; ok && old != string(value) {
			return true
		}
		seen[k] = string(value)
	}
	return false
}

// A member is the name of a member of an object: each is another, though they be the same.
type member struct{ name *string }

// UnmarshalText is called for each member in turn.
func (m *member) UnmarshalText(name []byte) error {
	s := string(name)
	m.name = &s
	return nil
}
