package findings

import (
	"assay/audit"
)

// A sarifReader reads SARIF 2.1.0 as a stream. Rules, artifacts, taxonomies and
// base URIs may stand after the results that refer to them, so results are held
// with their references and brought together at the end of their run.
type sarifReader struct {
	*stream
	p   *problems
	opt Options
	rep *audit.Report
	run *sarifRun
}

// A sarifRun is one element of runs while it is read.
type sarifRun struct {
	first      int // index of its first finding in the report
	results    bool
	driver     component
	extensions []component
	taxonomies []component
	bases      map[string]base
	artifacts  []string // file keys
	logical    []logical
	refs       []int32 // one a finding, into different
	different  []reference
	shared     map[plain]int32
	overrides  map[string]string
	workdir    string
	counts     map[string]int // what is told once a run, by its text
	line       int
}

// A component is a tool's driver, an extension or a taxonomy.
type component struct {
	name, version, guid string
	rules               []rule
	byID                map[string]int
}

// A rule is a reportingDescriptor: of a tool or, as a taxon, of a taxonomy.
type rule struct {
	id, guid, title, level string
	score                  string // security-severity
	word                   string // properties.severity
	cwes                   []audit.CWE
	prose                  []audit.CWE // from its descriptions
	relations              []taxon
	messages               map[string]string
}

// A taxon is a reference to a reportingDescriptor in some component.
type taxon struct {
	id, guid, tool, toolGUID string
	index, toolIndex         int
}

type base struct{ uri, parent string }

type logical struct{ name, full, kind string }

// A reference is what a finding takes from the rest of its run.
type reference struct {
	plain
	taxa []taxon
	args []string
}

// plain is the part of a reference that many findings share.
type plain struct {
	rule     taxon
	level    string
	kind     string
	score    string
	word     string
	message  string // an ID into the rule's messageStrings
	function int    // index into logicalLocations, -1 for none
	target   string
}

// refer notes the reference of the finding that was taken up last. Equal ones
// are held once: a file of 100 MB has few different ones.
func (r *sarifRun) refer(ref reference) {
	shared := ref.taxa == nil && ref.args == nil
	if at, ok := r.shared[ref.plain]; ok && shared {
		r.refs = append(r.refs, at)
		return
	}
	at := int32(len(r.different))
	r.different = append(r.different, ref)
	r.refs = append(r.refs, at)
	if shared {
		if r.shared == nil {
			r.shared = map[plain]int32{}
		}
		r.shared[ref.plain] = at
	}
}

// runs reads the value of the member "runs".
func (s *sarifReader) runs() error {
	n := 0
	err := s.array(func(int) error {
		n++
		return s.oneRun()
	})
	if err == nil && n == 0 {
		s.rep.Failed = "the SARIF file holds no run: the tool never started"
		s.p.add(s.line(), "the SARIF file holds no run")
	}
	return err
}

func (s *sarifReader) oneRun() error {
	s.run = &sarifRun{first: len(s.rep.Findings), bases: map[string]base{}, counts: map[string]int{}, overrides: map[string]string{}}
	s.dec.PeekKind()
	s.run.line = s.line()
	err := s.object(s.runMember)
	s.resolve()
	return err
}

func (s *sarifReader) runMember(name []byte) error {
	r := s.run
	switch string(name) {
	case "tool":
		return s.object(func(name []byte) error {
			switch string(name) {
			case "driver":
				return s.component(&r.driver, "rules")
			case "extensions":
				return s.components(&r.extensions, "rules")
			}
			return s.dec.SkipValue()
		})
	case "taxonomies":
		return s.components(&r.taxonomies, "taxa")
	case "results":
		if s.dec.PeekKind() == '[' {
			r.results = true
		}
		return s.array(func(int) error { return s.result() })
	case "artifacts":
		return s.array(func(int) error {
			key := ""
			err := s.object(func(name []byte) (err error) {
				if string(name) != "location" {
					return s.dec.SkipValue()
				}
				key, err = s.artifact()
				return err
			})
			r.artifacts = append(r.artifacts, key)
			return err
		})
	case "logicalLocations":
		return s.array(func(int) error {
			l, _, err := s.logicalLocation()
			r.logical = append(r.logical, l)
			return err
		})
	case "originalUriBaseIds":
		return s.object(func(name []byte) error {
			id := s.intern(name)
			var b base
			err := s.object(func(name []byte) (err error) {
				switch string(name) {
				case "uri":
					b.uri, err = s.word()
				case "uriBaseId":
					b.parent, err = s.word()
				default:
					err = s.dec.SkipValue()
				}
				return err
			})
			r.bases[id] = b
			return err
		})
	case "invocations":
		return s.array(func(int) error { return s.invocation() })
	case "externalPropertyFileReferences":
		s.p.add(s.line(), "the run keeps parts of itself in other files (externalPropertyFileReferences): they are not read")
	}
	return s.dec.SkipValue()
}

func (s *sarifReader) components(list *[]component, rules string) error {
	return s.array(func(int) error {
		var c component
		err := s.component(&c, rules)
		*list = append(*list, c)
		return err
	})
}

// component reads a toolComponent; rules names the member with its descriptors.
func (s *sarifReader) component(c *component, rules string) error {
	c.byID = map[string]int{}
	return s.object(func(name []byte) (err error) {
		switch n := string(name); n {
		case "name":
			c.name, err = s.word()
		case "guid":
			c.guid, err = s.word()
		case "version":
			c.version, err = s.word()
		case "semanticVersion":
			v := ""
			if v, err = s.word(); c.version == "" {
				c.version = v
			}
		case "rules", "taxa":
			if n != rules && len(c.rules) > 0 {
				return s.dec.SkipValue()
			}
			err = s.array(func(int) error {
				var r rule
				err := s.rule(&r)
				if _, ok := c.byID[r.id]; !ok {
					c.byID[r.id] = len(c.rules)
				}
				c.rules = append(c.rules, r)
				return err
			})
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
}

func (s *sarifReader) invocation() error {
	failed, why, code := false, "", ""
	err := s.object(func(name []byte) (err error) {
		switch string(name) {
		case "executionSuccessful":
			ok, stated, err := s.bool()
			failed = stated && !ok
			return err
		case "exitCodeDescription", "processStartFailureMessage":
			why, err = s.word()
		case "exitCode":
			code, err = s.word()
		case "workingDirectory":
			s.run.workdir, err = s.artifact()
		case "ruleConfigurationOverrides":
			err = s.array(func(int) error { return s.override() })
		case "toolExecutionNotifications", "toolConfigurationNotifications":
			err = s.array(func(int) error { return s.notification() })
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
	if failed {
		what := "executionSuccessful is false"
		if code != "" {
			what += ", exit code " + code
		}
		if why != "" {
			what += ": " + clip(why)
		}
		s.rep.Failed = what
		s.p.add(s.line(), "the tool says that its run failed: %s", what)
	}
	return err
}

func (s *sarifReader) override() error {
	var t taxon
	level := ""
	err := s.object(func(name []byte) (err error) {
		switch string(name) {
		case "descriptor":
			t, err = s.taxon()
		case "configuration":
			level, err = s.level()
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
	if t.id != "" && level != "" {
		s.run.overrides[t.id] = level
	}
	return err
}

func (s *sarifReader) notification() error {
	level, text := "", ""
	err := s.object(func(name []byte) (err error) {
		switch string(name) {
		case "level":
			level, err = s.word()
		case "message":
			var m message
			m, err = s.message()
			text = m.text
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
	if level == "error" {
		s.p.add(s.line(), "the tool tells of an error of its own: %s", clip(flat(text)))
	}
	return err
}
