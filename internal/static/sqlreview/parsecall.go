package sqlreview

func (p *parser) call(n []string, start int) *expr {
	e := &expr{kind: eFunc, name: n, pos: start}
	open := p.i
	if !p.expect("(") {
		return e
	}
	if p.accept("distinct") {
		e.distinct = true
	} else {
		p.accept("all")
	}
	switch n[len(n)-1] {
	case "extract", "trim", "substring", "position", "overlay", "xmlelement", "normalize":
		for !p.eof() && !p.punct(")") {
			k := p.i
			if p.acceptPunct(",") || p.accept("from") || p.accept("for") || p.accept("both") || p.accept("leading") || p.accept("trailing") || p.accept("in") || p.accept("placing") {
				continue
			}
			e.args = append(e.args, p.binary(bpOther))
			if p.i == k {
				break
			}
		}
	default:
		if p.startsQuery(0) && !p.punct("(") && p.peek(1).text != "," && p.peek(1).text != ")" {
			e.args = []*expr{{kind: eSub, sub: p.query(), pos: start}}
			break
		}
		p.args(e)
	}
	if p.accept("order", "by") {
		e.order = p.sortList()
	}
	p.jsonWords()
	p.closeTo(open)
	if p.accept("within", "group") {
		open := p.i
		if p.expect("(") {
			p.accept("order", "by")
			e.order = p.sortList()
			p.closeTo(open)
		}
	}
	if p.accept("filter") {
		open := p.i
		if p.expect("(") {
			p.expectKw("where")
			e.filter = p.expr()
			p.closeTo(open)
		}
	}
	if p.kw("ignore", "nulls") || p.kw("respect", "nulls") {
		p.i += 2
	}
	if p.accept("over") {
		if p.punct("(") {
			e.over = p.window()
		} else {
			e.over = &window{name: p.ident()}
		}
	}
	e.end = p.last()
	return e
}

func (p *parser) args(e *expr) {
	for !p.eof() && !p.punct(")") && !p.kw("order", "by") {
		p.accept("variadic")
		if p.peek(1).kind == tOp && (p.peek(1).text == "=>" || p.peek(1).text == ":=") {
			p.i += 2
		}
		k := p.i
		e.args = append(e.args, p.expr())
		if p.op(":") || p.kw("value") { // json_object('k': v)
			p.i++
			e.args = append(e.args, p.expr())
		}
		if !p.acceptPunct(",") || p.i == k {
			return
		}
	}
}

// jsonWords passes over the clauses of the SQL/JSON constructors.
func (p *parser) jsonWords() {
	for p.kw("absent", "on") || p.kw("null", "on") || p.kw("returning") || p.kw("with", "unique") || p.kw("format") || p.kw("passing") {
		for !p.eof() && !p.punct(")") {
			p.i++
		}
	}
}

func (p *parser) window() *window {
	w := &window{}
	open := p.i
	if !p.expect("(") {
		return w
	}
	if p.isName() && !p.kw("partition") && !p.kw("rows") && !p.kw("range") && !p.kw("groups") {
		w.name = p.ident()
	}
	if p.accept("partition", "by") {
		w.partition = p.exprs()
	}
	if p.accept("order", "by") {
		w.order = p.sortList()
	}
	if p.kw("rows") || p.kw("range") || p.kw("groups") {
		for m := p.toks[open].mate; p.i < m; {
			p.i++
		}
	}
	p.closeTo(open)
	return w
}
