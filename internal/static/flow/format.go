package flow

import (
	"regexp"
	"strings"

	"assay/internal/static/lang"
)

// chainRoot gives the variable at the start of sb.append(a).append(b).
func chainRoot(n *lang.Node) string {
	x := n.X
	for d := 0; x != nil && d < 200; d++ {
		if x.Kind == lang.Call && x.X != nil {
			x = x.X
			continue
		}
		return key(x)
	}
	return ""
}

func (f *frame) formatCall(ci *callInfo) (value, bool) {
	args, text := ci.args, ci.recv
	if ci.n.X == nil || ci.name != "format" && ci.name != "formatted" || ci.recv.text == "" {
		if len(args) == 0 {
			return value{}, false
		}
		if f.u.File.Lang == lang.Java && len(args) > 1 && args[0].text == "" { // a locale
			args = args[1:]
		}
		text, args = args[0], args[1:]
	}
	var from []origin
	for _, a := range args {
		from = union(from, a.from)
	}
	if f.u.File.Lang == lang.Python || f.u.File.Lang == lang.JS {
		return fillBraces(text, args, from), true
	}
	return fill(text, args, from), true
}

// fillBraces puts arguments into a text with {}.
func fillBraces(x value, args []value, from []origin) value {
	v := value{from: union(x.from, from), typ: "String"}
	var b strings.Builder
	t, i := x.text, 0
	for {
		p := strings.IndexByte(t, '{')
		e := strings.IndexByte(t, '}')
		if p < 0 || e < p {
			break
		}
		b.WriteString(t[:p])
		switch name := t[p+1 : e]; {
		case name == "" && i < len(args):
			b.WriteString(args[i].piece())
		case len(from) > 0:
			b.WriteString(bad)
		default:
			b.WriteString(hole)
		}
		i++
		t = t[e+1:]
	}
	b.WriteString(t)
	v.text = cut(b.String())
	return v
}

// format fills Python's "..." % args.
func (f *frame) format(x value, node *lang.Node, y value) value {
	args := []value{y}
	if node != nil && node.Kind == lang.Array {
		args = args[:0]
		for _, k := range node.List {
			args = append(args, f.eval(k))
		}
	}
	return fill(x, args, y.from)
}

// verbs are the places of a printf-like text that take arguments.
var verbs = regexp.MustCompile(`%(%|[-+ #0-9.,*$]*(\([^)]*\))?[-+ #0-9.]*l*[a-zA-Z])`)

// shown are the origins of the arguments that a printf-like text takes as text: a
// number shows none of the data. Texts that name or number their arguments show all.
func shown(text string, args []value, all []origin) []origin {
	places := verbs.FindAllString(text, -1)
	n := 0
	for _, p := range places {
		if p != "%%" {
			n++
		}
		if strings.ContainsAny(p, "($*") {
			return all
		}
	}
	if n != len(args) {
		return all
	}
	var out []origin
	i := 0
	for _, p := range places {
		if p == "%%" {
			continue
		}
		switch p[len(p)-1] {
		case 'd', 'f', 'i', 'u', 'e', 'g', 't', 'b', 'o':
		default:
			out = union(out, args[i].from)
		}
		i++
	}
	return out
}

// fill puts arguments into a printf-like text, in order.
func fill(x value, args []value, from []origin) value {
	v := value{from: union(x.from, from), typ: "String"}
	if len(args) > 1 || x.text != "" && strings.Count(x.text, "%") == 1 {
		v.from = union(x.from, shown(x.text, args, from))
	}
	var b strings.Builder
	t, i := x.text, 0
	for len(t) > 0 {
		p := strings.IndexByte(t, '%')
		if p < 0 || p+1 >= len(t) {
			break
		}
		b.WriteString(t[:p])
		t = t[p+1:]
		if t[0] == '%' {
			b.WriteByte('%')
			t = t[1:]
			continue
		}
		named := t[0] == '('
		if named {
			if e := strings.IndexByte(t, ')'); e > 0 {
				t = t[e+1:]
			}
		}
		e := strings.IndexFunc(t, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
		if e < 0 {
			break
		}
		verb := t[e]
		t = t[e+1:]
		switch {
		case verb == 'd' || verb == 'f' || verb == 'x' && len(args) <= i:
			b.WriteString(hole)
		case named && len(v.from) > 0:
			b.WriteString(bad)
		case i < len(args):
			b.WriteString(args[i].piece())
		default:
			b.WriteString(hole)
		}
		i++
	}
	b.WriteString(t)
	v.text = cut(b.String())
	return v
}
