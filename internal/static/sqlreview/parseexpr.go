package sqlreview

import "strings"

// The binding powers of PostgreSQL's operators, weakest first.
const (
	bpOr = iota + 1
	bpAnd
	bpNot
	bpIs
	bpCompare
	bpIn
	bpOther
	bpAdd
	bpMul
	bpPow
	bpZone
	bpCollate
)

func (p *parser) exprs() []*expr {
	var out []*expr
	for !p.eof() && !p.punct(")") && !p.punct("]") {
		out = append(out, p.expr())
		if !p.acceptPunct(",") {
			break
		}
	}
	return out
}

func (p *parser) expr() *expr { return p.binary(bpOr) }

func (p *parser) unknown() *expr {
	p.fail()
	e := &expr{kind: eUnknown, pos: p.pos()}
	if p.punct("(") && p.tok().mate > 0 {
		p.i = p.tok().mate
	}
	if !p.punct(")") && !p.punct(",") && !p.punct(";") && !p.punct("]") {
		p.advance()
	}
	e.end = p.last()
	return e
}

func (p *parser) binary(min int) *expr {
	if !p.enter() {
		defer p.leave()
		return p.unknown()
	}
	defer p.leave()
	var l *expr
	start := p.pos()
	if p.kw("not") && min <= bpNot {
		p.i++
		l = &expr{kind: eNot, pos: start, args: []*expr{p.binary(bpNot)}}
	} else {
		l = p.prefix()
	}
	l.end = p.last()
	for n := 0; ; n++ {
		at := p.i
		next := p.infix(l, min, n)
		if next == nil {
			return l
		}
		if p.i <= at { // nothing was read: the text ends inside an operator
			p.i = at
			p.advance()
		}
		next.pos, next.end = start, p.last()
		l = next
	}
}

// infix reads one operator after l, or gives nil when none of power min follows.
func (p *parser) infix(l *expr, min, n int) *expr {
	t := p.tok()
	switch t.kind {
	case tIdent:
		return p.wordInfix(l, t.text, min)
	case tHole:
		if p.spliced() {
			p.i++
			return &expr{kind: eBin, op: "splice", args: []*expr{l, {kind: eHole, op: t.text, pos: t.pos + p.base, end: t.end + p.base}}}
		}
	case tOp:
		bp := power(t.text)
		if bp == 0 || bp < min {
			return nil
		}
		p.i++
		if q := p.quantified(l, t.text); q != nil {
			return q
		}
		if p.kw("all") || p.kw("any") || p.kw("some") {
			p.fail()
		}
		r := p.binary(bp + 1)
		if l.kind == eBin && !l.paren && (l.op == t.text && (t.text == "||" || t.text == "+") || n > maxChain) {
			l.args = append(l.args, r)
			return l
		}
		return &expr{kind: eBin, op: t.text, args: []*expr{l, r}}
	}
	return nil
}

// spliced: a hole where an operator is due is text that goes on the statement.
func (p *parser) spliced() bool { return p.depth < maxDepth }

func power(op string) int {
	switch op {
	case "=", "<", ">", "<=", ">=", "<>", "!=":
		return bpCompare
	case "+", "-":
		return bpAdd
	case "*", "/", "%":
		return bpMul
	case "^":
		return bpPow
	case ":=", "=>", "..", ":", "::", "$":
		return 0
	}
	return bpOther
}

func (p *parser) quantified(l *expr, op string) *expr {
	if !(p.kw("any") || p.kw("all") || p.kw("some")) || p.peek(1).text != "(" {
		return nil
	}
	e := &expr{kind: eQuant, op: op, name: []string{p.tok().text}, args: []*expr{l}}
	p.i++
	open := p.i
	p.i++
	if p.startsQuery(0) {
		e.sub = p.query()
	} else {
		e.args = append(e.args, p.expr())
	}
	p.closeTo(open)
	return e
}

func (p *parser) wordInfix(l *expr, w string, min int) *expr {
	switch w {
	case "or", "and":
		bp, k := bpOr, eOr
		if w == "and" {
			bp, k = bpAnd, eAnd
		}
		if bp < min {
			return nil
		}
		p.i++
		r := p.binary(bp + 1)
		if l.kind == k && !l.paren {
			l.args = append(l.args, r)
			return l
		}
		return &expr{kind: k, args: []*expr{l, r}}
	case "is", "isnull", "notnull":
		if bpIs < min {
			return nil
		}
		return p.is(l)
	case "in", "between", "like", "ilike", "similar", "not", "overlaps":
		if bpIn < min || w == "not" && !(p.peek(1).kind == tIdent && strings.Contains(" in between like ilike similar ", " "+p.peek(1).text+" ")) {
			return nil
		}
		return p.inLike(l)
	case "at":
		if bpZone < min || !(p.kw("at", "time", "zone") || p.kw("at", "local")) {
			return nil
		}
		if p.accept("at", "local") {
			return &expr{kind: eZone, args: []*expr{l, {kind: eLit, op: "'local'"}}}
		}
		p.i += 3
		return &expr{kind: eZone, args: []*expr{l, p.binary(bpZone + 1)}}
	case "collate":
		if bpCollate < min {
			return nil
		}
		p.i++
		p.name()
		return &expr{kind: eCast, op: "collate", args: []*expr{l}}
	case "operator":
		if bpOther < min || p.peek(1).text != "(" {
			return nil
		}
		p.i++
		open := p.i
		op := "?"
		if m := p.toks[open].mate; m > 0 {
			op = p.toks[m-1].text
			p.i = m + 1
		} else {
			p.i++
			p.fail()
		}
		return &expr{kind: eBin, op: op, args: []*expr{l, p.binary(bpOther + 1)}}
	}
	return nil
}

func (p *parser) is(l *expr) *expr {
	if p.accept("isnull") {
		return &expr{kind: eIs, op: "null", args: []*expr{l}}
	}
	if p.accept("notnull") {
		return &expr{kind: eIs, op: "null", not: true, args: []*expr{l}}
	}
	p.i++
	not := p.accept("not")
	if p.accept("distinct", "from") {
		return &expr{kind: eIsDist, not: not, args: []*expr{l, p.binary(bpIs + 1)}}
	}
	t := p.advance()
	switch t.text {
	case "null", "true", "false", "unknown", "document", "normalized":
	case "nfc", "nfd", "nfkc", "nfkd":
		p.accept("normalized")
	case "json":
		for p.kw("object") || p.kw("array") || p.kw("scalar") || p.kw("value") {
			p.i++
		}
	default:
		p.fail()
		if t.kind != tEOF {
			p.i--
		}
	}
	return &expr{kind: eIs, op: t.text, not: not, args: []*expr{l}}
}

func (p *parser) inLike(l *expr) *expr {
	not := p.accept("not")
	w := p.advance().text
	switch w {
	case "in":
		e := &expr{kind: eIn, not: not, args: []*expr{l}}
		open := p.i
		if p.tok().kind == tParam || p.tok().kind == tHole { // IN :list, IN ${list}
			e.args = append(e.args, p.prefix())
			return e
		}
		if !p.expect("(") {
			return e
		}
		if p.startsQuery(0) {
			e.sub = p.query()
		} else {
			e.args = append(e.args, p.exprs()...)
			if len(e.args) == 1 {
				p.fail()
			}
		}
		p.closeTo(open)
		return e
	case "between":
		e := &expr{kind: eBetween, not: not, args: []*expr{l}}
		if p.accept("symmetric") {
			e.op = "symmetric"
		} else {
			p.accept("asymmetric")
		}
		e.args = append(e.args, p.binary(bpIn+1))
		p.expectKw("and")
		e.args = append(e.args, p.binary(bpIn+1))
		return e
	case "similar":
		p.expectKw("to")
	case "like", "ilike":
		if q := p.quantified(l, w); q != nil {
			q.not = not
			return q
		}
	}
	e := &expr{kind: eBin, op: w, not: not, args: []*expr{l, p.binary(bpIn + 1)}}
	if p.accept("escape") {
		p.binary(bpIn + 1)
	}
	return e
}
