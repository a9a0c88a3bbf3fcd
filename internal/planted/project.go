package planted

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
)

// A Template is a planted project as written: its source with both variants of every site, and
// the commands that run it.
type Template struct {
	Name       string // the folder's name
	Title      string
	Languages  []string
	Framework  string
	Packages   []string // Debian packages that it needs beyond its runtimes
	RecallGoal float64  // 0 to 1
	Sites      []Site   // in the order of the table
	Modules    []Module // that are asked about in one request each; may be empty
	Commands   Commands
	Pos        audit.Pos

	names   []choice // identifiers that a draw may rename
	files   []choice // paths that a draw may rename
	sources []source // by path in the export
	reviews []audit.FindingReview
	tools   map[string][]byte  // functional/, exploits/, setup/ by path from the project's folder
	shared  []string           // patterns of the files of each module
	owner   map[string]*Module // of each site; nil without modules
}

// A Site is a place with a good and a bad variant.
type Site struct {
	ID        string
	Dimension audit.Dimension
	CWEs      []audit.CWE // the best first
	Severity  audit.Severity
	Functions []string // that hold the primary region, as the source names them
	Title     string
	Evidence  string // of the bad variant
	Reason    string // why the good variant is right
	Rules     []int  // numbers of the rules that the bad variant breaks
	Kind      string // one of kinds
	Reach     string // local or cross
	Pos       audit.Pos
}

// Commands are the shell command lines of a project. An empty one does nothing.
type Commands struct {
	Setup, Build, Migrate, Start, Test, Functional, Exploit string
}

// A choice is a name with its alternatives.
type choice struct {
	from string
	to   []string
	pos  audit.Pos
}

// A source is a file of the export.
type source struct {
	path  string // as the export has it
	text  string
	words map[string]bool // of the text
	nodes []node
}

// kinds are the kinds of sites.
var kinds = []string{"pattern", "logic", "authorization", "state", "race", "time", "crypto",
	"configuration", "exposure"}

// Read reads the planted project in the folder dir of fsys; the folder's name is the project's.
// The error lists all problems, one a line, as file:line.
func Read(fsys fs.FS, dir string) (*Template, error) {
	r := &reader{fsys: fsys, dir: dir, c: &fixture.Complaints{}}
	r.p = &Template{Name: path.Base(dir), Pos: audit.Pos{File: r.show("project.md"), Line: 1},
		tools: map[string][]byte{}}
	r.document()
	r.tree()
	r.checkSites()
	r.checkNames()
	r.checkFiles()
	r.checkModules()
	r.readReviews()
	if err := r.c.Err(); err != nil {
		return nil, err
	}
	return r.p, nil
}

// A reader reads one project.
type reader struct {
	fsys fs.FS
	dir  string
	p    *Template
	c    *fixture.Complaints
}

// show returns the path of a project's file for messages.
func (r *reader) show(rel string) string { return path.Join(r.dir, rel) }

// document reads project.md.
func (r *reader) document() {
	sections := r.c.Sections(r.fsys, r.p.Pos.File)
	if len(sections) == 0 {
		if r.c.Err() == nil {
			r.c.Errorf(r.p.Pos, "no heading: expected \"# <title of the project>\"")
		}
		return
	}
	r.p.Title = sections[0].Title
	r.identity(sections[0])
	seen := map[string]bool{}
	for _, s := range sections[1:] {
		key := fixture.Fold(s.Title)
		if seen[key] {
			r.c.Errorf(s.Pos, "a second section %q: expected one", "# "+s.Title)
			continue
		}
		seen[key] = true
		r.section(key, s)
	}
	for _, need := range []string{"Commands", "Sites"} {
		if !seen[fixture.Fold(need)] {
			r.c.Errorf(audit.Pos{File: r.p.Pos.File}, "the section %q is missing", "# "+need)
		}
	}
}

// section reads one section of project.md; key is its folded title.
func (r *reader) section(key string, s fixture.Section) {
	switch key {
	case "commands":
		r.commands(s)
	case "names":
		for _, row := range s.Rows("Name", "Alternatives") {
			r.p.names = append(r.p.names,
				choice{row.Get("Name"), row.List("Alternatives"), row.Pos})
		}
	case "files":
		for _, row := range s.Rows("File", "Alternatives") {
			r.p.files = append(r.p.files,
				choice{row.Get("File"), row.List("Alternatives"), row.Pos})
		}
	case "modules":
		r.modules(s)
	case "sites":
		for _, row := range s.Rows("ID", "Dimension", "CWE", "Severity", "Function", "Title",
			"Evidence", "Decoy reason", "Rule", "Kind", "Reach") {
			r.p.Sites = append(r.p.Sites, site(row))
		}
	default:
		r.c.Errorf(s.Pos, "unknown section %q: expected Commands, Names, Files, Modules or Sites",
			"# "+s.Title)
	}
}

// identity reads the first table.
func (r *reader) identity(s fixture.Section) {
	for _, row := range s.Rows("Field", "Value") {
		if !row.Read("Field", "Value", map[string]any{"language": &r.p.Languages,
			"languages": &r.p.Languages, "framework": &r.p.Framework,
			"packages": &r.p.Packages, "recall goal": &r.p.RecallGoal}) {
			row.Errorf("unknown field %q: expected Language, Framework, Packages or Recall goal",
				row.Get("Field"))
		}
	}
	if len(r.p.Languages) == 0 || r.p.RecallGoal == 0 {
		r.c.Errorf(s.Pos, "the fields Language and Recall goal are needed in the first table")
	}
}

// commands reads the table of commands.
func (r *reader) commands(s fixture.Section) {
	c := &r.p.Commands
	steps := map[string]*string{"setup": &c.Setup, "build": &c.Build, "migrate": &c.Migrate,
		"start": &c.Start,
		"test":  &c.Test, "functional": &c.Functional, "exploit": &c.Exploit}
	for _, row := range s.Rows("Step", "Command") {
		to := steps[fixture.Fold(row.Get("Step"))]
		switch {
		case to == nil:
			row.Errorf("unknown step %q: expected setup, build, migrate, start, test, functional or exploit", row.Get("Step"))
		case *to != "":
			row.Errorf("a second command for %s: expected one", row.Get("Step"))
		default:
			*to = row.Get("Command")
		}
	}
	for _, need := range []string{"start", "test", "functional", "exploit"} {
		if *steps[need] == "" {
			r.c.Errorf(s.Pos, "the step %s has no command", need)
		}
	}
}

var siteID = regexp.MustCompile(`^[A-Z]{2,4}-[0-9]+$`)

// site reads a row of the table of sites.
func site(r fixture.Row) Site {
	s := Site{ID: r.Get("ID"), Dimension: r.Dimension(), CWEs: r.CWEs(),
		Functions: r.List("Function"), Title: r.Raw("Title"), Evidence: r.Raw("Evidence"),
		Reason: r.Raw("Decoy reason"), Kind: fixture.Fold(r.Get("Kind")),
		Reach: fixture.Fold(r.Get("Reach")), Pos: r.Pos}
	if !siteID.MatchString(s.ID) {
		r.Errorf("the ID is %q: expected 2 to 4 capital letters, a hyphen and a number, as in ORD-07", s.ID)
	}
	var err error
	if s.Severity, err = audit.ParseSeverity(r.Get("Severity")); err != nil ||
		s.Severity == audit.Info {
		r.Errorf("the severity is %q: expected CRITICAL, HIGH, MEDIUM or LOW", r.Get("Severity"))
	}
	for _, text := range r.List("Rule") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			r.Errorf("the rule is %q: expected numbers from docs/rules.md, separated by commas",
				text)
		}
		s.Rules = append(s.Rules, n)
	}
	r.NeedText("Title", "Evidence", "Decoy reason")
	if !slices.Contains(kinds, s.Kind) {
		r.Errorf("the kind is %q: expected one of %s", r.Get("Kind"), strings.Join(kinds, ", "))
	}
	if s.Reach != "local" && s.Reach != "cross" {
		r.Errorf("the reach is %q: expected local or cross", r.Get("Reach"))
	}
	return s
}
