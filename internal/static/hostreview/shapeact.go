package hostreview

import (
	"regexp"
	"strings"
)

var (
	judges  = regexp.MustCompile(`^(approv|decid|sign|grad|releas|agree|confirm|accept|review|grant|reject|refus)\w*_by$`)
	parties = regexp.MustCompile(`^(author_id|\w+_by)$`)
)

// ownCause: who decides leaves its name in the row, and nothing in the fragment asks who
// else has left one there.
func ownCause(v *view) string {
	for _, w := range v.writes() {
		if !judges.MatchString(w.col) || w.verb != "update" || !strings.HasPrefix(w.expr, ":session_user") {
			continue
		}
		others := 0
		for _, c := range v.b.tables[w.table] {
			if c == w.col || !parties.MatchString(c) || judges.MatchString(c) {
				continue
			}
			others++
			if v.mentions(c) {
				others = -99
			}
		}
		if others > 0 {
			return w.col + " is set, and nothing asks who made the row: " + w.s.text
		}
	}
	return ""
}

var (
	byHash  = regexp.MustCompile(`(?i)\b(?:\w+\.)?(\w*(?:token|code|link|key)_(?:hash|digest)|(?:token|code|link)_?hash)\b`)
	endCols = regexp.MustCompile(`^(\w+_)?(expires_at|expiry|valid_until|revoked_at)$`)
)

// endlessToken: a row is taken by the hash of what somebody presents, and neither
// statement nor code looks at the column that ends it.
func endlessToken(v *view) string {
	all := strings.ToLower(v.allSQL()) + v.bare
	for _, s := range v.sql {
		m := byHash.FindStringSubmatch(s.text)
		if m == nil || writeRE.MatchString(s.text) && !editRE.MatchString(s.text) || strings.Contains(strings.ToLower(setRE.FindString(s.text)), strings.ToLower(m[1])+" = :") {
			continue
		}
		for t, cols := range v.b.tables {
			if !contains(cols, strings.ToLower(m[1])) || !expr(`(?i)\b(from|join|update)\s+`+t+`\b`).MatchString(s.text) {
				continue
			}
			for _, c := range cols {
				if endCols.MatchString(c) && !strings.Contains(all, c) && !expr(`(?i)\b`+namePattern(c)+`\b`).MatchString(all) {
					return t + " is found by " + m[1] + ", and nothing looks at " + c
				}
			}
		}
	}
	return ""
}

var setsState = regexp.MustCompile(`^'\w+'`)

// blindMove: a row is put into a state, and nothing in the fragment looks at the state
// that it is in.
func blindMove(v *view) string {
	for _, w := range v.writes() {
		if w.verb != "update" || !stateCol.MatchString(w.col) || !setsState.MatchString(w.expr) {
			continue
		}
		if v.usedInCondition(w.col) || strings.Contains(w.s.text, "${") {
			continue
		}
		asked := false
		for _, s := range v.sql {
			asked = asked || expr(`(?i)\b`+w.col+`\b`).MatchString(insertRE.ReplaceAllString(setRE.ReplaceAllString(s.text, " $2"), " "))
		}
		if asked {
			continue
		}
		return w.col + " is set whatever it was: " + w.s.text
	}
	return ""
}

var (
	sharedLock = regexp.MustCompile(`(?i)\bfor\s+(key\s+)?share\b`)
)

// parentUnlocked: a row is read and judged without a lock, and a row that hangs on it is
// written.
func parentUnlocked(v *view) string {
	if anyLock.MatchString(v.text) || anyLock.MatchString(v.allSQL()) || sharedLock.MatchString(v.allSQL()) || conflict.MatchString(v.allSQL()) {
		return ""
	}
	for i, w := range v.sql {
		m := intoRE.FindStringSubmatch(w.text)
		if m == nil || journalRE.MatchString(m[1]) || updateOf.MatchString(w.text) {
			continue
		}
		for _, s := range v.sql[:i] {
			f := expr(`(?is)^\s*select\b(.*?)\bfrom\s+(\w+)`).FindStringSubmatch(s.text)
			if f == nil || !byClient.MatchString(s.text) {
				continue
			}
			child := false
			for _, c := range v.b.tables[strings.ToLower(m[1])] {
				child = child || strings.HasSuffix(c, "_id") && strings.HasPrefix(strings.ToLower(f[2]), strings.TrimSuffix(c, "_id")) && c != v.b.tenant
			}
			for _, c := range v.b.tables[strings.ToLower(f[2])] {
				if child && stateCol.MatchString(c) && expr(`(?i)\b`+c+`\b`).MatchString(s.text) && !expr(`(?is)\bselect\b.*\b`+c+`\b`).MatchString(w.text) {
					return f[2] + " is read without a lock, and " + m[1] + " written for it"
				}
			}
		}
	}
	return ""
}
