package findings

import (
	"cmp"
	"io"
	"maps"
	"net/url"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assay/audit"
)

type (
	logOut struct {
		Schema  string   `json:"$schema"`
		Version string   `json:"version"`
		Runs    []runOut `json:"runs"`
	}
	runOut struct {
		Tool       sarifTool     `json:"tool"`
		Taxonomies []component   `json:"taxonomies,omitempty"`
		Results    []sarifResult `json:"results"`
	}
)

// WriteSARIF writes findings as a SARIF 2.1.0 log of one run. CWEs are taxa of
// a taxonomy named CWE; what SARIF has no place for (ID, severity, title,
// dimension, confidence) is in the result's properties. A finding without a
// rule takes its first CWE as the rule, or "finding". [Read] gives the findings
// back but for that rule, and for backslashes in paths, which become slashes.
func WriteSARIF(w io.Writer, tool, version string, fs []audit.Finding) error {
	if strings.TrimSpace(tool) == "" {
		tool = "unknown"
	}
	run := runOut{Results: []sarifResult{}}
	run.Tool.Driver = component{Name: tool, Version: version}
	rules, taxa := map[string]ordinal{}, map[audit.CWE]bool{}
	cwes := component{Name: "CWE"}
	for _, f := range fs {
		cwe, _, _ := strings.Cut(audit.JoinCWEs(f.CWEs), ",")
		id := cmp.Or(f.RuleID, cwe, "finding")
		if rules[id] == 0 {
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: id})
			rules[id] = ordinal(len(run.Tool.Driver.Rules))
		}
		r := resultFor(f, id)
		r.RuleIndex = rules[id]
		for _, c := range f.CWEs {
			r.Taxa = append(r.Taxa, descriptor{ID: c.String(), Tool: componentRef{Name: cwes.Name}})
			if !taxa[c] {
				taxa[c] = true
				cwes.Taxa = append(cwes.Taxa, sarifRule{ID: c.String()})
			}
		}
		run.Results = append(run.Results, r)
	}
	if len(cwes.Taxa) > 0 {
		run.Taxonomies = []component{cwes}
	}
	log := logOut{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []runOut{run}}
	if err := json.MarshalWrite(w, log, permissive, json.Deterministic(true), jsontext.WithIndent(" ")); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// levelOf gives severities as levels; others are a warning.
var levelOf = map[audit.Severity]string{audit.Critical: "error", audit.High: "error", audit.Low: "note", audit.Info: "note"}

func resultFor(f audit.Finding, rule string) sarifResult {
	r := sarifResult{RuleID: rule, Level: cmp.Or(levelOf[f.Severity], "warning"), Message: message{Text: cmp.Or(f.Description, f.Title, rule)}}
	if f.File != "" || f.Function != "" || !f.Lines.IsZero() {
		l := locationFor(audit.Step{File: f.File, Lines: f.Lines})
		if f.Function != "" {
			l.Logical = []logical{{Name: f.Function, Kind: "function"}}
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
	r.Properties = map[string]any{"severity": cmp.Or(f.Severity.String(), "UNKNOWN"), "confidence": f.Confidence,
		"dimension": f.Dimension, "id": f.ID, "title": f.Title}
	maps.DeleteFunc(r.Properties, func(_ string, v any) bool { return reflect.ValueOf(v).IsZero() })
	return r
}

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

// pathURI is the inverse of uriPath: a relative reference, or file:// for an
// absolute path.
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
