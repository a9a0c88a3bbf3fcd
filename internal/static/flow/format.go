package flow

import (
	"regexp"
	"slices"
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
	i := 0
	text := braces.ReplaceAllStringFunc(x.text, func(p string) string {
		i++
		switch {
		case p == "{}" && i <= len(args):
			return args[i-1].piece()
		case len(from) > 0:
			return bad
		}
		return hole
	})
	return value{from: union(x.from, from), typ: "String", text: cut(text)}
}

var braces = regexp.MustCompile(`\{[^{}]*\}`)

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

// fill puts arguments into a printf-like text, in order: a number shows none of the
// data. Texts that name or number their arguments show all of it, at each place.
func fill(x value, args []value, from []origin) value {
	v := value{from: x.from, typ: "String"}
	places := slices.DeleteFunc(verbs.FindAllString(x.text, -1), func(p string) bool { return p == "%%" })
	plain := len(args) == len(places)
	plain = plain && !slices.ContainsFunc(places, func(p string) bool { return strings.ContainsAny(p, "($*") })
	if !plain {
		v.from = union(x.from, from)
	}
	i := 0
	v.text = cut(verbs.ReplaceAllStringFunc(x.text, func(p string) string {
		if p == "%%" {
			return "%"
		}
		i++
		number := strings.ContainsRune("dfiuegtbo", rune(p[len(p)-1]))
		switch {
		case number:
			return hole
		case plain:
			v.from = union(v.from, args[i-1].from)
			return args[i-1].piece()
		case strings.Contains(p, "(") && len(from) > 0:
			return bad
		case i <= len(args):
			return args[i-1].piece()
		}
		return hole
	}))
	return v
}
