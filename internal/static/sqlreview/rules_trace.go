package sqlreview

import (
	"regexp"
	"strconv"
	"strings"

	"assay/audit"
)

var stateWordRE = regexp.MustCompile(`status|state|transition`)

var everyChangeRE = regexp.MustCompile(`(every|each|all|any) (change|write|update|modif|statement|data|mutation|insert|deletion)`)

// audits: what changes data leaves a row in the audit table, in the name of who acts.
func (r *reviewer) audits(q *requirement) {
	name := r.s.auditTable(q)
	for _, c := range q.sents { // of what is written down, only its sentence tells
		if r.s.auditTable(c) == name && auditRE.MatchString(c.low) {
			named := false
			for t := range c.tables {
				named = named || t != name
			}
			if !named { // "each change of phase writes a row to ...": of the requirement's rows
				c.tables = q.tables
			}
			q = c
			break
		}
	}
	var log *inst
	for _, in := range r.a.insts {
		if in.table == name && in.role == roleInsert {
			log = in
		}
	}
	if log != nil {
		r.auditActor(q, log)
		return
	}
	every := everyChangeRE.MatchString(q.low)
	for _, act := range r.actions() {
		if act.kind == "read" || act.in.table == name {
			continue
		}
		how := r.auditApplies(q, act, every)
		if how >= 0.5 {
			r.add(q.n, how, act.pos, []audit.CWE{778}, "%s is changed and no row is written to %s", act.in.table, name)
			return
		}
	}
}

func (r *reviewer) auditApplies(q *requirement, act action, every bool) float64 {
	named := q.tables[act.in.table] || q.touches(act.in.table)
	state := stateWordRE.MatchString(q.low)
	switch {
	case named && state && act.kind == "update":
		if act.state != "" {
			return 0.85
		}
		return 0.3
	case named && every, named && act.kind == "insert":
		return 0.8
	}
	others := 0
	for t := range q.tables {
		if !auditNameRE.MatchString(t) {
			others++
		}
	}
	if every && others == 0 {
		return 0.75
	}
	return r.applies(q, act, nil) - 0.1
}

func (r *reviewer) auditActor(q *requirement, log *inst) {
	for _, p := range r.s.personCols(log.tab) {
		ok := r.a.proves(log.env, func(c *closure) bool { return c.actor(r, log.col(p)) })
		if ok {
			return
		}
	}
	if len(r.s.personCols(log.tab)) == 0 {
		return
	}
	for _, w := range r.a.writes {
		if w.in == log && contains(r.s.personCols(log.tab), w.col) {
			r.add(q.n, 0.55, w.pos, []audit.CWE{778}, "the row in %s does not name who acts in %s", log.table, w.col)
			return
		}
	}
}

var versionNameRE = regexp.MustCompile(`^(row_?|lock_?|opt_?)?(version|revision|etag|rev|xver|lock_no|seq_no)(_no|_number)?$`)

// versions: an update names the version that it was based on and raises it.
func (r *reviewer) versions(q *requirement) {
	for _, act := range r.actions() {
		if act.kind != "update" || act.in.role == roleConflict {
			continue
		}
		for _, c := range act.in.tab.cols {
			if !versionNameRE.MatchString(c.name) || !namesCol(q, act.in.table, c.name) && !q.touches(c.name) {
				continue
			}
			if len(q.tables) > 0 && !q.tables[act.in.table] && !q.touches(act.in.table) {
				continue
			}
			r.version(q, act, c.name)
		}
	}
}

func (r *reviewer) version(q *requirement, act action, col string) {
	cwe := []audit.CWE{362, 367}
	if !r.a.proves(act.env, func(c *closure) bool { return c.param(act.in.col(col)) != "" }) {
		r.add(q.n, 0.8, act.pos, cwe, "%s is updated without comparing %s with the one that was read", act.in.table, col)
		return
	}
	if !contains(act.cols, col) {
		r.add(q.n, 0.75, act.pos, cwe, "%s is updated and %s is not raised", act.in.table, col)
	}
}

var smallNumbers = map[string]int{"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}

// groupSizes: statistics are given only of groups that are large enough.
func (r *reviewer) groupSizes(q *requirement) {
	n := 0
	for _, v := range q.nums {
		if v > 1 && v < 1000 {
			n = v
			break
		}
	}
	for _, w := range strings.Fields(q.low) {
		if n == 0 {
			n = smallNumbers[strings.Trim(w, ".,;")]
		}
	}
	if n == 0 {
		return
	}
	for _, t := range r.a.tops {
		for _, d := range flatArms(t.d) {
			if d.agg && r.statistic(q, d) && !r.a.proves(d.env, func(c *closure) bool { return largeEnough(c, n) }) {
				r.add(q.n, 0.8, d.q.pos, []audit.CWE{202, 359}, "a statistic is given for groups of fewer than %d", n)
			}
		}
	}
}

// subject gives the table that a requirement names first.
func (r *reviewer) subject(q *requirement) string {
	first, at := "", len(q.low)+1
	for t := range q.tables {
		k := strings.Index(q.low, t)
		if k < 0 {
			k = strings.Index(q.low, stem(strings.Split(t, "_")[0]))
		}
		if k < 0 {
			k = len(q.low)
		}
		if k < at || k == at && t < first {
			first, at = t, k
		}
	}
	return first
}

// statistic: d aggregates rows of a table that the requirement names.
func (r *reviewer) statistic(q *requirement, d *derived) bool {
	for _, in := range r.a.insts {
		if in.tab != nil && in.table == r.subject(q) && !in.assert {
			for _, t := range d.q.targets {
				if t.e.kind != eStar && strings.ContainsAny(show(t.e), "(") {
					return true
				}
			}
		}
	}
	return false
}

func largeEnough(c *closure, n int) bool {
	for _, f := range c.facts {
		for _, g := range []fact{f, {op: flip(f.op), a: f.b, b: f.a}} {
			if !strings.HasPrefix(string(g.a), "f:count(") || !g.b.isLit() {
				continue
			}
			v, err := strconv.Atoi(foldLit(g.b))
			if err != nil {
				continue
			}
			if g.op == ">=" && v >= n || g.op == ">" && v >= n-1 {
				return true
			}
		}
	}
	return false
}
