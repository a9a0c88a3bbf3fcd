package seal

import (
	"fmt"
	"slices"
	"strings"

	"assay/audit"
)

// Names are the names that a sealed export changes. A new name stands nowhere in
// the project at the pin, so that the change can be undone.
type Names []*rename

// A rename changes one name, or every name that contains it.
type rename struct {
	audit.Rename
	used bool
}

// NewNames makes a project's table of renames ready for use.
func NewNames(table []audit.Rename) Names {
	var ns Names
	for _, r := range table {
		ns = append(ns, &rename{Rename: r})
	}
	return ns
}

// Hide gives a path of the pinned tree as the export names it.
func (ns Names) Hide(path string) string {
	for _, r := range ns {
		path = r.replace(path, r.From, r.To)
	}
	return path
}

// hide gives a path or a text with the new names. It refuses a text of the
// project that holds a new name already.
func (ns Names) hide(file, text string) (string, error) {
	for _, r := range ns {
		if r.find(text, r.To, 0) >= 0 {
			return "", fmt.Errorf("%s: the new name %q stands in %s already: expected one that the project does not use", r.Pos, r.To, file)
		}
	}
	for _, r := range ns {
		out := r.replace(text, r.From, r.To)
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
		s = r.replace(s, r.To, r.From)
	}
	return s
}

// replace puts to wherever name stands in s.
func (r *rename) replace(s, name, to string) string {
	var b strings.Builder
	from := 0
	for at := r.find(s, name, 0); at >= 0; at = r.find(s, name, from) {
		b.WriteString(s[from:at])
		b.WriteString(to)
		from = at + len(name)
	}
	if from == 0 {
		return s
	}
	b.WriteString(s[from:])
	return b.String()
}

// find gives where name stands in s at or behind from: as a whole name, with
// no letter, digit or _ beside it, or where Within says so anywhere. It gives -1
// where it does not.
func (r *rename) find(s, name string, from int) int {
	for from < len(s) {
		i := strings.Index(s[from:], name)
		if i < 0 {
			return -1
		}
		at, end := from+i, from+i+len(name)
		if r.Within || (at == 0 || !inName(s[at-1])) && (end == len(s) || !inName(s[end])) {
			return at
		}
		from = at + 1
	}
	return -1
}

func inName(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}
