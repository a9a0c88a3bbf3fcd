package static

import (
	"regexp"
	"slices"
	"strings"

	"assay/audit"
	"assay/internal/static/flow"
	"assay/internal/static/lang"
)

var (
	loginName = regexp.MustCompile(`(?i)(^|[/_.\-])(log_?-?in|sign_?-?in|authenticate|do_?login|user_?login|login_?user|handle_?login)($|[/_.\-(])|^(do|handle|user|process|post)?[Ll]ogin(User|Handler|Post|Action)?$`)
	takesPass = regexp.MustCompile(`(?i)passw|pwd`)
	throttled = regexp.MustCompile(`(?i)rate.?limit|throttl|slow.?down|brute|lock.?out|locked_?(at|until)|failed_?(login|attempt)|login_?attempts?|max_?attempts|attempts\b|bucket4j|limiter|captcha|axes\b|defender|fail2ban|is_?locked\b|account_?locked|LockedException|failed_?attempts?|attempt_?count|incr\w*attempt|(login|auth|attempt|sign_?in|brute)\w*_?limit|limit\w*_?(login|attempt|auth)`)
	// everywhere are places from which a limit covers all requests, or all logins.
	everywhere = regexp.MustCompile(`(?i)\.use\([^;\n]*(limit|throttl|slow_?down)|default_limits|DEFAULT_THROTTLE|OncePerRequestFilter|HandlerInterceptor|\baxes\b|defender\b|Authentication\w*(Failure|Bad)\w*Event|limit_req|ThrottlerModule|ThrottlerGuard|MiddlewareMixin|def __call__\(self, request|register\([^;\n]*rate.?limit|addFilter\w*\(|before_request|implements\s+Filter\b|fail2ban`)
	verb       = regexp.MustCompile(`^(?i:post|all|any|handle|handlefunc)$`)
)

// checkThrottle reports the login at which nothing counts attempts: neither the
// handler and what it calls, nor something that all requests pass. One finding for
// each language of an application.
func (a *application) checkThrottle() {
	done := map[lang.Lang]bool{}
	for _, u := range a.project.Units {
		l := u.File.Lang
		if done[l] || !takesPass.Match(u.File.Src) {
			continue
		}
		at, text, name := login(u)
		if at == nil {
			continue
		}
		done[l] = true
		if throttled.MatchString(text) || a.throttledBelow(u, at, 2) || a.throttledEverywhere(l) {
			continue
		}
		f := finding(a.set.ByID["auth.no-throttle"], u.File.Path, span(at))
		f.Function = name
		a.add(f)
	}
}

// login finds the handler of a file that takes a name and a password.
func login(u *flow.Unit) (at *lang.Node, text, name string) {
	for _, fn := range u.Funcs {
		if fn.Name == "" || fn.Node.Body == nil {
			continue
		}
		routed := fn.Class != nil && strings.HasSuffix(fn.Class.Name, "Controller")
		is := loginName.MatchString(fn.Name)
		text := u.File.Text(fn.Node)
		for _, n := range fn.Node.Notes {
			routed = true
			for _, arg := range n.List {
				is = is || arg.Kind == lang.String && loginName.MatchString(arg.Name)
			}
			text += u.File.Text(n)
		}
		if routed && is && takesPass.MatchString(text) && (u.File.Lang != lang.Python || strings.Contains(text, "POST") || strings.Contains(text, "post")) {
			return fn.Node, text, fn.Name
		}
	}
	if u.File.Lang != lang.JS && u.File.Lang != lang.Go {
		return nil, "", ""
	}
	lang.Walk(u.File.Root, func(n *lang.Node) bool {
		if at == nil && n.Kind == lang.Call && n.X != nil && verb.MatchString(n.Name) && len(n.List) > 1 && n.List[0].Kind == lang.String && loginName.MatchString(n.List[0].Name) {
			text = u.File.Text(n)
			for _, fn := range u.Funcs {
				if last := n.List[len(n.List)-1]; fn.Name != "" && fn.Name == last.Name {
					text += u.File.Text(fn.Node)
				}
			}
			if takesPass.MatchString(text) {
				at = n
			}
		}
		return at == nil
	})
	return at, text, ""
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
		for _, fn := range fns[:min(len(fns), 3)] {
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
	return slices.ContainsFunc(a.sources, func(s *source) bool {
		of := lang.Of(s.path)
		told := s.raw != nil && !isTest(s.path) && !strings.Contains(s.path, ".lock") && !strings.HasSuffix(s.path, ".json") && (of == l || of == "")
		return told && everywhere.Match(s.raw) && throttled.Match(s.raw)
	})
}

var (
	entityNote = regexp.MustCompile(`^(Entity|Document|Table|TableName|MappedSuperclass|DynamoDBTable|RedisHash|Node)$`)
	mapping    = regexp.MustCompile(`^(Request|Post|Put|Patch)Mapping$|^(POST|PUT|PATCH)$`)
	binding    = regexp.MustCompile(`^(RequestBody|ModelAttribute|Valid|Validated|BeanParam)$`)
)

func (a *application) checkEntities() {
	for _, u := range a.project.Units {
		if u.File.Lang != lang.Java {
			continue
		}
		for _, fn := range u.Funcs {
			if !hasNote(fn.Node.Notes, mapping) || fn.Class == nil || strings.Contains(u.File.Text(fn.Class.Node), "lowedFields(") {
				continue // an InitBinder says which fields
			}
			for _, p := range fn.Node.List {
				if p.Name == "" || !a.entity(p.Type) || len(p.Notes) > 0 && !hasNote(p.Notes, binding) {
					continue
				}
				saved := regexp.MustCompile(`\.\s*(save|saveAndFlush|persist|merge|insert|update|updateById|saveOrUpdate|create|add|register)\w*\(\s*` + regexp.QuoteMeta(p.Name) + `\b`)
				if saved.MatchString(u.File.Text(fn.Node)) {
					f := finding(a.set.ByID["java.entity-binding"], u.File.Path, span(fn.Node))
					f.Function = fn.Name
					a.add(f)
					break
				}
			}
		}
	}
}

func hasNote(notes []*lang.Node, re *regexp.Regexp) bool {
	return slices.ContainsFunc(notes, func(n *lang.Node) bool { return re.MatchString(n.Name) })
}

func (a *application) entity(typ string) bool {
	return slices.ContainsFunc(a.project.ClassesNamed(typ), func(c *flow.Class) bool { return c.Node != nil && hasNote(c.Node.Notes, entityNote) })
}

// span is the lines of a whole handler, at most 50: longer ranges count as none.
func span(n *lang.Node) audit.Range {
	return audit.Range{Start: int(n.Start), End: int(min(n.End, n.Start+49))}
}
