package auditor

import (
	"regexp"
	"strings"
)

// maxStray bounds how many braces may stand open in a text before it is given
// up: looking for the end of each costs a pass over the rest.
const maxStray = 64

// A span is where something stands in a text.
type span struct{ from, to int }

func (s span) of(text string) string { return text[s.from:s.to] }

// without gives a text with the end of a line in the place of each object.
func without(text string, objects []span) string {
	var b strings.Builder
	at := 0
	for _, o := range objects {
		b.WriteString(text[at:o.from] + "\n")
		at = o.to
	}
	return b.String() + text[at:]
}

// lastObjects gives the objects of a reply that are looked at.
func lastObjects(objects []span) []span { return objects[max(0, len(objects)-maxObjects):] }

// scanObjects finds the complete objects of a text, from outermost brace to
// outermost brace, in order. cut says that an object that looks like an answer
// breaks off: it may have been the one that counts, and what stands within it is
// a part of it.
func scanObjects(text string) (objects []span, cut bool) {
	stray := 0
	for i := 0; i < len(text); {
		open := strings.IndexByte(text[i:], '{')
		if open < 0 {
			break
		}
		open += i
		end := closing(text[open:])
		switch {
		case end > 0:
			objects = append(objects, span{open, open + end})
			i = open + end
		case looksLikeAnswer(text[open:]):
			return objects, true
		default: // a brace in prose or in quoted code
			if stray++; stray > maxStray {
				return objects, false
			}
			i = open + 1
		}
	}
	return objects, false
}

// beginning matches how an object begins: with the name of a field and a colon,
// or cut off before the colon. Code and prose rarely do.
var beginning = regexp.MustCompile(`^\{\s*(?:$|["“][\w -]{0,40}(?:$|["”]\s*(?:$|:))|'[\w -]{0,40}(?:$|'\s*(?:$|:)))`)

// looksLikeAnswer reports whether an object that breaks off may be an answer.
func looksLikeAnswer(s string) bool {
	if beginning.MatchString(s) {
		return true
	}
	key, _, found := strings.Cut(strings.TrimLeft(s[1:], " \t\r\n"), ":")
	n := normalKey(key)
	return found && len(key) < 40 && (verdictKeys[n] || explanationKeys[n] || violatesKeys[n] || cweKeys[n])
}

// closing gives the length of the object at the beginning of s, or -1. Braces
// within strings do not count. An object whose first name is in single quotes is
// one as Python prints it: there a single quote closes a string when what may
// follow a string follows it, so that an apostrophe does not.
func closing(s string) int {
	python := strings.HasPrefix(strings.TrimLeft(s[1:], " \t\r\n"), "'")
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote == '\'' && c == '\'':
			if next := strings.TrimLeft(s[i+1:min(len(s), i+40)], " \t\r\n"); next != "" && strings.IndexByte(",:}]", next[0]) >= 0 {
				quote = 0
			}
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || python && c == '\'':
			quote = c
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
