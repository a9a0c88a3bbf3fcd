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
	"strings"

	"assay/audit"
	"assay/internal/suite"
)

//go:embed start
var start embed.FS

type initCmd struct {
	Dir      string `arg:"" help:"Folder to write to; what is there stays." type:"path"`
	Language string `help:"Of the first application's cases: sql, go, java, javascript or python." enum:"sql,go,java,javascript,python" default:"sql" short:"l"`
}

func (c *initCmd) Run() error {
	files := application("orders", c.Language)
	for name, from := range map[string]string{"fixtures/goals.md": "goals.md", "fixtures/auditors.md": "auditors.md", ".env.example": "env.txt", ".gitignore": "gitignore.txt"} {
		files[name] = started(from)
	}
	module := above(c.Dir, "go.mod")
	workflow, fill := "workflow.yml", []string{}
	top := above(c.Dir, ".git")
	if top == "" {
		top = c.Dir
	}
	dir, err := filepath.Rel(top, c.Dir)
	if err != nil {
		return err
	}
	fill = append(fill, "{{dir}}", filepath.ToSlash(dir))
	if module != "" {
		mod, err := filepath.Rel(top, filepath.Join(module, "go.mod"))
		if err != nil {
			return err
		}
		workflow, fill = "workflow-go.yml", append(fill, "{{gomod}}", filepath.ToSlash(mod))
		files["assay_test.go"] = strings.NewReplacer("{{package}}", packageOf(c.Dir), "{{module}}", modulePath()).Replace(started("assay_test.go.txt"))
	}
	toTop, err := filepath.Rel(c.Dir, top)
	if err != nil {
		return err
	}
	files[path.Join(filepath.ToSlash(toTop), ".github/workflows/assay.yml")] = strings.NewReplacer(fill...).Replace(started(workflow))
	for _, name := range []string{".gitignore", ".env.example"} { // a repository has its own
		if _, err := os.Stat(filepath.Join(c.Dir, name)); err == nil {
			fmt.Printf("%s is there already; for Assay it needs:\n%s", filepath.Join(c.Dir, name), files[name])
			delete(files, name)
		}
	}
	if err := writeNew(c.Dir, files); err != nil {
		return err
	}
	fmt.Printf("%s: tests/orders with six cases, and\n  %s\n", c.Dir, strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool {
		return strings.HasPrefix(name, "tests/")
	}), ", "))
	dir = suite.Quoted(c.Dir)
	if module != "" {
		fmt.Printf("\nnext:\n  cd %s && go get %s\n  go test -run 'Smoke|Bench'\n", dir, modulePath())
		return nil
	}
	fmt.Printf("\nnext, in a checkout of Assay:\n  ASSAY_ROOT=%s go test -run 'Smoke|Bench'\n  go run ./cmd/assay report --root %s\n", dir, dir)
	return nil
}

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

func application(app, language string) map[string]string {
	blocks := strings.SplitAfter(started(language+".md"), "\n```\n")
	files := map[string]string{path.Join("tests", app, "SPEC.md"): started("SPEC.md")}
	for i, v := range variants {
		cs := newCase{app: app, query: "find-orders", number: i + 1, label: audit.Good, description: v.what, code: blocks[i]}
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

func (c newCase) name() string {
	return path.Join("tests", c.app, fmt.Sprintf("%s-%02d-%s.md", c.query, c.number, c.label))
}

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
			errs = append(errs, fmt.Errorf("%s is there already: expected a name that is free; nothing was written", file))
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

// above gives the nearest folder from dir upwards that holds the name; "" for none.
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

// packageOf gives the name of the package in dir, or one made of the folder's name.
func packageOf(dir string) string {
	files, _ := fs.Glob(os.DirFS(dir), "*.go")
	for _, f := range files {
		if b, err := os.ReadFile(filepath.Join(dir, f)); err == nil {
			if m := packageLine.FindSubmatch(b); m != nil {
				return string(m[1])
			}
		}
	}
	name := strings.TrimLeft(noLetter.ReplaceAllString(strings.ToLower(filepath.Base(dir)), ""), "0123456789")
	if name == "" || name == "assay" { // the test imports a package of that name
		return "audited"
	}
	return name
}
