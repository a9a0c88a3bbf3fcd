package proof

import (
	"regexp"
	"slices"
	"strings"
)

// codeLexer gives the lexer of a language, as far as twins and shortcuts need it: its
// own rules stand before those that all share.
func codeLexer(own ...rule) lexer {
	l := append(lexer{{space, white, match(`[ \t\n\r\f]+`)}}, own...)
	return append(l, lexer{
		{str, `"`, match(`(?s)"(?:\\.?|[^"\\\n])*"?`)},
		{str, "'", match(`(?s)'(?:\\.?|[^'\\\n])*'?`)},
		{str, "`", match("(?s)`(?:\\\\.?|[^`\\\\])*`?")},
		{number, "0123456789", match(`[0-9][\w.` + high + `]*`)},
		{word, "", match(`[\w$` + high + `]+`)},
		{symbol, "=!:<>&|?-", match(`===|!==|:=|==|!=|<=|>=|&&|\|\||\?\.|=>|->|::|\?\?`)},
	}...)
}

var (
	slashRemark = rule{comment, "/", match(`//.*|(?s:/\*.*?(?:\*/|\z))`)}
	hashRemark  = rule{comment, "#", match(`#.*`)}

	cLike      = codeLexer(slashRemark, rule{str, "/", regularExpression})
	goLike     = codeLexer(slashRemark, rule{str, "`", match("`[^`]*`?")})
	javaScript = codeLexer(slashRemark, rule{str, "/", regularExpression},
		rule{str, "`}", template})
	python = codeLexer(hashRemark,
		rule{str, "\"'", match(`(?s)"""(?:.*?"""|.*)|'''(?:.*?'''|.*)`)})
	ruby = codeLexer(hashRemark, rule{str, "<", heredoc(`<<[~-]`)})
	// #[ is an attribute
	php = codeLexer(rule{symbol, "#", match(`#\[`)}, slashRemark, hashRemark,
		rule{str, "<", heredoc(`<<<[ \t]*`)})
)

var slashes = match(`/(?:\\[^\n]|\[(?:\\[^\n]|[^\]\\\n])*\]|[^/\\\n\[])+/`)

// regularExpression: after an operator or a bracket that opens, a slash is no division.
func regularExpression(s string, before []token) int {
	i := codeBefore(before, len(before))
	if i < 0 || before[i].kind != symbol || before[i].is(")") || before[i].is("]") ||
		before[i].is("}") {
		return 0
	}
	return slashes(s, nil)
}

// heredoc gives the rule of texts that end with the line of their label.
func heredoc(opening string) func(string, []token) int {
	begin := regexp.MustCompile(`^` + opening + `["']?([A-Za-z_]\w*)["']?[^\n]*\n`)
	return func(s string, _ []token) int {
		m := begin.FindStringSubmatch(s)
		if m == nil {
			return 0
		}
		end := regexp.MustCompile(`(?m)^[ \t]*` + m[1] + `\b`).FindStringIndex(s[len(m[0]):])
		if end == nil {
			return len(s)
		}
		return len(m[0]) + end[1]
	}
}

var templatePart = match("(?s)[`}](?:\\\\.|[^\\\\])*?(?:`|\\$\\{|\\z)")

// template cuts `a ${b} c` into a text, code and a text.
func template(s string, before []token) int {
	if s[0] == '`' || s[0] == '}' && inTemplate(before) {
		return templatePart(s, nil)
	}
	return 0
}

// inTemplate reports whether what a brace would close is a template's.
func inTemplate(before []token) bool {
	closed := 0
	for _, t := range slices.Backward(before) {
		opens := t.kind == str && strings.HasSuffix(t.text, "${")
		if opens || t.is("{") {
			if closed == 0 {
				return opens
			}
			closed--
		}
		if t.is("}") || t.kind == str && t.text[0] == '}' {
			closed++
		}
	}
	return false
}

func codeBefore(ts []token, i int) int {
	for i--; i >= 0; i-- {
		if ts[i].code() {
			return i
		}
	}
	return -1
}
