package fixes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

// A Hunk is one difference of a fix, with what became of it.
type Hunk struct {
	File           string // its path before the fix
	Old, New       int    // first line before and after; lines that are only added go before Old
	Removed, Added []string
	Function       string
	Dropped        string // why it is no place; "" it is one
	Demoted        string // why it is a place only where there is no other; "" it is none of these
	newFile        string
	inFunction     bool
}

// lines returns the lines before the fix that the hunk changes, or between which it adds.
func (h *Hunk) lines() audit.Range {
	if n := len(h.Removed); n > 0 {
		return audit.Range{Start: h.Old, End: h.Old + n - 1}
	}
	return audit.Range{Start: max(1, h.Old-1), End: max(1, h.Old)}
}

// A Derivation is what a fix says of the flaw's place.
type Derivation struct {
	Commit, Parent string
	Places         []audit.Place     // the likeliest first
	Hunks          []Hunk            // of source files
	Skipped        map[string]string // files without a place, with the reason
	source         map[string]bool   // source files that the fix changes or adds
	old, new       *tree
	renamed        map[string]string // old path -> new path of the files that stay
}

// A tree holds the files of one commit that a fix changes.
type tree struct {
	text      map[string]string
	functions map[string][]function
}

// Derive finds where the flaw lies that a fix mends, by rules that FIXES in docs/fixes.md
// names: from its diff against its first parent.
func (r *Repository) Derive(ctx context.Context, fix, parent string) (*Derivation, error) {
	changed, err := r.changes(ctx, parent, fix)
	if err != nil {
		return nil, err
	}
	d := &Derivation{Commit: fix, Parent: parent, Skipped: map[string]string{},
		source:  map[string]bool{},
		renamed: map[string]string{}, old: &tree{text: map[string]string{}},
		new: &tree{text: map[string]string{}}}
	for _, c := range changed {
		if err := d.read(ctx, r, c); err != nil {
			return nil, err
		}
	}
	if d.old.functions, err = r.functionsOf(ctx, d.old.text); err != nil {
		return nil, err
	}
	if d.new.functions, err = r.functionsOf(ctx, d.new.text); err != nil {
		return nil, err
	}
	d.locate()
	d.demote()
	d.rank()
	return d, nil
}

// DeriveCommit derives a commit that a person names, against its first parent.
func (r *Repository) DeriveCommit(ctx context.Context, name string) (*Derivation, error) {
	commit := r.commit(ctx, name)
	if commit == "" {
		return nil, fmt.Errorf("%s is not in %s: fetch it, or unshallow", name, r.Name)
	}
	info, err := r.info(ctx, commit)
	if err == nil && info.parent == "" {
		err = fmt.Errorf("%s has no parent", name)
	}
	if err != nil {
		return nil, err
	}
	return r.Derive(ctx, commit, info.parent)
}

// read adds a changed file, unless its kind says that it holds no flaw (rule 1).
func (d *Derivation) read(ctx context.Context, r *Repository, c change) error {
	if kind := cmp.Or(kindOf(c.old), kindOf(c.new)); kind != "" {
		d.Skipped[c.old] = kind
		return nil
	}
	before, err := r.blob(ctx, c.oldBlob)
	if err != nil {
		return err
	}
	after, err := r.blob(ctx, c.newBlob)
	switch {
	case err != nil:
		return err
	case before == "" && after == "":
		d.Skipped[c.old] = kindAsset
		return nil
	case isGenerated(before) || isGenerated(after):
		d.Skipped[c.old] = kindGenerated
		return nil
	}
	d.source[c.new] = true
	if c.status == 'A' {
		d.Skipped[c.new] = "a new file"
		d.new.text[c.new] = after
		return nil
	}
	hunks, err := r.hunks(ctx, c)
	if err != nil {
		return err
	}
	d.old.text[c.old] = before
	if c.status != 'D' {
		d.new.text[c.new], d.renamed[c.old] = after, c.new
	}
	for i := range hunks {
		hunks[i].newFile = d.renamed[c.old]
	}
	d.Hunks = append(d.Hunks, hunks...)
	return nil
}

// locate drops what does nothing (rule 2) and finds each hunk's function; what is outside of
// functions that were there before is dropped, unless nothing else is left (rule 3).
func (d *Derivation) locate() {
	d.split()
	within := false
	for i := range d.Hunks {
		h := &d.Hunks[i]
		if allIdle(h.File, h.Removed, h.Added) {
			h.Dropped = "imports, comments, blanks"
			continue
		}
		f := d.functionOf(h)
		if f != nil {
			h.Function = f.name
		}
		h.inFunction = f != nil || d.isScript(h.File)
		within = within || h.inFunction
	}
	for i := range d.Hunks {
		if h := &d.Hunks[i]; h.Dropped == "" && !h.inFunction && within {
			h.Dropped = "outside of functions that were there before"
		}
	}
}

// isScript reports whether a file is code without a function: all of it is one.
func (d *Derivation) isScript(file string) bool {
	return isCode(file) && !isTemplate(file) && len(d.old.functions[file]) == 0
}

// split cuts hunks whose removed lines lie in several functions.
func (d *Derivation) split() {
	var all []Hunk
	for _, h := range d.Hunks {
		fs := d.old.functions[h.File]
		from := 0
		for i := range h.Removed {
			if i+1 < len(h.Removed) && innermost(fs, h.Old+i) == innermost(fs, h.Old+i+1) {
				continue
			}
			part := h
			part.Old, part.Removed = h.Old+from, h.Removed[from:i+1]
			all = append(all, part)
			from = i + 1
		}
		if len(h.Removed) == 0 {
			all = append(all, h)
		}
	}
	d.Hunks = all
}

// functionOf returns the function before the fix that a hunk changes; nil for none.
func (d *Derivation) functionOf(h *Hunk) *function {
	old := d.old.functions[h.File]
	for i, line := range h.Removed {
		if !isIdle(h.File, line) {
			return innermost(old, h.Old+i)
		}
	}
	for i, line := range h.Added {
		if isIdle(h.newFile, line) && !decorator.MatchString(line) {
			continue
		}
		now := innermost(d.new.functions[h.newFile], h.New+i)
		if now == nil || h.New <= now.at && now.at < h.New+len(h.Added) {
			continue // none, or a new one
		}
		at := slices.IndexFunc(old, func(f function) bool {
			return f.name == now.name && f.scope == now.scope && f.lines.End >= h.Old-1
		})
		if at >= 0 && old[at].lines.Start <= h.Old {
			return &old[at]
		}
	}
	return nil
}

// demote marks hunks that follow from another one: calls of a function whose signature
// changed (rule 4), blocks that return in a new function (5), pure renames (6).
func (d *Derivation) demote() {
	signatures, moved, renames := d.changedSignatures(), d.newFunctionLines(), d.renames()
	for i := range d.Hunks {
		h := &d.Hunks[i]
		if h.Dropped != "" {
			continue
		}
		before, after := strings.Join(h.Removed, "\n"), strings.Join(h.Added, "\n")
		for name, files := range signatures {
			without, n := withoutCalls(before, name)
			with, m := withoutCalls(after, name)
			if n > 0 && m > 0 && without == with && !(files[h.File] && h.Function == name &&
				d.onHead(h)) {
				h.Demoted = "calls " + name + ", whose signature changes"
			}
		}
		if h.Demoted == "" && d.returns(h, moved) {
			h.Demoted = "returns in a new function"
		}
		if h.Demoted == "" && len(h.Removed) > 0 && len(renames) > 0 &&
			squeeze(renamed(before, renames)) == squeeze(after) {
			h.Demoted = "a rename"
		}
	}
	if !slices.ContainsFunc(d.Hunks,
		func(h Hunk) bool { return h.Dropped == "" && h.Demoted == "" }) {
		for i := range d.Hunks {
			d.Hunks[i].Demoted = ""
		}
	}
}

// returns reports whether the lines that a hunk removes stand in a new function, or whether it
// makes a new function of the lines below it.
func (d *Derivation) returns(h *Hunk, moved map[string]bool) bool {
	lines := h.Removed
	if f := innermost(d.old.functions[h.File], h.Old); len(lines) == 0 && f != nil {
		lines = splitLines(d.old.text[h.File])
		lines = lines[min(h.Old-1, len(lines)):min(f.lines.End, len(lines))]
	}
	n, all := 0, 0
	for _, line := range lines {
		if !isIdle(h.File, line) {
			all++
			if moved[squeeze(line)] {
				n++
			}
		}
	}
	return all >= 2 && n*5 >= all*4
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// onHead reports whether a hunk changes the first lines of its function.
func (d *Derivation) onHead(h *Hunk) bool {
	f := innermost(d.old.functions[h.File], h.Old)
	return f != nil && h.Old < f.lines.Start+3
}

// head returns the declaration of a function, without white space: its first line and those
// up to the one that opens the body.
func (t *tree) head(file string, f *function) string {
	var b strings.Builder
	lines := splitLines(t.text[file])
	for n := f.lines.Start; n <= min(f.lines.End, f.lines.Start+10, len(lines)); n++ {
		line := strings.TrimSpace(lines[n-1])
		b.WriteString(line)
		if strings.ContainsAny(line, "{") || strings.HasSuffix(line, ":") ||
			strings.HasSuffix(line, "=>") {
			break
		}
	}
	return squeeze(b.String())
}

// changedSignatures returns the functions that are declared otherwise after the fix, with
// the files that declare them.
func (d *Derivation) changedSignatures() map[string]map[string]bool {
	found := map[string]map[string]bool{}
	for file, fs := range d.old.functions {
		for _, f := range fs {
			now := d.new.functions[d.renamed[file]]
			same := func(g function) bool { return g.name == f.name && g.scope == f.scope }
			at := slices.IndexFunc(now, same)
			if f.name == "" || at < 0 || slices.IndexFunc(fs, same) != slices.Index(fs, f) {
				continue
			}
			if d.old.head(file, &f) != d.new.head(d.renamed[file], &now[at]) {
				if found[f.name] == nil {
					found[f.name] = map[string]bool{}
				}
				found[f.name][file] = true
			}
		}
	}
	return found
}

// newFunctionLines returns the lines of functions that the fix adds, without white space.
func (d *Derivation) newFunctionLines() map[string]bool {
	known := map[string]bool{}
	for _, fs := range d.old.functions {
		for _, f := range fs {
			known[f.name] = true
		}
	}
	found := map[string]bool{}
	for file, fs := range d.new.functions {
		lines := splitLines(d.new.text[file])
		for _, f := range fs {
			if f.name == "" || known[f.name] {
				continue
			}
			for _, line := range lines[f.lines.Start-1 : min(f.lines.End, len(lines))] {
				if !isIdle(file, line) {
					found[squeeze(line)] = true
				}
			}
		}
	}
	return found
}

// withoutCalls returns a text without white space and the arguments of calls of a function,
// and the number of these calls.
func withoutCalls(text, name string) (rest string, n int) {
	call := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\s*\(`)
	var b strings.Builder
	for {
		at := call.FindStringIndex(text)
		if at == nil {
			return squeeze(b.String() + text), n
		}
		n++
		b.WriteString(text[:at[1]])
		text = text[at[1]:]
		text = text[closed(text):]
	}
}

var (
	identifier  = regexp.MustCompile(`[A-Za-z_]\w*`)
	declaration = regexp.MustCompile(
		`\b(?:var|let|const|val|def|func|function|fn|fun|class)\s+([A-Za-z_]\w*)|\b([A-Za-z_]\w*)\s*:?=[^=]`)
)

// renames returns the names that the fix replaces by another one throughout the file that
// declares them.
func (d *Derivation) renames() map[string]string {
	found := map[string]string{}
	for _, h := range d.Hunks {
		before, after := strings.Join(h.Removed, "\n"), strings.Join(h.Added, "\n")
		a, b := identifier.FindAllString(before, -1), identifier.FindAllString(after, -1)
		if len(a) != len(b) {
			continue
		}
		for i := range a {
			if a[i] != b[i] && declares(before, a[i]) && declares(after, b[i]) &&
				!holds(d.new.text[h.newFile], a[i]) && !holds(d.old.text[h.File], b[i]) {
				found[a[i]] = b[i]
			}
		}
	}
	return found
}

func declares(text, name string) bool {
	return slices.ContainsFunc(declaration.FindAllStringSubmatch(text, -1), func(m []string) bool {
		return m[1] == name || m[2] == name
	})
}

func holds(text, name string) bool {
	return slices.Contains(identifier.FindAllString(text, -1), name)
}

func renamed(text string, names map[string]string) string {
	return identifier.ReplaceAllStringFunc(text,
		func(s string) string { return cmp.Or(names[s], s) })
}

// guards are words of checks: a place that gains many is likelier the flaw's (rule 7).
var guards = regexp.MustCompile(
	`(?i)\b(if|unless|when|guard|throw|raise|panic|abort|return|reject|deny|denied|forbid\w*` +
		`|unauthori[sz]ed|assert)\b|check|valid|verif|sanit|escap|encod|quot|auth|permi|allow|owner|safe|secur|limit|max|trust` +
		`|csrf|token|equal|compare|constant|strip|clean|normali|resolve|prefix|bound|40[0134]`)

// maxSpan is the number of lines above which a place is no place any more.
const maxSpan = 50

// rank joins the hunks of each function to one place and orders the places.
func (d *Derivation) rank() {
	type candidate struct {
		audit.Place
		guards int
		whole  audit.Range // of all its hunks
	}
	var all []*candidate
	for i := range d.Hunks {
		h := &d.Hunks[i]
		if h.Dropped != "" || h.Demoted != "" {
			continue
		}
		n, lines := len(guards.FindAllString(strings.Join(h.Added, "\n"), -1)), h.lines()
		at := slices.IndexFunc(all, func(c *candidate) bool {
			return c.File == h.File && (h.Function != "" && c.Function == h.Function ||
				h.Function == "" && c.Function == "" && lines.Start <= c.whole.End+10)
		})
		if at < 0 {
			all = append(all,
				&candidate{audit.Place{File: h.File, Function: h.Function, Lines: lines}, n, lines})
			continue
		}
		c := all[at]
		whole := audit.Range{Start: min(c.whole.Start, lines.Start),
			End: max(c.whole.End, lines.End)}
		if c.whole, c.guards = whole, c.guards+n; whole.End-whole.Start < maxSpan {
			c.Lines = whole
		}
	}
	slices.SortStableFunc(all, func(a, b *candidate) int { return b.guards - a.guards })
	for _, c := range all {
		if c.Lines.End-c.Lines.Start >= maxSpan {
			c.Lines.End = c.Lines.Start + maxSpan - 1
		}
		d.Places = append(d.Places, c.Place)
	}
}

// Nothing says why a derivation found no place; "" where it found one.
func (d *Derivation) Nothing() string {
	if len(d.Places) > 0 {
		return ""
	}
	reasons := map[string]bool{}
	for _, why := range d.Skipped {
		reasons[why] = true
	}
	other := len(d.source) > 0 || reasons[kindVendored] || reasons[kindGenerated] ||
		reasons[kindAsset]
	switch {
	case reasons[kindComponent] && !other:
		return "only a component's version changes: use a component entry"
	case !other && len(reasons) > 0:
		return "only tests and documents change: no place"
	case len(d.source) > 0 && len(d.Hunks) == 0:
		return "only new files: no place; fill place"
	case len(d.source) > 0:
		return "only imports, comments and blanks change: no place"
	}
	return fmt.Sprintf("only files without a place change (%s): fill place",
		strings.Join(slices.Sorted(maps.Keys(reasons)), ", "))
}
