package hostreview

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

// subjects: where a clause keeps people of a role to what is their own, a table that
// says whose its rows are ("parent_id") is read or changed with a look at that column,
// unless the code keeps the role out.
func subjects(v *view, r Requirement) *Breach {
	if r.Number == v.b.tenancy() || v.nobody() {
		return nil
	}
	for _, part := range sentenceRE.Split(r.Text, -1) {
		at := ownOnlyRE.FindStringIndex(part)
		if at == nil {
			continue
		}
		for _, role := range slices.Sorted(maps.Keys(v.b.roles)) {
			if !expr(`(?i)^\W*(the |an? )?` + regexp.QuoteMeta(role) + `s?\b`).MatchString(part[:at[0]]) {
				continue
			}
			col := role + "_id"
			t := v.reads(col)
			if t == "" || v.keepsOut(role) || v.owned([]string{col}) || v.anyGate() {
				continue
			}
			return &Breach{Why: "requirement " + itoa(r.Number) + ": rows of " + t + " are not held to the " + role + " who asks", CWEs: []audit.CWE{639, 862}, Confidence: 0.65}
		}
	}
	return nil
}

var ownOnlyRE = regexp.MustCompile(`(?i)\bonly\b[^.;]*\b(their|his|her|its) own\b`)

// reads gives a table with the column that a statement finds rows of.
func (v *view) reads(col string) string {
	for _, t := range slices.Sorted(maps.Keys(v.b.tables)) {
		if !contains(v.b.tables[t], col) {
			continue
		}
		for _, s := range v.sql {
			if expr(`(?i)\b(from|update)\s+` + regexp.QuoteMeta(t) + `\b`).MatchString(s.text) {
				return t
			}
		}
	}
	return ""
}

// keepsOut: the code asks for other roles alone, or refuses this one.
func (v *view) keepsOut(role string) bool {
	q := regexp.QuoteMeta(role)
	if expr(`["']` + q + `["'][\])]*\s*[:{)]\s*\{?\s*(return|throw|raise|fail|deny|abort|http\.Error|res\.)`).MatchString(v.text) {
		return true
	}
	if v.literal[role] {
		return false
	}
	for other := range v.b.roles {
		if other != role && v.literal[other] {
			return true
		}
	}
	return false
}

// anyGate: a helper that looks at who asks brought what is used.
func (v *view) anyGate() bool {
	for _, c := range v.calls {
		if h := v.b.helpers[c.Name]; h != nil && (h.scoped() || h.gate && ownGate.MatchString(h.doc)) {
			return true
		}
	}
	return false
}

// sharedColumn gives the column that says which tenant a row belongs to where the
// SPEC's prose does not name it: several tables have it, who acts has a field of that
// name, and a requirement keeps to it.
func (b *brief) sharedColumn() string {
	best, most := "", 1
	for _, cols := range b.tables {
		for _, c := range cols {
			noun, ok := strings.CutSuffix(c, "_id")
			if !ok || len(noun) < 3 {
				continue
			}
			n := 0
			for _, other := range b.tables {
				if contains(other, c) {
					n++
				}
			}
			field := expr(`(?i)\b` + strings.ReplaceAll(regexp.QuoteMeta(noun), "_", "_?") + `_?id\b`)
			held := false
			for _, r := range b.reqs {
				held = held || scopeRE.MatchString(r.Text) && anyAccess.MatchString(r.Text) && expr(`(?i)\b(own|other|another|same|their)\b[^.;]{0,20}\b`+noun).MatchString(r.Text)
			}
			if (n > most || n == most && c < best) && held && n > 1 && len(field.FindAllString(b.spec, -1)) > n {
				best, most = c, n
			}
		}
	}
	return best
}
