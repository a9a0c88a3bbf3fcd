package static

import (
	"path"
	"regexp"
	"strings"

	"assay/internal/static/flow"
	"assay/internal/static/lang"
	"assay/internal/static/rules"
)

// An endpoint is a function that requests reach, with what guards it.
type endpoint struct {
	fn      *flow.Func
	node    *lang.Node // the handler, for text and lines
	at      *lang.Node // what a finding points to
	name    string
	path    string
	methods string // upper case, blank between; empty: any
	group   string // endpoints of one group are neighbours: class, router, file
	guarded bool   // authentication or authorization is asked for
	role    bool   // a role or permission is asked for
	text    string // of the handler with its annotations
}

// guardData is what the checks of endpoints know of names.
type guardData struct {
	Guards    map[string]string `yaml:"guards"`    // language -> expression: annotations, middleware, calls that authenticate
	Roles     string            `yaml:"roles"`     // guards that ask for a role
	Inline    map[string]string `yaml:"inline"`    // language -> expression: code in a handler that looks at who is calling
	Public    string            `yaml:"public"`    // paths and names that are public by nature
	Sensitive string            `yaml:"sensitive"` // paths and names that are not
	Owned     string            `yaml:"owned"`     // things that belong to a user
	Lookup    map[string]string `yaml:"lookup"`    // language -> expression: a record is taken by an identifier
	Global    map[string]string `yaml:"global"`    // language -> expression on any file: every endpoint is guarded
	Current   map[string]string `yaml:"current"`   // language -> expression: the caller's identity
}

type guards struct {
	byLang, inline, lookup, global, current map[lang.Lang]*regexp.Regexp
	roles, public, sensitive, owned         *regexp.Regexp
}

func loadGuards() (*guards, error) {
	var d guardData
	if err := rules.Data("data-endpoints.yaml", &d); err != nil {
		return nil, err
	}
	g := &guards{}
	for _, m := range []struct {
		to   *map[lang.Lang]*regexp.Regexp
		from map[string]string
	}{{&g.byLang, d.Guards}, {&g.inline, d.Inline}, {&g.lookup, d.Lookup}, {&g.global, d.Global}, {&g.current, d.Current}} {
		*m.to = map[lang.Lang]*regexp.Regexp{}
		for l, e := range m.from {
			re, err := regexp.Compile(e)
			if err != nil {
				return nil, err
			}
			(*m.to)[lang.Lang(l)] = re
		}
	}
	for _, m := range []struct {
		to   **regexp.Regexp
		from string
	}{{&g.roles, d.Roles}, {&g.public, d.Public}, {&g.sensitive, d.Sensitive}, {&g.owned, d.Owned}} {
		re, err := regexp.Compile(m.from)
		if err != nil {
			return nil, err
		}
		*m.to = re
	}
	return g, nil
}

func matches(m map[lang.Lang]*regexp.Regexp, l lang.Lang, s string) bool {
	re := m[l]
	return re != nil && re.MatchString(s)
}

// endpoints finds the endpoints of all units.
func (a *application) endpoints(g *guards) []*endpoint {
	var out []*endpoint
	routed := djangoRoutes(a.project.Units)
	for _, u := range a.project.Units {
		switch u.File.Lang {
		case lang.Java:
			out = append(out, javaEndpoints(u)...)
		case lang.Python:
			out = append(out, pythonEndpoints(u, routed)...)
		case lang.JS:
			out = append(out, jsEndpoints(u, g)...)
		case lang.Go:
			out = append(out, a.goEndpoints(u, g)...)
		case lang.PHP:
			out = append(out, phpEndpoints(u)...)
		}
	}
	laravelRoutes(a.project.Units, out)
	fastRouters(a.project.Units, out)
	for _, e := range out {
		l := e.fn.Unit.File.Lang
		e.guarded = e.guarded || matches(g.byLang, l, e.text) || matches(g.inline, l, e.text)
		e.role = e.role || g.roles.MatchString(e.text)
	}
	return out
}

var javaMapping = regexp.MustCompile(`^(RequestMapping|GetMapping|PostMapping|PutMapping|DeleteMapping|PatchMapping|GET|POST|PUT|DELETE|PATCH)$`)

func javaEndpoints(u *flow.Unit) []*endpoint {
	var out []*endpoint
	for _, fn := range u.Funcs {
		if fn.Class == nil || fn.Class.Node == nil || fn.Node.Body == nil || fn.Class.Node.Op == "interface" {
			continue
		}
		e := &endpoint{fn: fn, node: fn.Node, at: fn.Node, name: fn.Name, group: u.File.Path + "#" + fn.Class.Name}
		mapped := false
		for _, n := range fn.Node.Notes {
			if javaMapping.MatchString(n.Name) {
				mapped = true
				e.methods += javaMethods(u, n)
			}
			if javaMapping.MatchString(n.Name) || n.Name == "Path" {
				e.path += firstString(n)
			}
		}
		if !mapped {
			if !servletMethod(fn) {
				continue
			}
			e.methods = strings.ToUpper(strings.TrimPrefix(fn.Name, "do"))
		}
		for _, n := range fn.Class.Node.Notes {
			if n.Name == "RequestMapping" || n.Name == "Path" || n.Name == "WebServlet" {
				e.path = firstString(n) + "/" + e.path
			} else {
				e.text += u.File.Text(n) + "\n"
			}
		}
		for _, b := range fn.Class.Bases {
			e.text += "extends " + b + "\n"
		}
		e.text += u.File.Text(fn.Node)
		out = append(out, e)
	}
	return out
}

func servletMethod(fn *flow.Func) bool {
	if fn.Name != "doGet" && fn.Name != "doPost" && fn.Name != "doPut" && fn.Name != "doDelete" {
		return false
	}
	for _, b := range fn.Class.Bases {
		if strings.Contains(b, "Servlet") {
			return true
		}
	}
	return false
}

func javaMethods(u *flow.Unit, n *lang.Node) string {
	if n.Name != "RequestMapping" {
		return strings.ToUpper(strings.TrimSuffix(n.Name, "Mapping")) + " "
	}
	out := ""
	t := u.File.Text(n)
	for _, m := range []string{"GET", "POST", "PUT", "DELETE", "PATCH"} {
		if strings.Contains(t, "RequestMethod."+m) || strings.Contains(t, "{"+m) || strings.Contains(t, "= "+m) {
			out += m + " "
		}
	}
	return out
}

// firstString gives the first text among the arguments of an annotation or call.
func firstString(n *lang.Node) string {
	s := ""
	for _, a := range n.List {
		lang.Walk(a, func(k *lang.Node) bool {
			if k.Kind == lang.Pair && k.Name != "" && k.Name != "value" && k.Name != "path" && k.Name != "urlPatterns" {
				return false
			}
			if s == "" && k.Kind == lang.String {
				s = k.Name
			}
			return s == ""
		})
	}
	return s
}

// changes tells endpoints that change something.
func (e *endpoint) changes() bool {
	return strings.Contains(e.methods, "POST") || strings.Contains(e.methods, "PUT") || strings.Contains(e.methods, "DELETE") ||
		strings.Contains(e.methods, "PATCH") || changeName.MatchString(e.name)
}

var changeName = regexp.MustCompile(`(?i)^(delete|destroy|store|remove|update|edit|create|add|save|set|change|reset|approve|transfer|purge|disable|enable|grant|revoke|upload|import|execute|run)`)

// signUp is where new users are made, before they can sign in.
var signUp = regexp.MustCompile(`(?i)(^|/)(users?|accounts?|members?|customers?)/?$`)

// checkAuth reports endpoints without authentication next to guarded ones. An
// application without any guard is left alone: it may stand behind a gateway,
// and one finding an endpoint would say nothing.
func (a *application) checkAuth(g *guards, es []*endpoint) {
	rule := a.set.Checks["auth.missing"]
	if rule == nil {
		return
	}
	type count struct{ all, guarded int }
	groups, langs := map[string]count{}, map[lang.Lang]count{}
	for _, e := range es {
		c, d := groups[e.group], langs[e.fn.Unit.File.Lang]
		c.all++
		d.all++
		if e.guarded {
			c.guarded++
			d.guarded++
		}
		groups[e.group], langs[e.fn.Unit.File.Lang] = c, d
	}
	for _, e := range es {
		l := e.fn.Unit.File.Lang
		if e.guarded || strings.Contains(e.methods, "POST") && signUp.MatchString(e.path) || g.public.MatchString(e.path) || g.public.MatchString(e.name) || a.everyEndpoint(g, l) {
			continue
		}
		c, d := groups[e.group], langs[l]
		sensitive := g.sensitive.MatchString(e.path + " " + e.name)
		conf := 0.0
		switch {
		case c.guarded*2 > c.all && (sensitive || e.changes()):
			conf = 0.85
		case c.guarded > 0 && sensitive && e.changes():
			conf = 0.8
		case c.guarded >= 2 && c.guarded*4 >= c.all*3:
			conf = 0.65
		case c.guarded > 0 && sensitive:
			conf = 0.6
		case d.guarded*2 > d.all && d.guarded >= 3 && sensitive:
			conf = 0.6
		default:
			continue
		}
		f := finding(rule, e.fn.Unit.File.Path, e.at, e.node)
		f.Function, f.Confidence = e.name, conf
		f.Lines = span(e.at)
		a.add(f)
	}
}

// everyEndpoint tells applications whose configuration guards all endpoints.
func (a *application) everyEndpoint(g *guards, l lang.Lang) bool {
	re := g.global[l]
	if re == nil {
		return false
	}
	if a.global == nil {
		a.global = map[lang.Lang]bool{}
	}
	if v, ok := a.global[l]; ok {
		return v
	}
	for _, u := range a.project.Units {
		if u.File.Lang == l && re.Match(u.File.Src) {
			a.global[l] = true
			return true
		}
	}
	for _, s := range a.sources {
		if s.text != nil && re.Match(s.text) {
			a.global[l] = true
			return true
		}
	}
	a.global[l] = false
	return false
}

// asked are conditions that ask whether somebody is signed in, and no more.
var asked = regexp.MustCompile(`(?i)\bif\s*\(?\s*(!|not\s+)?\s*(isset\(|empty\(|!isset\()?\s*(req|request|ctx)\.(session\.)?(user\w*|isAuthenticated\(\))\s*\)?\s*\)?[{:\s]|\bif\s*\(\s*!?\s*(isset|empty)\s*\(\s*\$_SESSION\s*\[[^\]]*\]\s*\)\s*\)|\bif\s+(not\s+)?session\.get\([^)]*\)\s*:|\bif\s+['"]\w+['"]\s+not\s+in\s+session\s*:|session_start\(\)|\bif\s+(not\s+)?(current_user|request\.user)\.is_authenticated\s*:`)

// checkOwner reports endpoints that take a record by an identifier of the
// request and never look at whose it is, in applications that know their caller.
func (a *application) checkOwner(g *guards, es []*endpoint) {
	rule := a.set.Checks["auth.idor"]
	if rule == nil {
		return
	}
	known, looks := map[lang.Lang]int{}, map[*endpoint]bool{}
	for _, e := range es {
		l := e.fn.Unit.File.Lang
		looks[e] = matches(g.current, l, e.text)
		if e.guarded || looks[e] {
			known[l]++
		}
	}
	for _, e := range es {
		l := e.fn.Unit.File.Lang
		if known[l] == 0 || strings.Contains(strings.ToLower(e.path), "admin") || e.role || g.public.MatchString(e.path) || staff.MatchString(e.path) || !matches(g.lookup, l, e.text) {
			continue
		}
		text := asked.ReplaceAllString(e.withoutUnused(), " ")
		if looks[e] && matches(g.current, l, text) || e.staffed() || e.guardedParam() || a.ownedBelow(g, e) {
			continue
		}
		if !g.owned.MatchString(e.path + " " + e.name + " " + path.Base(e.fn.Unit.File.Path) + " " + g.lookup[l].FindString(e.text)) {
			continue
		}
		f := finding(rule, e.fn.Unit.File.Path, e.at, e.node)
		f.Function = e.name
		f.Lines = span(e.at)
		if at := g.lookup[l].FindStringIndex(e.text); at != nil {
			if i := strings.Index(string(e.fn.Unit.File.Src), e.text[at[0]:at[1]]); i >= int(e.node.Off) && i <= int(e.node.To) {
				line := int(e.node.Start) + strings.Count(string(e.fn.Unit.File.Src[e.node.Off:i]), "\n")
				f.Lines.Start, f.Lines.End = line, line
			}
		}
		a.add(f)
	}
}
