package planted

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"assay/audit"
	"assay/audit/fixture"
)

// Bounds of a module review.
const (
	leastSites = 15   // of a module
	leastLines = 1500 // that it shows
	mostLines  = 4000
	mostFlaws  = 10 // bad sites that a draw makes in it, at most
)

// A Module is a row of the table of modules: files that one request shows.
type Module struct {
	Name  string
	files []string // slash patterns over the paths of the export as they are written; ** crosses folders
	pos   audit.Pos
}

const everywhere = "all" // the row whose files stand in each module

const rulesFile = "docs/rules.md"

func (r *reader) modules(s fixture.Section) {
	for _, row := range s.Rows("Module", "Files") {
		m := Module{Name: row.Get("Module"), files: row.List("Files"), pos: row.Pos}
		switch {
		case m.Name == everywhere:
			r.p.shared = m.files
		case m.Name == "" || strings.ContainsAny(m.Name, "/ @") || slices.ContainsFunc(r.p.Modules, func(o Module) bool { return o.Name == m.Name }):
			row.Errorf("the module is named %q: expected a name of one word that no other row has", m.Name)
		default:
			r.p.Modules = append(r.p.Modules, m)
		}
	}
}

// checkModules gives each site its module: the first that shows all its files. It
// holds modules and sites against each other.
func (r *reader) checkModules() {
	p := r.p
	if len(p.Modules) == 0 {
		return
	}
	p.owner = map[string]*Module{}
	lies := map[string][]string{} // site -> files
	for _, s := range p.sources {
		for _, g := range regions(s.nodes) {
			lies[g.site] = append(lies[g.site], s.path)
		}
	}
	for i := range p.Modules {
		m := &p.Modules[i]
		for _, pattern := range append(slices.Clone(m.files), p.shared...) {
			if !slices.ContainsFunc(p.sources, func(s source) bool { return doublestar.MatchUnvalidated(pattern, s.path) }) {
				r.c.Errorf(m.pos, "%q fits no file: expected a path below source/, or a pattern for some", pattern)
			}
		}
		sites := 0
		for _, s := range p.Sites {
			if p.owner[s.ID] == nil && !slices.ContainsFunc(lies[s.ID], func(file string) bool { return !p.shows(m, file) }) {
				p.owner[s.ID] = m
				sites++
			}
		}
		if sites < leastSites {
			r.c.Errorf(m.pos, "the module %s has %d sites: expected at least %d (a site belongs to the first module that shows its files)", m.Name, sites, leastSites)
		}
	}
	for _, s := range p.Sites {
		if p.owner[s.ID] == nil {
			r.c.Errorf(s.Pos, "the site %s lies in no module: expected one that shows all its files", s.ID)
		}
	}
}

// shows is asked of a path as it is written, not as it is drawn.
func (p *Project) shows(m *Module, file string) bool {
	fits := func(pattern string) bool { return doublestar.MatchUnvalidated(pattern, file) }
	return slices.ContainsFunc(m.files, fits) || slices.ContainsFunc(p.shared, fits)
}

// DrawModules gives each module as the seed draws it: none to ten of its sites are
// bad, any number as likely as another, and all sites of other modules are good.
// Names, files and order are those of the project's draw. A module that shows fewer
// or more lines than a review should is an error.
func (p *Project) DrawModules(seed uint64) ([]*audit.Module, error) {
	var ms []*audit.Module
	for i := range p.Modules {
		m, err := p.drawModule(&p.Modules[i], seed)
		if err != nil {
			return nil, err
		}
		ms = append(ms, m)
	}
	return ms, nil
}

func (p *Project) drawModule(m *Module, seed uint64) (*audit.Module, error) {
	c := p.chance(seed)
	label := "module:" + m.Name
	var labels, bad []string
	for _, s := range p.Sites {
		if p.owner[s.ID] == m {
			labels = append(labels, label+":"+s.ID)
		}
	}
	for _, l := range c.order(labels)[:c.below(min(mostFlaws, len(labels))+1, label)] {
		bad = append(bad, strings.TrimPrefix(l, label+":"))
	}
	d := p.shuffled(bad, seed)
	t := d.Render()
	out := &audit.Module{Project: p.Name, Seed: seed, Name: m.Name, Title: p.Title, Reviews: t.reviews, Pos: m.pos}
	lines := 0
	for _, s := range p.sources {
		if !p.shows(m, s.path) {
			continue
		}
		file := cmp.Or(d.files[s.path], s.path)
		i := slices.IndexFunc(t.Files, func(f File) bool { return f.Path == file })
		text := string(t.Files[i].Content)
		lines += audit.CountLines(t.Files[i].Content)
		if s.path == rulesFile {
			out.Rules = text
			continue
		}
		out.Files = append(out.Files, audit.Block{Path: file, Language: strings.TrimPrefix(path.Ext(file), "."), Code: text})
	}
	slices.SortFunc(out.Files, func(a, b audit.Block) int { return strings.Compare(a.Path, b.Path) })
	if out.Rules == "" || lines < leastLines || lines > mostLines {
		return nil, fmt.Errorf("%s: the module %s shows %d lines: expected %s and %d to %d lines", m.pos, out.ID(), lines, rulesFile, leastLines, mostLines)
	}
	for _, e := range t.entries {
		if p.owner[e.ID] == m {
			out.Sites = append(out.Sites, e.Site)
		}
	}
	return out, nil
}
