package hostreview

import (
	"regexp"
	"strings"

	"assay/audit"
)

var (
	hashedRE = regexp.MustCompile(`(?i)\b(stored|kept|saved|stores?|keeps?|only|as)\b[^.;]*(\bhash|sha-?\d|digest|\w+_hash\b)|\bhashed\b`)
	hashCol  = regexp.MustCompile(`(?i)(^|_)(hash|digest|sha256|sha)$`)
	hashesRE = regexp.MustCompile(`(?i)hash|sha_?\d|digest|bcrypt|argon|scrypt|pbkdf|hmac|blake|\bmac\b|sum256|crypt\(`)
)

// hashed: a column that is named after a hash is given one.
func hashed(v *view, r Requirement) *Breach {
	if !hashedRE.MatchString(r.Text) {
		return nil
	}
	for _, w := range v.writes() {
		n := w.value()
		if !hashCol.MatchString(w.col) || n == nil || hashesRE.MatchString(w.expr) || v.givenParam(n) {
			continue
		}
		if !hashesRE.MatchString(v.origin(n)) {
			return &Breach{Why: "requirement " + itoa(r.Number) + ": " + w.table + "." + w.col + " is given " + clip(v.f.Text(n)) + " as it is", CWEs: []audit.CWE{312, 916, 522}, Confidence: 0.8}
		}
	}
	return nil
}

// versioned: where an edit is to be refused once somebody else has made one, the
// statement that raises or writes a row with a version compares it.
func versioned(v *view, r Requirement) *Breach {
	for _, part := range sentencesOf(r.Text) {
		if !hasWord(part, "version") {
			continue
		}
		for _, w := range v.writes() {
			if w.verb != "update" || !contains(v.b.tables[w.table], "version") || !v.sameEdit(part, w) {
				continue
			}
			if regexp.MustCompile(`(?i)\bversion\b`).MatchString(w.where) || regexp.MustCompile(`(?i)\bversion\b["'\])]*\s*(!==?|===?|<>|<|>)|(!==?|===?)\s*[\w.\[\]"'()]*version\b`).MatchString(v.outsideSQL()) {
				continue
			}
			return &Breach{Why: "requirement " + itoa(r.Number) + ": " + w.table + " is changed without comparing its version", CWEs: []audit.CWE{362, 367}, Confidence: 0.75}
		}
	}
	return nil
}

// sameEdit: the update is an edit of a table that a sentence speaks of: it takes
// something from the request, and no state alone.
func (v *view) sameEdit(part string, w write) bool {
	if named := v.b.tablesIn(part); len(named) > 0 && !contains(named, w.table) {
		return false
	}
	for _, x := range v.writes() {
		if x.s == w.s && !stateCol.MatchString(x.col) && x.col != "version" && x.value() != nil && !strings.HasPrefix(x.expr, ":session_") {
			return true
		}
	}
	return false
}

var oursRE = regexp.MustCompile(`(?i)\b(always|only|from) (the )?(acting|session|signed|caller|account of)|never (taken|from|by|accepted|what)|set by (us|the server)|computed|ignored|not (taken|from) `)

// actorCols: a column that names who acted is given the one who acts.
func actorCols(v *view, r Requirement) *Breach {
	if !oursRE.MatchString(r.Text) {
		return nil
	}
	for _, w := range v.writes() {
		n := w.value()
		if n == nil || !byCol.MatchString(w.col) || strings.HasPrefix(w.expr, ":session_") {
			continue
		}
		for _, part := range sentencesOf(r.Text) {
			if oursRE.MatchString(part) && (strings.Contains(part, "`"+w.col+"`") || regexp.MustCompile(`(?i)\b(people|persons?|who)\b`).MatchString(part)) && outsideRE.MatchString(v.origin(n)) && !sessionRE.MatchString(v.f.Text(v.resolve(n))) {
				return &Breach{Why: "requirement " + itoa(r.Number) + ": " + w.col + " is taken from the request", CWEs: []audit.CWE{639, 472, 345}, Confidence: 0.8}
			}
		}
	}
	return nil
}

var byCol = regexp.MustCompile(`(?i)_by$|^(actor|author|creator|issuer|user|account|person)_id$`)
