package hostreview

import (
	"strings"

	"assay/internal/static/lang"
)

// put notes what a map holds under a name.
func (v *view) put(name, key string, y *lang.Node) {
	if name == "" || key == "" {
		return
	}
	if v.parts[name] == nil {
		v.parts[name] = map[string]*lang.Node{}
	}
	v.parts[name][key] = y
}

// pass gives the parameters of the fragment's own functions what they are called with,
// and notes what maps are filled with.
func (v *view) pass() {
	params := map[string][]*lang.Node{}
	lang.Walk(v.f.Root, func(n *lang.Node) bool {
		switch n.Kind {
		case lang.Func:
			if n.Name != "" {
				params[n.Name] = n.List
			}
		case lang.Param:
			if n.Name != "" && n.Type != "" {
				v.types[n.Name] = n.Type
			}
		case lang.Assign:
			if n.X != nil && n.X.Kind == lang.Ident && n.Y != nil && n.Y.Kind == lang.Dict {
				for _, p := range n.Y.List {
					if p.Kind == lang.Pair {
						v.put(n.X.Name, p.Name, p.Y)
					}
				}
			}
		}
		return true
	})
	for _, c := range v.calls {
		if c.Name == "update" && c.X != nil && c.X.Kind == lang.Ident {
			for _, a := range c.List {
				if a.Kind == lang.Pair {
					v.put(c.X.Name, a.Name, a.Y)
				}
			}
		}
		ps, known := params[c.Name]
		if !known || c.X != nil && len(lang.Dotted(c.X)) > 4 {
			continue
		}
		for i, p := range ps {
			if i < len(c.List) && p.Kind == lang.Param && p.Name != "" && base(c.List[i]) != p.Name {
				v.values[p.Name] = append(v.values[p.Name], c.List[i])
			}
		}
	}
}

// joined gives the text of a list of strings that is joined into one: what it begins
// with and everything that is added to it on some path.
func (v *view) joined(c *lang.Node, depth int) (string, bool) {
	var sep, list *lang.Node
	switch {
	case c.Name != "join" && c.Name != "Join" || c.X == nil:
		return "", false
	case c.X.Kind == lang.String && len(c.List) == 1: // " AND ".join(where)
		sep, list = c.X, c.List[0]
	case c.Name == "Join" && len(c.List) == 2: // strings.Join(where, " AND ")
		list, sep = c.List[0], c.List[1]
	case len(c.List) == 1: // where.join(' AND ')
		list, sep = c.X, c.List[0]
	}
	if sep == nil || sep.Kind != lang.String || list == nil {
		return "", false
	}
	items := v.bound([]*lang.Node{list})
	if len(items) == 1 && items[0] == list {
		return "", false
	}
	var out []string
	for _, x := range items {
		t := v.sqlText(x, depth+1)
		if t == "" {
			t = "${" + wordsOf(v.f.Text(x)) + "}"
		}
		out = append(out, t)
	}
	return strings.Join(out, sep.Name), true
}
