package sqlreview

import "strings"

func (s *schema) readDDL(src string) {
	p := newParser(src, 0)
	for !p.eof() {
		switch {
		case p.accept("create"):
			p.accept("unlogged")
			switch {
			case p.accept("type"):
				s.enumType(p)
			case p.accept("domain"):
				s.domain(p)
			case p.accept("table"):
				s.createTable(p)
			case p.accept("unique", "index"):
				s.uniqueIndex(p)
			}
		case p.accept("alter", "table"):
			s.alter(p)
		case p.accept("comment", "on", "column"):
			n := p.name()
			p.accept("is")
			if len(n) >= 2 && p.tok().kind == tStr {
				if c := s.table(n[len(n)-2]).column(n[len(n)-1]); c != nil {
					c.comment += " " + p.tok().text
				}
			}
		default:
			p.i++
		}
	}
}

func (s *schema) enumType(p *parser) {
	n := p.name()
	if p.accept("as", "enum") && p.punct("(") {
		s.enums[n[len(n)-1]] = stringsWithin(p)
	}
}

func (s *schema) domain(p *parser) {
	n := p.name()
	for !p.eof() && !p.punct(";") {
		if p.accept("check") && p.punct("(") {
			if v := stringsWithin(p); len(v) > 0 {
				s.enums[n[len(n)-1]] = v
			}
			continue
		}
		p.i++
	}
}

// stringsWithin gives the string literals of a parenthesis and ends behind it.
func stringsWithin(p *parser) []string {
	m := p.tok().mate
	var out []string
	for m > 0 && p.i < m {
		if p.tok().kind == tStr {
			out = append(out, p.tok().text)
		}
		p.i++
	}
	p.i++
	return out
}

func (s *schema) createTable(p *parser) {
	p.accept("if", "not", "exists")
	n := p.name()
	t := s.table(n[len(n)-1])
	if !p.punct("(") {
		return
	}
	end := p.tok().mate
	if end < 0 {
		end = len(p.toks) - 1
	}
	p.i++
	for p.i < end {
		from := p.i
		for p.i < end && !p.punct(",") {
			if p.punct("(") && p.tok().mate > p.i {
				p.i = p.tok().mate
			}
			p.i++
		}
		item := p.toks[from:p.i]
		if len(item) > 0 {
			s.tableItem(t, p.src, item, p.toks[p.i].end)
		}
		p.i++
	}
	p.i = end + 1
	if p.i >= len(p.toks) {
		p.i = len(p.toks) - 1
	}
}

func (s *schema) tableItem(t *table, src string, item []token, end int) {
	sub := &parser{src: src, toks: append(append([]token{}, item...), token{kind: tEOF, mate: -1})}
	for i := range sub.toks { // mates within the item
		sub.toks[i].mate = -1
	}
	matchBrackets(sub.toks)
	if sub.accept("constraint") {
		sub.ident()
	}
	switch {
	case sub.accept("primary", "key"):
		k := sub.names()
		t.keys = append([][]string{k}, t.keys...)
		t.hasPK = true
		return
	case sub.accept("unique"):
		sub.accept("nulls")
		sub.accept("not")
		sub.accept("distinct")
		t.keys = append(t.keys, sub.names())
		return
	case sub.accept("foreign", "key"):
		fk := foreignKey{cols: sub.names()}
		s.references(sub, &fk)
		t.fks = append(t.fks, fk)
		return
	case sub.kw("check"):
		s.tableCheck(t, sub)
		return
	case sub.kw("exclude"), sub.kw("like"):
		return
	}
	c := &column{name: sub.ident()}
	if sub.isName() {
		c.typ = sub.typeName()
	}
	if v := s.enums[c.typ]; v != nil {
		c.enum = v
	}
	s.columnRest(t, c, sub)
	c.comment = commentAfter(src, item[len(item)-1].end)
	t.add(c)
}

func (s *schema) columnRest(t *table, c *column, sub *parser) {
	for !sub.eof() {
		switch {
		case sub.accept("primary", "key"):
			t.keys = append([][]string{{c.name}}, t.keys...)
			t.hasPK, c.notNull = true, true
		case sub.accept("not", "null"):
			c.notNull = true
		case sub.accept("unique"):
			t.keys = append(t.keys, []string{c.name})
		case sub.kw("references"):
			fk := foreignKey{cols: []string{c.name}}
			s.references(sub, &fk)
			t.fks = append(t.fks, fk)
		case sub.accept("check"):
			if sub.punct("(") {
				m := sub.tok().mate
				text := ""
				for k := sub.i; k < m && k < len(sub.toks); k++ {
					text += " " + sub.toks[k].text
				}
				v := stringsWithin(sub)
				if len(v) > 0 && (strings.Contains(text, " in ") || strings.Contains(text, " any ")) && !strings.Contains(text, " or ") {
					c.enum = v
				}
			}
		default:
			sub.i++
		}
	}
}

func (s *schema) references(sub *parser, fk *foreignKey) {
	if !sub.accept("references") {
		return
	}
	n := sub.name()
	fk.ref = n[len(n)-1]
	if sub.punct("(") {
		fk.refs = sub.names()
	}
}

// tableCheck reads CHECK (status IN ('a', 'b')) at the table's level.
func (s *schema) tableCheck(t *table, sub *parser) {
	sub.i++
	if !sub.punct("(") {
		return
	}
	open := sub.i
	sub.i++
	e := sub.expr()
	sub.closeTo(open)
	e.walk(func(x *expr) bool {
		if x.kind == eIn && !x.not && len(x.args) > 1 && strip(x.args[0]).kind == eCol {
			n := strip(x.args[0]).name
			if c := t.column(n[len(n)-1]); c != nil {
				c.enum = literals(x.args[1:])
			}
		}
		return true
	})
}

func literals(es []*expr) []string {
	var out []string
	for _, e := range es {
		if e = strip(e); e.kind == eLit {
			out = append(out, strings.Trim(e.op, "'"))
		}
	}
	return out
}

func (s *schema) uniqueIndex(p *parser) {
	p.accept("concurrently")
	p.accept("if", "not", "exists")
	if !p.kw("on") {
		p.name()
	}
	if !p.accept("on") {
		return
	}
	n := p.name()
	if p.accept("using") {
		p.ident()
	}
	if !p.punct("(") {
		return
	}
	cols := p.names()
	if !p.kw("where") {
		s.table(n[len(n)-1]).keys = append(s.table(n[len(n)-1]).keys, cols)
	}
}

func (s *schema) alter(p *parser) {
	p.accept("only")
	n := p.name()
	t := s.table(n[len(n)-1])
	from := p.i
	for !p.eof() && !p.punct(";") {
		p.i++
	}
	for k := from; k < p.i; k++ {
		if p.toks[k].text == "add" {
			item := p.toks[k+1 : p.i]
			if len(item) > 0 && item[0].text == "column" {
				item = item[1:]
			}
			if len(item) > 0 {
				s.tableItem(t, p.src, item, p.tok().end)
			}
			return
		}
	}
}

// commentAfter gives the "-- ..." that ends the line of offset off.
func commentAfter(src string, off int) string {
	if off > len(src) {
		return ""
	}
	line := src[off:lineEnd(src, off)]
	if i := strings.Index(line, "--"); i >= 0 {
		return strings.TrimSpace(line[i+2:])
	}
	return ""
}
