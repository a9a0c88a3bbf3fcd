package sqlreview

import "strings"

// create reads CREATE FUNCTION / PROCEDURE with its body, CREATE VIEW with its
// query; other definitions are passed over.
func (p *parser) create(s *stmt) *stmt {
	k := p.i
	p.i++
	p.accept("or", "replace")
	for p.kw("temp") || p.kw("temporary") || p.kw("materialized") || p.kw("recursive") || p.kw("unlogged") {
		p.i++
	}
	switch {
	case p.accept("function"), p.accept("procedure"):
		return p.function(s)
	case p.accept("view"), p.accept("table"):
		for !p.eof() && !p.punct(";") && !p.kw("as") {
			if p.punct("(") && p.tok().mate > p.i {
				p.i = p.tok().mate
			}
			p.i++
		}
		if p.accept("as") && p.startsQuery(0) {
			s.kind, s.q = sQuery, p.query()
			if p.kw("with") {
				p.skipStatement()
			}
			return s
		}
	}
	p.i = k
	s.kind, s.text = sOther, p.skipStatement()
	return s
}

func (p *parser) function(s *stmt) *stmt {
	s.kind, s.fn = sFunction, &function{lang: "sql"}
	n := p.name()
	s.fn.name = n[len(n)-1]
	if p.punct("(") {
		p.parameters(s.fn)
	}
	for !p.eof() && !p.punct(";") {
		switch {
		case p.accept("language"):
			s.fn.lang = strings.ToLower(strings.Trim(p.advance().text, "'"))
		case p.accept("security", "definer"):
			s.fn.definer = true
		case p.accept("returns"):
			if p.accept("table") && p.punct("(") {
				s.fn.vars = append(s.fn.vars, p.columnDefs()...)
			} else {
				p.accept("setof")
				s.fn.returns = p.typeName()
			}
		case p.accept("set"):
			s.fn.path = s.fn.path || p.kw("search_path")
			p.advance()
		case p.kw("as") && (p.peek(1).kind == tDollar || p.peek(1).kind == tStr):
			p.i++
			p.bodyText(s.fn, p.advance())
		case p.kw("begin", "atomic"):
			p.i += 2
			s.fn.body = p.script("end")
			p.expectKw("end")
			return s
		case p.kw("return"):
			s.fn.body = append(s.fn.body, p.returnStmt(&stmt{pos: p.pos()}))
		default:
			p.i++
		}
	}
	return s
}

func (p *parser) parameters(f *function) {
	open := p.i
	p.i++
	for !p.eof() && !p.punct(")") {
		p.accept("variadic")
		out := false
		for p.kw("in") || p.kw("out") || p.kw("inout") {
			out = p.tok().text == "out"
			p.i++
		}
		n := p.ident()
		if out {
			f.vars = append(f.vars, n)
		} else {
			f.params = append(f.params, n)
		}
		for !p.eof() && !p.punct(",") && !p.punct(")") {
			if p.punct("(") && p.tok().mate > p.i {
				p.i = p.tok().mate
			}
			p.i++
		}
		if !p.acceptPunct(",") {
			break
		}
	}
	p.closeTo(open)
}

// bodyText parses a function body that stands in a string or between dollars.
func (p *parser) bodyText(f *function, t *token) {
	if p.nested > 3 {
		return
	}
	off := strings.Index(p.src[t.pos:], t.text)
	sub := newParser(t.text, p.base+t.pos+max(off, 0))
	sub.nested = p.nested + 1
	f.body = sub.script()
	p.broken = append(p.broken, sub.broken...)
}

func (p *parser) do(s *stmt) *stmt {
	s.kind, s.fn = sFunction, &function{lang: "plpgsql", name: "do"}
	p.i++
	for !p.eof() && !p.punct(";") {
		if p.tok().kind == tDollar {
			p.bodyText(s.fn, p.advance())
			continue
		}
		p.i++
	}
	return s
}

// parse reads a text of SQL. It gives what it understood and the offsets at which
// it did not.
func parse(src string) (stmts []*stmt, broken []int) {
	p := newParser(src, 0)
	return p.script(), p.broken
}
