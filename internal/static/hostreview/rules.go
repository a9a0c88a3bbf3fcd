package hostreview

import (
	"regexp"
	"strings"

	"assay/audit"
	"assay/internal/static/lang"
)

var (
	readVerb  = regexp.MustCompile(`(?i)\b(show|shown|read|see|seen|view|viewed|open|opened|download\w*|return(ed)?|listed|display\w*|access(ed)?)\b`)
	writeVerb = regexp.MustCompile(`(?i)\b(chang\w*|edit\w*|modif\w*|updat\w*|delet\w*|remov\w*|mov(e|ed|ing)|cancel\w*|writ\w*|renam\w*|archiv\w*|sav\w*|overwrit\w*)\b`)
)

// gates: where a clause names a helper that allows or refuses, the code asks it
// before it does what the clause speaks of.
func gates(v *view, r Requirement) *Breach {
	for _, clause := range r.clauses() {
		var names []string
		for _, m := range spanRE.FindAllStringSubmatch(clause, -1) {
			n := strings.TrimSuffix(wordOf(m[1]), "()")
			if h := v.b.helpers[n]; h != nil && h.gate && v.canAsk(h) {
				names = append(names, n)
			}
		}
		if len(names) == 0 {
			continue
		}
		act := v.actOf(clause)
		if act == nil {
			continue
		}
		asked := false
		for _, m := range spanRE.FindAllStringSubmatch(clause, -1) { // "or compare `company_id`"
			if v.b.column(m[1]) && (v.compares(m[1]) || v.ownsNew(m[1])) {
				asked = true
			}
		}
		if v.b.tenant != "" && v.ownsNew(v.b.tenant) {
			asked = true
		}
		for _, c := range v.calls {
			for _, n := range names {
				asked = asked || c.Name == n && c.Off < act.Off
			}
			if h := v.b.helpers[c.Name]; h != nil && h.gate && !writeVerb.MatchString(clause) && readVerb.MatchString(clause) && c.Off < act.Off {
				asked = true // a stronger one
			}
		}
		if !asked {
			return &Breach{Why: "requirement " + itoa(r.Number) + ": " + strings.Join(names, " or ") + " is not asked before " + v.f.Text(&lang.Node{Off: act.Off, To: min(act.To, act.Off+30)}), CWEs: []audit.CWE{862, 863, 285}, Confidence: 0.75}
		}
	}
	return nil
}

// canAsk: the code has what the helper wants to know who asks.
func (v *view) canAsk(h *helper) bool {
	return !askerRE.MatchString(h.args) || askerRE.MatchString(v.bare)
}

var askerRE = regexp.MustCompile(`\b(session|user|req|request|ctx|account|operator|acc|actor|caller|principal|r|c)\b`)

// ownsNew: the code makes a thing whose column it takes from the session.
func (v *view) ownsNew(col string) bool {
	return expr(`(?i)\b` + namePattern(col) + `\b["']?\s*[=:]\s*[\w.]*(session|user|account|operator|acc|current)\w*[.\[]`).MatchString(v.bare)
}

func wordOf(s string) string {
	s, _, _ = strings.Cut(s, "(")
	return s[strings.LastIndexByte(s, '.')+1:]
}

// actOf gives the place where the code does what a clause speaks of, nil for none.
func (v *view) actOf(clause string) *lang.Node {
	if writeVerb.MatchString(clause) {
		if c := v.changes(editRE); c != nil && v.about(c, clause) {
			return c
		}
	}
	if readVerb.MatchString(clause) && v.one(clause) {
		if v.change() != nil && !writeVerb.MatchString(clause) {
			return nil // another clause speaks of changes
		}
		if rs := v.responses(); len(rs) > 0 {
			return rs[len(rs)-1]
		}
	}
	if len(v.b.acts(clause)) == 0 && !readVerb.MatchString(clause) && !writeVerb.MatchString(clause) && v.loads() != nil { // "check `x`"
		if c := v.change(); c != nil {
			return c
		}
		if rs := v.responses(); len(rs) > 0 {
			return rs[len(rs)-1]
		}
	}
	for _, w := range v.b.acts(clause) { // "fetched only when ..." and a helper fetch_url
		for _, c := range v.calls {
			if h := v.b.helpers[c.Name]; h != nil && !h.gate && c != v.loads() {
				for _, x := range roots(c.Name) {
					if meet(w, x) {
						return c
					}
				}
			}
		}
	}
	return nil
}

// about: a change that is a statement is one of a table that the clause speaks of.
func (v *view) about(c *lang.Node, clause string) bool {
	for _, s := range v.sql {
		if s.call != c {
			continue
		}
		named := false
		for t := range v.b.tables {
			all := roots(t)
			for _, w := range roots(clause) {
				if len(all) > 0 && meet(w, all[len(all)-1]) {
					named = true
					if expr(`(?i)\b` + t + `\b`).MatchString(s.text) {
						return true
					}
				}
			}
		}
		return !named
	}
	return true
}

// uses: where every change is to be recorded with a helper, the code calls it.
func uses(v *view, r Requirement) *Breach {
	if !v.b.asks(recordRE, r) {
		return nil
	}
	for _, clause := range r.clauses() {
		for _, m := range spanRE.FindAllStringSubmatch(clause, -1) {
			n := wordOf(m[1])
			h := v.b.helpers[n]
			if h == nil || h.gate || h.load || !recordRE.MatchString(clause) {
				continue
			}
			acts := v.b.acts(clause)
			if v.change() == nil || !v.about(v.change(), clause) || v.call(n) != nil || !everyRE.MatchString(clause) && !v.says(acts) {
				continue
			}
			return &Breach{Why: "requirement " + itoa(r.Number) + ": " + n + " is not called", CWEs: []audit.CWE{778}, Confidence: 0.7}
		}
	}
	return nil
}

var (
	recordRE = regexp.MustCompile(`(?i)\b(record|log|audit|trail|journal|written to|noted)`)
	everyRE  = regexp.MustCompile(`(?i)\b(every|each|all|any)\b`)
)

var editVerb = regexp.MustCompile(`(?i)\b(chang|edit|modif|updat|delet|remov|mov|cancel|writ|renam|archiv|sav|overwrit)\w*`)

var needRE = regexp.MustCompile(`(?i)\bonly\b|\bneeds?\b|requires?|reserved|restricted|limited to|must (be|have|hold)|with the role|privilege|is for\b|\bby (an?|the|any|no)\b|may be|allowed`)

// roles: an act that a clause gives to a role is done behind a look at that role.
func roles(v *view, r Requirement) *Breach {
	for _, clause := range r.clauses() {
		var named []string
		for role := range v.b.roles {
			if expr(`(?i)\b` + regexp.QuoteMeta(role) + `s?\b`).MatchString(clause) {
				named = append(named, role)
			}
		}
		if len(named) == 0 || !needRE.MatchString(clause) || ownRE.MatchString(clause) {
			continue
		}
		acts := v.b.verbs(clause)
		if !v.says(acts) && !(len(acts) == 0 && writeVerb.MatchString(clause) && v.change() != nil && v.about(v.change(), clause)) {
			continue
		}
		if !v.looksAt(named) && !(anyoneRE.MatchString(clause) && len(v.admitted()) > 0) {
			return &Breach{Why: "requirement " + itoa(r.Number) + ": nothing looks for the role " + strings.Join(named, " or "), CWEs: []audit.CWE{862, 863, 285}, Confidence: 0.7}
		}
	}
	return nil
}

// looksAt: the code names one of the roles in a condition or to a helper.
func (v *view) looksAt(named []string) bool {
	for _, role := range named {
		if v.compares(role+"_id") || strings.Contains(v.allSQL(), role+"_id = :session_user") {
			return true // who asks is the one that the row names
		}
		if v.literal[role] && !strings.Contains(v.text, "= '"+role+"'") || v.literal[role] {
			return true
		}
		p := expr(`(?i)(is|require|must_?be|has|ensure|assert|role)_?\.?` + strings.ReplaceAll(regexp.QuoteMeta(role), "_", "_?"))
		if p.MatchString(v.bare) {
			return true
		}
		for _, s := range v.sql {
			if strings.Contains(s.text, "'"+role+"'") {
				return true
			}
		}
	}
	return false
}

var (
	ownRE  = regexp.MustCompile(`(?i)\bown(s|ed|er|ers)?\b|belongs? to|\btheir own\b|\bauthor\b|who created`)
	ownCol = regexp.MustCompile(`(?i)owner|author|created_?by|user_?id|account_?id|member_?id|customer_?id|patient_?id|employee_?id|student_?id|assigned`)
)

// owners: a thing that is taken by an identifier is held to belong to who asks.
func owners(v *view, r Requirement) *Breach {
	if !v.b.asks(ownRE, r) || !v.one(r.Text) || r.Number == v.b.tenancy() || v.nobody() {
		return nil
	}
	if v.b.tenant != "" && strings.Contains(r.Text, v.b.tenant) {
		return nil // about the tenant
	}
	if len(sentencesOf(r.Text)) > 2 && !v.ownsSentence(r) {
		return nil
	}
	var cols, alts []string
	about := false
	for _, clause := range r.clauses() {
		if !ownRE.MatchString(clause) {
			continue
		}
		for _, m := range spanRE.FindAllStringSubmatch(clause, -1) {
			if v.b.column(m[1]) {
				cols = append(cols, m[1])
			}
		}
		about = about || len(cols) > 0 || readVerb.MatchString(clause) || editVerb.MatchString(clause) && v.change() != nil || v.says(v.b.acts(clause))
	}
	if !about {
		return nil
	}
	for role := range v.b.roles {
		if expr(`(?i)\b` + regexp.QuoteMeta(role) + `s?\b`).MatchString(r.Text) {
			alts = append(alts, role)
		}
	}
	for _, role := range alts {
		if v.b.asks(ownOnlyRE, r) && v.keepsOut(role) {
			return nil
		}
	}
	if len(alts) > 0 && v.looksAt(alts) || v.owned(cols) {
		return nil
	}
	return &Breach{Why: "requirement " + itoa(r.Number) + ": what is taken by its identifier is not held to belong to who asks", CWEs: []audit.CWE{639, 862}, Confidence: 0.65}
}

// ownsSentence: a sentence of a long requirement gives the things that the fragment
// takes to their owner, and to nobody else.
func (v *view) ownsSentence(r Requirement) bool {
	for _, part := range sentencesOf(r.Text) {
		if !ownOnlyRE.MatchString(part) {
			continue
		}
		for _, t := range v.b.tablesIn(part) {
			if contains(v.touched(), t) {
				return true
			}
		}
	}
	return false
}

var ownGate = regexp.MustCompile(`(?i)\bown(s|er|ers|ed)?\b|author|assigned|userId|user_id|created`)

func (v *view) owned(cols []string) bool {
	for _, c := range v.calls {
		if h := v.b.helpers[c.Name]; h != nil && h.gate && ownGate.MatchString(h.doc) {
			return true
		}
		if ownRE.MatchString(strings.Join(humps(c.Name), " ")) {
			return true
		}
	}
	for _, s := range v.sql {
		for _, m := range expr(`(?i)(\w+)\s*=\s*:session_user\b`).FindAllStringSubmatch(s.text, -1) {
			if len(cols) == 0 || contains(cols, strings.ToLower(m[1])) || ownCol.MatchString(m[1]) {
				return true
			}
		}
		if strings.Contains(s.text, ":seen_") {
			return true
		}
	}
	for _, c := range append(append([]string{}, cols...), "owner_id", "user_id", "account_id", "created_by", "author_id", "owner", "customer_id", "member_id") {
		if v.compares(c) {
			return true
		}
	}
	return false
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
