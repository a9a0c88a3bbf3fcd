package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
	"assay/fixtures"
	"assay/internal/box"
)

// auditorFlags are what init and new auditor take as flags and ask for on a terminal.
type auditorFlags struct {
	Cost        string   `help:"What one audit may cost at most, in USD; 0 where it is free."`
	Reaches     []string `help:"Hosts that it may reach, like api.openai.com; none; or open for all that this machine reaches."`
	Environment []string `help:"Variables that it is given, like OPENAI_API_KEY."`
	Format      string   `help:"Of its report: auto, sarif, json or text." enum:"auto,sarif,json,text" default:"auto"`
	Timeout     string   `help:"How long one audit may take." default:"30m"`
	Network     bool     `hidden:""`
}

// A section is a new section of auditors.md.
type section struct {
	name, text string
	paths      []string // files and folders below the root that it consists of
	variables  []string // that it is given
	cost       string
	setup      string // installs what it needs in CI; empty for nothing
	what       string // the path or command that the user named, in words
}

// ask asks for what no flag gave.
func (a *auditorFlags) ask(t *target) error {
	if a.Network {
		return errors.New("--network was removed: --reaches names the hosts, or open for all")
	}
	reaches := strings.Join(a.Reaches, ",")
	err := errors.Join(t.need(&a.Cost, "cost",
		"what one audit may cost at most in USD, 0 where it is free", ""),
		t.need(&reaches, "reaches",
			"the hosts that it may reach, like api.openai.com, or none, or open", "none"))
	a.Reaches = strings.FieldsFunc(reaches, func(r rune) bool { return r == ',' || r == ' ' })
	return err
}

// section returns the section of an auditor that is a command line, a model or the folder of a
// skill. Paths in a command line are those from root, or from the working folder where they
// lie below root.
func (a *auditorFlags) section(root, name, what string) (section, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return section{}, err
	}
	s := section{name: name, cost: a.Cost, variables: a.Environment}
	if skill, ok := skillFolder(abs, what); ok {
		return a.skill(s, skill), nil
	}
	if !strings.ContainsAny(what, " \n") && !box.Exists(filepath.Join(abs, what)) && isModel(what) {
		return a.model(s, what), nil
	}
	return a.command(s, abs, what)
}

// isModel reports whether models.md has a row of this name, or it is provider:model.
func isModel(name string) bool {
	if strings.Contains(name, ":") {
		return true
	}
	models, err := fixture.ReadModels(fixtures.FS, "models.md")
	return err == nil &&
		slices.ContainsFunc(models, func(m audit.Model) bool { return m.Name == name })
}

func (a *auditorFlags) model(s section, model string) section {
	s.name = nameOf(s.name, model)
	s.paths = []string{"fixtures/prompts"}
	s.what = "the model " + model + ", which reads with tools of Assay's"
	rows := [][2]string{{"Kind", "model"}, {"Model", model}, {"Prompt", "audit-prompt"},
		{"Timeout", a.Timeout}}
	if a.Cost != "0" {
		rows = append(rows, [2]string{"USD", a.Cost})
	}
	s.text = sectionText(s.name, s.what, rows, "")
	return s
}

// skillFolder returns the folder below root whose SKILL.md the user means, and its name.
func skillFolder(root, what string) (dir string, ok bool) {
	dir, ok = fromRoot(root, strings.TrimSuffix(strings.TrimSuffix(what, "SKILL.md"), "/"))
	return dir, ok && box.Exists(filepath.Join(root, dir, "SKILL.md"))
}

func (a *auditorFlags) skill(s section, dir string) section {
	skill := path.Base(dir)
	s.name = nameOf(s.name, skill)
	s.paths, s.what = []string{dir}, "Claude Code with the skill in "+dir
	s.setup = "npm install -g @anthropic-ai/claude-code@2.1.330"
	s.variables = []string{"ANTHROPIC_API_KEY", "ANTHROPIC_MODEL"}
	text := strings.NewReplacer("{{name}}", s.name, "{{dir}}", dir, "{{folder}}", path.Base(dir),
		"{{skill}}", skill,
		"{{cost}}", a.Cost, "{{timeout}}", a.Timeout).Replace(started("skill.md"))
	s.text = "\n" + text
	return s
}

// pathForm matches what may be a path within a command line.
var pathForm = regexp.MustCompile(`[\w@%+,./-]+`)

// command returns the section of a command line. Files below the root that it names, and what
// lies beside them, are what it consists of; virtual environments are what it only reads.
func (a *auditorFlags) command(s section, root, line string) (section, error) {
	var files, reads, first []string
	var errs []error
	at := 0
	var b strings.Builder
	for _, m := range pathForm.FindAllStringIndex(line, -1) {
		word := line[m[0]:m[1]]
		rel, ok := fromRoot(root, word)
		info, err := os.Stat(filepath.Join(root, rel))
		switch {
		case !ok && strings.Contains(word, "/") && box.Exists(word) && !filepath.IsAbs(word):
			errs = append(errs,
				fmt.Errorf("%s lies outside of %s: expected the auditor's files below the folder that init or --root names, so that their contents are part of what is measured", word, root))
			continue
		case !ok || err != nil || rel == "." || info.IsDir() && !strings.Contains(word, "/"):
			continue
		}
		b.WriteString(line[at:m[0]])
		at = m[1]
		quoted := m[0] > 0 && strings.ContainsRune(`"'`, rune(line[m[0]-1]))
		if quoted {
			fmt.Fprintf(&b, "$ASSAY_FILES/%s", rel)
		} else {
			fmt.Fprintf(&b, `"$ASSAY_FILES/%s"`, rel)
		}
		if env := environmentOf(root, rel); env != "" {
			reads = append(reads, env)
			continue
		}
		if first = append(first, rel); info.IsDir() || path.Dir(rel) != "." {
			dir := rel
			if !info.IsDir() {
				dir = path.Dir(rel)
			}
			files, s.paths = append(files, dir+"/**"), append(s.paths, dir)
			continue
		}
		for _, name := range mentioned(root, rel, nil) {
			files, s.paths = append(files, name), append(s.paths, name)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return s, err
	}
	b.WriteString(line[at:])
	for _, dir := range append([]string{"."}, s.paths...) {
		for _, env := range []string{".venv", "venv"} {
			if name := path.Join(dir, env); box.Exists(filepath.Join(root, name, "pyvenv.cfg")) &&
				!slices.Contains(reads, name) {
				reads = append(reads, name)
			}
		}
		if name := path.Join(dir, "requirements.txt"); box.Exists(filepath.Join(root, name)) &&
			s.setup == "" {
			env := append(reads, path.Join(dir, ".venv"))[0]
			if s.setup = fmt.Sprintf("python3 -m venv %s && %[1]s/bin/pip install -r %s", env,
				name); dir == "." {
				files, s.paths = append(files, name), append(s.paths, name)
			}
			reads = append(reads, env)
		}
		if name := path.Join(dir, "package-lock.json"); box.Exists(filepath.Join(root, name)) &&
			s.setup == "" {
			s.setup, reads = "npm ci --prefix "+dir, append(reads, path.Join(dir, "node_modules"))
		}
	}
	sorted := func(names []string) []string { slices.Sort(names); return slices.Compact(names) }
	files, reads, s.paths = sorted(files), sorted(reads), sorted(s.paths)
	base := "agent"
	if len(first) > 0 {
		base = strings.TrimSuffix(path.Base(first[0]), path.Ext(first[0]))
	}
	s.name, s.what = nameOf(s.name, base), line
	rows := [][2]string{{"Kind", "agent"}, {"Format", a.Format}, {"Timeout", a.Timeout},
		{"Cost", a.Cost + " USD"},
		{"Environment", strings.Join(a.Environment, ", ")},
		{"Needs", strings.Join(secretsOf(a.Environment), ", ")},
		{"Files", strings.Join(files, ", ")}, {"Reads", strings.Join(reads, ", ")}}
	switch {
	case slices.Equal(a.Reaches, []string{"open"}):
		rows = append(rows, [2]string{"Network", "open"})
	case len(a.Reaches) > 0 && !slices.Equal(a.Reaches, []string{"none"}):
		rows = append(rows, [2]string{"Network", "yes"},
			[2]string{"Hosts", strings.Join(a.Reaches, ", ")})
	}
	s.text = sectionText(s.name, "", rows, b.String())
	return s, nil
}

func sectionText(name, what string, rows [][2]string, command string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n", name)
	if what != "" {
		fmt.Fprintf(&b, "%s.\n\n", strings.ToUpper(what[:1])+what[1:])
	}
	b.WriteString("| Field | Value |\n|---|---|\n")
	for _, r := range rows {
		if r[1] != "" {
			b.WriteString(fixture.TableRow(r[0], r[1]))
		}
	}
	if command != "" {
		b.WriteString("\n" + fenced("x.sh", command) + "\n")
	}
	return b.String()
}

// fromRoot returns a path of the root, or of the working folder, from the root; false where it
// does not lie below the root or is not there.
func fromRoot(root, name string) (rel string, ok bool) {
	for _, at := range []string{filepath.Join(root, name), name} {
		if filepath.IsAbs(name) {
			at = name
		}
		abs, err := filepath.Abs(at)
		if err != nil || !box.Exists(abs) {
			continue
		}
		if rel, err = filepath.Rel(root, abs); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return name, false
}

// environmentOf returns the virtual environment or node_modules that a file lies in.
func environmentOf(root, name string) string {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if path.Base(dir) == "node_modules" || box.Exists(filepath.Join(root, dir, "pyvenv.cfg")) {
			return dir
		}
	}
	return ""
}

// mentioned returns a file of the root's folder itself and those beside it that it names,
// and those that these name.
func mentioned(root, name string, seen []string) []string {
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil || slices.Contains(seen, name) || len(text) > 1<<20 {
		return seen
	}
	seen = append(seen, name)
	entries, _ := os.ReadDir(root)
	for _, e := range entries {
		if e.Type().IsRegular() && e.Name() != ".env" && strings.Contains(string(text), e.Name()) {
			seen = mentioned(root, e.Name(), seen)
		}
	}
	return seen
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// nameOf returns the auditor's name: the one that was chosen, or one made of base.
func nameOf(chosen, base string) string {
	if chosen != "" {
		return chosen
	}
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(base), "-"), "-")
	if name == "" || name == "patterns" {
		return "my-agent"
	}
	return name
}

// withSection returns auditors.md of the root with one more section.
func withSection(root string, s section) (string, error) {
	old, err := os.ReadFile(filepath.Join(root, "fixtures/auditors.md"))
	if errors.Is(err, fs.ErrNotExist) {
		head, _, _ := strings.Cut(started("auditors.md"), "\n## my-agent")
		old, err = []byte(head), nil
	}
	return strings.TrimRight(string(old), "\n") + "\n" + s.text, err
}
