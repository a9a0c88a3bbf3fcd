package sqlreview

func (p *parser) fromList() []*from {
	var out []*from
	for {
		out = append(out, p.join())
		if !p.acceptPunct(",") {
			return out
		}
	}
}

// join reads a table with the joins that follow it, left-associative.
func (p *parser) join() *from {
	l := p.fromItem()
	for n := 0; ; n++ {
		j := &from{kind: fJoin, pos: p.pos(), join: "inner"}
		j.natural = p.accept("natural")
		switch {
		case p.accept("cross", "join"):
			j.join = "cross"
		case p.kw("left") || p.kw("right") || p.kw("full"):
			j.join = p.advance().text
			p.accept("outer")
			p.expectKw("join")
		case p.accept("inner", "join"), p.accept("join"):
		default:
			if j.natural {
				p.fail()
			}
			return l
		}
		j.l, j.r = l, p.fromItem()
		// a JOIN b JOIN c ON .. ON ..: the inner join comes first.
		if j.join != "cross" && !j.natural && !p.kw("on") && !p.kw("using") && n < maxDepth && p.startsJoin() && p.enter() {
			j.r = p.joinAfter(j.r)
		}
		switch {
		case p.accept("on"):
			j.on = p.expr()
		case p.kw("using"):
			p.i++
			j.using = p.names()
			if p.accept("as") {
				p.ident()
			}
		default:
			if j.join != "cross" && !j.natural {
				p.fail()
			}
		}
		if n < maxChain {
			l = j
		}
	}
}

func (p *parser) startsJoin() bool {
	return p.kw("join") || p.kw("inner", "join") || p.kw("left") || p.kw("right") || p.kw("full")
}

func (p *parser) joinAfter(l *from) *from {
	defer p.leave()
	j := &from{kind: fJoin, pos: p.pos(), join: "inner", l: l}
	if p.kw("left") || p.kw("right") || p.kw("full") {
		j.join = p.advance().text
		p.accept("outer")
	}
	p.accept("inner")
	p.expectKw("join")
	j.r = p.fromItem()
	if p.startsJoin() && p.enter() {
		j.r = p.joinAfter(j.r)
	}
	if p.accept("on") {
		j.on = p.expr()
	}
	return j
}

func (p *parser) fromItem() *from {
	f := &from{kind: fTable, pos: p.pos()}
	if !p.enter() {
		p.leave()
		p.fail()
		if p.punct("(") && p.tok().mate > 0 {
			p.i = p.tok().mate
		}
		p.advance()
		return f
	}
	defer p.leave()
	f.lateral = p.accept("lateral")
	if !f.lateral {
		p.accept("only")
	}
	switch {
	case p.punct("(") && p.startsQuery(0):
		open := p.i
		p.i++
		f.kind, f.sub = fSub, p.query()
		p.closeTo(open)
	case p.punct("("):
		open := p.i
		p.i++
		f = p.join()
		p.closeTo(open)
	case p.kw("rows", "from"):
		p.i += 2
		open := p.i
		if p.expect("(") {
			p.exprs()
			p.closeTo(open)
		}
		f.kind, f.fn = fFunc, &expr{kind: eFunc, name: []string{"rows"}, pos: f.pos}
	default:
		p.tableOrCall(f)
	}
	if p.op("*") {
		p.i++
	}
	if p.accept("with", "ordinality") {
		f.lateral = true
	}
	p.alias(f)
	if p.accept("tablesample") {
		p.prefix()
		if p.accept("repeatable") {
			p.prefix()
		}
	}
	return f
}

func (p *parser) tableOrCall(f *from) {
	if p.tok().kind == tParam || p.tok().kind == tStr {
		p.i++
		p.fail()
		return
	}
	f.hole = p.tok().kind == tHole
	n := p.name()
	if p.punct("(") {
		f.kind, f.fn = fFunc, p.call(n, f.pos)
		f.name = n[len(n)-1]
		return
	}
	f.name = n[len(n)-1]
	if p.tok().kind == tHole { // orders_${year}
		f.hole = true
		p.i++
	}
}

func (p *parser) alias(f *from) {
	if p.accept("as") {
		if p.punct("(") { // function AS (a int, b text)
			f.cols = p.columnDefs()
			return
		}
		f.alias = p.ident()
	} else if p.isName() && !clauseWord[p.tok().text] && p.tok().text != "tablesample" && !p.kw("with") {
		f.alias = p.ident()
	} else {
		return
	}
	if p.punct("(") {
		f.cols = p.columnDefs()
	}
}

// columnDefs reads (a, b) or (a int, b text).
func (p *parser) columnDefs() []string {
	var out []string
	open := p.i
	p.i++
	for !p.eof() && !p.punct(")") {
		out = append(out, p.ident())
		for !p.eof() && !p.punct(",") && !p.punct(")") {
			if p.punct("(") && p.tok().mate > 0 {
				p.i = p.tok().mate
			}
			p.i++
		}
		if !p.acceptPunct(",") {
			break
		}
	}
	p.closeTo(open)
	return out
}

func (p *parser) insert() *query {
	q := &query{kind: qInsert, pos: p.pos()}
	p.i++
	p.expectKw("into")
	q.table = p.dmlTable()
	if p.punct("(") && !p.startsQuery(1) {
		q.cols = p.names()
	}
	if p.accept("overriding") {
		p.advance()
		p.expectKw("value")
	}
	if p.accept("default", "values") {
	} else {
		q.source = p.query()
	}
	if p.kw("on", "conflict") {
		q.conflict = p.onConflict()
	}
	p.returning(q)
	return q
}

func (p *parser) dmlTable() *from {
	f := &from{kind: fTable, pos: p.pos()}
	p.accept("only")
	f.hole = p.tok().kind == tHole
	n := p.name()
	f.name = n[len(n)-1]
	if p.op("*") {
		p.i++
	}
	if p.accept("as") {
		f.alias = p.ident()
	} else if p.isName() && !p.kw("default") && !p.kw("overriding") && !p.kw("set") {
		f.alias = p.ident()
	}
	return f
}

func (p *parser) onConflict() *conflict {
	c := &conflict{pos: p.pos()}
	p.i += 2
	if p.punct("(") {
		open := p.i
		p.i++
		for !p.eof() && !p.punct(")") {
			e := p.expr()
			if e.kind == eCol {
				c.cols = append(c.cols, e.name[len(e.name)-1])
			}
			if !p.acceptPunct(",") {
				break
			}
		}
		p.closeTo(open)
		if p.accept("where") {
			p.expr()
		}
	} else if p.accept("on", "constraint") {
		c.name = p.ident()
	}
	p.expectKw("do")
	if p.accept("nothing") {
		return c
	}
	p.expectKw("update")
	p.expectKw("set")
	c.update = true
	c.sets = p.setList()
	if p.accept("where") {
		c.where = p.expr()
	}
	return c
}

func (p *parser) setList() []setItem {
	var out []setItem
	for {
		s := setItem{pos: p.pos()}
		if p.punct("(") {
			s.cols = p.names()
		} else {
			n := p.name()
			s.cols = []string{n[len(n)-1]}
			for p.punct("[") && p.tok().mate > 0 {
				p.i = p.tok().mate + 1
			}
		}
		if p.op("=") || p.op(":=") {
			p.i++
		} else {
			p.fail()
		}
		s.val = p.expr()
		out = append(out, s)
		if !p.acceptPunct(",") {
			return out
		}
	}
}

func (p *parser) returning(q *query) {
	if p.accept("returning") {
		q.returning = p.targets()
		p.into(q)
	}
	q.end = p.last()
}

func (p *parser) update() *query {
	q := &query{kind: qUpdate, pos: p.pos()}
	p.i++
	q.table = p.dmlTable()
	p.expectKw("set")
	q.sets = p.setList()
	if p.accept("from") {
		q.from = p.fromList()
	}
	p.where(q)
	p.returning(q)
	return q
}

func (p *parser) where(q *query) {
	if p.accept("where") {
		if p.accept("current", "of") {
			p.ident()
			return
		}
		q.where = p.expr()
	}
}

func (p *parser) delete() *query {
	q := &query{kind: qDelete, pos: p.pos()}
	p.i++
	p.expectKw("from")
	q.table = p.dmlTable()
	if p.accept("using") {
		q.from = p.fromList()
	}
	p.where(q)
	p.returning(q)
	return q
}

func (p *parser) merge() *query {
	q := &query{kind: qMerge, pos: p.pos()}
	p.i++
	p.expectKw("into")
	q.table = p.dmlTable()
	p.expectKw("using")
	q.from = []*from{p.fromItem()}
	p.expectKw("on")
	q.on = p.expr()
	for p.kw("when") {
		w := mergeWhen{pos: p.pos(), matched: true}
		p.i++
		if p.accept("not") {
			w.matched = false
		}
		p.expectKw("matched")
		if p.accept("by") {
			w.matched = p.kw("source")
			p.advance()
		}
		if p.accept("and") {
			w.cond = p.expr()
		}
		p.expectKw("then")
		w.act = p.advance().text
		switch w.act {
		case "update":
			p.expectKw("set")
			w.sets = p.setList()
		case "insert":
			if p.punct("(") {
				w.cols = p.names()
			}
			if p.accept("overriding") {
				p.i += 2
			}
			if !p.accept("default", "values") {
				p.expectKw("values")
				open := p.i
				if p.expect("(") {
					w.vals = p.exprs()
					p.closeTo(open)
				}
			}
		case "do":
			p.expectKw("nothing")
		}
		q.whens = append(q.whens, w)
	}
	p.returning(q)
	return q
}
