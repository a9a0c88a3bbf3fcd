package hostreview

import (
	"regexp"
	"slices"
	"strings"

	"assay/internal/static/lang"
)

// A provenance says which values the code has looked at before: variables that hold a
// row which a statement or helper found for who asks, and identifiers that were part
// of such a look.
type provenance struct {
	rows  map[string]bool
	texts map[string]bool
	found map[string]bool // hold a row of a statement that did not ask who acts
}

var (
	asksRE    = regexp.MustCompile(`(?i)\bcaller|\b(may|can|is allowed to) (see|read|open|access|use)|\btheir own|\bown\b|of (the|their) (same )?(session|account|user|caller|organi[sz]ation|tenant|team|school|company)|unless (it|they|the)`)
	lockDoc   = regexp.MustCompile(`(?i)\block(s|ed|ing)?\b|for update`)
	uncheckRE = regexp.MustCompile(`(?i)no checks?|without (any )?check|does not (check|look)|whoever|by id only`)
)

// scoped: the SPEC says that the helper brings a thing only to who may have it.
func (h *helper) scoped() bool {
	return h.load && asksRE.MatchString(h.doc) && !uncheckRE.MatchString(h.doc)
}

// learn notes what a call of a helper or a statement has looked at.
func (v *view) learn(c *lang.Node, s *statement) {
	if s == nil {
		h := v.b.helpers[c.Name]
		if h == nil || !h.gate && !h.scoped() {
			return
		}
		for _, a := range c.List {
			if asker(base(a)) && (a.Kind != lang.Member || !outsideRE.MatchString(v.f.Text(a))) {
				continue
			}
			if idRE.MatchString(lastName(a)) || a.Kind == lang.Ident || a.Kind == lang.Member || a.Kind == lang.Call {
				v.held.texts[v.f.Text(a)] = true
			}
		}
		v.bring(c)
		return
	}
	if !strings.Contains(s.text, ":session_") && !strings.Contains(s.text, ":seen_") && !uniqueRE.MatchString(s.text) {
		v.found(c, s)
		return
	}
	for _, a := range s.args {
		if a.Kind == lang.Pair {
			a = a.Y
		}
		if a != nil && a.Kind != lang.String && a.Kind != lang.Lit {
			v.held.texts[v.f.Text(a)] = true
		}
	}
	v.bring(c)
}

// found notes the variables that hold rows of a statement which did not ask who acts.
func (v *view) found(c *lang.Node, s *statement) {
	for place, a := range s.by {
		if expr(`(?i)\bid\s*=\s*` + place + `\b`).MatchString(s.text) {
			v.held.found[v.f.Text(a)] = true
		}
	}
	before := v.held.rows
	v.held.rows = map[string]bool{}
	v.bring(c)
	for name := range v.held.rows {
		if !before[name] {
			v.held.found[name] = true
		}
	}
	v.held.rows = before
}

// bring notes the variables that hold what a call gave, and those taken from them.
func (v *view) bring(c *lang.Node) {
	for name, ys := range v.values {
		for _, y := range ys {
			if holds(y, c) || v.fetched(y, c) {
				v.held.rows[name] = true
			}
		}
	}
	for _, s := range v.calls { // QueryRow(...).Scan(&id)
		if s.Name != "Scan" || s.X == nil || !holds(s.X, c) && !v.held.rows[base(s.X)] {
			continue
		}
		for _, a := range s.List {
			if n := base(a); n != "" {
				v.held.rows[n] = true
			}
		}
	}
	for range 3 {
		for name, ys := range v.values {
			for _, y := range ys {
				if n := base(y); n != "" && n != name && v.held.rows[n] {
					v.held.rows[name] = true
				}
			}
		}
	}
}

// fetched: y takes the rows of what was last executed on its cursor, and that was c.
func (v *view) fetched(y, c *lang.Node) bool {
	cur := base(c.X)
	if cur == "" || c.Name != "execute" {
		return false
	}
	some := false
	lang.Walk(y, func(n *lang.Node) bool {
		if n.Kind == lang.Call && strings.HasPrefix(n.Name, "fetch") && base(n.X) == cur && n.Off > c.Off {
			some = true
			for _, x := range v.calls {
				some = some && !(x.Name == "execute" && base(x.X) == cur && x.Off > c.Off && x.Off < n.Off)
			}
		}
		return !some
	})
	return some
}

// asker: a variable of that name is who asks, or the request, and no thing.
func asker(name string) bool {
	m := askerRE.FindString(name)
	return m != "" && m == name || name == "tx" || name == "conn" || name == "db"
}

// holds: c is a part of y, and not of a function inside of it.
func holds(y, c *lang.Node) bool {
	if y == nil || c.Off < y.Off || c.To > y.To {
		return false
	}
	in := true
	lang.Walk(y, func(n *lang.Node) bool {
		if n.Kind == lang.Func && n.Off <= c.Off && n.To >= c.To {
			in = false
		}
		return in
	})
	return in
}

// base gives the variable that an access path begins with.
func base(n *lang.Node) string {
	for n != nil {
		switch n.Kind {
		case lang.Ident:
			return n.Name
		case lang.Member, lang.Index, lang.Unary:
			n = n.X
		default:
			return ""
		}
	}
	return ""
}

// seen: the value was looked at before, or is part of a row that was.
func (v *view) seen(arg *lang.Node) bool {
	if v.held.rows[base(arg)] || v.held.texts[v.f.Text(arg)] {
		return true
	}
	return v.checked(base(arg))
}

// bound gives the values of a list of parameters: in place, or in a variable that
// more was added to.
func (v *view) bound(args []*lang.Node) []*lang.Node {
	args = flat(args)
	if len(args) == 1 && args[0].Kind == lang.Spread && args[0].X != nil {
		args = []*lang.Node{args[0].X}
	}
	if len(args) != 1 || args[0].Kind != lang.Ident {
		return args
	}
	name := args[0].Name
	var out []*lang.Node
	known := false
	for _, y := range append(slices.Clone(v.values[name]), v.plus[name]...) {
		switch {
		case y.Kind == lang.Array || y.Kind == lang.Dict:
			out, known = append(out, y.List...), true
		case y.Kind == lang.Call && y.Name == "append" && len(y.List) > 1 && base(y.List[0]) == name:
			out, known = append(out, y.List[1:]...), true
		}
	}
	for _, c := range v.calls {
		if known && (c.Name == "push" || c.Name == "append") && c.X != nil && base(c.X) == name {
			out = append(out, c.List...)
		}
	}
	if !known {
		return args
	}
	slices.SortStableFunc(out, func(a, b *lang.Node) int { return int(a.Off - b.Off) })
	return out
}

// uniqueRE: the statement finds its row by something that only its holder knows.
var uniqueRE = regexp.MustCompile(`(?i)\b\w*(token|secret|digest|nonce|_hash|hashed|api_key|signature|session_key)\w*\s*=\s*:`)

var (
	publicRE = regexp.MustCompile(`(?i)(//|#|/\*)[^\n]*\b(public|anonymous|no (session|login|authentication)|unauthenticated|not signed in)\b`)
	openName = regexp.MustCompile(`(?i)log_?in\b|hook\b|sign_?(in|up)|register|reset|forgot|verify|webhook|callback|incoming|public|health`)
)

// nobody: who asks is not known here: a public route, or one that signs people in.
func (v *view) nobody() bool {
	return publicRE.Match(v.f.Src) || v.publicPath() || openName.MatchString(strings.Join(v.names, " ")) && !strings.Contains(v.allSQL(), ":session_")
}

var openPart = regexp.MustCompile(`(?i)\bpublic\b|no (login|session)|without (a )?(login|session)`)

// publicPath: the SPEC says that what is below a path is public, and the fragment's
// route is.
func (v *view) publicPath() bool {
	if v.public == 0 {
		v.public = -1
		if v.belowPublic() {
			v.public = 1
		}
	}
	return v.public > 0
}

func (v *view) belowPublic() bool {
	for _, part := range strings.Split(v.b.prose(), "\n") {
		if !openPart.MatchString(part) {
			continue
		}
		for _, m := range spanRE.FindAllStringSubmatch(part, -1) {
			if p := m[1]; strings.HasPrefix(p, "/") && len(p) > 1 {
				for _, n := range v.names {
					if strings.HasPrefix(n, strings.TrimRight(p, "*")) {
						return true
					}
				}
			}
		}
	}
	return false
}

func (v *view) allSQL() string {
	var b strings.Builder
	for _, s := range v.sql {
		b.WriteString(s.text)
		b.WriteByte('\n')
	}
	return b.String()
}
