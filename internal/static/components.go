package static

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"assay/audit"
	"assay/internal/static/rules"
)

type component struct {
	Eco      string         `yaml:"eco"`
	Name     string         `yaml:"name"`
	Below    string         `yaml:"below"` // the first fixed version
	From     string         `yaml:"from"`  // the first affected version; empty: all
	Advisory string         `yaml:"advisory"`
	CWEs     []audit.CWE    `yaml:"cwe"`
	Severity audit.Severity `yaml:"sev"`
}

type componentTable struct {
	AsOf       string      `yaml:"asOf"`
	Components []component `yaml:"components"`
}

var loadComponents = sync.OnceValues(func() (map[string][]component, error) {
	var t componentTable
	if err := rules.Data("data-components.yaml", &t); err != nil {
		return nil, err
	}
	out := map[string][]component{}
	for _, c := range t.Components {
		out[c.Eco+" "+c.Name] = append(out[c.Eco+" "+c.Name], c)
	}
	return out, nil
})

// A dependency is one line of a manifest.
type dependency struct {
	eco, name, version string
	line               int
}

func (a *application) checkComponents() error {
	rule := a.set.ByID["supply.component"]
	table, err := loadComponents()
	if err != nil {
		return err
	}
	for _, s := range a.sources {
		for _, d := range dependencies(s.path, s.raw) {
			lines := table[d.eco+" "+d.name]
			i := slices.IndexFunc(lines, func(c component) bool {
				return older(d.version, c.Below) && (c.From == "" || !older(d.version, c.From))
			})
			if i < 0 {
				continue
			}
			c := lines[i]
			f := finding(rule, s.path, line(d.line))
			f.Severity = c.Severity
			f.CWEs = append([]audit.CWE{1395}, c.CWEs...)
			f.Title = fmt.Sprintf("%s %s has a published flaw, %s", d.name, d.version, c.Advisory)
			f.Description = f.Title + ". " + rule.Why
			a.add(f)
		}
	}
	return nil
}

func dependencies(p string, raw []byte) []dependency {
	switch b := path.Base(p); {
	case b == "pom.xml":
		return mavenDeps(string(raw))
	case b == "package.json":
		return deps(string(raw), "npm", jsonDep, regexp.MustCompile(`(?s)"(?:dev)?[dD]ependencies"\s*:\s*\{.*?\}`))
	case b == "composer.json":
		return deps(string(raw), "composer", jsonDep, regexp.MustCompile(`(?s)"require(?:-dev)?"\s*:\s*\{.*?\}`))
	case strings.HasPrefix(b, "requirements") && strings.HasSuffix(b, ".txt"):
		return deps(string(raw), "pypi", regexp.MustCompile(`(?m)^\s*([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*(?:==|~=|<=)\s*([0-9][\w.]*)`), nil)
	case b == "go.mod":
		return deps(string(raw), "go", regexp.MustCompile(`(?m)^\s*(?:require\s+)?([a-z0-9.-]+\.[a-z]+/[\w./~-]+)\s+v([0-9][\w.+-]*)`), nil)
	case strings.HasSuffix(b, ".gradle"):
		return deps(string(raw), "maven", gradleDep, nil)
	}
	return nil
}

func lineAt(text string, off int) int { return 1 + strings.Count(text[:off], "\n") }

var jsonDep = regexp.MustCompile(`"([@\w./-]+)"\s*:\s*"[\^~>=v ]*([0-9][\w.-]*)`)

// deps reads name and version of each match of dep in the parts that block matches, nil
// for all of the text.
func deps(text, eco string, dep, block *regexp.Regexp) []dependency {
	parts := [][]int{{0, len(text)}}
	if block != nil {
		parts = block.FindAllStringIndex(text, -1)
	}
	var out []dependency
	for _, p := range parts {
		part := text[p[0]:p[1]]
		for _, m := range dep.FindAllStringSubmatchIndex(part, -1) {
			name := part[m[2]:m[3]]
			if eco == "pypi" {
				name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
			}
			out = append(out, dependency{eco, name, part[m[4]:m[5]], lineAt(text, p[0]+m[2])})
		}
	}
	return out
}

var (
	mavenDep  = regexp.MustCompile(`(?s)<dependency>.*?</dependency>`)
	mavenName = regexp.MustCompile(`<artifactId>\s*([\w.-]+)\s*</artifactId>`)
	mavenVer  = regexp.MustCompile(`<version>\s*([^<\s]+)\s*</version>`)
	mavenProp = regexp.MustCompile(`<([\w.-]+)>\s*([0-9][\w.-]*)\s*</`)
	gradleDep = regexp.MustCompile(`["'][\w.-]+:([\w.-]+):([0-9][\w.-]*)["']`)
)

func mavenDeps(text string) []dependency {
	props := map[string]string{}
	for _, m := range mavenProp.FindAllStringSubmatch(text, -1) {
		props[m[1]] = m[2]
	}
	var out []dependency
	for _, b := range mavenDep.FindAllStringIndex(text, -1) {
		d := text[b[0]:b[1]]
		n, v := mavenName.FindStringSubmatchIndex(d), mavenVer.FindStringSubmatch(d)
		if n == nil || v == nil {
			continue
		}
		version := v[1]
		if strings.HasPrefix(version, "${") {
			version = props[strings.Trim(version, "${}")]
		}
		out = append(out, dependency{"maven", d[n[2]:n[3]], version, lineAt(text, b[0]+n[0])})
	}
	return out
}

// older compares versions by their numbers; what is no number ends the
// comparison. An empty version is not older than anything.
func older(v, than string) bool {
	if v == "" {
		return false
	}
	a, b := numbers(v), numbers(than)
	n := max(len(a), len(b))
	return slices.Compare(append(a, make([]int, n-len(a))...), append(b, make([]int, n-len(b))...)) < 0
}

func numbers(v string) []int {
	var out []int
	for _, p := range strings.FieldsFunc(strings.TrimPrefix(v, "v"), func(r rune) bool { return r == '.' || r == '-' || r == '+' || r == '_' }) {
		n, err := strconv.Atoi(p)
		if err != nil {
			break
		}
		out = append(out, n)
	}
	return out
}
