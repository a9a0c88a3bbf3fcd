package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
	"assay/fixtures"
	"assay/internal/box"
	"assay/internal/suite"
)

//go:embed start
var start embed.FS

type initCmd struct {
	auditorFlags
	Dir      string  `arg:"" help:"Folder to write to; what is there stays." type:"path"`
	Auditor  string  `help:"What is measured: a command line like 'sh agent/agent.sh', a model, or the folder of a skill. Without it cases of your own are begun." placeholder:"COMMAND"`
	Name     string  `help:"The auditor's name; default: that of its script, model or skill."`
	Budget   float64 `help:"What the runs of one pull request may cost, in USD." default:"10"`
	CI       string  `help:"Workflow to write: github, gitlab or none; default: by what the repository has." enum:"github,gitlab,none,"  default:"" name:"ci"`
	Language string  `help:"Of the first application's cases: sql, go, java, javascript or python." enum:"sql,go,java,javascript,python" default:"sql" short:"l"`

	target `kong:"-"` // asks
}

// Run writes the files of a new root.
func (c *initCmd) Run() error {
	p, err := placeOf(c.Dir)
	if err != nil {
		return err
	}
	files := map[string]string{".env.example": started("env.txt"),
		".gitignore": started("gitignore.txt")}
	var next [][2]string
	if c.Auditor != "" {
		next, err = c.auditor(p, files)
	} else {
		next, err = c.cases(p, files)
	}
	if err != nil {
		return err
	}
	if p.module != "" {
		files["assay_test.go"] = strings.NewReplacer("{{package}}", packageOf(c.Dir),
			"{{module}}", modulePath()).Replace(started("assay_test.go.txt"))
	}
	added, err := addMissing(c.Dir, files)
	if err != nil {
		return err
	}
	if err := writeNew(c.Dir, files); err != nil {
		return err
	}
	for _, name := range added {
		fmt.Printf("%s: lines added\n", filepath.Join(c.Dir, name))
	}
	fmt.Printf("%s: %s\n\nnext:\n", c.Dir,
		strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool {
			return strings.HasPrefix(name, "tests/")
		}), ", "))
	for _, step := range next {
		fmt.Printf("  %s\n", step[0])
		if step[1] != "" {
			fmt.Printf("      # %s\n", step[1])
		}
	}
	return nil
}

// A place is where a root lies.
type place struct {
	root   string // the root itself, absolute
	top    string // the repository that it lies in, or the root
	dir    string // the root from top, with slashes
	module string // the folder of the Go module that it lies in; "" for none
}

func placeOf(root string) (p place, err error) {
	p = place{root: root, top: above(root, ".git"), module: above(root, "go.mod")}
	if p.top == "" {
		p.top = root
	}
	p.dir, err = filepath.Rel(p.top, root)
	p.dir = filepath.ToSlash(p.dir)
	return p, err
}

// commands returns how the command and the suites are started on the root, from where the
// user runs them.
func (p place) commands() (assay, suites, root string) {
	if p.module != "" {
		return "go tool assay", "go test", ""
	}
	dir := suite.Quoted(p.root)
	return "go run ./cmd/assay", "ASSAY_ROOT=" + dir + " go test", " --root " + dir
}

// first returns the first steps, by which the suites can be started.
func (p place) first() [][2]string {
	if p.module == "" {
		return [][2]string{{"cd " + suite.Quoted(here()),
			"a checkout of Assay, from where the suites run"}}
	}
	return [][2]string{{"cd " + suite.Quoted(p.root) + " && go get " + modulePath() +
		" && go get -tool " + modulePath() + "/cmd/assay", ""}}
}

// here returns the module's folder that the program was built from or runs in, to be named.
func here() string {
	wd, err := os.Getwd()
	if err != nil {
		return "."
	}
	if dir := above(wd, "go.mod"); dir != "" {
		return dir
	}
	return wd
}

// cases adds the files of a root with cases of one's own.
func (c *initCmd) cases(p place, files map[string]string) ([][2]string, error) {
	maps.Copy(files, application("orders", c.Language))
	files["fixtures/goals.md"], files["fixtures/auditors.md"] = started("goals.md"), started(
		"auditors.md")
	if c.CI != "none" {
		if err := p.addWorkflow(files, pipeline{suites: "Smoke|Regression|Bench",
			paths: []string{"tests", "fixtures"}, limit: c.Budget}, c.CI); err != nil {
			return nil, err
		}
	}
	assay, suites, root := p.commands()
	return append(p.first(), [2]string{suites + " -run 'Smoke|Bench'", ""},
		[2]string{assay + " report" + root, ""}), nil
}

// auditor adds the files of a root that gates an auditor.
func (c *initCmd) auditor(p place, files map[string]string) ([][2]string, error) {
	if err := c.ask(&c.target); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "fixtures/auditors.md")); err == nil {
		return nil, fmt.Errorf(
			"%s is there already: expected a folder without, or assay new auditor NAME --root %s for one more auditor", filepath.Join(c.Dir, "fixtures/auditors.md"), suite.Quoted(c.Dir))
	}
	s, err := c.section(c.Dir, c.Name, c.Auditor)
	if err != nil {
		return nil, err
	}
	if err := checkName(s.name); err != nil {
		return nil, err
	}
	if files["fixtures/auditors.md"], err = withSection(c.Dir, s); err != nil {
		return nil, err
	}
	if err := checked("auditors.md", files["fixtures/auditors.md"],
		func(dir fs.FS, name string) error {
			_, err := fixture.ReadAuditors(dir, name)
			return err
		}); err != nil {
		return nil, err
	}
	if slices.Equal(s.paths, []string{"fixtures/prompts"}) {
		if files["fixtures/prompts/audit-prompt.txt"], err = fixture.ReadPrompt(fixtures.FS,
			"prompts", "audit-prompt"); err != nil {
			return nil, err
		}
	}
	files["fixtures/goals.md"] = strings.ReplaceAll(started("goals-auditor.md"), "{{name}}", s.name)
	files["fixtures/triggers.md"] = p.triggers(s.paths)
	files[".env.example"] = envExample(s.variables, s.name)
	cost, _ := strconv.ParseFloat(s.cost, 64) // the section has been read
	offer, err := suite.Affordable(c.Dir, s.name, cost, c.Budget)
	if err != nil {
		return nil, err
	}
	if !offer.CanFail() {
		fmt.Fprintf(stderr,
			"WARNING: a pull request that makes %s worse cannot FAIL on what %.2f USD pay for: %s\n", s.name, c.Budget, offer.Says())
	}
	w := pipeline{auditor: s.name, suites: "Regression", flags: offer.Flags(), paths: s.paths,
		limit: c.Budget, setup: s.setup, keys: secretsOf(s.variables)}
	if c.CI != "none" {
		if err := p.addWorkflow(files, w, c.CI); err != nil {
			return nil, err
		}
	}
	assay, suites, root := p.commands()
	run := fmt.Sprintf("%s -run 'Smoke|Regression' -auditor %s%s -trials 3 -budget %.2f -timeout 0",
		suites, s.name, w.flags, max(1, 3*offer.USD))
	return append(p.first(), [2]string{assay + " doctor " + s.name + root,
		"runs it for some seconds: what it misses, and what go test would refuse"},
		[2]string{run, offer.Says()}, [2]string{assay + " baseline " + s.name + root,
			"accepts these trials: commit fixtures/ with them"}), nil
}

// triggers returns the rules by which only changes of the auditor are measured.
func (p place) triggers(paths []string) string {
	var b strings.Builder
	b.WriteString(
		"# Triggers\n\nWhich suite a pull request needs: the first rule that matches a changed path holds for it,\nand the gravest suite of all paths is the answer (full, smoke, none).\n\n| Change | Suite | Why |\n|---|---|---|\n")
	row := func(glob, which, why string) {
		b.WriteString(fixture.TableRow("`"+path.Join(p.dir, glob)+"`", which, why))
	}
	for _, name := range paths {
		if info, err := os.Stat(filepath.Join(p.root, name)); err == nil && !info.IsDir() {
			row(name, "full", "a file of the auditor")
		} else {
			row(name+"/**", "full", "the auditor's files")
		}
	}
	row("fixtures/**", "full", "its section, goals, keys, prompts and baseline")
	b.WriteString(fixture.TableRow("`.github/workflows/assay.yml`", "smoke",
		"the pipeline must still start") +
		fixture.TableRow("`.gitlab-ci.yml`", "smoke", "the pipeline must still start") +
		fixture.TableRow("`**`", "none", "no part of the auditor"))
	return b.String()
}

// envExample lists the variables that the auditor is given.
func envExample(variables []string, name string) string {
	var b strings.Builder
	b.WriteString(
		"# Copy to .env, which git leaves out. Flags win over the environment, which wins over .env.\n\n")
	for _, v := range variables {
		b.WriteString(v + "=\n")
	}
	fmt.Fprintf(&b, "\n#ASSAY_AUDITOR=%s\n#ASSAY_BUDGET=5\n", name)
	return b.String()
}

// secretsOf returns those of the variables that hold secrets.
func secretsOf(variables []string) []string {
	return slices.DeleteFunc(slices.Clone(variables), func(v string) bool { return !box.Secret(v) })
}

// addMissing adds to files of the folder that a repository has anyway the lines that they lack,
// takes them out of files, and returns their names.
func addMissing(dir string, files map[string]string) (added []string, err error) {
	for _, name := range []string{".gitignore", ".env.example"} {
		file := filepath.Join(dir, name)
		old, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var lacks []string
		for line := range strings.Lines(files[name]) {
			line = strings.TrimSpace(line)
			if has := strings.Split(string(old), "\n"); line != "" &&
				!strings.HasPrefix(line, "#") && !slices.Contains(has, line) {
				lacks = append(lacks, line)
			}
		}
		delete(files, name)
		if len(lacks) == 0 {
			continue
		}
		text := strings.TrimRight(string(old), "\n") + "\n\n# Assay\n" + strings.Join(lacks, "\n") +
			"\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return nil, err
		}
		added = append(added, name)
	}
	return added, nil
}

// started returns a file of the folder start.
func started(name string) string {
	b, err := start.ReadFile("start/" + name)
	if err != nil { // it is in the program
		panic(err)
	}
	return string(b)
}

// variants are the first family's six cases; violates is a requirement of its SPEC, 0 none.
var variants = []struct {
	what, cwe string
	violates  int
}{
	{what: "The shop's orders, every value bound."},
	{what: "The same rows, in another way."},
	{"Orders of other shops are found too.", "CWE-639", 1},
	{"The text becomes part of the statement.", "CWE-89", 2},
	{"The list is as long as the client says.", "CWE-770", 3},
	{"Deleted orders are shown.", "CWE-672", 4},
}

// application returns the files of the first application.
func application(app, language string) map[string]string {
	blocks := strings.SplitAfter(started(language+".md"), "\n```\n")
	files := map[string]string{path.Join("tests", app, "SPEC.md"): started("SPEC.md")}
	for i, v := range variants {
		cs := newCase{app: app, query: "find-orders", number: i + 1, label: audit.Good,
			description: v.what, code: blocks[i]}
		if v.violates > 0 {
			cs.label, cs.violates, cs.cwe = audit.Bad, fmt.Sprint(v.violates), v.cwe
		}
		files[cs.name()] = cs.text()
	}
	return files
}

type newCase struct {
	app, query                       string
	number                           int
	label                            audit.Label
	description, code, violates, cwe string // code with its fences
}

// name returns the path of the case.
func (c newCase) name() string {
	return path.Join("tests", c.app, fmt.Sprintf("%s-%02d-%s.md", c.query, c.number, c.label))
}

// text returns the content of the case.
func (c newCase) text() string {
	var b strings.Builder
	section := func(title, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "\n# %s\n\n%s\n", title, text)
		}
	}
	section("Description", c.description)
	section("Code", c.code)
	section("Expected", string(c.label))
	section("Violates", c.violates)
	section("CWE", c.cwe)
	return strings.TrimPrefix(b.String(), "\n")
}

// writeNew writes all of the files below dir or, where one is there already, none.
func writeNew(dir string, files map[string]string) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if _, err := os.Lstat(file); err == nil {
			errs = append(errs,
				fmt.Errorf("%s is there already: expected a name that is free; nothing was written",
					file))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// above returns the nearest folder, from dir upwards, that contains the name; "" if there is
// none.
func above(dir, name string) string {
	for {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// modulePath returns the path of Assay's module.
func modulePath() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path != "" {
		return info.Main.Path
	}
	return "assay"
}

var (
	packageLine = regexp.MustCompile(`(?m)^package (\w+)`)
	noLetter    = regexp.MustCompile(`[^a-z0-9]`)
)

// packageOf returns the name of the package in dir, or one made from the folder's name.
func packageOf(dir string) string {
	files, _ := fs.Glob(os.DirFS(dir), "*.go")
	for _, f := range files {
		if b, err := os.ReadFile(filepath.Join(dir, f)); err == nil {
			if m := packageLine.FindSubmatch(b); m != nil {
				return string(m[1])
			}
		}
	}
	name := strings.TrimLeft(noLetter.ReplaceAllString(strings.ToLower(filepath.Base(dir)), ""),
		"0123456789")
	if name == "" || name == "assay" { // the test imports a package of that name
		return "audited"
	}
	return name
}
