package findings

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"assay/audit"
)

// A jsonReader reads plain JSON, and of SARIF everything but the results.
type jsonReader struct {
	*stream
	*collector
	profile *profile
	keys    []string // unknown members of the top-level object, for the error message
	lists   int      // number of lists of findings
}

// readJSON reads a report of the wanted format: JSON, SARIF or Auto. It fails if the report
// has another one, holds no list of findings, or is broken.
func readJSON(r io.Reader, want string, c *collector) error {
	j := &jsonReader{stream: newStream(r), collector: c, profile: generic}
	c.rep.Format = JSON
	var err error
	if j.dec.PeekKind() == '[' {
		err = j.list()
	} else {
		err = j.object(j.topMember)
	}
	sarif := c.rep.Format == SARIF
	if err != nil {
		return j.fault(c.name, err)
	}
	if _, err := j.dec.ReadToken(); err != io.EOF {
		c.add(j.line(), "the file goes on after the report: expected its end; the rest is not read")
	}
	switch {
	case want == SARIF && !sarif:
		return fmt.Errorf("%s:1: expected SARIF, found other JSON: it has no member \"runs\"", c.name)
	case want == JSON && sarif:
		return fmt.Errorf("%s:1: expected plain JSON, found SARIF: state the format sarif", c.name)
	case !sarif && j.lists == 0:
		return fmt.Errorf(
			"%s:1: %w: expected an object with a member runs, findings, results or "+
				"analysisVulnerabilities, found one with %s",
			c.name, ErrNoReport, clip(strings.Join(j.keys, ", ")))
	}
	first(&c.rep.Tool, j.profile.tool)
	return nil
}

// lists holds the names of top-level members that are lists of findings.
var lists = words("findings results analysisvulnerabilities")

// jsonMarks matches everything in JSON but texts and numbers of values.
var jsonMarks = regexp.MustCompile(`"(?:[^"\\]|\\.)*"\s*:|[{}\[\]",]`)

// topMember reads a member of the top-level object.
func (j *jsonReader) topMember(key string) error {
	low := strings.ToLower(key)
	head := map[string]*string{"version": &j.rep.Version, "tool": &j.rep.Tool, "root": &j.rep.Root}
	switch {
	case key == "runs":
		if j.rep.Format != SARIF { // the version read before is that of SARIF
			j.sarifVersion(j.rep.Version)
			j.rep.Format, j.rep.Version = SARIF, ""
		}
		return j.tables()
	case j.rep.Format == SARIF && key == "version":
		v, err := j.value()
		j.sarifVersion(scalar(v))
		return err
	case j.rep.Format == SARIF:
	case lists[low] && (j.dec.PeekKind() == '[' || j.dec.PeekKind() == 'n'):
		j.profileOf(tree{low: {Type: gjson.JSON}})
		return j.list()
	case low == "errors":
		return j.array(func() error {
			v, err := j.value()
			j.add(j.line(), "the tool reports an error of its own: %s",
				clip(flat(jsonMarks.ReplaceAllString(v.Raw, " "))))
			return err
		})
	case head[low] != nil:
		v, err := j.value()
		*head[low] = cmp.Or(scalar(v), *head[low])
		return err
	case low == "coverage":
		v, err := j.value()
		j.cover(texts(v))
		if put := v.Get("deferred.#").Int(); put > 0 {
			j.add(j.line(), "the tool deferred %d parts of the project: they were not audited", put)
		}
		return err
	case lists[low] && j.dec.PeekKind() == '{':
		j.keys = append(j.keys, clip(key)+" (no list)")
		return j.object(j.topMember) // codex-security prints its findings.json as a member
	}
	if lists[low] {
		key += " (no list)"
	}
	if len(j.keys) < 10 {
		j.keys = append(j.keys, clip(key))
	}
	return j.dec.SkipValue()
}

// sarifVersion adds a problem for another version than 2.1.
func (j *jsonReader) sarifVersion(version string) {
	if version != "" && !strings.HasPrefix(version, "2.1.") {
		j.add(j.line(),
			"the SARIF version is %q: expected 2.1.0, since others name files in other members",
			clip(version))
	}
}

// list reads an array of findings; null is an empty one.
func (j *jsonReader) list() error {
	j.lists++
	return j.array(func() error {
		if j.dec.PeekKind() != '{' {
			j.add(j.line(), "an element of the list is not an object: it is not a finding")
			return j.dec.SkipValue()
		}
		v, line, err := j.element('{')
		if err != nil {
			return err
		}
		return j.entry(folded(v), line)
	})
}

// entry reads an element of a list of findings according to the tool that wrote it.
func (j *jsonReader) entry(m tree, line int) error {
	p := j.profileOf(m)
	if in := folded(m[p.inside]); len(in) > 0 {
		m = in
	}
	if p.each == nil {
		return j.one(m, line, "")
	}
	for _, each := range p.each {
		for v := range items(m[each.member]) {
			in := folded(v)
			in["filepath"] = m["filepath"]
			if in.text("ruleid") == "" {
				j.add(line, "%s could not read %s: %s", p.title, clip(m.text("filepath")),
					clip(in.text("message")))
			} else if err := j.one(in, line, each.suppressed); err != nil {
				return err
			}
		}
	}
	return nil
}

// one reads one finding.
func (j *jsonReader) one(m tree, line int, suppressed string) error {
	f := j.finding(m, line)
	first(&f.Suppressed, suppressed)
	names := clip(strings.Join(slices.Sorted(maps.Keys(m)), ", "))
	switch {
	case len(f.CWEs) > 0:
	case f.File == "" && f.RuleID == "" && f.Title == "" && f.Description == "":
		j.add(line, "the entry has no file, CWE, rule or title that can be read: it is not a finding (fields: %s)", names)
		return nil
	case m.holdsMore(members[fCWE]...):
		j.add(line, "the CWE cannot be read: expected a number, a form like CWE-89, or a list of these")
	case f.Lines.IsZero() && f.Function == "":
		j.add(line, "the entry has neither a CWE nor lines: expected one of them, found the fields %s", names)
	}
	return j.take(f)
}

// profileOf returns the tool's profile, which it recognizes by the members of an element.
func (j *jsonReader) profileOf(m tree) *profile {
	if j.profile == generic {
		if i := slices.IndexFunc(profiles, func(p profile) bool { return m.has(p.marks) }); i >= 0 {
			j.profile = &profiles[i]
		}
	}
	return j.profile
}

// finding returns the finding of an element.
func (j *jsonReader) finding(m tree, line int) audit.Finding {
	f := audit.Finding{Pos: audit.Pos{File: j.name, Line: line}}
	p := j.place(m, line)
	f.File, f.Lines = p.File, p.Lines
	f.Trace, f.Others = j.steps(m["trace"], line), j.steps(m["others"], line)
	if all := j.steps(m["locations"], line); f.File == "" && len(all) > 0 { // codex-security
		root := func(s audit.Step) bool { return s.Note == "root_control" }
		at := max(0, slices.IndexFunc(all, root))
		f.File, f.Lines = all[at].File, all[at].Lines
		f.Others = slices.Delete(all, at, at+1)
	}
	for _, of := range []field{fID, fRule, fTitle, fDescription, fSeverity, fCWE, fDimension,
		fConfidence, fSuppressed, fStatus} {
		for _, name := range members[of] {
			for _, v := range texts(m.at(name)) {
				if sev := j.profile.severities[v]; of == fSeverity && sev != 0 {
					v = sev.String()
				}
				if of == fSuppressed {
					v = withdrawal(v)
				}
				if filled(v) != "" && (of != fCWE || v != "0") {
					j.set(&f, of, quote(v), line)
				}
			}
			if of != fCWE && of != fSeverity && m.text(name) != "" {
				break
			}
		}
	}
	if c := m.text("code"); f.RuleID == "" && ruleCode.MatchString(c) {
		f.RuleID = c // of Ruff; elsewhere "code" is source text
	}
	f.Title, f.Function = flat(f.Title), functionName(m.text(members[fFunction]...))
	if m["suppressed"].Type == gjson.True || m.at("extra.isignored").Type == gjson.True {
		first(&f.Suppressed, "suppressed")
	}
	f.CWEs = firstCWEs(f.CWEs, mapped(j.opt.RuleMap, f.RuleID),
		cwesInProse(f.Title+" "+f.Description), cwesInProse(f.RuleID))
	return f
}

// firstCWEs returns the first list that is not empty.
func firstCWEs(lists ...[]audit.CWE) []audit.CWE {
	for _, l := range lists {
		if len(l) > 0 {
			return l
		}
	}
	return nil
}

// place returns the place of an element.
func (j *jsonReader) place(m tree, line int) audit.Step {
	p := placeOf(m.text(members[fFile]...))
	if p.File == "" && m.nested(members[fFile]...) {
		j.add(line, "the file cannot be read: expected a path, with or without lines")
	}
	rs, ok := linesOf(m.lines())
	if !ok || len(rs) == 0 && m.nested("lines", "line") {
		j.add(line, "the lines cannot be read: expected a number, a form like 12-18, or an object with start and end")
	}
	p.Lines = append(rs, p.Lines)[0]
	return p
}

// steps returns a list of places: objects with file, lines and note, or texts.
func (j *jsonReader) steps(v gjson.Result, line int) (out []audit.Step) {
	for v := range items(v) {
		s := step(valid(v.Str))
		if t := folded(v); len(t) > 0 {
			s = j.place(t, line)
			s.Note = flat(t.text("note", "role"))
		}
		if s != (audit.Step{}) {
			out = append(out, s)
		}
	}
	return out
}
