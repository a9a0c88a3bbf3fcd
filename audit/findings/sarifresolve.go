package findings

import (
	"regexp"
	"sort"
	"strconv"
	"strings"

	"assay/audit"
)

// resolve brings the run's findings together with what they refer to.
func (s *sarifReader) resolve() {
	r := s.run
	s.name()
	if !r.results {
		s.rep.Failed = "a run has no results array: by the standard its tool did not get to look"
		s.p.add(r.line, "the run has no results array: by the standard its tool did not get to look")
	}
	paths := r.paths(s.p)
	if s.rep.Root == "" {
		s.rep.Root = paths.root
	}
	for i := range r.refs {
		f := &s.rep.Findings[r.first+i]
		ref := &r.different[r.refs[i]]
		rule := s.ruleOf(f, ref)
		s.cwes(f, ref, rule)
		f.Severity = s.severity(f, ref, rule)
		if f.Title == "" && rule != nil {
			f.Title = rule.title
		}
		if f.Description == "" && rule != nil && ref.message != "" {
			f.Description = rule.messages[ref.message]
		}
		f.Description = plainLinks(withArguments(f.Description, ref.args))
		if f.Function == "" && ref.function >= 0 && ref.function < len(r.logical) {
			f.Function = r.logical[ref.function].function()
		}
		if f.File == "" {
			f.File = ref.target
		}
		f.File = paths.path(f.File, f.Pos.Line)
		for j := range f.Trace {
			f.Trace[j].File = paths.path(f.Trace[j].File, f.Pos.Line)
		}
		for j := range f.Others {
			f.Others[j].File = paths.path(f.Others[j].File, f.Pos.Line)
		}
	}
	for _, what := range sorted(r.counts) {
		s.p.add(r.line, "%d %s", r.counts[what], what)
	}
	s.run = nil
}

func sorted(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// name adds the run's tool to those that the report names.
func (s *sarifReader) name() {
	d := s.run.driver
	for _, have := range strings.Split(s.rep.Tool, ", ") {
		if have == d.name {
			return
		}
	}
	if s.rep.Tool == "" {
		s.rep.Tool, s.rep.Version = d.name, d.version
		return
	}
	s.rep.Tool += ", " + d.name
	s.rep.Version += ", " + d.version
}

// ruleOf finds the rule of a result: by index in the component that it names or
// in the driver, else by ID there, then in the extensions. An absent index is
// no index; the parents of a hierarchical ID ("a/b") count as well.
func (s *sarifReader) ruleOf(f *audit.Finding, ref *reference) *rule {
	r := s.run
	comp := r.tool(ref.rule)
	if i := ref.rule.index; i >= 0 && comp != nil {
		if i < len(comp.rules) {
			rule := &comp.rules[i]
			if f.RuleID == "" {
				f.RuleID = rule.id
			}
			if rule.id == f.RuleID || strings.HasPrefix(f.RuleID, rule.id+"/") {
				return rule
			}
			s.p.add(f.Pos.Line, "ruleIndex %d is rule %q, ruleId says %q: the ID counts", i, clip(rule.id), clip(f.RuleID))
		} else if ref.rule.toolIndex < 0 && len(r.extensions) == 0 {
			s.p.add(f.Pos.Line, "ruleIndex %d is out of range: the tool has %d rules", i, len(comp.rules))
		}
	}
	if comp != nil {
		if rule := comp.find(f.RuleID, ref.rule.guid); rule != nil {
			return rule
		}
	}
	if rule := r.driver.find(f.RuleID, ref.rule.guid); rule != nil {
		return rule
	}
	for i := range r.extensions {
		if rule := r.extensions[i].find(f.RuleID, ref.rule.guid); rule != nil {
			return rule
		}
	}
	return nil
}

// tool gives the component that a reference means; without a word on it, the driver.
func (r *sarifRun) tool(t taxon) *component {
	if t.toolIndex >= 0 && t.toolIndex < len(r.extensions) {
		return &r.extensions[t.toolIndex]
	}
	if t.tool != "" || t.toolGUID != "" {
		for i := range r.extensions {
			if e := &r.extensions[i]; t.tool != "" && e.name == t.tool || t.toolGUID != "" && e.guid == t.toolGUID {
				return e
			}
		}
	}
	return &r.driver
}

func (c *component) find(id, guid string) *rule {
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
	if guid != "" {
		for i := range c.rules {
			if c.rules[i].guid == guid {
				return &c.rules[i]
			}
		}
	}
	return nil
}

// cwes brings a finding's CWEs into their stated order: see the package
// documentation.
func (s *sarifReader) cwes(f *audit.Finding, ref *reference, rule *rule) {
	var own []audit.CWE
	for _, t := range ref.taxa {
		own = addCWEs(own, s.run.taxonCWE(t)...)
	}
	own = addCWEs(own, f.CWEs...)
	if rule != nil {
		for _, t := range rule.relations {
			own = addCWEs(own, s.run.taxonCWE(t)...)
		}
		own = addCWEs(own, rule.cwes...)
	}
	if len(own) == 0 {
		own = mapped(s.opt.RuleMap, f.RuleID)
	}
	if len(own) == 0 {
		own = cwesInProse(f.Description)
	}
	if len(own) == 0 {
		own = cwesInProse(f.RuleID)
	}
	if len(own) == 0 && rule != nil {
		own = addCWEs(nil, rule.prose...)
	}
	f.CWEs = own
}

// taxonCWE reads a reference to a taxon: an ID that is spelled as a CWE, or a
// number in a taxonomy named CWE.
func (r *sarifRun) taxonCWE(t taxon) []audit.CWE {
	if c := cwesInProse(t.id); c != nil {
		return c
	}
	comp := r.taxonomy(t)
	name := t.tool
	if comp != nil {
		name = comp.name
		switch {
		case t.id != "":
		case t.index >= 0 && t.index < len(comp.rules):
			t.id = comp.rules[t.index].id
		case t.guid != "":
			if taxon := comp.find("", t.guid); taxon != nil {
				t.id = taxon.id
			}
		}
	}
	if strings.Contains(strings.ToUpper(name), "CWE") {
		return cwesInField(t.id)
	}
	return cwesInProse(t.id)
}

func (r *sarifRun) taxonomy(t taxon) *component {
	for _, list := range [][]component{r.taxonomies, r.extensions} {
		for i := range list {
			if c := &list[i]; t.tool != "" && c.name == t.tool || t.toolGUID != "" && c.guid == t.toolGUID {
				return c
			}
		}
	}
	if t.tool == "" && t.toolIndex >= 0 {
		if t.toolIndex < len(r.taxonomies) {
			return &r.taxonomies[t.toolIndex]
		}
		if t.toolIndex < len(r.extensions) {
			return &r.extensions[t.toolIndex]
		}
	}
	return nil
}

// severity follows the rule in the package documentation.
func (s *sarifReader) severity(f *audit.Finding, ref *reference, rule *rule) audit.Severity {
	scores, words := []string{ref.score}, []string{ref.word}
	if rule != nil {
		scores, words = append(scores, rule.score), append(words, rule.word)
	}
	for _, sc := range scores {
		if sc == "" {
			continue
		}
		v, err := strconv.ParseFloat(sc, 64)
		if err == nil && v >= 0 && v <= 10 {
			return severityOfScore(v)
		}
		if sev, ok := severityOf(sc); ok {
			return sev
		}
		s.p.add(f.Pos.Line, "the security-severity %q is no number from 0 to 10", clip(sc))
	}
	for _, w := range words {
		if sev, ok := severityOf(w); ok {
			return sev
		}
		if strings.EqualFold(w, "unknown") {
			return audit.SeverityUnknown
		}
	}
	level := ref.level
	if level == "" && ref.kind != "" && ref.kind != "fail" {
		level = "none"
	}
	if level == "" {
		level = s.run.overrides[f.RuleID]
	}
	if level == "" && rule != nil {
		level = rule.level
	}
	switch level {
	case "error":
		return audit.High
	case "", "warning":
		return audit.Medium
	case "note":
		return audit.Low
	case "none":
		return audit.Info
	}
	s.p.add(f.Pos.Line, "the level %q is none of error, warning, note, none", clip(level))
	return audit.SeverityUnknown
}

var placeholderLink = regexp.MustCompile(`\[([^\[\]]*)\]\(\d+\)`)

// plainLinks takes away the links of a message that lead to related locations.
func plainLinks(s string) string {
	if !strings.Contains(s, "](") {
		return s
	}
	return placeholderLink.ReplaceAllString(s, "$1")
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
