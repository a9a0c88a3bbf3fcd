package sqlreview

import (
	"regexp"
	"strings"

	"assay/audit"
)

// softDelete: rows that are marked as gone are not seen.
func (r *reviewer) softDelete(q *requirement) {
	for _, col := range r.s.softCols(q) {
		for _, in := range r.a.insts {
			if in.tab == nil || in.der != nil || in.role == roleInsert || in.tab.column(col) == nil || in.env.isNegated() || r.a.anti(in) {
				continue
			}
			if !r.softApplies(q, in, col) || r.restores(q, in, col) {
				continue
			}
			c := in.tab.column(col)
			alive := aliveGoal(r, q, in, c)
			if r.a.proves(in.env, alive) {
				continue
			}
			conf := 0.8
			if in.role == roleConflict {
				conf = 0.6
			}
			if in.table == r.s.root {
				conf = 0.5
			}
			r.add(q.n, conf, in.pos, []audit.CWE{672, 200}, "%s is used without excluding rows that %s marks as gone", name(in), col)
		}
	}
}

// softApplies: where a requirement names some of the tables that have the column, it
// is about these.
func (r *reviewer) softApplies(q *requirement, in *inst, col string) bool {
	owned := false
	for _, c := range q.cols {
		if c.col == col && c.table != "" {
			owned = true
			if c.table == in.table {
				return true
			}
		}
	}
	if owned {
		return false
	}
	if q.named[in.table] || q.tables[in.table] {
		return true
	}
	for t := range q.named {
		if tab := r.s.sch.tables[t]; tab != nil && tab.column(col) != nil {
			return false
		}
	}
	for t := range q.tables {
		if tab := r.s.sch.tables[t]; tab != nil && tab.column(col) != nil && !regexp.MustCompile(`every|each|all|any|wherever|table`).MatchString(q.low) {
			return false
		}
	}
	return true
}

// restores: the statement undoes the deletion, and may see what is deleted.
func (r *reviewer) restores(q *requirement, in *inst, col string) bool {
	for _, w := range r.a.writes {
		if w.in == in && w.col == col {
			v := strip(w.val)
			if v.kind == eNull || v.kind == eLit && v.op == "false" {
				return true
			}
		}
	}
	return false
}

var activeRE = regexp.MustCompile(`^(is_)?(active|enabled|live)$`)

// aliveGoal proves that in's rows are not marked as gone by column c.
func aliveGoal(r *reviewer, q *requirement, in *inst, c *column) func(*closure) bool {
	t := in.col(c.name)
	if strings.HasPrefix(c.typ, "bool") || activeRE.MatchString(c.name) {
		want := "false"
		if activeRE.MatchString(c.name) {
			want = "true"
		}
		return func(cl *closure) bool {
			for _, f := range cl.about(t) {
				if f.op == want || f.op == "null" && want == "false" && !c.notNull {
					return true
				}
			}
			for _, m := range cl.class(t) {
				if m == term("l:"+want) || m == term("l:'"+want+"'") {
					return true
				}
			}
			return false
		}
	}
	return func(cl *closure) bool {
		for _, f := range cl.about(t) {
			if f.op == "null" {
				return true
			}
		}
		return false
	}
}
