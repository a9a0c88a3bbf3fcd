package sqlreview

import (
	"regexp"
	"strings"
)

var (
	givenRE   = regexp.MustCompile(`\bsession|\bserver|\btrusted|\bverified|sign(ed)?[- ]?in|logged[- ]?in|authenticat|\btoken|middleware|caller|always right`)
	sentRE    = regexp.MustCompile(`untrusted|\bclients?\b|typed|request (input|body)|user input|arbitrary|anything`)
	powerless = regexp.MustCompile(`clients? (cannot|can not|can't|can never|has no|have no)|not (come )?from (the|a) client|never (come )?from (the|a) client`)
	spliceRE  = regexp.MustCompile(`\$\{[^}]*\}`)
	prefixRE  = regexp.MustCompile(`^(p|v|in|current|my|caller|session|ctx|acting|own|the|auth|app)_`)
)

// baseName gives what a parameter is about: p_session_library and library_id are both
// about a library.
func baseName(p string) string {
	if i := strings.LastIndexByte(p, '.'); i >= 0 {
		p = p[i+1:]
	}
	p = strings.TrimSuffix(p, "()")
	for range 3 {
		p = prefixRE.ReplaceAllString(p, "")
	}
	return stem(strings.TrimSuffix(p, "_id"))
}

// findSession reads which parameters the server fills: those of a sentence or of a
// row of a table that says so, and those of functions that are named after them.
func (s *spec) findSession() {
	s.session = map[string]bool{}
	bases := map[string]bool{}
	var all []string
	for _, line := range lineRE.Split(strings.ToLower(s.prompt), -1) {
		names := paramsIn(spliceRE.ReplaceAllString(line, " "))
		all = append(all, names...)
		if !givenRE.MatchString(line) || sentRE.MatchString(powerless.ReplaceAllString(line, "")) {
			continue
		}
		for _, n := range names {
			s.session[n], bases[baseName(n)] = true, true
		}
	}
	for _, n := range all { // "in functions these are `p_harbour` and `p_me`"
		if strings.HasPrefix(n, "p_") && bases[baseName(n)] {
			s.session[n] = true
		}
	}
}

// argumentOf: n is named as an argument of a function (p_uid) that carries one of set.
func (s *spec) argumentOf(n string, set map[string]bool) bool {
	if !strings.HasPrefix(n, "p_") || s.params[n] {
		return false
	}
	for p := range set {
		if s.session[p] && baseName(p) == baseName(n) {
			return true
		}
	}
	return false
}

// held reports whether a parameter of the session holds the key of t.
func (s *spec) held(t *table) bool {
	if len(t.keys) == 0 || len(t.keys[0]) != 1 || s.refOf(t, t.keys[0][0]) != "" {
		return false
	}
	for p := range s.session {
		if baseName(p) == stem(t.name) || p == t.keys[0][0] && p != "id" {
			return true
		}
	}
	return false
}

// ofSession: a parameter of the session is named after column col.
func (s *spec) ofSession(col string) bool {
	for p := range s.session {
		if baseName(p) == baseName(col) {
			return true
		}
	}
	return false
}

// shareSession tells the parameters of the session apart: those that name the tenant,
// and, where there are such, the others: who acts.
func (s *spec) shareSession() {
	var scope, rest []string
	for p := range s.session {
		if s.tenantName(p) || len(s.tenants) > 0 && baseName(p) == baseName(s.tenants[0]) {
			scope = append(scope, p)
		} else {
			rest = append(rest, p)
		}
	}
	if len(scope) == 0 {
		return
	}
	s.scopeP = map[string]bool{}
	for _, p := range scope {
		s.scopeP[p] = true
		delete(s.actors, p)
	}
	for _, p := range rest {
		s.actors[p] = true
	}
}
