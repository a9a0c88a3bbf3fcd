package findings

import (
	"regexp"
	"strconv"
	"strings"

	"assay/audit"
)

// A field is a column or "Key: value" item of a text report, or a member of JSON.
type field string

const (
	fID, fSeverity, fCWE, fDimension, fFile  field = "ID", "severity", "CWE", "dimension", "file"
	fLines, fEnd, fFunction, fTitle          field = "lines", "end line", "function", "title"
	fDescription, fConfidence, fRule, fTrace field = "description", "confidence", "rule", "trace"
	fStatus, fSuppressed, fOthers            field = "status", "suppressed", "other locations"
)

// list reports whether the field holds a list.
func (of field) list() bool { return of == fTrace || of == fOthers }

// A grammar says how a field is written in a text report.
type grammar struct {
	names string // its columns' and items', lower case
	want  string // what was expected, if it cannot be read
	// set sets the field of a finding, unless it has a value: from v, the result of value, or
	// from the raw text. It returns false if the text cannot be read.
	set func(f *audit.Finding, v, raw string) bool
	// show returns the field as it is written, "" if it has no value.
	show func(f *audit.Finding) string
}

// ofText returns the grammar of a field that holds a text.
func ofText(of field, names string, in func(f *audit.Finding) *string) grammar {
	return grammar{names, "",
		func(f *audit.Finding, v, _ string) bool { first(in(f), v); return true },
		func(f *audit.Finding) string { return asValue(of, *in(f)) }}
}

// steps returns the grammar of a list of steps.
func steps(names string, in func(f *audit.Finding) *[]audit.Step) grammar {
	set := func(f *audit.Finding,
		_, raw string) bool {
		*in(f) = append(*in(f), step(raw))
		return true
	}
	return grammar{names, "", set, func(f *audit.Finding) (list string) {
		for _, s := range *in(f) {
			list += "\n  - " + asStep(s)
		}
		return list
	}}
}

// fields are the fields of a text report. Others are ignored.
var fields = map[field]grammar{
	fID: ofText(fID, "id|#|no|no.|finding id",
		func(f *audit.Finding) *string { return &f.ID }),
	fFunction: ofText(fFunction, "function|method",
		func(f *audit.Finding) *string { return &f.Function }),
	fTitle: ofText(fTitle, "title|name|vulnerability|issue|finding",
		func(f *audit.Finding) *string { return &f.Title }),
	fRule: ofText(fRule, "rule|rule id", func(f *audit.Finding) *string { return &f.RuleID }),
	fSuppressed: ofText(fSuppressed, "suppressed",
		func(f *audit.Finding) *string { return &f.Suppressed }),
	fTrace: steps("trace|data flow", func(f *audit.Finding) *[]audit.Step { return &f.Trace }),
	fOthers: steps("other locations",
		func(f *audit.Finding) *[]audit.Step { return &f.Others }),
	fDescription: {"description|details", "", func(f *audit.Finding, v, _ string) bool {
		f.Description = strings.TrimPrefix(f.Description+" "+v, " ")
		return true
	}, func(f *audit.Finding) string { return asValue(fDescription, f.Description) }},
	fSeverity: {"severity|risk", "CRITICAL, HIGH, MEDIUM, LOW or INFO",
		func(f *audit.Finding, v, _ string) bool {
			sev, ok := severityOf(v)
			first(&f.Severity, sev)
			return ok
		}, func(f *audit.Finding) string { return f.Severity.String() }},
	fCWE: {"cwe|cwes|cwe id|weakness", "a form like CWE-89",
		func(f *audit.Finding, v, _ string) bool {
			cwes := cwesInField(v)
			f.CWEs = addCWEs(f.CWEs, cwes...)
			return cwes != nil
		}, func(f *audit.Finding) string { return audit.JoinCWEs(f.CWEs) }},
	fDimension: {"dimension|category", "one of the ten dimensions",
		func(f *audit.Finding, v, _ string) bool {
			dim, ok := dimensionOf(v)
			first(&f.Dimension, dim)
			return ok
		}, func(f *audit.Finding) string { return string(f.Dimension) }},
	fFile: {"file|path|file path|location|file:line",
		"the one place of the finding, like src/a.go:12-18: " +
			"a row for each site", func(f *audit.Finding, _, raw string) bool {
			p, one := place(raw)
			if !one {
				return false
			}
			first(&f.File, p.File)
			if f.File == p.File {
				first(&f.Lines, p.Lines)
			}
			return f.File == p.File && (f.Lines == p.Lines || p.Lines.IsZero())
		}, func(f *audit.Finding) string {
			return asPlace(audit.Step{File: f.File,
				Lines: f.Lines})
		}},
	fLines: {"lines|line", "a form like 12 or 12-18", func(f *audit.Finding, v, _ string) bool {
		rs, ok := linesOf(v)
		for i, r := range rs {
			if i == 0 {
				f.Lines = r // replaces the lines of the file field, which are less exact
			} else {
				f.Others = append(f.Others, audit.Step{File: f.File, Lines: r})
			}
		}
		return ok
	}, func(f *audit.Finding) string { return f.Lines.String() }},
	fConfidence: {"confidence", "a share, a percentage, or high, medium, low",
		func(f *audit.Finding, v, _ string) (ok bool) {
			f.Confidence, ok = confidenceOf(v)
			return ok
		}, func(f *audit.Finding) string {
			if f.Confidence > 0 {
				return strconv.FormatFloat(f.Confidence, 'g', -1, 64)
			}
			return ""
		}},
	fStatus: {"status", "", func(f *audit.Finding, v, _ string) bool {
		if withdrawn.MatchString(v) {
			first(&f.Suppressed, v)
		}
		return true
	}, nil},
}

// withdrawn matches the status of a finding that was withdrawn.
var withdrawn = regexp.MustCompile(
	`(?i)\b(?:false[ -]positive|suppressed|withdrawn|dismissed|not (?:a )?vulnerab\w*|not exploitable|won'?t fix|risk accepted|rejected)\b`)

// fieldOf returns the field of a column's heading or a key, "" if there is none.
func fieldOf(name string) field {
	name = "|" + strings.TrimSuffix(strings.ToLower(strings.Trim(name, "*`_: ")), "(s)") + "|"
	for of, g := range fields {
		if strings.Contains("|"+g.names+"|", name) {
			return of
		}
	}
	return ""
}

// set sets a field from its text, or adds a problem.
func (c *collector) set(f *audit.Finding, of field, raw string, line int) {
	raw = strings.TrimSpace(raw)
	v := value(of, raw)
	g, known := fields[of]
	if !known || raw == "" || v == "" && !of.list() {
		return
	}
	if !g.set(f, v, raw) {
		c.add(line, "the %s %q cannot be read: expected %s", of, clip(v), g.want)
	}
}

// first sets have to more unless it has a value.
func first[T comparable](have *T, more T) {
	var none T
	if *have == none {
		*have = more
	}
}
