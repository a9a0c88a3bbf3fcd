package hostreview

import (
	"regexp"
	"slices"
	"strings"

	"assay/internal/static/lang"
)

var (
	intoRE   = regexp.MustCompile(`(?is)\binsert\s+into\s+(\w+)`)
	anyLock  = regexp.MustCompile(`(?i)\bfor\s+(no\s+key\s+)?update\b|advisory|lock\s+table|serializable|\bmutex\b|\.Lock\(`)
	conflict = regexp.MustCompile(`(?i)on\s+conflict`)
)

// countedApart: rows are counted, summed or looked for, and a row of the same table is
// written, while nothing is locked: two sessions count the same.
func countedApart(v *view) string {
	all := v.allSQL()
	if anyLock.MatchString(v.text) || anyLock.MatchString(all) || conflict.MatchString(all) {
		return ""
	}
	for _, s := range v.sql {
		m := intoRE.FindStringSubmatch(s.text)
		if m == nil || updateOf.MatchString(s.text) {
			continue
		}
		from := expr(`(?is)\b(count|sum|max)\s*\([^;]*?\bfrom\s+` + m[1] + `\b|\bexists\s*\(\s*select[^;]*?\bfrom\s+` + m[1] + `\b`)
		for _, x := range v.sql {
			if x.call.Off <= s.call.Off && from.MatchString(x.text) {
				return m[1] + " is counted and written without a lock: " + s.text
			}
		}
	}
	return ""
}

var (
	updateOf  = regexp.MustCompile(`(?is)\bupdate\s+(\w+)(?:\s+(?:as\s+)?\w+)?\s+set\b(.*?)(?:\bwhere\b(.*?))?(\breturning\b.*)?$`)
	idleConds = regexp.MustCompile(`(?i)^\W*(and\s+)?(\w+\.)?(id|\w+_id|deleted_at|removed_at|left_at)\b`)
)

// readUnlocked: a row is read, what was read decides, and the row is then written by its
// key alone; nothing is locked.
func readUnlocked(v *view) string {
	if anyLock.MatchString(v.text) || anyLock.MatchString(v.allSQL()) {
		return ""
	}
	for i, u := range v.sql {
		m := updateOf.FindStringSubmatch(u.text)
		if m == nil || !onlyKeys(m[3]) {
			continue
		}
		for _, s := range v.sql[:i] {
			f := expr(`(?is)^\s*select\b(.*?)\bfrom\b.*\b` + m[1] + `\b`).FindStringSubmatch(s.text)
			if f == nil {
				continue
			}
			for _, w := range v.writes() {
				if w.s.text == u.text && w.col != "" && expr(`(?i)\b`+regexp.QuoteMeta(w.col)+`\b`).MatchString(f[1]) && (v.usedInCondition(w.col) || stateCol.MatchString(w.col)) {
					return w.col + " is read without a lock and written later without looking again: " + u.text
				}
			}
		}
	}
	return ""
}

// onlyKeys: a condition names a row and tests nothing of it.
func onlyKeys(where string) bool {
	for _, part := range expr(`(?i)\band\b`).Split(where, -1) {
		if strings.TrimSpace(part) != "" && !idleConds.MatchString(strings.TrimSpace(part)) {
			return false
		}
	}
	return strings.TrimSpace(where) != ""
}

var (
	limitOf = regexp.MustCompile(`(?i)\b(?:limit|fetch\s+(?:first|next))\s+\(?\s*(:?\w+)`)
	upperRE = regexp.MustCompile(`(?i)\bmin\(|\bleast\(|clamp|>=?\s*[\w.]*(MAX|\d)|<=?\s*([2-9]|1\d|[A-Z_]{3,})`)
	askedRE = regexp.MustCompile(`(?i)\bquery\w*\(|\bint\w*\(|\barg\w*\(`)
)

// noUpperBound: what stands behind LIMIT comes from the client, and nothing in the
// fragment holds it down.
func noUpperBound(v *view) string {
	for _, s := range v.sql {
		for _, m := range limitOf.FindAllStringSubmatch(s.text, -1) {
			n := s.by[m[1]]
			if n == nil || n.Kind != lang.Ident || len(v.values[n.Name]) == 0 {
				continue
			}
			t := ""
			for _, y := range v.values[n.Name] {
				t += v.f.Text(y) + "\n"
			}
			t += v.origin(n)
			low := expr(`[\w.]+\s*>\s*0\b|[\w.]+\s*>=\s*1\b`).ReplaceAllString(t, "")
			if !outsideRE.MatchString(t) && !askedRE.MatchString(t) || upperRE.MatchString(low) || v.heldDown(n.Name) || v.clamped(n) > 0 {
				continue
			}
			return v.f.Text(n) + " stands behind LIMIT and has no upper bound"
		}
	}
	return ""
}

func (v *view) heldDown(name string) bool {
	q := regexp.QuoteMeta(name)
	return expr(`\b` + q + `\b\s*(>=?\s*([2-9]|1\d|[A-Za-z])|not in\b|in range)|(<=?)\s*` + q + `\b\s*(<=?)|<=?\s*` + q + `\s*<=?|\bmin\([^\n]*\b` + q + `\b|\b` + q + `\b\s*<=?\s*(\d{2,}|[A-Z_]{3,})|[A-Z_]{3,}\s*<\s*` + q + `\b|\d\s*<\s*` + q + `\b`).MatchString(v.bare)
}

var (
	addsOne = regexp.MustCompile(`(?is)\bset\b[^;]*?\b(\w*(attempt|tries|fail|wrong|guess|miss)\w*)\s*=\s*(coalesce\()?(\w+\.)?(\w*(attempt|tries|fail|wrong|guess|miss)\w*)\b[^,;]*\+`)
	leaves  = regexp.MustCompile(`^(fail|abort|stop|bail|raise_\w+)$`)
)

// undoneCount: a failed attempt is counted in a transaction that the code then leaves
// by an exception, which takes the count back.
func undoneCount(v *view) string {
	for _, s := range v.sql {
		if !addsOne.MatchString(s.text) {
			continue
		}
		why := ""
		v.insideTx(s.call, func(scope *lang.Node) {
			lang.Walk(scope, func(n *lang.Node) bool {
				if n.Off > s.call.To && (n.Kind == lang.Throw || n.Kind == lang.Call && leaves.MatchString(n.Name)) {
					why = "the count of attempts is undone by " + v.f.Text(n)
				}
				return n.Kind != lang.Func || n == scope
			})
		})
		if why != "" && onlyOnFailure(v, s) {
			return why
		}
	}
	return ""
}

// onlyOnFailure: the statement counts and does nothing else.
func onlyOnFailure(v *view, s statement) bool {
	return !strings.Contains(strings.ToLower(s.text), "returning")
}

// insideTx calls f with the function that a transaction runs around a call.
func (v *view) insideTx(c *lang.Node, f func(*lang.Node)) {
	for _, t := range v.calls {
		if fn := lastFunc(t); fn != nil && v.inTransaction(t) && fn.Off <= c.Off && c.To <= fn.To {
			f(fn)
		}
	}
}

var recorderRE = regexp.MustCompile("`(?:\\w+\\.)?((?:audit|journal|record|protocol|history|trail)\\w*)\\(")

// recorders gives the helpers that the SPEC has for the record of what is done.
func (v *view) recorders() []string {
	var out []string
	for _, m := range recorderRE.FindAllStringSubmatch(v.b.spec, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// recordApart: the record is written outside of the transaction of what it tells of, or
// its failure is swallowed.
func recordApart(v *view) string {
	for _, n := range v.recorders() {
		for _, c := range v.calls {
			if c.Name != n || c.X != nil {
				continue
			}
			after := v.f.Text(&lang.Node{Off: c.To, To: min(c.To+60, int32(len(v.f.Src)))})
			if expr(`^\)*\s*\.catch\(`).MatchString(after) {
				return "the failure of " + n + " is swallowed"
			}
			own := func(n *lang.Node) (scopes []*lang.Node) {
				v.insideTx(n, func(f *lang.Node) { scopes = append(scopes, f) })
				return
			}
			mine := own(c)
			for _, s := range v.sql {
				if writeRE.MatchString(s.text) {
					if his := own(s.call); len(his) > 0 && !slices.ContainsFunc(his, func(f *lang.Node) bool { return slices.Contains(mine, f) }) && !inNamed(v, c) {
						return n + " is called outside of the transaction of " + s.text
					}
				}
			}
		}
	}
	return ""
}

// inNamed: the call stands in a function of its own, which may run anywhere.
func inNamed(v *view, c *lang.Node) bool {
	in := false
	lang.Walk(v.f.Root, func(n *lang.Node) bool {
		if n.Kind == lang.Func && n.Name != "" && n.Name != "fragment" && n.Off <= c.Off && c.To <= n.To && !strings.Contains(v.f.Text(n), "tx(") && !strings.Contains(v.f.Text(n), "inTx(") {
			in = true
		}
		return true
	})
	return in
}
