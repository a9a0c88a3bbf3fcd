package flow

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"assay/internal/static/lang"
	"assay/internal/static/rules"
)

// The kinds of origins; of a parameter its callers decide.
const (
	fromOutside = iota
	fromParam
)

// A step is one place that a value passed, newest first.
type step struct {
	file string
	line int32
	note string
	prev *step
	n    int
}

// An origin is where a value may come from, with the classes of harm that it
// has been cleaned of since.
type origin struct {
	kind  uint8
	param int16
	clean rules.Classes
	path  string     // where in the value it lies
	sel   string     // which part of the source it is
	safe  []checked  // parts of the source that were checked
	src   *lang.Node // the source expression or the parameter
	trace *step
}

func (o origin) harmful() bool { return o.clean&rules.All != rules.All }

// A value is what the engine knows of an expression.
type value struct {
	from []origin // empty: nothing harmful; never changed in place
	// text is the string's known text, with hole where unknown and bad where
	// harmful data stands; empty when nothing is known.
	text string
	typ  string
	fn   *lang.Node
}

const (
	hole = "\x00"
	bad  = "\x01"
)

func (v value) tainted() bool { return len(v.from) > 0 }

func anyTainted(vs []value) bool { return slices.ContainsFunc(vs, value.tainted) }

func (v value) isConst() bool {
	return v.text != "" && !strings.ContainsAny(v.text, hole+bad)
}

// piece is v as part of a longer text.
func (v value) piece() string {
	switch {
	case v.text != "":
		return v.text
	case v.tainted():
		return bad
	}
	return hole
}

func cut(s string) string {
	if len(s) > maxSkeleton {
		return s[:maxSkeleton]
	}
	return s
}

// union joins origins, at most maxOrigins; the same origin on two ways keeps
// only what both ways cleaned.
func union(a, b []origin) []origin {
	if len(b) == 0 {
		return a
	}
	if len(a) == 0 {
		return b
	}
	out := append(make([]origin, 0, len(a)+len(b)), a...)
next:
	for _, o := range b {
		for i := range out {
			if out[i].src == o.src && out[i].kind == o.kind && out[i].param == o.param && out[i].path == o.path && out[i].sel == o.sel {
				out[i].clean &= o.clean
				out[i].safe = both(out[i].safe, o.safe)
				continue next
			}
		}
		if len(out) < maxOrigins {
			out = append(out, o)
		}
	}
	return out
}

// both gives the checks that hold on two ways.
func both(a, b []checked) []checked {
	if slices.Equal(a, b) {
		return a
	}
	var out []checked
	for _, x := range a {
		for _, y := range b {
			if x.path == y.path && x.bits&y.bits != 0 {
				out = append(out, checked{x.path, x.bits & y.bits})
				break
			}
		}
	}
	return out
}

// join is what is known after either of two ways.
func join(a, b value) value {
	if a.text == "" && a.tainted() && b.text != "" { // req.query.x || "default"
		a.text = bad
	} else if b.text == "" && b.tainted() && a.text != "" {
		b.text = bad
	}
	out := value{from: union(a.from, b.from), typ: cmp.Or(a.typ, b.typ), text: a.text, fn: cmp.Or(a.fn, b.fn)}
	if b.text == bad && a.text != bad && strings.Contains(a.text, bad) && (a.text[0] == '/' || fixedHost.MatchString(a.text)) || a.text == bad && b.text != "" && (b.text[0] == '/' || fixedHost.MatchString(b.text)) {
		out.text = bad // one way leaves the whole address open
		return out
	}
	if out.text == "" || strings.Count(b.text, bad) > strings.Count(a.text, bad) || len(b.text) > len(a.text) && strings.Count(b.text, bad) == strings.Count(a.text, bad) {
		if b.text != "" {
			out.text = b.text
		}
	}
	return out
}

// cleaned is v without the harm of the classes in bits.
func (v value) cleaned(bits rules.Classes) value {
	if !v.tainted() {
		return v
	}
	var out []origin
	for _, o := range v.from {
		o.clean |= bits
		if o.harmful() {
			out = append(out, o)
		}
	}
	v.from = out
	if len(out) == 0 {
		v.text = strings.ReplaceAll(v.text, bad, hole)
	}
	return v
}

func (v value) via(file string, line int32, note string) value {
	if !v.tainted() {
		return v
	}
	out := make([]origin, len(v.from))
	for i, o := range v.from {
		switch t := o.trace; {
		case t == nil:
			o.trace = &step{file, line, note, nil, 1}
		case t.n < maxTrace && (t.line != line || t.file != file):
			o.trace = &step{file, line, note, t, t.n + 1}
		}
		out[i] = o
	}
	v.from = out
	return v
}

// An env holds what is known of variables and of members by their path.
type env map[string]value

// merge makes e what is known after either e or o.
func (e env) merge(o env) {
	for k, v := range e { // what one way gave to a part of an object
		if _, ok := o[k]; !ok && memberPath(k) {
			e[k] = join(v, o.at(k))
		}
	}
	add := map[string]value{}
	for k, v := range o {
		if _, ok := e[k]; !ok && memberPath(k) {
			add[k] = join(e.at(k), v)
		}
	}
	for k, v := range o {
		if w, ok := e[k]; ok {
			e[k] = join(w, v)
		} else {
			e[k] = v
		}
	}
	maps.Copy(e, add)
}

func memberPath(k string) bool { return strings.IndexByte(k, '.') > 0 && k[0] != 0 }

// at gives what the nearest object that is known holds at a path.
func (e env) at(k string) value {
	for i := strings.LastIndexByte(k, '.'); i > 0; i = strings.LastIndexByte(k[:i], '.') {
		if v, ok := e[k[:i]]; ok {
			return value{from: along(v.from, k[i+1:])}
		}
	}
	return value{}
}

func (e env) forget(path string) {
	maps.DeleteFunc(e, func(k string, _ value) bool { return strings.HasPrefix(k, path+".") })
}

// trust cleans every variable that holds data of the origins of v: what was
// checked once is checked under each of its names.
func (e env) trust(v value, bits, need rules.Classes) {
	if bits == 0 || !v.tainted() {
		return
	}
	for k, w := range e {
		var out []origin
		for i, o := range w.from {
			proved := false
			for _, c := range v.from {
				if c.src != o.src || c.kind != o.kind || c.clean&need != need {
					continue
				}
				switch {
				case covers(c.sel, o.sel):
					o.clean |= bits
					proved = true
				case covers(o.sel, c.sel):
					o.safe = append(slices.Clip(o.safe), checked{c.sel, bits})
					proved = true
				}
			}
			if proved && out == nil {
				out = append(make([]origin, 0, len(w.from)), w.from[:i]...)
			}
			if out != nil && (!proved || o.harmful()) {
				out = append(out, o)
			}
		}
		if out == nil {
			continue
		}
		if w.from = out; len(out) == 0 {
			w.text = strings.ReplaceAll(w.text, bad, hole)
		}
		e[k] = w
	}
}
