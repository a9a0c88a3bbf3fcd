package fixes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/cwe"
)

// maxPlaces is the number of derived places above which somebody has to read the fix.
const maxPlaces = 5

// An adder derives the entries of candidates.
type adder struct {
	*Repository
	table             *Benchmark
	advisories        Advisories
	reverts           map[string]string // commit -> the one that reverts it
	seen              []candidate
	complaints, notes fixture.Complaints
}

// A candidate is a row with its fix.
type candidate struct {
	row  TSVRow
	info commitInfo
	d    *Derivation
	id   string // of the change, without regard to lines and white space
}

// Add derives the fixes of the rows, adds those that it does not hold yet to the table, and
// finds the places of all of them in the pool's trees. Rows that cannot be used are in the
// error, and what should be read in the notes. pin names the pool's commit; "" for the parent
// of the first fix, or what the table says. Of advisories it takes suggestions of a CWE.
func Add(ctx context.Context, t *Benchmark, r *Repository, rows []TSVRow, pin string,
	advisories Advisories) (added int, notes fixture.Errors, err error) {
	a := &adder{Repository: r, table: t, advisories: advisories, reverts: map[string]string{}}
	if err := a.readReverts(ctx); err != nil {
		return 0, nil, err
	}
	held := len(t.Fixes)
	for _, row := range rows {
		if err := a.add(ctx, row); err != nil {
			return 0, nil, err
		}
	}
	added = len(t.Fixes) - held
	if len(t.Fixes) > 0 && (added > 0 || pin != "") {
		if err := a.pool(ctx, pin); err != nil {
			return 0, nil, err
		}
		if err := a.contest(ctx); err != nil {
			return 0, nil, err
		}
	}
	t.Hash = t.hash()
	noted, _ := a.notes.Err().(fixture.Errors)
	return added, noted, a.complaints.Err()
}

var revertWords = regexp.MustCompile(`This reverts commit ([0-9a-f]{7,40})`)

func (a *adder) readReverts(ctx context.Context) error {
	all, err := a.log(ctx, "HEAD", "--grep=This reverts commit", "--")
	for _, c := range all {
		for _, m := range revertWords.FindAllStringSubmatch(c.body, -1) {
			a.reverts[a.commit(ctx, m[1])] = c.hash
		}
	}
	return err
}

// add derives one row. An error is one of git's; what is wrong with the row is a complaint.
func (a *adder) add(ctx context.Context, row TSVRow) error {
	refuse := func(format string, args ...any) error {
		a.complaints.Errorf(row.Pos, format, args...)
		return nil
	}
	name := row.Get("commit")
	commit := a.commit(ctx, name)
	if commit == "" {
		return refuse("%s is not in %s: fetch it, or unshallow", cmp.Or(name, "an empty commit"),
			a.Name)
	}
	if slices.ContainsFunc(a.table.Fixes, func(f Fix) bool { return f.Commit == commit }) &&
		!a.candidate(commit) {
		return nil
	}
	info, err := a.info(ctx, commit)
	if err != nil {
		return err
	}
	if info.parent == "" || a.commit(ctx, info.parent) == "" {
		return refuse("%s has no parent", name)
	}
	c := candidate{row: row, info: info}
	if by := a.reverts[commit]; by != "" && a.reverts[by] == "" {
		return refuse("reverted by %s", short(by))
	}
	if c.d, err = a.Derive(ctx, commit, info.parent); err != nil {
		return err
	}
	c.id = c.d.changeID()
	if same := a.duplicate(&c); same != "" {
		return refuse("same change as %s: keep one", same)
	}
	a.seen = append(a.seen, c)
	var cwes []audit.CWE
	for _, word := range strings.FieldsFunc(row.Get("cwe"),
		func(r rune) bool { return r == ',' || r == ' ' }) {
		one, err := audit.ParseCWE(word)
		if err != nil {
			return refuse("%v", err)
		}
		if !cwe.Known(int(one)) {
			return refuse("%v is no weakness of the CWE list: expected a number that it holds", one)
		}
		cwes = append(cwes, one)
	}
	if len(cwes) == 0 {
		return refuse("no CWE: write one%s", a.suggestion(row.Get("advisory"), info.body))
	}
	f := Fix{ID: cmp.Or(row.Get("id"), a.table.nextID()), Commit: commit, Parent: info.parent,
		Date: info.date, CWEs: cwes,
		Title: cmp.Or(row.Get("title"), info.title(), info.subject), CheckedBy: derivedBy,
		Places: map[Revision][]audit.Place{},
		Advisory: cmp.Or(row.Get("advisory"),
			strings.Join(slices.Compact(advisory.FindAllString(info.body, -1)), ", "))}
	if _, err := a.table.ByID(f.ID); err == nil {
		return refuse("the ID %s is taken: expected another one, or none", f.ID)
	}
	if word := row.Get("severity"); word != "" {
		if f.Severity, err = audit.ParseSeverity(word); err != nil {
			return refuse("%v", err)
		}
	}
	switch row.Get("twin") {
	case "", "yes":
	case "no":
		f.Twin = "no"
	default:
		return refuse("twin is %q: expected no where the mended state is not clean, or nothing",
			row.Get("twin"))
	}
	places, err := row.places()
	if err != nil {
		return refuse("%v", err)
	}
	if len(places) > 0 {
		f.CheckedBy = "place given"
		for i := range places {
			if what := a.complete(ctx, c.d, &places[i]); what != "" {
				return refuse("%s", what)
			}
		}
	} else if places = c.d.Places; len(places) == 0 {
		return refuse("%s", c.d.Nothing())
	}
	if len(places) > maxPlaces && f.CheckedBy == derivedBy {
		f.CheckedBy = unread
		files := map[string]bool{}
		for _, p := range places {
			files[p.File] = true
		}
		a.notes.Errorf(row.Pos, "%d places in %d files: read `assay fixes show`, fill place",
			len(places), len(files))
	}
	f.Places[AtParent], f.Places[AtFix] = places, c.d.after(places)
	if err := a.introduce(ctx, row, &f); err != nil {
		return err
	}
	a.table.Fixes = append(a.table.Fixes, f)
	return nil
}

func (a *adder) candidate(commit string) bool {
	return slices.ContainsFunc(a.seen, func(c candidate) bool { return c.info.hash == commit })
}

// changeID identifies a change by what it adds and removes in source files.
func (d *Derivation) changeID() string {
	sum := sha256.New()
	for _, h := range d.Hunks {
		fmt.Fprintln(sum, h.File, squeeze(strings.Join(h.Removed, "\n")),
			squeeze(strings.Join(h.Added, "\n")))
	}
	if len(d.Hunks) == 0 {
		return d.Commit
	}
	return string(sum.Sum(nil))
}

var (
	pickedFrom  = regexp.MustCompile(`cherry picked from commit ([0-9a-f]{7,40})`)
	backport    = regexp.MustCompile(`(?i)^(\s*\[[^\]]*\])+|\s*\(#\d+\)|^\s*backport:?\s+`)
	manySubject = 12 // letters that a subject needs to say which change it is
)

func subjectOf(c commitInfo) string {
	return fixture.Fold(backport.ReplaceAllString(c.title(),
		""))
}

// duplicate returns where an equal change stands; "" for none.
func (a *adder) duplicate(c *candidate) string {
	for _, o := range a.seen {
		picked := func(a, b *candidate) bool {
			return slices.ContainsFunc(pickedFrom.FindAllStringSubmatch(a.info.body, -1),
				func(m []string) bool {
					return strings.HasPrefix(b.info.hash, m[1])
				})
		}
		subject := subjectOf(c.info)
		if o.id == c.id || picked(c, &o) || picked(&o, c) ||
			len(subject) >= manySubject && subject == subjectOf(o.info) {
			return fmt.Sprintf("line %d", o.row.Pos.Line)
		}
	}
	return ""
}

// suggestion returns what advisories of a fix say of its CWE, in brackets.
func (a *adder) suggestion(texts ...string) string {
	for _, name := range advisory.FindAllString(strings.Join(texts, " "), -1) {
		if cwes := a.advisories.CWEs(name); len(cwes) > 0 {
			return fmt.Sprintf(" (%s says %v)", name, cwes[0])
		}
	}
	return ""
}

// complete checks a place that somebody wrote against the parent and adds what it leaves out;
// it returns what is wrong.
func (a *adder) complete(ctx context.Context, d *Derivation, p *audit.Place) string {
	text, ok := a.file(ctx, d.Parent, p.File)
	if !ok {
		return fmt.Sprintf("the parent has no file %s", p.File)
	}
	found, err := a.functionsOf(ctx, map[string]string{p.File: text})
	if err != nil {
		return err.Error()
	}
	fs := found[p.File]
	if p.Function == "" {
		if n := len(splitLines(text)); p.Lines.End > n {
			return fmt.Sprintf("%s at the parent has %d lines, and the place ends at %d", p.File,
				n, p.Lines.End)
		}
		if f := innermost(fs, p.Lines.Start); f != nil {
			p.Function = f.name
		}
		return ""
	}
	at := slices.IndexFunc(fs, func(f function) bool { return f.name == p.Function })
	if at < 0 {
		return fmt.Sprintf("%s at the parent has no function %s", p.File, p.Function)
	}
	p.Lines = fs[at].lines
	for _, h := range d.Hunks { // what the fix changes there says where
		if l := h.lines(); h.File == p.File && h.Function == p.Function && h.Dropped == "" {
			p.Lines = l
			break
		}
	}
	p.Lines.End = min(p.Lines.End, p.Lines.Start+maxSpan-1)
	return ""
}

// after returns where places of the parent are after the fix.
func (d *Derivation) after(places []audit.Place) (all []audit.Place) {
	for _, p := range places {
		file := d.renamed[p.File]
		if file == "" {
			continue // the fix removes the file
		}
		shift := 0
		for _, h := range d.Hunks {
			if h.File == p.File && h.Old+len(h.Removed) <= p.Lines.Start {
				shift += len(h.Added) - len(h.Removed)
			}
		}
		to := audit.Range{Start: p.Lines.Start + shift, End: p.Lines.End + shift}
		for _, h := range d.Hunks {
			if h.File == p.File && len(h.Added) > 0 && h.lines().Overlaps(p.Lines) {
				to.Start, to.End = min(to.Start, h.New), max(to.End, h.New+len(h.Added)-1)
			}
		}
		to.Start = max(1, to.Start)
		to.End = max(to.Start, min(to.End, to.Start+maxSpan-1,
			max(1, len(splitLines(d.new.text[file])))))
		all = append(all, audit.Place{File: file, Function: p.Function, Lines: to})
	}
	return all
}

var noOrigin = regexp.MustCompile(
	`(?i)\b(move[sd]?|moving|refactor\w*|renam\w*|reformat\w*|format(ting)?|lint\w*|restructur\w*|reorgani[sz]\w*|split|extract\w*|import(ed)? (code|sources?))\b`)

// introduce finds the commit that brought the flaw, and its places there: what the row says,
// or what blame says of the first place where it names one commit that is no move.
func (a *adder) introduce(ctx context.Context, row TSVRow, f *Fix) error {
	given := row.Get("introduced")
	if given != "" {
		if f.Introduced = a.commit(ctx, given); f.Introduced == "" {
			a.notes.Errorf(row.Pos, "introduced: %s is not in %s: fetch it, or unshallow",
				given, a.Name)
			return nil
		}
	}
	var commits []string
	for i, p := range f.Places[AtParent] {
		lines, err := a.blame(ctx, f.Parent, p.File, p.Lines.Start, p.Lines.End)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if i == 0 && !slices.Contains(commits, l.commit) {
				commits = append(commits, l.commit)
			}
		}
		if i == 0 && given == "" {
			if why := a.noIntroduction(ctx, commits); why != "" {
				a.notes.Errorf(row.Pos, "%s: fill introduced for -view change", why)
				return nil
			}
			f.Introduced = commits[0]
		}
		if i == 0 {
			if why, err := a.reviewable(ctx, f); why != "" || err != nil {
				f.Introduced = ""
				a.notes.Errorf(row.Pos, "introduced: %s: left out of -view change", why)
				return err
			}
		}
		if err := a.placeThere(ctx, f, p, lines); err != nil {
			return err
		}
	}
	if len(f.Places[AtChange]) == 0 {
		f.Introduced, f.Base = "", ""
		a.notes.Errorf(row.Pos,
			"introduced: no place of %s is in the change: left out of -view change", f.ID)
	}
	return nil
}

// maxChange is the number of added source lines above which nobody reviews a change.
const maxChange = 1500

// reviewable finds the commit before the one that brought a flaw, and says why the change
// cannot be shown; "" it can.
func (a *adder) reviewable(ctx context.Context, f *Fix) (string, error) {
	info, err := a.info(ctx, f.Introduced)
	if err != nil {
		return "", err
	}
	if f.Base = info.parent; f.Base == "" || a.commit(ctx, f.Base) == "" {
		f.Base = ""
		return short(f.Introduced) + " has no parent", nil
	}
	out, err := a.git(ctx, "diff", "--numstat", "-w", "-M", f.Base, f.Introduced, "--")
	added := 0
	for _, line := range splitLines(out) {
		if cells := strings.SplitN(line, "\t", 3); len(cells) == 3 && isCode(cells[2]) {
			added += number(strings.TrimLeft(cells[0], "-"))
		}
	}
	if added > maxChange {
		f.Base = ""
		return fmt.Sprintf("%s adds %d source lines, more than %d", short(f.Introduced),
			added, maxChange), err
	}
	return "", err
}

// noIntroduction says why what blame names is not taken; "" it is.
func (a *adder) noIntroduction(ctx context.Context, commits []string) string {
	if len(commits) != 1 {
		var names []string
		for _, c := range commits[:min(len(commits), 4)] {
			names = append(names, short(c))
		}
		if len(commits) > len(names) {
			names = append(names, "...")
		}
		return fmt.Sprintf("blame names %d commits (%s)", len(commits), strings.Join(names, ", "))
	}
	info, err := a.info(ctx, commits[0])
	switch {
	case err != nil:
		return err.Error()
	case info.parent == "" || a.commit(ctx, info.parent) == "":
		return fmt.Sprintf("blame names %s, which has no parent", short(commits[0]))
	case noOrigin.MatchString(info.subject):
		return fmt.Sprintf("blame names %s, which moves code (%s)", short(commits[0]),
			audit.OneLine(info.subject, 60))
	}
	return ""
}

// placeThere adds a place in the tree of the commit that brought the flaw: the lines that it
// wrote, or the function of the same name.
func (a *adder) placeThere(ctx context.Context, f *Fix, p audit.Place, lines []blamed) error {
	there := audit.Place{Function: p.Function}
	for _, l := range lines {
		if l.commit != f.Introduced || there.File != "" && l.path != there.File {
			continue
		}
		if there.File == "" {
			there.File, there.Lines = l.path, audit.Range{Start: l.line, End: l.line}
		}
		there.Lines.Start, there.Lines.End = min(there.Lines.Start, l.line), max(there.Lines.End,
			l.line)
	}
	file := cmp.Or(there.File, p.File)
	text, ok := a.file(ctx, f.Introduced, file)
	if !ok {
		return nil
	}
	found, err := a.functionsOf(ctx, map[string]string{file: text})
	if err != nil {
		return err
	}
	if there.File != "" {
		there.Function = ""
		if g := innermost(found[file], there.Lines.Start); g != nil {
			there.Function = g.name
		}
	} else {
		at := slices.IndexFunc(found[file],
			func(g function) bool { return p.Function != "" && g.name == p.Function })
		if at < 0 {
			return nil
		}
		there.File, there.Lines = file, found[file][at].lines
	}
	there.Lines.End = min(there.Lines.End, there.Lines.Start+maxSpan-1)
	f.Places[AtChange] = append(f.Places[AtChange], there)
	return nil
}
