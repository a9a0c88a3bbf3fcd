package sqlreview

import (
	"regexp"
	"strings"
)

// longRequirement is the number of words, on the average, from which on a SPEC's
// requirements are taken to hold several demands each. What was read from one sentence
// was right nearly always; of what was read from several, most was not
// (testdata/README.md has the counts).
const longRequirement = 30

// noteWeight is what a remark is worth that is no evidence by itself: less than a
// verdict.
const noteWeight = 0.4

// dense: the requirements are long, so that a demand which fails tells as much about
// how they were read as about the code.
func (s *spec) dense() bool {
	n := 0
	for _, r := range s.reqs {
		n += len(strings.Fields(r.text))
	}
	return len(s.reqs) > 0 && n > longRequirement*len(s.reqs)
}

// settleRemarks makes notes of the remarks that are no evidence: under a SPEC of long
// requirements, a demand that fails says something only where it is of a kind that
// stands on the code alone, or where the code itself meets it elsewhere.
func (r *reviewer) settleRemarks() {
	if !r.s.dense() {
		return
	}
	for i := range r.found {
		v := &r.found[i]
		if v.conf >= 0.5 && !r.stands(v) {
			v.conf = noteWeight
		}
	}
}

// stands: the remark is evidence. Kinds that fired on unseen good code as often as on
// bad (testdata/README.md) are notes: authors, permissions that are checked on some
// path only, columns that are given out one by one, moments that are only set.
func (r *reviewer) stands(v *violation) bool {
	switch v.kind {
	case kInjection, kRace, kDay, kPattern, kGrant:
		return true
	case kShape:
		return !strings.Contains(v.form, "not whether it has come")
	case kState:
		return strings.HasPrefix(v.form, "%s of %s is set to %s without")
	case kSoft:
		return r.aliveElsewhere(v)
	case kLimit:
		return r.unlimited(v)
	case kSecret:
		return len(v.args) > 2 && v.args[2] == wholeRow
	case kPerm: // it is checked, for some row
		return strings.Contains(v.why, "permission is not tied to the row")
	case kTime: // the clock is there, and not the database's
		return strings.Contains(v.form, "a value from outside")
	case kTenant:
		return r.astray(v)
	}
	return false
}

// aliveElsewhere: another row of the code is held to the same mark of deletion.
func (r *reviewer) aliveElsewhere(v *violation) bool {
	if len(v.args) < 2 {
		return false
	}
	col, _ := v.args[1].(string)
	for _, in := range r.a.insts {
		if in.tab == nil || in.pos == v.pos || in.tab.column(col) == nil || in.role == roleInsert {
			continue
		}
		if c := in.tab.column(col); r.a.proves(in.env, aliveGoal(r, &requirement{}, in, c)) {
			return true
		}
	}
	return false
}

// unlimited: nothing in the statement limits anything, or the LIMIT is there and takes
// what the client asks for.
func (r *reviewer) unlimited(v *violation) bool {
	if strings.Contains(v.why, "the LIMIT") {
		return r.a.executes == 0
	}
	if strings.Contains(v.why, "gathers") {
		return true
	}
	low := strings.ToLower(r.code)
	return !boundedRE.MatchString(low)
}

var boundedRE = regexp.MustCompile(`\blimit\b|\bfetch\s+(first|next)\b|\b(insert|update|delete|merge)\b`)

// astray: the code ties rows to the tenant, and one row not at all: nothing points at
// it, and no function is asked about it. Where many rows stray, the SPEC was misread.
func (r *reviewer) astray(v *violation) bool {
	n := 0
	for _, o := range r.found {
		if o.kind == kTenant && o.form == v.form {
			n++
		}
	}
	if len(r.s.scopeP) == 0 {
		return false
	}
	if n > 2 || !r.pinned() {
		return false
	}
	for _, in := range r.a.insts {
		if in.pos == v.pos && in.tab != nil && in.role != roleInsert && in.role != roleConflict {
			tied := r.a.proves(in.env, func(c *closure) bool { return r.scoped(c, in, false, 0, map[*inst]bool{}) })
			return !tied && !r.pointedAt(in) && !r.askedAbout(in)
		}
	}
	return false
}

// pointedAt: a row that was there before points at in's row.
func (r *reviewer) pointedAt(in *inst) bool {
	c := r.a.close(gather(in.env, map[*env]bool{}, nil))
	for _, x := range r.a.insts {
		if x != in && x.tab != nil && x.role != roleInsert && r.linked(c, x, in) {
			return true
		}
	}
	return false
}

// pinned: some row's own tenant column is the caller's.
func (r *reviewer) pinned() bool {
	for _, in := range r.a.insts {
		if in.tab == nil || in.role == roleInsert || in.tab.column(r.tenant()) == nil {
			continue
		}
		if r.a.proves(in.env, func(c *closure) bool { return r.isTenantTerm(c, in.col(r.tenant())) }) {
			return true
		}
	}
	return false
}

// askedAbout: a function was asked about in's row, or about one that it points at.
func (r *reviewer) askedAbout(in *inst) bool {
	c := r.a.close(gather(in.env, map[*env]bool{}, nil))
	mine := map[term]bool{}
	for _, k := range in.tab.keys1() {
		mine[c.find(in.col(k))] = true
	}
	for _, fk := range in.tab.fks {
		for _, k := range fk.cols {
			mine[c.find(in.col(k))] = true
		}
	}
	for _, f := range c.facts {
		if f.op != "call" && f.op != "opaque" {
			continue
		}
		for _, t := range f.cols {
			if f.op == "call" && mine[c.find(t)] {
				return true
			}
		}
	}
	return false
}
