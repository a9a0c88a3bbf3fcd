package findings

import (
	"cmp"
	"io"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assay/audit"
)

// These types are the members of SARIF 2.1.0 that are written.
type (
	logOut struct {
		Schema  string   `json:"$schema"`
		Version string   `json:"version"`
		Runs    []runOut `json:"runs"`
	}
	runOut struct {
		Tool struct {
			Driver component `json:"driver"`
		} `json:"tool"`
		Taxonomies  []component  `json:"taxonomies,omitempty"`
		Invocations []invocation `json:"invocations,omitempty"`
		Results     []resultOut  `json:"results"`
	}
	invocation struct {
		Successful    bool           `json:"executionSuccessful"`
		Notifications []notification `json:"toolExecutionNotifications"`
	}
	notification struct {
		Level   string  `json:"level"`
		Message message `json:"message"`
	}
	component struct {
		Name    string       `json:"name"`
		Version string       `json:"version,omitzero"`
		Rules   []descriptor `json:"rules,omitempty"`
		Taxa    []descriptor `json:"taxa,omitempty"`
	}
	// A descriptor is a rule, a taxon, or a reference to one of the component that it names.
	descriptor struct {
		ID   string `json:"id"`
		Tool *named `json:"toolComponent,omitempty"`
	}
	named struct {
		Name string `json:"name"`
		Kind string `json:"kind,omitzero"`
	}
	resultOut struct {
		RuleID       string         `json:"ruleId,omitzero"`
		RuleIndex    *int           `json:"ruleIndex,omitempty"`
		Level        string         `json:"level"`
		Message      message        `json:"message"`
		Locations    []location     `json:"locations,omitempty"`
		CodeFlows    []codeFlow     `json:"codeFlows,omitempty"`
		Taxa         []descriptor   `json:"taxa,omitempty"`
		Suppressions []suppression  `json:"suppressions,omitempty"`
		Properties   map[string]any `json:"properties,omitzero"`
	}
	location struct {
		Physical physical `json:"physicalLocation,omitzero"`
		Logical  []named  `json:"logicalLocations,omitempty"`
		Message  message  `json:"message,omitzero"`
	}
	physical struct {
		Artifact artifact `json:"artifactLocation"`
		Region   region   `json:"region,omitzero"`
	}
	artifact struct {
		URI string `json:"uri"`
	}
	region struct {
		Start int `json:"startLine"`
		End   int `json:"endLine"`
	}
	message struct {
		Text string `json:"text"`
	}
	codeFlow struct {
		ThreadFlows []threadFlow `json:"threadFlows"`
	}
	threadFlow struct {
		Locations []flowStep `json:"locations"`
	}
	flowStep struct {
		Location location `json:"location"`
	}
	suppression struct {
		Kind string `json:"kind"`
		Why  string `json:"justification"`
	}
)

// WriteSARIF writes findings as a SARIF 2.1.0 log with one run. CWEs are taxa of a taxonomy
// named CWE. Properties of the result hold what SARIF lacks: ID, severity, title, dimension,
// confidence. A finding without a rule gets its first CWE as the rule, or "finding". [Read]
// returns the same findings, except for that rule and for backslashes in paths, which become
// slashes.
func WriteSARIF(w io.Writer, tool, version string, fs []audit.Finding) error {
	fs = slices.Clone(fs)
	for i := range fs {
		cwe, _, _ := strings.Cut(audit.JoinCWEs(fs[i].CWEs), ",")
		first(&fs[i].RuleID, cmp.Or(cwe, "finding"))
	}
	return writeSARIF(w, tool, version, fs)
}

// newRun returns an empty run of a tool.
func newRun(tool, version string) *runOut {
	run := &runOut{Results: []resultOut{}}
	run.Tool.Driver = component{Name: cmp.Or(strings.TrimSpace(tool), "unknown"), Version: version}
	return run
}

// writeSARIF writes findings; those without a rule get none.
func writeSARIF(w io.Writer, tool, version string, fs []audit.Finding) error {
	run := newRun(tool, version)
	rules, taxa := map[string]*int{}, map[audit.CWE]bool{}
	cwes := component{Name: "CWE"}
	for _, f := range fs {
		if id := f.RuleID; id != "" && rules[id] == nil {
			rules[id] = new(int)
			*rules[id] = len(run.Tool.Driver.Rules)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, descriptor{ID: id})
		}
		r := resultFor(f)
		r.RuleIndex = rules[f.RuleID]
		for _, c := range f.CWEs {
			r.Taxa = append(r.Taxa, descriptor{ID: c.String(), Tool: &named{Name: cwes.Name}})
			if !taxa[c] {
				taxa[c] = true
				cwes.Taxa = append(cwes.Taxa, descriptor{ID: c.String()})
			}
		}
		run.Results = append(run.Results, r)
	}
	if len(cwes.Taxa) > 0 {
		run.Taxonomies = []component{cwes}
	}
	return run.write(w)
}

// write writes a log with this run.
func (run *runOut) write(w io.Writer) error {
	log := logOut{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: []runOut{*run}}
	err := json.MarshalWrite(w, log, jsontext.AllowInvalidUTF8(true), json.Deterministic(true),
		jsontext.WithIndent(" "))
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n")
	return err
}

// levelOf maps severities to levels; others are warnings.
var levelOf = map[audit.Severity]string{audit.Critical: "error", audit.High: "error",
	audit.Low: "note", audit.Info: "note"}

// resultFor returns a finding as a SARIF result.
func resultFor(f audit.Finding) resultOut {
	r := resultOut{RuleID: f.RuleID, Level: cmp.Or(levelOf[f.Severity], "warning"),
		Message: message{Text: cmp.Or(f.Description, f.Title, f.RuleID, "finding")}}
	if f.File != "" || f.Function != "" || !f.Lines.IsZero() {
		l := locationFor(audit.Step{File: f.File, Lines: f.Lines})
		if f.Function != "" {
			l.Logical = []named{{Name: f.Function, Kind: "function"}}
		}
		r.Locations = append(r.Locations, l)
	}
	for _, s := range f.Others {
		r.Locations = append(r.Locations, locationFor(s))
	}
	if len(f.Trace) > 0 {
		steps := make([]flowStep, len(f.Trace))
		for i, s := range f.Trace {
			steps[i].Location = locationFor(s)
		}
		r.CodeFlows = []codeFlow{{[]threadFlow{{steps}}}}
	}
	if f.Suppressed != "" {
		r.Suppressions = []suppression{{Kind: "external", Why: f.Suppressed}}
	}
	r.Properties = map[string]any{"severity": cmp.Or(f.Severity.String(), "UNKNOWN"),
		"confidence": f.Confidence, "dimension": f.Dimension, "id": f.ID, "title": f.Title}
	maps.DeleteFunc(r.Properties, func(_ string, v any) bool { return reflect.ValueOf(v).IsZero() })
	return r
}

// locationFor returns a step as a SARIF location.
func locationFor(s audit.Step) (l location) {
	if s.File != "" {
		l.Physical.Artifact.URI = pathURI(s.File)
		if !s.Lines.IsZero() {
			l.Physical.Region = region{Start: s.Lines.Start, End: max(s.Lines.Start, s.Lines.End)}
		}
	}
	l.Message.Text = s.Note
	return l
}

// pathURI returns a path as a URI.
func pathURI(p string) string {
	p = valid(p)
	onDrive := len(p) > 2 && drive.MatchString(p) && (p[2] == '\\' || p[2] == '/')
	if onDrive || !strings.Contains(p, "/") {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	if !onDrive && strings.Contains(p, "://") {
		if _, err := url.Parse(p); err == nil {
			return p
		}
	}
	esc := strings.ReplaceAll((&url.URL{Path: p}).EscapedPath(), ":", "%3A")
	switch {
	case onDrive:
		return "file:///" + esc[:1] + ":" + esc[len(p[:1])+3:]
	case strings.HasPrefix(p, "//"):
		return "file:" + esc
	case strings.HasPrefix(p, "/"):
		return "file://" + esc
	}
	return esc
}
