package auditor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
)

// readAnswer reads a verdict. A reply answers when it holds a JSON object with a verdict
// that is one of the words of verdictWords. Around it may stand reasoning, prose and
// code fences, and its syntax may be broken in the ways that models break it, but it
// has to be complete: what was cut off is malformed, never guessed. Without any object,
// a line "Verdict: bad", a <verdict> element, a sentence "The fragment is bad." or a
// reply of that one word answers too. A verdict good that names requirements that are
// violated is malformed.
func readAnswer(reply string) *audit.Review {
	s, problem := understand(reply, "verdict")
	if problem != "" && !(s.open && s.endsInAnswer()) {
		return malformed("%s", problem)
	}
	const clash = "it gives two verdicts that contradict each other"
	answer, problem := s.last(clash, readObject)
	if answer == nil {
		answer = readLines(s.text)
	}
	if answer == nil {
		return s.unread(cmp.Or(problem, "no JSON object and no verdict line: "+firstLine(s.text)))
	}
	for _, m := range outsideLine.FindAllStringSubmatch(without(s.text, s.objects), -1) {
		if l := verdictPhrase(m[1]); l != "" && answer.Status == audit.Answered && l != answer.Verdict && !s.open {
			return malformed("%s", clash)
		}
	}
	return answer
}

// endsInAnswer reports whether an object with an answer is the last that stands in
// reasoning that never ends.
func (s *said) endsInAnswer() bool {
	if len(s.objects) == 0 {
		return false
	}
	end := s.objects[len(s.objects)-1]
	answer, _ := readObject(end.of(s.text))
	return answer != nil && strings.Trim(endMarks.ReplaceAllString(s.text[end.to:], ""), " \t\r\n`~") == ""
}

// endMarks are tokens that a server should have kept to itself.
var endMarks = regexp.MustCompile(`<\|\w+\|>|</\w+>`)

// readObject reads one complete object. It gives nil and the reason when the
// object is no answer.
func readObject(text string) (*audit.Review, string) {
	object, err := decode(text)
	if err != nil {
		return nil, fmt.Sprintf("the JSON object cannot be read: %v", err)
	}
	answer, clash := agreed(object, readFields)
	switch {
	case clash:
		return malformed("the JSON object holds several verdicts that contradict one another"), ""
	case answer != nil:
		return answer, ""
	}
	if v, ok := textOf(object, explanationKeys); ok && refuses(v) {
		return declined(v), ""
	}
	if _, clash := verdictOf(object); clash {
		return nil, "the JSON object's fields give verdicts that contradict one another"
	}
	if v, ok := textOf(object, verdictKeys); ok {
		return nil, fmt.Sprintf("the verdict %s is none of the words %s", firstLine(v), strings.Join(slices.Concat(sortedKeys(verdictWords[audit.Good]), sortedKeys(verdictWords[audit.Bad])), ", "))
	}
	return nil, "the JSON object holds no verdict"
}

// readFields reads an object's own fields; nil when they give no verdict, or
// contradict one another.
func readFields(f fields) *audit.Review {
	verdict, _ := verdictOf(f)
	if v, ok := textOf(f, refusalKeys); ok && verdict == "" && strings.TrimSpace(v) != "" && v != "false" {
		return declined(v)
	}
	if verdict == "" {
		return nil
	}
	r := &audit.Review{Status: audit.Answered, Verdict: verdict}
	r.Explanation, _ = textOf(f, explanationKeys)
	named := false
	for _, k := range sortedKeys(f) {
		switch {
		case violatesKeys[k]:
			r.Violates, named = append(r.Violates, numbers(f[k])...), true
		case cweKeys[k]:
			r.CWEs = append(r.CWEs, cwes(f[k])...)
		case confidenceKeys[k]:
			r.Confidence = confidence(f[k])
		}
	}
	if text, ok := textOf(f, verdictKeys); ok && !named { // "bad - violates requirement 1"
		r.Violates = spoken(text)
	}
	slices.Sort(r.Violates)
	r.Violates = slices.Compact(r.Violates)
	r.CWEs = unique(r.CWEs)
	return consistent(r)
}

// consistent makes an answer malformed that says good and names what is violated.
func consistent(r *audit.Review) *audit.Review {
	if r.Verdict != audit.Good || len(r.Violates) == 0 {
		return r
	}
	return malformed("the verdict is good, and requirement %d is named as violated", r.Violates[0])
}

// verdictOf gives the verdict that all verdict fields agree on, "" where there is none
// or they clash.
func verdictOf(f fields) (found audit.Label, clash bool) {
	for k, v := range f {
		var l audit.Label
		switch b, isBool := v.(bool); {
		case verdictKeys[k]:
			s, _ := v.(string)
			if l = verdictPhrase(s); l == "" && k == "verdict" {
				return "", false // the verdict itself is no known word: other fields cannot mend it
			}
		case isBool && badWhenTrue[k]:
			l = label(!b)
		case isBool && goodWhenTrue[k]:
			l = label(b)
		}
		clash = clash || l != "" && found != "" && l != found
		found = cmp.Or(l, found)
	}
	if clash {
		return "", true
	}
	return found, false
}

func label(good bool) audit.Label {
	if good {
		return audit.Good
	}
	return audit.Bad
}

// textOf gives the first field, by name, that is one of keys and holds text.
func textOf(f fields, keys map[string]bool) (string, bool) {
	for _, k := range sortedKeys(f) {
		if !keys[k] {
			continue
		}
		switch v := f[k].(type) {
		case string:
			return v, true
		case []any: // an explanation in bullets
			var lines []string
			for _, e := range v {
				if s, ok := e.(string); ok {
					lines = append(lines, s)
				}
			}
			return strings.Join(lines, "\n"), true
		case nil:
		default:
			b, _ := json.Marshal(v)
			return string(b), true
		}
	}
	return "", false
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// firstNumber finds the number of a requirement: "2", "R2", "Requirement 2: ...".
var firstNumber = regexp.MustCompile(`^\W*(?i:r|req|requirement|rule|sr|no|nr)?[\s.#_-]*(\d{1,4})\b`)

// listed splits a list that is one text.
var listed = regexp.MustCompile(`[,;\n]|\band\b`)

// maxListed bounds how many requirements or weaknesses an answer may name.
const maxListed = 100

func numbers(v any) []int {
	var out []int
	switch v := v.(type) {
	case float64:
		if v == float64(int(v)) && v > 0 && v < 10000 {
			out = append(out, int(v))
		}
	case string:
		for _, part := range listed.Split(v, maxListed) {
			out = append(out, number(part)...)
		}
	case []any:
		for i, e := range v {
			if i == maxListed {
				break
			}
			if s, ok := e.(string); ok { // one requirement each, whatever commas its text holds
				out = append(out, number(s)...)
				continue
			}
			out = append(out, numbers(e)...)
		}
	case map[string]any:
		for _, k := range []string{"number", "id", "requirement", "requirement_number", "requirement_id", "no"} {
			if e, ok := v[k]; ok {
				return numbers(fmt.Sprint(e))
			}
		}
	}
	return out
}

// number reads one item of a list; none where it says that the requirement holds.
func number(item string) []int {
	m := firstNumber.FindStringSubmatch(strings.TrimSpace(item))
	if m == nil || satisfied.MatchString(item) {
		return nil
	}
	if n, _ := strconv.Atoi(m[1]); n > 0 {
		return []int{n}
	}
	return nil
}

var satisfied = regexp.MustCompile(`(?i)\b(?:not (?:violated|broken|applicable)|is satisfied|satisfied$|is met|no violation|holds)\b`)

var cweForm = regexp.MustCompile(`(?i)\bCWE[-_ ]?0*([1-9]\d{0,4})\b`)

// cwes reads weaknesses: "CWE-89", 89, {"id": "CWE-89", "name": ...}.
func cwes(v any) []audit.CWE {
	var out []audit.CWE
	switch v := v.(type) {
	case float64:
		if c, err := audit.ParseCWE(strconv.FormatFloat(v, 'f', -1, 64)); err == nil {
			out = append(out, c)
		}
	case string:
		for _, m := range cweForm.FindAllStringSubmatch(v, maxListed) {
			if c, err := audit.ParseCWE(m[1]); err == nil {
				out = append(out, c)
			}
		}
		if c, err := audit.ParseCWE(v); len(out) == 0 && err == nil {
			out = append(out, c)
		}
	case []any:
		for i, e := range v {
			if i == maxListed {
				break
			}
			out = append(out, cwes(e)...)
		}
	case map[string]any:
		for _, k := range []string{"id", "cwe", "cwe_id", "number"} {
			if e, ok := v[k]; ok {
				return cwes(e)
			}
		}
	}
	return out
}

func unique[T comparable](vs []T) []T {
	seen := map[T]bool{}
	return slices.DeleteFunc(vs, func(v T) bool {
		old := seen[v]
		seen[v] = true
		return old
	})
}

// confidence reads 0.9, 90, "90%" as 0.9; words say nothing that can be compared.
func confidence(v any) float64 {
	f, ok := v.(float64)
	if s, isText := v.(string); isText {
		n, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "%")), 64)
		f, ok = n, err == nil
	}
	switch {
	case !ok || f < 0 || f > 100 || f != f:
		return 0
	case f > 1:
		return f / 100
	}
	return f
}
