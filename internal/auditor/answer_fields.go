package auditor

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
)

// readFields reads an object's own fields; nil when they give no verdict, or
// contradict one another.
func readFields(fields map[string]any) *audit.Review {
	if v, ok := textOf(fields, refusalKeys); ok && strings.TrimSpace(v) != "" && v != "false" {
		if verdictOf(fields) == "" {
			return &audit.Review{Status: audit.Refused, Detail: "the model declined: " + firstLine(v)}
		}
	}
	verdict := verdictOf(fields)
	if verdict == "" {
		return nil
	}
	r := &audit.Review{Status: audit.Answered, Verdict: verdict}
	r.Explanation, _ = textOf(fields, explanationKeys)
	if said, ok := textOf(fields, verdictKeys); ok && !hasAny(fields, violatesKeys) { // "bad - violates requirement 1"
		r.Violates = spoken(said)
	}
	for _, k := range sortedKeys(fields) {
		switch n := normalKey(k); {
		case violatesKeys[n]:
			r.Violates = append(r.Violates, numbers(fields[k])...)
		case cweKeys[n]:
			r.CWEs = append(r.CWEs, cwes(fields[k])...)
		case confidenceKeys[n]:
			r.Confidence = confidence(fields[k])
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
	m := malformed("the verdict is good, and requirement %d is named as violated", r.Violates[0])
	return &m
}

func hasAny(fields map[string]any, keys map[string]bool) bool {
	for k := range fields {
		if keys[normalKey(k)] {
			return true
		}
	}
	return false
}

// verdictOf gives the verdict that all verdict fields agree on, or "".
func verdictOf(fields map[string]any) audit.Label {
	found := audit.Label("")
	for k, v := range fields {
		var l audit.Label
		n := normalKey(k)
		switch b, isBool := v.(bool); {
		case verdictKeys[n]:
			s, ok := v.(string)
			if !ok && n == "verdict" && v != nil {
				return ""
			}
			if l = verdictPhrase(s); l == "" && n == "verdict" {
				return "" // the verdict itself is no known word: other fields cannot mend it
			}
		case isBool && badWhenTrue[n]:
			l = label(!b)
		case isBool && goodWhenTrue[n]:
			l = label(b)
		}
		if l != "" && found != "" && l != found {
			return ""
		}
		if l != "" {
			found = l
		}
	}
	return found
}

func label(good bool) audit.Label {
	if good {
		return audit.Good
	}
	return audit.Bad
}

// textOf gives the first field, by name, that is one of keys and holds text.
func textOf(fields map[string]any, keys map[string]bool) (string, bool) {
	for _, k := range sortedKeys(fields) {
		if !keys[normalKey(k)] {
			continue
		}
		switch v := fields[k].(type) {
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

// normalKey folds "violatedRequirements", "Violated Requirements" and
// "violated-requirements" to one.
func normalKey(k string) string { return strings.ToLower(separators.Replace(strings.TrimSpace(k))) }

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// firstNumber finds the number of a requirement: "2", "R2", "Requirement 2: ...".
var firstNumber = regexp.MustCompile(`^\W*(?i:r|req|requirement|rule|sr|no|nr)?[\s.#_-]*(\d{1,4})\b`)

// listed splits a list that is one text.
var listed = regexp.MustCompile(`[,;\n]|\band\b`)

// maxListed bounds how many requirements or weaknesses an answer may name.
const maxListed = 100

// numbers reads requirement numbers in the forms that models give them.
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
	return slices.DeleteFunc(out, func(n int) bool { return n == 0 })
}

// number reads one item of a list; none where it says that the requirement holds.
func number(item string) []int {
	m := firstNumber.FindStringSubmatch(strings.TrimSpace(item))
	if m == nil || satisfied.MatchString(item) {
		return nil
	}
	n, _ := strconv.Atoi(m[1])
	return []int{n}
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
