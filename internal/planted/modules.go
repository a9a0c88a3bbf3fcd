package planted

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"assay/audit"
	"assay/audit/fixture"
)

// Bounds of an area.
const (
	leastSites = 15   // of a module
	leastLines = 1500 // that it shows
	mostLines  = 4000
	mostFlaws  = 10 // bad sites that a draw makes in it, at most
)

// A Module is a row of the table of modules: the files of one area.
type Module struct {
	Name string
	// slash patterns over the paths of the export as they are written; ** crosses folders
	files []string
	pos   audit.Pos
}

// everywhere is the name of the row whose files belong to every module.
const everywhere = "all" // the row whose files belong to each module

// modules reads the table of modules.
func (r *reader) modules(s fixture.Section) {
	for _, row := range s.Rows("Module", "Files") {
		m := Module{Name: row.Get("Module"), files: row.List("Files"), pos: row.Pos}
		switch {
		case m.Name == everywhere:
			r.p.shared = m.files
		case m.Name == "" || strings.ContainsAny(m.Name, "/ @") ||
			slices.ContainsFunc(r.p.Modules, func(o Module) bool { return o.Name == m.Name }):
			row.Errorf("the module is named %q: expected a name of one word that no other row has",
				m.Name)
		default:
			r.p.Modules = append(r.p.Modules, m)
		}
	}
}

// checkModules assigns each site to the first module that shows all of its files, and checks
// modules and sites against each other.
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
			if !slices.ContainsFunc(p.sources,
				func(s source) bool { return doublestar.MatchUnvalidated(pattern, s.path) }) {
				r.c.Errorf(m.pos,
					"%q fits no file: expected a path below source/, or a pattern for some",
					pattern)
			}
		}
		sites := 0
		for _, s := range p.Sites {
			if p.owner[s.ID] == nil &&
				!slices.ContainsFunc(lies[s.ID],
					func(file string) bool { return !p.shows(m, file) }) {
				p.owner[s.ID] = m
				sites++
			}
		}
		if sites < leastSites {
			r.c.Errorf(m.pos,
				"the module %s has %d sites: expected at least %d (a site belongs to the first module that shows its files)", m.Name, sites, leastSites)
		}
	}
	for _, s := range p.Sites {
		if p.owner[s.ID] == nil {
			r.c.Errorf(s.Pos,
				"the site %s lies in no module: expected one that shows all its files", s.ID)
		}
	}
}

// shows reports whether a module shows the file, whose path is that of the source and not of a
// draw.
func (p *Template) shows(m *Module, file string) bool {
	fits := func(pattern string) bool { return doublestar.MatchUnvalidated(pattern, file) }
	return slices.ContainsFunc(m.files, fits) || slices.ContainsFunc(p.shared, fits)
}

// DrawArea draws one module as a target of its own: none to ten of its sites are bad, any
// number as likely as another, and all sites of other modules are good. Its export holds
// the files of the module and those of the row "all". A name that no module has, and a
// module that shows fewer or more lines than an area should, are errors.
func (p *Template) DrawArea(name string, seed uint64) (*Draw, error) {
	i := slices.IndexFunc(p.Modules, func(m Module) bool { return m.Name == name })
	if i < 0 {
		var names []string
		for _, m := range p.Modules {
			names = append(names, p.Name+"."+m.Name)
		}
		return nil, fmt.Errorf("%s has no area %q: expected one of %s", p.Name, name,
			strings.Join(names, ", "))
	}
	m := &p.Modules[i]
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
	d.area = m
	lines := 0
	for _, f := range d.Render().Files {
		lines += audit.CountLines(f.Content)
	}
	if lines < leastLines || lines > mostLines {
		return nil, fmt.Errorf("%s: the area %s.%s has %d lines: expected %d to %d", m.pos, p.Name,
			name, lines, leastLines, mostLines)
	}
	return d, nil
}
