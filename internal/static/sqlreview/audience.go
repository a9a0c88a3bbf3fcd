package sqlreview

import (
	"strings"
)

// findActorTables reads whose record each parameter of the session names: by its own
// name (:person), or by the words that follow it (":me, an `account.id`").
func (s *spec) findActorTables() {
	s.actorOf = map[string]string{}
	for _, line := range lineRE.Split(strings.ToLower(s.prompt), -1) {
		for _, p := range paramsIn(line) {
			if !s.session[p] || s.scopeP[p] || s.actorOf[p] != "" || strings.HasPrefix(p, "p_") {
				continue
			}
			if t := s.tableNamed(baseName(p)); t != "" {
				s.actorOf[p] = t
				continue
			}
			after := line[strings.Index(line, p)+len(p):]
			for _, t := range s.sch.order { // an `account.id`, a row of `staff`
				if i := strings.Index(after, "`"+t.name+".id`"); i >= 0 && i < 40 || strings.Contains(after, "row of `"+t.name+"`") {
					s.actorOf[p] = t.name
				}
			}
			words := stemsOf(after)
			for _, w := range words[:min(len(words), 8)] {
				if t := s.tableNamed(w); t != "" && s.actorOf[p] == "" && t != s.root && s.isPerson(s.sch.tables[t]) {
					s.actorOf[p] = t
				}
			}
		}
	}
	for p := range s.session { // p_me is whom :me names
		for q, t := range s.actorOf {
			if strings.HasPrefix(p, "p_") && !s.scopeP[p] && baseName(p) == baseName(q) {
				s.actorOf[p] = t
			}
		}
	}
	for _, t := range s.actorOf {
		s.people[t] = true
	}
	for _, t := range s.sch.order { // who is pointed at by his membership
		if s.isMembership(t) && len(t.keys1()) == 1 {
			s.people[t.name] = true
		}
	}
}

// tableNamed gives the table whose name has the stem.
func (s *spec) tableNamed(st string) string {
	for _, t := range s.sch.order {
		if stem(t.name) == st {
			return t.name
		}
	}
	return ""
}

// audience gives the tables of the people who act in the code: those whose parameters
// of the session it names. Empty: it cannot be told.
func (r *reviewer) audience() map[string]bool {
	out := map[string]bool{}
	low := strings.ToLower(r.code)
	for p, t := range r.s.actorOf {
		if containsWord(low, p) {
			out[t] = true
		}
	}
	return out
}

// heldBy reports whether the people of the code's audience can hold what table t
// carries (the roles of agents are no matter of household persons).
func (r *reviewer) heldBy(t *table) bool {
	who := r.audience()
	if len(who) == 0 || who[t.name] {
		return true
	}
	people := 0
	for _, fk := range t.fks {
		if who[fk.ref] {
			return true
		}
		if x := r.s.sch.tables[fk.ref]; x != nil && r.s.isPerson(x) {
			people++
		}
	}
	return people == 0 && !r.s.isPerson(t)
}

// consults reports whether the code looks at who acts at all on the way to act: some
// condition holds who acts against a row, or a helper is asked about him.
func (r *reviewer) consults(act action) bool {
	seen := map[*env]bool{}
	var look func(v *env) bool
	look = func(v *env) bool {
		for e := v; e != nil && !seen[e]; e = e.parent {
			seen[e] = true
			for _, f := range e.facts {
				if r.namesActor(f) {
					return true
				}
			}
			for _, im := range e.imports {
				if look(im) {
					return true
				}
			}
			for _, or := range e.ors {
				for _, b := range or {
					if look(b) {
						return true
					}
				}
			}
		}
		return false
	}
	return look(act.env)
}

// namesActor: the fact compares who acts with something, or passes him to a function.
func (r *reviewer) namesActor(f fact) bool {
	actor := func(t term) bool { return t.isParam() && r.s.isActor(t) }
	if f.op == "=" || f.op == "<>" {
		return actor(f.a) && (f.b.isCol() || !f.b.isLit()) || actor(f.b) && (f.a.isCol() || !f.a.isLit())
	}
	if f.op == "call" || f.op == "opaque" {
		for _, t := range f.cols {
			if actor(t) {
				return true
			}
		}
	}
	return false
}
