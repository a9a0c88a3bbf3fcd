package findings

import (
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

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
		{tool: "codex-security", title: "codex-security", marks: "findingid taxonomy"},
		{tool: "semgrep", title: "Semgrep", marks: "checkid extra",
			severities: map[string]audit.Severity{"INFO": audit.Low}},
	}
)

// members are those that hold a field: first our own schema's, then the tools'; the
// first that is filled counts, of CWEs all. A dot leads into an object.
var members = map[field][]string{
	fID:          {"id", "findingid"},
	fRule:        {"rule", "ruleid", "testid", "checkid"},
	fTitle:       {"title", "name", "testname", "type"},
	fDescription: {"description", "message", "issuetext", "details", "summary", "extra.message"},
	fFunction:    {"function"},
	fSeverity:    {"severity", "issueseverity", "severity.level", "extra.severity"},
	fDimension:   {"dimension"},
	fConfidence:  {"confidence", "issueconfidence", "confidence.level", "extra.metadata.confidence"},
	fCWE:         {"cwes", "cwe", "cweid", "cweids", "issuecwe", "taxonomy.cwe", "extra.metadata.cwe"},
	fFile:        {"file", "path", "filename", "filepath", "location"},
	fLines:       {"line", "startline", "linenumber", "lines.start", "location.row", "start.line"},
	fEnd:         {"endline", "lines.end", "endlocation.row", "end.line"},
	fSuppressed:  {"suppressed"},
	fStatus:      {"status", "type"},
}

var ruleCode = regexp.MustCompile(`^[A-Za-z]{1,8}[-_]?\d{1,6}$`)

// A tree is a JSON object with its names folded.
type tree map[string]gjson.Result

var foldName = strings.NewReplacer("_", "", "-", "", " ", "")

// folded folds the names of an object; what is none has no members. Of two names that
// fold to one, the first that is filled counts.
func folded(v gjson.Result) tree {
	t := tree{}
	if !v.IsObject() {
		return t
	}
	v.ForEach(func(name, v gjson.Result) bool {
		f := strings.ToLower(foldName.Replace(name.Str))
		if t[f].String() == "" {
			t[f] = v
		}
		return true
	})
	return t
}

// at gives what a path leads to.
func (t tree) at(path string) gjson.Result {
	name, rest, deep := strings.Cut(path, ".")
	if !deep {
		return t[name]
	}
	return folded(t[name]).at(rest)
}

func (t tree) has(names string) bool {
	return !slices.ContainsFunc(strings.Fields(names), func(n string) bool { return t[n].Type == gjson.Null })
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
	return slices.ContainsFunc(names, func(n string) bool { return t[n].Type == gjson.JSON })
}

// holdsMore says that one of the members holds a list or an object with something in it.
func (t tree) holdsMore(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return t.nested(n) && strings.Trim(t[n].Raw, "[]{} \t\r\n") != "" })
}

// scalar gives a text, unless it is blank, or the digits of a number: a copy, so that
// what it was read from can be forgotten.
func scalar(v gjson.Result) string {
	switch {
	case v.Type == gjson.String && strings.TrimSpace(v.Str) != "":
		return strings.Clone(valid(v.Str))
	case v.Type == gjson.Number:
		return strings.Clone(v.Raw)
	}
	return ""
}

// items gives the elements of a list; what is none has no elements.
func items(v gjson.Result) iter.Seq[gjson.Result] {
	return func(yield func(gjson.Result) bool) {
		if v.IsArray() {
			v.ForEach(func(_, e gjson.Result) bool { return yield(e) })
		}
	}
}

// texts gives the texts and numbers in a value: one, or those of a list; of an object,
// as bandit's {"id": 78}, its ID.
func texts(v gjson.Result) (out []string) {
	list := items(v)
	if !v.IsArray() {
		list = slices.Values([]gjson.Result{v})
	}
	for e := range list {
		if e.IsObject() {
			e = folded(e)["id"]
		}
		if s := scalar(e); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// whole gives a number that is whole and above 0, or the text of one; else 0.
func whole(v gjson.Result) int {
	f, err := strconv.ParseFloat(strings.TrimSpace(scalar(v)), 64)
	if n := int(f); err == nil && float64(n) == f && n > 0 {
		return n
	}
	return 0
}

// number gives the first of the paths that leads to such a number.
func (t tree) number(paths ...string) int {
	for _, p := range paths {
		if n := whole(t.at(p)); n > 0 {
			return n
		}
	}
	return 0
}

// lines gives the lines of an object as a text: from two members, or as it stands.
func (t tree) lines() string {
	end := t.number(members[fEnd]...)
	for last := range items(t["linerange"]) { // bandit's
		end = whole(last)
	}
	if start := t.number(members[fLines]...); start > 0 {
		return lineRange(start, end).String()
	}
	if s := t.text("lines", "line"); s != "0" {
		return s
	}
	return ""
}
