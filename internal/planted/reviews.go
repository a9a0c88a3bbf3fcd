package planted

import (
	"strings"

	"assay/audit"
)

// readReviews reads reviews.md, the rulings on findings off the sites. Its rows name files and
// functions as source/ does. A row with lines is an error, because lines differ from draw to
// draw. So is the ruling true: a real flaw has to be fixed or to become a site.
func (r *reader) readReviews() {
	source, words := &audit.Project{Tree: audit.Tree{}}, map[string]map[string]bool{}
	for _, s := range r.p.sources {
		words[s.path] = s.words
		source.Tree[s.path] = audit.TreeFile{Path: s.path, Lines: audit.CountLines([]byte(s.text))}
	}
	for _, s := range r.p.Sites {
		source.Vulnerabilities = append(source.Vulnerabilities, audit.Vulnerability{ID: s.ID})
	}
	rs := r.c.Reviews(r.fsys, r.show("reviews.md"), source)
	for _, v := range rs {
		for _, f := range v.Functions {
			if own := f[strings.LastIndex(f, ".")+1:]; !words[v.File][own] {
				r.c.Errorf(v.Pos, "%s is no word of %s: expected a function as source/ names it",
					own, v.File)
			}
		}
		switch {
		case !v.Lines.IsZero():
			r.c.Errorf(v.Pos,
				"the row names lines: expected a function instead, as lines move from draw to draw")
		case v.Ruling == audit.RuledTrue:
			r.c.Errorf(v.Pos,
				"a real flaw outside of the sites: expected it to be fixed, or to become a site")
		}
	}
	r.p.reviews = rs
}
