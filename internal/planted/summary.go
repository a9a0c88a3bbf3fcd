package planted

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Summary is what a project holds, in numbers.
type Summary struct {
	Files, Lines int // of the export with all sites good
	Sites        int
	Cross        int // sites that show only across functions or files
	Deep         int // sites of logic, authorization, state, race or time
	CWEs         int
	Groups       int // whose parts a draw shuffles
	Names        int // that a draw may rename
	Renames      int // files that a draw may rename
	Dimensions   map[string]int
	Kinds        map[string]int
}

// Summary counts what the project holds.
func (p *Project) Summary() Summary {
	s := Summary{Files: len(p.sources), Sites: len(p.Sites), Names: len(p.names), Renames: len(p.files),
		Dimensions: map[string]int{}, Kinds: map[string]int{}}
	for _, f := range p.with(nil).Render().Files {
		s.Lines += countLines(f.Content)
	}
	for _, src := range p.sources {
		for _, n := range src.nodes {
			if n.group != nil {
				s.Groups++
			}
		}
	}
	cwes := map[string]bool{}
	for _, site := range p.Sites {
		s.Dimensions[string(site.Dimension)]++
		s.Kinds[site.Kind]++
		for _, w := range site.CWEs {
			cwes[w.String()] = true
		}
		if site.Reach == "cross" {
			s.Cross++
		}
		if slices.Contains([]string{"logic", "authorization", "state", "race", "time"}, site.Kind) {
			s.Deep++
		}
	}
	s.CWEs = len(cwes)
	return s
}

// hint finds words of an export that speak of its purpose.
var hint = regexp.MustCompile(`(?i)\b(?:vulnerab\w*|insecure|exploit\w*|planted|backdoor\w*|pentest\w*|CWE-?[0-9]+|OWASP|TODO|FIXME|XXX)\b`)

// Advice says, as file:line, what should not be or is not there yet: words in the
// source that speak of its purpose, sites that no file of exploits/ names, and
// what a project of full size has more of.
func (p *Project) Advice() []string {
	var out []string
	for _, src := range p.sources {
		n := 0
		for l := range strings.Lines(src.text) {
			if n++; hint.MatchString(l) {
				out = append(out, fmt.Sprintf("%s:%d: %q gives the purpose away", src.file, n, hint.FindString(l)))
			}
		}
	}
	for _, s := range p.Sites {
		named := false
		for name, content := range p.tools {
			named = named || strings.HasPrefix(name, "exploits/") && strings.Contains(string(content), s.ID)
		}
		if !named {
			out = append(out, fmt.Sprintf("%s: no file of exploits/ names %s: expected an exploit", s.Pos, s.ID))
		}
	}
	for _, what := range p.Summary().lacks() {
		out = append(out, p.Pos.File+": "+what)
	}
	return out
}

// lacks says what a project of full size has more of: 5,000 lines, 60 sites, two
// in each of the ten dimensions, 20 CWEs, half of the sites across functions and
// half of them deep, ten groups, eight names and five files.
func (s Summary) lacks() []string {
	var out []string
	two := 0
	for _, n := range s.Dimensions {
		if n >= 2 {
			two++
		}
	}
	for _, need := range []struct {
		what      string
		got, want int
	}{
		{"lines", s.Lines, 5000},
		{"sites", s.Sites, 60},
		{"dimensions with two sites", two, 10},
		{"CWEs", s.CWEs, 20},
		{"sites across functions or files", s.Cross, (s.Sites + 1) / 2},
		{"sites of logic, authorization, state, race or time", s.Deep, (s.Sites + 1) / 2},
		{"order groups", s.Groups, 10},
		{"names with alternatives", s.Names, 8},
		{"files with alternatives", s.Renames, 5},
	} {
		if need.got < need.want {
			out = append(out, fmt.Sprintf("%d %s: expected at least %d", need.got, need.what, need.want))
		}
	}
	return out
}
