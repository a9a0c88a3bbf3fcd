package sqlreview

import (
	"regexp"
	"strings"

	"assay/audit"
)

var (
	frozenRE = regexp.MustCompile(`immutable|\bfinal\b|terminal|read-only|frozen|never (be )?(chang|modif|edit|updat|alter|touch)|(no longer|not|cannot|can't|never) (be )?(chang|edit|updat|modif|alter|touch)|must not change|may not change`)
	untilRE  = regexp.MustCompile(`\b(until|unless|except|before|while|only|but not)\b`)
)

// frozenStates gives the states in which a requirement lets nothing change: "rows that
// are `paid` or `void` are immutable".
func frozenStates(q *requirement) []string {
	var out []string
	for _, clause := range splitClauses(q.text) {
		low := strings.ToLower(clause)
		at := frozenRE.FindStringIndex(low)
		if at == nil || untilRE.MatchString(low) {
			continue
		}
		for _, t := range lifeTokens(clause, q.values) {
			if t.kind == "arrow" {
				out = nil
				break
			}
			if t.kind == "value" && !contains(out, t.val) && !strings.Contains(low, "not "+strings.ToLower(t.val)) {
				out = append(out, t.val)
			}
		}
	}
	return out
}

// frozen: rows in a final state are not changed.
func (r *reviewer) frozen(q *requirement, owners map[*table]string) {
	states := frozenStates(q)
	if len(states) == 0 {
		return
	}
	for _, act := range r.actions() {
		col, ok := owners[act.in.tab]
		if !ok || act.kind != "update" && act.kind != "delete" {
			continue
		}
		enum := act.in.tab.column(col).enum
		if !r.a.proves(act.env, func(c *closure) bool { return within(c.values(act.in.col(col), enum), without(enum, states)) }) {
			r.add(q.n, 0.75, act.pos, []audit.CWE{841, 840}, "a row of %s is changed without keeping out those that are %s", act.in.table, strings.Join(states, " or "))
		}
	}
}
