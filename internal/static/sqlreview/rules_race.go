package sqlreview

import (
	"regexp"
	"strings"

	"assay/audit"
)

var (
	raceRE       = regexp.MustCompile(`two (sessions|calls|requests|clerks|people|clients|transactions)|at the same (time|moment)|simultaneous|concurren|\brace|\block(s|ed|ing)?\b|snapshot|for update|both succeed|double[- ](spend|book)|exactly once`)
	strongRaceRE = regexp.MustCompile(`for update|\block|snapshot|two |simultaneous|concurren`)
	atMostRE     = regexp.MustCompile(`at most (one|two|three|four|five|ten|\d)|no more than (one|two|three|\d)|exactly once|only one|never overlap|not overlap`)
)

// raceRequirement gives the requirement about simultaneous calls that speaks of table t,
// or else any, and 0 where there is none.
func (s *spec) raceRequirement(t string, cols ...string) int {
	best, at := 0, 0
	for _, r := range s.reqs {
		n := len(raceRE.FindAllString(r.low, 4))
		if n == 0 {
			continue
		}
		if strongRaceRE.MatchString(r.low) {
			n += 4
		}
		if raceRE.MatchString(r.head()) {
			n += 3
		}
		if r.tables[t] || t != "" && r.touches(t) {
			n += 3
		}
		for _, c := range cols {
			if r.namesAny(c) {
				n += 6
			}
		}
		if n > best {
			best, at = n, r.n
		}
	}
	return at
}

// races: what is looked at before a write still holds when the write happens.
func (r *reviewer) races() {
	r.kind = kRace
	if r.s.raceRequirement("") == 0 {
		return
	}
	r.staleStates()
	r.staleCTEs()
	locked := false
	for _, s := range r.a.stmts {
		r.lateLocks(s, locked)
		eachQuery(s, func(q *query, _ bool) { locked = locked || q.lock != "" })
	}
	if !locked && !strings.Contains(strings.ToLower(r.code), "lock") {
		r.openCounts()
	}
}

// staleStates: a row is changed because of the state that an earlier statement saw,
// without a lock, and the change does not look again.
func (r *reviewer) staleStates() {
	for _, act := range r.actions() {
		if act.kind != "update" || act.in.role == roleConflict {
			continue
		}
		full := r.a.close(gather(act.env, map[*env]bool{}, nil))
		own := r.a.close(gatherDown(act.env, map[*env]bool{}, nil))
		for _, c := range act.in.tab.cols {
			mark := contains(act.cols, c.name) && (c.isTime() && !c.notNull || r.counter(act.in, c.name))
			if act.state != c.name && !mark || len(own.about(act.in.col(c.name))) > 0 || len(act.env.ors) > 0 {
				continue
			}
			for _, x := range r.a.insts {
				if x.tab == act.in.tab && x != act.in && x.role == roleRead && x.stmt != act.in.stmt && !r.a.locked[x] && full.sameRow(x, act.in) && r.tested(full, x.col(c.name)) && !r.lockedRow(full, act.in) {
					n := r.s.raceRequirement(act.in.table)
					r.add(n, 0.7, act.pos, []audit.CWE{367, 362}, "%s of %s is set by what an earlier statement saw without a lock, and not looked at again", c.name, act.in.table)
					return
				}
			}
		}
	}
}

// staleCTEs: the state of a row is looked at in one part of a statement and changed in
// another, which does not look again: what the first part saw may be over by then.
func (r *reviewer) staleCTEs() {
	for _, act := range r.actions() {
		if act.kind != "update" || act.in.role == roleConflict || act.state == "" {
			continue
		}
		again := false
		for _, f := range tests(act.env) {
			again = again || f.mentions(act.in.col(act.state))
		}
		full := r.a.close(gather(act.env, map[*env]bool{}, nil))
		for x := range r.a.locked { // by this statement or an earlier one
			again = again || x.tab == act.in.tab
		}
		if again {
			continue
		}
		for _, x := range r.a.insts {
			if x.tab == act.in.tab && x != act.in && x.role == roleRead && x.stmt == act.in.stmt && full.sameRow(x, act.in) && r.tested(full, x.col(act.state)) {
				r.add(r.s.raceRequirement(act.in.table, act.state), 0.65, act.pos, []audit.CWE{367, 362}, "%s of %s is looked at in another part of the statement than the one that changes it", act.state, act.in.table)
				return
			}
		}
	}
}

// counter: the statement sets the column to itself and something.
func (r *reviewer) counter(in *inst, col string) bool {
	for _, w := range r.a.writes {
		if v := strip(w.val); w.in == in && w.col == col && v.kind == eBin && (v.op == "+" || v.op == "-") {
			return within2(string(r.a.term(w.val, w.sc)), string(in.col(col)))
		}
	}
	return false
}

// tested: a fact holds the column to a value, or to none.
func (r *reviewer) tested(c *closure, t term) bool {
	for _, f := range c.facts {
		if (f.a == t || f.b == t) && (f.op == "<" || f.op == "<=" || f.op == ">" || f.op == ">=") {
			return true // a counter below its bound
		}
		if f.a == t && (f.op == "null" || f.op == "in" || f.op == "=" && f.b.isLit()) {
			return true
		}
	}
	return false
}

// lockedRow: some earlier statement locked the row of in.
func (r *reviewer) lockedRow(c *closure, in *inst) bool {
	for x := range r.a.locked {
		if x.tab == in.tab && c.sameRow(x, in) {
			return true
		}
	}
	return false
}

// lateLocks: the lock is taken by the very statement whose snapshot the check reads.
func (r *reviewer) lateLocks(q *query, locked bool) {
	if locked || q == nil {
		return
	}
	inner := false
	targets := map[string]bool{}
	eachQuery(q, func(x *query, _ bool) {
		inner = inner || x.lock != ""
		if (x.kind == qInsert || x.kind == qUpdate) && x.table != nil {
			targets[x.table.name] = true
		}
	})
	if !inner || len(targets) == 0 {
		return
	}
	if t, pos := counted(q, targets); t != "" {
		r.add(r.s.raceRequirement(t), 0.75, pos, []audit.CWE{362, 367}, "the rows of %s that the check looks at are those of a snapshot older than the lock, which the same statement takes", t)
	}
}

// openCounts: how many rows there are is looked at, and one more is written, with
// nothing that keeps a second call from doing the same.
func (r *reviewer) openCounts() {
	low := strings.ToLower(r.code)
	if strings.Contains(low, "on conflict") || strings.Contains(low, "serializable") {
		return
	}
	targets := map[string]bool{}
	for _, in := range r.a.insts {
		if in.tab != nil && (in.role == roleInsert && r.s.bounded(in.table) || in.role == roleUpdate && r.s.dense() && r.setsState(in)) {
			targets[in.table] = true
		}
	}
	for _, q := range r.a.stmts {
		if t, pos := counted(q, targets); t != "" {
			r.add(r.s.raceRequirement(t), 0.6, pos, []audit.CWE{362, 367}, "rows of %s are counted and one is added without a lock", t)
			return
		}
	}
	for _, in := range r.a.insts { // numbering by the highest so far
		if in.role != roleUpdate && in.role != roleInsert || in.tab == nil {
			continue
		}
		for _, w := range r.a.writes {
			if w.in == in && nextOf(w.val, in.table) {
				r.add(r.s.raceRequirement(in.table, w.col), 0.7, w.pos, []audit.CWE{362}, "%s is the highest so far and one more: two calls at once get the same", w.col)
			}
		}
	}
}

// setsState: the statement gives in's row another state.
func (r *reviewer) setsState(in *inst) bool {
	for _, w := range r.a.writes {
		if c := in.tab.column(w.col); w.in == in && c != nil && isStateCol(c) {
			return true
		}
	}
	return false
}

// bounded: some sentence says how many rows of the table there may be.
func (s *spec) bounded(table string) bool {
	for _, r := range s.reqs {
		if r.kinds[kLimit] { // that is about what is shown
			continue
		}
		for _, c := range r.sents {
			if c.tables[table] && atMostRE.MatchString(c.low) && hasRun(stemsOf(c.text), table) {
				return true
			}
		}
	}
	return false
}

// nextOf: e holds (SELECT max(...) + 1 FROM table).
func nextOf(e *expr, table string) bool {
	found := false
	e.walk(func(x *expr) bool {
		if x.sub != nil && len(x.sub.targets) == 1 && reads(x.sub, table) && strings.Contains(show(x.sub.targets[0].e), "max(") && strings.Contains(show(x.sub.targets[0].e), "+") {
			found = true
		}
		return true
	})
	return found
}

// counted gives a target table whose rows a NOT EXISTS or an aggregate in q looks at.
func counted(q *query, targets map[string]bool) (table string, pos int) {
	eachQuery(q, func(x *query, negated bool) {
		if x.kind != qSelect || table != "" {
			return
		}
		agg := false
		for _, t := range x.targets {
			if e := strip(t.e); e != nil {
				e.walk(func(y *expr) bool {
					agg = agg || y.over == nil && y.isCall("count", "sum", "max")
					return true
				})
			}
		}
		for t := range targets {
			if (negated || agg && len(x.group) == 0) && reads(x, t) {
				table, pos = t, x.pos
			}
		}
	})
	return table, pos
}

// reads: q's own FROM names the table.
func reads(q *query, table string) bool {
	var in func(f *from) bool
	in = func(f *from) bool {
		return f != nil && (f.kind == fTable && f.name == table || f.kind == fJoin && (in(f.l) || in(f.r)))
	}
	for _, f := range q.from {
		if in(f) {
			return true
		}
	}
	return false
}
