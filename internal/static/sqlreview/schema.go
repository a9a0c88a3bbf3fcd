package sqlreview

import (
	"regexp"
	"strings"
)

type schema struct {
	tables map[string]*table
	order  []*table
	enums  map[string][]string
}

type table struct {
	name    string
	cols    []*column
	byName  map[string]*column
	keys    [][]string // primary key first, then unique keys
	hasPK   bool
	fks     []foreignKey
	comment string
}

type column struct {
	name    string
	typ     string
	notNull bool
	enum    []string
	comment string
	def     string
}

type foreignKey struct {
	cols []string
	ref  string
	refs []string
}

func (t *table) column(name string) *column { return t.byName[name] }

func (t *table) add(c *column) {
	if t.byName[c.name] == nil && c.name != "" {
		t.cols = append(t.cols, c)
		t.byName[c.name] = c
	}
}

func (c *column) isTime() bool {
	return strings.HasPrefix(c.typ, "timestamp") || strings.HasPrefix(c.typ, "date") || !typeRE.MatchString(c.typ) && timeNameRE.MatchString(c.name)
}

var (
	typeRE     = regexp.MustCompile(`^(int|bigint|smallint|serial|bigserial|text|varchar|char|uuid|bool|numeric|decimal|json|bytea|real|double|float|inet|citext|money)`)
	timeNameRE = regexp.MustCompile(`_(at|until|from|on|since|date|time|ts)$|^(valid|expires|starts|ends|opens|closes)`)
)

func (c *column) isBool() bool { return strings.HasPrefix(c.typ, "bool") }

func (s *schema) table(name string) *table {
	t := s.tables[name]
	if t == nil {
		t = &table{name: name, byName: map[string]*column{}}
		s.tables[name] = t
		s.order = append(s.order, t)
	}
	return t
}

var fenceRE = regexp.MustCompile("(?ms)^[ \t]*(?:```|~~~)([a-zA-Z]*)[^\n]*\n(.*?)^[ \t]*(?:```|~~~)[ \t]*$")

// readSchema takes every CREATE statement of the SPEC's fenced blocks; where there
// is none, it takes tables that are described in lists.
func readSchema(spec string) *schema {
	s := &schema{tables: map[string]*table{}, enums: map[string][]string{}}
	for _, m := range fenceRE.FindAllStringSubmatch(spec, -1) {
		s.readDDL(m[2])
	}
	if len(s.order) == 0 && strings.Contains(strings.ToLower(spec), "create table") {
		s.readDDL(spec)
	}
	if len(s.order) == 0 {
		s.readProse(spec)
		s.readInline(spec)
	}
	s.finish()
	s.readEnums(spec)
	return s
}

var (
	oneOfRE  = regexp.MustCompile("`(?:[a-z_][a-z0-9_]*\\.)?([a-z_][a-z0-9_]*)`[^\n.;]{0,60}?\\b(?:one of|can be|may be|takes|values|is either|in)\\b([^\n.]*)")
	valueRE  = regexp.MustCompile("[`'\"]([A-Za-z_][A-Za-z0-9_]*)[`'\"]")
	inlineRE = regexp.MustCompile("'([A-Za-z_][A-Za-z0-9_]*)'")
)

// readEnums takes the values of columns that the prose lists: "`status` is one of
// `a`, `b`", or 'a' | 'b' beside the column.
func (s *schema) readEnums(spec string) {
	for _, m := range oneOfRE.FindAllStringSubmatch(spec, -1) {
		var vals []string
		for _, v := range valueRE.FindAllStringSubmatch(m[2], -1) {
			vals = append(vals, v[1])
		}
		if len(vals) < 2 {
			continue
		}
		for _, t := range s.order {
			if c := t.column(m[1]); c != nil && len(c.enum) == 0 && !s.anyNamed(vals) {
				c.enum = vals
			}
		}
	}
	for _, t := range s.order {
		for _, c := range t.cols {
			if m := inlineRE.FindAllStringSubmatch(c.comment, -1); len(c.enum) == 0 && len(m) > 1 {
				for _, v := range m {
					c.enum = append(c.enum, v[1])
				}
			}
		}
	}
}

// anyNamed: one of the words is a table or a column, so the list is none of values.
func (s *schema) anyNamed(words []string) bool {
	for _, w := range words {
		if s.tables[w] != nil {
			return true
		}
		for _, t := range s.order {
			if t.column(w) != nil {
				return true
			}
		}
	}
	return false
}

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
