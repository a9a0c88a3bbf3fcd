package findings

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"assay/audit"
)

// The members of SARIF 2.1.0 that we read and write.
type (
	// A component is a tool's driver, an extension or a taxonomy.
	component struct {
		Name     string      `json:"name"`
		GUID     string      `json:"guid,omitzero"`
		Version  string      `json:"version,omitzero"`
		Semantic string      `json:"semanticVersion,omitzero"`
		Rules    []sarifRule `json:"rules,omitempty"`
		Taxa     []sarifRule `json:"taxa,omitempty"`
		byID     map[string]int
	}
	sarifTool struct {
		Driver     component   `json:"driver"`
		Extensions []component `json:"extensions,omitempty"`
	}
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
		Relationships []struct {
			Target descriptor `json:"target"`
		} `json:"relationships,omitempty"`
		Properties  map[string]any `json:"properties,omitzero"`
		bag         tree           // the properties, folded
		cwes, prose []audit.CWE
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
		RuleID       string         `json:"ruleId,omitzero"`
		RuleIndex    ordinal        `json:"ruleIndex,omitzero"`
		Rule         descriptor     `json:"rule,omitzero"`
		Level        string         `json:"level,omitzero"`
		Kind         string         `json:"kind,omitzero"`
		GUID         string         `json:"guid,omitzero"`
		Baseline     string         `json:"baselineState,omitzero"`
		Message      message        `json:"message"`
		Locations    []location     `json:"locations,omitempty"`
		Related      []location     `json:"relatedLocations,omitempty"`
		Target       artifact       `json:"analysisTarget,omitzero"`
		CodeFlows    []codeFlow     `json:"codeFlows,omitempty"`
		Taxa         []descriptor   `json:"taxa,omitempty"`
		Suppressions []suppression  `json:"suppressions,omitempty"`
		Properties   map[string]any `json:"properties,omitzero"`
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
		Successful *bool    `json:"executionSuccessful"`
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

// at gives what stands at a place of a list, nil where there is nothing.
func at[T any](list []T, place ordinal) *T {
	if place < 1 || int(place) > len(list) {
		return nil
	}
	return &list[place-1]
}

// MarshalJSONTo writes the place as SARIF counts it, from 0.
func (o ordinal) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteToken(jsontext.Int(int64(o) - 1))
}

// UnmarshalJSONFrom reads it as it is written; what is no place is absent.
func (o *ordinal) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	f, bad := strconv.ParseFloat(unquoted(raw), 64)
	if n := int32(f); bad == nil && float64(n) == f && n >= 0 {
		*o = ordinal(n) + 1
	} else {
		*o = 0
	}
	return err
}
