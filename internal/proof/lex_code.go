package proof

import "strings"

// remarks are the marks that begin a comment of a language.
type remarks struct{ slashes, hash bool }

// lexCode cuts JavaScript, Go, PHP, Java, Python or Ruby into tokens, as far as twins
// and shortcuts need it. Joined, the texts are the input again.
func lexCode(s string, marks remarks) []token {
	var ts []token
	for i := 0; i < len(s); {
		k, n := nextCode(s[i:], marks, ts)
		ts = append(ts, token{k, s[i : i+n]})
		i += n
	}
	return ts
}

func nextCode(s string, marks remarks, before []token) (kind, int) {
	c := s[0]
	switch {
	case isSpace(c):
		return space, span(s, 0, isSpace)
	case marks.hash && c == '#' && !(marks.slashes && strings.HasPrefix(s, "#[")), marks.slashes && strings.HasPrefix(s, "//"): // #[ is an attribute of PHP's
		return comment, until(s, 1, "\n", false)
	case marks.slashes && strings.HasPrefix(s, "/*"):
		return comment, until(s, 2, "*/", true)
	case !marks.slashes && (strings.HasPrefix(s, `"""`) || strings.HasPrefix(s, "'''")):
		return str, until(s, 3, s[:3], true)
	case c == '"' || c == '\'' || c == '`':
		return str, codeString(s, c)
	case marks.slashes && c == '/' && regexpMayStart(before):
		return str, regexpEnd(s)
	case isDigit(c):
		return number, span(s, 0, func(c byte) bool { return isWord(c) || c == '.' })
	case isWord(c) || c == '$':
		return word, span(s, 0, func(c byte) bool { return isWord(c) || c == '$' })
	}
	for _, op := range []string{"===", "!==", ":=", "==", "!=", "<=", ">=", "&&", "||", "?.", "=>", "->", "::", "??"} {
		if strings.HasPrefix(s, op) {
			return symbol, len(op)
		}
	}
	return symbol, 1
}

func codeString(s string, q byte) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == q:
			return i + 1
		case s[i] == '\n' && q != '`':
			return i
		}
	}
	return len(s)
}

// regexpMayStart reports whether a slash begins a regular expression: after an
// operator or a bracket that opens.
func regexpMayStart(before []token) bool {
	i := codeBefore(before, len(before))
	return i >= 0 && before[i].kind == symbol && !before[i].is(")") && !before[i].is("]") && !before[i].is("}")
}

func regexpEnd(s string) int {
	class := false
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '\n':
			return 1 // a division after all
		case s[i] == '[':
			class = true
		case s[i] == ']':
			class = false
		case s[i] == '/' && !class:
			return i + 1
		}
	}
	return 1
}
