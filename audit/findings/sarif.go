package findings

import (
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"assay/audit"
)

// The members of SARIF 2.1.0 that we read and write.
type (
	sarifRule struct {
		ID            string             `json:"id,omitzero"`
		GUID          string             `json:"guid,omitzero"`
		Name          string             `json:"name,omitzero"`
		Short         message            `json:"shortDescription,omitzero"`
		Full          message            `json:"fullDescription,omitzero"`
		Help          message            `json:"help,omitzero"`
		HelpURI       string             `json:"helpUri,omitzero"`
		Default       configuration      `json:"defaultConfiguration,omitzero"`
		Messages      map[string]message `json:"messageStrings,omitzero"`
		Relationships []relationship     `json:"relationships,omitempty"`
		Properties    properties         `json:"properties,omitzero"`
		cwes, prose   []audit.CWE
	}
	relationship struct {
		Target descriptor `json:"target"`
	}
	configuration struct {
		Level string `json:"level,omitzero"`
	}
	// A descriptor refers to a rule, or to a taxon, of some component.
	descriptor struct {
		ID    string       `json:"id,omitzero"`
		GUID  string       `json:"guid,omitzero"`
		Index ordinal      `json:"index,omitzero"`
		Tool  componentRef `json:"toolComponent,omitzero"`
	}
	componentRef struct {
		Name  string  `json:"name,omitzero"`
		GUID  string  `json:"guid,omitzero"`
		Index ordinal `json:"index,omitzero"`
	}
	message struct {
		Text      string   `json:"text,omitzero"`
		Markdown  string   `json:"markdown,omitzero"`
		ID        string   `json:"id,omitzero"`
		Arguments []string `json:"arguments,omitempty"`
	}
	sarifResult struct {
		RuleID       string        `json:"ruleId,omitzero"`
		RuleIndex    ordinal       `json:"ruleIndex,omitzero"`
		Rule         descriptor    `json:"rule,omitzero"`
		Level        string        `json:"level,omitzero"`
		Kind         string        `json:"kind,omitzero"`
		GUID         string        `json:"guid,omitzero"`
		Baseline     string        `json:"baselineState,omitzero"`
		Message      message       `json:"message"`
		Locations    []location    `json:"locations,omitempty"`
		Related      []location    `json:"relatedLocations,omitempty"`
		Target       artifact      `json:"analysisTarget,omitzero"`
		CodeFlows    []codeFlow    `json:"codeFlows,omitempty"`
		Taxa         []descriptor  `json:"taxa,omitempty"`
		Suppressions []suppression `json:"suppressions,omitempty"`
		Properties   properties    `json:"properties,omitzero"`
	}
	location struct {
		Physical physical  `json:"physicalLocation,omitzero"`
		Logical  []logical `json:"logicalLocations,omitempty"`
		Message  message   `json:"message,omitzero"`
	}
	physical struct {
		Artifact artifact `json:"artifactLocation"`
		Region   region   `json:"region,omitzero"`
	}
	artifact struct {
		URI   string  `json:"uri,omitzero"`
		Base  string  `json:"uriBaseId,omitzero"`
		Index ordinal `json:"index,omitzero"`
	}
	artifactEntry struct {
		Location artifact `json:"location"`
	}
	region struct {
		Start      int     `json:"startLine,omitzero"`
		End        int     `json:"endLine,omitzero"`
		CharOffset ordinal `json:"charOffset,omitzero"`
		ByteOffset ordinal `json:"byteOffset,omitzero"`
	}
	logical struct {
		Name  string  `json:"name,omitzero"`
		Full  string  `json:"fullyQualifiedName,omitzero"`
		Kind  string  `json:"kind,omitzero"`
		Index ordinal `json:"index,omitzero"`
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
		Kind   string `json:"kind,omitzero"`
		Status string `json:"status,omitzero"`
		State  string `json:"state,omitzero"`
		Why    string `json:"justification,omitzero"`
	}
	invocation struct {
		Successful bool     `json:"executionSuccessful"`
		Why        string   `json:"exitCodeDescription"`
		NoStart    string   `json:"processStartFailureMessage"`
		Code       string   `json:"exitCode"`
		Dir        artifact `json:"workingDirectory"`
		Overrides  []struct {
			Descriptor    descriptor    `json:"descriptor"`
			Configuration configuration `json:"configuration"`
		} `json:"ruleConfigurationOverrides"`
		Execution     []notification `json:"toolExecutionNotifications"`
		Configuration []notification `json:"toolConfigurationNotifications"`
	}
	notification struct {
		Level   string  `json:"level"`
		Message message `json:"message"`
	}
)

// An ordinal is a place in a list, from 1: what is absent, 0, is not the first.
type ordinal int

// MarshalJSONTo writes the place as SARIF counts it, from 0.
func (o ordinal) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteToken(jsontext.Int(int64(o) - 1))
}

// properties are the members of a property bag that say something on a finding.
type properties struct {
	Confidence float64 `json:"confidence,omitzero"`
	Dimension  string  `json:"dimension,omitzero"`
	ID         string  `json:"id,omitzero"`
	Severity   string  `json:"severity,omitzero"`
	Title      string  `json:"title,omitzero"`
	score      string
	function   string
	cwes       []audit.CWE
}

// read reads a bag by its names without _ and -, in their order.
func (p *properties) read(w *walker) {
	w.object(func(name []byte) {
		switch key := strings.ToLower(foldName.Replace(string(name))); {
		case key == "securityseverity":
			p.score = w.text()
		case key == "severity" || key == "issueseverity":
			p.Severity = w.text()
		case key == "id":
			p.ID = w.text()
		case key == "title":
			p.Title = w.text()
		case key == "dimension":
			p.Dimension = w.text()
		case key == "function":
			p.function = w.text()
		case key == "tags":
			w.strings(func(v string) {
				p.cwes = addCWEs(p.cwes, cwesInProse(v)...)
				if severities[strings.ToLower(v)] != 0 {
					first(&p.Severity, v)
				}
			})
		case strings.HasPrefix(key, "cwe"):
			w.strings(func(v string) { p.cwes = addCWEs(p.cwes, cwesInField(v)...) })
		case key == "confidence" || key == "issueconfidence":
			p.Confidence, _ = confidenceOf(w.text())
		default:
			w.skip()
		}
	})
}

// The shapes of what is read as a whole.
var (
	shapeOfArtifact   = shapeOf(reflect.TypeFor[artifactEntry]())
	shapeOfBases      = shapeOf(reflect.TypeFor[artifact]())
	shapeOfLogical    = shapeOf(reflect.TypeFor[logical]())
	shapeOfInvocation = shapeOf(reflect.TypeFor[invocation]())
	shapeOfRule       = shapeOf(reflect.TypeFor[sarifRule]())
	shapeOfResult     = shapeOf(reflect.TypeFor[sarifResult]())
)

// A run is one element of runs while it is read. Rules, artifacts, taxonomies
// and base URIs may stand after the results that refer to them, so results are
// held with their references and brought together at the end of their run.
type run struct {
	*stream
	*collector
	line       int
	from       int // index of its first finding in the report
	results    bool
	driver     component
	extensions []component
	taxonomies []component
	bases      map[string]artifact
	artifacts  []string // file keys
	logical    []logical
	read       sarifResult
	refs       []*reference // one a finding
	tables     *runPaths    // of an earlier reading: findings are brought together at once
	held       map[reference]*reference
	overrides  map[string]string
	workdir    string
	counts     map[string]int // what is told once a run, by its text
}

// readRuns reads the value of the member "runs".
func readRuns(s *stream, c *collector) error {
	n := 0
	err := s.array(func(int) error {
		n++
		s.dec.PeekKind()
		r := &run{stream: s, collector: c, line: s.line(), from: len(c.rep.Findings), bases: map[string]artifact{}, held: map[reference]*reference{}, counts: map[string]int{},
			overrides: map[string]string{}}
		if n <= len(c.runs) {
			r.tables = c.runs[n-1].paths() // what is wrong with them, this run's own tell
			c.runs[n-1].collector = c
		}
		err := s.object(func(name []byte) error { return r.member(string(name)) })
		r.resolve()
		if c.surveys {
			c.runs = append(c.runs, r)
		}
		return err
	})
	if err == nil && n == 0 {
		c.rep.Failed = "the SARIF file holds no run: the tool never started"
		c.add(s.line(), "the SARIF file holds no run")
	}
	return err
}

func (r *run) member(name string) error {
	switch name {
	case "tool":
		return r.object(func(name []byte) error {
			switch string(name) {
			case "driver":
				return r.component(&r.driver, "rules")
			case "extensions":
				return r.components(&r.extensions, "rules")
			}
			return r.dec.SkipValue()
		})
	case "taxonomies":
		return r.components(&r.taxonomies, "taxa")
	case "results":
		r.results = r.results || r.dec.PeekKind() == '['
		if r.surveys {
			return r.array(func(int) error {
				r.stream.line() // the lines before it are forgotten
				return r.dec.SkipValue()
			})
		}
		return r.array(func(int) error { return r.result() })
	case "artifacts":
		return r.array(func(int) error {
			var a artifactEntry
			_, err := r.decode(&a, shapeOfArtifact)
			r.artifacts = append(r.artifacts, r.key(a.Location))
			return err
		})
	case "logicalLocations":
		return r.array(func(int) error {
			var l logical
			_, err := r.decode(&l, shapeOfLogical)
			r.logical = append(r.logical, l)
			return err
		})
	case "originalUriBaseIds":
		_, err := r.decode(&r.bases, shapeOfBases)
		return err
	case "invocations":
		return r.array(func(int) error { return r.invocation() })
	case "externalPropertyFileReferences":
		r.add(r.stream.line(), "the run keeps parts of itself in other files (externalPropertyFileReferences): they are not read")
	}
	return r.dec.SkipValue()
}

func (r *run) invocation() error {
	in := invocation{Successful: true}
	line, err := r.decode(&in, shapeOfInvocation)
	if key := r.key(in.Dir); key != "" {
		r.workdir = key
	}
	for _, o := range in.Overrides {
		if o.Descriptor.ID != "" && o.Configuration.Level != "" {
			r.overrides[o.Descriptor.ID] = o.Configuration.Level
		}
	}
	for _, n := range append(in.Execution, in.Configuration...) {
		if n.Level == "error" {
			r.add(line, "the tool tells of an error of its own: %s", clip(flat(n.Message.Text)))
		}
	}
	if !in.Successful {
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

// A component is a tool's driver, an extension or a taxonomy.
type component struct {
	name, version, semantic, guid string
	rules                         []sarifRule
	byID                          map[string]int
}

func (r *run) components(list *[]component, rules string) error {
	return r.array(func(int) error {
		*list = append(*list, component{})
		return r.component(&(*list)[len(*list)-1], rules)
	})
}

// component reads a toolComponent; rules names the member with its descriptors.
func (r *run) component(c *component, rules string) error {
	c.byID = map[string]int{}
	into := map[string]*string{"name": &c.name, "guid": &c.guid, "version": &c.version, "semanticVersion": &c.semantic}
	err := r.object(func(name []byte) (err error) {
		if to := into[string(name)]; to != nil {
			*to, err = r.text()
			return err
		}
		if n := string(name); n != rules && (n != "rules" && n != "taxa" || len(c.rules) > 0) {
			return r.dec.SkipValue()
		}
		return r.array(func(int) error {
			var d sarifRule
			_, err := r.decode(&d, shapeOfRule)
			if _, ok := c.byID[d.ID]; !ok {
				c.byID[d.ID] = len(c.rules)
			}
			d.settle()
			c.rules = append(c.rules, d)
			return err
		})
	})
	first(&c.version, c.semantic)
	return err
}

// settle keeps of a rule's texts what findings take from them.
func (d *sarifRule) settle() {
	d.cwes = addCWEs(cwesInProse(d.HelpURI), d.Properties.cwes...)
	for _, t := range []string{d.Name, d.Short.Text, d.Short.Markdown, d.Full.Text, d.Full.Markdown, d.Help.Text, d.Help.Markdown} {
		d.prose = addCWEs(d.prose, cwesInProse(t)...)
	}
	first(&d.Short.Text, d.Name)
	d.Full, d.Help = message{}, message{}
}
