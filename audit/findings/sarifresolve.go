package findings

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
)

// resolve brings the run's findings together with what they refer to.
func (r *run) resolve() {
	r.nameTool()
	if !r.results {
		r.rep.Failed = "a run has no results array: by the standard its tool did not get to look"
		r.add(r.line, "the run has no results array: by the standard its tool did not get to look")
	}
	paths := r.paths()
	first(&r.rep.Root, paths.root)
	for i := range r.refs {
		r.complete(&r.rep.Findings[r.from+i], r.refs[i], paths)
	}
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		r.add(r.line, "%d %s", r.counts[what], what)
	}
}

// complete brings a finding together with what it refers to.
func (r *run) complete(f *audit.Finding, ref *reference, paths *runPaths) {
	rule := r.ruleOf(f, ref)
	if f.Description == "" && ref.message != "" {
		f.Description = rule.Messages[ref.message].Text
	}
	f.CWEs = r.cwes(f, ref, rule)
	f.Severity = r.severity(f, ref, rule)
	first(&f.Title, rule.Short.Text)
	if ref.more != nil {
		f.Description = withArguments(f.Description, ref.args)
	}
	f.Description = plainLinks(f.Description)
	if ref.function > 0 && int(ref.function) <= len(r.logical) {
		first(&f.Function, r.logical[ref.function-1].function())
	}
	f.File = paths.path(f.File, f.Pos.Line)
	for _, list := range [][]audit.Step{f.Trace, f.Others} {
		for j := range list {
			list[j].File = paths.path(list[j].File, f.Pos.Line)
		}
	}
}

// nameTool adds the run's tool to those that the report names.
func (r *run) nameTool() {
	d, rep := r.driver, r.rep
	for _, have := range strings.Split(rep.Tool, ", ") {
		if have == d.name {
			return
		}
	}
	if rep.Tool == "" {
		rep.Tool, rep.Version = d.name, d.version
		return
	}
	rep.Tool += ", " + d.name
	rep.Version += ", " + d.version
}

// ruleOf finds the rule of a result: by index in the component that it names or
// in the driver, else by ID there, then in the extensions. An absent index is
// no index; the parents of a hierarchical ID ("a/b") count as well. Where there
// is none it is empty.
func (r *run) ruleOf(f *audit.Finding, ref *reference) *sarifRule {
	comp := r.tool(ref.rule.Tool)
	if i := int(ref.rule.Index) - 1; i >= len(comp.rules) {
		if ref.rule.Tool.Index == 0 && len(r.extensions) == 0 {
			r.add(f.Pos.Line, "ruleIndex %d is out of range: the tool has %d rules", i, len(comp.rules))
		}
	} else if i >= 0 {
		rule := &comp.rules[i]
		first(&f.RuleID, rule.ID)
		if rule.ID == f.RuleID || strings.HasPrefix(f.RuleID, rule.ID+"/") {
			return rule
		}
		r.add(f.Pos.Line, "ruleIndex %d is rule %q, ruleId says %q: the ID counts", i, clip(rule.ID), clip(f.RuleID))
	}
	if rule := comp.find(f.RuleID, ref.rule.GUID); rule != nil {
		return rule
	}
	if rule := r.driver.find(f.RuleID, ref.rule.GUID); rule != nil {
		return rule
	}
	for i := range r.extensions {
		if rule := r.extensions[i].find(f.RuleID, ref.rule.GUID); rule != nil {
			return rule
		}
	}
	return &sarifRule{}
}

// find gives the component of a list that a reference names, else nil.
func find(list []component, ref componentRef) *component {
	for i := range list {
		if c := &list[i]; ref.Name != "" && c.name == ref.Name || ref.GUID != "" && c.guid == ref.GUID {
			return c
		}
	}
	return nil
}

// tool gives the component that a reference means; without a word on it, the driver.
func (r *run) tool(ref componentRef) *component {
	if i := int(ref.Index) - 1; i >= 0 && i < len(r.extensions) {
		return &r.extensions[i]
	}
	if c := find(r.extensions, ref); c != nil {
		return c
	}
	return &r.driver
}

func (c *component) find(id, guid string) *sarifRule {
	for at := id; at != ""; {
		if i, ok := c.byID[at]; ok {
			return &c.rules[i]
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			break
		}
		at = at[:i]
	}
	for i := range c.rules {
		if guid != "" && c.rules[i].GUID == guid {
			return &c.rules[i]
		}
	}
	return nil
}

// cwes gives a finding's CWEs in their stated order: see the package
// documentation.
func (r *run) cwes(f *audit.Finding, ref *reference, rule *sarifRule) (cwes []audit.CWE) {
	if ref.more != nil {
		for _, t := range ref.taxa {
			cwes = addCWEs(cwes, r.taxonCWE(t)...)
		}
	}
	cwes = addCWEs(cwes, f.CWEs...)
	for _, t := range rule.Relationships {
		cwes = addCWEs(cwes, r.taxonCWE(t.Target)...)
	}
	cwes = addCWEs(cwes, rule.cwes...)
	return orCWEs(cwes, mapped(r.opt.RuleMap, f.RuleID), cwesInProse(f.Description), cwesInProse(f.RuleID), slices.Clone(rule.prose))
}

// taxonCWE reads a reference to a taxon: an ID that is spelled as a CWE, or a
// number in a taxonomy named CWE.
func (r *run) taxonCWE(t descriptor) []audit.CWE {
	name := t.Tool.Name
	if comp := r.taxonomy(t.Tool); comp != nil && cwesInProse(t.ID) == nil {
		name = comp.name
		if i := int(t.Index) - 1; t.ID == "" && i >= 0 && i < len(comp.rules) {
			t.ID = comp.rules[i].ID
		} else if taxon := comp.find("", t.GUID); t.ID == "" && taxon != nil {
			t.ID = taxon.ID
		}
	}
	if strings.Contains(strings.ToUpper(name), "CWE") {
		return cwesInField(t.ID)
	}
	return cwesInProse(t.ID)
}

func (r *run) taxonomy(ref componentRef) *component {
	if c := find(r.taxonomies, ref); c != nil {
		return c
	}
	if c := find(r.extensions, ref); c != nil {
		return c
	}
	if i := int(ref.Index) - 1; ref.Name == "" && i >= 0 {
		if i < len(r.taxonomies) {
			return &r.taxonomies[i]
		}
		if i < len(r.extensions) {
			return &r.extensions[i]
		}
	}
	return nil
}

// levels are SARIF's levels as severities; without a word on it a result is a
// warning.
var levels = map[string]audit.Severity{"error": audit.High, "": audit.Medium, "warning": audit.Medium, "note": audit.Low, "none": audit.Info}

// severity follows the rule in the package documentation.
func (r *run) severity(f *audit.Finding, ref *reference, rule *sarifRule) audit.Severity {
	for _, score := range []string{ref.score, rule.Properties.score} {
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
	for _, word := range []string{ref.word, rule.Properties.Severity} {
		if sev, ok := severityOf(word); ok || strings.EqualFold(word, "unknown") {
			return sev
		}
	}
	level := ref.level
	if ref.kind != "" && ref.kind != "fail" {
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
