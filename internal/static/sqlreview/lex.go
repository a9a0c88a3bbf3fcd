package sqlreview

import (
	"sort"
	"strings"
)

// A kind says what a token is.
type kind uint8

const (
	tEOF    kind = iota
	tIdent       // folded to lower case
	tQuoted      // "As Written", without its quotes
	tNum
	tStr    // without its quotes
	tDollar // $$ ... $$, text is the body
	tParam  // $1, :name, @name, %(name)s, %s, ?
	tHole   // ${...}, #{...}, {{...}}, {name}: text pasted by the host program
	tOp
	tPunct // ( ) [ ] , ; .
)

type token struct {
	kind     kind
	text     string
	pos, end int
	holed    bool // a string literal that has a hole in it
	mate     int  // index of the matching bracket; -1 when there is none
}

// lex never fails: a byte that fits nowhere is an operator of its own.
func lex(src string) []token {
	l := &lexer{src: src}
	for at := -1; l.next(); at = l.i {
		if l.i == at { // no byte may hold the lexer
			l.i++
		}
	}
	l.toks = append(l.toks, token{kind: tEOF, pos: len(src), end: len(src), mate: -1})
	matchBrackets(l.toks)
	return l.toks
}

type lexer struct {
	src  string
	i    int
	toks []token
	bare [256]bool // dollar tags that are known to have no end, by first byte after $
}

func (l *lexer) emit(k kind, text string, start int) {
	l.toks = append(l.toks, token{kind: k, text: text, pos: start, end: l.i, mate: -1})
}

func (l *lexer) at(k int) byte {
	if l.i+k < len(l.src) {
		return l.src[l.i+k]
	}
	return 0
}

func isLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isWord(c byte) bool  { return isLetter(c) || isDigit(c) || c == '$' }

func (l *lexer) next() bool {
	if l.i >= len(l.src) {
		return false
	}
	c, start := l.src[l.i], l.i
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v' || c == 0:
		l.i++
	case c == '-' && l.at(1) == '-':
		l.i = lineEnd(l.src, l.i)
	case c == '/' && l.at(1) == '*':
		l.blockComment()
	case c == '\'':
		l.str(start, false)
	case (c == 'E' || c == 'e') && l.at(1) == '\'':
		l.i++
		l.str(start, true)
	case (c == 'B' || c == 'b' || c == 'X' || c == 'x' || c == 'N' || c == 'n') && l.at(1) == '\'':
		l.i++
		l.str(start, false)
	case (c == 'U' || c == 'u') && l.at(1) == '&' && (l.at(2) == '\'' || l.at(2) == '"'):
		if l.i += 2; l.at(0) == '"' {
			l.quoted(start)
		} else {
			l.str(start, false)
		}
	case c == '"':
		l.quoted(start)
	case c == '$':
		l.dollar(start)
	case c == '#' && l.at(1) == '{', c == '{' && l.at(1) == '{', c == '{' && isLetter(l.at(1)):
		l.hole(start)
	case isDigit(c) || c == '.' && isDigit(l.at(1)):
		l.number(start)
	case isLetter(c):
		for l.i < len(l.src) && isWord(l.src[l.i]) {
			l.i++
		}
		l.emit(tIdent, strings.ToLower(l.src[start:l.i]), start)
	case strings.IndexByte("()[],;.", c) >= 0:
		if c == '.' && l.at(1) == '.' {
			l.i += 2
			l.emit(tOp, "..", start)
			break
		}
		l.i++
		l.emit(tPunct, string(c), start)
	default:
		l.operator(start)
	}
	return true
}

func lineEnd(s string, i int) int {
	if k := strings.IndexByte(s[i:], '\n'); k >= 0 {
		return i + k
	}
	return len(s)
}

func (l *lexer) blockComment() {
	depth := 0
	for l.i < len(l.src) {
		switch {
		case l.src[l.i] == '/' && l.at(1) == '*':
			depth++
			l.i += 2
		case l.src[l.i] == '*' && l.at(1) == '/':
			depth--
			l.i += 2
			if depth == 0 {
				return
			}
		default:
			l.i++
		}
	}
}

func (l *lexer) str(start int, escapes bool) {
	l.i++
	from := l.i
	for l.i < len(l.src) {
		c := l.src[l.i]
		if c == '\\' && escapes {
			l.i += 2
			continue
		}
		if c == '\'' {
			if l.at(1) == '\'' {
				l.i += 2
				continue
			}
			break
		}
		l.i++
	}
	l.i = min(l.i, len(l.src))
	text := l.src[from:l.i]
	if l.i < len(l.src) {
		l.i++
	}
	l.emit(tStr, text, start)
	l.toks[len(l.toks)-1].holed = strings.Contains(text, "${") || strings.Contains(text, "#{") || strings.Contains(text, "{{")
}

func (l *lexer) quoted(start int) {
	l.i++
	from := l.i
	for l.i < len(l.src) && (l.src[l.i] != '"' || l.at(1) == '"') {
		if l.src[l.i] == '"' {
			l.i++
		}
		l.i++
	}
	l.i = min(l.i, len(l.src))
	text := l.src[from:l.i]
	if l.i < len(l.src) {
		l.i++
	}
	l.emit(tQuoted, text, start)
	l.toks[len(l.toks)-1].holed = strings.Contains(text, "${")
}

func (l *lexer) dollar(start int) {
	switch {
	case l.at(1) == '{':
		l.hole(start)
		return
	case isDigit(l.at(1)):
		l.i++
		for isDigit(l.at(0)) {
			l.i++
		}
		l.emit(tParam, l.src[start:l.i], start)
		return
	}
	k := l.i + 1
	for k < len(l.src) && (isLetter(l.src[k]) || isDigit(l.src[k])) {
		k++
	}
	if k < len(l.src) && l.src[k] == '$' && !l.bare[l.at(1)] {
		tag := l.src[l.i : k+1]
		if e := strings.Index(l.src[k+1:], tag); e >= 0 {
			l.i = k + 1 + e + len(tag)
			l.emit(tDollar, l.src[k+1:k+1+e], start)
			return
		}
		// Remembered, so that a file of open tags is not searched again for each.
		l.bare[l.at(1)] = true
	}
	l.i++
	if k > l.i { // $name, a shell or PHP variable pasted in
		l.i = k
		l.emit(tHole, l.src[start:l.i], start)
		return
	}
	l.emit(tOp, "$", start)
}

// hole reads a balanced ${ ... } of at most 2,000 bytes.
func (l *lexer) hole(start int) {
	depth := 0
	for k := l.i; k < len(l.src) && k < l.i+2000; k++ {
		switch l.src[k] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				l.i = k + 1
				l.emit(tHole, strings.Trim(l.src[start:l.i], "$#{} \t"), start)
				return
			}
		}
	}
	l.i++
	l.emit(tOp, l.src[start:start+1], start)
}

func (l *lexer) number(start int) {
	for l.i < len(l.src) {
		c := l.src[l.i]
		switch {
		case c == '.' && l.at(1) == '.':
			l.emit(tNum, l.src[start:l.i], start)
			return
		case isDigit(c) || c == '.' || c == '_' || isLetter(c) && c < 0x80:
			l.i++
			if (c == 'e' || c == 'E') && (l.at(0) == '-' || l.at(0) == '+') && isDigit(l.at(1)) {
				l.i++
			}
			continue
		}
		break
	}
	l.emit(tNum, l.src[start:l.i], start)
}

const opBytes = "+-*/<>=~!@#%^&|`?:"

func (l *lexer) operator(start int) {
	c := l.src[l.i]
	prevOperand := l.prevOperand()
	switch {
	case c == ':' && l.at(1) == ':', c == ':' && l.at(1) == '=':
		l.i += 2
		l.emit(tOp, l.src[start:l.i], start)
		return
	case (c == ':' || c == '@') && isLetter(l.at(1)):
		l.i++
		for l.i < len(l.src) && isWord(l.src[l.i]) {
			l.i++
		}
		l.emit(tParam, strings.ToLower(l.src[start+1:l.i]), start)
		return
	case c == ':' && (l.at(1) == '\'' || l.at(1) == '"'):
		if e := strings.IndexByte(l.src[l.i+2:min(len(l.src), l.i+100)], l.at(1)); e >= 0 {
			l.i += e + 3
			l.emit(tParam, strings.ToLower(strings.Trim(l.src[start:l.i], ":'\"")), start)
			return
		}
		l.i++
		l.emit(tOp, ":", start)
		return
	case c == '%' && !prevOperand && l.at(1) == 's' && !isWord(l.at(2)):
		l.i += 2
		l.emit(tParam, "%s", start)
		return
	case c == '%' && l.at(1) == '(':
		if e := strings.Index(l.src[l.i:min(len(l.src), l.i+100)], ")s"); e >= 0 {
			l.i += e + 2
			l.emit(tParam, strings.ToLower(strings.Trim(l.src[start:l.i-1], "%()")), start)
			return
		}
	case c == '?' && !prevOperand:
		l.i++
		l.emit(tParam, "?", start)
		return
	case c == ':':
		l.i++
		l.emit(tOp, ":", start)
		return
	}
	if strings.IndexByte(opBytes, c) < 0 {
		l.i++
		l.emit(tOp, string(c), start)
		return
	}
	for l.i < len(l.src) && strings.IndexByte(opBytes, l.src[l.i]) >= 0 && l.src[l.i] != ':' {
		if l.i > start && (l.src[l.i] == '-' && l.at(1) == '-' || l.src[l.i] == '/' && l.at(1) == '*') {
			break
		}
		if l.i > start && l.src[l.i] == '@' && isLetter(l.at(1)) && l.src[l.i-1] != '<' {
			break
		}
		l.i++
	}
	// As PostgreSQL: an operator ends in + or - only with one of ~!@#%^&|`? in it.
	for l.i-start > 1 && (l.src[l.i-1] == '-' || l.src[l.i-1] == '+') && !strings.ContainsAny(l.src[start:l.i], "~!@#%^&|`?") {
		l.i--
	}
	l.emit(tOp, l.src[start:l.i], start)
}

func (l *lexer) prevOperand() bool {
	if len(l.toks) == 0 {
		return false
	}
	t := l.toks[len(l.toks)-1]
	switch t.kind {
	case tIdent:
		return !reserved[t.text]
	case tOp:
		return false
	case tPunct:
		return t.text == ")" || t.text == "]"
	}
	return true
}

// at gives line and column, both from 1; columns are bytes.
func (p *places) at(off int) (line, col int) {
	k := sort.SearchInts(p.starts, off+1) - 1
	if k < 0 {
		return 1, 1
	}
	return k + 1, off - p.starts[k] + 1
}
