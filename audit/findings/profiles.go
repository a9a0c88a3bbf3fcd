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

// A profile says how a tool's JSON differs from a list of findings with the members below.
// Names are folded: lower case, without _, - and space.
type profile struct {
	tool, title string
	marks       string // members by which an element of its list is recognized
	inside      string // the member of an element that holds the finding
	each        []each // the members of an element that are lists of findings in its file
	severities  map[string]audit.Severity
}

// An each names a member that holds a list of findings, and why they are suppressed.
type each struct{ member, suppressed string }

var (
	generic  = &profile{}
	profiles = []profile{
		{tool: "eslint", title: "ESLint", marks: "messages filepath",
			each: []each{{"messages", ""},
				{"suppressedmessages", "suppressed in the source"}},
			severities: map[string]audit.Severity{"2": audit.High, "1": audit.Medium}},
		{tool: "horusec", title: "Horusec", marks: "analysisvulnerabilities",
			inside: "vulnerabilities"},
		{tool: "bandit", title: "bandit", marks: "testid issuetext"},
		{tool: "ruff", title: "Ruff", marks: "code filename endlocation"},
		{tool: "codex-security", title: "codex-security", marks: "findingid taxonomy"},
		{tool: "semgrep", title: "Semgrep", marks: "checkid extra",
			severities: map[string]audit.Severity{"INFO": audit.Low}},
	}
)

// members are the names of fields in JSON: those of Assay's own schema first, then those of
// tools. The first one with a value counts; of CWEs all count. A dot leads into an object.
var members = map[field][]string{
	fID:          {"id", "findingid"},
	fRule:        {"rule", "ruleid", "testid", "checkid"},
	fTitle:       {"title", "name", "testname", "type"},
	fDescription: {"description", "message", "issuetext", "details", "summary", "extra.message"},
	fFunction:    {"function"},
	fSeverity:    {"severity", "issueseverity", "severity.level", "extra.severity"},
	fDimension:   {"dimension"},
	fConfidence: {"confidence", "issueconfidence", "confidence.level",
		"extra.metadata.confidence"},
	fCWE: {"cwes", "cwe", "cweid", "cweids", "issuecwe", "taxonomy.cwe",
		"extra.metadata.cwe"},
	fFile:       {"file", "path", "filename", "filepath", "location"},
	fLines:      {"line", "startline", "linenumber", "lines.start", "location.row", "start.line"},
	fEnd:        {"endline", "lines.end", "endlocation.row", "end.line"},
	fSuppressed: {"suppressed"},
	fStatus:     {"status", "type"},
}

// ruleCode matches the ID of a rule.
var ruleCode = regexp.MustCompile(`^[A-Za-z]{1,8}[-_]?\d{1,6}$`)

// A tree is a JSON object with folded names.
type tree map[string]gjson.Result

var foldName = strings.NewReplacer("_", "", "-", "", " ", "")

// folded returns an object with folded names; other values have no members. If two names fold
// to one, the first one with a value counts.
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

// at returns the value at a path.
func (t tree) at(path string) gjson.Result {
	name, rest, deep := strings.Cut(path, ".")
	if !deep {
		return t[name]
	}
	return folded(t[name]).at(rest)
}

// has reports whether all of the names have values.
func (t tree) has(names string) bool {
	return !slices.ContainsFunc(strings.Fields(names),
		func(n string) bool { return t[n].Type == gjson.Null })
}

// text returns the text or number at the first path that has one.
func (t tree) text(paths ...string) string {
	for _, p := range paths {
		if s := scalar(t.at(p)); s != "" {
			return s
		}
	}
	return ""
}

// nested reports whether one of the members is a list or an object.
func (t tree) nested(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return t[n].Type == gjson.JSON })
}

// holdsMore reports whether one of the members is a list or an object that is not empty.
func (t tree) holdsMore(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return t.nested(n) && strings.Trim(t[n].Raw, "[]{} \t\r\n") != ""
	})
}

// scalar returns a copy of a text that is not blank, or the digits of a number.
func scalar(v gjson.Result) string {
	switch {
	case v.Type == gjson.String && strings.TrimSpace(v.Str) != "":
		return strings.Clone(valid(v.Str))
	case v.Type == gjson.Number:
		return strings.Clone(v.Raw)
	}
	return ""
}

// items returns the elements of a list; other values have none.
func items(v gjson.Result) iter.Seq[gjson.Result] {
	return func(yield func(gjson.Result) bool) {
		if v.IsArray() {
			v.ForEach(func(_, e gjson.Result) bool { return yield(e) })
		}
	}
}

// texts returns the texts and numbers of a value or of a list. For an object such as bandit's
// {"id": 78} it returns the ID.
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

// whole returns a whole number above 0, also from a text; else 0.
func whole(v gjson.Result) int {
	f, err := strconv.ParseFloat(strings.TrimSpace(scalar(v)), 64)
	if n := int(f); err == nil && float64(n) == f && n > 0 {
		return n
	}
	return 0
}

// number returns the whole number at the first path that has one.
func (t tree) number(paths ...string) int {
	for _, p := range paths {
		if n := whole(t.at(p)); n > 0 {
			return n
		}
	}
	return 0
}

// lines returns the lines of an object as a text.
func (t tree) lines() string {
	end := t.number(members[fEnd]...)
	for last := range items(t["linerange"]) { // of bandit
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
