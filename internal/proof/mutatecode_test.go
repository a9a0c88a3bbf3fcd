package proof

import (
	"regexp"
	"strings"
)

// codeMutants drops the guards of code: each if whose block only leaves
// (returns, throws, raises, continues), and each operand of && and || (and, or)
// on a line with an if.
func codeMutants(program, code string) []Mutant {
	if program == "python3" {
		return pythonGuards(code)
	}
	return bracedGuards(code)
}

var (
	leaves = regexp.MustCompile(
		`(?s)\b(return|throw|raise|abort|continue|break|exit|die|panic)\b`)
	bracedIf     = regexp.MustCompile(`(?m)^[ \t]*if\b[^\n]*`)
	pythonIf     = regexp.MustCompile(`^([ \t]*)if\b.*:\s*(#.*)?$`)
	pythonInline = regexp.MustCompile(`^([ \t]*)if\b.*:\s*(return|raise|continue|abort)\b.*$`)
)

func bracedGuards(code string) []Mutant {
	var out []Mutant
	for _, at := range bracedIf.FindAllStringIndex(code, -1) {
		line := code[at[0]:at[1]]
		end := at[1]
		if strings.HasSuffix(strings.TrimSpace(line), "{") {
			if end = blockEnd(code, at[1]); end < 0 {
				continue
			}
		}
		body := code[at[0]:end]
		rest := strings.TrimSpace(code[end:])
		if strings.Count(body, "\n") > 12 || !leaves.MatchString(body) ||
			strings.HasPrefix(rest, "else") {
			continue
		}
		out = append(out,
			Mutant{Name: "drop " + clip(strings.TrimSuffix(strings.TrimSpace(line), " {"), 90),
				Code: code[:at[0]] + code[end:]})
	}
	return out
}

// blockEnd gives the offset after the brace that closes the block which was
// opened before from, or -1. Braces in texts and comments are passed over.
func blockEnd(code string, from int) int {
	depth := 1
	for i := from; i < len(code); i++ {
		switch c := code[i]; {
		case c == '"' || c == '\'' || c == '`':
			for i++; i < len(code) && code[i] != c; i++ {
				if code[i] == '\\' {
					i++
				}
			}
		case strings.HasPrefix(code[i:], "//"):
			for i < len(code) && code[i] != '\n' {
				i++
			}
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

func pythonGuards(code string) []Mutant {
	var out []Mutant
	lines := strings.SplitAfter(code, "\n")
	for i, l := range lines {
		bare := strings.TrimRight(l, "\r\n")
		end := i + 1
		if pythonInline.MatchString(bare) {
			out = append(out, Mutant{Name: "drop " + clip(strings.TrimSpace(bare), 90),
				Code: strings.Join(lines[:i], "") + strings.Join(lines[end:], "")})
			continue
		}
		m := pythonIf.FindStringSubmatch(bare)
		if m == nil {
			continue
		}
		indent := len(m[1])
		for end < len(lines) && (strings.TrimSpace(lines[end]) == "" ||
			width(lines[end]) > indent) {
			end++
		}
		body := strings.Join(lines[i+1:end], "")
		if end < len(lines) && width(lines[end]) == indent &&
			strings.HasPrefix(strings.TrimSpace(lines[end]), "el") {
			continue
		}
		if end-i > 12 || !leaves.MatchString(body) {
			continue
		}
		out = append(out, Mutant{Name: "drop " + clip(strings.TrimSpace(bare), 90),
			Code: strings.Join(lines[:i], "") + strings.Join(lines[end:], "")})
	}
	return out
}

func width(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
