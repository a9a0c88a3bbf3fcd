package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"assay/internal/suite"
)

// A pipeline is what a CI workflow measures.
type pipeline struct {
	auditor string   // empty: what the suites run by themselves
	suites  string   // go test's -run, beside Smoke
	flags   string   // -filter and the like, with a blank in front
	paths   []string // of the root, that decide what is measured
	limit   float64  // USD of one pull request
	setup   string   // installs what the auditor needs
	keys    []string // secrets of the step that measures
}

// addWorkflow adds the workflow's file for GitHub or GitLab; without a choice for GitLab where
// the repository has its file or its remote, else for GitHub.
func (p place) addWorkflow(files map[string]string, w pipeline, ci string) error {
	config, _ := os.ReadFile(filepath.Join(p.top, ".git/config"))
	if ci == "" {
		ci = "github"
		if _, err := os.Stat(filepath.Join(p.top, ".gitlab-ci.yml")); err == nil ||
			strings.Contains(string(config), "gitlab") {
			ci = "gitlab"
		}
	}
	toTop, err := filepath.Rel(p.root, p.top)
	if err != nil {
		return err
	}
	name, text, err := p.pipeline(w, ci)
	if err != nil {
		return err
	}
	files[path.Join(filepath.ToSlash(toTop), name)] = text
	return nil
}

// pipeline returns the name of the workflow's file, from the top of the repository, and its text.
func (p place) pipeline(w pipeline, ci string) (name, text string, err error) {
	name = map[string]string{"github": ".github/workflows/assay.yml",
		"gitlab": ".gitlab-ci.yml"}[ci]
	suites, build, gomod := ".assay", "./cmd/assay", ".assay/go.mod"
	if p.module != "" {
		mod, err := filepath.Rel(p.top, filepath.Join(p.module, "go.mod"))
		if err != nil {
			return "", "", err
		}
		suites, build, gomod = p.dir, modulePath()+"/cmd/assay", filepath.ToSlash(mod)
	}
	var paths []string
	for _, at := range append(w.paths, "fixtures") {
		if q := suite.Quoted(path.Join(p.dir, at)); !strings.Contains(strings.Join(paths, " ")+
			" ", q+" ") {
			paths = append(paths, q)
		}
	}
	var secrets, missing []string
	for _, k := range w.keys {
		secrets = append(secrets, fmt.Sprintf("          %s: ${{ secrets.%[1]s }}\n", k))
		missing = append(missing, fmt.Sprintf(`[ -z "${%s:-}" ]`, k))
	}
	auditor := ""
	if w.auditor != "" {
		auditor = " -auditor " + w.auditor
	}
	fill := strings.NewReplacer("{{auditor}}", auditor, "{{section}}", w.auditor, "{{suites}}",
		w.suites, "{{flags}}", w.flags,
		"{{limit}}", fmt.Sprintf("%.2f", w.limit), "{{setup}}", w.setup, "{{secrets}}",
		strings.Join(secrets, ""),
		"{{no key}}", strings.Join(append(missing, "false")[:max(1, len(missing))], " || "),
		"{{keys}}", strings.Join(w.keys, ", "),
		"{{name the keys}}", strings.Join(w.keys, " "), "{{paths}}", strings.Join(paths, " "),
		"{{dir}}", p.dir, "{{dir/}}", strings.TrimPrefix(p.dir+"/", "./"), "{{/dir}}",
		strings.TrimSuffix("/"+p.dir, "/."),
		"{{warning}}", map[string]string{"github": "::warning::", "gitlab": "WARNING: "}[ci],
		"{{suites' folder}}", suites, "{{build}}", build, "{{go.mod}}", gomod, "{{from}}",
		path.Join(p.dir, "fixtures/auditors.md"))
	text = started(ci + ".yml")
	measure := indented(started("measure.sh"),
		strings.Repeat(" ", map[string]int{"github": 10, "gitlab": 6}[ci]))
	text = strings.Replace(text, "{{measure}}\n", measure, 1)
	return name,
		fill.Replace(only(text, map[string]bool{"checkout": p.module == "", "keys": len(w.keys) > 0,
			"setup": w.setup != "", "auditor": w.auditor != ""})), nil
}

// only leaves out the lines that end in "#? NAME" where the condition NAME does not hold, and
// takes that mark from the others.
func only(text string, holds map[string]bool) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		code, mark, marked := strings.Cut(line, " #? ")
		if !marked {
			b.WriteString(line)
		} else if holds[strings.TrimSpace(mark)] {
			b.WriteString(code + "\n")
		}
	}
	return b.String()
}

func indented(text, by string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(by + line)
	}
	return b.String()
}
