package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A run holds the tables of one element of runs. They may stand before or after the
// results that refer to them, so that the results are read afterwards.
type run struct {
	*collector
	line       int
	looked     bool // it has a list of results
	tool       sarifTool
	taxonomies []component
	bases      map[string]artifact
	artifacts  []artifactEntry
	logical    []logical
	overrides  map[string]string // levels by rule
	workdir    artifact
	root       string              // the project's, without a slash at its end
	paths      map[artifact]string // those that are known
	counts     map[string]int      // what is told once a run, by its text
	result     sarifResult         // the one that is read
}

// maxRuns is the number of runs, all of whose tables are held, above which a report is
// an accident or an attack.
const maxRuns = 10_000

var errRuns = fmt.Errorf("the report holds more than %d runs: reading ended at this limit", maxRuns)

// tables reads the value of the member "runs" but for its results.
func (j *jsonReader) tables() error {
	before := len(j.runs)
	err := j.array(func(int) error {
		if len(j.runs) == maxRuns {
			return errRuns
		}
		j.dec.PeekKind()
		r := &run{collector: j.collector, line: j.line(), overrides: map[string]string{}, paths: map[artifact]string{}, counts: map[string]int{}}
		err := j.object(func(name string) error { return r.table(j.stream, name) })
		r.settle()
		j.runs = append(j.runs, r)
		return err
	})
	if err == nil && len(j.runs) == before {
		j.rep.Failed = "the SARIF file holds no run: the tool never started"
		j.add(j.line(), "the SARIF file holds no run")
	}
	return err
}

func (r *run) table(s *stream, name string) error {
	switch name {
	case "tool":
		return s.decode(&r.tool)
	case "taxonomies":
		return s.decode(&r.taxonomies)
	case "artifacts":
		return s.decode(&r.artifacts)
	case "logicalLocations":
		return s.decode(&r.logical)
	case "originalUriBaseIds":
		return s.decode(&r.bases)
	case "invocations":
		return s.array(func(int) error { return r.invocation(s) })
	case "results":
		r.looked = r.looked || s.dec.PeekKind() == '['
	case "externalPropertyFileReferences":
		r.add(s.line(), "the run keeps parts of itself in other files (externalPropertyFileReferences): they are not read")
	}
	return s.dec.SkipValue()
}

func (r *run) invocation(s *stream) error {
	var in invocation
	line, err := s.element(&in, '"')
	if in.Dir != (artifact{}) {
		r.workdir = in.Dir
	}
	for _, o := range in.Overrides {
		if o.Descriptor.ID != "" && o.Configuration.Level != "" {
			r.overrides[o.Descriptor.ID] = o.Configuration.Level
		}
	}
	for _, n := range append(in.Execution, in.Configuration...) {
		if n.Level == "error" {
			r.add(line, "the tool tells of an error of its own: %s", clip(n.Message.Text))
		}
	}
	if in.Successful != nil && !*in.Successful {
		what := "executionSuccessful is false"
		if in.Code != "" {
			what += ", exit code " + in.Code
		}
		first(&in.Why, in.NoStart)
		if in.Why != "" {
			what += ": " + clip(in.Why)
		}
		r.rep.Failed = what
		r.add(line, "the tool says that its run failed: %s", what)
	}
	return err
}

// settle makes the tables, which are whole, ready for the results.
func (r *run) settle() {
	r.tool.Driver.settle()
	for _, list := range [][]component{r.tool.Extensions, r.taxonomies} {
		for i := range list {
			list[i].settle()
		}
	}
	r.nameTool()
	if !r.looked {
		r.rep.Failed = "a run has no results array: by the standard its tool did not get to look"
		r.add(r.line, "the run has no results array: by the standard its tool did not get to look")
	}
	r.findRoot()
	first(&r.rep.Root, r.root)
}

func (r *run) nameTool() {
	d, rep := &r.tool.Driver, &r.rep
	switch {
	case slices.Contains(strings.Split(rep.Tool, ", "), d.Name):
	case rep.Tool == "":
		rep.Tool, rep.Version = d.Name, d.Version
	default:
		rep.Tool += ", " + d.Name
		rep.Version += ", " + d.Version
	}
}

// settle keeps of a component's rules what findings take from them.
func (c *component) settle() {
	first(&c.Version, c.Semantic)
	if len(c.Rules) == 0 {
		c.Rules = c.Taxa
	}
	c.byID = map[string]int{}
	for i := range c.Rules {
		d := &c.Rules[i]
		if _, ok := c.byID[d.ID]; !ok {
			c.byID[d.ID] = i
		}
		d.bag = folded(d.Properties)
		d.cwes = addCWEs(cwesInProse(d.HelpURI), d.bag.cwes()...)
		for _, t := range []string{d.Name, d.Short.Text, d.Short.Markdown, d.Full.Text, d.Full.Markdown, d.Help.Text, d.Help.Markdown} {
			d.prose = addCWEs(d.prose, cwesInProse(t)...)
		}
		first(&d.Short.Text, d.Name)
		d.Full, d.Help = message{}, message{}
	}
}

// find gives the rule of an ID, or of one of its parents, or of a GUID; nil where there
// is none.
func (c *component) find(id, guid string) *sarifRule {
	for id := range upwards(id) {
		if i, ok := c.byID[id]; ok {
			return &c.Rules[i]
		}
	}
	for i := range c.Rules {
		if guid != "" && c.Rules[i].GUID == guid {
			return &c.Rules[i]
		}
	}
	return nil
}

// in gives the component that a reference means, by name, by GUID or by its place in the
// first of the lists that has it; nil where there is none.
func (ref componentRef) in(lists ...[]component) *component {
	var found *component
	for _, list := range lists {
		for i := range list {
			if c := &list[i]; ref.Name != "" && c.Name == ref.Name || ref.GUID != "" && c.GUID == ref.GUID {
				return c
			}
		}
		if ref.Name == "" {
			found = cmp.Or(found, at(list, ref.Index))
		}
	}
	return found
}
