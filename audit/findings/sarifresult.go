package findings

import (
	"regexp"
	"strconv"
	"strings"

	"assay/audit"
)

// A reference is what a finding takes from the rest of its run.
type reference struct {
	rule        descriptor
	level, kind string
	score, word string
	message     string  // an ID into the rule's messageStrings
	function    ordinal // in logicalLocations
	*more               // nil for none
}

// more is what few references have.
type more struct {
	args []string
	taxa []descriptor
}

// result reads one result, takes it up as a finding, or counts why it is none.
func (r *run) result() error {
	s := &r.read
	*s = sarifResult{}
	line, err := r.decode(s, shapeOfResult)
	if err != nil {
		return err
	}
	switch {
	case s.empty():
		r.add(r.stream.line(), "a result is empty or no object: it is no finding")
		return nil
	case s.Baseline == "absent":
		r.counts["results with baselineState absent: they are no longer found"]++
		return nil
	case !r.opt.AllKinds && (s.Kind == "pass" || s.Kind == "notApplicable" || s.Kind == "informational"):
		r.counts["results of kind "+s.Kind+": by the standard they tell of no problem"]++
		return nil
	}
	f, ref := r.finding(s)
	f.Pos = audit.Pos{File: r.name, Line: line}
	switch {
	case r.opt.AllKinds && s.Kind != "" && s.Kind != "fail":
		first(&f.Suppressed, "of kind "+s.Kind)
	case s.Kind == "open":
		first(&f.Suppressed, "kind open: the tool could not decide")
	}
	if r.tables != nil {
		r.tables.run.complete(&f, &ref, r.tables)
		return r.take(f)
	}
	if err := r.take(f); err != nil {
		return err
	}
	r.refs = append(r.refs, r.hold(ref))
	return nil
}

// hold gives equal references one place in memory.
func (r *run) hold(ref reference) *reference {
	if ref.more != nil {
		return &ref
	}
	have, ok := r.held[ref]
	if !ok {
		have = &ref
		if len(r.held) < maxKnown {
			r.held[ref] = have
		}
	}
	return have
}

func (s *sarifResult) empty() bool {
	return s.RuleID == "" && s.RuleIndex == 0 && s.Rule == (descriptor{}) && s.Level == "" && s.Kind == "" && s.Baseline == "" && s.GUID == "" &&
		s.Message.Text == "" && s.Message.Markdown == "" && s.Message.ID == "" && s.Locations == nil && s.Target == (artifact{}) &&
		s.CodeFlows == nil && s.Taxa == nil && s.Suppressions == nil
}

// finding gives the finding, its paths as keys, with what it refers to.
func (r *run) finding(s *sarifResult) (audit.Finding, reference) {
	p := &s.Properties
	ref := reference{rule: s.Rule, level: s.Level, kind: s.Kind, score: p.score, word: p.Severity,
		message: s.Message.ID}
	if s.Message.Arguments != nil || s.Taxa != nil {
		ref.more = &more{s.Message.Arguments, s.Taxa}
	}
	first(&ref.rule.Index, s.RuleIndex)
	f := audit.Finding{RuleID: s.RuleID, CWEs: p.cwes, Confidence: p.Confidence, Title: p.Title, ID: p.ID, Description: s.Message.Text}
	first(&f.ID, s.GUID)
	first(&f.RuleID, ref.rule.ID)
	first(&ref.rule.ID, f.RuleID)
	first(&f.Description, s.Message.Markdown)
	f.Dimension, _ = dimensionOf(p.Dimension)
	for i, l := range s.Locations {
		step := r.step(l)
		if i > 0 {
			f.Others = append(f.Others, step)
			continue
		}
		f.File, f.Lines = step.File, step.Lines
		for _, log := range l.Logical {
			first(&f.Function, log.function())
			if f.Function == "" {
				first(&ref.function, log.Index)
			}
		}
	}
	first(&f.Function, p.function)
	first(&f.File, r.key(s.Target))
	for _, l := range s.Related {
		if step := r.step(l); step.File != "" {
			step.Note = strings.TrimSpace("related: " + step.Note)
			f.Others = append(f.Others, step)
		}
	}
	f.Trace = r.trace(s.CodeFlows)
	f.Suppressed = suppressed(s.Suppressions)
	return f, ref
}

// trace reads the thread flows of the first code flow, one after the other.
// Further code flows are other ways to the same finding and are counted.
func (r *run) trace(flows []codeFlow) (out []audit.Step) {
	for i, flow := range flows {
		if i > 0 {
			r.counts["further code flows of a finding: the first one is held"]++
			continue
		}
		for _, thread := range flow.ThreadFlows {
			for _, l := range thread.Locations {
				if step := r.step(l.Location); step.File != "" || step.Note != "" {
					out = append(out, step)
				} else {
					r.counts["steps of code flows without a place"]++
				}
			}
		}
	}
	return out
}

// suppressed sums up suppressions. One that is accepted, or says nothing of its
// status, suppresses; one under review or rejected does not.
func suppressed(list []suppression) (why string) {
	n := 0
	for _, s := range list {
		first(&s.Status, s.State)
		if s.Status == "underReview" || s.Status == "rejected" {
			continue
		}
		n++
		first(&why, flat(s.Why))
		first(&why, s.Kind)
	}
	if n > 0 {
		first(&why, "suppressed")
	}
	return why
}

func (r *run) step(l location) audit.Step {
	g := l.Physical.Region
	if g.Start == 0 && g.CharOffset+g.ByteOffset > 0 {
		r.counts["regions by offset alone: they give no lines"]++
	}
	return audit.Step{File: r.key(l.Physical.Artifact), Lines: lineRange(g.Start, g.End), Note: plainLinks(l.Message.Text)}
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

// key gives an artifactLocation as "uri NUL base NUL index", which resolve turns
// into a path: what it refers to may not be read yet.
func (r *run) key(a artifact) string {
	switch {
	case a.Base == "" && (a.URI != "" || a.Index == 0):
		return a.URI
	case a.URI != "":
		a.Index = 0
	}
	return r.known.hold([]byte(a.URI + "\x00" + a.Base + "\x00" + strconv.Itoa(int(a.Index)-1)))
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
