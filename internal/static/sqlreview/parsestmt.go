package sqlreview

import "strings"

// script reads all statements of a text: SQL, or the statements of a PL/pgSQL
// body. It ends at the end of the text or before one of the words in stop.
func (p *parser) script(stop ...string) []*stmt {
	var out []*stmt
	for {
		for p.acceptPunct(";") {
		}
		if p.eof() {
			return out
		}
		for _, s := range stop {
			if p.kw(s) {
				return out
			}
		}
		k := p.i
		if s := p.statement(); s != nil {
			out = append(out, s)
		}
		if !p.punct(";") && !p.eof() && !p.stopped(stop) {
			p.fail()
		}
		if p.i == k {
			p.i++
		}
	}
}

func (p *parser) stopped(stop []string) bool {
	for _, s := range stop {
		if p.kw(s) {
			return true
		}
	}
	return p.toks[max(p.i-1, 0)].text == ";" || p.kw("end")
}

func (p *parser) statement() *stmt {
	s := &stmt{pos: p.pos()}
	if p.op("<<") { // a label
		for !p.eof() && !p.op(">>") {
			p.i++
		}
		p.advance()
	}
	switch {
	case p.startsQuery(0):
		s.kind, s.q = sQuery, p.query()
		return s
	case p.kw("create"):
		return p.create(s)
	case p.kw("do") && (p.peek(1).kind == tDollar || p.peek(1).text == "language"):
		return p.do(s)
	case p.kw("explain"), p.kw("prepare"):
		for !p.eof() && !p.startsQuery(0) && !p.punct(";") {
			p.i++
		}
		if p.punct(";") || p.eof() {
			s.kind = sOther
			return s
		}
		s.kind, s.q = sQuery, p.query()
		return s
	case p.kw("declare"), p.kw("begin") && p.peek(1).text != ";" && p.peek(1).text != "transaction" && p.peek(1).text != "isolation" && p.peek(1).kind != tEOF:
		return p.block(s)
	case p.kw("if"):
		return p.ifStmt(s)
	case p.kw("case"):
		return p.caseStmt(s)
	case p.kw("for"), p.kw("while"), p.kw("loop"), p.kw("foreach"):
		return p.loop(s)
	case p.kw("return"):
		return p.returnStmt(s)
	case p.kw("raise"):
		s.kind = sRaise
		p.i++
		s.level = "exception"
		if t := p.tok(); t.kind == tIdent && strings.Contains(" debug log info notice warning exception ", " "+t.text+" ") {
			s.level = t.text
		}
		s.text = p.skipStatement()
		return s
	case p.kw("perform"):
		s.kind, s.perf = sQuery, true
		s.q = p.selectBody() // PERFORM x is SELECT x with its result dropped
		p.tail(s.q)
		return s
	case p.kw("execute"):
		return p.execute(s)
	case p.kw("get"), p.kw("set"), p.kw("reset"), p.kw("commit"), p.kw("rollback"), p.kw("begin"), p.kw("start"), p.kw("null"), p.kw("exit"), p.kw("continue"), p.kw("open"), p.kw("fetch"), p.kw("close"), p.kw("move"), p.kw("lock"), p.kw("call"), p.kw("assert"), p.kw("grant"), p.kw("revoke"), p.kw("alter"), p.kw("drop"), p.kw("truncate"), p.kw("copy"), p.kw("comment"), p.kw("refresh"), p.kw("notify"), p.kw("listen"), p.kw("vacuum"), p.kw("end"), p.kw("savepoint"), p.kw("release"), p.kw("deallocate"), p.kw("show"), p.kw("discard"), p.kw("analyze"):
		s.kind, s.text = sOther, p.skipStatement()
		return s
	}
	return p.assignOrExpr(s)
}

func (p *parser) skipStatement() string {
	from := p.tok().pos
	for !p.eof() && !p.punct(";") {
		if p.punct("(") && p.tok().mate > p.i {
			p.i = p.tok().mate
		}
		p.i++
	}
	return p.src[from:p.tok().pos]
}

func (p *parser) assignOrExpr(s *stmt) *stmt {
	k := p.i
	if p.isName() && p.tok().kind != tHole {
		n := p.name()
		for p.punct("[") && p.tok().mate > p.i {
			p.i = p.tok().mate + 1
		}
		if p.op(":=") || p.op("=") && !p.fragmentLike() {
			p.i++
			s.kind, s.name, s.e = sAssign, strings.Join(n, "."), p.expr()
			if p.kw("from") { // v := x FROM t WHERE ...: legal PL/pgSQL
				q := &query{kind: qSelect, pos: s.pos, targets: []target{{e: s.e}}}
				p.i++
				q.from = p.fromList()
				p.where(q)
				p.tail(q)
				s.e = &expr{kind: eSub, sub: q, pos: s.pos}
			}
			return s
		}
		p.i = k
	}
	if p.accept("where") || p.accept("and") || p.accept("or") { // a fragment of a WHERE clause
		s.kind, s.e = sOther, p.expr()
		return s
	}
	p.fail()
	s.kind = sOther
	s.text = p.skipStatement()
	return s
}

// fragmentLike: an "=" that compares, as in a bare condition.
func (p *parser) fragmentLike() bool { return false }

func (p *parser) block(s *stmt) *stmt {
	s.kind, s.fn = sBlock, &function{vartypes: map[string]string{}}
	if p.accept("declare") {
		p.declarations(s)
	}
	if !p.accept("begin") {
		p.fail()
	}
	if p.enter() {
		s.body = append(s.body, p.script("end", "exception")...)
		if p.accept("exception") {
			for p.accept("when") {
				for !p.eof() && !p.kw("then") && !p.punct(";") {
					p.i++
				}
				p.expectKw("then")
				s.handle = append(s.handle, p.script("end", "when")...)
			}
		}
	}
	p.leave()
	p.expectKw("end")
	if p.isName() {
		p.ident()
	}
	return s
}

func (p *parser) declarations(s *stmt) {
	for !p.eof() && !p.kw("begin") {
		if p.acceptPunct(";") || p.accept("declare") {
			continue
		}
		pos, k := p.pos(), p.i
		name := p.ident()
		p.accept("constant")
		s.fn.vars = append(s.fn.vars, name)
		if p.kw("cursor") {
			for !p.eof() && !p.kw("for") && !p.kw("is") && !p.punct(";") {
				p.i++
			}
			p.advance()
			if p.startsQuery(0) {
				s.body = append(s.body, &stmt{kind: sQuery, pos: pos, q: p.query()})
			}
			continue
		}
		if !p.punct(";") {
			s.fn.vartypes[name] = p.typeName()
			if p.accept("not") {
				p.accept("null")
			}
			if p.op(":=") || p.op("=") || p.kw("default") {
				p.i++
				s.body = append(s.body, &stmt{kind: sAssign, pos: pos, name: name, e: p.expr()})
			}
		}
		if p.i == k {
			p.i++
		}
		if !p.punct(";") && !p.kw("begin") {
			p.fail()
			p.skipStatement()
		}
	}
}

func (p *parser) ifStmt(s *stmt) *stmt {
	s.kind = sIf
	p.i++
	if !p.enter() {
		p.leave()
		s.kind, s.text = sOther, p.skipStatement()
		return s
	}
	defer p.leave()
	for {
		arm := ifArm{cond: p.expr()}
		p.expectKw("then")
		arm.body = p.script("end", "elsif", "elseif", "else")
		s.arms = append(s.arms, arm)
		if p.accept("elsif") || p.accept("elseif") {
			continue
		}
		break
	}
	if p.accept("else") {
		s.arms = append(s.arms, ifArm{body: p.script("end")})
	}
	p.expectKw("end")
	p.expectKw("if")
	return s
}

func (p *parser) caseStmt(s *stmt) *stmt {
	s.kind = sIf
	p.i++
	if !p.enter() {
		p.leave()
		s.kind, s.text = sOther, p.skipStatement()
		return s
	}
	defer p.leave()
	var operand *expr
	if !p.kw("when") {
		operand = p.expr()
	}
	for p.accept("when") {
		list := []*expr{p.expr()}
		for p.acceptPunct(",") {
			list = append(list, p.expr())
		}
		cond := list[0]
		if operand != nil {
			cond = &expr{kind: eIn, args: append([]*expr{operand}, list...), pos: cond.pos}
		}
		p.expectKw("then")
		s.arms = append(s.arms, ifArm{cond: cond, body: p.script("end", "when", "else")})
	}
	if p.accept("else") {
		s.arms = append(s.arms, ifArm{body: p.script("end")})
	}
	p.expectKw("end")
	p.accept("case")
	return s
}

func (p *parser) loop(s *stmt) *stmt {
	s.kind = sLoop
	if p.accept("for") {
		for {
			n := p.name()
			s.into = append(s.into, strings.Join(n, "."))
			if !p.acceptPunct(",") {
				break
			}
		}
		p.expectKw("in")
		p.accept("reverse")
		if p.startsQuery(0) {
			s.q = p.query()
		}
	} else if p.accept("while") {
		s.e = p.expr()
	}
	if p.kw("execute") {
		s.body = append(s.body, p.execute(&stmt{pos: p.pos()}))
	}
	for !p.eof() && !p.kw("loop") && !p.punct(";") {
		p.i++
	}
	p.expectKw("loop")
	if p.enter() {
		s.body = append(s.body, p.script("end")...)
	}
	p.leave()
	p.expectKw("end")
	p.expectKw("loop")
	if p.isName() {
		p.ident()
	}
	return s
}

func (p *parser) returnStmt(s *stmt) *stmt {
	s.kind = sReturn
	p.i++
	switch {
	case p.accept("query", "execute"):
		p.i--
		return p.execute(s)
	case p.accept("query"):
		s.kind, s.q = sReturnQuery, p.query()
	case p.accept("next"):
		if !p.punct(";") && !p.eof() {
			s.e = p.expr()
		}
		s.name = "next"
	case p.punct(";"), p.eof():
	default:
		s.e = p.expr()
	}
	return s
}

func (p *parser) execute(s *stmt) *stmt {
	s.kind = sExecute
	p.i++
	s.e = p.expr()
	for p.kw("into") || p.kw("using") {
		if p.accept("into") {
			p.accept("strict")
			for {
				s.into = append(s.into, strings.Join(p.name(), "."))
				if !p.acceptPunct(",") {
					break
				}
			}
			continue
		}
		p.i++
		for {
			s.args = append(s.args, p.expr())
			if !p.acceptPunct(",") {
				break
			}
		}
	}
	return s
}
