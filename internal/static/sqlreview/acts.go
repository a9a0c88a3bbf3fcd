package sqlreview

import (
	"regexp"
	"strings"
)

var actWordRE = regexp.MustCompile(`^([a-z]{3,}ing|reads?|sees?|views?|lists?|shown?|returned|visible|access|open)$`)

// readsAct: where the text names several acts ("looking up accounts, deciding on
// readings"), the one before the table is that of reading. Without an act before it, any
// reading word of the text tells.
func (r *reviewer) readsAct(q *requirement, table string) bool {
	ok, told := false, false
	for _, at := range q.mentions(table) {
		words := wordRE.FindAllString(q.acts[:min(at, len(q.acts))], -1)
		for i := len(words) - 1; i >= 0 && i > len(words)-8; i-- {
			if actWordRE.MatchString(words[i]) && r.s.tableNamed(stem(words[i])) == "" {
				told = true
				ok = ok || readWordRE.MatchString(words[i]) || strings.HasPrefix(words[i], "look")
				break
			}
		}
	}
	return ok || !told
}

// otherMark: the text names an act that the table keeps a mark of (approving a credit:
// approved_at), and the code sets no such mark.
func (r *reviewer) otherMark(q *requirement, act action) bool {
	marks, set := r.marks(q, act)
	return marks && !set && (act.value == "" || !q.touches(act.value))
}

// marks: the text names acts that the table keeps marks of, and the code sets one.
func (r *reviewer) marks(q *requirement, act action) (marks, set bool) {
	for _, c := range act.in.tab.cols {
		base := strings.TrimSuffix(markTail.ReplaceAllString(c.name, ""), "_by")
		if base == c.name || c.notNull || softNameRE.MatchString(c.name) || !strings.HasSuffix(base, "ed") || !meets(q.plain, base) {
			continue
		}
		marks = true
		set = set || contains(act.cols, c.name)
	}
	return marks, set
}

// possessed: the table stands before what belongs to it ("a boat's moorings").
func (q *requirement) possessed(at int) bool {
	rest := q.low[at:]
	w := wordRE.FindString(rest)
	rest = strings.TrimPrefix(rest, w)
	return strings.HasPrefix(rest, "'s ") || strings.HasPrefix(rest, "’s ")
}
