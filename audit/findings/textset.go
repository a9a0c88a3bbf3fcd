package findings

import (
	"regexp"
	"strings"

	"assay/audit"
)

var withdrawn = regexp.MustCompile(`(?i)\b(?:false[ -]positive|suppressed|withdrawn|dismissed|not (?:a )?vulnerab\w*|not exploitable|won'?t fix|risk accepted|rejected)\b|误报|已排除|不成立`)

// A setter fills one field of a draft: v as value gives it, raw as it stands. It
// is false for what cannot be read; want is what it expected. What is filled
// stays: a second file, or a second range, is a further location.
type setter struct {
	want string
	set  func(d *draft, v, raw string, exact bool) bool
}

// always is the setter of a field that takes any text.
func always(set func(d *draft, v, raw string)) setter {
	return setter{set: func(d *draft, v, raw string, _ bool) bool { set(d, v, raw); return true }}
}

var setters = map[field]setter{
	fID: {"a short ID like F-01", func(d *draft, v, _ string, exact bool) bool {
		if ok := exact || len(v) <= 40; !ok || d.ID != "" && d.named {
			return ok
		}
		d.ID, d.named = v, exact || !isDigits(v)
		return true
	}},
	fSeverity: {"CRITICAL, HIGH, MEDIUM, LOW or INFO", func(d *draft, v, _ string, _ bool) bool {
		sev, ok := severityOf(v)
		first(&d.Severity, sev)
		return ok
	}},
	fCWE: {"a form like CWE-89", func(d *draft, v, _ string, _ bool) bool {
		cwes := cwesInField(v)
		d.CWEs = addCWEs(d.CWEs, cwes...)
		return cwes != nil
	}},
	fDimension: {"one of the ten dimensions", func(d *draft, v, _ string, _ bool) bool {
		dim, ok := dimensionOf(v)
		first(&d.Dimension, dim)
		return ok
	}},
	fKind: always(func(d *draft, v, _ string) {
		dim, _ := dimensionOf(v)
		first(&d.Dimension, dim)
		first(&d.Title, v)
		d.CWEs = addCWEs(d.CWEs, cwesInProse(v)...)
	}),
	fFile:     always(func(d *draft, _, raw string) { d.addPlaces(places(raw)) }),
	fLines:    {"a form like 12 or 12-18", func(d *draft, v, _ string, _ bool) bool { return d.addLines(v) }},
	fFunction: always(func(d *draft, v, _ string) { first(&d.Function, v) }),
	fTitle: {"", func(d *draft, v, _ string, exact bool) bool {
		if d.Title == "" {
			d.Title, d.exact = v, exact
		}
		return true
	}},
	fDescription: {"", func(d *draft, v, _ string, exact bool) bool {
		if d.Description = strings.TrimSpace(d.Description + " " + v); exact {
			d.Description = v
		}
		return true
	}},
	fConfidence: {"a share, a percentage, or high, medium, low", func(d *draft, v, _ string, _ bool) (ok bool) {
		d.Confidence, ok = confidenceOf(v)
		return ok
	}},
	fRule:       always(func(d *draft, v, _ string) { first(&d.RuleID, v) }),
	fTrace:      always(func(d *draft, _, raw string) { d.Trace = append(d.Trace, steps(raw)...) }),
	fOthers:     always(func(d *draft, _, raw string) { d.Others = append(d.Others, steps(raw)...) }),
	fSuppressed: always(func(d *draft, v, _ string) { first(&d.Suppressed, v) }),
	fStatus: always(func(d *draft, v, _ string) {
		if withdrawn.MatchString(v) {
			first(&d.Suppressed, v)
		}
	}),
	fEnd: {"a line", func(d *draft, v, _ string, _ bool) bool {
		rs, ok := linesOf(v)
		if ok {
			d.Lines = lineRange(d.Lines.Start, rs[0].End)
		}
		return ok
	}},
}

// set fills one field of a draft, and tells what cannot be read.
func (c *collector) set(d *draft, f field, raw string, line int) {
	v, exact := value(f, raw)
	s, ok := setters[f]
	switch {
	case !ok || v == "" && !(exact && (f == fTrace || f == fOthers)):
	case s.set(d, v, strings.TrimSpace(raw), exact):
		d.fields++
	default:
		c.add(line, "the %s %q cannot be read: expected %s", f, clip(v), s.want)
	}
}

// addPlaces makes the first place the finding's, unless it has one.
func (d *draft) addPlaces(ps []audit.Step) {
	for i, p := range ps {
		switch {
		case i == 0 && d.File == "":
			d.File = p.File
			first(&d.Lines, p.Lines)
		case p.File == d.File && d.Lines.IsZero():
			d.Lines = p.Lines
		case p.File != d.File || p.Lines != d.Lines && !p.Lines.IsZero():
			d.Others = append(d.Others, p)
		}
	}
}

// addLines takes the ranges of a Lines field. They are more exact than those
// that came with the file.
func (d *draft) addLines(v string) bool {
	rs, ok := linesOf(v)
	for i, r := range rs {
		if i == 0 {
			d.Lines = r
		} else {
			d.Others = append(d.Others, audit.Step{File: d.File, Lines: r})
		}
	}
	return ok
}
