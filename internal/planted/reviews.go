package planted

import (
	"strings"

	"assay/audit"
)

// readReviews reads reviews.md, the rulings on what readers reported off the sites.
// It names files and functions as source/ does. Lines move from draw to draw, so
// that a row with lines is an error; one with the ruling true is, too: a flaw is
// mended, or becomes a site.
func (r *reader) readReviews() {
	source, words := &audit.Project{Tree: audit.Tree{}}, map[string]map[string]bool{}
	for _, s := range r.p.sources {
		words[s.path] = s.words
		source.Tree[s.path] = audit.TreeFile{Path: s.path, Lines: audit.CountLines([]byte(s.text))}
	}
	for _, s := range r.p.Sites {
		source.Known = append(source.Known, audit.Known{ID: s.ID})
	}
	rs := r.c.Reviews(r.fsys, r.show("reviews.md"), source)
	for _, v := range rs {
		for _, f := range v.Functions {
			if own := f[strings.LastIndex(f, ".")+1:]; !words[v.File][own] {
				r.c.Errorf(v.Pos, "%s is no word of %s: expected a function as source/ names it", own, v.File)
			}
		}
		switch {
		case !v.Lines.IsZero():
			r.c.Errorf(v.Pos, "the row names lines: expected a function instead, as lines move from draw to draw")
		case v.Ruling == audit.RuledTrue:
			r.c.Errorf(v.Pos, "a flaw beside the sites was found: expected it to be mended, or to become a site")
		}
	}
	r.p.reviews = rs
}
