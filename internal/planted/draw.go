package planted

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"strings"

	"assay/audit"
)

// The share of bad sites, in ten-thousandths, is between leastBad and mostBad.
const (
	leastBad = 1000
	mostBad  = 5000
)

// A Draw is a project with a choice made for every site, name, file and group.
type Draw struct {
	project *Template
	bad     map[string]bool
	names   map[string]string
	files   map[string]string
	chance  chance
	shuffle bool
	area    *Module // that alone is written; nil for the whole project
}

// A chance returns numbers that depend on a seed and a label alone. It uses SHA-256 instead of
// a generator of the standard library, so that no version of Go changes a draw.
type chance struct{ prefix string }

// number returns the number of a label.
func (c chance) number(label string) uint64 {
	sum := sha256.Sum256([]byte(c.prefix + label))
	return binary.BigEndian.Uint64(sum[:8])
}

// below returns a number from 0 to n-1. Its bias is below n / 2^64.
func (c chance) below(n int, label string) int { return int(c.number(label) % uint64(n)) }

// order returns the labels in an order that the seed decides.
func (c chance) order(labels []string) []string {
	out := slices.Clone(labels)
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(c.number(a), c.number(b)), strings.Compare(a, b))
	})
	return out
}

// chance returns the chance of a seed for this project.
func (p *Template) chance(seed uint64) chance {
	return chance{fmt.Sprintf("planted\x00%s\x00%d\x00", p.Name, seed)}
}

// Draw returns the draw of a seed. The seed decides the share of bad sites (uniform between a
// tenth and a half, at least one site), then which sites are bad, the order of the groups'
// parts, and the names of identifiers and files.
func (p *Template) Draw(seed uint64) *Draw {
	c := p.chance(seed)
	share := leastBad + c.below(mostBad-leastBad+1, "share")
	n := max(1, (len(p.Sites)*share+5000)/10000)
	labels := make([]string, len(p.Sites))
	for i, s := range p.Sites {
		labels[i] = "site:" + s.ID
	}
	var bad []string
	for _, l := range c.order(labels)[:min(n, len(labels))] {
		bad = append(bad, strings.TrimPrefix(l, "site:"))
	}
	return p.shuffled(bad, seed)
}

// with returns a draw in which exactly these sites are bad, with order, names and files as
// written.
func (p *Template) with(bad []string) *Draw {
	d := &Draw{project: p, bad: map[string]bool{}, names: map[string]string{},
		files: map[string]string{}}
	for _, id := range bad {
		d.bad[id] = true
	}
	return d
}

// shuffled returns a draw in which exactly these sites are bad; the seed decides everything
// else.
func (p *Template) shuffled(bad []string, seed uint64) *Draw {
	d := p.with(bad)
	d.chance, d.shuffle = p.chance(seed), true
	for _, n := range p.names {
		if i := d.chance.below(len(n.to)+1, "name:"+n.from); i > 0 {
			d.names[n.from] = n.to[i-1]
		}
	}
	for _, f := range p.files {
		if i := d.chance.below(len(f.to)+1, "file:"+f.from); i > 0 {
			d.files[f.from] = f.to[i-1]
		}
	}
	return d
}

// Bad returns the IDs of the bad sites, in the order of the table.
func (d *Draw) Bad() []string {
	var ids []string
	for _, s := range d.project.Sites {
		if d.bad[s.ID] {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// Names maps every name of the project's table to its name in this draw.
func (d *Draw) Names() map[string]string {
	m := map[string]string{}
	for _, n := range d.project.names {
		m[n.from] = cmp.Or(d.names[n.from], n.from)
	}
	return m
}

// A SitePlace is the place of a site's region in a draw. Lines excludes blank lines at both ends.
// It is zero if the variant of a further region is empty.
type SitePlace struct {
	Site  string
	Plus  bool
	File  string
	Lines audit.Range
}

// Render returns the files of the draw.
func (d *Draw) Render() *Export {
	t := &Export{project: d.project}
	t.add(d, "", func(id string) string { return id })
	return t
}

// add adds a draw below a folder of the target; id maps a site's ID to its ID in the target.
func (t *Export) add(d *Draw, folder string, id func(string) string) {
	rename := renamer{d.names, d.files}
	file := func(stored string) string { return path.Join(folder, cmp.Or(d.files[stored], stored)) }
	var places []SitePlace
	for _, s := range d.project.sources {
		if d.area != nil && !d.project.shows(d.area, s.path) {
			continue
		}
		w := &writer{draw: d, stored: s.path, file: file(s.path), id: id}
		w.nodes(s.nodes)
		t.Files = append(t.Files, File{w.file, []byte(rename.apply(w.out.String()))})
		places = append(places, w.places...)
	}
	slices.SortFunc(t.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	t.Places = append(t.Places, places...)
	for _, s := range d.project.Sites {
		if d.area == nil || d.project.owner[s.ID] == d.area {
			t.entries = append(t.entries, d.entry(s, id(s.ID), places, rename))
		}
	}
	for _, v := range d.project.reviews {
		if d.area != nil && !d.project.shows(d.area, v.File) {
			continue
		}
		if v.Ruling == audit.RuledSame {
			if !d.bad[v.Entry] { // what is the same as a site that is good here is said of nothing
				continue
			}
			v.Entry = id(v.Entry)
		}
		v.File, v.Functions = file(v.File), rename.all(v.Functions)
		t.reviews = append(t.reviews, v)
	}
}

// A writer writes one file of a draw and notes the places of its regions.
type writer struct {
	draw         *Draw
	stored, file string
	id           func(string) string
	out          strings.Builder
	lines        int
	groups       int
	places       []SitePlace
}

// line writes one line.
func (w *writer) line(text string) {
	w.out.WriteString(text)
	w.lines++
}

// nodes writes the nodes in order.
func (w *writer) nodes(ns []node) {
	for _, n := range ns {
		switch {
		case n.region != nil:
			w.region(n.region)
		case n.group != nil:
			w.group(n.group)
		default:
			w.line(n.text)
		}
	}
}

// region writes the chosen variant of a region and notes its place.
func (w *writer) region(g *region) {
	at := SitePlace{Site: w.id(g.site), Plus: g.plus, File: w.file}
	lines := g.good
	if w.draw.bad[g.site] {
		lines = g.bad
	}
	for _, l := range lines {
		w.line(l)
		if strings.TrimSpace(l) == "" {
			continue
		}
		if at.Lines.IsZero() {
			at.Lines.Start = w.lines
		}
		at.Lines.End = w.lines
	}
	w.places = append(w.places, at)
}

// group writes the parts in the draw's order. Blank lines at the ends of parts keep their
// positions.
func (w *writer) group(g *group) {
	w.groups++
	labels := make([]string, len(g.parts))
	parts := map[string][]node{}
	for i, part := range g.parts {
		labels[i] = fmt.Sprintf("order:%s:%d:%d", w.stored, w.groups, i)
		parts[labels[i]] = part
	}
	order := labels
	if w.draw.shuffle {
		order = w.draw.chance.order(labels)
	}
	for i, part := range g.parts {
		lead, trail := margins(part)
		moved := parts[order[i]]
		from, till := margins(moved)
		w.nodes(part[:lead])
		w.nodes(moved[from : len(moved)-till])
		w.nodes(part[len(part)-trail:])
	}
}
