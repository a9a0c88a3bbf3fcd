package findings

import (
	"strconv"

	"assay/audit"
)

// A sarifPlace is a location with the function around it.
type sarifPlace struct {
	audit.Step
	function string
}

// location reads a location. Of the finding's own place ref takes the index of
// a logical location that stands elsewhere in the run.
func (s *sarifReader) location(ref *reference) (sarifPlace, error) {
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
				if ref != nil && p.function == "" && index >= 0 && ref.function < 0 {
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
							p, err := s.location(nil)
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
