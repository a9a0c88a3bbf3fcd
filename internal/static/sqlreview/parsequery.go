package sqlreview

import "strings"

// startsQuery reports whether the token k ahead begins a query.
func (p *parser) startsQuery(k int) bool {
	t := p.peek(k)
	for t.kind == tPunct && t.text == "(" && k < 50 {
		k++
		t = p.peek(k)
	}
	if t.kind != tIdent {
		return false
	}
	switch t.text {
	case "select", "values", "insert", "update", "delete", "merge", "table":
		return true
	case "with":
		return true
	}
	return false
}

// query reads one whole query: WITH, body, set operations, ORDER BY, LIMIT.
func (p *parser) query() *query {
	start := p.pos()
	if !p.enter() {
		p.leave()
		return p.skipQuery(start)
	}
	defer p.leave()
	var with []*cte
	recursive := false
	if p.accept("with") {
		recursive = p.accept("recursive")
		with = p.ctes()
	}
	q := p.body(1)
	if q.with != nil || q.kind == qSelect && q.limit != nil { // (SELECT ... LIMIT 1) ...
		if p.kw("order") || p.kw("limit") || with != nil {
			q = &query{kind: qSelect, pos: q.pos, from: []*from{{kind: fSub, sub: q, pos: q.pos}}, targets: []target{{e: &expr{kind: eStar, pos: q.pos}}}}
		}
	}
	q.with, q.recursive = append(with, q.with...), q.recursive || recursive
	q.pos = start
	if q.kind == qSelect || q.kind == qValues || q.kind == qSetOp || q.kind == qTable {
		p.tail(q)
	}
	q.end = p.last()
	return q
}

func (p *parser) skipQuery(start int) *query {
	p.fail()
	for !p.eof() && !p.punct(")") && !p.punct(";") {
		if p.punct("(") && p.tok().mate > 0 {
			p.i = p.tok().mate
		}
		p.i++
	}
	return &query{kind: qTable, pos: start, end: p.last()}
}

func (p *parser) ctes() []*cte {
	var out []*cte
	for {
		c := &cte{pos: p.pos(), name: p.ident()}
		if p.punct("(") {
			c.cols = p.names()
		}
		p.expectKw("as")
		p.accept("not")
		p.accept("materialized")
		open := p.i
		if p.expect("(") {
			c.q = p.query()
			p.closeTo(open)
		} else {
			c.q = &query{kind: qTable, pos: p.pos()}
		}
		p.skipCycle()
		out = append(out, c)
		if !p.acceptPunct(",") {
			return out
		}
	}
}

// skipCycle passes over SEARCH ... SET x and CYCLE ... SET x [USING y].
func (p *parser) skipCycle() {
	for p.kw("search") || p.kw("cycle") {
		for !p.eof() && !p.punct(",") && !p.kw("select") && !p.kw("insert") && !p.kw("update") && !p.kw("delete") && !p.kw("merge") && !p.punct("(") || p.punct(",") && p.inCycleList() {
			p.i++
		}
	}
}

// inCycleList: the comma stands inside the column list, before SET.
func (p *parser) inCycleList() bool {
	for k := 1; k < 12; k++ {
		t := p.peek(k)
		if t.kind == tIdent && t.text == "set" {
			return true
		}
		if t.kind == tIdent && t.text == "as" || t.kind == tPunct && t.text != "," {
			return false
		}
	}
	return false
}

// body reads set operations of at least the binding power bp (UNION 1, INTERSECT 2).
func (p *parser) body(bp int) *query {
	q := p.primary()
	for n := 0; ; n++ {
		var op string
		switch {
		case p.kw("union") || p.kw("except"):
			if bp > 1 {
				return q
			}
			op = p.tok().text
		case p.kw("intersect"):
			op = "intersect"
		default:
			return q
		}
		p.i++
		all := p.accept("all")
		if !all {
			p.accept("distinct")
		}
		next := 2
		if op == "intersect" {
			next = 3
		}
		r := p.body(next)
		if n > maxChain {
			continue
		}
		q = &query{kind: qSetOp, op: op, all: all, l: q, r: r, pos: q.pos, end: p.last()}
	}
}

func (p *parser) primary() *query {
	start := p.pos()
	switch {
	case p.punct("("):
		open := p.i
		if p.depth > maxDepth {
			return p.skipQuery(start)
		}
		p.i++
		q := p.query()
		p.closeTo(open)
		return q
	case p.kw("select"):
		return p.selectBody()
	case p.kw("values"):
		return p.values()
	case p.kw("insert"):
		return p.insert()
	case p.kw("update"):
		return p.update()
	case p.kw("delete"):
		return p.delete()
	case p.kw("merge"):
		return p.merge()
	case p.kw("table"):
		p.i++
		n := p.name()
		return &query{kind: qSelect, pos: start, targets: []target{{e: &expr{kind: eStar, pos: start}}}, from: []*from{{kind: fTable, name: n[len(n)-1], pos: start}}}
	}
	return p.skipQuery(start)
}

func (p *parser) values() *query {
	q := &query{kind: qValues, pos: p.pos()}
	p.i++
	for p.punct("(") {
		open := p.i
		p.i++
		q.rows = append(q.rows, p.exprs())
		p.closeTo(open)
		if !p.acceptPunct(",") {
			break
		}
	}
	if len(q.rows) == 0 {
		p.fail()
	}
	return q
}

func (p *parser) selectBody() *query {
	q := &query{kind: qSelect, pos: p.pos()}
	p.i++
	if p.accept("distinct") {
		q.distinct = true
		if p.accept("on") {
			open := p.i
			if p.expect("(") {
				q.distinctOn = p.exprs()
				p.closeTo(open)
			}
		}
	} else {
		p.accept("all")
	}
	q.targets = p.targets()
	p.into(q)
	if p.accept("from") {
		q.from = p.fromList()
	}
	p.into(q)
	if p.accept("where") {
		q.where = p.expr()
	}
	if p.accept("group", "by") {
		p.accept("distinct")
		p.accept("all")
		q.group = p.exprs()
	}
	if p.accept("having") {
		q.having = p.expr()
	}
	if p.accept("window") {
		for {
			name := p.ident()
			p.expectKw("as")
			w := p.window()
			w.name = name
			q.windows = append(q.windows, w)
			if !p.acceptPunct(",") {
				break
			}
		}
	}
	q.end = p.last()
	return q
}

// into reads PL/pgSQL's INTO [STRICT] a, b.
func (p *parser) into(q *query) {
	if !p.kw("into") || len(q.into) > 0 {
		return
	}
	p.i++
	q.strict = p.accept("strict")
	for {
		n := p.name()
		q.into = append(q.into, strings.Join(n, "."))
		if !p.acceptPunct(",") {
			return
		}
	}
}

func (p *parser) targets() []target {
	var out []target
	for {
		if p.kw("from") || p.kw("into") || p.eof() || p.punct(")") || p.punct(";") || p.kw("where") {
			return out // an empty target list is legal
		}
		t := target{e: p.expr()}
		if p.accept("as") {
			t.alias = p.ident()
		} else if p.isName() && !clauseWord[p.tok().text] {
			t.alias = p.ident()
		}
		out = append(out, t)
		if !p.acceptPunct(",") {
			return out
		}
		if p.kw("from") {
			p.fail() // a comma too many
		}
	}
}

// clauseWord are words that may be names for PostgreSQL, but rather begin a clause.
var clauseWord = words(`using set when then loop do search cycle strict`)
