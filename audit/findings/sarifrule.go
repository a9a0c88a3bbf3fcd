package findings

import (
	"strings"

	"assay/audit"
)

func (s *sarifReader) rule(r *rule) error {
	return s.object(func(name []byte) (err error) {
		switch string(name) {
		case "id":
			r.id, err = s.word()
		case "guid":
			r.guid, err = s.word()
		case "name":
			v := ""
			if v, err = s.word(); r.title == "" {
				r.title = v
			}
			r.prose = addCWEs(r.prose, cwesInProse(v)...)
		case "shortDescription", "fullDescription", "help":
			short := name[0] == 's'
			var m message
			m, err = s.message()
			if short && m.text != "" {
				r.title = m.text
			}
			r.prose = addCWEs(r.prose, cwesInProse(m.text)...)
			r.prose = addCWEs(r.prose, cwesInProse(m.markdown)...)
		case "helpUri":
			v := ""
			v, err = s.word()
			r.cwes = addCWEs(r.cwes, cwesInProse(v)...)
		case "defaultConfiguration":
			r.level, err = s.level()
		case "messageStrings":
			r.messages = map[string]string{}
			err = s.object(func(name []byte) error {
				id := string(name)
				m, err := s.message()
				r.messages[id] = m.text
				return err
			})
		case "relationships":
			err = s.array(func(int) error {
				return s.object(func(name []byte) error {
					if string(name) != "target" {
						return s.dec.SkipValue()
					}
					t, err := s.taxon()
					r.relations = append(r.relations, t)
					return err
				})
			})
		case "properties":
			var p properties
			p, err = s.properties()
			r.cwes = addCWEs(r.cwes, p.cwes...)
			r.score, r.word = p.score, p.severity
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
}

// level reads a reportingConfiguration's level.
func (s *sarifReader) level() (level string, err error) {
	err = s.object(func(name []byte) (err error) {
		if string(name) == "level" {
			level, err = s.word()
			return err
		}
		return s.dec.SkipValue()
	})
	return level, err
}

// taxon reads a reportingDescriptorReference. An absent index is -1, not 0.
func (s *sarifReader) taxon() (taxon, error) {
	t := taxon{index: -1, toolIndex: -1}
	err := s.object(func(name []byte) (err error) {
		switch string(name) {
		case "id":
			t.id, err = s.word()
		case "guid":
			t.guid, err = s.word()
		case "index":
			t.index, err = s.int(-1)
		case "toolComponent":
			err = s.object(func(name []byte) (err error) {
				switch string(name) {
				case "name":
					t.tool, err = s.word()
				case "guid":
					t.toolGUID, err = s.word()
				case "index":
					t.toolIndex, err = s.int(-1)
				default:
					err = s.dec.SkipValue()
				}
				return err
			})
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
	return t, err
}

// properties are the members of a property bag that say something on a finding.
type properties struct {
	cwes                                      []audit.CWE
	id, score, severity, title, dim, function string
	confidence                                float64
}

func (s *sarifReader) properties() (properties, error) {
	var p properties
	err := s.object(func(name []byte) (err error) {
		key := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(string(name)))
		switch {
		case key == "tags":
			return s.strings(func(v string) {
				p.cwes = addCWEs(p.cwes, cwesInProse(v)...)
				if sev, ok := severities[strings.ToLower(v)]; ok && sev != 0 && p.severity == "" {
					p.severity = v
				}
			})
		case strings.HasPrefix(key, "cwe"):
			return s.strings(func(v string) { p.cwes = addCWEs(p.cwes, cwesInField(v)...) })
		case key == "securityseverity":
			p.score, err = s.word()
		case key == "severity", key == "issueseverity":
			p.severity, err = s.word()
		case key == "confidence", key == "issueconfidence":
			v := ""
			v, err = s.word()
			p.confidence, _ = confidenceOf(v)
		case key == "id":
			p.id, err = s.string()
		case key == "title":
			p.title, err = s.string()
		case key == "dimension":
			p.dim, err = s.word()
		case key == "function":
			p.function, err = s.word()
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
	return p, err
}
