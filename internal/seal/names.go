package seal

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

// Names are the names that a sealed export changes. A new name stands nowhere in
// the project at the pin, so that the change can be undone.
type Names []*rename

// A rename changes one whole name.
type rename struct {
	audit.Rename
	from, to *regexp.Regexp
	used     bool
}

// NewNames makes a project's table of renames ready for use.
func NewNames(table []audit.Rename) Names {
	whole := func(name string) *regexp.Regexp {
		return regexp.MustCompile(`(^|[^A-Za-z0-9_])` + regexp.QuoteMeta(name) + `($|[^A-Za-z0-9_])`)
	}
	var ns Names
	for _, r := range table {
		ns = append(ns, &rename{Rename: r, from: whole(r.From), to: whole(r.To)})
	}
	return ns
}

// hide gives a path or a text with the new names. It refuses a text of the
// project that holds a new name already.
func (ns Names) hide(file, text string) (string, error) {
	for _, r := range ns {
		if strings.Contains(text, r.To) && r.to.MatchString(text) {
			return "", fmt.Errorf("%s: the new name %q stands in %s already: expected one that the project does not use", r.Pos, r.To, file)
		}
	}
	for _, r := range ns {
		if !strings.Contains(text, r.From) {
			continue // most names stand in few files, and a search is cheaper than a pattern
		}
		out := replaceWhole(r.from, text, r.To)
		r.used = r.used || out != text
		text = out
	}
	return text, nil
}

// Reveal gives the findings on an export with the paths and functions of the
// pinned tree.
func (ns Names) Reveal(findings []audit.Finding) []audit.Finding {
	out := slices.Clone(findings)
	for i := range out {
		f := &out[i]
		f.File, f.Function = ns.reveal(f.File), ns.reveal(f.Function)
		f.Trace, f.Others = ns.revealSteps(f.Trace), ns.revealSteps(f.Others)
	}
	return out
}

func (ns Names) revealSteps(steps []audit.Step) []audit.Step {
	steps = slices.Clone(steps)
	for i := range steps {
		steps[i].File = ns.reveal(steps[i].File)
	}
	return steps
}

func (ns Names) reveal(s string) string {
	for _, r := range slices.Backward(ns) {
		s = replaceWhole(r.to, s, r.From)
	}
	return s
}

// replaceWhole replaces names with the characters around them kept. It runs
// twice because two names that share the character between them do not both
// match at once.
func replaceWhole(re *regexp.Regexp, s, name string) string {
	if !re.MatchString(s) {
		return s
	}
	with := "${1}" + strings.ReplaceAll(name, "$", "$$") + "${2}"
	return re.ReplaceAllString(re.ReplaceAllString(s, with), with)
}
