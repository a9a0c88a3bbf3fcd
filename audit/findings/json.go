package findings

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"assay/audit"
)

// A jsonReader reads the JSON shapes other than SARIF.
type jsonReader struct {
	*stream
	p     *problems
	opt   Options
	rep   *audit.Report
	shape string // by the fields that are one tool's own; "" for a plain array
	keys  []string
	lists int // how many lists of findings there were
}

func readJSON(name string, r io.Reader, want string, opt Options, p *problems) (audit.Report, error) {
	st := newStream(r)
	rep := audit.Report{Format: JSON}
	j := &jsonReader{stream: st, p: p, opt: opt, rep: &rep}
	sarif := false
	var err error
	if st.dec.PeekKind() == '[' {
		err = j.list()
	} else {
		err = st.object(func(key []byte) error {
			if string(key) == "runs" {
				sarif = true
				rep.Format = SARIF
				s := &sarifReader{stream: st, p: p, opt: opt, rep: &rep}
				return s.runs()
			}
			return j.member(string(key))
		})
	}
	if err != nil {
		return rep, st.fault(name, err)
	}
	if _, err := st.dec.ReadToken(); err != io.EOF {
		p.add(st.line(), "something follows the report: it is not read")
	}
	switch {
	case want == SARIF && !sarif:
		return rep, fmt.Errorf("%s: expected SARIF, found other JSON: it has no member \"runs\"", name)
	case want == JSON && sarif:
		return rep, fmt.Errorf("%s: expected plain JSON, found SARIF: state the format sarif", name)
	case !sarif && j.lists == 0:
		return rep, fmt.Errorf("%s: %w: the object has no member runs, results, findings, vulnerabilities, issues or analysisVulnerabilities, but %s",
			name, ErrNoReport, clip(strings.Join(j.keys, ", ")))
	}
	if sarif {
		return rep, nil
	}
	if rep.Tool == "" {
		rep.Tool = j.shape
	}
	return rep, nil
}

// member reads a member of a top-level object that is not SARIF.
func (j *jsonReader) member(key string) (err error) {
	switch low := strings.ToLower(key); low {
	case "results", "findings", "vulnerabilities", "issues", "analysisvulnerabilities", "alerts":
		if j.dec.PeekKind() != '[' && j.dec.PeekKind() != 'n' {
			break
		}
		if low == "analysisvulnerabilities" {
			j.shape = "horusec"
		}
		return j.list()
	case "errors":
		j.dec.PeekKind()
		return j.array(func(int) error {
			what := ""
			err := j.strings(func(v string) { what = strings.TrimSpace(what + " " + v) })
			j.p.add(j.line(), "the tool tells of an error of its own: %s", clip(flat(what)))
			return err
		})
	case "version":
		v := ""
		v, err = j.word()
		if !strings.HasPrefix(j.rep.Version, v) && j.rep.Version == "" {
			j.rep.Version = v
		}
		return err
	case "tool", "auditor":
		j.rep.Tool, err = j.word()
		return err
	case "root", "project_root", "projectroot":
		j.rep.Root, err = j.word()
		return err
	case "coverage":
		return j.strings(func(v string) {
			if d, ok := dimensionOf(v); ok {
				j.rep.Coverage = append(j.rep.Coverage, d)
			}
		})
	}
	if len(j.keys) < 10 {
		j.keys = append(j.keys, clip(key))
	}
	return j.dec.SkipValue()
}

// list reads an array of findings; null is an empty one.
func (j *jsonReader) list() error {
	j.lists++
	return j.array(func(int) error {
		j.dec.PeekKind()
		if j.dec.PeekKind() != '{' {
			j.p.add(j.line(), "an element of the list is no object: it is no finding")
			return j.dec.SkipValue()
		}
		raw, err := j.dec.ReadValue()
		line := j.line() - bytes.Count(raw, []byte("\n"))
		if err != nil {
			return err
		}
		m, err := treeOf(raw)
		if err != nil {
			return err
		}
		j.entry(m, line)
		return nil
	})
}

// fencedJSON reads the JSON that a model put into a fence, in a text that holds
// nothing else.
func fencedJSON(name string, data []byte, opt Options, p *problems) (audit.Report, error, bool) {
	open := bytes.Index(data, []byte("```json"))
	if open < 0 {
		return audit.Report{}, nil, false
	}
	start := open + bytes.IndexByte(append(data[open:len(data):len(data)], '\n'), '\n')
	if start >= len(data) {
		return audit.Report{}, nil, false
	}
	body := data[start:]
	if end := bytes.Index(body, []byte("\n```")); end >= 0 {
		body = body[:end]
	}
	p.list, p.count, p.kinds = nil, nil, nil // they complained of a text report
	pad := bytes.Repeat([]byte("\n"), bytes.Count(data[:start], []byte("\n")))
	rep, err := readJSON(name, io.MultiReader(bytes.NewReader(pad), bytes.NewReader(body)), Auto, opt, p)
	p.add(bytes.Count(data[:start], []byte("\n"))+1, "the JSON stood in a fence inside a text: only the first one is read")
	return rep, err, true
}
