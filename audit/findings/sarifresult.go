package findings

import (
	"strconv"
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

func (s *sarifReader) result() error {
	f := audit.Finding{}
	ref := reference{rule: taxon{index: -1, toolIndex: -1}, function: -1}
	ruleIndex, guid, absent := -1, "", false
	var sup suppression
	var own []audit.CWE
	var related []audit.Step
	s.dec.PeekKind()
	line := 0
	err := s.object(func(name []byte) (err error) {
		if line == 0 {
			line = s.line()
		}
		switch string(name) {
		case "ruleId":
			f.RuleID, err = s.word()
		case "ruleIndex":
			ruleIndex, err = s.int(-1)
		case "rule":
			ref.rule, err = s.taxon()
		case "level":
			ref.level, err = s.word()
		case "kind":
			ref.kind, err = s.word()
		case "guid":
			guid, err = s.string()
		case "baselineState":
			v := ""
			v, err = s.word()
			absent = v == "absent"
		case "message":
			var m message
			m, err = s.message()
			f.Description, ref.message, ref.args = m.text, m.id, m.args
			if f.Description == "" {
				f.Description = m.markdown
			}
		case "locations":
			err = s.array(func(i int) error {
				loc, err := s.location(&ref, i == 0)
				if i == 0 {
					f.File, f.Lines, f.Function = loc.File, loc.Lines, loc.function
				} else {
					f.Others = append(f.Others, loc.Step)
				}
				return err
			})
		case "relatedLocations":
			err = s.array(func(int) error {
				loc, err := s.location(nil, false)
				if loc.File != "" {
					loc.Note = strings.TrimSpace("related: " + loc.Note)
					related = append(related, loc.Step)
				}
				return err
			})
		case "analysisTarget":
			ref.target, err = s.artifact()
		case "codeFlows":
			f.Trace, err = s.codeFlows()
		case "taxa":
			err = s.array(func(int) error {
				t, err := s.taxon()
				ref.taxa = append(ref.taxa, t)
				return err
			})
		case "suppressions":
			err = s.array(func(int) error { return s.suppression(&sup) })
		case "properties":
			var p properties
			p, err = s.properties()
			own, ref.score, ref.word = p.cwes, p.score, p.severity
			f.Confidence, f.Title, f.ID = p.confidence, p.title, p.id
			if d, ok := dimensionOf(p.dim); ok {
				f.Dimension = d
			}
			if f.Function == "" {
				f.Function = p.function
			}
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
	if f.ID == "" {
		f.ID = guid
	}
	f.CWEs = own
	f.Others = append(f.Others, related...)
	f.Suppressed = sup.reason()
	f.Pos = audit.Pos{File: s.p.name, Line: line}
	if ref.rule.index < 0 {
		ref.rule.index = ruleIndex
	}
	if f.RuleID == "" {
		f.RuleID = ref.rule.id
	}
	if ref.rule.id == "" {
		ref.rule.id = f.RuleID
	}
	switch {
	case line == 0:
		s.p.add(s.line(), "a result is empty or no object: it is no finding")
		return err
	case absent:
		s.run.counts["results with baselineState absent: they are no longer found"]++
		return err
	case ref.kind == "pass" || ref.kind == "notApplicable" || ref.kind == "informational":
		s.run.counts["results of kind "+ref.kind+": by the standard they tell of no problem"]++
		return err
	case ref.kind == "open" && f.Suppressed == "":
		f.Suppressed = "kind open: the tool could not decide"
	}
	if err == nil || f.File != "" {
		s.rep.Findings = append(s.rep.Findings, f)
		s.run.refs = append(s.run.refs, ref)
	}
	return err
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

// A sarifPlace is a location with the function around it.
type sarifPlace struct {
	audit.Step
	function string
}

// location reads a location. Of the finding's own place ref takes the index of
// a logical location that stands elsewhere in the run.
func (s *sarifReader) location(ref *reference, first bool) (sarifPlace, error) {
	var p sarifPlace
	err := s.object(func(name []byte) (err error) {
		switch string(name) {
		case "physicalLocation":
			p.File, p.Lines, err = s.physical()
		case "logicalLocations":
			err = s.array(func(int) error {
				l, index, err := s.logicalLocation()
				if p.function == "" {
					p.function = l.function()
				}
				if first && ref != nil && p.function == "" && index >= 0 && ref.function < 0 {
					ref.function = index
				}
				return err
			})
		case "message":
			var m message
			m, err = s.message()
			p.Note = plainLinks(m.text)
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
	return p, err
}

func (s *sarifReader) logicalLocation() (logical, int, error) {
	var l logical
	index := -1
	err := s.object(func(name []byte) (err error) {
		switch string(name) {
		case "name":
			l.name, err = s.word()
		case "fullyQualifiedName":
			l.full, err = s.word()
		case "kind":
			l.kind, err = s.word()
		case "index":
			index, err = s.int(-1)
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
	return l, index, err
}

// function gives the name of a function; a type or a module is none.
func (l logical) function() string {
	switch l.kind {
	case "", "function", "member", "method", "constructor":
	default:
		return ""
	}
	if l.name != "" {
		return functionName(l.name)
	}
	return functionName(l.full)
}

// physical reads a physicalLocation: the key of its file, and its lines.
// Snippets and context are passed over.
func (s *sarifReader) physical() (key string, lines audit.Range, err error) {
	err = s.object(func(name []byte) (err error) {
		switch string(name) {
		case "artifactLocation":
			key, err = s.artifact()
		case "region":
			start, end, offset := 0, 0, false
			err = s.object(func(name []byte) (err error) {
				switch string(name) {
				case "startLine":
					start, err = s.int(0)
				case "endLine":
					end, err = s.int(0)
				case "charOffset", "byteOffset":
					offset = true
					err = s.dec.SkipValue()
				default:
					err = s.dec.SkipValue()
				}
				return err
			})
			lines = lineRange(start, end)
			if offset && start == 0 {
				s.run.counts["regions by offset alone: they give no lines"]++
			}
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
	return key, lines, err
}

// artifact reads an artifactLocation as a key, "uri NUL base NUL index", that
// resolve turns into a path: what it refers to may not be read yet.
func (s *sarifReader) artifact() (string, error) {
	uri, base, index := "", "", -1
	err := s.object(func(name []byte) (err error) {
		switch string(name) {
		case "uri":
			uri, err = s.word()
		case "uriBaseId":
			base, err = s.word()
		case "index":
			index, err = s.int(-1)
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
	if uri == "" && base == "" && index < 0 {
		return "", err
	}
	if uri != "" {
		index = -1
	}
	if base == "" && index < 0 {
		return uri, err
	}
	b := append(s.key[:0], uri...)
	b = append(append(b, 0), base...)
	b = strconv.AppendInt(append(b, 0), int64(index), 10)
	s.key = b
	return s.intern(b), err
}

// codeFlows reads the thread flows of the first code flow, one after the other.
// Further code flows are other ways to the same finding and are counted.
func (s *sarifReader) codeFlows() (trace []audit.Step, err error) {
	err = s.array(func(i int) error {
		if i > 0 {
			s.run.counts["further code flows of a finding: the first one is held"]++
			return s.dec.SkipValue()
		}
		return s.object(func(name []byte) error {
			if string(name) != "threadFlows" {
				return s.dec.SkipValue()
			}
			return s.array(func(int) error {
				return s.object(func(name []byte) error {
					if string(name) != "locations" {
						return s.dec.SkipValue()
					}
					return s.array(func(int) error {
						step := audit.Step{}
						err := s.object(func(name []byte) error {
							if string(name) != "location" {
								return s.dec.SkipValue()
							}
							p, err := s.location(nil, false)
							step = p.Step
							return err
						})
						if step.File != "" || step.Note != "" {
							trace = append(trace, step)
						} else {
							s.run.counts["steps of code flows without a place"]++
						}
						return err
					})
				})
			})
		})
	})
	return trace, err
}
