package sqlreview

import (
	"regexp"
	"strings"

	"assay/audit"
)

var ownerRE = regexp.MustCompile(`owner|created|author|user|person|member|customer|patient`)

var ownRE = regexp.MustCompile(`\bown(s|er|ers|ed)?\b|their own|his own`)

var atLeastRE = regexp.MustCompile(`at least|or (higher|above|better|more)|minimum`)

// permissions: who acts holds what the requirement asks for, for the very thing that
// is acted on.
func (r *reviewer) permissions(q *requirement) {
	for _, part := range q.parts {
		r.permissionsOf(part)
	}
}

func (r *reviewer) permissionsOf(q *requirement) {
	tables := r.s.permTables(q)
	held := false
	for _, t := range tables {
		held = held || r.heldBy(r.s.sch.tables[t])
	}
	if !held {
		return
	}
	skip := map[string]bool{}
	for _, t := range tables {
		if permNameRE.MatchString(t) && r.s.hasRole(r.s.sch.tables[t]) {
			skip[t] = true
		}
	}
	for _, act := range r.actions() {
		how := r.applies(q, act, skip)
		if how < 0.5 {
			continue
		}
		r.permission(q, act, tables, how)
	}
}

func anyOf(set map[string]bool, list []string) bool {
	for _, x := range list {
		if set[x] {
			return true
		}
	}
	return false
}

// namesPerson: the requirement names a column that holds a person.
func (s *spec) namesPerson(q *requirement) bool {
	for _, t := range s.sch.order {
		if aloneRE.MatchString(q.low) && q.tables[t.name] && s.saysHolder(q, t) {
			return true
		}
		for _, p := range s.personCols(t) {
			if namesCol(q, t.name, p) {
				return true
			}
		}
	}
	return false
}

// A shortfall says how far the evidence for a permission got.
type shortfall int

const (
	noEvidence shortfall = iota
	notActor
	roleTooWide
	inactive
	notTied
	complete
)

func (r *reviewer) permission(q *requirement, act action, tables []string, how float64) {
	best := noEvidence
	ok := r.a.proves(act.env, func(c *closure) bool {
		s := r.evidence(q, c, act, tables)
		best = max(best, s)
		return s == complete
	})
	if ok {
		return
	}
	if (best == noEvidence || r.s.byHolder(q)) && r.consults(act) {
		how = min(how, 0.45) // something is asked about who acts: what, this rule cannot tell
	}
	if act.kind == "read" && best == noEvidence && (how < 0.9 || !r.s.saysRole(q) && !r.s.namesPerson(q) && !anyOf(q.named, tables)) {
		how = min(how-0.15, 0.45)
	}
	if act.kind == "read" && (!r.readsAct(q, act.in.table) || how < 0.7 && best != noEvidence) {
		how = 0.4
	}
	why := map[shortfall]string{
		noEvidence:  "nothing checks that who acts may do this to " + act.in.table,
		notActor:    "the permission that is checked is not that of who acts",
		roleTooWide: "the check lets more roles through than the requirement names to " + act.in.table,
		inactive:    "the permission also counts when the one who holds it is gone",
		notTied:     "the permission is not tied to the row of " + act.in.table + " that is acted on",
	}[best]
	if best == complete {
		why = "the permission is not checked on every path"
	}
	r.add(q.n, min(0.85, how), act.pos, []audit.CWE{862, 863, 285}, "%s", why)
}

// evidence looks for a row of a permission table, or an owner column, that meets the
// requirement under c.
func (r *reviewer) evidence(q *requirement, c *closure, act action, tables []string) shortfall {
	best := noEvidence
	if r.owner(q, c, act) {
		return complete
	}
	if best = r.vouched(q, c, act); best == complete {
		return complete
	}
	for _, x := range r.a.insts {
		if x.tab == nil || x.role == roleInsert || !contains(tables, x.table) || x.env.isNegated() || !c.mentions(x) {
			continue
		}
		if len(r.s.personCols(x.tab)) > 0 && !permNameRE.MatchString(x.table) && !r.s.hasRole(x.tab) {
			continue // an owner column: judged above
		}
		best = max(best, r.weigh(q, c, act, x))
		if best == complete {
			return best
		}
	}
	return best
}

func (c *closure) mentions(in *inst) bool {
	for _, f := range c.facts {
		if c.a.instOf(f.a) == in || c.a.instOf(f.b) == in {
			return true
		}
	}
	return false
}

func (r *reviewer) weigh(q *requirement, c *closure, act action, x *inst) shortfall {
	person := r.s.personCols(x.tab)
	if r.s.isPerson(x.tab) && len(x.tab.keys) > 0 {
		person = append(append([]string{}, person...), x.tab.keys[0][0])
	}
	acts := false
	for _, p := range person {
		if t := c.actor(r, x.col(p)); t {
			acts = true
		}
	}
	if !acts {
		return notActor
	}
	if !r.roleFits(q, c, x) {
		return roleTooWide
	}
	if !r.holds(q, c, x) {
		return inactive
	}
	if !r.tied(q, c, act, x) {
		return notTied
	}
	return complete
}

func (c *closure) actor(r *reviewer, t term) bool {
	for _, m := range c.class(t) {
		if m.isParam() && r.s.isActor(m) || r.memberKey(c, m) {
			return true
		}
	}
	return false
}

// memberKey: m is the key of the caller's own row in a table of members, which stands
// for him as his user id does.
func (r *reviewer) memberKey(c *closure, m term) bool {
	in := r.a.instOf(m)
	if in == nil || in.tab == nil || in.role != roleRead || !r.s.isMembership(in.tab) || !contains(in.tab.keys1(), m.colName()) {
		return false
	}
	for _, fk := range in.tab.fks {
		ref := r.s.sch.tables[fk.ref]
		if ref == nil || !r.s.isPerson(ref) || len(fk.cols) != 1 {
			continue
		}
		for _, x := range c.class(in.col(fk.cols[0])) {
			if x.isParam() && r.s.isActor(x) {
				return true
			}
		}
	}
	return false
}

// roleFits: the roles that c lets through are among those that the requirement names.
func (r *reviewer) roleFits(q *requirement, c *closure, x *inst) bool {
	for _, col := range x.tab.cols {
		allowed := r.s.withMasters(q.valuesOf(col.enum), col.enum)
		switch {
		case isStateCol(col):
			continue
		case strings.HasSuffix(col.typ, "[]"): // 'view' = ANY (rights)
			if len(allowed) > 0 && len(col.enum) > 0 && !r.asked(c, x, col) {
				return false
			}
		case len(allowed) > 0 && len(col.enum) > 0:
			if !within(c.values(x.col(col.name), col.enum), r.atLeast(q, col.enum, allowed)) {
				return false
			}
		case col.isBool() && namesCol(q, x.table, col.name) && !softNameRE.MatchString(col.name):
			ok := false
			for _, f := range c.about(x.col(col.name)) {
				ok = ok || f.op == "true"
			}
			if !ok {
				return false
			}
		case roleNameRE.MatchString(col.name) && len(col.enum) == 0 && !col.isBool() && len(quotedValues(q)) > 0:
			if got := c.values(x.col(col.name), nil); got != nil && !within(got, quotedValues(q)) {
				return false
			} else if got == nil && len(quotedValues(q)) > 0 && q.touches(col.name) {
				return false
			}
		}
	}
	return true
}

// valuesOf gives the values of an enum that the requirement names: those in backticks
// or quotes, where there are any ("technician" may be a role and may be a word).
func (q *requirement) valuesOf(enum []string) []string {
	for _, list := range [][]string{q.firm, q.values} {
		var out []string
		for _, v := range list {
			if contains(enum, v) {
				out = append(out, v)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// withMasters adds to the roles that are named those that may do whatever others may.
func (s *spec) withMasters(allowed, enum []string) []string {
	if len(allowed) == 0 {
		return nil
	}
	for _, v := range enum {
		if s.masters[v] && !contains(allowed, v) {
			allowed = append(allowed[:len(allowed):len(allowed)], v)
		}
	}
	return allowed
}

// holds: where the requirement says that who acts, or the grant, is still active
// ("not deactivated"), c says so of the column of x that marks it.
func (r *reviewer) holds(q *requirement, c *closure, x *inst) bool {
	for _, col := range x.tab.cols {
		ended := col.isTime() && !col.notNull && endedRE.MatchString(col.name) && !lifeNameRE.MatchString(col.name)
		if !softNameRE.MatchString(col.name) && !heldNameRE.MatchString(col.name) && !ended || !meets(q.plain, markTail.ReplaceAllString(col.name, "")) && !namesCol(q, x.table, col.name) {
			continue
		}
		if !aliveGoal(r, q, x, col)(c) {
			return false
		}
	}
	return true
}

var heldNameRE = regexp.MustCompile(`^(is_)?(blocked|banned|locked|inactive|terminated|dismissed|frozen|barred)(_at|_on|_until)?$`)

var markTail = regexp.MustCompile(`^is_|_(at|on|ts|date|time|flag)$`)

// atLeast: "at least a picker", "picker or higher" allow what comes after in the list.
func (r *reviewer) atLeast(q *requirement, enum, allowed []string) []string {
	if len(allowed) == 1 && atLeastRE.MatchString(q.low) {
		for i, v := range enum {
			if v == allowed[0] {
				return enum[i:]
			}
		}
	}
	return allowed
}

func namesCol(q *requirement, table, col string) bool {
	for _, c := range q.cols {
		if c.col == col && (c.table == "" || c.table == table) {
			return true
		}
	}
	return false
}

func quotedValues(q *requirement) []string {
	var out []string
	for _, s := range q.spans {
		if t := strings.Trim(s, "'\""); wordRE.FindString(t) == t && !q.named[t] {
			known := false
			for _, c := range q.cols {
				known = known || c.col == t
			}
			if !known {
				out = append(out, t)
			}
		}
	}
	return out
}

// owner: the requirement lets an owner act, and the row's owner is who acts.
func (r *reviewer) owner(q *requirement, c *closure, act action) bool {
	for _, p := range r.s.personCols(act.in.tab) {
		said := namesCol(q, act.in.table, p)
		for _, w := range strings.Split(p, "_") {
			said = said || len(w) > 2 && w != "user" && w != "staff" && q.touches(w)
		}
		if ownRE.MatchString(q.low) && ownerRE.MatchString(p) {
			said = true
		}
		if said && c.actor(r, act.in.col(p)) {
			return true
		}
	}
	return false
}
