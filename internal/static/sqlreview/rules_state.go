package sqlreview

import (
	"regexp"
	"strings"

	"assay/audit"
)

// A lifecycle is what a requirement says about states: which state may follow which,
// and in which state a row may be edited.
type lifecycle struct {
	prior map[string][]string // state -> the states that it may come from
	edit  []string            // states in which rows may be changed
	only  []string            // states that a related row must be in
	known map[string]bool
	from  []string // the states that were left last
}

var lifeTokRE = regexp.MustCompile("(?i)→|->|=>|>|[;.]|,|/|[`'\"]?[A-Za-z_][A-Za-z0-9_]*[`'\"]?")

var becomeRE = words(`become becomes turn turns turned goes go moves move moved set transition transitions change`)
var editRE = regexp.MustCompile(`^(chang|edit|updat|modif|delet|alter|correct|amend|touch|writ|remov)`)

type lifeTok struct {
	kind string // value, arrow, from, to, become, or, comma, sep, edit, only, not
	val  string
}

// readLife reads the transitions that the text names.
func readLife(text string, values []string) *lifecycle {
	l := &lifecycle{prior: map[string][]string{}, known: map[string]bool{}}
	toks := lifeTokens(text, values)
	for i := 0; i < len(toks); {
		if toks[i].kind != "value" {
			i++
			continue
		}
		g, end := lifeGroup(toks, i)
		before := ""
		for k := i - 1; k >= 0 && toks[k].kind != "sep" && toks[k].kind != "value" && toks[k].kind != "comma"; k-- {
			if toks[k].kind == "from" || toks[k].kind == "only" {
				before = toks[k].kind
				break
			}
		}
		reached := i > 0 && (toks[i-1].kind == "to" || toks[i-1].kind == "arrow")
		l.follow(toks, g, end, before, reached)
		i = end
	}
	return l
}

// follow links a group of states with the next one, by the words between them.
func (l *lifecycle) follow(toks []lifeTok, g []string, end int, before string, reached bool) {
	become, arrow, from, edit := false, false, false, false
	k := end
	if reached && k+2 < len(toks) && toks[k].kind == "or" && toks[k+1].kind == "to" && toks[k+2].kind == "value" {
		next, _ := lifeGroup(toks, k+2) // "a to b or to c": c comes from a
		l.link(l.from, next)
		return
	}
	for ; k < len(toks) && toks[k].kind != "value" && toks[k].kind != "sep"; k++ {
		switch toks[k].kind {
		case "become", "to":
			become = true
		case "arrow":
			arrow = true
		case "from":
			if reached { // "from a to b, from c to d": another clause begins
				return
			}
			from = true
		case "edit":
			edit = true
		}
	}
	var next []string
	if k < len(toks) && toks[k].kind == "value" {
		next, _ = lifeGroup(toks, k)
	}
	switch {
	case arrow, become && !from && len(next) > 0, before == "from" && become:
		l.link(g, next)
	case from && !become && len(next) > 0 && before != "from":
		l.link(next, g)
	}
	if edit && (before != "from") {
		l.edit = append(l.edit, g...)
	}
	if before == "only" && !become && !arrow && !edit && !from {
		l.only = append(l.only, g...)
	}
}

func (l *lifecycle) link(from, to []string) {
	l.from = from
	for _, t := range to {
		l.known[t] = true
		for _, f := range from {
			l.known[f] = true
			if !contains(l.prior[t], f) {
				l.prior[t] = append(l.prior[t], f)
			}
		}
	}
}

func lifeGroup(toks []lifeTok, i int) (vals []string, end int) {
	reached := i > 0 && (toks[i-1].kind == "to" || toks[i-1].kind == "arrow")
	vals = append(vals, toks[i].val)
	i++
	for i+1 < len(toks) && (toks[i].kind == "or" || toks[i].kind == "comma") {
		k := i + 1
		if toks[i].kind == "comma" && toks[k].kind == "or" {
			k++
		}
		if k >= len(toks) || toks[k].kind != "value" {
			break
		}
		if n := k + 1; toks[i].kind == "comma" && n < len(toks) && (toks[n].kind == "from" || toks[n].kind == "arrow") {
			break
		}
		if n := k + 1; toks[i].kind == "comma" && n+2 < len(toks) && toks[n].kind == "or" && toks[n+1].kind == "value" && (toks[n+2].kind == "from" || toks[n+2].kind == "arrow") {
			break
		}
		if n := k + 1; reached && n+1 < len(toks) && (toks[n].kind == "to" || toks[n].kind == "arrow") && toks[n+1].kind == "value" {
			break // "a to b or a to c"
		}
		vals = append(vals, toks[k].val)
		i = k + 1
	}
	return vals, i
}

func lifeTokens(text string, values []string) []lifeTok {
	var out []lifeTok
	for _, w := range lifeTokRE.FindAllString(text, -1) {
		bare := strings.Trim(w, "`'\"")
		low := strings.ToLower(bare)
		switch {
		case w == "→" || w == "->" || w == "=>" || w == ">":
			out = append(out, lifeTok{kind: "arrow"})
		case contains(values, bare) || contains(values, low):
			out = append(out, lifeTok{kind: "value", val: low})
			if contains(values, bare) {
				out[len(out)-1].val = bare
			}
		case w == ";" || w == ".":
			out = append(out, lifeTok{kind: "sep"})
		case w == ",":
			out = append(out, lifeTok{kind: "comma"})
		case low == "or" || low == "and" || w == "/":
			out = append(out, lifeTok{kind: "or"})
		case low == "from":
			out = append(out, lifeTok{kind: "from"})
		case low == "to" || low == "into":
			out = append(out, lifeTok{kind: "to"})
		case low == "be" || becomeRE[low]:
			out = append(out, lifeTok{kind: "become"})
		case editRE.MatchString(low):
			out = append(out, lifeTok{kind: "edit"})
		case low == "only" || low == "while" || low == "unless" || low == "whose":
			out = append(out, lifeTok{kind: "only"})
		default:
			if n := len(out); n == 0 || out[n-1].kind != "word" {
				out = append(out, lifeTok{kind: "word"})
			}
		}
	}
	// Words carry nothing here, save that "a draft grade may be released" has some.
	kept := out[:0]
	for _, t := range out {
		if t.kind != "word" {
			kept = append(kept, t)
		}
	}
	return kept
}

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
	if len(life.edit) == 0 || len(frozenStates(q)) > 0 || regexp.MustCompile(`(no longer|never|not|cannot|n't) (be )?(chang|edit|updat|modif|delet)`).MatchString(q.low) {
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
