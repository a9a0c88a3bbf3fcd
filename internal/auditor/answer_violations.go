package auditor

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
)

// readViolations reads the violations of a module. A reply answers when it holds a JSON
// object with a list of violations, or such a list alone; an empty one says that there
// are none. Each violation names a file; lines may stand behind it ("orders.go:12-18")
// or in fields of their own. Around it may stand what [readAnswer] allows; a list that
// was cut off is malformed, and so is a text without one.
func readViolations(reply string) *audit.Review {
	s, problem := understand(reply, "list of violations")
	if problem != "" {
		return malformed("%s", problem)
	}
	const clash = "it gives two lists of violations that differ"
	answer, _ := s.last(clash, func(text string) (*audit.Review, string) {
		object, err := decode(text)
		if err != nil {
			return nil, ""
		}
		answer, differ := agreed(object, readList)
		if differ {
			return malformed("%s", clash), ""
		}
		return answer, ""
	})
	from, to := strings.IndexByte(s.text, '['), strings.LastIndexByte(s.text, ']')
	if answer == nil && from >= 0 && to > from {
		if object, err := decode(`{"violations":` + s.text[from:to+1] + "}"); err == nil {
			answer = readList(object)
		}
	}
	if answer == nil {
		return s.unread("it holds no list of violations: " + firstLine(s.text))
	}
	return answer
}

var (
	listKeys     = set("violations", "violation", "findings", "issues", "vulnerabilities", "flaws", "results")
	fileKeys     = set("file", "path", "filename", "filepath", "location")
	functionKeys = set("function", "functionname", "method", "symbol", "func")
	lineKeys     = set("line", "lines", "linenumber", "linerange", "startline", "start", "linestart", "endline", "end", "lineend")
	ruleKeys     = set("rule", "rules", "rulenumber", "ruleid", "requirement", "violatedrule", "brokenrule")
)

// readList reads an object's own list; nil where it has none.
func readList(f fields) *audit.Review {
	for _, k := range sortedKeys(f) {
		if list, ok := f[k].([]any); ok && listKeys[k] {
			return violationsOf(list)
		}
	}
	return nil
}

// maxViolations bounds what an answer may name: a module has some dozen sites.
const maxViolations = 2000

// violationsOf makes a review of a list.
func violationsOf(items []any) *audit.Review {
	if len(items) > maxViolations {
		return malformed("the violations are no list of at most %d", maxViolations)
	}
	r := &audit.Review{Status: audit.Answered, Verdict: audit.Good}
	for i, item := range items {
		object, ok := item.(map[string]any)
		if !ok {
			return malformed("violation %d is %s: expected an object with file, line, rule and cwe", i+1, firstLine(fmt.Sprint(item)))
		}
		v := violationOf(fold(object))
		if v.File == "" {
			return malformed("violation %d names no file", i+1)
		}
		r.Verdict = audit.Bad
		r.Violations = append(r.Violations, v)
		if v.Rule > 0 && !slices.Contains(r.Violates, v.Rule) {
			r.Violates = append(r.Violates, v.Rule)
		}
		r.CWEs = unique(append(r.CWEs, v.CWEs...))
	}
	slices.Sort(r.Violates)
	return r
}

func violationOf(f fields) (v audit.Violation) {
	for _, k := range sortedKeys(f) {
		switch {
		case fileKeys[k]:
			v.File, _ = f[k].(string)
		case functionKeys[k]:
			v.Function, _ = f[k].(string)
		case ruleKeys[k]:
			if ns := numbers(f[k]); len(ns) > 0 && v.Rule == 0 {
				v.Rule = ns[0]
			}
		case cweKeys[k]:
			v.CWEs = append(v.CWEs, cwes(f[k])...)
		case lineKeys[k]:
			v.Lines = joinLines(v.Lines, lineNumbers(f[k]))
		}
	}
	v.Why, _ = textOf(f, explanationKeys)
	v.Why = audit.OneLine(v.Why, 400)
	v.File = strings.TrimSpace(v.File)
	if m := fileLines.FindStringSubmatch(v.File); m != nil {
		v.File = m[1]
		if v.Lines.IsZero() {
			v.Lines = joinLines(v.Lines, lineNumbers(m[2]))
		}
	}
	v.CWEs = unique(v.CWEs)
	return v
}

// fileLines matches a file with its lines: "orders.go:12", "orders.go:12-18",
// "orders.go#L12-L18".
var fileLines = regexp.MustCompile(`^(.+?)(?::|#L)(\d[\dL:–-]*)$`)

var digits = regexp.MustCompile(`\d{1,7}`)

// lineNumbers reads 12, "12-18", "L12", [12, 18], {"start": 12, "end": 18}.
func lineNumbers(v any) (ns []int) {
	for _, item := range append(items(v, "start"), items(v, "end")...) {
		for _, d := range digits.FindAllString(item, 2) {
			n, _ := strconv.Atoi(d)
			ns = append(ns, n)
		}
	}
	return ns
}

// joinLines widens a range to lines, from the first to the last of them.
func joinLines(r audit.Range, lines []int) audit.Range {
	for _, n := range lines {
		switch {
		case n <= 0:
		case r.IsZero():
			r = audit.Range{Start: n, End: n}
		default:
			r.Start, r.End = min(r.Start, n), max(r.End, n)
		}
	}
	return r
}
