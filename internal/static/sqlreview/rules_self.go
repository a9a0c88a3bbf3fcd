package sqlreview

import (
	"assay/audit"
	"regexp"
	"strings"
)

var selfRE = regexp.MustCompile(`(nobody|no one|no-one|not|never|cannot|other than|different from|someone else)[^.;]{0,60}\b(wrote|own|himself|herself|themsel\w*|author|submitted|requested|created|raised|recorded|booked|prepared)\b|\b(who|that|which) (has |have )?(wrote|written|own|owns|made|drew|drawn|lent|took|\w+ed)\b[^.;]{0,60}(must not|may not|shall not|cannot|can not|never|is not allowed)|(must|may|can)(not| not| never)? [^.;]{0,40}\b(his|her|their|own|the same) (own )?(request|order|invoice|entr|claim|submission|record|expense|timesheet|document|work)|another \w+ than|(someone|somebody|anyone) other than|different \w+ (than|from) the|four[- ]eyes|separation of duties|segregation of duties|self-approv`)

// selfDecisions: nobody decides on what is his own.
func (r *reviewer) selfDecisions(q *requirement) {
	for _, text := range splitClauses(q.text) {
		if !selfRE.MatchString(strings.ToLower(text)) {
			continue
		}
		part := r.s.readRequirement(q.n, text)
		if !r.namesAct(part) && len(part.tables) == 0 {
			part = q
		}
		for _, act := range r.actions() {
			r.notSelf(part, act)
		}
	}
}

// notSelf: nobody decides on what is his own.
func (r *reviewer) notSelf(q *requirement, act action) {
	if !selfRE.MatchString(q.low) || act.kind == "read" || act.kind == "insert" {
		return
	}
	person := r.actingCols(act.in.tab)
	if len(person) == 0 {
		return
	}
	if how := r.applies(q, act, nil); how < 0.5 && !q.tables[act.in.table] || !r.decides(q, act) || r.otherMark(q, act) {
		return
	}
	ok := r.a.proves(act.env, func(c *closure) bool {
		for _, p := range person {
			for _, f := range c.about(act.in.col(p)) {
				if f.op == "<>" && c.actor(r, f.b) {
					return true
				}
			}
		}
		return false
	})
	if !ok {
		r.add(q.n, 0.65, act.pos, []audit.CWE{863, 285}, "nothing keeps who acts from deciding on a row of %s that is his own", act.in.table)
	}
}

// decides: the act is the one that the sentence names: it sets a state, or a column,
// that is called after a word of the sentence (approved_by, issued_at), or deletes.
func (r *reviewer) decides(q *requirement, act action) bool {
	if act.kind == "delete" || act.value != "" && q.touches(act.value) || act.state != "" && act.value == "" {
		return true
	}
	for _, c := range act.cols {
		if act.in.tab.column(c) != nil && (strings.HasSuffix(c, "_by") || markTail.MatchString(c)) && q.touches(strings.TrimSuffix(markTail.ReplaceAllString(c, ""), "_by")) {
			return true
		}
	}
	return false
}

// actingCols lists the columns of t that name one of the people who act in the code: a
// customer's fine is not the clerk's own.
func (r *reviewer) actingCols(t *table) []string {
	who := r.audience()
	var out []string
	for _, p := range r.s.personCols(t) {
		if ref := r.s.refOf(t, p); len(who) == 0 || ref == "" || who[ref] {
			out = append(out, p)
		}
	}
	return out
}
