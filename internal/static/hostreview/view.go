package hostreview

import (
	"regexp"
	"strings"

	"assay/internal/static/lang"
)

// A view is a fragment with what the rules ask about.
type view struct {
	b       *brief
	f       *lang.File
	calls   []*lang.Node            // in source order
	values  map[string][]*lang.Node // what each variable is given, in order
	plus    map[string][]*lang.Node // what is added to it
	names   []string                // of the fragment's functions and routes
	sql     []statement
	text    string // without comments
	bare    string // without comments and string contents
	literal map[string]bool
	field   map[string]string                // what a variable was taken out of an object as
	parts   map[string]map[string]*lang.Node // what was put into a map under a name
	types   map[string]string                // of the parameters of the fragment's functions
	held    provenance
	public  int // memo of publicPath: 1 or -1
}

func newView(b *brief, f *lang.File) *view {
	v := &view{b: b, f: f, values: map[string][]*lang.Node{}, plus: map[string][]*lang.Node{}, literal: map[string]bool{}, field: map[string]string{}, parts: map[string]map[string]*lang.Node{}, types: map[string]string{}, held: provenance{map[string]bool{}, map[string]bool{}, map[string]bool{}}}
	v.text = WithoutComments(f.Path, string(f.Src))
	bare := []byte(string(f.Src))
	blank := func(n *lang.Node) {
		for i := n.Off + 1; i < n.To-1 && int(i) < len(bare); i++ {
			if bare[i] != '\n' {
				bare[i] = ' '
			}
		}
	}
	lang.Walk(f.Root, func(n *lang.Node) bool {
		switch n.Kind {
		case lang.Call:
			v.calls = append(v.calls, n)
		case lang.Func:
			if n.Name != "" && n.Name != "fragment" {
				v.names = append(v.names, n.Name)
			}
		case lang.String:
			v.literal[n.Name] = true
			blank(n)
		case lang.Assign:
			v.assign(n)
		}
		return true
	})
	for _, c := range v.calls { // app.post('/x/confirm', ...)
		if len(c.List) > 1 && c.List[0].Kind == lang.String && strings.HasPrefix(c.List[0].Name, "/") {
			v.names = append(v.names, c.List[0].Name)
		}
	}
	v.bare = WithoutComments(f.Path, string(bare))
	v.pass()
	v.sql = v.findSQL()
	return v
}

func (v *view) assign(n *lang.Node) {
	if n.X == nil || n.Y == nil {
		return
	}
	set := func(name string, y *lang.Node) {
		if n.Op == "+=" || n.Op == ".=" {
			v.plus[name] = append(v.plus[name], y)
			return
		}
		v.values[name] = append(v.values[name], y)
	}
	switch n.X.Kind {
	case lang.Ident:
		set(n.X.Name, n.Y)
	case lang.Member:
		set(lang.Dotted(n.X), n.Y)
	case lang.Index:
		if n.X.Y != nil && n.X.Y.Kind == lang.String {
			v.put(base(n.X), n.X.Y.Name, n.Y)
		}
	case lang.Array: // a, b = x, y
		for i, t := range n.X.List {
			if t.Kind != lang.Ident {
				continue
			}
			y := n.Y
			if n.Y.Kind == lang.Array && len(n.Y.List) == len(n.X.List) {
				y = n.Y.List[i]
			}
			set(t.Name, y)
		}
	case lang.Dict: // const { rows } = ...
		for _, p := range n.X.List {
			if p.Kind != lang.Pair || p.Y == nil {
				continue
			}
			if p.Y.Kind == lang.Ident {
				set(p.Y.Name, n.Y)
				v.field[p.Y.Name] = p.Name
			}
			for _, t := range p.Y.List { // const { rows: [first] } = ...
				if p.Y.Kind == lang.Array && t.Kind == lang.Ident {
					set(t.Name, n.Y)
				}
			}
		}
	}
}

// call finds a call of a name, "" receivers and others alike.
func (v *view) call(name string) *lang.Node {
	for _, c := range v.calls {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// says: a text of the fragment's names or of the states that it sets is of one of
// the roots.
func (v *view) says(acts []string) bool {
	for _, a := range acts {
		for _, n := range v.names {
			for _, w := range roots(n) {
				if meet(a, w) {
					return true
				}
			}
		}
		for _, s := range v.sql {
			for _, m := range setStateRE.FindAllStringSubmatch(setRE.FindString(s.text), -1) {
				if meet(a, root(m[1])) {
					return true
				}
			}
		}
	}
	return false
}

var (
	setStateRE = regexp.MustCompile(`(?is)\bset\b.*?=\s*'([a-z_]+)'`)
	writeRE    = regexp.MustCompile(`(?i)^\s*(with\b[\s\S]*\b)?(insert\s+into|update\s|delete\s+from|merge\s+into)`)
	editRE     = regexp.MustCompile(`(?i)^\s*(with\b[\s\S]*\b)?(update\s|delete\s+from|merge\s+into)`)
	changeName = regexp.MustCompile(`(?i)^(save|update|delete|remove|insert|create|destroy|set|put|store|write|append|patch)`)
)

// change gives the first call that changes something, nil for none.
func (v *view) change() *lang.Node {
	return v.changes(writeRE)
}

func (v *view) changes(re *regexp.Regexp) *lang.Node {
	for _, s := range v.sql {
		if re.MatchString(s.text) {
			return s.call
		}
	}
	for _, c := range v.calls {
		if h := v.b.helpers[c.Name]; h != nil && !h.gate && changeName.MatchString(c.Name) && !responseRE.MatchString(c.Name) {
			return c
		}
		if c.X != nil && (c.Name == "save" || c.Name == "destroy" || c.Name == "commit" && c.X.Name == "session") {
			return c
		}
	}
	return nil
}

// loads gives the first call of a helper that brings one thing by its identifier.
func (v *view) loads() *lang.Node {
	for _, c := range v.calls {
		if h := v.b.helpers[c.Name]; h != nil && h.load && !h.gate {
			return c
		}
	}
	return nil
}

var outwardRE = regexp.MustCompile(`(?i)url|http|remote|page`)

var loadRE = regexp.MustCompile(`(?i)^(load|find|get|fetch|read|lookup|by)|(ById|ByID|_by_id)$`)

// one: a statement or helper takes one thing, of those that a text names, by an
// identifier of the request.
func (v *view) one(text string) bool {
	if l := v.loads(); l != nil && !v.b.helpers[l.Name].scoped() {
		return true
	}
	var about []string
	for t := range v.b.tables {
		for _, w := range roots(text) {
			if all := roots(t); len(all) > 0 && meet(w, all[len(all)-1]) {
				about = append(about, t)
				break
			}
		}
	}
	for _, s := range v.sql {
		if !oneRE.MatchString(s.text) {
			continue
		}
		if len(about) == 0 {
			return true
		}
		for _, m := range byRE.FindAllStringSubmatch(s.text, -1) {
			for _, w := range roots(text) {
				if meet(w, root(m[1])) {
					return true
				}
			}
		}
		for _, t := range about {
			if expr(`(?i)\b` + t + `\b`).MatchString(s.text) {
				return true
			}
		}
	}
	return false
}

var byRE = regexp.MustCompile(`(?i)\b([a-z]+)_id\s*=\s*:arg`)

var oneRE = regexp.MustCompile(`(?i)\bwhere\b[\s\S]*?\b(\w+\.)?(id|\w+_id|uuid)\s*=\s*:arg`)

// responses gives the calls and returns whose arguments leave the fragment.
func (v *view) responses() []*lang.Node {
	var out []*lang.Node
	lang.Walk(v.f.Root, func(n *lang.Node) bool {
		switch {
		case n.Kind == lang.Call && responseRE.MatchString(n.Name):
			out = append(out, n)
		case n.Kind == lang.Return && n.X != nil && n.X.Kind != lang.Call:
			out = append(out, n.X)
		}
		return true
	})
	return out
}

var responseRE = regexp.MustCompile(`^(json|send|end|jsonify|json_response|JsonResponse|JSONResponse|Response|HttpResponse|make_response|render|writeJSON|WriteJSON|respondJSON|respond|reply|Encode|JSON|ok|Ok|body|success|json_encode|toJson|sendJson|write_json)$`)

// resolve gives what a variable was last given, or the node itself.
func (v *view) resolve(n *lang.Node) *lang.Node {
	for range 4 {
		if n == nil || n.Kind != lang.Ident {
			return n
		}
		vs := v.values[n.Name]
		if len(vs) == 0 || vs[len(vs)-1] == n {
			return n
		}
		n = vs[len(vs)-1]
	}
	return n
}
