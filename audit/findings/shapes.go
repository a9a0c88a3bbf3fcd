package findings

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"assay/audit"
)

// A tree is a JSON object with its names folded: lower case, without _ and -.
type tree map[string]any

func treeOf(raw []byte) (tree, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	m, _ := v.(map[string]any)
	return folded(m), nil
}

var foldName = strings.NewReplacer("_", "", "-", "", " ", "")

// folded folds the names of one object. Of two names that fold to one, the one
// that sorts first counts.
func folded(m map[string]any) tree {
	t := make(tree, len(m))
	for k, v := range m {
		f := strings.ToLower(foldName.Replace(k))
		if old, ok := t[f]; !ok || old == nil || old == "" || k < f && v != nil && v != "" {
			t[f] = v
		}
	}
	return t
}

// sub gives an object inside.
func (t tree) sub(name string) tree {
	m, _ := t[name].(map[string]any)
	return folded(m)
}

// text gives the first of the names that holds a string or a number.
func (t tree) text(names ...string) string {
	for _, n := range names {
		switch v := t[n].(type) {
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

// number gives the first of the names that holds a whole number above 0.
func (t tree) number(names ...string) int {
	for _, n := range names {
		if i, err := strconv.Atoi(strings.TrimSpace(t.text(n))); err == nil && i > 0 {
			return i
		}
	}
	return 0
}

// entry reads one element of a list of findings, by the tool whose element it is.
func (j *jsonReader) entry(m tree, line int) {
	as := func(shape string) {
		if j.shape == "" {
			j.shape = shape
		}
	}
	switch {
	case m["messages"] != nil && m["filepath"] != nil:
		as("eslint")
		j.eslint(m, line)
		return
	case m["vulnerabilities"] != nil && j.shape == "horusec":
		if in := m.sub("vulnerabilities"); len(in) > 0 {
			m = in
		}
	case m["testid"] != nil && m["issuetext"] != nil:
		as("bandit")
	case m["checkid"] != nil && m["extra"] != nil:
		as("semgrep")
	case m["ruleid"] != nil && m["startline"] != nil && (m["secret"] != nil || m["match"] != nil || m["fingerprint"] != nil):
		as("gitleaks")
	case m["code"] != nil && m["filename"] != nil && m["endlocation"] != nil:
		as("ruff")
	}
	j.add(j.finding(m, line), m, line)
}

// add takes a finding up, unless nothing in it could be used.
func (j *jsonReader) add(f audit.Finding, m tree, line int) {
	if f.File == "" && len(f.CWEs) == 0 && f.RuleID == "" && f.Title == "" && f.Description == "" {
		j.p.add(line, "the entry has no file, CWE, rule or title that can be read: it is no finding (fields: %s)", clip(strings.Join(m.names(), ", ")))
		return
	}
	j.rep.Findings = append(j.rep.Findings, f)
}

func (t tree) names() []string {
	count := map[string]int{}
	for k := range t {
		count[k] = 1
	}
	return sorted(count)
}

// eslint reads an element of ESLint's list: a file with its messages. A message
// without a rule is a file that could not be parsed.
func (j *jsonReader) eslint(m tree, line int) {
	file := m.text("filepath")
	list, _ := m["messages"].([]any)
	for _, v := range list {
		o, _ := v.(map[string]any)
		msg := folded(o)
		f := audit.Finding{File: file, RuleID: msg.text("ruleid"), Description: msg.text("message"),
			Lines: lineRange(msg.number("line"), msg.number("endline")), Pos: audit.Pos{File: j.p.name, Line: line}}
		if f.RuleID == "" {
			j.p.add(line, "ESLint could not read %s: %s", clip(file), clip(flat(f.Description)))
			continue
		}
		switch msg.number("severity") {
		case 2:
			f.Severity = audit.High
		case 1:
			f.Severity = audit.Medium
		}
		j.fallback(&f)
		j.add(f, msg, line)
	}
	list, _ = m["suppressedmessages"].([]any)
	for _, v := range list {
		o, _ := v.(map[string]any)
		msg := folded(o)
		f := audit.Finding{File: file, RuleID: msg.text("ruleid"), Description: msg.text("message"), Suppressed: "suppressed in the source",
			Lines: lineRange(msg.number("line"), msg.number("endline")), Pos: audit.Pos{File: j.p.name, Line: line}}
		j.fallback(&f)
		j.add(f, msg, line)
	}
}

// fallback gives a finding without CWEs those of the rule map, or of its prose.
func (j *jsonReader) fallback(f *audit.Finding) {
	if len(f.CWEs) == 0 {
		f.CWEs = mapped(j.opt.RuleMap, f.RuleID)
	}
	if len(f.CWEs) == 0 {
		f.CWEs = cwesInProse(f.Title + " " + f.Description)
	}
	if len(f.CWEs) == 0 {
		f.CWEs = cwesInProse(f.RuleID)
	}
}

var ruleCode = regexp.MustCompile(`^[A-Za-z]{1,8}[-_]?\d{1,6}$`)

// finding reads one object by the names that our own schema and the tools use.
func (j *jsonReader) finding(m tree, line int) audit.Finding {
	extra := m.sub("extra")
	meta := extra.sub("metadata")
	if len(meta) == 0 {
		meta = m.sub("metadata")
	}
	f := audit.Finding{Pos: audit.Pos{File: j.p.name, Line: line}}
	f.ID = m.text("id", "findingid", "uid", "vulnid")
	f.RuleID = m.text("rule", "ruleid", "checkid", "testid", "rulename", "check")
	if c := m.text("code"); f.RuleID == "" && ruleCode.MatchString(c) {
		f.RuleID = c // ruff's; elsewhere "code" is source text
	}
	f.Title = flat(m.text("title", "name", "vulnerability", "issue", "testname", "type"))
	f.Description = m.text("description", "details", "message", "issuetext", "desc", "detail", "explanation")
	if f.Description == "" {
		f.Description = extra.text("message")
	}
	f.Function = functionName(m.text("function", "method", "functionname", "symbol"))
	j.place(&f, m, line)
	j.words(&f, m, extra, meta, line)
	f.Trace = j.steps(m, line, "trace", "dataflow", "flow")
	f.Others = append(f.Others, j.steps(m, line, "others", "otherlocations", "locations")...)
	for _, v := range []any{m["cwes"], m["cwe"], m["cweid"], m["cweids"], m["issuecwe"], m["weakness"], meta["cwe"], meta["cwes"]} {
		c, ok := cwesOf(v)
		f.CWEs = addCWEs(f.CWEs, c...)
		if !ok {
			j.p.add(line, "the CWE %q cannot be read: expected a form like CWE-89", clip(fmt.Sprint(v)))
		}
	}
	j.fallback(&f)
	return f
}

// cwesOf reads a number, a text, a list of them, or bandit's {"id": 78}.
func cwesOf(v any) (cs []audit.CWE, ok bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case float64:
		if v == 0 {
			return nil, true
		}
		return cwesInField(strconv.FormatFloat(v, 'f', -1, 64)), v >= 1 && v <= 99999 && v == float64(int(v))
	case string:
		if placeholder(v) == "" {
			return nil, true
		}
		cs = cwesInField(v)
		return cs, len(cs) > 0
	case []any:
		for _, e := range v {
			c, good := cwesOf(e)
			if !good {
				return cs, false
			}
			cs = addCWEs(cs, c...)
		}
		return cs, true
	case map[string]any:
		if len(v) == 0 {
			return nil, true
		}
		return cwesOf(folded(v)["id"])
	}
	return nil, false
}

// words reads severity, dimension, confidence and whether it is withdrawn.
func (j *jsonReader) words(f *audit.Finding, m, extra, meta tree, line int) {
	for _, w := range []string{m.text("severity", "issueseverity", "level", "risk", "priority"), extra.text("severity"), m.text("cvss", "cvssscore")} {
		if w == "" || f.Severity != audit.SeverityUnknown {
			continue
		}
		sev, ok := severityOf(w)
		if n, err := strconv.ParseFloat(w, 64); err == nil && n >= 0 && n <= 10 && !ok && strings.Contains(w, ".") {
			sev, ok = severityOfScore(n), true
		}
		if !ok {
			j.p.add(line, "the severity %q cannot be read: expected CRITICAL, HIGH, MEDIUM, LOW or INFO", clip(w))
		}
		f.Severity = sev
	}
	if d := m.text("dimension", "category", "area"); d != "" {
		dim, ok := dimensionOf(d)
		f.Dimension = dim
		if !ok && m["dimension"] != nil {
			j.p.add(line, "the dimension %q cannot be read: expected one of the ten", clip(d))
		}
	}
	if c := m.text("confidence", "issueconfidence"); c != "" {
		conf, ok := confidenceOf(c)
		if !ok {
			j.p.add(line, "the confidence %q cannot be read: expected 0 to 1, a percentage, or high, medium, low", clip(c))
		}
		f.Confidence = conf
	} else if c, ok := confidenceOf(meta.text("confidence")); ok {
		f.Confidence = c
	}
	f.Suppressed = m.text("suppressed", "suppressionreason")
	if b, _ := m["suppressed"].(bool); b || extra["isignored"] == true || m["falsepositive"] == true {
		f.Suppressed = "suppressed"
	}
	if st := m.text("status", "type"); f.Suppressed == "" && (withdrawn.MatchString(st) || st == "Risk Accepted") {
		f.Suppressed = st
	}
}

// place reads file and lines: apart, in one text, or as an object.
func (j *jsonReader) place(f *audit.Finding, m tree, line int) {
	loc := m.sub("location")
	if len(loc) == 0 {
		if list, _ := m["locations"].([]any); len(list) > 0 {
			o, _ := list[0].(map[string]any)
			loc = folded(o)
			if rest := list[1:]; len(rest) > 0 {
				m["locations"] = rest
			} else {
				delete(m, "locations")
			}
			if s, ok := list[0].(string); ok {
				loc = tree{"file": s}
			}
		}
	}
	file := m.text("file", "path", "filename", "filepath", "location", "uri", "sourcefile")
	if file == "" {
		file = loc.text("file", "path", "filename", "filepath", "uri")
	}
	if ps := placesOf(file); len(ps) == 1 || len(ps) > 1 && ps[1].File != "" && strings.Contains(file, ":") {
		f.File, f.Lines, f.Others = ps[0].File, ps[0].Lines, ps[1:]
	} else {
		f.File = cleanPath(file)
	}
	if r, stated, ok := rangeIn(m); ok && stated {
		f.Lines = r
	} else if !ok {
		j.p.add(line, "the lines cannot be read: expected a number, a form like 12-18, or an object with start and end")
	} else if r, stated, _ := rangeIn(loc); stated {
		f.Lines = r
		if end := m.sub("endlocation").number("row", "line"); end > r.End {
			f.Lines.End = end
		}
	}
}

// rangeIn reads the lines of an object. stated is false when it names none, ok
// when what it names can be read.
func rangeIn(m tree) (r audit.Range, stated, ok bool) {
	start := m.number("startline", "linestart", "line", "lineno", "linenumber", "row", "start", "beginline")
	end := m.number("endline", "lineend", "end", "endlinenumber")
	for _, n := range []string{"start", "begin"} {
		if s := m.sub(n); start == 0 && len(s) > 0 {
			start = s.number("line", "row")
		}
	}
	for _, n := range []string{"end", "endlocation"} {
		if s := m.sub(n); end == 0 && len(s) > 0 {
			end = s.number("line", "row")
		}
	}
	if ends, _ := m["linerange"].([]any); end == 0 && len(ends) > 0 {
		for _, v := range ends {
			if n, _ := v.(float64); int(n) > end {
				end = int(n)
			}
		}
	}
	if start > 0 {
		return lineRange(start, end), true, true
	}
	for _, n := range []string{"lines", "line", "linerange", "linenumbers", "linenumber", "lineno"} {
		switch v := m[n].(type) {
		case map[string]any:
			if len(v) > 0 {
				return rangeIn(folded(v))
			}
		case string:
			rs, good := linesOf(v)
			if len(rs) > 0 {
				return rs[0], true, true
			}
			if !good {
				return r, false, false
			}
		case []any:
			t := tree{"startline": 0.0}
			if len(v) > 0 {
				t = tree{"startline": v[0], "endline": v[len(v)-1]}
			}
			return rangeIn(t)
		case float64:
			if v != 0 {
				return r, false, v > 0 && v == float64(int(v))
			}
		}
	}
	return r, false, true
}

// steps reads a list of places: objects of our own schema, or texts.
func (j *jsonReader) steps(m tree, line int, names ...string) (out []audit.Step) {
	for _, n := range names {
		list, _ := m[n].([]any)
		for _, v := range list {
			switch v := v.(type) {
			case string:
				d := &draft{}
				d.step(fTrace, v)
				out = append(out, d.Trace...)
			case map[string]any:
				var f audit.Finding
				t := folded(v)
				j.place(&f, t, line)
				out = append(out, audit.Step{File: f.File, Lines: f.Lines, Note: flat(t.text("note", "message", "description"))})
			}
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}
