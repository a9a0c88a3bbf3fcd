package sqlreview

import (
	"regexp"
	"strings"

	"assay/audit"
)

// A grantTable is a table whose rows give a person something for a time, or until it is
// taken back, with the columns that say so.
type grantTable struct {
	tab  *table
	cols []*column
	req  int // the requirement that speaks of it
}

var (
	takenBackRE = regexp.MustCompile(`^(revoked|ended|withdrawn|terminated|removed|left|deleted|cancelled|suspended)(_at|_on)?$`)
	runsOutRE   = regexp.MustCompile(`(^|_)(until|till|to|through)$|^(expires?(_at|_on)?|expiry(_date|_at)?|ends?(_at|_on)?|end_date)$`)
	runsFromRE  = regexp.MustCompile(`(^|_)(since|from)$|^(starts?(_at|_on)?|start_date)$`)
	confirmRE   = regexp.MustCompile(`^(confirmed|accepted|verified)(_at|_on)?$`)
	inForceRE   = regexp.MustCompile(`\blive\b|in force|expire|revok|valid|while it lasts|\blasts\b|still|not ended|current|standing|active|this moment|mandate|posting|grant`)
)

// findGrants lists the tables that tie a person to something and have columns that say
// whether the tie holds; a person's own record is none.
func (s *spec) findGrants() {
	for _, t := range s.sch.order {
		if !s.tiesTenants(t) && (len(s.personCols(t)) == 0 || s.isPerson(t) || s.onlyMakers(t)) {
			continue
		}
		g := grantTable{tab: t}
		ends := false
		for _, c := range t.cols {
			spans := strings.HasSuffix(c.typ, "range")
			back := c.isTime() && !c.notNull && takenBackRE.MatchString(c.name)
			out := c.isTime() && runsOutRE.MatchString(c.name)
			if spans || back || out || c.isTime() && (runsFromRE.MatchString(c.name) || !c.notNull && confirmRE.MatchString(c.name)) {
				g.cols = append(g.cols, c)
				ends = ends || spans || out || back && c.name != "deleted_at"
			}
		}
		if ends && s.carriesRight(t) {
			g.req = s.requirementOf(t)
			s.grants = append(s.grants, g)
		}
	}
}

// carriesRight: the table has roles or kinds, is named like a grant, ties two people, or
// can both run out and be taken back.
func (s *spec) carriesRight(t *table) bool {
	people := 0
	for _, fk := range t.fks {
		if x := s.sch.tables[fk.ref]; x != nil && s.isPerson(x) {
			people++
		}
	}
	back, out := false, false
	for _, c := range t.cols {
		back = back || c.isTime() && !c.notNull && takenBackRE.MatchString(c.name) && c.name != "deleted_at"
		out = out || c.isTime() && runsOutRE.MatchString(c.name) || strings.HasSuffix(c.typ, "range")
	}
	return back && out || s.tiesTenants(t) || s.hasRole(t) || permNameRE.MatchString(t.name) || people > 1 && len(t.fks) == people
}

// tiesTenants: the table's rows tie one tenant to another, as agreements do.
func (s *spec) tiesTenants(t *table) bool {
	n := 0
	for _, fk := range t.fks {
		if fk.ref == s.root {
			n++
		}
	}
	return n > 1
}

// requirementOf gives the requirement that says most about the table's rows being in
// force: by their name, or by a defined word.
func (s *spec) requirementOf(t *table) int {
	best, at := 0, 0
	for _, r := range s.reqs {
		n := 0
		if r.tables[t.name] {
			n += 2
		}
		for _, d := range s.defined(r.text) {
			if s.readRequirement(0, d.text).tables[t.name] {
				n += 3
				break
			}
		}
		if n > 0 && inForceRE.MatchString(r.head()) {
			n += 2
		}
		if n > 0 && inForceRE.MatchString(r.low) {
			n++
		}
		if n > best {
			best, at = n, r.n
		}
	}
	for _, r := range s.reqs { // none names the rows: one speaks of the rights that they give
		if at == 0 && s.dense() && r.kinds[kPerm] && (s.namesRoleOf(r, t) || inForceRE.MatchString(r.low)) {
			at = r.n
		}
	}
	return at
}

// grantsInForce: a row that is used as the right of who acts is asked about each of the
// columns that could end it.
func (r *reviewer) grantsInForce() {
	r.kind = kGrant
	for _, g := range r.s.grants {
		for _, in := range r.a.insts {
			if in.tab != g.tab || g.req == 0 || in.der != nil || in.role != roleRead || in.env.isNegated() || r.a.anti(in) || r.a.lockOnly[in] || !r.ofActor(in) && !r.ofTenant(in) {
				continue
			}
			for _, c := range g.cols {
				if !r.a.proves(in.env, func(cl *closure) bool { return r.asked(cl, in, c) }) {
					r.add(g.req, 0.75, in.pos, []audit.CWE{863, 672, 613}, "%s is used as a right without asking about %s", name(in), c.name)
					break
				}
			}
		}
	}
}

// ofTenant: the row ties the caller's tenant to another one.
func (r *reviewer) ofTenant(in *inst) bool {
	return r.s.tiesTenants(in.tab) && r.a.proves(in.env, func(c *closure) bool {
		for _, fk := range in.tab.fks {
			if fk.ref == r.s.root && len(fk.cols) == 1 && r.isTenantTerm(c, in.col(fk.cols[0])) {
				return true
			}
		}
		return false
	})
}

// asked: some fact speaks of the column, of both ends of it where it is a range.
func (r *reviewer) asked(c *closure, in *inst, col *column) bool {
	t := in.col(col.name)
	if len(c.about(t)) > 0 {
		return true
	}
	lower, upper := false, false
	for _, f := range c.facts {
		for _, x := range append([]term{f.a, f.b}, f.cols...) {
			s := string(x)
			switch {
			case x == t && (f.op == "member" || f.op == "opaque" && !strings.Contains(f.text, "lower(") && !strings.Contains(f.text, "upper(") || f.op == "call"):
				return true
			case strings.Contains(s, "lower("+string(t)):
				lower = true
			case strings.Contains(s, "upper("+string(t)):
				upper = true
			case strings.HasPrefix(s, "f:") && strings.Contains(s, string(t)):
				return true
			}
		}
	}
	return lower && upper
}
