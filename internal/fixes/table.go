// Package fixes makes a private benchmark of a repository's own security fixes: it finds
// candidates, derives from each fix where the flaw lay, and keeps the result as a table
// (fixtures/fixes/<name>.md). Its targets are the pool (the trees before the first and after
// the last fix) and, for each fix, the change that brought the flaw with the fix itself as the
// clean one. docs/fixes.md describes the use.
package fixes

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
)

// Dir is the folder of the tables below a root.
const Dir = "fixtures/fixes"

// A Benchmark is the benchmark of one repository: one file of fixtures/fixes.
type Benchmark struct {
	Name       string
	Repository string   // https or ssh URL, or a path below the root
	Pin        string   // commit of the pool's vulnerable tree
	Fixed      string   // commit of the pool's mended tree
	Scope      []string // folders, by hand; empty: everything
	Fixes      []Fix
	Hash       string // sha256 of all that findings are held against, hex
	Pos        audit.Pos
}

// A Fix is one security fix: an entry of the key.
type Fix struct {
	ID             string
	Commit, Parent string
	Date           string // YYYY-MM-DD
	CWEs           []audit.CWE
	Severity       audit.Severity // SeverityUnknown where nobody said
	Title          string
	Advisory       string
	Introduced     string // the commit that brought the flaw; "" where nobody knows
	Base           string // the commit before it
	Twin           string // why the mended state is not clean; "" it is
	CheckedBy      string // "derived", a reader's name, or "unread"
	Places         map[Revision][]audit.Place
	Pos            audit.Pos
}

// Values of Fix.CheckedBy beside names of readers.
const (
	derivedBy = "derived"
	unread    = "unread"
)

// Read reports whether the entry takes part in the gate: few derived places, or a reader.
func (f *Fix) Read() bool { return f.CheckedBy != unread && f.CheckedBy != "" }

// A Revision names a commit of a fix in which its places are known.
type Revision string

// The trees: the fix's parent, the pool's two, and the results of the two changes.
const (
	AtParent Revision = "parent"
	AtPin    Revision = "pin"
	AtFixed  Revision = "fixed"
	AtChange Revision = "change" // the commit that brought the flaw
	AtFix    Revision = "fix"
)

var trees = []Revision{AtParent, AtPin, AtFixed, AtChange, AtFix}

// Names lists the tables below a root; none is no error.
func Names(fsys fs.FS) []string {
	files, _ := fs.Glob(fsys, path.Join(Dir, "*.md")) // the pattern is sound
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), ".md")
	}
	return files
}

// Read reads and checks a table. Advice is what a reader should know of a table that can
// be used.
func Read(fsys fs.FS, file string) (t *Benchmark, advice fixture.Errors, err error) {
	c := &fixture.Complaints{}
	t = &Benchmark{Name: strings.TrimSuffix(path.Base(file), ".md"),
		Pos: audit.Pos{File: file, Line: 1}}
	at := map[string]int{}
	seen := map[string]bool{}
	for _, s := range c.Sections(fsys, file) {
		name := fixture.Fold(s.Title)
		switch {
		case len(seen) == 0:
			t.identity(s)
			name = "the title"
		case name == "fixes":
			for _, r := range s.Rows("ID", "Fix", "Parent", "Date", "CWE", "Severity", "Title",
				"Advisory",
				"Introduced", "Base", "Twin", "Checked by") {
				f := readFix(r)
				if _, twice := at[f.ID]; twice {
					r.Errorf("a second %s: expected each ID once", f.ID)
				}
				at[f.ID] = len(t.Fixes)
				t.Fixes = append(t.Fixes, f)
				if later, ok := strings.CutPrefix(f.Twin, againWords); ok {
					advice = append(advice, &fixture.Error{Pos: f.Pos,
						What: fmt.Sprintf("%s mended again by %s: twin not counted", f.ID, later)})
				}
			}
		case name == "places":
			for _, r := range s.Rows("ID", "Tree", "File", "Function", "Lines") {
				i, ok := at[r.Get("ID")]
				tree := Revision(r.Get("Tree"))
				switch {
				case !ok:
					r.Errorf("the ID is %q: expected one of the section Fixes, which stands above",
						r.Get("ID"))
				case !slices.Contains(trees, tree):
					r.Errorf("the tree is %q: expected parent, pin, fixed, change or fix", tree)
				default:
					f := &t.Fixes[i]
					f.Places[tree] = append(f.Places[tree], audit.Place{File: r.File("File"),
						Function: r.Get("Function"), Lines: r.Lines()})
				}
			}
		default:
			c.Errorf(s.Pos, "the section %q is not read: expected Fixes and Places", s.Title)
		}
		if seen[name] {
			c.Errorf(s.Pos, "a second section %q: expected one", s.Title)
		}
		seen[name] = true
	}
	for _, name := range []string{"fixes", "places"} {
		if !seen[name] && len(seen) > 0 {
			c.Errorf(t.Pos, "the section %q is missing: write the table with assay fixes add", name)
		}
	}
	for _, f := range t.Fixes {
		if len(f.Places[AtParent]) == 0 {
			c.Errorf(f.Pos,
				"%s has no place in the tree parent: expected one in the section Places", f.ID)
		}
	}
	t.Hash = t.hash()
	return t, advice, c.Err()
}

// againWords begin the column Twin of a fix that another one mended again.
const againWords = "mended again by "

var wholeHash = regexp.MustCompile(`^[0-9a-f]{40}$`)

func (t *Benchmark) identity(s fixture.Section) {
	for _, r := range s.Rows("Field", "Value") {
		if !r.Read("Field", "Value", map[string]any{"repository": &t.Repository, "pin": &t.Pin,
			"fixed": &t.Fixed,
			"scope": &t.Scope}) {
			r.Errorf("unknown field %q: expected Repository, Pin, Fixed or Scope", r.Get("Field"))
		}
		switch name := fixture.Fold(r.Get("Field")); {
		case (name == "pin" || name == "fixed") && !wholeHash.MatchString(r.Get("Value")):
			r.Errorf("%s is %q: expected a commit of 40 hex digits", r.Get("Field"), r.Get("Value"))
		case name == "scope":
			for _, folder := range t.Scope {
				if !fs.ValidPath(folder) {
					r.Errorf("the scope %q is no folder of the repository: expected a path like src/orders", folder)
				}
			}
		}
	}
	if t.Repository == "" || t.Pin == "" || t.Fixed == "" {
		s.Errorf("Repository, Pin or Fixed is missing: write the table with assay fixes add")
	}
}

func readFix(r fixture.Row) Fix {
	f := Fix{ID: r.Get("ID"), Commit: r.Get("Fix"), Parent: r.Get("Parent"), Date: r.Get("Date"),
		CWEs:  r.CWEs(),
		Title: r.Raw("Title"), Advisory: r.Get("Advisory"), Introduced: r.Get("Introduced"),
		Base: r.Get("Base"), Twin: r.Get("Twin"),
		CheckedBy: r.Get("Checked by"), Places: map[Revision][]audit.Place{}, Pos: r.Pos}
	r.NeedText("ID", "Title", "Checked by")
	for column, hash := range map[string]string{"Fix": f.Commit, "Parent": f.Parent,
		"Introduced": f.Introduced,
		"Base":       f.Base} {
		if !wholeHash.MatchString(hash) && (hash != "" || column == "Fix" || column == "Parent") {
			r.Errorf("%s is %q: expected a commit of 40 hex digits", column, hash)
		}
	}
	if (f.Base == "") != (f.Introduced == "") {
		r.Errorf("Introduced and Base are not both filled: expected the commit that brought the flaw, and the one before it")
	}
	var err error
	if r.Get("Severity") != "" {
		if f.Severity, err = audit.ParseSeverity(r.Get("Severity")); err != nil {
			r.Errorf("%v", err)
		}
	}
	return f
}

// hash covers what findings are held against and where it lies.
func (t *Benchmark) hash() string {
	here := *t
	here.Pos, here.Hash, here.Fixes = audit.Pos{}, "", slices.Clone(t.Fixes)
	for i := range here.Fixes {
		here.Fixes[i].Pos = audit.Pos{}
	}
	slices.SortFunc(here.Fixes, func(a, b Fix) int { return strings.Compare(a.ID, b.ID) })
	b, err := json.Marshal(here)
	if err != nil { // strings and numbers alone: cannot be
		panic(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Format returns the table as its file's text.
func (t *Benchmark) Format() string {
	var b strings.Builder
	row := func(cells ...string) {
		for _, c := range cells {
			b.WriteString("| " + strings.ReplaceAll(audit.OneLine(c, 0), "|", `\|`) + " ")
		}
		b.WriteString("|\n")
	}
	head := func(cells ...string) {
		row(cells...)
		b.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
	}
	fmt.Fprintf(&b, "# Security fixes of %s\n\n", t.Name)
	head("Field", "Value")
	row("Repository", t.Repository)
	row("Pin", t.Pin)
	row("Fixed", t.Fixed)
	if len(t.Scope) > 0 {
		row("Scope", strings.Join(t.Scope, ", "))
	}
	b.WriteString("\n# Fixes\n\n")
	head("ID", "Fix", "Parent", "Date", "CWE", "Severity", "Title", "Advisory", "Introduced",
		"Base", "Twin", "Checked by")
	for _, f := range t.Fixes {
		var cwes []string
		for _, c := range f.CWEs {
			cwes = append(cwes, c.String())
		}
		severity := ""
		if f.Severity != audit.SeverityUnknown {
			severity = f.Severity.String()
		}
		row(f.ID, f.Commit, f.Parent, f.Date, strings.Join(cwes, ", "), severity, f.Title,
			f.Advisory, f.Introduced,
			f.Base, f.Twin, f.CheckedBy)
	}
	b.WriteString("\n# Places\n\n")
	head("ID", "Tree", "File", "Function", "Lines")
	for _, f := range t.Fixes {
		for _, tree := range trees {
			for _, p := range f.Places[tree] {
				row(f.ID, string(tree), p.File, p.Function, p.Lines.String())
			}
		}
	}
	return b.String()
}

// nextID returns the first free ID.
func (t *Benchmark) nextID() string {
	for n := len(t.Fixes) + 1; ; n++ {
		id := fmt.Sprintf("F%02d", n)
		if !slices.ContainsFunc(t.Fixes, func(f Fix) bool { return f.ID == id }) {
			return id
		}
	}
}

// ByID returns the fix of an ID or of a commit.
func (t *Benchmark) ByID(id string) (*Fix, error) {
	var ids []string
	for i := range t.Fixes {
		f := &t.Fixes[i]
		if f.ID == id || len(id) >= 7 && strings.HasPrefix(f.Commit, id) {
			return f, nil
		}
		ids = append(ids, f.ID)
	}
	return nil, fmt.Errorf("%s has no fix %q: expected one of %s, or its commit", t.Pos.File, id,
		cmp.Or(strings.Join(ids, ", "), "none: the table is empty"))
}

// Summary returns what the table holds in one line.
func (t *Benchmark) Summary() string {
	pool, changes, unclean, unreadFixes := 0, 0, 0, 0
	for _, f := range t.Fixes {
		for _, x := range []struct {
			n  *int
			is bool
		}{{&pool, len(f.Places[AtPin]) > 0}, {&changes, len(f.Places[AtChange]) > 0}, {&unclean,
			f.Twin != ""}, {&unreadFixes, !f.Read()}} {
			if x.is {
				*x.n++
			}
		}
	}
	return fmt.Sprintf(
		"%d fixes: %d in the pool, %d with the change that brought the flaw, %d without a clean twin, %d unread",
		len(t.Fixes), pool, changes, unclean, unreadFixes)
}
