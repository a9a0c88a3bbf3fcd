package sqlreview

import (
	"regexp"
	"strings"
)

var (
	sqlStartRE = regexp.MustCompile(`(?i)^(?:\s|--[^\n]*(?:\n|$)|/\*(?:[^*]|\*[^/])*\*/|\()*(select|with|insert|update|delete|merge|create|do|declare|begin|values|explain|perform|if|return|raise|set|alter|execute|where|and|for|table|drop|grant|start|lock|call)\b`)
	sqlTextRE  = regexp.MustCompile(`(?is)^\s*(?:--[^\n]*\n\s*)*\(?(select\s|with\s+(recursive\s+)?\w+\s*(\([^)]*\)\s*)?as\b|insert\s+into|update\s+\S+\s+(\S+\s+)?(as\s+\S+\s+)?set\b|delete\s+from|merge\s+into|values\s*\(|call\s+\w)`)
)

// extract gives the SQL of a piece of code. SQL is given as it is. Of host code
// (Go, Python, JavaScript, Java, PHP ...) the string literals that hold SQL are kept
// in place, everything else becomes blanks, and what is concatenated to them becomes
// ${...}: offsets stay those of the code.
func extract(code string) string {
	m := sqlStartRE.FindStringSubmatch(code)
	if m != nil && (!weakStart[strings.ToLower(m[1])] || !hostRE.MatchString(code)) {
		return code
	}
	out, found := maskHost(code)
	if !found {
		return code
	}
	return out
}

// weakStart are words that begin statements of other languages too.
var weakStart = words(`with do if return raise for and set execute begin start call lock table where`)

var hostRE = regexp.MustCompile("(?m)^\\s*(if err|for _|return await|return db|const |let |var |import |package |def |func |public |from \\w+ import)|:= |=> \\{|;\\s*//")

func maskHost(code string) (string, bool) {
	b := make([]byte, len(code))
	for i := range b {
		if b[i] = ' '; code[i] == '\n' {
			b[i] = '\n'
		}
	}
	found := false
	for i := 0; i < len(code); {
		switch c := code[i]; {
		case c == '/' && i+1 < len(code) && code[i+1] == '/', c == '#' && (i == 0 || code[i-1] == '\n' || code[i-1] == ' '):
			i = lineEnd(code, i)
		case c == '"' || c == '\'' || c == '`':
			body, end := literal(code, i)
			if sqlTextRE.MatchString(code[body[0]:body[1]]) {
				found = true
				i = copySQL(b, code, body, end, isFString(code, i))
				continue
			}
			i = end
		default:
			i++
		}
	}
	return string(b), found
}

// literal gives where a string literal's text stands, and where it ends.
func literal(code string, i int) (body [2]int, end int) {
	q := code[i : i+1]
	if strings.HasPrefix(code[i:], `"""`) || strings.HasPrefix(code[i:], "'''") {
		q = code[i : i+3]
	}
	k := i + len(q)
	for k < len(code) {
		if code[k] == '\\' && q != "`" {
			k += 2
			continue
		}
		if strings.HasPrefix(code[k:], q) {
			return [2]int{i + len(q), k}, k + len(q)
		}
		if code[k] == '\n' && len(q) == 1 && q != "`" && q == "'" {
			return [2]int{i + 1, i + 1}, i + 1 // an apostrophe in a comment
		}
		k++
	}
	return [2]int{i + len(q), min(k, len(code))}, len(code)
}

func isFString(code string, i int) bool {
	return i > 0 && (code[i-1] == 'f' || code[i-1] == 'F') && (i < 2 || !isWord(code[i-2]))
}

var joinRE = regexp.MustCompile(`^\s*(\+|\.|\.\.|%|\|\|)\s*`)

// copySQL copies a literal and what is concatenated to it, and gives the end.
func copySQL(b []byte, code string, body [2]int, end int, fstring bool) int {
	put := func(body [2]int, f bool) {
		copy(b[body[0]:body[1]], code[body[0]:body[1]])
		if !f { // braces of a plain string are no holes
			for k := body[0]; k < body[1]; k++ {
				if b[k] == '\\' && k+1 < body[1] && (b[k+1] == 'n' || b[k+1] == 't') {
					b[k], b[k+1] = ' ', ' '
				}
			}
		}
	}
	put(body, fstring)
	i := end
	for {
		rest := code[i:]
		m := joinRE.FindString(rest)
		if m == "" {
			t := strings.TrimLeft(rest, " \t\r\n")
			k := i + len(rest) - len(t)
			if t != "" && (t[0] == '"' || t[0] == '\'' || t[0] == '`' || strings.HasPrefix(t, `f"`)) { // adjacent literals
				f := t[0] == 'f'
				if f {
					k++
				}
				nb, ne := literal(code, k)
				put(nb, f)
				i = ne
				continue
			}
			break
		}
		k := i + len(m)
		if k >= len(code) {
			break
		}
		if c := code[k]; c == '"' || c == '\'' || c == '`' {
			nb, ne := literal(code, k)
			put(nb, false)
			i = ne
			continue
		}
		e := operandEnd(code, k)
		if strings.TrimSpace(m) == "%" || e == k {
			break
		}
		if e-i >= 3 {
			copy(b[i:], "${")
			for x := i + 2; x < e-1; x++ {
				b[x] = 'x'
				if isWord(code[x]) {
					b[x] = code[x]
				}
			}
			b[e-1] = '}'
		}
		i = e
	}
	if i < len(b) {
		b[i] = ';'
	} else if len(b) > 0 && b[len(b)-1] == ' ' {
		b[len(b)-1] = ';'
	}
	return i
}

// operandEnd gives the end of an operand of host code: names, members, calls.
func operandEnd(code string, k int) int {
	depth := 0
	for ; k < len(code); k++ {
		c := code[k]
		switch {
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			if depth == 0 {
				return k
			}
			depth--
		case depth > 0 || isWord(c) || c == '.' && k+1 < len(code) && isLetter(code[k+1]):
		default:
			return k
		}
	}
	return k
}
