package flow

import (
	"fmt"
	"strings"

	"assay/internal/static/lang"
)

func (f *frame) assignment(n *lang.Node) value {
	v := f.eval(n.Y)
	if n.Op != "=" && n.Op != "" { // +=, .=
		old := f.eval(n.X)
		v = value{from: union(old.from, v.from), typ: old.typ, text: cut(old.piece() + v.piece())}
		if n.Op != "+=" && n.Op != ".=" && n.Op != "||=" && n.Op != "??=" {
			v.text = ""
		}
	}
	if n.Type != "" && n.Type != "var" && n.Type != "val" {
		v.typ = simple(n.Type)
		if plainType(n.Type) {
			v.from = nil
		}
	}
	if n.X != nil {
		v = v.via(f.file(), n.Start, "held in "+short(lang.Dotted(n.X)))
		f.s.matchAssign(f, n, v)
		f.assign(n.X, v, n.Y)
	}
	return v
}

func short(s string) string {
	if s == "" {
		return "a variable"
	}
	if r := []rune(s); len(r) > 40 {
		return string(r[:40])
	}
	return s
}

// assign binds a target: a variable, a member, an element, or a pattern.
func (f *frame) assign(target *lang.Node, v value, from *lang.Node) {
	if target == nil {
		return
	}
	switch target.Kind {
	case lang.Ident:
		if target.Name == "err" && f.u.File.Lang == lang.Go {
			v = value{typ: "error"}
		}
		f.env.forget(target.Name)
		f.env[target.Name] = v
	case lang.Member:
		if k := key(target); k != "" {
			f.give(k, v)
		}
	case lang.Index:
		f.eval(target.Y)
		if k := key(target); k != "" {
			f.give(k, v)
		} else if k := key(target.X); k != "" && v.tainted() {
			old := f.eval(target.X)
			old.from = union(old.from, in(v.from, element))
			f.env[k] = old
		}
	case lang.Array:
		f.spread(target, v, from)
	case lang.Dict:
		for _, k := range target.List {
			f.take(k, v, from)
		}
	case lang.Cond: // a default
		f.assign(target.Y, v, from)
	case lang.Spread:
		f.assign(target.X, v, from)
	}
}

func (f *frame) spread(target *lang.Node, v value, from *lang.Node) {
	if from != nil && from.Kind == lang.Array && len(from.List) == len(target.List) {
		vals := make([]value, len(from.List))
		for i, k := range from.List {
			vals[i] = f.eval(k)
		}
		for i, k := range target.List {
			f.assign(k, vals[i], from.List[i])
		}
		return
	}
	for i, k := range target.List {
		item := v
		switch {
		case f.u.File.Lang == lang.Go && i > 0 && (k.Name == "err" || k.Name == "ok"):
			item = value{}
		case f.u.File.Lang == lang.Go && i == 0 && len(target.List) == 2 && (target.List[1].Name == "err" || target.List[1].Name == "ok" || target.List[1].Name == "_"):
			item.from = firstResult(v.from)
		default:
			item.from = pick(v.from, fmt.Sprintf("[%d]", i))
		}
		f.assign(k, item, nil)
	}
}

// firstResult is all of a value, or the first of the results that a function returned.
func firstResult(from []origin) []origin {
	var out []origin
	for _, o := range from {
		if o.path == "" {
			out = append(out, o)
		} else {
			out = append(out, pick([]origin{o}, "[0]")...)
		}
	}
	return out
}

// take binds a key of an object pattern.
func (f *frame) take(k *lang.Node, v value, from *lang.Node) {
	if k.Kind != lang.Pair {
		f.assign(k, v, from)
		return
	}
	item := value{from: pick(v.from, k.Name)}
	if item.tainted() {
		item.text = bad
	}
	if from != nil {
		if w, ok := f.s.memberSource(f, k.Here(lang.Node{Kind: lang.Member, X: from, Name: k.Name})); ok {
			item = w
		}
	}
	f.assign(k.Y, item, nil)
}

// plainType tells types that carry no text an attacker could shape.
func plainType(t string) bool {
	t = strings.TrimSpace(t)
	if strings.Contains(t, "|") { // int | None
		plain := false
		for _, p := range strings.Split(t, "|") {
			switch p = strings.TrimSpace(p); {
			case p == "None" || p == "null" || p == "undefined":
			case plainType(p):
				plain = true
			default:
				return false
			}
		}
		return plain
	}
	if inner := strings.TrimSuffix(strings.TrimPrefix(t, "[]"), "[]"); inner != t && inner != "byte" && inner != "char" && inner != "uint8" {
		t = inner
	}
	return plainTypes[simple(t)]
}

var plainTypes = lang.Words(`int long short byte double float boolean Integer Long Short Double Float Boolean BigDecimal BigInteger UUID LocalDate
	LocalDateTime Instant Date Duration int32 int64 uint uint32 uint64 float32 float64 bool int8 int16 uint8 uint16 number integer Decimal datetime
	date time char OffsetDateTime ZonedDateTime`)
