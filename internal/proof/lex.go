package proof

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// A kind is the kind of a token, as far as rewriting needs it.
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

// is reports whether t is the keyword or symbol s, which is in lower case.
func (t token) is(s string) bool {
	return (t.kind == word || t.kind == symbol) && strings.EqualFold(t.text, s)
}

// code reports whether t is neither space nor a comment.
func (t token) code() bool { return t.kind != space && t.kind != comment }

// A lexer splits code into tokens; the joined tokens are the code again. The first rule that
// matches makes the next token. Unterminated tokens end with the code: the lexer never fails,
// and the runtime reports the error.
type lexer []rule

// A rule recognizes one kind of token.
type rule struct {
	kind   kind
	begins string // one of these bytes; empty: any
	// of the token at the beginning of rest; 0: none begins there
	end func(rest string, before []token) int
}

// cut returns the tokens of code.
func (l lexer) cut(code string) []token {
	var ts []token
	for code != "" {
		ts = append(ts, l.next(code, ts))
		code = code[len(ts[len(ts)-1].text):]
	}
	return ts
}

// next returns the token at the beginning of rest.
func (l lexer) next(rest string, before []token) token {
	for _, r := range l {
		if r.begins != "" && strings.IndexByte(r.begins, rest[0]) < 0 {
			continue
		}
		if n := r.end(rest, before); n > 0 {
			return token{r.kind, rest[:n]}
		}
	}
	_, n := utf8.DecodeRuneInString(rest)
	return token{symbol, rest[:n]}
}

// lex returns the tokens of SQL by PostgreSQL's rules.
func lex(sql string) []token { return postgreSQL.cut(sql) }

// match returns a function that finds the end of a token by a regular expression. The
// expression is compiled at first use, because most programs with this package never use it.
func match(pattern string) func(string, []token) int {
	compiled := sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("^(?:" + pattern +
			")")
	})
	return func(rest string, _ []token) int { return len(compiled().FindString(rest)) }
}

const white = " \t\n\r\f"

const high = `\x{80}-\x{10FFFF}` // letters to PostgreSQL, whatever they are

var postgreSQL = lexer{
	{space, white, match(`[ \t\n\r\f]+`)},
	{comment, "-", match(`--.*`)},
	{comment, "/", nestedComment},
	{str, "eE", match(`(?s)[eE]'(?:''|\\.?|[^'\\])*'?`)},
	{str, "'bBxXuU", match(`(?:[bBxX]|[uU]&)?'(?:''|[^'])*'?`)},
	{quoted, `"`, match(`"(?:""|[^"])*"?`)},
	{str, "$", dollarQuoted},
	{number, ".0123456789", match(`\.?[0-9][\w.` + high + `]*`)},
	{word, "", match(`[\w` + high + `][\w$` + high + `]*`)},
	{param, ":", match(`:[A-Za-z_` + high + `][\w` + high + `]*`)},
	{symbol, ":", match(`::|:=`)},
	{symbol, "<>=!|&@#~^*/+%?-", operator},
}

// nestedComment returns the end of a comment, in which comments may be nested.
func nestedComment(s string, _ []token) int {
	depth := 0
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			depth, i = depth+1, i+2
		case depth == 0:
			return i
		case strings.HasPrefix(s[i:], "*/"):
			depth, i = depth-1, i+2
		default:
			i++
		}
	}
	return len(s)
}

var dollarTag = regexp.MustCompile(`^\$(?:[A-Za-z_` + high + `][\w` + high + `]*)?\$`)

// dollarQuoted returns the end of a dollar-quoted string; 0 if s does not begin with one.
func dollarQuoted(s string, _ []token) int {
	tag := dollarTag.FindString(s)
	end := strings.Index(s[len(tag):], tag)
	switch {
	case tag == "":
		return 0
	case end < 0:
		return len(s)
	}
	return len(tag) + end + len(tag)
}

var operators = regexp.MustCompile(`^[<>=!|&@#~^*/+%?-]+`)

// operator returns the end of an operator, which stops where a comment begins.
func operator(s string, _ []token) int {
	op := operators.FindString(s)
	for _, comment := range []string{"--", "/*"} {
		if i := strings.Index(op[min(1, len(op)):], comment); i >= 0 {
			op = op[:i+1]
		}
	}
	return len(op)
}

// join returns the text of the tokens.
func join(ts []token) string {
	var b strings.Builder
	for _, t := range ts {
		b.WriteString(t.text)
	}
	return b.String()
}

// statements splits code at its semicolons and drops statements without code.
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

// paste replaces ${name} by the value of the parameter, unescaped, as a vulnerable application
// does. It is an error if there is no such parameter.
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

// bind replaces :name by $1, $2, ... and returns the names in this order. It replaces keywords
// for the current time by the frozen time.
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

// inline replaces :name by a look-up in the table params. Oracles use this form, because their
// statements take no parameters.
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

// clock maps PostgreSQL's keywords for the current time to the frozen time.
var clock = map[string]string{
	"current_timestamp": "frozen.now()",
	"current_date":      "(frozen.now()::date)",
	"current_time":      "(frozen.now()::timetz)",
	"localtimestamp":    "(frozen.now()::timestamp)",
	"localtime":         "(frozen.now()::time)",
}

// frozen returns the token's text, with the frozen time for a keyword of the clock.
func frozen(t token) string {
	if t.kind == word {
		if f, ok := clock[strings.ToLower(t.text)]; ok {
			return f
		}
	}
	return t.text
}

// plain returns a parameter's value as unquoted text.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return fmt.Sprint(v)
}
