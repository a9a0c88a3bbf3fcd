package findings

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"assay/audit"
)

// A sarifRun holds the tables of one SARIF run that its results refer to. They may follow the
// results, so results are read in a second pass.
type sarifRun struct {
	*collector
	line       int
	looked     bool     // whether it has a list of results
	driver     []string // IDs of the driver's rules, by index
	rules      map[string]*sarifRule
	taxonomies []string          // their names, by index
	bases      map[string]string // folders by the IDs of bases
	root       string            // the project's, without a slash at its end
	result     result            // the one that is read
	counts     map[string]int    // problems that are reported once a run, by their texts
}

// A sarifRule holds the properties of a rule that findings use.
type sarifRule struct {
	title, level string
	rating
	cwes, prose []audit.CWE // of its properties; of its texts
}

// A rating is a severity as properties state it.
type rating struct{ score, word string }

// maxRuns is the limit of runs, whose tables are all held in memory.
const maxRuns = 10_000

var errRuns = fmt.Errorf("the report holds more than %d runs: reading ended at this limit", maxRuns)

// tables reads the value of the member "runs" except its results.
func (j *jsonReader) tables() error {
	before := len(j.runs)
	err := j.array(func() error {
		if len(j.runs) == maxRuns {
			return errRuns
		}
		j.dec.PeekKind()
		r := &sarifRun{collector: j.collector, line: j.line(), rules: map[string]*sarifRule{},
			bases: map[string]string{}, counts: map[string]int{}, result: result{}}
		tables := map[string]gjson.Result{}
		err := j.object(func(name string) error { return r.table(j.stream, name, tables) })
		r.index(tables)
		j.runs = append(j.runs, r)
		return err
	})
	if err == nil && len(j.runs) == before {
		j.rep.Failed = "the SARIF file holds no run: the tool never started"
		j.add(j.line(), "the SARIF file holds no run")
	}
	return err
}

// table reads one member of a run.
func (r *sarifRun) table(s *stream, name string, tables map[string]gjson.Result) (err error) {
	switch name {
	case "tool", "taxonomies", "originalUriBaseIds":
		tables[name], err = s.value()
		return err
	case "invocations":
		return s.array(func() error { return r.invocation(s) })
	case "results":
		r.looked = r.looked || s.dec.PeekKind() == '['
	case "externalPropertyFileReferences":
		r.add(s.line(),
			"the run refers to other files (externalPropertyFileReferences): they are not read")
	}
	return s.dec.SkipValue()
}

// invocation reads one invocation and adds the tool's own errors to the problems.
func (r *sarifRun) invocation(s *stream) error {
	in, line, err := s.element('"')
	if in.Get("ruleConfigurationOverrides.0").Exists() {
		r.add(line, "the run overrides the levels of rules (ruleConfigurationOverrides): they are not read")
	}
	for _, list := range []string{"toolExecutionNotifications", "toolConfigurationNotifications"} {
		for n := range items(in.Get(list)) {
			if n.Get("level").Str == "error" {
				r.add(line, "the tool reports an error of its own: %s",
					clip(scalar(n.Get("message.text"))))
			}
		}
	}
	if in.Get("executionSuccessful").Type == gjson.False {
		what := "executionSuccessful is false"
		if code := scalar(in.Get("exitCode")); code != "" {
			what += ", exit code " + code
		}
		if why := firstText(in, "exitCodeDescription", "processStartFailureMessage"); why != "" {
			what += ": " + clip(why)
		}
		r.rep.Failed = what
		r.add(line, "the tool reports that its run failed: %s", what)
	}
	return err
}

// index converts the tables to the form that results need.
func (r *sarifRun) index(tables map[string]gjson.Result) {
	tool := tables["tool"]
	r.nameTool(firstText(tool, "driver.name"), firstText(tool, "driver.version",
		"driver.semanticVersion"))
	for t := range items(tables["taxonomies"]) {
		r.taxonomies = append(r.taxonomies, scalar(t.Get("name")))
	}
	for i, component := range slices.AppendSeq([]gjson.Result{tool.Get("driver")},
		items(tool.Get("extensions"))) {
		for d := range items(component.Get("rules")) {
			id := scalar(d.Get("id"))
			if r.rules[id] == nil {
				r.rules[id] = r.rule(d)
			}
			if i == 0 {
				r.driver = append(r.driver, id)
			}
		}
	}
	if !r.looked {
		r.rep.Failed = "a run has no results array: by the standard its tool could not analyse"
		r.add(r.line, "the run has no results array: by the standard its tool could not analyse")
	}
	r.findRoot(tables["originalUriBaseIds"])
}

// nameTool adds the name and version of a tool to the report.
func (r *sarifRun) nameTool(name, version string) {
	rep := &r.rep
	switch {
	case slices.Contains(strings.Split(rep.Tool, ", "), name):
	case rep.Tool == "":
		rep.Tool, rep.Version = name, version
	default:
		rep.Tool += ", " + name
		rep.Version += ", " + version
	}
}

// rule returns what findings use of a rule.
func (r *sarifRun) rule(d gjson.Result) *sarifRule {
	bag := folded(d.Get("properties"))
	rule := &sarifRule{title: firstText(d, "shortDescription.text", "name"),
		level: scalar(d.Get("defaultConfiguration.level")), rating: bag.rating()}
	for t := range items(d.Get("relationships")) {
		rule.cwes = addCWEs(rule.cwes, r.taxon(t.Get("target"))...)
	}
	rule.cwes = addCWEs(rule.cwes, cwesInProse(d.Get("helpUri").Str)...)
	rule.cwes = addCWEs(rule.cwes, bag.cwes()...)
	for _, t := range []string{"name", "shortDescription.text", "shortDescription.markdown",
		"fullDescription.text", "fullDescription.markdown", "help.text", "help.markdown"} {
		rule.prose = addCWEs(rule.prose, cwesInProse(d.Get(t).Str)...)
	}
	return rule
}

// taxon returns the CWE of a reference to a taxon: an ID written as a CWE, or a number in a
// taxonomy named CWE.
func (r *sarifRun) taxon(t gjson.Result) []audit.CWE {
	id, name := scalar(t.Get("id")), scalar(t.Get("toolComponent.name"))
	if place := t.Get("toolComponent.index"); name == "" && place.Exists() {
		name = at(r.taxonomies, place)
	}
	switch {
	case id == "":
		r.counts["references to a taxon without its ID: they give no CWE"]++
	case strings.Contains(strings.ToUpper(name), "CWE"):
		return cwesInField(id)
	}
	return cwesInProse(id)
}

// at returns the element of a list at an index, "" if there is none.
func at(list []string, place gjson.Result) string {
	if i := place.Int(); place.Type == gjson.Number && i >= 0 && i < int64(len(list)) {
		return list[i]
	}
	return ""
}

// firstText returns the text or number at the first path that has one.
func firstText(v gjson.Result, paths ...string) string {
	for _, p := range paths {
		if s := scalar(v.Get(p)); s != "" && v.IsObject() {
			return s
		}
	}
	return ""
}

// rootBases are the names, in upper case, of base URIs that are the project's root.
var rootBases = words(
	"SRCROOT PROJECTROOT ROOTPATH ROOT PROJECT_ROOT SOURCEROOT WORKSPACE REPOROOT")

// findRoot reads the base URIs and finds the project's root: a base with such a name
// (%SRCROOT%). A single absolute base with another name may be the root, or a source folder
// below it (as SpotBugs writes), so paths in it stay absolute.
func (r *sarifRun) findRoot(bases gjson.Result) {
	var abs []string
	bases.ForEach(func(id, base gjson.Result) bool {
		dir, _ := uriPath(firstText(base, "uri"))
		r.bases[id.Str] = dir
		if isAbs(dir) {
			abs = append(abs, dir)
		}
		return true
	})
	delete(r.bases, "") // a base without a name is not referred to
	for _, id := range slices.Sorted(maps.Keys(r.bases)) {
		if dir := r.bases[id]; isAbs(dir) && rootBases[strings.ToUpper(strings.Trim(id, "%"))] {
			first(&r.root, strings.TrimSuffix(dir, "/"))
		}
	}
	first(&r.rep.Root, r.root)
	if len(abs) == 1 {
		first(&r.rep.Root, strings.TrimSuffix(abs[0], "/"))
	}
}

// isAbs reports whether a path is absolute.
func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && drive.MatchString(p) ||
		strings.Contains(p, "://")
}

// path returns the path of an artifact. Paths relative to a base of the root stay relative;
// absolute ones stay absolute.
func (r *sarifRun) path(a gjson.Result, line int) string {
	uri, base := firstText(a, "uri"), r.bases[firstText(a, "uriBaseId")]
	if uri == "" && a.Get("index").Exists() {
		r.counts["locations by the index of an artifact, without its URI: they name no file"]++
	}
	name, good := uriPath(uri)
	switch {
	case !good:
		r.add(line, "the URI %q has broken percent-encoding: it is used undecoded", clip(uri))
	case name == "" || base == "" || isAbs(name):
		return name
	case strings.Contains(base, "://"):
		name = strings.TrimSuffix(base, "/") + "/" + name
	default:
		name = path.Join(base, name)
	}
	if rel, ok := strings.CutPrefix(name, r.root+"/"); ok && r.root != "" {
		return rel
	}
	return name
}
