package flow

import (
	"strings"

	"assay/internal/static/lang"
)

// Origin kinds: data from outside, or a parameter whose callers decide.
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
	clean uint32
	path  string     // the field that it is in, "" for the whole value
	sel   string     // the field of the object that it was read from
	safe  []checked  // fields of the object that were checked
	src   *lang.Node // the source expression or the parameter
	trace *step
}

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

// isConst tells whether all of the text is known.
func (v value) isConst() bool {
	return v.text != "" && !strings.ContainsAny(v.text, hole+bad)
}

// piece is the text of v as part of a longer one.
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
				continue next
			}
		}
		if len(out) < maxOrigins {
			out = append(out, o)
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
	out := value{from: union(a.from, b.from), typ: a.typ, text: a.text, fn: a.fn}
	if out.typ == "" {
		out.typ = b.typ
	}
	if out.fn == nil {
		out.fn = b.fn
	}
	if atStart(b.text) && a.text != bad && strings.Contains(a.text, bad) && (a.text[0] == '/' || fixedHost.MatchString(a.text)) || atStart(a.text) && b.text != "" && (b.text[0] == '/' || fixedHost.MatchString(b.text)) {
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

// atStart tells texts that are the harmful data alone.
func atStart(t string) bool { return t == bad }

// cleaned is v without the harm of the classes in bits.
func (v value) cleaned(bits uint32, all uint32) value {
	if !v.tainted() {
		return v
	}
	var out []origin
	for _, o := range v.from {
		o.clean |= bits
		if o.clean&all != all {
			out = append(out, o)
		}
	}
	v.from = out
	if len(out) == 0 {
		v.text = strings.ReplaceAll(v.text, bad, hole)
	}
	return v
}

// via adds a step to the trace of each origin.
func (v value) via(file string, line int32, note string) value {
	if !v.tainted() {
		return v
	}
	out := make([]origin, len(v.from))
	for i, o := range v.from {
		n := 0
		if o.trace != nil {
			n = o.trace.n
			if o.trace.line == line && o.trace.file == file {
				out[i] = o
				continue
			}
		}
		if n < maxTrace {
			o.trace = &step{file, line, note, o.trace, n + 1}
		}
		out[i] = o
	}
	v.from = out
	return v
}

// An env holds what is known of variables and of members by their path.
type env map[string]value

func (e env) clone() env {
	out := make(env, len(e)+4)
	for k, v := range e {
		out[k] = v
	}
	return out
}

// merge makes e what is known after either e or o.
func (e env) merge(o env) {
	for k, v := range o {
		if w, ok := e[k]; ok {
			e[k] = join(w, v)
		} else {
			e[k] = v
		}
	}
}

// forget drops the members of a path that is assigned anew.
func (e env) forget(path string) {
	pre := path + "."
	for k := range e {
		if strings.HasPrefix(k, pre) {
			delete(e, k)
		}
	}
}

// trust cleans every variable that holds data of the origins of v: what was
// checked once is checked under each of its names.
func (e env) trust(v value, bits, need, all uint32) {
	if bits == 0 || !v.tainted() {
		return
	}
	for k, w := range e {
		changed := false
		for _, o := range w.from {
			if all, field := sharesOrigin(v.from, o, need); all || field != "" {
				changed = true
			}
		}
		if !changed {
			continue
		}
		var out []origin
		for _, o := range w.from {
			switch all, field := sharesOrigin(v.from, o, need); {
			case all:
				o.clean |= bits
			case field != "":
				o.safe = append(o.safe[:len(o.safe):len(o.safe)], checked{field, bits})
			}
			if o.clean&all != all {
				out = append(out, o)
			}
		}
		w.from = out
		if len(out) == 0 {
			w.text = strings.ReplaceAll(w.text, bad, hole)
		}
		e[k] = w
	}
}

// checked is a field of an object that was checked, with what that proved.
type checked struct {
	field string
	bits  uint32
}

// sharesOrigin tells whether o is the data that was checked, or, by its name, a
// field of o.
func sharesOrigin(vs []origin, o origin, need uint32) (all bool, field string) {
	for _, v := range vs {
		if v.src != o.src || v.kind != o.kind || v.clean&need != need {
			continue
		}
		if v.sel == "" || v.sel == o.sel {
			return true, ""
		}
		if o.sel == "" {
			field = v.sel
		}
	}
	return false, field
}
