package seal

import (
	"fmt"
	"slices"
	"strings"

	"assay/audit"
)

// Names are the names that a sealed export replaces. A new name does not occur in the project
// at the pin, so that the replacement can be reversed.
type Names []audit.Rename

// Hide returns a path of the pinned tree as the export names it.
func (ns Names) Hide(path string) string {
	for _, r := range ns {
		path = replace(path, r.From, r.To, r.Within)
	}
	return path
}

// hide returns a path or a text with the new names and notes in used which names occurred. A
// text that already contains a new name is an error.
func (ns Names) hide(file, text string, used map[audit.Rename]bool) (string, error) {
	for _, r := range ns {
		if find(text, r.To, 0, r.Within) >= 0 {
			return "", fmt.Errorf(
				"%s: the new name %q already occurs in %s: expected one that the project does not use", r.Pos, r.To, file)
		}
	}
	for _, r := range ns {
		out := replace(text, r.From, r.To, r.Within)
		used[r] = used[r] || out != text
		text = out
	}
	return text, nil
}

// Reveal returns findings on an export with the paths and functions of the pinned tree.
func (ns Names) Reveal(findings []audit.Finding) []audit.Finding {
	out := slices.Clone(findings)
	for i := range out {
		f := &out[i]
		f.File, f.Function = ns.reveal(f.File), ns.reveal(f.Function)
		f.Trace, f.Others = ns.revealSteps(f.Trace), ns.revealSteps(f.Others)
	}
	return out
}

// revealSteps returns the steps with the paths of the pinned tree.
func (ns Names) revealSteps(steps []audit.Step) []audit.Step {
	steps = slices.Clone(steps)
	for i := range steps {
		steps[i].File = ns.reveal(steps[i].File)
	}
	return steps
}

// reveal replaces new names by the old ones.
func (ns Names) reveal(s string) string {
	for _, r := range slices.Backward(ns) {
		s = replace(s, r.To, r.From, r.Within)
	}
	return s
}

// replace replaces a name where find finds it.
func replace(s, name, to string, within bool) string {
	var b strings.Builder
	from := 0
	for at := find(s, name, 0, within); at >= 0; at = find(s, name, from, within) {
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

// find returns the index of name in s at or after from, or -1. Unless within is set, the name
// must be whole: not next to a letter, digit or underscore.
func find(s, name string, from int, within bool) int {
	for from < len(s) {
		i := strings.Index(s[from:], name)
		if i < 0 {
			return -1
		}
		at, end := from+i, from+i+len(name)
		if within || (at == 0 || !inName(s[at-1])) && (end == len(s) || !inName(s[end])) {
			return at
		}
		from = at + 1
	}
	return -1
}

// inName reports whether c may be part of a name.
func inName(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}
