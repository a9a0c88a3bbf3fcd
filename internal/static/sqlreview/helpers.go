package sqlreview

import (
	"regexp"
	"strings"
)

// A helper is a function that the SPEC describes and that statements may call.
type helper struct {
	name string
	text string // what the SPEC says about it, in lower case
}

var helperSpanRE = regexp.MustCompile("`(?:[a-z_]+\\.)?([a-z_][a-z0-9_]*)\\([^`]*\\)[^`]*`")

// findHelpers reads the functions that the SPEC describes outside of its requirements:
// one line or row of a table each, the signature in backticks.
func (s *spec) findHelpers() {
	s.helpers = map[string]helper{}
	for _, line := range strings.Split(s.prompt, "\n") {
		if itemRE.MatchString(line) {
			continue
		}
		for _, m := range helperSpanRE.FindAllStringSubmatch(line, -1) {
			if s.helpers[m[1]].name == "" && s.sch.tables[m[1]] == nil {
				s.helpers[m[1]] = helper{m[1], strings.ToLower(line)}
			}
		}
	}
}

// A permit is a call of a helper that holds, with its arguments.
type permit struct {
	h    helper
	args []term
}

// permits gives the calls of helpers of the SPEC that hold under c.
func (r *reviewer) permits(c *closure) []permit {
	var out []permit
	for _, f := range c.facts {
		if h := r.s.helpers[f.text]; f.op == "call" && h.name != "" {
			out = append(out, permit{h, f.cols})
		}
	}
	return out
}

// vouched: a helper was asked about who acts, with no more roles than the requirement
// allows, and about the row that is acted on, or the tenant.
func (r *reviewer) vouched(q *requirement, c *closure, act action) shortfall {
	best := noEvidence
	for _, p := range r.permits(c) {
		acts, tied, wide, rest := false, false, false, 0
		for _, t := range p.args {
			switch {
			case c.actor(r, t):
				acts = true
			case t.isLit():
				wide = wide || r.foreignRole(q, foldLit(t))
			default:
				rest++
				tied = tied || r.isTenantTerm(c, t) || r.touchesRow(c, t, act.in)
			}
		}
		switch {
		case !acts:
			best = max(best, notActor)
		case wide:
			best = max(best, roleTooWide)
		case rest > 0 && !tied:
			best = max(best, notTied)
		default:
			return complete
		}
	}
	return best
}

// foreignRole: v is a role, and the requirement names others of its kind and not v.
func (r *reviewer) foreignRole(q *requirement, v string) bool {
	for _, t := range r.s.sch.order {
		for _, c := range t.cols {
			if contains(c.enum, v) && !isStateCol(c) {
				allowed := r.s.withMasters(q.valuesOf(c.enum), c.enum)
				return len(allowed) > 0 && !contains(allowed, v)
			}
		}
	}
	return false
}

// touchesRow: t is a column of in, or of a row that is tied to it.
func (r *reviewer) touchesRow(c *closure, t term, in *inst) bool {
	group := r.tiedRows(c, in)
	for _, m := range c.class(t) {
		if y := r.a.instOf(m); y != nil && group[y] {
			return true
		}
	}
	return false
}

// vouchedAlive: a helper that looks at column col, or at what is deleted, was asked
// about the row of in.
func (r *reviewer) vouchedAlive(c *closure, in *inst, col string) bool {
	if len(in.tab.keys) == 0 || len(in.tab.keys[0]) == 0 {
		return false
	}
	key := in.col(in.tab.keys[0][0])
	for _, p := range r.permits(c) {
		if !strings.Contains(p.h.text, col) {
			continue
		}
		for _, t := range p.args {
			if c.same(t, key) {
				return true
			}
		}
	}
	return false
}

// argTerms gives the values of an argument, those of an array one by one.
func (a *analysis) argTerms(e *expr, sc *scope) []term {
	x := strip(e)
	if x != nil && x.kind == eArray && x.sub == nil {
		var out []term
		for _, y := range x.args {
			out = append(out, a.term(y, sc))
		}
		return out
	}
	if x != nil && x.kind == eLit && strings.HasPrefix(strings.Trim(x.op, "'"), "{") {
		var out []term
		for _, w := range strings.Split(strings.Trim(x.op, "'{}"), ",") {
			out = append(out, term("l:'"+strings.Trim(w, ` "`)+"'"))
		}
		return out
	}
	return []term{a.term(e, sc)}
}
