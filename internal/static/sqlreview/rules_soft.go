package sqlreview

import (
	"regexp"
	"strings"

	"assay/audit"
)

var wholesaleRE = regexp.MustCompile(`every|each|all|any|wherever|table`)

// softDelete: rows that are marked as gone are not seen.
func (r *reviewer) softDelete(q *requirement) {
	for _, col := range r.s.softCols(q) {
		r.holders(q, col)
		if r.onlyNew(q, col) {
			continue
		}
		ofCaller := r.s.aboutCaller(q, col)
		for _, in := range r.a.insts {
			if in.tab == nil || in.der != nil || in.role == roleInsert || in.tab.column(col) == nil || in.env.isNegated() || r.a.anti(in) || r.a.lockOnly[in] {
				continue
			}
			if !r.softApplies(q, in, col) || r.restores(q, in, col) || ofCaller && !r.ofCaller(in) {
				continue
			}
			c := in.tab.column(col)
			alive := aliveGoal(r, q, in, c)
			if r.a.proves(in.env, func(c *closure) bool { return alive(c) || r.vouchedAlive(c, in, col) }) {
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

var callerRE = regexp.MustCompile(`\b(the|a) (caller|acting \w+|signed-in \w+|current user) (must|has to|needs|is)`)

// aboutCaller: the sentence that names the mark asks for who acts, and for no other row.
func (s *spec) aboutCaller(q *requirement, col string) bool {
	for _, c := range q.sents {
		if c.namesAny(col) {
			return (callerRE.MatchString(c.low) || s.mustPerson(c)) && !softRE.MatchString(q.head())
		}
	}
	return false
}

// mustPerson: the text says what the one person must be who acts ("the operator must").
func (s *spec) mustPerson(r *requirement) bool {
	for _, t := range s.sch.order {
		if s.people[t.name] && regexp.MustCompile(`\bthe `+regexp.QuoteMeta(stem(t.name))+`\w{0,3} (must|has to|needs)`).MatchString(r.low) {
			return true
		}
	}
	return false
}

// ofCaller: the row is that of who acts, or ties him to something.
func (r *reviewer) ofCaller(in *inst) bool {
	return r.ofActor(in) || len(in.tab.keys1()) == 1 && r.a.proves(in.env, func(c *closure) bool { return c.actor(r, in.col(in.tab.keys1()[0])) })
}

// onlyNew: the sentence that names the mark forbids no more than new rows ("no readings
// for a meter that is retired"), and the code makes none.
func (r *reviewer) onlyNew(q *requirement, col string) bool {
	for _, c := range q.sents {
		if c.namesAny(col) {
			if goneRE.MatchString(c.low) || softRE.MatchString(q.head()) || !newRowRE.MatchString(c.low) {
				return false
			}
			for _, in := range r.a.insts {
				if in.role == roleInsert && in.tab != nil && (q.tables[in.table] || c.touches(in.table)) {
					return false
				}
			}
			return true
		}
	}
	return false
}

var newRowRE = regexp.MustCompile(`\bno (new )?\w+ (for|on|to|in) |\bnew\b`)

var noRightsRE = regexp.MustCompile(`(can|may) do nothing|(have|has|get|hold)s? no (permission|right|access|role)|(cannot|must not|may not|can not|never) (act|do|perform|change|approve|use|be used|log|sign|hold)|not (allowed|permitted)|lose|no effect|do(es)? not count|not authori[sz]ed|only active|must be active|are? active`)

// holders: where people who are marked as gone have no rights, a permission that is
// taken from another table holds only beside the person's own, live row.
func (r *reviewer) holders(q *requirement, col string) {
	said := false
	for _, c := range q.sents {
		said = said || noRightsRE.MatchString(c.low) && (c.namesAny(col) || softRE.MatchString(c.low)) && !r.s.saysOwner(c)
	}
	if !said {
		return
	}
	for _, p := range r.s.sch.order {
		c := p.column(col)
		if c == nil || !r.s.isPerson(p) || !r.softApplies(q, &inst{table: p.name, tab: p}, col) {
			continue
		}
		for _, act := range r.actions() {
			if act.kind == "read" || !r.guarded(act) {
				continue
			}
			ok := r.a.proves(act.env, func(cl *closure) bool {
				for _, x := range r.a.insts {
					if x.tab == p && cl.actor(r, x.col(p.keys[0][0])) && aliveGoal(r, q, x, c)(cl) {
						return true
					}
				}
				return false
			})
			if !ok {
				r.add(q.n, 0.7, act.pos, []audit.CWE{863, 672}, "who acts is not looked up in %s, so that one whom %s marks as gone may still act", p.name, col)
				return
			}
		}
	}
}

// guarded: some requirement asks for a permission for this action.
func (r *reviewer) guarded(act action) bool {
	for _, q := range r.s.reqs {
		if q.kinds[kPerm] && r.applies(q, act, nil) >= 0.7 {
			return true
		}
	}
	return false
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
	if anyRowRE.MatchString(q.low) && in.env != nil && !r.lookedUp(in) {
		return true
	}
	for t := range q.named {
		if tab := r.s.sch.tables[t]; tab != nil && tab.column(col) != nil {
			return false
		}
	}
	for t := range q.tables {
		if tab := r.s.sch.tables[t]; tab != nil && tab.column(col) != nil && !wholesaleRE.MatchString(q.low) {
			return false
		}
	}
	return true
}

var anyRowRE = regexp.MustCompile(`\b(a|an|no) (\w+ )?(row|record)\b`)

// lookedUp: some row that the code reads points at in's row, which only adds to it.
func (r *reviewer) lookedUp(in *inst) bool {
	c := r.a.close(gather(in.env, map[*env]bool{}, nil))
	for _, x := range r.a.insts {
		if x != in && x.tab != nil && r.linked(c, x, in) {
			return true
		}
	}
	return false
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
			if f.op == "null" || (f.op == ">" || f.op == ">=") && c.isTime() && laterRE.MatchString(q.low) && r.byClock(cl, f.b, c) {
				return true
			}
		}
		return false
	}
}

var laterRE = regexp.MustCompile(`\bfuture\b|\blater\b|not yet|\bpast\b|has passed|\btoday\b`)

// byClock: t is the clock, or made of it: what is gone only later is still there.
func (r *reviewer) byClock(c *closure, t term, col *column) bool {
	k := r.clockKind(c, t, col)
	return k == "now" || k == "today" || k == "shifted"
}
