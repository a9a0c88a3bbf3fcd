package static

import (
	"regexp"
	"strings"

	"assay/internal/static/flow"
	"assay/internal/static/lang"
)

var (
	phpGuards = regexp.MustCompile(`(?i)['"\[,\s](auth|can|role|permission|admin|verified|jwt|sanctum|password\.confirm|ability|abilities)\b`)
	phpRoles  = regexp.MustCompile(`(?i)['"](can|role|permission|admin|ability|abilities)\b`)
)

// laravelRoutes tells controllers what guards the routes that lead to them, when
// the project's routes are written in code.
func laravelRoutes(units []*flow.Unit, es []*endpoint) {
	type key struct{ class, method string }
	at := map[key]*endpoint{}
	for _, e := range es {
		if e.fn.Unit.File.Lang == lang.PHP && e.fn.Class != nil {
			at[key{e.fn.Class.Name, e.name}] = e
		}
	}
	if len(at) == 0 {
		return
	}
	for _, u := range units {
		if u.File.Lang != lang.PHP || !strings.Contains(string(u.File.Src), "Route::") {
			continue
		}
		var visit func(n *lang.Node, around string)
		visit = func(n *lang.Node, around string) {
			if n == nil {
				return
			}
			if n.Kind != lang.Call {
				children(n, func(k *lang.Node) { visit(k, around) })
				return
			}
			inner := around
			switch n.Name {
			case "group":
				inner += u.File.Text(n.X)
				for _, a := range n.List {
					if a.Kind != lang.Func {
						inner += u.File.Text(a)
					}
				}
			case "middleware", "can", "prefix", "withoutMiddleware":
				text := u.File.Text(n)
				if i := strings.LastIndex(text, n.Name); i >= 0 {
					inner += text[i:]
				}
			case "get", "post", "put", "patch", "delete", "any", "match":
				if n.X != nil && strings.HasPrefix(u.File.Text(n.X), "Route") && len(n.List) > 1 {
					class, method := phpAction(u, n.List[len(n.List)-1])
					if e := at[key{class, method}]; e != nil {
						text := around + u.File.Text(n.X)
						e.guarded = e.guarded || phpGuards.MatchString(text)
						e.role = e.role || phpRoles.MatchString(text)
						e.path += " /" + strings.TrimPrefix(firstString(n), "/")
						e.text += text + "\n"
						e.methods += strings.ToUpper(n.Name) + " "
					}
				}
			}
			visit(n.X, inner)
			for _, a := range n.List {
				visit(a, inner)
			}
		}
		visit(u.File.Root, "")
	}
}

// phpAction reads [Controller::class, 'method'] and 'Controller@method'.
func phpAction(u *flow.Unit, n *lang.Node) (class, method string) {
	if m := actionText.FindStringSubmatch(u.File.Text(n)); m != nil {
		return m[1], m[2]
	}
	return "", ""
}

var actionText = regexp.MustCompile(`(\w+)(?:::class\s*,\s*['"]|@)(\w+)`)

// children calls f for the nodes right below n.
func children(n *lang.Node, f func(*lang.Node)) {
	for _, k := range []*lang.Node{n.X, n.Y, n.Z, n.Body} {
		if k != nil {
			f(k)
		}
	}
	for _, k := range n.List {
		f(k)
	}
}

var (
	fastRouter  = regexp.MustCompile(`(?m)^\s*(\w+)\s*=\s*(?:\w+\.)?(?:APIRouter|FastAPI|Blueprint)\(([^\n]*(?:\n[^\n)]*){0,6}?)\)\s*$`)
	fastInclude = regexp.MustCompile(`include_router\(\s*(?:(\w+)\.)?(\w+)\s*,([^\n]*(?:\n[^\n)]*){0,4}?)\)`)
	fastGuard   = regexp.MustCompile(`dependencies\s*=\s*\[[^\]]*(Depends|Security)\(`)
	fastPrefix  = regexp.MustCompile(`prefix\s*=\s*['"]([^'"]+)`)
	dependsOn   = regexp.MustCompile(`(?m)^(\w+)\s*=\s*Annotated\[[^\n]*(Depends|Security)\(\s*(?:\w+\.)?(\w+)`)
	dependable  = regexp.MustCompile(`(?i)current|auth|require|verify|check|admin|user|login|principal|identity|role|staff|agent|member|customer|permission|token|signed`)
)

// fastRouters tells endpoints of FastAPI what their router asks for, and what a
// named type of a parameter does.
func fastRouters(units []*flow.Unit, es []*endpoint) {
	aliases := map[string]bool{}
	included := map[string]string{} // "module.router" -> arguments
	for _, u := range units {
		if u.File.Lang != lang.Python {
			continue
		}
		src := string(u.File.Src)
		if strings.Contains(src, "Annotated[") {
			for _, m := range dependsOn.FindAllStringSubmatch(src, -1) {
				if dependable.MatchString(m[3]) {
					aliases[m[1]] = true
				}
			}
		}
		if strings.Contains(src, "include_router") {
			for _, m := range fastInclude.FindAllStringSubmatch(src, -1) {
				included[m[1]+"."+m[2]] = m[3]
			}
		}
	}
	routers := map[*flow.Unit]map[string]string{}
	for _, e := range es {
		u := e.fn.Unit
		if u.File.Lang != lang.Python || e.node == nil {
			continue
		}
		name := routerOf(e.node)
		if name == "" {
			continue
		}
		if routers[u] == nil {
			routers[u] = map[string]string{}
			for _, m := range fastRouter.FindAllStringSubmatch(string(u.File.Src), -1) {
				routers[u][m[1]] = m[2]
			}
		}
		module := strings.TrimSuffix(u.File.Path[strings.LastIndexByte(u.File.Path, '/')+1:], ".py")
		args := routers[u][name] + included[module+"."+name] + included["."+name]
		if m := fastPrefix.FindStringSubmatch(args); m != nil {
			e.path = m[1] + e.path
		}
		e.group = u.File.Path + "#" + name
		e.guarded = e.guarded || fastGuard.MatchString(args) && dependable.MatchString(args)
		for _, p := range e.node.List {
			if aliases[p.Type] {
				e.guarded = true
			}
		}
	}
}

// routerOf is the name of the router in a handler's decorator.
func routerOf(fn *lang.Node) string {
	for _, n := range fn.Notes {
		if n.X != nil && n.X.Kind == lang.Ident && pyRoute.MatchString("."+n.Name) {
			return n.X.Name
		}
	}
	return ""
}
