package proof

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A kind sorts the tokens of SQL as far as rewriting needs it.
type kind int

const (
	space   kind = iota
	comment      // -- to the end of the line, or /* */ (nested, as PostgreSQL nests them)
	word         // unquoted identifier or keyword
	quoted       // "identifier"
	str          // 'text', E'text', U&'text', B'1', X'F', $tag$text$tag$
	number
	param  // :name
	symbol // operators, brackets, commas, semicolons
)

type token struct {
	kind kind
	text string
}

// is reports whether t is the keyword or symbol s, given in lower case.
func (t token) is(s string) bool {
	return (t.kind == word || t.kind == symbol) && strings.EqualFold(t.text, s)
}

// code reports whether t is more than space and comment.
func (t token) code() bool { return t.kind != space && t.kind != comment }

// lex cuts SQL into tokens whose texts, joined, are the input again. It never
// fails: what has no end ends with the input, and PostgreSQL judges it.
func lex(sql string) []token {
	var ts []token
	for i := 0; i < len(sql); {
		k, n := next(sql[i:])
		ts = append(ts, token{k, sql[i : i+n]})
		i += n
	}
	return ts
}

func next(s string) (kind, int) {
	c := s[0]
	switch {
	case isSpace(c):
		return space, span(s, 0, isSpace)
	case strings.HasPrefix(s, "--"):
		return comment, until(s, 2, "\n", false)
	case strings.HasPrefix(s, "/*"):
		return comment, blockComment(s)
	case c == '\'':
		return str, quotedEnd(s, 1, '\'', false)
	case (c == 'e' || c == 'E') && len(s) > 1 && s[1] == '\'':
		return str, quotedEnd(s, 2, '\'', true)
	case strings.IndexByte("bBxX", c) >= 0 && len(s) > 1 && s[1] == '\'': // bits
		return str, quotedEnd(s, 2, '\'', false)
	case (c == 'u' || c == 'U') && strings.HasPrefix(s[1:], "&'"):
		return str, quotedEnd(s, 3, '\'', false)
	case c == '"':
		return quoted, quotedEnd(s, 1, '"', false)
	case c == '$':
		if n := dollarEnd(s); n > 0 {
			return str, n
		}
		return symbol, 1
	case c >= '0' && c <= '9', c == '.' && len(s) > 1 && isDigit(s[1]):
		return number, span(s, 1, func(c byte) bool { return isWord(c) || c == '.' })
	case isWord(c):
		return word, span(s, 0, func(c byte) bool { return isWord(c) || c == '$' })
	case strings.HasPrefix(s, "::"), strings.HasPrefix(s, ":="):
		return symbol, 2
	case c == ':' && len(s) > 1 && isWord(s[1]) && !isDigit(s[1]):
		return param, span(s, 1, isWord)
	case strings.IndexByte("<>=!|&@#~^*/+-%?", c) >= 0:
		return symbol, operatorEnd(s)
	}
	_, n := utf8.DecodeRuneInString(s)
	return symbol, n
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isWord(c byte) bool {
	return c == '_' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func span(s string, i int, in func(byte) bool) int {
	for i < len(s) && in(s[i]) {
		i++
	}
	return i
}

func until(s string, from int, end string, with bool) int {
	n := strings.Index(s[from:], end)
	switch {
	case n < 0:
		return len(s)
	case with:
		return from + n + len(end)
	}
	return from + n
}

func blockComment(s string) int {
	depth := 0
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			depth, i = depth+1, i+2
		case strings.HasPrefix(s[i:], "*/"):
			depth, i = depth-1, i+2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return len(s)
}

func quotedEnd(s string, i int, q byte, backslash bool) int {
	for i < len(s) {
		switch {
		case backslash && s[i] == '\\':
			i++
		case s[i] == q && i+1 < len(s) && s[i+1] == q:
			i++
		case s[i] == q:
			return i + 1
		}
		i++
	}
	return len(s)
}

func dollarEnd(s string) int {
	n := span(s, 1, func(c byte) bool { return isWord(c) })
	if n >= len(s) || s[n] != '$' || n > 1 && isDigit(s[1]) {
		return 0
	}
	return until(s, n+1, s[:n+1], true)
}

// operatorEnd ends an operator where a comment begins.
func operatorEnd(s string) int {
	n := 0
	for n < len(s) && strings.IndexByte("<>=!|&@#~^*/+-%?", s[n]) >= 0 {
		if n > 0 && (strings.HasPrefix(s[n:], "--") || strings.HasPrefix(s[n:], "/*")) {
			break
		}
		n++
	}
	return n
}

func join(ts []token) string {
	var b strings.Builder
	for _, t := range ts {
		b.WriteString(t.text)
	}
	return b.String()
}

// statements cuts code at its semicolons; statements without code are left out.
func statements(code string) [][]token {
	var all [][]token
	var cur []token
	flush := func() {
		if slices.ContainsFunc(cur, token.code) {
			all = append(all, cur)
		}
		cur = nil
	}
	for _, t := range lex(code) {
		if t.is(";") {
			flush()
			continue
		}
		cur = append(cur, t)
	}
	flush()
	return all
}

// paste puts the values of ${name} into code as the host application does:
// unescaped.
func paste(code string, values map[string]any) (string, error) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(code, "${")
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok {
			return "", fmt.Errorf("${ without }: expected ${name}")
		}
		v, ok := values[name]
		if !ok {
			return "", fmt.Errorf("${%s} is in the code and not among the parameters", name)
		}
		b.WriteString(plain(v))
		code = after
	}
}

// bind turns :name into $1, $2, ... and gives the names in that order. The
// keywords that PostgreSQL answers with the real time become the frozen time.
func bind(ts []token) (sql string, names []string) {
	index := map[string]int{}
	var b strings.Builder
	for _, t := range ts {
		if t.kind != param {
			b.WriteString(frozen(t))
			continue
		}
		name := t.text[1:]
		if index[name] == 0 {
			names = append(names, name)
			index[name] = len(names)
		}
		fmt.Fprintf(&b, "$%d", index[name])
	}
	return b.String(), names
}

// inline turns :name into a look-up in params, which gives text: the form for
// oracles, whose statements take no parameters.
func inline(sql string) string {
	var b strings.Builder
	for _, t := range lex(sql) {
		if t.kind == param {
			fmt.Fprintf(&b, "(SELECT p->>'%s' FROM params)", t.text[1:])
			continue
		}
		b.WriteString(frozen(t))
	}
	return b.String()
}

var clock = map[string]string{
	"current_timestamp": "frozen.now()",
	"current_date":      "(frozen.now()::date)",
	"current_time":      "(frozen.now()::timetz)",
	"localtimestamp":    "(frozen.now()::timestamp)",
	"localtime":         "(frozen.now()::time)",
}

func frozen(t token) string {
	if t.kind == word {
		if f, ok := clock[strings.ToLower(t.text)]; ok {
			return f
		}
	}
	return t.text
}

// plain gives a parameter's value as text without quotes.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return fmt.Sprint(v)
}
