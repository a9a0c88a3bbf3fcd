package sqlreview

import (
	"regexp"
	"strings"

	"assay/audit"
)

var frozenTextRE = regexp.MustCompile(`(no longer|never|not|cannot|n't) (be )?(chang|edit|updat|modif|delet)`)

// stateOf finds the tables and columns whose states a requirement names.
func (r *reviewer) stateOf(q *requirement) map[*table]string {
	out := map[*table]string{}
	for _, t := range r.s.sch.order {
		for _, c := range t.cols {
			if !isStateCol(c) {
				continue
			}
			n := 0
			for _, v := range q.values {
				if contains(c.enum, v) {
					n++
				}
			}
			if n > 0 && (q.tables[t.name] || q.touches(t.name)) || n > 0 && len(q.tables) == 0 {
				out[t] = c.name
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, t := range r.s.sch.order {
		for _, c := range t.cols {
			if isStateCol(c) && len(q.values) > 0 && contains(c.enum, q.values[0]) {
				out[t] = c.name
			}
		}
	}
	return out
}

// states: a state is left only for one that may follow it, and rows are edited only
// in the states that allow it.
func (r *reviewer) states(q *requirement) {
	owners := r.stateOf(q)
	life := readLife(q.text, q.values)
	for _, c := range q.sents {
		if onlyRE.MatchString(c.low) && len(c.values) > 0 && !(q.kinds[kSecret] && givenOutRE.MatchString(c.low)) {
			r.visible(c, readLife(c.text, c.values), r.stateOf(c))
		}
	}
	r.frozen(q, owners)
	for _, c := range q.sents {
		r.related(c, readLife(c.text, c.values), r.stateOf(c))
	}
	if len(life.prior) == 0 && len(life.edit) == 0 {
		return
	}
	for _, w := range r.a.writes {
		if w.in == nil || w.in.tab == nil || w.kind != qUpdate || w.in.role == roleInsert {
			continue
		}
		col, ok := owners[w.in.tab]
		if !ok || w.col != col || len(life.prior) == 0 {
			continue
		}
		r.transition(q, life, w, col)
	}
	r.editable(q, life, owners)
}

func (r *reviewer) transition(q *requirement, life *lifecycle, w write, col string) {
	enum := w.in.tab.column(col).enum
	nt := r.a.term(w.val, w.sc)
	old := w.in.col(col)
	good := func(c *closure) bool {
		news := c.values(nt, enum)
		if nt.isLit() {
			news = []string{foldLit(nt)}
		}
		if news == nil && strip(w.val).kind != eCase {
			news = r.a.caseVals[nt]
		}
		olds := c.values(old, enum)
		if news == nil || olds == nil {
			return false
		}
		for _, n := range news {
			if !life.known[n] {
				return true // of this state the requirement says nothing
			}
			for _, o := range olds {
				if o != n && !contains(life.prior[n], o) {
					return false
				}
			}
		}
		return true
	}
	if r.a.proves(w.env, good) {
		return
	}
	cwe := []audit.CWE{841, 840}
	if nt.isLit() {
		n := foldLit(nt)
		if !life.known[n] {
			return
		}
		if len(enum) > 0 && len(life.prior[n]) > 0 && len(without(life.prior[n], enum)) == len(life.prior[n]) {
			return // the states before are those of another table
		}
		if len(life.prior[n]) == 0 {
			r.add(q.n, 0.6, w.pos, cwe, "%s is set to %s, which no transition leads to", col, n)
			return
		}
		r.add(q.n, 0.85, w.pos, cwe, "%s of %s is set to %s without holding the row to %s before", col, w.in.table, n, strings.Join(life.prior[n], " or "))
		return
	}
	if strip(w.val).kind == eCase {
		if r.a.proves(w.env, func(c *closure) bool { return c.values(old, enum) != nil }) {
			return
		}
		r.add(q.n, 0.5, w.pos, cwe, "the guard of the change of %s was not found", col)
		return
	}
	r.add(q.n, 0.75, w.pos, cwe, "%s is set to a value from outside without checking that it may follow the present one", col)
}

// editable: rows may be changed only in the states that the requirement names.
func (r *reviewer) editable(q *requirement, life *lifecycle, owners map[*table]string) {
	if len(life.edit) == 0 || len(frozenStates(q)) > 0 || frozenTextRE.MatchString(q.low) {
		return
	}
	for _, act := range r.actions() {
		col, ok := owners[act.in.tab]
		if !ok || act.kind != "update" && act.kind != "delete" || act.state == col {
			continue
		}
		enum := act.in.tab.column(col).enum
		if !r.a.proves(act.env, func(c *closure) bool { return within(c.values(act.in.col(col), enum), life.edit) }) {
			r.add(q.n, 0.75, act.pos, []audit.CWE{841, 840}, "a row of %s is changed without holding it to the state %s", act.in.table, strings.Join(life.edit, " or "))
		}
	}
}

func within(got, allowed []string) bool {
	if got == nil {
		return false
	}
	for _, g := range got {
		if !contains(allowed, g) {
			return false
		}
	}
	return true
}

// related: rows of another table may be written only while the row that they point
// at is in a state (lines of an open order, enrolments of an open course).
func (r *reviewer) related(q *requirement, life *lifecycle, owners map[*table]string) {
	if len(life.only) == 0 {
		return
	}
	for _, act := range r.actions() {
		if act.kind == "read" || owners[act.in.tab] != "" {
			continue
		}
		for t, col := range owners {
			if !q.tables[act.in.table] || !r.pointsAt(act.in.tab, t, 0) || r.applies(q, act, nil) < 0.5 {
				continue
			}
			if len(t.column(col).enum) == 0 {
				continue
			}
			ok := r.a.proves(act.env, func(c *closure) bool {
				for _, x := range r.a.insts {
					if x.tab == t && x.role != roleInsert && within(c.values(x.col(col), t.column(col).enum), life.only) {
						return true
					}
				}
				return false
			})
			if !ok {
				r.add(q.n, 0.7, act.pos, []audit.CWE{841, 840}, "%s is written without holding its %s to the state %s", act.in.table, t.name, strings.Join(life.only, " or "))
			}
		}
	}
}

func (r *reviewer) pointsAt(t, to *table, depth int) bool {
	if depth > 3 {
		return false
	}
	for _, fk := range t.fks {
		if fk.ref == to.name {
			return true
		}
		if x := r.s.sch.tables[fk.ref]; x != nil && x != t && r.pointsAt(x, to, depth+1) {
			return true
		}
	}
	return false
}

// onlyRE finds sentences that let something be seen under a condition, and no other.
var onlyRE = regexp.MustCompile(`\bonly\b|\bunless\b|\bexcept\b|(sees?|shows?|visible|read|returned|listed) (while|when|if|once)|(visible|shown|readable|public) `)

// visible: rows are read only in the states that the requirement names, or by their
// owner where it lets him.
func (r *reviewer) visible(q *requirement, life *lifecycle, owners map[*table]string) {
	if len(life.prior) > 0 || len(life.edit) > 0 || !readWordRE.MatchString(q.low) {
		return
	}
	for _, act := range r.actions() {
		col, ok := owners[act.in.tab]
		if !ok || act.kind != "read" || !(q.tables[act.in.table] || q.touches(act.in.table)) {
			continue
		}
		enum := act.in.tab.column(col).enum
		var allowed []string
		for _, v := range q.values {
			if contains(enum, v) {
				allowed = append(allowed, v)
			}
		}
		if len(allowed) == 0 {
			continue
		}
		not := regexp.MustCompile("(not|never|no|hidden|invisible|except|excluded|hide)\\b[^.,;:]{0,25}"+regexp.QuoteMeta(strings.ToLower(allowed[0]))).MatchString(q.low) ||
			regexp.MustCompile(regexp.QuoteMeta(strings.ToLower(allowed[0]))+"`?[^.,;:]{0,40}(never|not|hidden|invisible|excluded)\\b").MatchString(q.low)
		if not || len(allowed) == len(enum) {
			continue
		}
		if !r.a.proves(act.env, func(c *closure) bool {
			return within(c.values(act.in.col(col), enum), allowed) || r.owner(q, c, act) || r.evidence(q, c, act, r.s.permTables(q)) == complete
		}) {
			r.add(q.n, 0.65, act.pos, []audit.CWE{862, 863}, "%s is read in states other than %s", name(act.in), strings.Join(allowed, ", "))
		}
	}
}
