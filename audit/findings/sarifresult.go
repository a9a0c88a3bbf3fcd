package findings

import (
	"cmp"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"assay/audit"
)

// readResults reads the results of the runs whose tables were read.
func readResults(r io.Reader, c *collector) error {
	j, n := newStream(r), -1
	err := j.object(func(name string) error {
		if name != "runs" {
			return j.dec.SkipValue()
		}
		return j.array(func() error {
			if n++; n >= len(c.runs) {
				return errRuns
			}
			err := j.object(func(name string) error {
				if name != "results" {
					return j.dec.SkipValue()
				}
				return j.array(func() error { return c.runs[n].element(j) })
			})
			c.runs[n].addCounts()
			return err
		})
	})
	if err != nil {
		return j.fault(c.name, err)
	}
	return nil
}

// noProblem are the kinds of results that are no findings.
var noProblem = words("pass notApplicable informational")

// A result is a SARIF result by the names of its members.
type result map[string]gjson.Result

// element reads one result and passes it on as a finding, or counts why it is none.
func (r *sarifRun) element(s *stream) error {
	v, line, err := s.element('"')
	if err != nil {
		return err
	}
	res := r.result
	clear(res)
	if v.IsObject() {
		v.ForEach(func(name, v gjson.Result) bool { res[name.Str] = v; return true })
	}
	f := audit.Finding{Pos: audit.Pos{File: r.name, Line: line}}
	kind := scalar(res["kind"])
	switch {
	case res["baselineState"].Str == "absent":
		r.counts["results with baselineState absent: they are no longer found"]++
		return nil
	case kind == "" || kind == "fail":
	case r.opt.AllKinds:
		f.Suppressed = "of kind " + kind
	case kind == "open":
		f.Suppressed = "kind open: the tool could not decide"
	case noProblem[kind]:
		r.counts["results of kind "+kind+": by the standard they are not problems"]++
		return nil
	}
	r.fill(&f, res)
	if f.RuleID == "" && f.Description == "" && f.File == "" && len(f.Trace) == 0 {
		r.add(s.line(), "a result is empty or not an object: it is not a finding")
		return nil
	}
	return r.take(f)
}

// addCounts adds a problem for each counted kind.
func (r *sarifRun) addCounts() {
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		r.add(r.line, "%d %s", r.counts[what], what)
	}
}

// fill fills a finding from a result.
func (r *sarifRun) fill(f *audit.Finding, res result) {
	own := folded(res["properties"])
	rule := r.ruleOf(f, res)
	f.ID, f.Title = cmp.Or(own.text("id"), scalar(res["guid"])), cmp.Or(own.text("title"),
		rule.title)
	for t := range items(res["taxa"]) {
		f.CWEs = addCWEs(f.CWEs, r.taxon(t)...)
	}
	f.CWEs = addCWEs(addCWEs(f.CWEs, own.cwes()...), rule.cwes...)
	f.Severity = r.severity(f, res, own.rating(), rule)
	f.Dimension, _ = dimensionOf(own.text("dimension"))
	f.Confidence, _ = confidenceOf(own.text(members[fConfidence]...))
	f.Description = plainLinks(firstText(res["message"], "text", "markdown"))
	if f.Description == "" && res["message"].Get("id").Exists() {
		r.counts["messages by the ID of a text of their rule: they give no description"]++
	}
	if f.CWEs == nil {
		f.CWEs = firstCWEs(mapped(r.opt.RuleMap, f.RuleID), cwesInProse(f.Description),
			cwesInProse(f.RuleID), slices.Clone(rule.prose))
	}
	f.Trace = r.trace(f, res["codeFlows"])
	r.places(f, res)
	first(&f.Function, own.text("function"))
	f.Suppressed = cmp.Or(suppressed(res["suppressions"]), f.Suppressed)
}

// places reads where the finding is. Related locations are explanations and become steps of the
// trace: matching uses the locations of the result alone.
func (r *sarifRun) places(f *audit.Finding, res result) {
	held := false
	for l := range items(res["locations"]) {
		step := r.step(f, l)
		if held {
			f.Others = append(f.Others, step)
			continue
		}
		held, f.File, f.Lines = true, step.File, step.Lines
		for log := range items(l.Get("logicalLocations")) {
			first(&f.Function, function(log))
		}
	}
	for l := range items(res["relatedLocations"]) {
		if step := r.step(f, l); step.File != "" {
			step.Note = strings.TrimSpace("related: " + step.Note)
			f.Trace = append(f.Trace, step)
		}
	}
}

// trace returns the thread flows of the first code flow, one after the other. Further code
// flows, which are other ways to the same finding, are counted.
func (r *sarifRun) trace(f *audit.Finding, flows gjson.Result) (out []audit.Step) {
	held := false
	for flow := range items(flows) {
		if held {
			r.counts["further code flows of a finding: only the first one is read"]++
			continue
		}
		held = true
		for thread := range items(flow.Get("threadFlows")) {
			for l := range items(thread.Get("locations")) {
				if step := r.step(f, l.Get("location")); step.File != "" || step.Note != "" {
					out = append(out, step)
				} else {
					r.counts["steps of code flows without a location"]++
				}
			}
		}
	}
	return out
}

// step returns a location as a step.
func (r *sarifRun) step(f *audit.Finding, l gjson.Result) audit.Step {
	place := l.Get("physicalLocation")
	g := place.Get("region")
	start := whole(g.Get("startLine"))
	if start == 0 && (g.Get("charOffset").Exists() || g.Get("byteOffset").Exists()) {
		r.counts["regions by offset alone: they give no lines"]++
	} else if start == 0 && g.Get("startLine").Exists() {
		r.add(f.Pos.Line, "the startLine %q is no line: expected a whole number from 1",
			clip(scalar(g.Get("startLine"))))
	}
	return audit.Step{File: r.path(place.Get("artifactLocation"), f.Pos.Line),
		Lines: lineRange(start, whole(g.Get("endLine"))),
		Note:  plainLinks(scalar(l.Get("message.text")))}
}

// suppressed returns why a result is suppressed. A suppression that is accepted or has no
// status counts; one under review or rejected does not.
func suppressed(list gjson.Result) (why string) {
	for s := range items(list) {
		if status := firstText(s, "status", "state"); status != "underReview" &&
			status != "rejected" {
			first(&why, cmp.Or(flat(scalar(s.Get("justification"))),
				scalar(s.Get("kind")), "suppressed"))
		}
	}
	return why
}

// function returns the name of a function; "" for a type or a module.
func function(logical gjson.Result) string {
	switch logical.Get("kind").Str {
	case "", "function", "member", "method", "constructor":
		return functionName(firstText(logical, "name", "fullyQualifiedName"))
	}
	return ""
}

// ruleOf returns the rule of a result by its ID or the nearest parent of a hierarchical ID
// ("a/b"), or by its index in the driver. It returns an empty rule if there is none.
func (r *sarifRun) ruleOf(f *audit.Finding, res result) *sarifRule {
	placed := ""
	if !res["rule"].Get("toolComponent").Exists() { // else the index is one of an extension
		placed = cmp.Or(at(r.driver, res["ruleIndex"]), at(r.driver, res["rule"].Get("index")))
	}
	f.RuleID = cmp.Or(scalar(res["ruleId"]), scalar(res["rule"].Get("id")), placed)
	if placed != "" && placed != f.RuleID && !strings.HasPrefix(f.RuleID, placed+"/") &&
		res["ruleIndex"].Exists() {
		r.add(f.Pos.Line, "ruleIndex %d is rule %q, ruleId says %q: the ID counts",
			whole(res["ruleIndex"]), clip(placed), clip(f.RuleID))
	}
	for id := range upwards(f.RuleID) {
		if rule := r.rules[id]; rule != nil {
			return rule
		}
	}
	if f.RuleID == "" && (res["ruleIndex"].Exists() || res["rule"].Exists()) {
		r.add(f.Pos.Line,
			"the result names a rule by an index that the tool's driver (%d rules) does not have: expected a ruleId", len(r.driver))
	}
	return &sarifRule{}
}

// levels maps SARIF's levels to severities. A result without a level is a warning.
var levels = map[string]audit.Severity{"error": audit.High, "": audit.Medium,
	"warning": audit.Medium, "note": audit.Low, "none": audit.Info}

// severity returns the severity by the rule in the package documentation.
func (r *sarifRun) severity(f *audit.Finding, res result, own rating,
	rule *sarifRule) audit.Severity {
	for _, score := range []string{own.score, rule.score} {
		if score == "" {
			continue
		}
		if v, err := strconv.ParseFloat(score, 64); err == nil && v >= 0 && v <= 10 {
			return severityOfScore(v)
		}
		if sev, ok := severityOf(score); ok {
			return sev
		}
		r.add(f.Pos.Line, "the security-severity %q is not a number from 0 to 10", clip(score))
	}
	for _, word := range []string{own.word, rule.word} {
		if sev, ok := severityOf(word); ok || strings.EqualFold(word, "unknown") {
			return sev
		}
	}
	level := scalar(res["level"])
	if kind := scalar(res["kind"]); kind != "" && kind != "fail" {
		first(&level, "none")
	}
	first(&level, rule.level)
	sev, ok := levels[level]
	if !ok {
		r.add(f.Pos.Line, "the level %q is unknown: expected error, warning, note or none",
			clip(level))
	}
	return sev
}

// rating returns the severity that properties state.
func (t tree) rating() rating {
	word := t.text(members[fSeverity]...)
	for _, tag := range texts(t["tags"]) {
		if severities[strings.ToLower(tag)] != 0 {
			first(&word, tag)
		}
	}
	return rating{t.text("securityseverity"), word}
}

// cwes returns the CWEs of properties.
func (t tree) cwes() (out []audit.CWE) {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		read := cwesInField
		if name == "tags" {
			read = cwesInProse
		} else if !strings.HasPrefix(name, "cwe") {
			continue
		}
		for _, v := range texts(t[name]) {
			out = addCWEs(out, read(v)...)
		}
	}
	return out
}

var numberLink = regexp.MustCompile(`\[([^\[\]]*)\]\(\d+\)`)

// plainLinks removes links to related locations from a message.
func plainLinks(s string) string {
	if !strings.Contains(s, "](") {
		return s
	}
	return numberLink.ReplaceAllString(s, "$1")
}
