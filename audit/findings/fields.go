package findings

import (
	"regexp"
	"strings"

	"assay/audit"
)

// A field is what a column or a "Key: value" item of a text report holds, or a
// member of JSON.
type field string

const (
	fID, fSeverity, fCWE, fDimension, fFile  field = "ID", "severity", "CWE", "dimension", "file"
	fLines, fEnd, fFunction, fTitle          field = "lines", "end line", "function", "title"
	fDescription, fConfidence, fRule, fTrace field = "description", "confidence", "rule", "trace"
	fStatus, fSuppressed, fOthers            field = "status", "suppressed", "other locations"
)

// fieldNames spells the fields in a text report, lower case: what is not here is
// passed over.
var fieldNames = spelled(map[field]string{
	fID:          "id|#|no|no.|finding id",
	fSeverity:    "severity|risk",
	fCWE:         "cwe|cwes|cwe id|weakness",
	fDimension:   "dimension|category",
	fFile:        "file|path|file path|location|file:line",
	fLines:       "lines|line|line(s)",
	fFunction:    "function|method",
	fTitle:       "title|name|vulnerability|issue|finding",
	fDescription: "description|details",
	fConfidence:  "confidence",
	fRule:        "rule|rule id",
	fTrace:       "trace|data flow",
	fStatus:      "status",
	fSuppressed:  "suppressed",
	fOthers:      "other locations",
})

// spelled turns "a|b" under a meaning into the meanings of a and of b.
func spelled[K comparable](words map[K]string) map[string]K {
	m := map[string]K{}
	for k, list := range words {
		for _, w := range strings.Split(list, "|") {
			m[w] = k
		}
	}
	return m
}

// fieldOf gives the field that a column's heading or a key names, "" for none.
func fieldOf(name string) field {
	return fieldNames[strings.ToLower(strings.Trim(name, "*`_: "))]
}

var withdrawn = regexp.MustCompile(`(?i)\b(?:false[ -]positive|suppressed|withdrawn|dismissed|not (?:a )?vulnerab\w*|not exploitable|won'?t fix|risk accepted|rejected)\b`)

// A setter fills one field of a finding: v as value gives it, raw as it stands. It
// is false for what cannot be read; want is what it expected. What is filled stays.
type setter struct {
	want string
	set  func(f *audit.Finding, v, raw string) bool
}

// text is the setter of a field that takes any text.
func text(of func(f *audit.Finding) *string) setter {
	return setter{set: func(f *audit.Finding, v, _ string) bool { first(of(f), v); return true }}
}

var setters = map[field]setter{
	fID:         text(func(f *audit.Finding) *string { return &f.ID }),
	fFunction:   text(func(f *audit.Finding) *string { return &f.Function }),
	fTitle:      text(func(f *audit.Finding) *string { return &f.Title }),
	fRule:       text(func(f *audit.Finding) *string { return &f.RuleID }),
	fSuppressed: text(func(f *audit.Finding) *string { return &f.Suppressed }),
	fDescription: {"", func(f *audit.Finding, v, _ string) bool {
		if f.Description == "" {
			f.Description = v
		} else {
			f.Description += " " + v
		}
		return true
	}},
	fSeverity: {"CRITICAL, HIGH, MEDIUM, LOW or INFO", func(f *audit.Finding, v, _ string) bool {
		sev, ok := severityOf(v)
		first(&f.Severity, sev)
		return ok
	}},
	fCWE: {"a form like CWE-89", func(f *audit.Finding, v, _ string) bool {
		cwes := cwesInField(v)
		f.CWEs = addCWEs(f.CWEs, cwes...)
		return cwes != nil
	}},
	fDimension: {"one of the ten dimensions", func(f *audit.Finding, v, _ string) bool {
		dim, ok := dimensionOf(v)
		first(&f.Dimension, dim)
		return ok
	}},
	fFile: {"the one place of the finding, like src/a.go:12-18: a row a site", func(f *audit.Finding, _, raw string) bool {
		p, one := place(raw)
		if !one {
			return false
		}
		first(&f.File, p.File)
		if f.File == p.File {
			first(&f.Lines, p.Lines)
		}
		return f.File == p.File && (f.Lines == p.Lines || p.Lines.IsZero())
	}},
	fLines: {"a form like 12 or 12-18", func(f *audit.Finding, v, _ string) bool {
		rs, ok := linesOf(v)
		for i, r := range rs {
			if i == 0 {
				f.Lines = r // more exact than those that came with the file
			} else {
				f.Others = append(f.Others, audit.Step{File: f.File, Lines: r})
			}
		}
		return ok
	}},
	fConfidence: {"a share, a percentage, or high, medium, low", func(f *audit.Finding, v, _ string) (ok bool) {
		f.Confidence, ok = confidenceOf(v)
		return ok
	}},
	fTrace:  {"", func(f *audit.Finding, _, raw string) bool { f.Trace = append(f.Trace, step(raw)); return true }},
	fOthers: {"", func(f *audit.Finding, _, raw string) bool { f.Others = append(f.Others, step(raw)); return true }},
	fStatus: {"", func(f *audit.Finding, v, _ string) bool {
		if withdrawn.MatchString(v) {
			first(&f.Suppressed, v)
		}
		return true
	}},
}

// set fills one field of a finding, and tells what cannot be read.
func (c *collector) set(f *audit.Finding, of field, raw string, line int) {
	raw = strings.TrimSpace(raw)
	v := value(of, raw)
	s, known := setters[of]
	list := of == fTrace || of == fOthers
	if !known || raw == "" || v == "" && !list {
		return
	}
	if !s.set(f, v, raw) {
		c.add(line, "the %s %q cannot be read: expected %s", of, clip(v), s.want)
	}
}

// first keeps what is there and takes what is not.
func first[T comparable](have *T, more T) {
	var none T
	if *have == none {
		*have = more
	}
}
