package hostreview

import (
	"regexp"
	"slices"
	"strings"

	"assay/audit"
	"assay/internal/static/lang"
)

// verbs gives the roots of a clause's words for what is done, those that columns are
// named after among them: "refunding needs ...", "only paid ones are refunded".
func (b *brief) verbs(clause string) []string {
	out := b.acts(clause)
	for _, w := range wordRE.FindAllString(spanRE.ReplaceAllString(clause, " "), -1) {
		low := strings.ToLower(w)
		if r := root(low); (strings.HasSuffix(low, "ing") || strings.HasSuffix(low, "ed")) && len(r) > 2 && !common[r] && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

var (
	partRE = regexp.MustCompile(`[.;]\s+|,\s+(?:and|but)\s+`)
	heldRE = regexp.MustCompile(`(?i)\bonly\b|\bmust be\b|\bwhile\b|\bas long as\b`)
	setRE  = regexp.MustCompile(`(?is)\bset\b(.*?)(\bwhere\b|\bfrom\b|\breturning\b|$)`)
)

// stateful: an act that a clause allows only in a state is done with a look at that
// state, in a statement or in the code.
func stateful(v *view, r Requirement) *Breach {
	if v.change() == nil {
		return nil
	}
	for _, part := range partRE.Split(r.Text, -1) {
		if !heldRE.MatchString(part) || len(sentencesOf(r.Text)) > 2 && readVerb.MatchString(part) {
			continue
		}
		var states []string
		for _, m := range litRE.FindAllStringSubmatch(part, -1) {
			if !v.b.column(m[1]) && v.b.helpers[m[1]] == nil && !v.b.roles[m[1]] {
				states = append(states, m[1])
			}
		}
		if len(states) == 0 || !v.doing(part) || v.asksState(states) {
			continue
		}
		return &Breach{Why: "requirement " + itoa(r.Number) + ": nothing looks whether the state is " + strings.Join(states, " or "), CWEs: []audit.CWE{841, 840}, Confidence: 0.65}
	}
	return nil
}

// doing: the fragment's own name, or the state that it sets, is of a clause's verb.
func (v *view) doing(clause string) bool { return v.says(v.b.verbs(clause)) }

// asksState: a condition names one of the states, or the row came from a helper whose
// state was asked otherwise.
func (v *view) asksState(states []string) bool {
	code := v.outsideSQL()
	for _, x := range states {
		if expr(`["'` + "`" + `]` + regexp.QuoteMeta(x) + `["'` + "`" + `]|(?i:[._]` + regexp.QuoteMeta(x) + `\b)`).MatchString(code) {
			return true
		}
		for _, s := range v.sql {
			if strings.Contains(setRE.ReplaceAllString(s.text, "$2"), "'"+x+"'") {
				return true
			}
		}
	}
	return expr(`(?i)transition|can_?(move|change|go)|allowed|next_?stat|isFinal|status\s*[!=]==?`).MatchString(code)
}

var (
	journalRE = regexp.MustCompile(`(?i)audit|ledger|journal|trail|change_?log|event_?log|history|\blog\b`)
	writtenRE = regexp.MustCompile(`(?i)\b(audit\w*|record(ed|s)?|logged|ledger|journal|trail)\b`)
)

// journal: acts that are to be recorded are, with a helper that the SPEC has for it or
// with a row of its table.
func journal(v *view, r Requirement) *Breach {
	if !v.b.asks(writtenRE, r) || v.change() == nil || !v.b.asks(journalRE, r) || !v.doing(r.Text) {
		return nil
	}
	some := false
	for name, h := range v.b.helpers {
		if !h.gate && !h.load && journalRE.MatchString(name+" "+h.doc) {
			some = true
			if v.call(name) != nil {
				return nil
			}
		}
	}
	if !some || expr(`(?i)insert\s+into\s+\w*(audit|ledger|journal|trail|log|history|event)`).MatchString(v.allSQL()) {
		return nil
	}
	return &Breach{Why: "requirement " + itoa(r.Number) + ": what is done is not recorded", CWEs: []audit.CWE{778}, Confidence: 0.65}
}

var updateRE = regexp.MustCompile(`(?is)^\s*update\s+(\w+)(?:\s+(?:as\s+)?\w+)?\s+set\b(.*?)(?:\bwhere\b(.*?))?(\breturning\b.*)?$`)

// stale: what the code decides on was read without a lock, and is written by a
// statement that does not look again.
func stale(v *view, r Requirement) *Breach {
	if !v.b.asks(atomicRE, r) {
		return nil
	}
	for i, u := range v.sql {
		m := updateRE.FindStringSubmatch(u.text)
		if m == nil {
			continue
		}
		for _, c := range v.b.tables[strings.ToLower(m[1])] {
			word := expr(`(?i)\b` + c + `\b`)
			if !expr(`(?i)\b`+c+`\s*=`).MatchString(m[2]) || word.MatchString(m[3]) || plainCol[c] && !strings.Contains("status state version", c) {
				continue
			}
			for _, s := range v.sql[:i] {
				if !expr(`(?is)^\s*select\b.*\b(from|join)\s+`+m[1]+`\b`).MatchString(s.text) || !word.MatchString(s.text) || v.locked(s, m[1]) {
					continue
				}
				if v.usedInCondition(c) && v.b.aboutCol(r, c) {
					return &Breach{Why: "requirement " + itoa(r.Number) + ": " + c + " is read without a lock and written later without looking again", CWEs: []audit.CWE{362, 367}, Confidence: 0.7}
				}
			}
		}
	}
	return nil
}

// locked: the rows that a statement reads are locked by it, by an earlier one on the same
// table, or the code locks by other means.
func (v *view) locked(s statement, table string) bool {
	if rowLock.MatchString(s.text) || otherLock.MatchString(v.text) {
		return true
	}
	for _, x := range v.sql {
		if x.call.Off < s.call.Off && rowLock.MatchString(x.text) && expr(`(?is)\b(from|join)\s+`+table+`\b`).MatchString(x.text) {
			return true
		}
	}
	for _, c := range v.calls {
		if h := v.b.helpers[c.Name]; h != nil && lockDoc.MatchString(h.doc) {
			return true
		}
	}
	return false
}

var (
	rowLock   = regexp.MustCompile(`(?i)\bfor (no key )?(update|share|key share)\b`)
	otherLock = regexp.MustCompile(`(?i)advisory|serializable|mutex|synchronized|select_for_update|lock table`)
)

// aboutCol: the requirement speaks of the column, or no requirement does.
func (b *brief) aboutCol(r Requirement, col string) bool {
	says := func(text string) bool {
		for _, w := range roots(text) {
			if rs := roots(col); len(rs) > 0 && (meet(w, rs[0]) || stateCol.MatchString(col) && (w == "stat" || w == "status" || w == "statu")) {
				return true
			}
		}
		return false
	}
	if says(r.Text) {
		return true
	}
	for _, x := range b.reqs {
		if atomicRE.MatchString(x.Text) && says(x.Text) {
			return false
		}
	}
	return true
}

var requestDoc = regexp.MustCompile(`(?i)query string|of the request|from the request|from the (url|body|client)|what the client`)

// pasted: what a helper of the SPEC reads from a request becomes part of a
// statement's text.
func pasted(v *view, r Requirement) *Breach {
	t, err := loadDemands()
	if err != nil || !t.topics["sql"].MatchString(r.Text) && !expr(`(?i)\btext of (a|the) (statement|query)|its text`).MatchString(r.Text) {
		return nil
	}
	why := ""
	lang.Walk(v.f.Root, func(n *lang.Node) bool {
		if n.Kind != lang.Template {
			return true
		}
		words := ""
		for _, p := range n.List {
			if p.Kind == lang.String {
				words += p.Name
			}
		}
		if !sqlWord.MatchString(words) {
			return true
		}
		for _, p := range n.List {
			if x := v.resolve(p); x != nil && x.Kind == lang.Call && v.b.helpers[x.Name] != nil && requestDoc.MatchString(v.b.helpers[x.Name].doc) {
				why = v.f.Text(p) + " becomes part of a statement"
			}
		}
		return true
	})
	if why == "" {
		return nil
	}
	return &Breach{Why: "requirement " + itoa(r.Number) + ": " + clip(why), CWEs: []audit.CWE{89}, Confidence: 0.75}
}

var sqlWord = regexp.MustCompile(`(?i)\b(select|where|order by|update|insert into|delete from|limit)\b`)
