package findings

import (
	"strings"

	"assay/audit"
)

// A message of SARIF: its text, or the ID of one in the rule.
type message struct {
	text, markdown, id string
	args               []string
}

func (s *sarifReader) message() (message, error) {
	var m message
	err := s.object(func(name []byte) (err error) {
		switch string(name) {
		case "text":
			m.text, err = s.string()
		case "markdown":
			m.markdown, err = s.string()
		case "id":
			m.id, err = s.word()
		case "arguments":
			err = s.array(func(int) error {
				v, err := s.string()
				m.args = append(m.args, v)
				return err
			})
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
	return m, err
}

// A resultReader holds one result while its members come.
type resultReader struct {
	*sarifReader
	audit.Finding
	ref       reference
	ruleIndex int
	guid      string
	absent    bool
	sup       suppression
	related   []audit.Step
	line      int
}

func (s *sarifReader) result() error {
	r := &resultReader{sarifReader: s, ref: reference{plain: plain{rule: taxon{index: -1, toolIndex: -1}, function: -1}}, ruleIndex: -1}
	err := s.object(func(name []byte) error {
		if r.line == 0 {
			r.line = s.stream.line()
		}
		return r.member(name)
	})
	r.settle(err == nil)
	return err
}

func (r *resultReader) member(name []byte) (err error) {
	switch string(name) {
	case "ruleId":
		r.RuleID, err = r.word()
	case "ruleIndex":
		r.ruleIndex, err = r.int(-1)
	case "rule":
		r.ref.rule, err = r.taxon()
	case "level":
		r.ref.level, err = r.word()
	case "kind":
		r.ref.kind, err = r.word()
	case "guid":
		r.guid, err = r.string()
	case "baselineState":
		v := ""
		v, err = r.word()
		r.absent = v == "absent"
	case "message":
		var m message
		m, err = r.message()
		r.Description, r.ref.message, r.ref.args = m.text, m.id, m.args
		if r.Description == "" {
			r.Description = m.markdown
		}
	case "locations", "relatedLocations":
		err = r.places(name[0] == 'r')
	case "analysisTarget":
		r.ref.target, err = r.artifact()
	case "codeFlows":
		r.Trace, err = r.codeFlows()
	case "taxa":
		err = r.array(func(int) error {
			t, err := r.taxon()
			r.ref.taxa = append(r.ref.taxa, t)
			return err
		})
	case "suppressions":
		err = r.array(func(int) error { return r.suppression(&r.sup) })
	case "properties":
		err = r.bag()
	default:
		err = r.dec.SkipValue()
	}
	return err
}

// places reads the locations: the first is the finding's own, the others and
// the related ones are further locations.
func (r *resultReader) places(related bool) error {
	return r.array(func(i int) error {
		own := i == 0 && !related
		ref := &r.ref
		if !own {
			ref = nil
		}
		loc, err := r.location(ref)
		switch {
		case own:
			r.File, r.Lines = loc.File, loc.Lines
			if loc.function != "" {
				r.Function = loc.function
			}
		case !related:
			r.Others = append(r.Others, loc.Step)
		case loc.File != "":
			loc.Note = strings.TrimSpace("related: " + loc.Note)
			r.related = append(r.related, loc.Step)
		}
		return err
	})
}

func (r *resultReader) bag() error {
	p, err := r.properties()
	r.CWEs, r.ref.score, r.ref.word = p.cwes, p.score, p.severity
	r.Confidence, r.Title, r.ID = p.confidence, p.title, p.id
	if d, ok := dimensionOf(p.dim); ok {
		r.Dimension = d
	}
	if r.Function == "" {
		r.Function = p.function
	}
	return err
}

// settle takes the result up as a finding, or counts why it is none.
func (r *resultReader) settle(whole bool) {
	if r.ID == "" {
		r.ID = r.guid
	}
	r.Others = append(r.Others, r.related...)
	r.Suppressed = r.sup.reason()
	r.Pos = audit.Pos{File: r.p.name, Line: r.line}
	if r.ref.rule.index < 0 {
		r.ref.rule.index = r.ruleIndex
	}
	if r.RuleID == "" {
		r.RuleID = r.ref.rule.id
	}
	if r.ref.rule.id == "" {
		r.ref.rule.id = r.RuleID
	}
	switch {
	case r.line == 0:
		r.p.add(r.stream.line(), "a result is empty or no object: it is no finding")
		return
	case r.absent:
		r.run.counts["results with baselineState absent: they are no longer found"]++
		return
	case r.ref.kind == "pass" || r.ref.kind == "notApplicable" || r.ref.kind == "informational":
		r.run.counts["results of kind "+r.ref.kind+": by the standard they tell of no problem"]++
		return
	case r.ref.kind == "open" && r.Suppressed == "":
		r.Suppressed = "kind open: the tool could not decide"
	}
	if whole || r.File != "" {
		r.rep.Findings = append(r.rep.Findings, r.Finding)
		r.run.refer(r.ref)
	}
}

// A suppression sums up a result's suppressions. One that is accepted, or says
// nothing of its status, suppresses; one under review or rejected does not.
type suppression struct {
	n   int
	why string
}

func (s *sarifReader) suppression(sup *suppression) error {
	kind, status, why := "", "", ""
	err := s.object(func(name []byte) (err error) {
		switch string(name) {
		case "kind":
			kind, err = s.word()
		case "status", "state":
			status, err = s.word()
		case "justification":
			why, err = s.string()
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
	if status != "underReview" && status != "rejected" {
		sup.n++
		if sup.why == "" {
			if sup.why = flat(why); sup.why == "" {
				sup.why = kind
			}
		}
	}
	return err
}

func (sup *suppression) reason() string {
	if sup.n == 0 {
		return ""
	}
	if sup.why == "" {
		return "suppressed"
	}
	return sup.why
}
