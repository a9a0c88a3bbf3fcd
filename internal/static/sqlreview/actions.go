package sqlreview

import (
	"regexp"
	"strings"
)

// An action is one thing that the code does to rows of one table.
type action struct {
	in    *inst
	kind  string   // read, insert, update, delete
	cols  []string // columns that it sets
	value string   // the literal that it sets the table's state to
	state string   // the state column
	pos   int
	env   *env
}

// actions lists what the code does: one action for each target of a write, or, for
// code that writes nothing, one for each table that it reads for its own sake.
func (r *reviewer) actions() []action {
	var out []action
	for _, in := range r.a.insts {
		if in.tab == nil || in.role == roleRead || in.env.isNegated() {
			continue
		}
		act := action{in: in, pos: in.pos, env: in.env, kind: map[role]string{roleInsert: "insert", roleUpdate: "update", roleDelete: "delete", roleConflict: "update"}[in.role]}
		for _, w := range r.a.writes {
			if w.in != in {
				continue
			}
			act.cols = append(act.cols, w.col)
			if c := in.tab.column(w.col); c != nil && isStateCol(c) {
				act.state = w.col
				if t := r.a.term(w.val, w.sc); t.isLit() {
					act.value = foldLit(t)
				}
			}
		}
		if act.kind == "update" && len(act.cols) == 1 && softNameRE.MatchString(act.cols[0]) && !r.restores(nil, in, act.cols[0]) {
			act.kind = "delete"
		}
		out = append(out, act)
	}
	if len(out) > 0 {
		return out
	}
	shown := r.shown()
	for _, in := range r.a.insts {
		if in.tab != nil && in.der == nil && !in.assert && !in.env.isNegated() && (len(shown) == 0 || shown[in]) {
			out = append(out, action{in: in, kind: "read", pos: in.pos, env: in.env})
		}
	}
	return out
}

// shown gives the instances of which values reach an output, counts apart.
func (r *reviewer) shown() map[*inst]bool {
	if r.shows != nil {
		return r.shows
	}
	r.shows = map[*inst]bool{}
	emit := func(f flow) { r.shows[f.in] = true }
	for _, o := range r.a.outputs {
		switch {
		case o.in != nil && o.src == "*":
			r.a.instFlows(o.in, nil, 0, o.pos, nil, emit)
		case o.in != nil:
			r.a.instColFlows(o.in, o.src, nil, 0, o.in.pos, emit)
		default:
			r.a.flows(o.e, o.sc, nil, 0, emit)
		}
	}
	return r.shows
}

var (
	readWordRE   = regexp.MustCompile(`\b(read(s|able|ing)?\b|see[sn]?|view(s|ed|ing)?|list(s|ed|ing)?|visible|shown?|look|access(ed|ing)?|quer(y|ies|ied)|fetch|retriev|consult|open(s|ed)? (a|the)|download|appear)`)
	insertWordRE = regexp.MustCompile(`\b(creat|add|insert|record|writ|new|submit|post|book|regist|enter|issu|mak|plac|rais|fil)`)
	updateWordRE = regexp.MustCompile(`\b(chang|updat|edit|modif|writ|manag|alter|correct|revis|amend|set)`)
	deleteWordRE = regexp.MustCompile(`\b(delet|remov|purg|eras|archiv|drop)`)
)

// touches reports whether a word of the requirement is about w: the stems begin
// alike (cancelling, cancelled; refunding, refunds).
func (q *requirement) touches(w string) bool { return meets(q.stems, w) }

func meets(stems map[string]bool, w string) bool {
	for _, p := range strings.Split(w, "_") {
		s := stem(p)
		if len(s) < 3 || genericPart[p] {
			continue
		}
		if stems[s] {
			return true
		}
		for x := range stems {
			n := min(len(x), len(s))
			if n >= 5 && (strings.HasPrefix(x, s[:min(n, max(5, len(s)-3))]) && strings.HasPrefix(s, x[:min(n, max(5, len(x)-3))])) {
				return true
			}
		}
	}
	return false
}

var genericPart = words(`id at on by name status state type kind is to from the of cents minor date time code count number value updated created`)

// applies reports whether a requirement about who or when speaks of an action, and how
// sure that is (0 to 1).
func (r *reviewer) applies(q *requirement, act action, skip map[string]bool) float64 {
	t := act.in.tab
	if skip[t.name] || auditNameRE.MatchString(t.name) && len(q.tables) > 0 && !q.tables[t.name] {
		return 0
	}
	named := q.tables[t.name] || q.touches(t.name)
	if act.kind != "read" && r.otherMark(q, act) {
		return 0
	}
	if _, set := r.marks(q, act); set && named && act.kind == "update" {
		return 0.9
	}
	if objects := r.objects(q, skip); len(objects) > 0 && !objects[t.name] && (r.s.isPerson(t) || act.kind == "read") {
		return 0
	}
	if act.kind == "read" {
		if !named {
			return 0
		}
		if readWordRE.MatchString(q.acts) {
			return 0.9
		}
		if insertWordRE.MatchString(q.acts) || updateWordRE.MatchString(q.acts) || deleteWordRE.MatchString(q.acts) || r.namesAct(q) {
			return 0
		}
		for _, x := range r.s.sch.order { // "enrolling is possible ...": an act on another table
			if x != t && meets(q.plain, x.name) && r.pointsAt(x, t, 0) {
				return 0
			}
		}
		return 0.6
	}
	if act.value != "" && q.touches(act.value) {
		return 0.95
	}
	specific := false
	for _, c := range t.cols {
		if contains(r.s.tenants, c.name) || contains(r.s.personCols(t), c.name) || isStateCol(c) || c.isTime() || contains(t.keys1(), c.name) {
			continue
		}
		if q.touches(c.name) && !stemIn(t.name, c.name) {
			specific = true
			if contains(act.cols, c.name) && act.kind == "update" {
				return 0.9
			}
		}
	}
	if !named {
		return 0
	}
	verb := map[string]*regexp.Regexp{"insert": insertWordRE, "update": updateWordRE, "delete": deleteWordRE}[act.kind]
	if verb.MatchString(q.acts) && (!specific || act.kind != "update") && (act.value == "" || act.kind == "insert" || updateWordRE.MatchString(q.acts) && !r.namesAct(q)) {
		return 0.8
	}
	if act.kind == "insert" && q.touches(t.name) && !q.named[t.name] && !readWordRE.MatchString(q.acts) && (!r.namesAct(q) || r.actOf(t)) {
		return 0.7
	}
	if !insertWordRE.MatchString(q.acts) && !updateWordRE.MatchString(q.acts) && !deleteWordRE.MatchString(q.acts) && !readWordRE.MatchString(q.acts) && !r.namesAct(q) {
		return 0.55
	}
	return 0
}

var ofRE = regexp.MustCompile(`\b(of|for|in|from|by|within|belonging to|through|with)( (a|an|the|that|this|its|their|his|each|every|another|any|such))?( same| other| own| given)?[ ` + "`" + `]*$`)

// objects gives the tables that a requirement about permission is about: not the
// people who act, not those that carry the permission, and not what only tells which
// ("trips of a depot"). Empty: it cannot be told.
func (r *reviewer) objects(q *requirement, skip map[string]bool) map[string]bool {
	if q.objects != nil {
		return q.objects
	}
	q.objects = map[string]bool{}
	for t := range q.tables {
		tab := r.s.sch.tables[t]
		if skip[t] || tab == nil || r.s.isPerson(tab) || permNameRE.MatchString(t) && r.s.hasRole(tab) {
			continue
		}
		for _, at := range q.mentions(t) {
			if !ofRE.MatchString(q.low[:at]) && !q.possessed(at) {
				q.objects[t] = true
			}
		}
	}
	return q.objects
}

// mentions gives the places where a requirement names a table.
func (q *requirement) mentions(table string) []int {
	var out []int
	parts := stemsOf(table)
	locs := wordRE.FindAllStringIndex(q.low, -1)
	for i := range locs {
		k, n := i, 0
		for n < len(parts) && k < len(locs) {
			for _, p := range stemsOf(q.low[locs[k][0]:locs[k][1]]) {
				if n < len(parts) && p == parts[n] {
					n++
				} else {
					n = len(parts) + 1
				}
			}
			k++
		}
		if n == len(parts) {
			out = append(out, locs[i][0])
		}
	}
	return out
}

// namesAct: the requirement speaks of an act that leads to a state (approve ->
// approved).
func (r *reviewer) namesAct(q *requirement) bool {
	for _, t := range r.s.sch.order {
		for _, c := range t.cols {
			if isStateCol(c) {
				for _, v := range c.enum {
					if !contains(q.firm, v) && meets(q.plain, v) || q.verb(v) {
						return true
					}
				}
			}
		}
	}
	return false
}

// verb: the requirement speaks of the act that leads to state v ("refunding an order",
// "to refund" of refunded).
func (q *requirement) verb(v string) bool {
	s := stem(v)
	if len(s) < 4 || s == strings.ToLower(v) {
		return false
	}
	plain := spanRE.ReplaceAllString(q.low, " ")
	return containsWord(plain, s+"ing") || containsWord(plain, s) || containsWord(plain, s+"e")
}

// actOf: the table is named after an act that is a state too (refunds, refunded).
func (r *reviewer) actOf(t *table) bool {
	for _, x := range r.s.sch.order {
		for _, c := range x.cols {
			for _, v := range c.enum {
				if isStateCol(c) && stem(v) == stem(t.name) {
					return true
				}
			}
		}
	}
	return false
}

func stemIn(table, col string) bool {
	for _, a := range stemsOf(table) {
		for _, b := range stemsOf(col) {
			if a == b {
				return true
			}
		}
	}
	return false
}

func (t *table) keys1() []string {
	if len(t.keys) == 0 {
		return nil
	}
	return t.keys[0]
}
