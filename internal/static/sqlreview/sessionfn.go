package sqlreview

import (
	"regexp"
	"strings"
)

var sessionFnRE = regexp.MustCompile(`(?is)create\s+(?:or\s+replace\s+)?function\s+(?:[a-z_]\w*\.)?([a-z_]\w*)\s*\(\s*\)\s*returns\s+([a-z]\w*)(.*?)(?:\$\w*\$)(.*?)\$\w*\$`)

// findSessionFunctions reads the functions without arguments whose body is a setting of
// the session: a call of one is as good as a parameter that the server fills. The one
// that is named after the tenant, or reads a setting that is, gives the tenant, the
// others give who acts.
func (s *spec) findSessionFunctions(text string) {
	s.sch.session = map[string]bool{}
	for _, m := range sessionFnRE.FindAllStringSubmatch(text, -1) {
		name, typ, body := strings.ToLower(m[1]), strings.ToLower(m[2]), strings.ToLower(m[4])
		if !strings.Contains(body, "current_setting") || strings.Contains(body, " from ") || strings.HasPrefix(typ, "date") || strings.HasPrefix(typ, "timestamp") {
			continue
		}
		s.sch.session[name] = true
		set := s.actors
		if s.tenantName(name + "()") {
			set = s.scopeP
		}
		for _, v := range settingRE.FindAllStringSubmatch(body, -1) {
			if s.tenantName(v[1]) {
				set = s.scopeP
			}
		}
		set[name+"()"] = true
	}
	s.describedFunctions()
}

var (
	bareCallRE = regexp.MustCompile("`([a-z_]\\w*)\\(\\)`")
	clockFnRE  = regexp.MustCompile(`today|now|date|day|time|clock|random|uuid`)
)

// describedFunctions takes the functions without arguments that the text describes, in
// backticks, where no code of theirs is given.
func (s *spec) describedFunctions() {
	for _, line := range strings.Split(strings.ToLower(s.prompt), "\n") {
		if itemRE.MatchString(line) {
			continue
		}
		for _, m := range bareCallRE.FindAllStringSubmatch(line, -1) {
			name := m[1]
			if s.sch.session[name] || clockFnRE.MatchString(name) {
				continue
			}
			s.sch.session[name] = true
			if s.tenantName(name + "()") {
				s.scopeP[name+"()"] = true
			} else {
				s.actors[name+"()"] = true
			}
		}
	}
}

var settingRE = regexp.MustCompile(`current_setting\s*\(\s*'([^']+)'`)
