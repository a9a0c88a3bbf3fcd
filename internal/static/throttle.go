package static

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"assay/internal/static/flow"
	"assay/internal/static/lang"
)

var (
	// everywhere are places from which a limit covers all requests, or all logins.
	everywhere = regexp.MustCompile(`(?i)\.use\([^;\n]*(limit|throttl|slow_?down)|default_limits|DEFAULT_THROTTLE|OncePerRequestFilter|HandlerInterceptor|\baxes\b|defender\b|Authentication\w*(Failure|Bad)\w*Event|limit_req|ThrottlerModule|ThrottlerGuard|MiddlewareMixin|def __call__\(self, request|register\([^;\n]*rate.?limit|addFilter\w*\(|before_request|implements\s+Filter\b|fail2ban`)
	takesPass  = regexp.MustCompile(`(?i)passw|pwd`)
	verifies   = regexp.MustCompile(`(?i)password_verify|check_?password|verify_?password|bcrypt\.(compare|checkpw)|CompareHashAndPassword|\.matches\(|passwordHash|argon2|pwd_context`)
	bareLogin  = regexp.MustCompile(`(?i)^(log_?in|sign_?in|authenticate|attempt|do_?login|check_?(login|credentials))$`)
)

// checkThrottle reports the login at which nothing counts attempts: neither the
// handler and what it calls, nor something that all requests pass. One finding for
// each language of an application.
func (a *application) checkThrottle(es []*endpoint) {
	if a.set.Checks["auth.no-throttle"] == nil {
		return
	}
	done := map[lang.Lang]bool{}
	for _, e := range es {
		l := e.fn.Unit.File.Lang
		if done[l] || !loginName.MatchString(e.name) && !loginName.MatchString(e.path) || !takesPass.MatchString(e.text) {
			continue
		}
		if e.methods != "" && !strings.Contains(e.methods, "POST") && !strings.Contains(e.text, "POST") {
			continue
		}
		done[l] = true
		if throttled.MatchString(e.text) || a.throttledBelow(e.fn.Unit, e.node, 2) || a.throttledEverywhere(l) {
			continue
		}
		f := finding(a.set.Checks["auth.no-throttle"], e.fn.Unit.File.Path, e.at, e.node)
		f.Function = e.name
		f.Lines = span(e.at)
		a.add(f)
	}
	a.throttleOfScripts(done)
}

// throttledBelow: a function that the code calls counts attempts.
func (a *application) throttledBelow(u *flow.Unit, n *lang.Node, depth int) bool {
	if n == nil || depth == 0 {
		return false
	}
	found := false
	lang.Walk(n, func(k *lang.Node) bool {
		if found || k.Kind != lang.Call || len(k.Name) < 4 {
			return !found
		}
		fns := a.project.Named(u.File.Lang, k.Name)
		if len(fns) == 0 || len(fns) > 3 {
			return true
		}
		for _, fn := range fns {
			if fn.Node != n && fn.Node.Body != nil {
				found = found || throttled.MatchString(fn.Unit.File.Text(fn.Node)) || a.throttledBelow(fn.Unit, fn.Node.Body, depth-1)
			}
		}
		return !found
	})
	return found
}

// throttledEverywhere: a filter, middleware or setting that all requests of the
// language's part pass has to do with limits.
func (a *application) throttledEverywhere(l lang.Lang) bool {
	for _, s := range a.sources {
		if s.raw == nil || isTest(s.path) || strings.HasSuffix(s.path, ".lock") || strings.HasSuffix(s.path, "lock.json") {
			continue
		}
		if of := lang.Of(s.path); of != l && (of != "" || path.Base(s.path) == "package.json") {
			continue
		}
		if mayCoverAll(s.raw) && everywhere.Match(s.raw) && throttled.Match(s.raw) {
			return true
		}
	}
	return false
}

// everywherePieces are pieces of the words of everywhere, which are rarer than those
// of throttled.
var everywherePieces = [][]byte{[]byte(".use("), []byte("efault_limits"), []byte("DEFAULT_THROTTLE"), []byte("OncePerRequestFilter"), []byte("HandlerInterceptor"),
	[]byte("axes"), []byte("efender"), []byte("Authentication"), []byte("imit_req"), []byte("hrottler"), []byte("iddlewareMixin"), []byte("__call__"),
	[]byte("egister("), []byte("ddFilter"), []byte("efore_request"), []byte(" Filter"), []byte("ail2ban")}

// mayCoverAll is a quick look for a piece of a telling word.
func mayCoverAll(b []byte) bool {
	for _, p := range everywherePieces {
		if bytes.Contains(b, p) {
			return true
		}
	}
	return false
}

// throttleOfScripts looks at applications of PHP whose login is a branch of a
// script: the call of a function that verifies passwords.
func (a *application) throttleOfScripts(done map[lang.Lang]bool) {
	if done[lang.PHP] {
		return
	}
	for _, u := range a.project.Units {
		if u.File.Lang != lang.PHP || isTest(u.File.Path) {
			continue
		}
		var at *lang.Node
		lang.Walk(u.Funcs[0].Node.Body, func(n *lang.Node) bool {
			if n.Kind == lang.Func && n.Name != "" || n.Kind == lang.Class {
				return false
			}
			if at == nil && n.Kind == lang.Call && bareLogin.MatchString(n.Name) && takesPass.MatchString(u.File.Text(n)) && a.verifiesPassword(n.Name) {
				at = n
			}
			return at == nil
		})
		if at != nil && !throttled.Match(u.File.Src) && !a.throttledBelow(u, at, 2) && !a.throttledEverywhere(lang.PHP) {
			f := finding(a.set.Checks["auth.no-throttle"], u.File.Path, at, nil)
			a.add(f)
			return
		}
	}
}

func (a *application) verifiesPassword(name string) bool {
	for _, fn := range a.project.Named(lang.PHP, name) {
		if fn.Node.Body != nil && verifies.MatchString(fn.Unit.File.Text(fn.Node)) {
			return true
		}
	}
	return false
}
