package findings

import (
	"cmp"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
)

// readResults reads the results of the runs whose tables are known.
func readResults(r io.Reader, c *collector) error {
	j, n := newStream(r), -1
	err := j.object(func(name string) error {
		if name != "runs" {
			return j.dec.SkipValue()
		}
		return j.array(func(int) error {
			if n++; n >= len(c.runs) {
				return errRuns
			}
			err := j.object(func(name string) error {
				if name != "results" {
					return j.dec.SkipValue()
				}
				return j.array(func(int) error { return c.runs[n].element(j) })
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

// element reads one result, takes it up as a finding, or counts why it is none.
func (r *run) element(s *stream) error {
	res := &r.result
	*res = sarifResult{}
	line, err := s.element(res, '"')
	if err != nil {
		return err
	}
	bare := *res
	bare.Properties, bare.Related = nil, nil
	why := ""
	switch {
	case reflect.ValueOf(bare).IsZero():
		r.add(s.line(), "a result is empty or no object: it is no finding")
		return nil
	case res.Baseline == "absent":
		r.counts["results with baselineState absent: they are no longer found"]++
		return nil
	case res.Kind == "" || res.Kind == "fail":
	case r.opt.AllKinds:
		why = "of kind " + res.Kind
	case res.Kind == "open":
		why = "kind open: the tool could not decide"
	case noProblem[res.Kind]:
		r.counts["results of kind "+res.Kind+": by the standard they tell of no problem"]++
		return nil
	}
	f := audit.Finding{Pos: audit.Pos{File: r.name, Line: line}}
	r.fill(&f, res)
	first(&f.Suppressed, why)
	return r.take(f)
}

func (r *run) tellCounts() {
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		r.add(r.line, "%d %s", r.counts[what], what)
	}
}

func (r *run) fill(f *audit.Finding, s *sarifResult) {
	own := folded(s.Properties)
	rule := r.ruleOf(f, s)
	f.ID, f.Title = cmp.Or(own.text("id"), s.GUID), cmp.Or(own.text("title"), rule.Short.Text)
	f.CWEs = r.cwes(s, own, rule)
	f.Severity = r.severity(f, s, own, rule)
	f.Dimension, _ = dimensionOf(own.text("dimension"))
	f.Confidence, _ = confidenceOf(own.text(members[fConfidence]...))
	f.Description = cmp.Or(s.Message.Text, s.Message.Markdown, rule.Messages[s.Message.ID].Text)
	f.Description = plainLinks(withArguments(f.Description, s.Message.Arguments))
	if f.CWEs == nil {
		f.CWEs = firstCWEs(mapped(r.opt.RuleMap, f.RuleID), cwesInProse(f.Description), cwesInProse(f.RuleID), slices.Clone(rule.prose))
	}
	r.places(f, s)
	first(&f.Function, own.text("function"))
	f.Trace = r.trace(f, s.CodeFlows)
	f.Suppressed = suppressed(s.Suppressions)
}

func (r *run) places(f *audit.Finding, s *sarifResult) {
	for i, l := range s.Locations {
		step := r.step(f, l)
		if i > 0 {
			f.Others = append(f.Others, step)
			continue
		}
		f.File, f.Lines = step.File, step.Lines
		for _, log := range l.Logical {
			if listed := at(r.logical, log.Index); log.function() == "" && listed != nil {
				log = *listed
			}
			first(&f.Function, log.function())
		}
	}
	first(&f.File, r.path(s.Target, f.Pos.Line))
	for _, l := range s.Related {
		if step := r.step(f, l); step.File != "" {
			step.Note = strings.TrimSpace("related: " + step.Note)
			f.Others = append(f.Others, step)
		}
	}
}

// trace reads the thread flows of the first code flow, one after the other.
// Further code flows are other ways to the same finding and are counted.
func (r *run) trace(f *audit.Finding, flows []codeFlow) (out []audit.Step) {
	for i, flow := range flows {
		if i > 0 {
			r.counts["further code flows of a finding: the first one is held"]++
			continue
		}
		for _, thread := range flow.ThreadFlows {
			for _, l := range thread.Locations {
				if step := r.step(f, l.Location); step.File != "" || step.Note != "" {
					out = append(out, step)
				} else {
					r.counts["steps of code flows without a place"]++
				}
			}
		}
	}
	return out
}

func (r *run) step(f *audit.Finding, l location) audit.Step {
	g := l.Physical.Region
	if g.Start == 0 && g.CharOffset+g.ByteOffset > 0 {
		r.counts["regions by offset alone: they give no lines"]++
	}
	return audit.Step{File: r.path(l.Physical.Artifact, f.Pos.Line), Lines: lineRange(g.Start, g.End), Note: plainLinks(l.Message.Text)}
}

// suppressed sums up suppressions. One that is accepted, or says nothing of its
// status, suppresses; one under review or rejected does not.
func suppressed(list []suppression) (why string) {
	for _, s := range list {
		first(&s.Status, s.State)
		if s.Status != "underReview" && s.Status != "rejected" {
			first(&why, flat(s.Why))
			first(&why, s.Kind)
			first(&why, "suppressed")
		}
	}
	return why
}

// function gives the name of a function; a type or a module is none.
func (l logical) function() string {
	switch l.Kind {
	case "", "function", "member", "method", "constructor":
	default:
		return ""
	}
	first(&l.Name, l.Full)
	return functionName(l.Name)
}

// ruleOf finds the rule of a result: by index in the component that it names or
// in the driver, else by ID there, then in the extensions. An absent index is
// no index; the parents of a hierarchical ID ("a/b") count as well. Where there
// is none it is empty.
func (r *run) ruleOf(f *audit.Finding, s *sarifResult) *sarifRule {
	f.RuleID = cmp.Or(s.RuleID, s.Rule.ID)
	first(&s.Rule.Index, s.RuleIndex)
	comp := s.Rule.Tool.in(r.tool.Extensions)
	if comp == nil {
		comp = &r.tool.Driver
	}
	i := int(s.Rule.Index) - 1
	if rule := at(comp.Rules, s.Rule.Index); rule != nil {
		first(&f.RuleID, rule.ID)
		if rule.ID == f.RuleID || strings.HasPrefix(f.RuleID, rule.ID+"/") {
			return rule
		}
		r.add(f.Pos.Line, "ruleIndex %d is rule %q, ruleId says %q: the ID counts", i, clip(rule.ID), clip(f.RuleID))
	} else if i >= 0 && s.Rule.Tool.Index == 0 && len(r.tool.Extensions) == 0 {
		r.add(f.Pos.Line, "ruleIndex %d is out of range: the tool has %d rules", i, len(comp.Rules))
	}
	for _, list := range [][]component{{*comp, r.tool.Driver}, r.tool.Extensions} {
		for i := range list {
			if rule := list[i].find(f.RuleID, s.Rule.GUID); rule != nil {
				return rule
			}
		}
	}
	return &sarifRule{}
}

// cwes gives what a result and its rule name, in the order of the package documentation.
func (r *run) cwes(s *sarifResult, own tree, rule *sarifRule) (cwes []audit.CWE) {
	for _, t := range s.Taxa {
		cwes = addCWEs(cwes, r.taxonCWE(t)...)
	}
	cwes = addCWEs(cwes, own.cwes()...)
	for _, t := range rule.Relationships {
		cwes = addCWEs(cwes, r.taxonCWE(t.Target)...)
	}
	return addCWEs(cwes, rule.cwes...)
}

// taxonCWE reads a reference to a taxon: an ID that is spelled as a CWE, or a
// number in a taxonomy named CWE.
func (r *run) taxonCWE(t descriptor) []audit.CWE {
	name := t.Tool.Name
	if comp := t.Tool.in(r.taxonomies, r.tool.Extensions); comp != nil && cwesInProse(t.ID) == nil {
		name = comp.Name
		if taxon := cmp.Or(at(comp.Rules, t.Index), comp.find("", t.GUID)); t.ID == "" && taxon != nil {
			t.ID = taxon.ID
		}
	}
	if strings.Contains(strings.ToUpper(name), "CWE") {
		return cwesInField(t.ID)
	}
	return cwesInProse(t.ID)
}

// levels are SARIF's levels as severities; without a word on it a result is a
// warning.
var levels = map[string]audit.Severity{"error": audit.High, "": audit.Medium, "warning": audit.Medium, "note": audit.Low, "none": audit.Info}

// severity follows the rule in the package documentation.
func (r *run) severity(f *audit.Finding, s *sarifResult, own tree, rule *sarifRule) audit.Severity {
	for _, bag := range []tree{own, rule.bag} {
		score := bag.text("securityseverity")
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
	for _, bag := range []tree{own, rule.bag} {
		word := bag.severity()
		if sev, ok := severityOf(word); ok || strings.EqualFold(word, "unknown") {
			return sev
		}
	}
	level := s.Level
	if s.Kind != "" && s.Kind != "fail" {
		first(&level, "none")
	}
	first(&level, r.overrides[f.RuleID])
	first(&level, rule.Default.Level)
	sev, ok := levels[level]
	if !ok {
		r.add(f.Pos.Line, "the level %q is none of error, warning, note, none", clip(level))
	}
	return sev
}

func (t tree) severity() string {
	word := t.text(members[fSeverity]...)
	for _, tag := range texts(t["tags"]) {
		if severities[strings.ToLower(tag)] != 0 {
			first(&word, tag)
		}
	}
	return word
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

var argument = regexp.MustCompile(`\{(\d{1,3})\}`)

func withArguments(s string, args []string) string {
	if len(args) == 0 || !strings.Contains(s, "{") {
		return s
	}
	return argument.ReplaceAllStringFunc(s, func(m string) string {
		if i, _ := strconv.Atoi(m[1 : len(m)-1]); i < len(args) {
			return args[i]
		}
		return m
	})
}
