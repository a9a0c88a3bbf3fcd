package hostreview

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

var (
	fromCol  = regexp.MustCompile(`^(valid_|starts?_|begins?_|opens?_|active_)?(from|since|start|starts|begin|begins)(_at|_on|_date)?$|^(valid|starts|begins|opens|not_before)_?(from|at|on)?$`)
	untilCol = regexp.MustCompile(`^(valid_|active_|granted_)?(until|till|to|ends?|end)(_at|_on|_date)?$|expir|not_after|^(ends|closes|lapses)_(at|on)$`)
	stopCol  = regexp.MustCompile(`^(withdrawn|revoked|used|redeemed|consumed|ended|left|cancelled|canceled|suspended|removed|deleted|deactivated|closed)_(at|on)$`)
	startsRE = regexp.MustCompile(`(?i)\b(at this moment|on duty|begun|begins?|began|starts?|started|from|since|on or before|valid|in force|period|not before|window)\b`)
	endsRE   = regexp.MustCompile(`(?i)\b(at this moment|on duty|ended|ends?|until|till|after|expir\w*|valid|in force|lapsed?|over|period|before|window|current)\b`)
)

// relations: a row that stands for a right (who helps whom, who is on duty where, a
// code that opens something) counts with a look at its beginning, its end and whether
// it was taken back, where a sentence of the SPEC that speaks of it says so.
func relations(v *view, r Requirement) *Breach {
	for _, t := range slices.Sorted(maps.Keys(v.b.tables)) {
		if v.b.lives(t) || len(v.asProof(t)) == 0 || v.writesTo(t, "insert") {
			continue
		}
		said := v.b.saidOf(t, r)
		if said == "" {
			continue
		}
		for _, c := range v.b.tables[t] {
			name := regexp.MustCompile("`" + regexp.QuoteMeta(c) + "`")
			asked := name.MatchString(said) && (fromCol.MatchString(c) || untilCol.MatchString(c) || stopCol.MatchString(c)) ||
				fromCol.MatchString(c) && startsRE.MatchString(said) && endsRE.MatchString(said) || untilCol.MatchString(c) && endsRE.MatchString(said) || stopCol.MatchString(c) && hasWord(said, stopCol.ReplaceAllString(c, "$1"))
			if !asked || v.lookedAtIn(t, c) || v.ranged(c) {
				continue
			}
			return &Breach{Why: "requirement " + itoa(r.Number) + ": a row of " + t + " counts without a look at its " + c, CWEs: []audit.CWE{613, 672, 863}, Confidence: 0.75}
		}
	}
	return nil
}

// asProof gives the statements in which rows of a table prove something: it is no
// target, and what it holds is not what is listed.
func (v *view) asProof(table string) []statement {
	var out []statement
	q := regexp.QuoteMeta(table)
	inner := regexp.MustCompile(`(?is)\(\s*select\b[^;]{0,80}?\bfrom\s+` + q + `\b|\bjoin\s+` + q + `\b`)
	own := regexp.MustCompile(`(?is)^\s*select\b.*?\bfrom\s+` + q + `\b`)
	for _, s := range v.sql {
		if inner.MatchString(s.text) || own.MatchString(s.text) && !limitRE.MatchString(s.text) && (oneRE.MatchString(s.text) || uniqueRE.MatchString(s.text) || strings.Contains(s.text, ":session_user")) {
			out = append(out, s)
		}
	}
	return out
}

// saidOf gives the sentences about a table's rows that a requirement holds, and those
// of the glossary whose word it uses; "" where it has none.
func (b *brief) saidOf(table string, r Requirement) string {
	last := roots(table)
	if len(last) == 0 {
		return ""
	}
	said := ""
	for _, part := range sentencesOf(r.Text) {
		if b.namesRows(part, table) {
			said += part + "\n"
		}
	}
	for _, m := range termRE.FindAllStringSubmatch(b.prose(), -1) {
		if b.namesRows(m[2], table) && strings.Contains(m[2], "`") && phraseIn(r.Text, m[1]) {
			said += m[2] + "\n"
		}
	}
	return said
}

// namesRows: the text speaks of the rows of a table.
func (b *brief) namesRows(text, table string) bool {
	if strings.Contains(text, "`"+table+"`") || contains(b.tablesIn(text), table) {
		return true
	}
	all := roots(table) // zone_duties: "in a zone in which they are on duty"
	for _, w := range all {
		if !hasWord(text, w) {
			return false
		}
	}
	return len(all) > 1
}

// phraseIn: the words of a phrase stand one after the other in a text.
func phraseIn(text, phrase string) bool {
	words, want := roots(text), roots(phrase)
	if len(want) == 0 {
		return false
	}
	for i := 0; i+len(want) <= len(words); i++ {
		all := true
		for k := range want {
			all = all && meet(words[i+k], want[k])
		}
		if all {
			return true
		}
	}
	return false
}

// writesTo: a statement sets columns of the table.
func (v *view) writesTo(table, verb string) bool {
	for _, w := range v.writes() {
		if w.table == table && (verb == "" || w.verb == verb) {
			return true
		}
	}
	return false
}

// lookedAtIn: the column is looked at; where several of the fragment's tables have it, in
// the query that reads this one.
func (v *view) lookedAtIn(table, col string) bool {
	if !v.lookedAt(col) {
		return false
	}
	others := 0
	for _, t := range v.touched() {
		if contains(v.b.tables[t], col) {
			others++
		}
	}
	if others < 2 || v.usedInCondition(col) {
		return true
	}
	for _, s := range v.asProof(table) {
		for _, at := range regexp.MustCompile(`(?i)\b(from|join)\s+`+table+`\b`).FindAllStringIndex(s.text, -1) {
			if !regexp.MustCompile(`(?i)\b` + col + `\b`).MatchString(queryFrom(s.text[at[0]:])) {
				return false
			}
		}
	}
	return true
}

// queryFrom gives a text up to the bracket that closes the query it begins in.
func queryFrom(text string) string {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth == 0 {
				return text[:i]
			}
			depth--
		}
	}
	return text
}

// ranged: the column is an end of a range that a statement asks about.
func (v *view) ranged(col string) bool {
	re := regexp.MustCompile(`(?is)range\s*\([^()]*\b` + col + `\b|\b` + col + `\b[^;]{0,60}\boverlaps\b|\bleast\(|\bgreatest\(`)
	return re.MatchString(v.allSQL())
}
