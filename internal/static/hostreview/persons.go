package hostreview

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

var notSelfRE = regexp.MustCompile(`(?i)\b(?:does not|do not|may not|must not|cannot|can not|never|nobody|no one)\s+(\w+)(?:\s+(\w+))?`)

// notSelf: an act that who made, asked for or received a thing may not do is done with a look
// at the column that says who that is.
func notSelf(v *view, r Requirement) *Breach {
	for _, part := range sentencesOf(r.Text) {
		for _, clause := range andRE.Split(part, -1) {
			m := notSelfRE.FindStringSubmatch(clause)
			if m == nil || v.change() == nil || !v.verbIs(m[1]) && !v.verbIs(m[2]) {
				continue
			}
			for _, t := range v.touched() {
				for _, c := range v.b.tables[t] {
					if !partyCol.MatchString(c) || !partyIn(clause, c) || v.setsBy(strings.TrimSuffix(c, "_by")) || v.verbIs(strings.TrimSuffix(c, "_by")) {
						continue
					}
					if v.mentions(c) {
						continue
					}
					return &Breach{Why: "requirement " + itoa(r.Number) + ": nothing compares " + t + "." + c + " with who acts", CWEs: []audit.CWE{863, 840}, Confidence: 0.75}
				}
			}
		}
	}
	return nil
}

var (
	andRE    = regexp.MustCompile(`,\s+(?:and|nor|or)\s+`)
	partyCol = regexp.MustCompile(`_by$|^(owner|author|creator|holder|recipient|requester|submitter|applicant|issuer|keeper|sender)_id$`)
)

// partyIn: the sentence speaks of who did what a column is named after: "the account that
// requested a loan" and requested_by.
func partyIn(text, col string) bool {
	w := strings.TrimSuffix(strings.TrimSuffix(col, "_by"), "_id")
	for _, x := range roots(text) {
		if meet(x, root(w)) || strings.HasPrefix(x, "hold") && w == "holder" {
			return true
		}
	}
	return false
}

// touched gives the tables that the fragment's statements name.
func (v *view) touched() []string {
	all := strings.ToLower(v.allSQL())
	var out []string
	for _, t := range slices.Sorted(maps.Keys(v.b.tables)) {
		if expr(`\b` + t + `\b`).MatchString(all) {
			out = append(out, t)
		}
	}
	return out
}

// verbIs: the fragment is named after the verb, or leaves its doer behind.
func (v *view) verbIs(verb string) bool {
	r := root(verb)
	return len(r) > 2 && !common[r] && (v.says([]string{r}) || v.setsBy(verb))
}

// setsBy: a statement sets the column that an act leaves its doer in (approved_by).
func (v *view) setsBy(verb string) bool {
	for _, w := range v.writes() {
		if strings.HasSuffix(w.col, "_by") && meet(root(strings.TrimSuffix(w.col, "_by")), root(verb)) {
			return true
		}
	}
	return false
}

// mentions: the code, or what a statement reads or asks, names the column; that it is
// written does not count.
func (v *view) mentions(col string) bool {
	re := expr(`(?i)\b` + namePattern(col) + `\b`)
	for _, s := range v.sql {
		if re.MatchString(insertRE.ReplaceAllString(setRE.ReplaceAllString(s.text, " $2"), " ")) {
			return true
		}
	}
	return re.MatchString(v.outsideSQL())
}

var chainRE = regexp.MustCompile(`(?i)\brole\b["'\])]*\s*!==?\s*["'](\w+)["'](?:\s*(?:&&|and)\s*[\w.\[\]"']*role\b["'\])]*\s*!==?\s*["'](\w+)["'])*`)

// admitted gives the roles that the code lets pass, for each place that refuses others:
// what a gate is given, what a chain of comparisons names.
func (v *view) admitted() [][]string {
	var out [][]string
	roles := func(text string) []string {
		var names []string
		for _, m := range expr(`["'](\w+)["']`).FindAllStringSubmatch(text, -1) {
			if v.b.roles[m[1]] {
				names = append(names, m[1])
			}
		}
		return names
	}
	add := func(names []string) {
		if len(names) > 0 {
			out = append(out, names)
		}
	}
	for _, c := range v.calls {
		if h := v.b.helpers[c.Name]; h != nil && h.gate {
			text := ""
			for _, a := range c.List {
				text += v.origin(a) + " "
			}
			add(roles(text))
		}
	}
	code := v.outsideSQL()
	for _, m := range chainRE.FindAllString(code, -1) {
		add(roles(m))
	}
	for _, m := range expr(`(?i)\brole\b\s+not in\s*[(\[{]([^)\]}]*)[)\]}]`).FindAllStringSubmatch(code, -1) {
		add(roles(m[1]))
	}
	return out
}

var anyoneRE = regexp.MustCompile(`(?i)\b(staff|any|every|everybody|all)\b`)

var stateCol = regexp.MustCompile(`(?i)^(\w+_)?(status|state|stage|phase)$`)
