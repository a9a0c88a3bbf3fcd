package findings

import (
	"encoding/json"
	"io"
	"net/url"
	"strings"

	"assay/audit"
)

// The members of SARIF that WriteSARIF fills.
type (
	sarifOut struct {
		Schema  string   `json:"$schema"`
		Version string   `json:"version"`
		Runs    []runOut `json:"runs"`
	}
	runOut struct {
		Tool struct {
			Driver componentOut `json:"driver"`
		} `json:"tool"`
		Taxonomies []componentOut `json:"taxonomies,omitempty"`
		Results    []resultOut    `json:"results"`
	}
	componentOut struct {
		Name    string    `json:"name"`
		Version string    `json:"version,omitempty"`
		Rules   []ruleOut `json:"rules,omitempty"`
		Taxa    []ruleOut `json:"taxa,omitempty"`
	}
	ruleOut struct {
		ID         string         `json:"id"`
		Properties map[string]any `json:"properties,omitempty"`
	}
	resultOut struct {
		RuleID       string           `json:"ruleId"`
		RuleIndex    int              `json:"ruleIndex"`
		Level        string           `json:"level"`
		Message      messageOut       `json:"message"`
		Locations    []locationOut    `json:"locations,omitempty"`
		CodeFlows    []codeFlowOut    `json:"codeFlows,omitempty"`
		Taxa         []taxonOut       `json:"taxa,omitempty"`
		Suppressions []suppressionOut `json:"suppressions,omitempty"`
		Properties   map[string]any   `json:"properties,omitempty"`
	}
	messageOut struct {
		Text string `json:"text"`
	}
	locationOut struct {
		Physical *physicalOut `json:"physicalLocation,omitempty"`
		Logical  []logicalOut `json:"logicalLocations,omitempty"`
		Message  *messageOut  `json:"message,omitempty"`
	}
	physicalOut struct {
		Artifact artifactOut `json:"artifactLocation"`
		Region   *regionOut  `json:"region,omitempty"`
	}
	artifactOut struct {
		URI string `json:"uri"`
	}
	regionOut struct {
		Start int `json:"startLine"`
		End   int `json:"endLine,omitempty"`
	}
	logicalOut struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	}
	codeFlowOut struct {
		ThreadFlows []threadFlowOut `json:"threadFlows"`
	}
	threadFlowOut struct {
		Locations []flowStepOut `json:"locations"`
	}
	flowStepOut struct {
		Location locationOut `json:"location"`
	}
	taxonOut struct {
		ID   string `json:"id"`
		Tool struct {
			Name string `json:"name"`
		} `json:"toolComponent"`
	}
	suppressionOut struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification,omitempty"`
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
	run := runOut{Results: []resultOut{}}
	run.Tool.Driver = componentOut{Name: valid(tool), Version: valid(version)}
	rules, taxa := map[string]int{}, map[string]bool{}
	cwes := componentOut{Name: "CWE"}
	for _, f := range fs {
		id := ruleName(f)
		index, ok := rules[id]
		if !ok {
			index = len(rules)
			rules[id] = index
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, ruleOut{ID: id})
		}
		r := resultFor(f, id, index)
		for _, c := range f.CWEs {
			t := taxonOut{ID: c.String()}
			t.Tool.Name = cwes.Name
			r.Taxa = append(r.Taxa, t)
			if !taxa[t.ID] {
				taxa[t.ID] = true
				cwes.Taxa = append(cwes.Taxa, ruleOut{ID: t.ID})
			}
		}
		run.Results = append(run.Results, r)
	}
	if len(cwes.Taxa) > 0 {
		run.Taxonomies = []componentOut{cwes}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(sarifOut{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []runOut{run}})
}

func ruleName(f audit.Finding) string {
	switch {
	case f.RuleID != "":
		return valid(f.RuleID)
	case len(f.CWEs) > 0:
		return f.CWEs[0].String()
	}
	return "finding"
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func resultFor(f audit.Finding, rule string, index int) resultOut {
	r := resultOut{RuleID: rule, RuleIndex: index, Level: "warning", Properties: map[string]any{}}
	switch f.Severity {
	case audit.Critical, audit.High:
		r.Level = "error"
	case audit.Low, audit.Info:
		r.Level = "note"
	}
	for _, m := range []string{f.Description, f.Title, rule} {
		if r.Message.Text == "" {
			r.Message.Text = valid(m)
		}
	}
	if f.File != "" || f.Function != "" || !f.Lines.IsZero() {
		l := locationFor(audit.Step{File: f.File, Lines: f.Lines})
		if f.Function != "" {
			l.Logical = []logicalOut{{Name: valid(f.Function), Kind: "function"}}
		}
		r.Locations = append(r.Locations, l)
	}
	for _, s := range f.Others {
		r.Locations = append(r.Locations, locationFor(s))
	}
	if len(f.Trace) > 0 {
		steps := make([]flowStepOut, len(f.Trace))
		for i, s := range f.Trace {
			steps[i].Location = locationFor(s)
		}
		r.CodeFlows = []codeFlowOut{{ThreadFlows: []threadFlowOut{{Locations: steps}}}}
	}
	if f.Suppressed != "" {
		r.Suppressions = []suppressionOut{{Kind: "external", Justification: valid(f.Suppressed)}}
	}
	put := func(k, v string) {
		if v != "" {
			r.Properties[k] = valid(v)
		}
	}
	put("id", f.ID)
	put("title", f.Title)
	put("dimension", string(f.Dimension))
	put("severity", f.Severity.String())
	if f.Severity == audit.SeverityUnknown {
		r.Properties["severity"] = "UNKNOWN"
	}
	if f.Confidence > 0 {
		r.Properties["confidence"] = f.Confidence
	}
	return r
}

func locationFor(s audit.Step) (l locationOut) {
	if s.File != "" {
		l.Physical = &physicalOut{Artifact: artifactOut{URI: pathURI(s.File)}}
		if !s.Lines.IsZero() {
			l.Physical.Region = &regionOut{Start: s.Lines.Start, End: max(s.Lines.Start, s.Lines.End)}
		}
	}
	if s.Note != "" {
		l.Message = &messageOut{Text: valid(s.Note)}
	}
	return l
}

// pathURI is the inverse of uriPath: a relative reference, or file:// for an
// absolute path.
func pathURI(p string) string {
	p = valid(p)
	drive := len(p) > 2 && p[1] == ':' && isLetter(p[0]) && (p[2] == '\\' || p[2] == '/')
	if drive || !strings.Contains(p, "/") {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	if !drive && strings.Contains(p, "://") {
		if _, err := url.Parse(p); err == nil {
			return p
		}
	}
	esc := strings.ReplaceAll((&url.URL{Path: p}).EscapedPath(), ":", "%3A")
	switch {
	case drive:
		return "file:///" + esc[:1] + ":" + esc[len(p[:1])+3:]
	case strings.HasPrefix(p, "//"):
		return "file:" + esc
	case strings.HasPrefix(p, "/"):
		return "file://" + esc
	}
	return esc
}
