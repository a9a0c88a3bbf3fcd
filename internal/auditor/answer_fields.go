package auditor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
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
		answer = readText(s.text)
	}
	if answer == nil {
		return s.unread(cmp.Or(problem, "no JSON object and no verdict line: "+firstLine(s.text)))
	}
	for _, m := range verdictLine.FindAllStringSubmatch(without(s.text, s.objects), -1) {
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
		return nil, fmt.Sprintf("the verdict %s is none of the words %s", firstLine(v), strings.Join(sortedKeys(verdictWords), ", "))
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
	for _, k := range sortedKeys(f) {
		switch {
		case violatesKeys[k]:
			r.Violates = append(r.Violates, numbers(f[k])...)
		case cweKeys[k]:
			r.CWEs = append(r.CWEs, cwes(f[k])...)
		case k == "confidence":
			r.Confidence = confidence(f[k])
		}
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
		case isBool && whenTrue[k] != "":
			l = whenTrue[k]
			if !b {
				l = opposite[l]
			}
		}
		clash = clash || l != "" && found != "" && l != found
		found = cmp.Or(l, found)
	}
	if clash {
		return "", true
	}
	return found, false
}

var opposite = map[audit.Label]audit.Label{audit.Good: audit.Bad, audit.Bad: audit.Good}

// textOf gives the first field, by name, that is one of keys and holds text.
func textOf(f fields, keys map[string]bool) (string, bool) {
	for _, k := range sortedKeys(f) {
		if !keys[k] {
			continue
		}
		switch v := f[k].(type) {
		case string:
			return v, true
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

// items gives what a field lists, as text: a value alone, a list, or objects that hold
// the item in the first of these members that they have.
func items(v any, members ...string) (out []string) {
	switch v := v.(type) {
	case nil:
	case string:
		out = append(out, v)
	case []any:
		for _, e := range v[:min(len(v), maxListed)] {
			out = append(out, items(e, members...)...)
		}
	case map[string]any:
		for _, k := range members {
			if e, ok := v[k]; ok {
				return items(e, members...)
			}
		}
	default:
		b, _ := json.Marshal(v)
		out = append(out, string(b))
	}
	return out
}

// numbers reads requirements: 2, "R2", "2, 5 and 7", {"id": 2}; none of which an item
// says that it holds.
func numbers(v any) (ns []int) {
	all := items(v, "number", "id", "requirement", "requirement_number", "requirement_id")
	if text, ok := v.(string); ok {
		all = listed.Split(text, maxListed)
	}
	for _, item := range all { // of a list each is one, whatever commas its text holds
		item = strings.TrimSpace(item)
		m := firstNumber.FindStringSubmatch(item)
		if f, err := strconv.ParseFloat(item, 64); m == nil || err == nil && (f < 1 || f != math.Trunc(f)) || satisfied.MatchString(item) {
			continue
		}
		if n, _ := strconv.Atoi(m[1]); n > 0 {
			ns = append(ns, n)
		}
	}
	return ns
}

var satisfied = regexp.MustCompile(`(?i)\b(?:not (?:violated|broken|applicable)|is satisfied|satisfied$|is met|no violation|holds)\b`)

var cweForm = regexp.MustCompile(`(?i)\bCWE[-_ ]?0*([1-9]\d{0,4})\b`)

// cwes reads weaknesses: "CWE-89", 89, {"id": "CWE-89", "name": ...}.
func cwes(v any) (out []audit.CWE) {
	for _, item := range items(v, "id", "cwe", "cwe_id", "number") {
		forms := cweForm.FindAllStringSubmatch(item, maxListed)
		if len(forms) == 0 {
			forms = [][]string{{"", item}}
		}
		for _, m := range forms {
			if c, err := audit.ParseCWE(m[1]); err == nil {
				out = append(out, c)
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

// confidence reads a share, or a percentage; what is neither says nothing.
func confidence(v any) float64 {
	f, _ := v.(float64)
	switch {
	case f < 0 || f > 100:
		return 0
	case f > 1:
		return f / 100
	}
	return f
}
