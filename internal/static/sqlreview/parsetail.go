package sqlreview

func (p *parser) tail(q *query) {
	for {
		switch {
		case p.accept("order", "by"):
			q.order = p.sortList()
		case p.kw("limit"):
			p.i++
			if p.accept("all") {
				q.limit = &expr{kind: eNull, pos: p.last()}
			} else {
				q.limit = p.expr()
			}
		case p.kw("offset"):
			p.i++
			q.offset = p.expr()
			if !p.accept("rows") {
				p.accept("row")
			}
		case p.kw("fetch"):
			p.fetch(q)
		case p.kw("for") && (p.peek(1).text == "update" || p.peek(1).text == "share" || p.peek(1).text == "no" || p.peek(1).text == "key"):
			from := p.tok().pos
			p.i++
			for p.kw("update") || p.kw("share") || p.kw("no") || p.kw("key") {
				p.i++
			}
			if p.accept("of") {
				for {
					p.name()
					if !p.acceptPunct(",") {
						break
					}
				}
			}
			if !p.accept("nowait") {
				p.accept("skip", "locked")
			}
			q.lock = p.src[from : p.last()-p.base]
		case p.kw("into") && q.kind == qSelect && len(q.into) == 0:
			p.into(q)
		default:
			return
		}
	}
}

func (p *parser) fetch(q *query) {
	p.i++
	if !p.accept("first") {
		p.accept("next")
	}
	if p.kw("row") || p.kw("rows") {
		q.limit = &expr{kind: eLit, op: "1", pos: p.pos()}
	} else {
		q.limit = p.prefix()
	}
	if !p.accept("rows") {
		p.accept("row")
	}
	if p.accept("with", "ties") {
		q.ties = true
	} else {
		p.accept("only")
	}
}

func (p *parser) sortList() []*expr {
	var out []*expr
	for {
		out = append(out, p.expr())
		if !p.accept("asc") {
			p.accept("desc")
		}
		if p.accept("using") {
			p.advance()
		}
		if p.accept("nulls") {
			p.advance()
		}
		if !p.acceptPunct(",") {
			return out
		}
	}
}
