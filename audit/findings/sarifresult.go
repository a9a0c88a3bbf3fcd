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

// readResults reads the results of the runs whose tables are known.
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
			c.runs[n].tellCounts()
			return err
		})
	})
	if err != nil {
		return j.fault(c.name, err)
	}
	return nil
}

var noProblem = words("pass notApplicable informational")

// A result is one of SARIF's, by the names of its members.
type result map[string]gjson.Result

// element reads one result, takes it up as a finding, or counts why it is none.
func (r *run) element(s *stream) error {
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
		r.counts["results of kind "+kind+": by the standard they tell of no problem"]++
		return nil
	}
	r.fill(&f, res)
	if f.RuleID == "" && f.Description == "" && f.File == "" && len(f.Trace) == 0 {
		r.add(s.line(), "a result is empty or no object: it is no finding")
		return nil
	}
	return r.take(f)
}

func (r *run) tellCounts() {
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		r.add(r.line, "%d %s", r.counts[what], what)
	}
}

func (r *run) fill(f *audit.Finding, res result) {
	own := folded(res["properties"])
	rule := r.ruleOf(f, res)
	f.ID, f.Title = cmp.Or(own.text("id"), scalar(res["guid"])), cmp.Or(own.text("title"), rule.title)
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
		f.CWEs = firstCWEs(mapped(r.opt.RuleMap, f.RuleID), cwesInProse(f.Description), cwesInProse(f.RuleID), slices.Clone(rule.prose))
	}
	f.Trace = r.trace(f, res["codeFlows"])
	r.places(f, res)
	first(&f.Function, own.text("function"))
	f.Suppressed = cmp.Or(suppressed(res["suppressions"]), f.Suppressed)
}

// places reads where the finding is. Related locations explain it and are steps of its
// trace: matching takes only what the tool itself calls a location of the result.
func (r *run) places(f *audit.Finding, res result) {
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

// trace reads the thread flows of the first code flow, one after the other.
// Further code flows are other ways to the same finding and are counted.
func (r *run) trace(f *audit.Finding, flows gjson.Result) (out []audit.Step) {
	held := false
	for flow := range items(flows) {
		if held {
			r.counts["further code flows of a finding: the first one is held"]++
			continue
		}
		held = true
		for thread := range items(flow.Get("threadFlows")) {
			for l := range items(thread.Get("locations")) {
				if step := r.step(f, l.Get("location")); step.File != "" || step.Note != "" {
					out = append(out, step)
				} else {
					r.counts["steps of code flows without a place"]++
				}
			}
		}
	}
	return out
}

func (r *run) step(f *audit.Finding, l gjson.Result) audit.Step {
	place := l.Get("physicalLocation")
	g := place.Get("region")
	start := whole(g.Get("startLine"))
	if start == 0 && (g.Get("charOffset").Exists() || g.Get("byteOffset").Exists()) {
		r.counts["regions by offset alone: they give no lines"]++
	}
	return audit.Step{File: r.path(place.Get("artifactLocation"), f.Pos.Line), Lines: lineRange(start, whole(g.Get("endLine"))), Note: plainLinks(scalar(l.Get("message.text")))}
}

// suppressed sums up suppressions. One that is accepted, or says nothing of its
// status, suppresses; one under review or rejected does not.
func suppressed(list gjson.Result) (why string) {
	for s := range items(list) {
		if status := firstText(s, "status", "state"); status != "underReview" && status != "rejected" {
			first(&why, cmp.Or(flat(scalar(s.Get("justification"))), scalar(s.Get("kind")), "suppressed"))
		}
	}
	return why
}

// function gives the name of a function; a type or a module is none.
func function(logical gjson.Result) string {
	switch logical.Get("kind").Str {
	case "", "function", "member", "method", "constructor":
		return functionName(firstText(logical, "name", "fullyQualifiedName"))
	}
	return ""
}

// ruleOf finds the rule of a result by its ID, or by its place among the driver's where
// it has none; the parents of a hierarchical ID ("a/b") count as well. Where there is
// no rule it is empty.
func (r *run) ruleOf(f *audit.Finding, res result) *sarifRule {
	placed := ""
	if !res["rule"].Get("toolComponent").Exists() { // else it is a place among an extension's
		placed = cmp.Or(at(r.driver, res["ruleIndex"]), at(r.driver, res["rule"].Get("index")))
	}
	f.RuleID = cmp.Or(scalar(res["ruleId"]), scalar(res["rule"].Get("id")), placed)
	if placed != "" && placed != f.RuleID && !strings.HasPrefix(f.RuleID, placed+"/") && res["ruleIndex"].Exists() {
		r.add(f.Pos.Line, "ruleIndex %d is rule %q, ruleId says %q: the ID counts", whole(res["ruleIndex"]), clip(placed), clip(f.RuleID))
	}
	for id := range upwards(f.RuleID) {
		if rule := r.rules[id]; rule != nil {
			return rule
		}
	}
	if f.RuleID == "" && (res["ruleIndex"].Exists() || res["rule"].Exists()) {
		r.add(f.Pos.Line, "the result names a rule by its place, and the tool's driver has none there (it has %d rules): expected a ruleId", len(r.driver))
	}
	return &sarifRule{}
}

// levels are SARIF's levels as severities; without a word on it a result is a
// warning.
var levels = map[string]audit.Severity{"error": audit.High, "": audit.Medium, "warning": audit.Medium, "note": audit.Low, "none": audit.Info}

// severity follows the rule in the package documentation.
func (r *run) severity(f *audit.Finding, res result, own rating, rule *sarifRule) audit.Severity {
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
		r.add(f.Pos.Line, "the security-severity %q is no number from 0 to 10", clip(score))
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
		r.add(f.Pos.Line, "the level %q is none of error, warning, note, none", clip(level))
	}
	return sev
}

// rating gives what properties say of a severity: its score, and the word for it.
func (t tree) rating() rating {
	word := t.text(members[fSeverity]...)
	for _, tag := range texts(t["tags"]) {
		if severities[strings.ToLower(tag)] != 0 {
			first(&word, tag)
		}
	}
	return rating{t.text("securityseverity"), word}
}

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

// plainLinks takes away the links of a message that lead to related locations.
func plainLinks(s string) string {
	if !strings.Contains(s, "](") {
		return s
	}
	return numberLink.ReplaceAllString(s, "$1")
}
