package auditor

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
)

// violations reads the violations of a module: an object with a list of them, or such a
// list alone; an empty one says that there are none. Each violation names a file; lines
// may stand behind it ("orders.go:12-18") or in fields of their own.
var violations = &question{
	wanted: "list of violations", members: readList, text: bareList,
	beside:      func(string, *audit.Review) bool { return false },
	clash:       "it gives two lists of violations that differ",
	clashWithin: "it gives two lists of violations that differ",
	none:        "it holds no list of violations: ",
}

// The names of fields, folded by normalKey; what is asked for stands first, as a path may
// be a route, and a method one of HTTP.
var (
	listKeys     = []string{"violations", "violation", "findings", "flaws", "issues", "results", "vulnerabilities"}
	fileKeys     = []string{"file", "filename", "filepath", "path", "location"}
	functionKeys = []string{"function", "functionname", "func", "symbol", "method"}
	lineKeys     = []string{"line", "lines", "linenumber", "linerange", "startline", "start", "linestart", "endline", "end", "lineend"}
	ruleKeys     = []string{"rule", "rulenumber", "ruleid", "rules", "violatedrule", "brokenrule", "requirement"}
)

// maxViolations bounds what an answer may name: a module has some dozen sites.
const maxViolations = 2000

// readList reads an object's own list; nil where it has none.
func readList(f fields) (*audit.Review, string) {
	at := slices.IndexFunc(listKeys, func(name string) bool { return f[name].IsArray() })
	if at < 0 {
		return nil, ""
	}
	list := f[listKeys[at]].Array()
	if len(list) > maxViolations {
		return malformed("the violations are no list of at most %d", maxViolations), ""
	}
	r := &audit.Review{Status: audit.Answered, Verdict: audit.Good}
	for i, item := range list {
		if !item.IsObject() {
			return malformed("violation %d is %s: expected an object with file, line, rule and cwe", i+1, firstLine(item.String())), ""
		}
		v := violationOf(fold(item))
		if v.File == "" {
			return malformed("violation %d names no file", i+1), ""
		}
		r.Verdict, r.Violations = audit.Bad, append(r.Violations, v)
		if v.Rule > 0 {
			r.Violates = append(r.Violates, v.Rule)
		}
		for _, c := range v.CWEs {
			if !slices.Contains(r.CWEs, c) {
				r.CWEs = append(r.CWEs, c)
			}
		}
	}
	return consistent(r), ""
}

// bareList reads a list without an object around it.
func bareList(text string) *audit.Review {
	from, to := strings.IndexByte(text, '['), strings.LastIndexByte(text, ']')
	if from < 0 || to < from {
		return nil
	}
	object, err := decode(`{"violations":`+text[from:to+1]+"}", to-from < maxMended)
	if err != nil {
		return nil
	}
	own := fold(object)
	answer, _ := readList(own)
	if answer != nil && len(answer.Violations) == 0 && len(own) > 1 {
		return nil // an empty pair of brackets, and others behind it, are no list that is empty
	}
	return answer
}

func violationOf(f fields) (v audit.Violation) {
	v.File, v.Function = strings.TrimSpace(f.first(fileKeys).Str), f.first(functionKeys).Str
	v.Why = audit.OneLine(f.first(explanationKeys).String(), 400)
	v.CWEs = cwes(f.items(cweKeys, cweMembers...))
	if ns := requirements(f, ruleKeys); len(ns) > 0 {
		v.Rule = ns[0]
	}
	for _, item := range append(f.items(lineKeys, "start"), f.items(lineKeys, "end")...) {
		widen(&v.Lines, item)
	}
	if m := fileLines.FindStringSubmatch(v.File); m != nil {
		v.File = m[1]
		if v.Lines.IsZero() {
			widen(&v.Lines, m[2])
		}
	}
	return v
}

// fileLines matches a file with its lines: "orders.go:12", "orders.go:12-18",
// "orders.go#L12-L18".
var fileLines = regexp.MustCompile(`^(.+?)(?::|#L)(\d[\dL:–-]*)$`)

var digits = regexp.MustCompile(`\d{1,7}`)

// widen makes a range hold the lines that a text names: "12", "12-18", "L12".
func widen(r *audit.Range, text string) {
	for _, d := range digits.FindAllString(text, 2) {
		switch n, _ := strconv.Atoi(d); {
		case n <= 0:
		case r.IsZero():
			*r = audit.Range{Start: n, End: n}
		default:
			r.Start, r.End = min(r.Start, n), max(r.End, n)
		}
	}
}
