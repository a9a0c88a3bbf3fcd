package sqlreview

import "strings"

// prefix reads a unary operator or an operand with its postfixes.
func (p *parser) prefix() *expr {
	start := p.pos()
	t := p.tok()
	if t.kind == tOp && (t.text == "-" || t.text == "+" || power(t.text) == bpOther) {
		p.i++
		bp := bpOther + 1
		if t.text == "-" || t.text == "+" {
			bp = bpPow
		}
		return &expr{kind: eUn, op: t.text, args: []*expr{p.binary(bp)}, pos: start, end: p.last()}
	}
	e := p.operand()
	e.pos, e.end = start, p.last()
	return p.postfix(e)
}

func (p *parser) postfix(e *expr) *expr {
	start := e.pos
	for n := 0; ; n++ {
		switch {
		case p.op("::"):
			p.i++
			typ := p.typeName()
			if n < maxChain {
				e = &expr{kind: eCast, op: typ, args: []*expr{e}}
			}
		case p.punct("["):
			open := p.i
			p.i++
			ix := &expr{kind: eIndex, args: []*expr{e}}
			for !p.eof() && !p.punct("]") {
				if p.op(":") {
					p.i++
					continue
				}
				k := p.i
				ix.args = append(ix.args, p.expr())
				if p.i == k {
					break
				}
			}
			if !p.acceptPunct("]") {
				p.fail()
				if m := p.toks[open].mate; m >= p.i {
					p.i = m + 1
				}
			}
			if n < maxChain {
				e = ix
			}
		case p.punct(".") && (e.kind == eSub || e.paren || e.kind == eIndex || e.kind == eFunc):
			p.i++
			name := "*"
			if p.op("*") {
				p.i++
			} else {
				name = p.ident()
			}
			if n < maxChain {
				e = &expr{kind: eFunc, name: []string{".field", name}, args: []*expr{e}}
			}
		default:
			return e
		}
		e.pos, e.end = start, p.last()
	}
}

// typeName reads a type with its modifiers: numeric(10,2)[], timestamp with time zone.
func (p *parser) typeName() string {
	n := p.name()
	out := strings.Join(n, ".")
	switch n[len(n)-1] {
	case "double":
		p.accept("precision")
	case "character", "bit", "national":
		p.accept("varying")
	case "interval":
		for p.kw("year") || p.kw("month") || p.kw("day") || p.kw("hour") || p.kw("minute") || p.kw("second") || p.kw("to") {
			p.i++
		}
	}
	if p.punct("(") && p.tok().mate > 0 {
		p.i = p.tok().mate + 1
	}
	if p.accept("with", "time", "zone") {
		out += "tz"
	} else {
		p.accept("without", "time", "zone")
	}
	for p.punct("[") && p.tok().mate > 0 {
		p.i = p.tok().mate + 1
		out += "[]"
	}
	if p.op("%") && (p.peek(1).text == "type" || p.peek(1).text == "rowtype") {
		p.i += 2
		out += "%type"
	}
	return out
}

func (p *parser) operand() *expr {
	t := p.tok()
	switch t.kind {
	case tNum:
		p.i++
		return &expr{kind: eLit, op: t.text}
	case tStr, tDollar:
		p.i++
		text := t.text
		for p.tok().kind == tStr && strings.Contains(p.src[p.toks[p.i-1].end:p.tok().pos], "\n") {
			text += p.tok().text
			p.i++
		}
		return &expr{kind: eLit, op: "'" + text + "'", holed: t.holed}
	case tParam:
		p.i++
		name := t.text
		if p.punct(".") && (p.peek(1).kind == tIdent || p.peek(1).kind == tQuoted) { // :user.id
			p.i++
			name += "." + p.ident()
		}
		return &expr{kind: eParam, op: name}
	case tHole:
		if p.peek(1).kind == tPunct && (p.peek(1).text == "(" || p.peek(1).text == ".") {
			break
		}
		p.i++
		return &expr{kind: eHole, op: t.text}
	case tPunct:
		if t.text == "(" {
			return p.paren()
		}
		return p.unknown()
	case tOp:
		if t.text == "*" {
			p.i++
			return &expr{kind: eStar}
		}
		return p.unknown()
	case tEOF:
		return p.unknown()
	case tIdent:
		if e := p.wordOperand(t.text); e != nil {
			return e
		}
	}
	return p.nameOperand()
}

func (p *parser) paren() *expr {
	open := p.i
	if p.depth >= maxDepth-4 {
		return p.unknown()
	}
	p.i++
	var e *expr
	if p.startsQuery(0) {
		e = &expr{kind: eSub, sub: p.query()}
		p.closeTo(open)
		return e
	}
	list := p.exprs()
	p.closeTo(open)
	switch len(list) {
	case 0:
		return &expr{kind: eRow}
	case 1:
		list[0].paren = true
		return list[0]
	}
	e = &expr{kind: eRow, args: list}
	if p.accept("overlaps") {
		r := p.operand()
		return &expr{kind: eBin, op: "overlaps", args: []*expr{e, r}}
	}
	return e
}

func (p *parser) wordOperand(w string) *expr {
	next := p.peek(1)
	call := next.kind == tPunct && next.text == "("
	switch w {
	case "null":
		p.i++
		return &expr{kind: eNull}
	case "true", "false":
		p.i++
		return &expr{kind: eLit, op: w}
	case "default":
		p.i++
		return &expr{kind: eDefault}
	case "case":
		return p.caseExpr()
	case "grouping":
		if next.text == "sets" {
			p.i += 2
			return p.call([]string{"grouping_sets"}, p.pos())
		}
	case "exists":
		if call {
			p.i++
			open := p.i
			p.i++
			e := &expr{kind: eExists, sub: p.query()}
			p.closeTo(open)
			return e
		}
	case "array":
		return p.array()
	case "row":
		if call {
			p.i++
			open := p.i
			p.i++
			e := &expr{kind: eRow, args: p.exprs()}
			p.closeTo(open)
			return e
		}
	case "cast":
		if call {
			p.i++
			open := p.i
			p.i++
			e := &expr{kind: eCast, args: []*expr{p.expr()}}
			p.expectKw("as")
			e.op = p.typeName()
			p.closeTo(open)
			return e
		}
	case "interval", "date", "timestamp", "timestamptz", "time":
		k := 1
		for p.peek(k).kind == tIdent && strings.Contains(" with without time zone ", " "+p.peek(k).text+" ") {
			k++
		}
		if p.peek(k).kind == tStr {
			p.i += k
			e := &expr{kind: eLit, op: "'" + p.advance().text + "'"}
			e = &expr{kind: eCast, op: w, args: []*expr{e}}
			for p.kw("year") || p.kw("month") || p.kw("day") || p.kw("hour") || p.kw("minute") || p.kw("second") || p.kw("to") {
				p.i++
			}
			return e
		}
	case "current_date", "current_timestamp", "localtimestamp", "current_time", "localtime", "current_user", "session_user", "user":
		if !call || w != "current_user" && w != "session_user" && w != "user" {
			p.i++
			if p.punct("(") && p.tok().mate > 0 {
				p.i = p.tok().mate + 1
			}
			return &expr{kind: eFunc, name: []string{w}}
		}
	case "not":
		p.i++
		return &expr{kind: eNot, args: []*expr{p.binary(bpNot)}}
	}
	if reserved[w] && !call && w != "set" && w != "do" && w != "any" && w != "all" && w != "column" && w != "user" {
		return p.unknown()
	}
	return nil
}

func (p *parser) nameOperand() *expr {
	start := p.pos()
	if p.tok().kind == tIdent && reserved[p.tok().text] && !strings.Contains(" left right values any all some user ", " "+p.tok().text+" ") {
		p.fail()
	}
	n := p.name()
	if n[len(n)-1] == "*" {
		return &expr{kind: eStar, name: n[:len(n)-1]}
	}
	if p.punct("(") {
		return p.call(n, start)
	}
	if p.tok().kind == tStr && p.src[p.tok().pos] == '\'' && len(n) == 1 && !reserved[n[0]] { // type 'literal'
		return &expr{kind: eCast, op: n[0], args: []*expr{{kind: eLit, op: "'" + p.advance().text + "'"}}}
	}
	return &expr{kind: eCol, name: n}
}

func (p *parser) caseExpr() *expr {
	e := &expr{kind: eCase}
	p.i++
	if !p.kw("when") {
		e.op = "operand"
		e.args = append(e.args, p.expr())
	}
	for p.accept("when") {
		e.args = append(e.args, p.expr())
		p.expectKw("then")
		e.args = append(e.args, p.expr())
	}
	if p.accept("else") {
		e.hasElse = true
		e.args = append(e.args, p.expr())
	}
	p.expectKw("end")
	return e
}

func (p *parser) array() *expr {
	e := &expr{kind: eArray}
	p.i++
	switch {
	case p.punct("("):
		open := p.i
		p.i++
		e.sub = p.query()
		p.closeTo(open)
	case p.punct("["):
		open := p.i
		p.i++
		for !p.eof() && !p.punct("]") {
			k := p.i
			if p.punct("[") { // ARRAY[[1,2],[3,4]]
				if m := p.tok().mate; m > 0 {
					p.i = m + 1
				}
				e.args = append(e.args, &expr{kind: eUnknown})
			} else {
				e.args = append(e.args, p.expr())
			}
			if !p.acceptPunct(",") || p.i == k {
				break
			}
		}
		if !p.acceptPunct("]") {
			p.fail()
			if m := p.toks[open].mate; m >= p.i {
				p.i = m + 1
			}
		}
	default:
		p.fail()
	}
	return e
}
