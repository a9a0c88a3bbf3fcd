package sqlreview

import (
	"regexp"

	"assay/audit"
)

var (
	boundWordRE = regexp.MustCompile(`exceed|more than|at most|up to|within|not above|no higher|below|greater than|less than|cover|sufficient|enough|maximum|ceiling|limit|capacity|remaining|available|negative`)
	boundNameRE = regexp.MustCompile(`(^|_)(limit|max|maximum|cap|ceiling|budget|quota|allowance|threshold|capacity|balance|credit|stock|available|remaining|seats|on_hand)(_|$)`)
	onceRE      = regexp.MustCompile(`\b(once|twice|single[- ]use|one[- ]time|second time|reused?)\b`)
)

// boundCols lists the columns of a requirement that set a bound (approval_limit, seats,
// balance).
func (s *spec) boundCols(r *requirement) []colRef {
	var out []colRef
	for _, c := range r.cols {
		if col := s.columnOf(c); col != nil && boundNameRE.MatchString(c.col) && !col.isTime() && !col.isBool() && len(col.enum) == 0 {
			out = append(out, c)
		}
	}
	return out
}

// thresholds: what the requirement bounds by a column is compared with that column.
func (r *reviewer) thresholds(q *requirement) {
	cols := r.s.boundCols(q)
	for _, act := range r.actions() {
		if act.kind == "read" {
			continue
		}
		how := r.applies(q, act, nil)
		if how < 0.6 {
			continue
		}
		if !r.a.proves(act.env, func(c *closure) bool { return r.compared(c, cols) }) {
			r.add(q.n, min(0.75, how), act.pos, []audit.CWE{840, 841}, "%s is changed without comparing with %s", act.in.table, cols[0].col)
			return
		}
	}
}

// compared: some fact of c orders one of the columns, or an expression with one, among
// other values.
func (r *reviewer) compared(c *closure, cols []colRef) bool {
	for _, f := range c.facts {
		switch f.op {
		case "<", "<=", ">", ">=":
			if r.mentionsCol(c, f.a, cols) || r.mentionsCol(c, f.b, cols) {
				return true
			}
		case "opaque":
			for _, t := range f.cols {
				if r.mentionsCol(c, t, cols) {
					return true
				}
			}
		}
	}
	return false
}

var termColRE = regexp.MustCompile(`c\d+\.(\w+)`)

func (r *reviewer) mentionsCol(c *closure, t term, cols []colRef) bool {
	for _, m := range c.class(t) {
		for _, x := range termColRE.FindAllStringSubmatch(string(m), -1) {
			for _, col := range cols {
				if col.col == x[1] {
					return true
				}
			}
		}
	}
	return false
}

// once: what may happen one time is marked by a column that is set then, and the row
// is held to the mark being absent before.
func (r *reviewer) once(q *requirement) {
	for _, w := range r.a.writes {
		if w.in == nil || w.in.tab == nil || w.kind != qUpdate || w.in.role != roleUpdate {
			continue
		}
		col := w.in.tab.column(w.col)
		if col == nil || col.notNull || !col.isTime() || !meets(q.plain, markTail.ReplaceAllString(w.col, "")) && !namesCol(q, w.in.table, w.col) || strip(w.val).kind == eNull {
			continue
		}
		t := w.in.col(w.col)
		ok := r.a.proves(w.env, func(c *closure) bool {
			for _, x := range w.in.tab.cols { // the state tells as much
				if isStateCol(x) && len(x.enum) > 0 && c.values(w.in.col(x.name), x.enum) != nil {
					return true
				}
			}
			for _, f := range c.about(t) {
				if f.op == "null" {
					return true
				}
			}
			return false
		})
		if !ok {
			r.add(q.n, 0.75, w.pos, []audit.CWE{841, 362}, "%s of %s is set without holding the row to its not being set before", w.col, w.in.table)
		}
	}
}
