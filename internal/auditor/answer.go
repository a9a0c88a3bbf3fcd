package auditor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"assay/audit"

	"github.com/kaptinlin/jsonrepair"
	"github.com/tidwall/gjson"
)

// maxReply bounds what ReadReply looks at, in bytes. A reply that is longer is
// malformed: a verdict takes some hundred bytes.
const maxReply = 1 << 20

// ReadReply reads a reply to a task: a verdict on a case, or the violations of a
// module. It gives a review that is Answered, Refused or Malformed, with the reply in
// Raw; never Errored.
func ReadReply(task *audit.ReviewTask, reply string) (r audit.Review) {
	if len(task.Files) > 0 {
		r = readViolations(reply)
	} else {
		r = readAnswer(reply)
	}
	r.Raw = reply
	return r
}

// readAnswer reads a verdict. A reply answers when it holds a JSON object with a verdict that is one of the
// words of verdictWords. Of several that say the same the last counts; that
// contradict each other, only where the model says between them that it changed
// its mind: else one of them is quoted, and nobody can tell which. Around it may
// stand reasoning, prose and code fences, and its syntax may be broken in the ways
// that models break it, but it has to be complete: what was cut off is malformed,
// never guessed. Without any object, a line "Verdict: bad", a <verdict> element, a
// sentence "The fragment is bad." or a reply of that one word answers too. A verdict
// good that names requirements that are violated is malformed.
func readAnswer(reply string) audit.Review {
	text, objects, problem := answerIn(reply, "verdict")
	if problem != "" {
		if a := readOpen(text); a != nil {
			return *a
		}
		return malformed("%s", problem)
	}
	a, problem := readObjects(text, objects)
	if a != nil {
		return *a
	}
	if a := readLines(text); a != nil {
		return *a
	}
	return unread(text, cmp.Or(problem, "no JSON object and no verdict line: "+firstLine(text)))
}

// answerIn gives what of a reply stands behind its reasoning, and the objects in it. It
// says why there can be no answer, of what is wanted, but in reasoning that never ends,
// which is the text then.
func answerIn(reply, wanted string) (text string, objects []span, problem string) {
	if len(reply) > maxReply {
		return "", nil, fmt.Sprintf("the reply has %d bytes: expected a %s", len(reply), wanted)
	}
	whole := unquoted(strings.TrimSpace(strings.TrimPrefix(reply, "\ufeff")))
	text, open := withoutReasoning(whole)
	switch {
	case whole == "":
		return "", nil, "the reply is empty"
	case open:
		return text, nil, "the reply ends within its reasoning: no " + wanted + " was given"
	case text == "":
		return "", nil, "the reply holds nothing but reasoning: no " + wanted + " was given"
	}
	objects, cut := scanObjects(text)
	if cut {
		return "", nil, "the last JSON object is cut off"
	}
	return text, objects, ""
}

// unread tells of a reply that holds no answer: it is a refusal, or malformed.
func unread(text, problem string) audit.Review {
	if refuses(text) {
		return audit.Review{Status: audit.Refused, Detail: "the model declined: " + firstLine(text)}
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
	var answers []*audit.Review
	collect(fields, 0, func(fields map[string]any) bool {
		r := readFields(fields)
		if r != nil {
			answers = append(answers, r)
		}
		return r != nil
	})
	for _, r := range answers {
		if r.Verdict != answers[0].Verdict || r.Status != answers[0].Status {
			return nil, "the JSON object holds several verdicts that contradict one another"
		}
	}
	if len(answers) > 0 {
		return answers[len(answers)-1], ""
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

// collect gives take an object and those within it, where some wrap the answer:
// {"evaluation": {"verdict": ...}}. It looks no deeper where take says that it has it.
func collect(v any, depth int, take func(map[string]any) bool) {
	if depth > maxNesting {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if take(v) {
			return
		}
		for _, k := range sortedKeys(v) {
			if text, ok := v[k].(string); ok && !explanationKeys[normalKey(k)] { // what an explanation quotes is none
				collectText(text, depth+1, take)
				continue
			}
			collect(v[k], depth+1, take)
		}
	case []any:
		for _, e := range v {
			collect(e, depth+1, take)
		}
	}
}

// collectText looks into a text that holds an object, as models give it that
// encode a field twice.
func collectText(text string, depth int, take func(map[string]any) bool) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return
	}
	objects, cut := scanObjects(text)
	if cut || len(objects) != 1 {
		return
	}
	if fields, err := decode(objects[0].of(text)); err == nil {
		collect(fields, depth, take)
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
func contradicts(text string) (twice bool) {
	seen := map[string]string{}
	gjson.Parse(text).ForEach(func(key, value gjson.Result) bool {
		if k := normalKey(key.Str); verdictKeys[k] {
			old, ok := seen[k]
			twice = twice || ok && old != value.Raw
			seen[k] = value.Raw
		}
		return !twice
	})
	return twice
}
