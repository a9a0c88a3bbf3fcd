package static

import (
	"regexp"
	"strings"

	"assay/internal/static/flow"
	"assay/internal/static/lang"
)

var pyRoute = regexp.MustCompile(`(^|\.)(route|get|post|put|delete|patch|api_view|api_route)$`)

// pythonEndpoints finds decorated functions of Flask and FastAPI, functions that
// urlpatterns name, and methods of class based views.
func pythonEndpoints(u *flow.Unit, routed map[string]string) []*endpoint {
	var out []*endpoint
	for _, fn := range u.Funcs {
		if fn.Name == "" || fn.Node.Body == nil {
			continue
		}
		e := &endpoint{fn: fn, node: fn.Node, at: fn.Node, name: fn.Name, group: u.File.Path}
		found := false
		for _, n := range fn.Node.Notes {
			name := n.Name
			if n.X != nil {
				name = lang.Dotted(n.X) + "." + n.Name
			}
			e.text += "@" + u.File.Text(n) + "\n"
			if pyRoute.MatchString(name) && (n.X != nil || name == "api_view") {
				found = true
				e.path += firstString(n)
				e.methods += pythonMethods(name, u.File.Text(n))
			}
		}
		if path, ok := routed[fn.Name]; ok && fn.Class == nil && len(fn.Node.List) > 0 && fn.Node.List[0].Name == "request" {
			found, e.path = true, path
			if strings.Contains(u.File.Text(fn.Node), "request.POST") {
				e.methods = "POST"
			}
		}
		if fn.Class != nil && fn.Class.Node != nil {
			for _, b := range fn.Class.Bases {
				if strings.HasSuffix(b, "View") || strings.HasSuffix(b, "ViewSet") || b == "Resource" || b == "MethodView" || b == "RequestHandler" {
					switch fn.Name {
					case "get", "post", "put", "delete", "patch", "create", "update", "destroy", "list", "retrieve":
						found = true
						e.name, e.path = fn.Class.Name+"."+fn.Name, fn.Class.Name
						e.methods = strings.ToUpper(fn.Name)
					}
				}
				e.text += b + "\n"
			}
			e.text += classHead(u, fn.Class)
		}
		if !found {
			continue
		}
		e.text += u.File.Text(fn.Node)
		e.name = fn.Name
		out = append(out, e)
	}
	return out
}

// classHead is the annotations and plain fields of a class.
func classHead(u *flow.Unit, c *flow.Class) string {
	s := ""
	for _, n := range c.Node.Notes {
		s += "@" + u.File.Text(n) + "\n"
	}
	for _, d := range c.Fields {
		if d.X != nil && (d.X.Name == "permission_classes" || d.X.Name == "authentication_classes" || d.X.Name == "decorators") {
			if !strings.Contains(u.File.Text(d), "AllowAny") && !strings.Contains(strings.ReplaceAll(u.File.Text(d), " ", ""), "=[]") {
				s += u.File.Text(d) + "\n"
			}
		}
	}
	return s
}

func pythonMethods(name, text string) string {
	last := strings.ToUpper(name[strings.LastIndexByte(name, '.')+1:])
	if last != "ROUTE" && last != "API_VIEW" && last != "API_ROUTE" {
		return last
	}
	out := ""
	for _, m := range []string{"POST", "PUT", "DELETE", "PATCH", "GET"} {
		if strings.Contains(text, `"`+m+`"`) || strings.Contains(text, "'"+m+"'") {
			out += m + " "
		}
	}
	return out
}

// djangoRoutes gives the views that urlpatterns name, with their paths.
func djangoRoutes(units []*flow.Unit) map[string]string {
	out := map[string]string{}
	for _, u := range units {
		if u.File.Lang != lang.Python || !strings.Contains(string(u.File.Src), "urlpatterns") {
			continue
		}
		lang.Walk(u.File.Root, func(n *lang.Node) bool {
			if n.Kind == lang.Call && (n.Name == "path" || n.Name == "re_path" || n.Name == "url") && len(n.List) > 1 {
				v := n.List[1]
				if v.Kind == lang.Call && len(v.List) > 0 { // login_required(view)
					return true
				}
				if v.Kind == lang.Member || v.Kind == lang.Ident {
					out[v.Name] = "/" + firstString(n)
				}
			}
			return true
		})
	}
	return out
}

var jsVerb = map[string]string{"get": "GET", "post": "POST", "put": "PUT", "delete": "DELETE", "patch": "PATCH", "all": "", "del": "DELETE"}

var routerName = regexp.MustCompile(`(?i)(^|\.)(app|router|server|api|route|routes|fastify|r|\w*router|\w*app|\w*routes)(\.route\(\))?$`)

// jsEndpoints finds calls such as app.post('/x', guard, handler) and methods of
// Nest controllers. Guards that a router uses before count for what follows.
func jsEndpoints(u *flow.Unit, g *guards) []*endpoint {
	var out []*endpoint
	type use struct{ path, text string }
	used := map[string][]use{}
	lang.Walk(u.File.Root, func(n *lang.Node) bool {
		if n.Kind != lang.Call || n.X == nil {
			return true
		}
		recv := lang.Dotted(n.X)
		if !routerName.MatchString(recv) || len(n.List) == 0 {
			return true
		}
		if n.Name == "use" {
			p := ""
			if n.List[0].Kind == lang.String {
				p = n.List[0].Name
			}
			used[recv] = append(used[recv], use{p, argsText(u, n.List)})
			return true
		}
		m, ok := jsVerb[n.Name]
		if !ok || len(n.List) < 2 || n.List[0].Kind != lang.String && n.List[0].Kind != lang.Template {
			return true
		}
		last := n.List[len(n.List)-1]
		e := &endpoint{fn: &flow.Func{Unit: u, Node: n}, node: last, at: n, path: n.List[0].Name, methods: m, group: u.File.Path + "#" + recv}
		e.name = handlerName(last)
		e.text = argsText(u, n.List[1:])
		if fn := named(u, last); fn != nil {
			e.text += u.File.Text(fn.Node)
			e.node = fn.Node
		}
		for _, s := range used[recv] {
			if (s.path == "" || strings.HasPrefix(e.path, s.path)) && g.byLang[lang.JS].MatchString(s.text) {
				e.guarded = true
			}
		}
		out = append(out, e)
		return true
	})
	for _, fn := range u.Funcs {
		if e := nestEndpoint(u, fn); e != nil {
			out = append(out, e)
		}
	}
	return out
}

func nestEndpoint(u *flow.Unit, fn *flow.Func) *endpoint {
	if fn.Class == nil || fn.Class.Node == nil {
		return nil
	}
	e := &endpoint{fn: fn, node: fn.Node, at: fn.Node, name: fn.Name, group: u.File.Path + "#" + fn.Class.Name}
	controller := false
	for _, n := range fn.Class.Node.Notes {
		if n.Name == "Controller" {
			controller = true
			e.path = firstString(n)
		}
		e.text += u.File.Text(n) + "\n"
	}
	mapped := false
	for _, n := range fn.Node.Notes {
		if m, ok := jsVerb[strings.ToLower(n.Name)]; ok {
			mapped = true
			e.methods, e.path = m, e.path+"/"+firstString(n)
		}
		e.text += u.File.Text(n) + "\n"
	}
	if !controller || !mapped {
		return nil
	}
	e.text += u.File.Text(fn.Node)
	return e
}

// argsText is the text of arguments without the bodies of the last one's
// functions: middleware and names.
func argsText(u *flow.Unit, list []*lang.Node) string {
	s := ""
	for _, a := range list {
		s += u.File.Text(a) + "\n"
	}
	return s
}

func handlerName(n *lang.Node) string {
	switch n.Kind {
	case lang.Ident, lang.Member:
		return n.Name
	case lang.Call:
		if n.Name != "" {
			return n.Name
		}
	case lang.Func:
		return n.Name
	}
	return ""
}

// named finds the function of the unit that a handler names.
func named(u *flow.Unit, n *lang.Node) *flow.Func {
	name := handlerName(n)
	if name == "" {
		return nil
	}
	for _, fn := range u.Funcs {
		if fn.Name == name {
			return fn
		}
	}
	return nil
}

var goVerb = map[string]string{"HandleFunc": "", "Handle": "", "GET": "GET", "POST": "POST", "PUT": "PUT", "DELETE": "DELETE", "PATCH": "PATCH",
	"Get": "GET", "Post": "POST", "Put": "PUT", "Delete": "DELETE", "Patch": "PATCH", "Any": "", "Method": ""}

var goRouter = regexp.MustCompile(`(?i)^(http|mux|r|router|e|app|g|api|s|srv|server|group|v1|v2|admin|auth|\w*mux|\w*router|\w*group|\w*routes|s\.\w+|srv\.\w+|a\.\w+|app\.\w+)$`)

// goEndpoints finds registrations of handlers: net/http, gorilla, chi, gin, echo.
func (a *application) goEndpoints(u *flow.Unit, g *guards) []*endpoint {
	var out []*endpoint
	used := map[string]bool{}
	lang.Walk(u.File.Root, func(n *lang.Node) bool {
		if n.Kind != lang.Call || n.X == nil || len(n.List) == 0 {
			return true
		}
		recv := lang.Dotted(n.X)
		if (n.Name == "Use" || n.Name == "With") && g.byLang[lang.Go].MatchString(argsText(u, n.List)) {
			used[recv] = true
			return true
		}
		m, ok := goVerb[n.Name]
		root, _, _ := strings.Cut(recv, ".With(")
		if !ok || len(n.List) < 2 || !goRouter.MatchString(root) || n.List[0].Kind != lang.String && n.List[0].Kind != lang.Binary {
			return true
		}
		path := n.List[0].Name
		if verb, rest, ok := strings.Cut(path, " "); ok {
			m, path = verb, rest
		}
		last := n.List[len(n.List)-1]
		e := &endpoint{fn: &flow.Func{Unit: u, Node: n}, node: last, at: n, path: path, methods: m, group: u.File.Path + "#" + recv}
		e.name = handlerName(last)
		e.text = argsText(u, n.List[1:])
		e.guarded = used[recv] || strings.Contains(recv, "With()") && g.byLang[lang.Go].MatchString(u.File.Text(n.X))
		if fn := a.goHandler(u, last); fn != nil {
			e.text += fn.Unit.File.Text(fn.Node)
			e.fn, e.node, e.at, e.name = fn, fn.Node, fn.Node, fn.Name
		}
		out = append(out, e)
		return true
	})
	return out
}

// goHandler finds the function that a registration names, in the same package.
func (a *application) goHandler(u *flow.Unit, n *lang.Node) *flow.Func {
	for n != nil && n.Kind == lang.Call && len(n.List) > 0 { // auth(handler)
		n = n.List[len(n.List)-1]
	}
	name := ""
	if n != nil && (n.Kind == lang.Ident || n.Kind == lang.Member) {
		name = n.Name
	}
	if name == "" {
		return nil
	}
	for _, v := range a.project.Units {
		if v.File.Lang != lang.Go {
			continue
		}
		for _, fn := range v.Funcs {
			if fn.Name == name && len(fn.Node.List) > 0 && (v.File.Package == u.File.Package || n.Kind == lang.Member) {
				return fn
			}
		}
	}
	return nil
}

// phpEndpoints finds scripts that a web server runs, and methods of controllers.
func phpEndpoints(u *flow.Unit) []*endpoint {
	var out []*endpoint
	for _, fn := range u.Funcs {
		if fn.Class == nil || fn.Class.Node == nil || !strings.HasSuffix(fn.Class.Name, "Controller") || fn.Name == "" || strings.HasPrefix(fn.Name, "_") {
			continue
		}
		if strings.Contains(fn.Node.Op, "private") || strings.Contains(fn.Node.Op, "protected") {
			continue
		}
		e := &endpoint{fn: fn, node: fn.Node, at: fn.Node, name: fn.Name, path: fn.Class.Name, group: u.File.Path + "#" + fn.Class.Name}
		for _, n := range fn.Node.Notes {
			e.text += "#[" + u.File.Text(n) + "\n"
		}
		for _, m := range fn.Class.Methods["__construct"] {
			e.text += u.File.Text(m.Node) + "\n"
		}
		e.text += u.File.Text(fn.Node)
		out = append(out, e)
	}
	if len(out) > 0 || len(u.Classes) > 0 {
		return out
	}
	top := u.Funcs[0]
	src := string(u.File.Src)
	if !strings.Contains(src, "$_GET") && !strings.Contains(src, "$_POST") && !strings.Contains(src, "$_REQUEST") {
		return nil
	}
	e := &endpoint{fn: top, node: top.Node, at: &lang.Node{Start: 1, End: min(top.Node.End, 5)}, path: "/" + u.File.Path, text: src, group: dirOf(u.File.Path)}
	if strings.Contains(src, "$_POST") {
		e.methods = "POST"
	}
	return []*endpoint{e}
}

func dirOf(p string) string { return p[:strings.LastIndexByte(p, '/')+1] }
