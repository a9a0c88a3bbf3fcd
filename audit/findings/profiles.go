package findings

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
)

// A profile says how a tool's JSON differs from a list of findings with the
// members below. Names are folded: lower case, without _, - and space.
type profile struct {
	tool, title string
	marks       string // members that an element of its list has, and no other tool's
	inside      string // the member of an element that holds the finding
	each        []each // the members of an element that hold lists of findings
	shared      map[string]string
	rule        string // of those: without it an entry tells of a file that could not be read
	severities  map[string]audit.Severity
}

type each struct{ member, suppressed string }

var (
	generic  = &profile{}
	profiles = []profile{
		{tool: "eslint", title: "ESLint", marks: "messages filepath", each: []each{{"messages", ""}, {"suppressedmessages", "suppressed in the source"}},
			shared: map[string]string{"filepath": "filepath"}, rule: "ruleid", severities: map[string]audit.Severity{"2": audit.High, "1": audit.Medium}},
		{tool: "horusec", title: "Horusec", marks: "analysisvulnerabilities", inside: "vulnerabilities"},
		{tool: "bandit", title: "bandit", marks: "testid issuetext"},
		{tool: "semgrep", title: "Semgrep", marks: "checkid extra"},
		{tool: "gitleaks", title: "Gitleaks", marks: "ruleid startline secret"},
		{tool: "gitleaks", title: "Gitleaks", marks: "ruleid startline match"},
		{tool: "gitleaks", title: "Gitleaks", marks: "ruleid startline fingerprint"},
		{tool: "ruff", title: "Ruff", marks: "code filename endlocation"},
	}
)

// members are those that hold a field, in our own schema and in the tools'; the
// first that is filled counts, of CWEs all. A dot leads into an object.
var members = map[field][]string{
	fID:          {"id", "findingid", "uid", "vulnid"},
	fRule:        {"rule", "ruleid", "checkid", "testid", "rulename", "check"},
	fTitle:       {"title", "name", "vulnerability", "issue", "testname", "type"},
	fDescription: {"description", "details", "message", "issuetext", "desc", "detail", "explanation", "extra.message"},
	fFunction:    {"function", "method", "functionname", "symbol"},
	fSeverity:    {"severity", "issueseverity", "level", "risk", "priority", "extra.severity", "cvss", "cvssscore"},
	fDimension:   {"dimension", "category", "area"},
	fConfidence:  {"confidence", "issueconfidence", "extra.metadata.confidence", "metadata.confidence"},
	fCWE:         {"cwes", "cwe", "cweid", "cweids", "issuecwe", "weakness", "extra.metadata.cwe", "extra.metadata.cwes", "metadata.cwe", "metadata.cwes"},
	fFile:        {"file", "path", "filename", "filepath", "location", "uri", "sourcefile"},
	fLines:       {"startline", "linestart", "line", "lineno", "linenumber", "row", "start", "beginline", "start.line", "start.row", "begin.line", "begin.row"},
	fEnd:         {"endline", "lineend", "end", "endlinenumber", "end.line", "end.row", "endlocation.line", "endlocation.row"},
	fTrace:       {"trace", "dataflow", "flow"},
	fOthers:      {"others", "otherlocations", "locations"},
	fSuppressed:  {"suppressed", "suppressionreason"},
	fStatus:      {"status", "type"},
}

var (
	// ranges are the members that hold lines as an object, a text or a list.
	ranges = []string{"lines", "line", "linerange", "linenumbers", "linenumber", "lineno"}
	// suppressing are those that are true of a finding that is withdrawn.
	suppressing = []string{"suppressed", "extra.isignored", "falsepositive"}
	ruleCode    = regexp.MustCompile(`^[A-Za-z]{1,8}[-_]?\d{1,6}$`)
)

// A tree is a JSON object with its names folded.
type tree map[string]any

var foldName = strings.NewReplacer("_", "", "-", "", " ", "")

// folded folds the names of one object. Of two names that fold to one, the one
// that sorts first counts.
func folded(m map[string]any) tree {
	t := make(tree, len(m))
	for _, k := range sorted(m) {
		f := strings.ToLower(foldName.Replace(k))
		if old := t[f]; old == nil || old == "" {
			t[f] = m[k]
		}
	}
	return t
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// sub gives an object inside.
func (t tree) sub(name string) tree {
	m, _ := t[name].(map[string]any)
	return folded(m)
}

// at gives what a path leads to.
func (t tree) at(path string) any {
	name, rest, deep := strings.Cut(path, ".")
	if deep {
		return t.sub(name).at(rest)
	}
	return t[name]
}

func (t tree) has(names string) bool {
	for _, n := range strings.Fields(names) {
		if t[n] == nil {
			return false
		}
	}
	return true
}

// text gives the first of the paths that leads to a text or a number.
func (t tree) text(paths ...string) string {
	for _, p := range paths {
		switch v := t.at(p).(type) {
		case string:
			if strings.TrimSpace(v) != "" {
				return v
			}
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64)
		case json.Number:
			return v.String()
		}
	}
	return ""
}

// number gives the first of the paths that leads to a whole number above 0.
func (t tree) number(paths ...string) int {
	for _, p := range paths {
		if i, err := strconv.Atoi(strings.TrimSpace(t.text(p))); err == nil && i > 0 {
			return i
		}
	}
	return 0
}

// lines reads the lines of an object, none when it names none. ok is false when
// what it names cannot be read.
func (t tree) lines(none audit.Range) (r audit.Range, ok bool) {
	start, end := t.number(members[fLines]...), t.number(members[fEnd]...)
	if list, _ := t["linerange"].([]any); end == 0 {
		for _, v := range list {
			n, _ := v.(float64)
			end = max(end, int(n))
		}
	}
	if start > 0 {
		return lineRange(start, end), true
	}
	for _, n := range ranges {
		switch v := t[n].(type) {
		case map[string]any:
			if len(v) > 0 {
				return folded(v).lines(none)
			}
		case string:
			rs, good := linesOf(v)
			if len(rs) > 0 {
				return rs[0], true
			}
			if !good {
				return none, false
			}
		case []any:
			if len(v) > 0 {
				return tree{"startline": v[0], "endline": v[len(v)-1]}.lines(none)
			}
		case float64:
			if v != 0 {
				return none, v > 0 && v == float64(int(v))
			}
		}
	}
	return none, true
}

// each gives the texts and numbers at a path: one, those of a list, or of the
// IDs in objects, as bandit's {"id": 78}.
func (t tree) each(path string, f func(string)) {
	switch v := t.at(path).(type) {
	case []any:
		for _, e := range v {
			tree{"x": e}.each("x", f)
		}
	case map[string]any:
		folded(v).each("id", f)
	default:
		f(t.text(path))
	}
}
