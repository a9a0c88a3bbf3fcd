package findings

import (
	"encoding/json"
	"maps"
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
	each        []each // the members of an element that hold lists of findings, whose file it names
	severities  map[string]audit.Severity
}

type each struct{ member, suppressed string }

var (
	generic  = &profile{}
	profiles = []profile{
		{tool: "eslint", title: "ESLint", marks: "messages filepath", each: []each{{"messages", ""}, {"suppressedmessages", "suppressed in the source"}},
			severities: map[string]audit.Severity{"2": audit.High, "1": audit.Medium}},
		{tool: "horusec", title: "Horusec", marks: "analysisvulnerabilities", inside: "vulnerabilities"},
		{tool: "bandit", title: "bandit", marks: "testid issuetext"},
		{tool: "ruff", title: "Ruff", marks: "code filename endlocation"},
	}
)

// members are those that hold a field: first our own schema's, then the tools'; the
// first that is filled counts, of CWEs all. A dot leads into an object.
var members = map[field][]string{
	fID:          {"id"},
	fRule:        {"rule", "ruleid", "testid"},
	fTitle:       {"title", "name", "testname", "type"},
	fDescription: {"description", "message", "issuetext", "details"},
	fFunction:    {"function"},
	fSeverity:    {"severity", "issueseverity"},
	fDimension:   {"dimension"},
	fConfidence:  {"confidence", "issueconfidence"},
	fCWE:         {"cwes", "cwe", "cweid", "issuecwe"},
	fFile:        {"file", "path", "filename", "filepath", "location"},
	fLines:       {"line", "startline", "linenumber", "lines.start", "location.row"},
	fEnd:         {"endline", "lines.end", "endlocation.row"},
	fSuppressed:  {"suppressed"},
	fStatus:      {"status", "type"},
}

var ruleCode = regexp.MustCompile(`^[A-Za-z]{1,8}[-_]?\d{1,6}$`)

// A tree is a JSON object with its names folded.
type tree map[string]any

var foldName = strings.NewReplacer("_", "", "-", "", " ", "")

// folded folds the names of an object; what is none has no members. Of two names that
// fold to one, the one that sorts first counts.
func folded(v any) tree {
	m, _ := v.(map[string]any)
	t := make(tree, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		f := strings.ToLower(foldName.Replace(k))
		if old := t[f]; old == nil || old == "" {
			t[f] = m[k]
		}
	}
	return t
}

// at gives what a path leads to; in a list it goes on with the first element.
func (t tree) at(path string) any {
	name, rest, deep := strings.Cut(path, ".")
	if !deep {
		return t[name]
	}
	v := t[name]
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	return folded(v).at(rest)
}

func (t tree) has(names string) bool {
	return !slices.ContainsFunc(strings.Fields(names), func(n string) bool { return t[n] == nil })
}

// text gives the first of the paths that leads to a text or a number.
func (t tree) text(paths ...string) string {
	for _, p := range paths {
		if s := scalar(t.at(p)); s != "" {
			return s
		}
	}
	return ""
}

// nested says that one of the members holds a list or an object.
func (t tree) nested(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		switch t[n].(type) {
		case []any, map[string]any:
			return true
		}
		return false
	})
}

// scalar gives a text, unless it is blank, or the digits of a number.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		if strings.TrimSpace(v) != "" {
			return v
		}
	case json.Number:
		return v.String()
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// texts gives the texts and numbers in a value: one, those of a list, or of the IDs in
// objects, as bandit's {"id": 78}.
func texts(v any) (out []string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out = append(out, texts(e)...)
		}
	case map[string]any:
		return texts(folded(v)["id"])
	default:
		if s := scalar(v); s != "" {
			return []string{s}
		}
	}
	return out
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

// lines gives the lines of an object as a text: from two members, or as it stands.
func (t tree) lines() string {
	end := t.number(members[fEnd]...)
	if list := texts(t["linerange"]); len(list) > 0 { // bandit's
		end, _ = strconv.Atoi(list[len(list)-1])
	}
	if start := t.number(members[fLines]...); start > 0 {
		return lineRange(start, end).String()
	}
	if s := t.text("lines", "line"); s != "0" {
		return s
	}
	return ""
}
