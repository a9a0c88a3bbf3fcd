package sqlreview

import (
	"regexp"
	"sort"
	"strings"
)

var tenantNameRE = regexp.MustCompile(`tenant|org|company|account|clinic|school|shop|store|merchant|workspace|customer|site|hospital|practice|firm|agency|team|club|brand|group|branch|district|warehouse|ledger|client|community|network|library|chain`)

// findTenants ranks the columns that say whose a row is: carried by several tables,
// pointing at one table that is not a person, and named where a requirement
// speaks of isolation.
func (s *spec) findTenants() {
	type cand struct {
		col   string
		ref   string
		score int
	}
	byName := map[string]*cand{}
	for _, t := range s.sch.order {
		for _, c := range t.cols {
			ref := s.refOf(t, c.name)
			if c.name == "id" || !strings.HasSuffix(c.name, "_id") && ref == "" && !strings.Contains(c.name, "tenant") {
				continue
			}
			k := byName[c.name]
			if k == nil {
				k = &cand{col: c.name}
				byName[c.name] = k
			}
			k.score += 2
			if ref != "" {
				k.ref = ref
			}
		}
	}
	var list []*cand
	for _, k := range byName {
		few := k.score < 4 // one table alone carries it: then a requirement has to name it
		if r := s.sch.tables[k.ref]; r != nil && s.isPerson(r) {
			continue
		}
		said := false
		for _, q := range s.reqs {
			strong := strings.Contains(q.low, "tenan") || strings.Contains(q.low, "isolat") || strings.Contains(q.low, "cross-")
			if !tenantRE.MatchString(q.low) || injectionRE.MatchString(q.low) && !strong {
				continue
			}
			for _, c := range q.cols {
				if c.col == k.col {
					said = true
					few = few && !strong && !othersRE.MatchString(q.low)
					k.score += 3
					if strong {
						k.score += 8
					}
				}
			}
			if k.ref != "" && hasRun(stemsOf(q.text), k.ref) || hasRun(stemsOf(q.text), strings.TrimSuffix(k.col, "_id")) {
				said = true
				k.score++
			}
			if strong && tenantNameRE.MatchString(k.col) {
				k.score += 3
			}
		}
		if r := s.sch.tables[k.ref]; r != nil && s.childOf(r) {
			k.score -= 3
		}
		if k.score >= 4 && s.ofSession(k.col) { // the session holds it: nothing says it better
			said = true
			k.score += 20
		}
		for _, line := range sentences(strings.ToLower(s.prompt)) { // ":carrier is set by the server"
			for _, p := range paramsIn(line) {
				if sessionRE.MatchString(line) && strings.TrimSuffix(p, "_id") == strings.TrimSuffix(k.col, "_id") {
					said = true
					k.score += 6
				}
			}
		}
		for _, line := range sentences(strings.ToLower(s.prompt)) { // "each company is a tenant"
			if strings.Contains(line, "tenan") && (strings.Contains(line, k.col) || k.ref != "" && hasRun(stemsOf(line), k.ref)) {
				said = true
				k.score += 4
			}
		}
		for _, q := range s.reqs { // named, in whatever words
			for _, c := range q.cols {
				if c.col == k.col && k.score >= 4 && k.ref != "" && len(q.cols) == 1 {
					said = true
					k.score += 2
				}
			}
		}
		if !few && (said || strings.Contains(k.col, "tenant")) {
			list = append(list, k)
		}
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].score != list[j].score {
			return list[i].score > list[j].score
		}
		return list[i].col < list[j].col
	})
	if len(list) > 0 {
		s.tenants = []string{list[0].col}
		s.root = list[0].ref
	}
}

var othersRE = regexp.MustCompile(`\banother\b|\bother [a-z]+s\b|\bdifferent [a-z]+s\b|outside (of )?(the|its|their)`)

var sessionRE = regexp.MustCompile(`session|caller|server|\btrusted|\bverified|log(ged|s)?[- ]?in|signed[- ]in|token|middleware|authenticat|set by|current`)

// childOf: the table's rows belong to rows of a further table that is no person's.
func (s *spec) childOf(t *table) bool {
	for _, fk := range t.fks {
		if x := s.sch.tables[fk.ref]; x != nil && x != t && !s.isPerson(x) {
			return true
		}
	}
	return false
}

func (s *spec) refOf(t *table, col string) string {
	for _, fk := range t.fks {
		if len(fk.cols) == 1 && fk.cols[0] == col {
			return fk.ref
		}
	}
	return ""
}

var (
	actorWordRE = regexp.MustCompile(`acting|caller|current user|signed[- ]in|logged[- ]in|authenticated|requesting|who (asks|acts|calls|is)|the user|session user|person (acting|asking|calling)|on whose behalf|the actor|staff member`)
	actorNameRE = regexp.MustCompile(`^(p_|v_|_)?(actor|user|caller|current_user|viewer|me|staff|employee|person|member|operator|principal|teacher|clinician|agent|acting|requester|session_user|login|self|my)(_?id|_by|_user|_user_id|_staff_id|_person_id|_employee_id)?$`)
	pastedRE    = regexp.MustCompile(`past|interpolat|concatenat|unescaped|raw|splic|verbatim|textual|string|is text|quot|substitut|replac|insert|put(s)? (in|into)`)
	boundRE     = regexp.MustCompile(`bound|bind|parameter|placeholder|prepared|escaped|driver`)
)

// findParams reads which parameters name who acts and which name the tenant.
func (s *spec) findParams() {
	for _, line := range regexp.MustCompile(`[.;,|]\s+|\n+|\s(?:and|or)\s`).Split(s.prompt, -1) {
		low := strings.ToLower(line)
		names := paramsIn(low)
		for _, n := range names {
			s.params[n] = true
			if s.saysTenant(low, n) {
				s.scopeP[n] = true
				continue
			}
			if actorNameRE.MatchString(n) || len(names) == 1 && (actorWordRE.MatchString(low) || n[0] == '$' && s.saysPerson(low, n)) && !s.tenantName(n) {
				s.actors[n] = true
			}
			if s.tenantName(n) {
				s.scopeP[n] = true
			}
		}
	}
}

var loginRE = regexp.MustCompile(`passw|^pw$|pin_hash|pw_hash|secret_hash|totp|login`)

// findPeople finds the tables of those who act: of the tables whose key a parameter of
// the session holds, the ones that belong to another.
func (s *spec) findPeople() {
	held := map[string]bool{}
	for _, t := range s.sch.order {
		if s.held(t) {
			held[t.name] = true
		}
	}
	s.people = map[string]bool{}
	for _, t := range s.sch.order { // who has a password and a name or address acts
		login, attr := false, false
		for _, c := range t.cols {
			login = login || loginRE.MatchString(c.name)
			attr = attr || personAttrRE.MatchString(c.name) && !loginRE.MatchString(c.name)
		}
		if login && attr && len(t.keys1()) == 1 {
			s.people[t.name] = true
		}
	}
	for t := range held {
		for _, fk := range s.sch.tables[t].fks {
			if held[fk.ref] && fk.ref != t {
				s.people[t] = true
			}
		}
	}
}

// paramsIn lists the parameters that a text in lower case names.
func paramsIn(low string) []string {
	var names []string
	for _, m := range paramRE.FindAllStringSubmatch(low, -1) {
		for _, n := range m[1:] {
			if n != "" {
				names = append(names, n)
			}
		}
	}
	return names
}

// saysPerson: the words right after a parameter's name call it a person's record.
func (s *spec) saysPerson(line, param string) bool {
	i := strings.Index(line, param)
	if i < 0 {
		return false
	}
	words := stemsOf(line[i+len(param):])
	for _, t := range s.sch.order {
		if s.isPerson(t) && hasRun(words[:min(len(words), 9)], t.name) {
			return true
		}
	}
	return false
}

// saysTenant: the words right after a parameter's name call it the tenant (":ws is the
// workshop of ...").
func (s *spec) saysTenant(line, param string) bool {
	i := strings.Index(line, param)
	if i < 0 || len(s.tenants) == 0 {
		return false
	}
	words := stemsOf(line[i+len(param):])
	for k, w := range words {
		if k == 5 {
			break
		}
		if w == stem(s.root) || w == stem(strings.TrimSuffix(s.tenants[0], "_id")) || w == "tenant" {
			return true
		}
	}
	return false
}

// tenantName reports whether a parameter is named after the tenant column.
func (s *spec) tenantName(p string) bool {
	if len(s.tenants) == 0 {
		return false
	}
	base := strings.TrimSuffix(s.tenants[0], "_id")
	n := strings.TrimSuffix(p, "_id")
	if i := strings.LastIndexByte(n, '.'); i >= 0 {
		n = n[i+1:]
	}
	n = regexp.MustCompile(`^(p|v|current|my|caller|session|ctx|acting|own|the)_`).ReplaceAllString(n, "")
	n = strings.TrimSuffix(strings.TrimSuffix(n, "()"), "_id")
	return n == base || strings.TrimPrefix(n, "current_") == base || n == "tenant" || s.root != "" && stem(n) == stem(s.root) || strings.HasPrefix(base, n) && len(n) >= 3
}

var (
	fixedListRE = regexp.MustCompile(`(fixed|constant|closed|hard-?coded|static) (list|set|table|map)|allow-?list|whitelist|picked by the server|chosen by the server|server's (own )?code|one exception|only exception|never (from|holds?|contains?) (the )?client`)
	holeNameRE  = regexp.MustCompile(`\$\{\s*([\w.]+)\s*\}`)
)

// findSafeHoles reads which ${...} the server fills from lists of its own.
func (s *spec) findSafeHoles() {
	s.safeHoles = map[string]bool{}
	for _, line := range lineRE.Split(s.prompt, -1) {
		if !fixedListRE.MatchString(strings.ToLower(line)) {
			continue
		}
		for _, m := range holeNameRE.FindAllStringSubmatch(line, -1) {
			s.safeHoles[m[1]] = true
		}
	}
}

func (s *spec) findHoleRule() {
	for _, line := range sentences(s.prompt) {
		low := strings.ToLower(line)
		i := strings.Index(low, "${")
		if i < 0 {
			continue
		}
		after := low[i:]
		switch {
		case pastedRE.MatchString(after), pastedRE.MatchString(low) && !boundRE.MatchString(after):
			s.holes = holesPasted
			return
		case boundRE.MatchString(low):
			s.holes = holesBound
		}
	}
}

// isActor reports whether a parameter can stand for who acts.
func (s *spec) isActor(t term) bool {
	n := strings.TrimPrefix(strings.TrimPrefix(string(t), "p:"), "h:")
	if len(s.actors) > 0 && s.actors[n] || s.argumentOf(n, s.actors) {
		return true
	}
	if anonymous(n) {
		return !s.numbered(s.actors) || n[0] != '$'
	}
	if i := strings.LastIndexByte(n, '.'); i >= 0 && actorNameRE.MatchString(n[i+1:]) {
		return true
	}
	return actorNameRE.MatchString(strings.TrimSuffix(n, "()")) || actorNameRE.MatchString(strings.TrimPrefix(n, "current_")) && !s.params[n]
}

// isScope reports whether a parameter can stand for the caller's tenant.
func (s *spec) isScope(t term) bool {
	n := strings.TrimPrefix(strings.TrimPrefix(string(t), "p:"), "h:")
	if s.scopeP[n] || s.argumentOf(n, s.scopeP) {
		return true
	}
	if anonymous(n) {
		return !s.numbered(s.scopeP) || n[0] != '$'
	}
	if s.tenantName(n) { // where the session holds the tenant, a request's parameter is none
		for p := range s.scopeP {
			if !strings.Contains(p, ".") && !strings.HasSuffix(p, "()") {
				return true
			}
		}
		return len(s.scopeP) == 0 || strings.ContainsAny(n, ".(") || strings.HasPrefix(n, "p_") || strings.HasPrefix(n, "v_")
	}
	if len(s.scopeP) == 0 { // the SPEC names none that could be told from the others
		return !s.actors[n]
	}
	if len(s.params) > 0 {
		return !s.params[n] && strings.Contains(n, "tenant")
	}
	return !s.params[n]
}

// numbered: the SPEC says which of the numbered parameters are in set.
func (s *spec) numbered(set map[string]bool) bool {
	for p := range set {
		if p[0] == '$' {
			return true
		}
	}
	return false
}

// anonymous parameters say nothing by their names.
func anonymous(n string) bool {
	return n == "?" || n == "%s" || strings.HasPrefix(n, "$") || n == "quoted" || n == "cast"
}
