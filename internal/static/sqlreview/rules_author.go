package sqlreview

import (
	"strings"

	"assay/audit"
)

// authors: a column that says who did it is filled with who acts. The requirement names
// such columns, or the parameter that they are filled with.
func (r *reviewer) authors(q *requirement) {
	for _, w := range r.a.writes {
		if w.in == nil || w.in.tab == nil || !q.namesAny(w.col) || !strings.HasSuffix(w.col, "_by") || !contains(r.s.personCols(w.in.tab), w.col) {
			continue
		}
		if t := r.a.term(w.val, w.sc); r.fromClient(w.val, w.sc) && !r.s.isActor(t) {
			r.add(q.n, 0.75, w.pos, []audit.CWE{639, 345}, "%s of %s is filled from a parameter that is not who acts", w.col, w.in.table)
		}
	}
}

// fromClient: the value is, or may be, a parameter that the server does not fill.
func (r *reviewer) fromClient(e *expr, sc *scope) bool {
	e = strip(e)
	switch e.kind {
	case eParam, eCol:
		t := r.a.term(e, sc)
		return t.isParam() && !r.s.isActor(t) && !r.s.isScope(t)
	case eFunc:
		if e.isCall("coalesce") {
			for _, x := range e.args {
				if r.fromClient(x, sc) {
					return true
				}
			}
		}
	}
	return false
}
