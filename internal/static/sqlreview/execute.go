package sqlreview

import (
	"strings"
)

// execute judges EXECUTE and reads the statement that it puts together.
func (a *analysis) execute(s *stmt, sc *scope, v *env) {
	a.visit(s.e, sc, v)
	b := &builder{a: a, sc: sc}
	b.part(s.e)
	a.dynamic = append(a.dynamic, dynamic{e: s.e, pos: s.pos, bad: b.bad != "", why: b.bad})
	if b.out.Len() == 0 || a.executes > 20 {
		return
	}
	a.executes++
	p := newParser(b.out.String(), 0)
	for i := range p.toks { // places in the built text are meaningless: all stand at EXECUTE
		p.toks[i].pos, p.toks[i].end = min(p.toks[i].pos, len(p.src)), min(p.toks[i].end, len(p.src))
	}
	holes := len(a.holes)
	for _, st := range p.script() {
		if st.q == nil {
			continue
		}
		e := &env{parent: v}
		was := a.code
		a.code = p.src
		if len(s.into) > 0 {
			d := a.query(st.q, sc, e)
			a.bind(s.into, d, sc, e)
		} else {
			a.top(st.q, sc, e, false)
		}
		a.code = was
	}
	a.holes = a.holes[:holes]
}

// A builder writes out the text of a dynamic statement: what is quoted becomes a
// parameter, what is pasted becomes a hole.
type builder struct {
	a   *analysis
	sc  *scope
	out strings.Builder
	bad string
	n   int // parts so far
}

func (b *builder) part(e *expr) {
	if e != nil && e.kind == eCast && harmlessType(e.op) {
		b.out.WriteString(" :cast ")
		return
	}
	e = strip(e)
	if b.n++; e == nil || b.out.Len() > 1<<16 || b.n > 20_000 {
		return
	}
	switch {
	case e.kind == eLit && strings.HasPrefix(e.op, "'"):
		b.out.WriteString(unquote(e.op))
	case e.kind == eBin && e.op == "||":
		for _, x := range e.args {
			b.part(x)
		}
	case e.isCall("quote_literal", "quote_nullable"):
		b.out.WriteString(" :quoted ")
	case e.isCall("quote_ident"):
		b.out.WriteString(" dyn_ident ")
	case e.isCall("format") && len(e.args) > 0:
		b.format(e)
	case e.kind == eCase && len(caseLits(e)) > 0: // one of the texts stands for all
		b.out.WriteString(" " + caseLits(e)[0] + " ")
	case e.kind == eCase:
		args := e.args
		for i, x := range args {
			if x = strip(x); i%2 == 1 || i == len(args)-1 {
				if x.kind != eLit {
					b.paste(x)
				}
			}
		}
		b.out.WriteString(" dyn_ident ")
	case e.isCall("coalesce", "concat", "concat_ws"):
		for _, x := range e.args {
			b.part(x)
		}
	case e.kind == eLit:
		b.out.WriteString(e.op)
	default:
		b.paste(e)
	}
}

func (b *builder) paste(e *expr) {
	if e.kind == eCol && len(e.name) == 1 {
		if def := b.a.built[e.name[0]]; def != nil && b.out.Len() < 1<<18 {
			delete(b.a.built, e.name[0])
			b.part(def)
			return
		}
	}
	if b.bad == "" {
		b.bad = show(e)
	}
	b.out.WriteString(" ${pasted} ")
}

// format reads format('... %I ... %L ... %s', a, b, c).
func (b *builder) format(e *expr) {
	f := strip(e.args[0])
	if f.kind != eLit {
		b.paste(f)
		return
	}
	text, n := unquote(f.op), 1
	for i := 0; i < len(text); i++ {
		if text[i] != '%' || i+1 >= len(text) {
			b.out.WriteByte(text[i])
			continue
		}
		i++
		k := i
		for k < len(text) && (isDigit(text[k]) || text[k] == '-' || text[k] == '$') {
			k++
		}
		if k >= len(text) {
			break
		}
		if k > i && text[k-1] == '$' {
			m := 0
			for _, c := range text[i : k-1] {
				m = m*10 + int(c-'0')
			}
			n = min(max(m, 1), 1000)
		}
		i = k
		switch text[k] {
		case '%':
			b.out.WriteByte('%')
			continue
		case 'I':
			b.out.WriteString("dyn_ident")
		case 'L':
			b.out.WriteString(" :quoted ")
		default:
			if n < len(e.args) {
				if x := strip(e.args[n]); x.kind == eLit || x.isCall("quote_ident", "quote_literal") || x.kind == eCase {
					b.part(x)
				} else {
					b.paste(x)
				}
			}
		}
		n++
	}
}

// harmlessType: a value of this type cannot carry SQL.
func harmlessType(t string) bool {
	switch strings.TrimSuffix(t, "[]") {
	case "int", "integer", "bigint", "smallint", "int2", "int4", "int8", "uuid", "numeric", "date", "timestamp", "timestamptz", "boolean", "bool", "regclass", "oid":
		return true
	}
	return false
}

// unquote gives the text of a string literal.
func unquote(s string) string {
	if len(s) >= 2 && s[0] == '\'' && s[len(s)-1] == '\'' {
		s = s[1 : len(s)-1]
	}
	return strings.ReplaceAll(s, "''", "'")
}
