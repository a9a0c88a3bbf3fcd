package static

import (
	"regexp"
	"strings"

	"assay/internal/static/flow"
	"assay/internal/static/lang"
)

var (
	// staff are callers whose work is the records of others.
	staff = regexp.MustCompile(`(?i)(^|[^a-z])(admin|staff|agent|clerk|moderator|operator|employee|support|backoffice|back_office|internal|manager|editor|curator|dispatcher|librarian|doctor|teacher)s?([^a-z]|$)|(?-i:(Admin|Staff|Agent|Clerk|Moderator|Operator|Employee|Support|Manager|Editor|Internal)\b)`)
	// callers are types and annotations of parameters that hold who is calling.
	callers = regexp.MustCompile(`^(Principal|Authentication|UserDetails|Jwt|OidcUser|OAuth2User|JwtAuthenticationToken|UsernamePasswordAuthenticationToken)$|(?-i)^(Current|Auth|Authenticated|LoggedIn|SignedIn|Session)[A-Z]?\w*$|Depends\(\s*(\w+\.)?(get_)?(current|auth|require)\w*`)
)

// staffed: a parameter's type or default says that the caller is one of the staff.
func (e *endpoint) staffed() bool {
	if e.node == nil || e.node.Kind != lang.Func {
		return false
	}
	for _, p := range e.node.List {
		if p.Type != "" && staff.MatchString(p.Type) || p.Y != nil && staff.MatchString(e.fn.Unit.File.Text(p.Y)) {
			return true
		}
	}
	return false
}

// caller finds the parameter that holds who is calling.
func (e *endpoint) caller() *lang.Node {
	if e.node == nil || e.node.Kind != lang.Func {
		return nil
	}
	f := e.fn.Unit.File
	for _, p := range e.node.List {
		if p.Name == "" {
			continue
		}
		if callers.MatchString(p.Type) || p.Y != nil && callers.MatchString(f.Text(p.Y)) {
			return p
		}
		for _, n := range p.Notes {
			if n.Name == "AuthenticationPrincipal" || n.Name == "CurrentUser" {
				return p
			}
		}
	}
	return nil
}

// looksAt: the handler's body names the parameter.
func (e *endpoint) looksAt(p *lang.Node) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(p.Name) + `\b`).MatchString(e.fn.Unit.File.Text(e.node.Body))
}

// withoutUnused is the handler's text without a caller that its body never looks at.
func (e *endpoint) withoutUnused() string {
	p := e.caller()
	if p == nil || e.node.Body == nil || e.looksAt(p) {
		return e.text
	}
	return strings.Replace(e.text, e.fn.Unit.File.Text(p), " ", 1)
}

// guardedParam: the body looks at the caller that a parameter holds.
func (e *endpoint) guardedParam() bool {
	p := e.caller()
	return p != nil && e.node.Body != nil && e.looksAt(p)
}

var lookedUp = regexp.MustCompile(`(\w+)\s*\([^()]*\)?\s*$|\.(\w+)\(`)

// ownedBelow: the function that the handler looks the record up with knows whose it
// is.
func (a *application) ownedBelow(g *guards, e *endpoint) bool {
	l := e.fn.Unit.File.Lang
	if g.lookup[l] == nil {
		return false
	}
	m := lookedUp.FindStringSubmatch(g.lookup[l].FindString(e.text))
	if m == nil {
		return false
	}
	name := m[1] + m[2]
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[i+1:]
	}
	var found []*flow.Func
	for _, fn := range a.project.Named(l, name) {
		if fn.Node.Body != nil && fn.Node != e.node {
			found = append(found, fn)
		}
	}
	if len(found) == 0 || len(found) > 2 {
		return false
	}
	for _, fn := range found {
		if matches(g.current, l, fn.Unit.File.Text(fn.Node)) {
			return true
		}
	}
	return false
}
