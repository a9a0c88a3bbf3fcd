package sqlreview

// maxDepth bounds nesting; what is deeper is skipped as one unknown expression.
const maxDepth = 150

// maxChain bounds left-deep chains (a + b - c ..., UNION ...).
const maxChain = 400

type parser struct {
	src    string
	toks   []token
	i      int
	depth  int
	broken []int // offsets at which the text was not understood
	base   int   // offset of src in the reviewed code
	nested int   // function bodies inside function bodies
}

func newParser(src string, base int) *parser {
	return &parser{src: src, toks: lex(src), base: base}
}

func (p *parser) tok() *token { return &p.toks[p.i] }
func (p *parser) peek(k int) *token {
	if p.i+k < len(p.toks) {
		return &p.toks[p.i+k]
	}
	return &p.toks[len(p.toks)-1]
}
func (p *parser) pos() int { return p.toks[p.i].pos + p.base }
func (p *parser) last() int {
	if p.i == 0 {
		return p.base
	}
	return p.toks[p.i-1].end + p.base
}
func (p *parser) advance() *token {
	t := &p.toks[p.i]
	if t.kind != tEOF {
		p.i++
	}
	return t
}
func (p *parser) eof() bool { return p.toks[p.i].kind == tEOF }

// kw reports whether the next tokens are these words.
func (p *parser) kw(ws ...string) bool {
	for k, w := range ws {
		t := p.peek(k)
		if t.kind != tIdent || t.text != w {
			return false
		}
	}
	return true
}
func (p *parser) accept(ws ...string) bool {
	if p.kw(ws...) {
		p.i += len(ws)
		return true
	}
	return false
}
func (p *parser) punct(s string) bool {
	t := p.tok()
	return t.kind == tPunct && t.text == s
}
func (p *parser) op(s string) bool {
	t := p.tok()
	return t.kind == tOp && t.text == s
}
func (p *parser) acceptPunct(s string) bool {
	if p.punct(s) {
		p.i++
		return true
	}
	return false
}
func (p *parser) fail() {
	if len(p.broken) < 1000 {
		p.broken = append(p.broken, p.pos())
	}
}
func (p *parser) expect(s string) bool {
	if p.acceptPunct(s) {
		return true
	}
	p.fail()
	return false
}
func (p *parser) expectKw(s string) bool {
	if p.accept(s) {
		return true
	}
	p.fail()
	return false
}

// closeTo ends a parenthesis that opened at token index open: what is left of it
// is skipped and said.
func (p *parser) closeTo(open int) {
	if p.acceptPunct(")") && p.toks[p.i-1].mate == open {
		return
	}
	p.fail()
	if m := p.toks[open].mate; m >= 0 {
		p.i = max(p.i, m+1)
	}
}

func (p *parser) enter() bool { p.depth++; return p.depth <= maxDepth }
func (p *parser) leave()      { p.depth-- }

// ident reads a name; quoted names keep their case.
func (p *parser) ident() string {
	t := p.tok()
	switch t.kind {
	case tIdent:
		p.i++
		return t.text
	case tQuoted:
		p.i++
		return t.text
	case tHole:
		p.i++
		return "${" + t.text + "}"
	}
	p.fail()
	return ""
}

func (p *parser) isName() bool {
	t := p.tok()
	return t.kind == tQuoted || t.kind == tHole || t.kind == tIdent && !reserved[t.text]
}

func (p *parser) name() []string {
	out := []string{p.ident()}
	for p.punct(".") && len(out) < 6 {
		p.i++
		if p.op("*") {
			p.i++
			return append(out, "*")
		}
		out = append(out, p.ident())
	}
	return out
}

func (p *parser) names() []string {
	var out []string
	open := p.i
	if !p.expect("(") {
		return nil
	}
	for !p.eof() && !p.punct(")") {
		n := p.name()
		out = append(out, n[len(n)-1])
		if !p.acceptPunct(",") {
			break
		}
	}
	p.closeTo(open)
	return out
}
